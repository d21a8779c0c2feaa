// Tests of `heed runs`, `diff`, `export` and `rerun` on run folders such as a worker writes.
#include "experiments/sweep/plan.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/command_line/command_line_support.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

using namespace heed;
using Catch::Contains;
using heed::test::Answer;
using heed::test::heed_says;
using heed::test::losses;
using heed::test::run_of;

namespace {

struct Runs : Scratch {
  RunFolder dot = run_of(*this, "name = \"scores\"\nseed = 0\nattention.score = \"dot\"\n", losses({2.0, 1.5}));
  RunFolder additive = run_of(*this, "name = \"scores\"\nseed = 0\nattention.score = \"additive\"\n",
                              losses({3.0, 1.25, 1.75}));
  std::string out = path.string();

  Answer list(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"runs", out});
    return heed_says(arguments);
  }
};

/// Writes the plan of a sweep over the runs of `Runs`.
void freeze_scores(const Runs& runs, const std::string& reference) {
  freeze(make_plan(
             Settings::parse("name = \"scores\"\nattention.score = \"" + reference +
                                 "\"\n[sweep]\nseeds = [0]\n[[sweep.block]]\ngrid = { \"attention.score\" = "
                                 "[\"dot\", \"additive\"] }\n",
                             "test.toml"),
             [](const Config&) { return "data of a test"; }, "test"),
         runs.path);
}

} // namespace

TEST_CASE("runs lists what tells runs apart, and how they did", "[command_line][runs]") {
  const Runs runs;
  const Answer all = runs.list({});
  INFO(all.err);
  CHECK(all.status == 0);
  CHECK_THAT(all.out, Contains(runs.dot.id()) && Contains(runs.additive.id()) && Contains("attention.score") &&
                          Contains("1.75") && Contains("2 of 2 runs"));
  CHECK_THAT(all.out, !Contains("model.width"));
  const Answer one = runs.list({"--where", "attention.score = 'additive' and val_loss < 1.9"});
  CHECK_THAT(one.out, Contains(runs.additive.id()) && !Contains(runs.dot.id()) && Contains("1 of 2 runs"));
  const Answer best = runs.list({"--sort", "val_loss.best", "--limit", "1", "--columns", "id,val_loss.best", "--csv"});
  CHECK(best.out == "id,val_loss.best\n" + runs.additive.id() + ",1.25\n");
  CHECK(runs.list({"--sort", "val_loss.best", "--reverse", "--limit", "1", "--columns", "val_loss.best", "--csv"})
            .out == "val_loss.best\n1.5\n");
}

TEST_CASE("runs as JSON holds all that is known, typed, and what was left out", "[command_line][runs]") {
  const Runs runs;
  make_folder(runs.path / "0123456789abcdef");
  const Answer answer = runs.list({"--json", "--where", "attention.score = 'dot'"});
  const boost::json::object json = result_of(answer);
  const auto& run = json.at("runs").at(0).as_object();
  CHECK(run.at("id") == boost::json::value(runs.dot.id()));
  CHECK(run.at("seed").as_int64() == 0);
  CHECK(run.at("attention.causal").as_bool());
  CHECK(run.at("train.learning_rate").as_double() == 0.001);
  CHECK(run.at("val_loss").as_double() == 1.5);
  CHECK_FALSE(run.contains("attention.additive.hidden"));
  CHECK(json.at("left_out").at(0).at("id") == boost::json::value("0123456789abcdef"));
  CHECK_THAT(answer.err, Contains("run 0123456789abcdef is excluded") && Contains("config.toml"));
}

TEST_CASE("of folders that are left out for many reasons, some are named, and the others counted",
          "[command_line][runs]") {
  const Runs runs;
  for (int i = 0; i < 30; ++i) {
    make_folder(runs.path / fmt::format("{:016}", i));
    make_folder(runs.path / fmt::format("{:016}/config.toml", i)); // the reason has its path
  }
  const Answer answer = runs.list({});
  CHECK(std::ranges::count(answer.err, '\n') == 21);
  CHECK_THAT(answer.err, Contains("more runs are excluded, for 10 other reasons (heed runs --json names all)"));
}

TEST_CASE("long texts of files are cut in tables and messages", "[command_line][runs]") {
  const Runs runs;
  Manifest m = *read_manifest(runs.dot);
  m.outcome = "failed";
  m.failure = std::string(1'000'000, 'f');
  runs.dot.manifest().write(to_json(m));
  const Answer table = runs.list({"--columns", "id,failure"});
  CHECK_THAT(table.out, Contains("fff... ("));
  CHECK(table.out.size() < 20'000);
  const Answer shown = heed_says({"show", runs.dot.id(), "--out", runs.out});
  CHECK_THAT(shown.out, Contains("failed: fff"));
  CHECK(shown.out.size() < 40'000);
  const std::string long_word(10'000'000, 'x');
  const Answer refused = runs.list({"--where", "name = '" + long_word});
  CHECK(refused.status == 2);
  CHECK(refused.err.size() < 100'000);
}

TEST_CASE("folders that are left out for one reason are named together", "[command_line][runs]") {
  const Runs runs;
  for (int i = 0; i < 6; ++i) make_folder(runs.path / fmt::format("000000000000000{}", i));
  const Answer answer = runs.list({});
  CHECK_THAT(answer.err, Contains("6 runs are excluded, all for this reason: it is half-written") &&
                             Contains("0000000000000000, 0000000000000001") && Contains("and 2 more"));
  CHECK(std::count(answer.err.begin(), answer.err.end(), '\n') == 2);
  CHECK_THAT(answer.out, Contains("2 of 2 runs"));
}

TEST_CASE("names that are wrong are refused by runs with the nearest", "[command_line][runs]") {
  const Runs runs;
  CHECK(runs.list({"--where", "attention.scroe = 'dot'"}).status == 2);
  CHECK_THAT(runs.list({"--where", "attention.scroe = 'dot'"}).err, Contains("did you mean 'attention.score'?"));
  CHECK_THAT(runs.list({"--sort", "val_los"}).err, Contains("--sort: ") && Contains("'val_loss'"));
  CHECK_THAT(runs.list({"--columns", "id,sede"}).err, Contains("--columns: ") && Contains("'seed'"));
  CHECK(runs.list({"--json", "--csv"}).status == 2);
  CHECK(heed_says({"runs", "/nowhere/runs"}).status == 2);
}

TEST_CASE("diff shows options, metrics and machines of two runs side by side", "[command_line][diff]") {
  const Runs runs;
  Manifest other = *read_manifest(runs.additive);
  other.cpu = "another cpu";
  write_file(runs.additive.manifest(), to_json(other));
  const Answer text = heed_says({"diff", runs.dot.id(), runs.additive.path.string(), "--out", runs.out});
  INFO(text.err);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("attention.score") && Contains("\"dot\"") && Contains("+0.25") && Contains("20 / 30") &&
                           Contains("another cpu") && !Contains("model.width"));
  const Answer as_json = heed_says({"diff", runs.dot.id(), runs.additive.id(), "--out", runs.out, "--json"});
  const boost::json::object json = result_of(as_json);
  const auto& metric = json.at("metrics").at(0).as_object();
  CHECK(metric.at("name") == boost::json::value("val_loss"));
  CHECK(metric.at("a").as_double() == 1.5);
  CHECK(metric.at("b").as_double() == 1.75);
  CHECK(metric.at("difference").as_double() == 0.25);
  CHECK(std::ranges::count_if(json.at("machine").as_array(), [](const boost::json::value& difference) {
          return difference.at("what") == boost::json::value("cpu");
        }) == 1);
  CHECK(json.at("options").at(0).at("key") == boost::json::value("attention.score"));
  const Answer same = heed_says({"diff", runs.dot.id(), runs.dot.id(), "--out", runs.out});
  CHECK_THAT(same.out, Contains("the same options") && Contains("the same program on the same machine"));
}

TEST_CASE("diff compares a run with a configuration", "[command_line][diff]") {
  const Runs runs;
  const std::string file = (runs.path / "other.toml").string();
  put(file, "name = \"scores\"\nseed = 0\nattention.score = \"dot\"\nmodel.width = 128\n");
  const Answer answer = heed_says({"diff", runs.dot.id(), file, "--out", runs.out});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.out, Contains("model.width") && Contains("128") && !Contains("attention.score"));
  CHECK(heed_says({"diff", runs.dot.id(), "/nowhere/other.toml", "--out", runs.out}).status == 2);
  CHECK(heed_says({"diff", runs.dot.id(), "ffff", "--out", runs.out}).status == 2);
}

TEST_CASE("show of a run says what became of it, above a configuration that resolves to the same",
          "[command_line][show]") {
  const Runs runs;
  const Answer answer = heed_says({"show", runs.additive.id().substr(0, 12), "--out", runs.out});
  INFO(answer.err);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.out, Contains("# run " + runs.additive.id() + ": finished") &&
                             Contains("# val_loss 1.75 at step 30, best 1.25 at step 20") && Contains("9.0 s of work"));
  CHECK(answer.out.ends_with(content(runs.additive.config())));
  CHECK_THAT(heed_says({"show", runs.additive.path.string(), "--diff-from", "defaults"}).out,
             Contains("attention.score") && !Contains("model.width"));
  const Answer nothing = heed_says({"show", "zzzz", "--out", runs.out});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.err, Contains("no such file") && Contains(runs.dot.id()));
}

TEST_CASE("export writes the runs that are named, found or all", "[command_line][export]") {
  const Runs runs;
  const auto csv = runs.path / "exports" / "csv";
  CHECK(heed_says({"export", "--to", "csv", "--out", runs.out}).status == 0);
  CHECK(content(csv / ("scores_seed-0_" + runs.dot.id() + ".csv")) ==
        "step,seconds,tokens,val_loss\n10,0,0,2\n20,1,0,1.5\n");
  CHECK(entries(csv) == 2);

  const std::string into = (runs.path / "board").string();
  const Answer board = heed_says({"export", runs.dot.id(), "--to", "tensorboard", "--into", into, "--out", runs.out});
  CHECK(board.status == 0);
  CHECK(entries(into) == 1);
  CHECK_THAT(board.out, Contains(runs.dot.id() + "/events.out.tfevents"));
  const std::string found = (runs.path / "found").string();
  CHECK(heed_says({"export", "--where", "val_loss > 1.6", "--to", "csv", "--into", found, "--out", runs.out}).out ==
        found + "/scores_seed-0_" + runs.additive.id() + ".csv\n");
  const std::filesystem::path linked = found + "/scores_seed-0_" + runs.dot.id() + ".csv";
  std::filesystem::create_symlink("elsewhere", linked);
  CHECK_THAT(heed_says({"export", runs.dot.id(), "--to", "csv", "--into", found, "--out", runs.out}).err,
             Contains("is no regular file, and an export replaces nothing else"));
  CHECK(std::filesystem::is_symlink(linked));

  CHECK(heed_says({"export", "--to", "pdf", "--out", runs.out}).status == 2);
  CHECK(heed_says({"export", "--out", runs.out}).status == 2);
  CHECK(heed_says({"export", "--where", "seed = 7", "--to", "csv", "--out", runs.out}).status == 2);
  CHECK_THAT(heed_says({"export", runs.dot.id(), "--where", "seed = 0", "--to", "csv", "--out", runs.out}).err,
             Contains("--where does nothing"));
  put(runs.dot.metrics(), "nonsense\n");
  CHECK_THAT(heed_says({"export", runs.dot.id(), "--to", "csv", "--out", runs.out}).err, Contains("metrics.jsonl"));
}

TEST_CASE("runs lists the arm of each run, which filters and sorts runs, too", "[command_line][runs]") {
  const Runs runs;
  const RunFolder other = run_of(runs, "name = \"other\"\nseed = 5\n", losses({4.0}));
  CHECK(runs.list({"--columns", "arm", "--csv"}).out == "arm\n\n\n\n");
  CHECK_THAT(runs.list({"--csv"}).out.substr(0, 20), !Contains("arm"));
  freeze_scores(runs, "dot");
  CHECK(runs.list({"--columns", "id,arm,seed", "--sort", "arm", "--csv"}).out ==
        "id,arm,seed\n" + runs.dot.id() + ",reference,0\n" + runs.additive.id() + ",score = additive,0\n" + other.id() +
            ",,5\n");
  CHECK_THAT(runs.list({"--where", "arm = 'score = additive'"}).out,
             Contains(runs.additive.id()) && Contains("1 of 3 runs"));
  const boost::json::object json = result_of(runs.list({"--json", "--where", "seed = 0"}));
  for (const auto& run : json.at("runs").as_array())
    CHECK(run.at("arm") == (run.at("id") == boost::json::value(runs.dot.id()) ? "reference" : "score = additive"));
  CHECK_THAT(runs.list({"--columns", "arms"}).err, Contains("did you mean 'arm'?"));

  // The most recent sweep decides: here `additive` is the reference.
  freeze_scores(runs, "additive");
  CHECK(runs.list({"--columns", "arm", "--where", "attention.score = 'additive'", "--csv"}).out == "arm\nreference\n");
  put(sweep_folders(runs.path).front() / "plan.json", "{");
  const Answer damaged = runs.list({"--columns", "arm", "--where", "attention.score = 'additive'", "--csv"});
  CHECK(damaged.out == "arm\nscore = additive\n");
  CHECK_THAT(damaged.err, Contains("the arms of this sweep's runs are unknown") && Contains("plan.json"));
}

TEST_CASE("exported runs are named by arm, seed and ID", "[command_line][export]") {
  const Runs runs;
  const auto csv = runs.path / "exports" / "csv", board = runs.path / "exports" / "tensorboard";
  freeze_scores(runs, "dot");
  CHECK(heed_says({"export", runs.additive.id(), "--to", "csv", "--out", runs.out}).out ==
        (csv / ("score-additive_seed-0_" + runs.additive.id() + ".csv")).string() + "\n");
  CHECK(heed_says({"export", "--where", "arm = 'reference'", "--to", "csv", "--out", runs.out}).out ==
        (csv / ("reference_seed-0_" + runs.dot.id() + ".csv")).string() + "\n");
  CHECK(heed_says({"export", runs.dot.path.string(), "--to", "tensorboard", "--into", board.string()}).out ==
        (board / ("reference_seed-0_" + runs.dot.id()) / "events.out.tfevents.heed").string() + "\n");
}

TEST_CASE("rerun refuses what can't be compared", "[command_line][rerun]") {
  const Runs runs;
  const RunFolder stopped = run_of(runs, "seed = 5\n", losses({2.0}), "interrupted");
  CHECK_THAT(heed_says({"rerun", stopped.id(), "--out", runs.out}).err,
             Contains("interrupted") && Contains("finished"));
  // The data that these runs record is not the data of their task.
  const Answer other_data = heed_says({"rerun", runs.dot.id(), "--out", runs.out});
  CHECK(other_data.status == 2);
  CHECK_THAT(other_data.err, Contains("data of run"));
  std::string text = content(runs.dot.config());
  text.replace(text.find("seed = 0"), 8, "seed = 1");
  put(runs.dot.config(), text);
  CHECK_THAT(heed_says({"rerun", runs.dot.id(), "--out", runs.out}).err, Contains("edited"));
}
