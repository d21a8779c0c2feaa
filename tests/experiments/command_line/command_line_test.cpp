// Tests of the command line: suggestions for misspelt names, help, exit statuses, and which stream each output goes to.
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/command_line/command_line_support.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <boost/json.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>
#include <vector>

using namespace heed;
using test::Answer;
using test::contains;
using test::heed_says;

namespace {

struct Files : Scratch {
  /// The path of a new file.
  std::string file(const std::string& name, const std::string& text) const {
    put(path / name, text);
    return (path / name).string();
  }
};

const std::vector<std::string> all_commands{"new",      "run",     "plan",     "check",   "show",      "status",
                                            "report",   "runs",    "diff",     "rerun",   "export",    "generate",
                                            "evaluate", "inspect", "variants", "options", "completion"};

} // namespace

TEST_CASE("a mistyped command names the nearest, and is refused", "[command_line]") {
  const Answer answer = heed_says({"rnu", "configs/quickstart.toml"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.err, "heed: there is no command rnu; did you mean 'run'?"));
  CHECK(answer.out.empty());
}

TEST_CASE("a word that is near to no command gets the list", "[command_line]") {
  const Answer answer = heed_says({"xyzzyxyzzy"});
  CHECK(answer.status == 2);
  for (const std::string& command : all_commands) CHECK(contains(answer.err, command));
  CHECK_FALSE(contains(answer.err, "worker"));
}

TEST_CASE("a mistyped option names the nearest of its command", "[command_line]") {
  const Answer answer = heed_says({"run", "a.toml", "--jbos", "3"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.err, "heed: run: there is no option --jbos; did you mean '--jobs'?"));
  CHECK(contains(heed_says({"run", "a.toml", "--job=3"}).err, "did you mean '--jobs'?"));
}

TEST_CASE("values out of bounds and missing arguments are refused", "[command_line]") {
  CHECK(heed_says({"run"}).status == 2);
  CHECK(contains(heed_says({"run"}).err, "CONFIG"));
  CHECK(heed_says({"run", "a.toml", "--jobs", "0"}).status == 2);
  CHECK(heed_says({"run", "a.toml", "--jobs", "many"}).status == 2);
  CHECK(heed_says({"report", "runs", "--format", "pdf"}).status == 2);
  CHECK(heed_says({}).status == 2);
  CHECK(contains(heed_says({"generate", "x", "--temperature", "nan"}).err, "nan not a number"));
  CHECK(contains(heed_says({"plan", "a.toml", "--effect", "nan"}).err, "nan not a number"));
  const Scratch out;
  CHECK(contains(heed_says({"runs", out.path.string(), "--where", ""}).err, "the filter is empty"));
}

TEST_CASE("help is on standard output, with examples and exit statuses", "[command_line]") {
  const Answer top = heed_says({"--help"});
  CHECK(top.status == 0);
  CHECK(top.err.empty());
  CHECK_FALSE(contains(top.out, "worker"));
  for (const std::string& command : all_commands) {
    CHECK(contains(top.out, command));
    const Answer help = heed_says({command, "--help"});
    INFO(command);
    CHECK(help.status == 0);
    CHECK(contains(help.out, "Example"));
    CHECK(contains(help.out, "  heed " + command));
    CHECK(contains(help.out, "Exit status: 0 done, 1 failed after it had started, 2 refused before any work, 130 "
                             "stopped by Ctrl-C."));
  }
}

TEST_CASE("the version is one line", "[command_line]") {
  const Answer answer = heed_says({"--version"});
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with("heed "));
  CHECK(answer.out.find('\n') == answer.out.size() - 1);
}

TEST_CASE("a configuration that is not there is refused, by every command that takes one", "[command_line]") {
  for (const std::string command : {"run", "plan", "check", "show"}) {
    const Answer answer = heed_says({command, "/nowhere/missing.toml"});
    INFO(command);
    CHECK(answer.status == 2);
    CHECK(contains(answer.err, "heed: "));
    CHECK(contains(answer.err, "/nowhere/missing.toml"));
  }
}

TEST_CASE("show prints a configuration that shows the same again", "[command_line]") {
  const Files scratch;
  const std::string file = scratch.file("a.toml", "name = \"a\"\n[model]\nwidth = 32\n");
  const Answer first = heed_says({"show", file, "train.steps=7"});
  REQUIRE(first.status == 0);
  CHECK(contains(first.out, "steps = 7"));
  CHECK(heed_says({"show", scratch.file("b.toml", first.out)}).out == first.out);
  const Answer difference = heed_says({"show", file, "--diff-from", "defaults"});
  CHECK(contains(difference.out, "model.width"));
  CHECK_FALSE(contains(difference.out, "model.heads"));
}

TEST_CASE("a mistyped override names the nearest option", "[command_line]") {
  const Files scratch;
  const Answer answer = heed_says({"check", scratch.file("a.toml", "name = \"a\"\n"), "train.stepz=7"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.err, "steps"));
}

TEST_CASE("an output folder that can't be made is refused, and leaves nothing", "[command_line]") {
  const Files scratch;
  const std::string config = scratch.file("a.toml", "name = \"a\"\n[train]\nsteps = 1\n");
  const std::string blocked = scratch.file("blocked", "a file where a folder would have to be");
  const Answer answer = heed_says({"run", config, "--out", blocked + "/runs"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.err, "blocked"));
  CHECK(std::filesystem::is_regular_file(blocked));
}

TEST_CASE("plan keeps nothing", "[command_line]") {
  const Files scratch;
  const std::string config = scratch.file("a.toml", "name = \"a\"\n[train]\nsteps = 5\n[sweep]\nseeds = [0, 1]\n"
                                                    "[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\"] }\n");
  const Answer answer = heed_says({"plan", config, "--out", (scratch.path / "runs").string(), "--no-probe"});
  INFO(answer.err);
  CHECK(answer.status == 0);
  CHECK(contains(answer.out, "4 runs: 2 arms, 2 seeds"));
  CHECK(contains(answer.out, "parameters"));
  CHECK_FALSE(std::filesystem::exists(scratch.path / "runs"));
}

TEST_CASE("a plan is registered before anything has run, with the hash of the sweep", "[command_line]") {
  const std::string grid = "[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\"] }\n",
                    tune = "[sweep.tune]\nseeds = [100]\ngrid = { \"train.learning_rate\" = [1e-3, 3e-3] }\n";
  const auto text = [&](const std::string& sweep, const std::string& blocks) {
    return "name = \"a plan\"\n[train]\nsteps = 2\n[model]\nwidth = 8\nheads = 1\n[report]\nmargin = 0.1\n"
           "question = \"Which, \\\"here\\\"?\"\n[sweep]\nseeds = [0, 1]\n" +
           sweep + blocks;
  };
  for (const auto& [sweep, blocks] : std::vector<std::pair<std::string, std::string>>{
           {"", grid},
           {"", tune + grid},
           {"within = \"task.copy.length\"\n", "[[sweep.block]]\ngrid = { \"task.copy.length\" = [4, 6] }\n" + grid}}) {
    const Files scratch;
    const std::string config = scratch.file("a.toml", text(sweep, blocks)), out = (scratch.path / "runs").string(),
                      record = (scratch.path / "registered.json").string();
    const std::vector<std::string> asked{"plan", config, "--out", out, "--register", record};
    const Answer answer = heed_says(asked);
    INFO(answer.err);
    REQUIRE(answer.status == 0);
    CHECK_FALSE(std::filesystem::exists(out));
    const std::string written = content(record);
    // The record has no checksum, which is of the plan's own file.
    const std::string body = written.substr(0, written.rfind('\n', written.rfind('}')));
    const auto plan = plan_from_json(body + ",\n\"checksum\": \"" + content_hash(body).substr(0, 12) + "\"\n}\n");
    INFO(plan.error);
    REQUIRE(plan);
    CHECK(hash_of(*plan) == plan->hash);
    CHECK(contains(answer.out, "a plan is plan " + plan->hash));
    CHECK(contains(written, "\"plan\": \"" + plan->hash + "\""));
    CHECK(std::regex_search(written, std::regex("\"registered\": \\{\\s*\"at\": \"20..-..-..T..:..:..Z\"")));
    CHECK(contains(written, "\"finished\": 0"));

    // Every later run has this hash in its folder's name and in every report.
    const auto planned = load_plan(freeze(*plan, out));
    CHECK(planned.hash == plan->hash);
    CHECK(std::filesystem::exists(std::filesystem::path(out) / "sweeps" / ("a-plan-" + plan->hash) / "plan.json"));
    CHECK(contains(heed_says({"report", out, "--format", "terminal"}).out, plan->hash + ", frozen 20"));
    for (const auto& [format, file] : std::vector<std::pair<std::string, std::string>>{
             {"markdown", "report.md"}, {"html", "report.html"}, {"latex", "report.tex"}, {"json", "report.json"}}) {
      const Answer report = heed_says({"report", out, "--format", format});
      INFO(report.err);
      CHECK(report.status == 0);
      CHECK(contains(content(std::filesystem::path(out) / "sweeps" / plan->folder_name() / file),
                     plan->hash + ", frozen 20"));
    }

    const Answer again = heed_says(asked);
    CHECK(again.status == 2);
    CHECK(contains(again.err, "exists already, and a registration is never overwritten; name another file"));
    CHECK(content(record) == written);
  }
}

TEST_CASE("status and report of a folder that is not there are refused", "[command_line]") {
  CHECK(heed_says({"status", "/nowhere/runs"}).status == 2);
  CHECK(heed_says({"report", "/nowhere/runs"}).status == 2);
  CHECK(heed_says({"generate", "abc", "--out", "/nowhere/runs"}).status == 2);
  CHECK(heed_says({"evaluate", "abc", "--out", "/nowhere/runs"}).status == 2);
  CHECK(heed_says({"evaluate", "abc", "--split", "tset"}).status == 2);
  CHECK(heed_says({"inspect", "abc", "--out", "/nowhere/runs"}).status == 2);
  CHECK(heed_says({"inspect", "abc", "--rows", "-1"}).status == 2);
  CHECK(heed_says({"inspect", "/nowhere/a.toml"}).status == 2);
  // the configuration of an existing run cannot be changed
  CHECK(heed_says({"inspect", "abc", "model.width=3"}).status == 2);
  CHECK(heed_says({"inspect", "abc", "--split", "test"}).status == 2); // only `evaluate` reads the test split
}

TEST_CASE("variants and check draw pictures", "[command_line]") {
  const Files files;
  const std::string pictures = (files.path / "pictures").string();
  CHECK(contains(heed_says({"variants", "attention.normalizer", "--pictures", pictures}).out, "pictures\n"));
  const auto content = [&](const std::string& name) {
    std::ifstream file(files.path / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string softmax = content("pictures/attention.normalizer-softmax.svg");
  CHECK(softmax.starts_with("<svg "));
  CHECK(softmax.ends_with("</svg>\n"));
  CHECK(contains(softmax, "weights of eight keys"));
  CHECK(softmax != content("pictures/attention.normalizer-sparsemax.svg"));
  CHECK(contains(heed_says({"variants", "gru", "--pictures", pictures}).err, "none of these variants has a picture"));
  CHECK(contains(heed_says({"variants", "--json", "--pictures", pictures}).err, "leave out"));
  CHECK(heed_says({"variants", "attention.normalizer", "--pictures", pictures}).status == 0); // its own are replaced
  files.file("pictures/attention.normalizer-softmax.svg", "<svg>a user's</svg>");
  const Answer refused = heed_says({"variants", "attention.normalizer", "--pictures", pictures});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "softmax.svg' exists and was not written by Heed: choose another name, or say --force"));
  CHECK(content("pictures/attention.normalizer-softmax.svg") == "<svg>a user's</svg>");
  CHECK(heed_says({"variants", "attention.normalizer", "--pictures", pictures, "--force"}).status == 0);
  CHECK(content("pictures/attention.normalizer-softmax.svg") == softmax);

  const std::string config = files.file("c.toml", "[model]\nheads = 2\nwidth = 8\n[task]\nkind = \"copy\"\n"),
                    other = files.file("r.toml", "[model]\nkind = \"recurrent\"\n[task]\nkind = \"copy\"\n"),
                    mask = (files.path / "mask.svg").string();
  CHECK(contains(heed_says({"check", config, "--picture", mask, "--length", "6"}).out, mask));
  CHECK(contains(content("mask.svg"), "all heads: block 0"));
  CHECK(contains(content("mask.svg"), ">visible<"));
  heed_says({"check", config, "attention.mask_mod=j <= i - h", "--picture", mask});
  CHECK(contains(content("mask.svg"), "head 1: block 0"));
  CHECK(contains(heed_says({"check", other, "--picture", mask}).err, "\"recurrent\" has none"));
  heed_says({"check", config, "attention.score_mod=log(i - j) + s", "--picture", mask});
  CHECK(contains(content("mask.svg"), ">hidden<")); // log(0): the diagonal
  heed_says({"check", config, "attention.score_mod=sqrt(j - i) + s", "--picture", mask});
  CHECK(contains(content("mask.svg"), ">NaN<")); // of earlier keys
  heed_says({"check", config, "model.kind=encoder_decoder", "attention.cross_mask_mod=j <= i + h", "--picture", mask});
  for (const char* title : {">all heads: encoder, block 0<", ">all heads: decoder, block 0<",
                            ">head 0: cross attention, block 0<", ">head 1: cross attention, block 0<"})
    CHECK(contains(content("mask.svg"), title));
  const std::vector<std::string> images = {"check",     config, "model.kind=patches", "task.kind=shapes",
                                           "--picture", mask};
  CHECK(heed_says(images).status == 0);
  CHECK(contains(content("mask.svg"), ">patch of the key<"));
  std::vector<std::string> longer = images;
  longer.insert(longer.end(), {"--length", "9"});
  CHECK(contains(heed_says(longer).err, "--length does nothing for images: they have 16 patches, in rows of 4"));
  const std::string jpg = (files.path / "mask.jpg").string();
  CHECK(contains(heed_says({"check", config, "--picture", jpg}).err, "written as .svg, .pdf or .png"));
  CHECK_FALSE(std::filesystem::exists(jpg));
  CHECK(contains(heed_says({"check", config, "--length", "6"}).err, "does nothing without --picture"));
  CHECK(contains(heed_says({"check", config, "--force"}).err, "--force does nothing here"));
  files.file("mask.svg", "a user's");
  CHECK(contains(heed_says({"check", config, "--picture", mask}).err, "exists and was not written by Heed"));
  CHECK(content("mask.svg") == "a user's");
  CHECK(heed_says({"check", config, "--picture", mask, "--force"}).status == 0);
  CHECK(content("mask.svg").starts_with("<svg "));
  const Answer device = heed_says({"check", config, "--picture", "/dev/null"});
  CHECK(device.status == 0);
  CHECK_FALSE(contains(device.out, "/dev/null"));
}

TEST_CASE("variants and options know their families and tables, and the nearest name", "[command_line]") {
  const Answer scores = heed_says({"variants", "attention.score"});
  CHECK(scores.status == 0);
  for (const char* score : {"dot", "scaled_dot", "additive", "cosine", "multiplicative"})
    CHECK(contains(scores.out, score));
  CHECK(heed_says({"variants", "score"}).out == scores.out);
  CHECK(contains(heed_says({"variants", "attention.scroe"}).err, "did you mean 'attention.score'?"));
  const Answer json = heed_says({"variants", "--json"});
  CHECK(result_of(json).at("families").as_array().size() > 10);

  const Answer measured = heed_says({"variants", "position", "--measure", "--lengths", "8", "12", "--width", "8",
                                     "--heads", "2", "--seconds", "0"});
  CHECK(measured.status == 0);
  CHECK(contains(measured.out, "width 8, 2 heads"));
  CHECK(contains(measured.out, "FLOPs at 12"));
  CHECK(contains(measured.out, "rotary"));
  CHECK_FALSE(contains(measured.out, "softmax"));
  CHECK(contains(heed_says({"variants", "train", "--measure"}).err, "--measure is only for attention.score"));
  CHECK(contains(heed_says({"variants", "--width", "8"}).err, "do nothing without --measure"));

  const Answer train = heed_says({"options", "train"});
  CHECK(train.status == 0);
  CHECK(contains(train.out, "learning_rate"));
  CHECK(heed_says({"options", "trian"}).status == 2);
  CHECK(contains(heed_says({"options", "trian"}).err, "train"));
  CHECK(heed_says({"options", "--schema"}).out.starts_with("{"));
  for (const char* table : {"sweep", "sweep.block", "sweep.tune"}) {
    const Answer sweep = heed_says({"options", table});
    INFO(table << sweep.err);
    CHECK(sweep.status == 0);
    CHECK(contains(sweep.out, "grid = {"));
    CHECK_FALSE(result_of(heed_says({"options", table, "--json"})).at("tables").as_array().empty());
  }
}

TEST_CASE("a command to be repeated is quoted for a shell", "[command_line]") {
  CHECK(shell_words({"./heed", "run", "a b.toml", "model.width=3"}) == "./heed run 'a b.toml' model.width=3");
  CHECK(shell_words({"it's", ""}) == "'it'\\''s' ''");
  CHECK(shell_words({"betas=[0.9, 0.99]"}) == "'betas=[0.9, 0.99]'");
}

TEST_CASE("data shows the files, the counts and what can't be seen", "[command_line]") {
  Files files;
  std::string letters = "a b\u00A0\n";
  for (int i = 0; i < 10; ++i) letters += "a b ";
  const std::string text = files.file("text.txt", letters);
  const std::string held_out = files.file("held_out.txt", "a b a b a b a b\n");
  const std::string config = files.file("a.toml", "[task]\nkind = \"text\"\n[task.text]\nblock = 4\n");
  const std::vector<std::string> words{"data", config, "data.path=" + text, "data.validation_path=" + held_out};
  const Answer answer = heed_says(words);
  CHECK(answer.err.empty());
  CHECK(answer.status == 0);
  CHECK(contains(answer.out, "files       training " + text + "; validation " + held_out + "\n"));
  CHECK(contains(answer.out, "training 45; validation 16; test 0"));
  CHECK(contains(answer.out, "\" \" "));   // a space, in quotes
  CHECK(contains(answer.out, "\\u00A0 ")); // a no-break space
  CHECK(contains(answer.out, "\\n "));     // a line end
}

TEST_CASE("data writes every example of a split in full, and nothing else", "[command_line]") {
  Files files;
  std::string examples;
  const std::string longer(300, 'y');
  for (int i = 0; i < 1500; ++i)
    examples += "in " + std::to_string(i) + "\tout\\" + std::to_string(i) + " " + longer + "\n";
  const std::string table = files.file("pairs.tsv", examples);
  const std::string config = files.file("a.toml", "[task]\nkind = \"translation\"\n[data]\npath = \"" + table +
                                                      "\"\nshuffle = false\nvalidation_rows = 20\ntest_rows = 30\n"
                                                      "[model]\nkind = \"encoder_decoder\"\n");
  const auto all = [&](const std::string& split) { return heed_says({"data", config, "--split", split, "--all"}); };
  std::string expected;
  for (int i = 0; i < 1450; ++i)
    expected += "in " + std::to_string(i) + "\tout\\\\" + std::to_string(i) + " " + longer + "\n";
  CHECK((all("train").out == expected));
  CHECK(all("train").status == 0);
  const std::string test = all("test").out, validation = all("validation").out;
  CHECK(std::count(test.begin(), test.end(), '\n') == 30);
  CHECK(std::count(validation.begin(), validation.end(), '\n') == 20);
  // The expected examples, computed here, of a split other than the training split.
  CHECK(contains(heed_says({"data", config, "--split", "test", "--examples", "2"}).out, "in <unknown>"));

  const std::string copies = files.file("b.toml", "[task]\nkind = \"copy\"\n");
  CHECK(heed_says({"data", copies, "--split", "validation", "--all"}).status == 0);
  const Answer endless = heed_says({"data", copies, "--split", "train", "--all"});
  CHECK(endless.status == 2);
  CHECK(contains(endless.err, "makes its training examples anew for every step, without end"));
  CHECK(contains(heed_says({"data", copies, "--all"}).err, "--split train, validation or test"));
  CHECK(contains(heed_says({"data", copies, "--split", "test", "--all", "--examples", "3"}).err,
                 "--examples does nothing"));
  CHECK(heed_says({"data", copies, "--split", "every"}).status == 2);
}

TEST_CASE("data writes the sequences of training steps", "[command_line]") {
  Files files;
  const std::string file = files.file("a.toml", "seed = 4\n[task]\nkind = \"copy\"\n[task.copy]\nmin_length = 2\n"
                                                "[train]\nbatch = 3\n");
  const Answer answer = heed_says({"data", file, "--batches", "2"});
  CHECK(answer.status == 0);
  const Config config = Settings::load(file).resolve();
  const auto task = make_task(config);
  const auto numbers = [](const std::vector<std::int32_t>& all, std::int32_t n) {
    std::string text;
    for (std::int32_t i = 0; i < n; ++i) text += (i > 0 ? " " : "") + std::to_string(all[static_cast<std::size_t>(i)]);
    return text;
  };
  std::string expected = "step\trow\ttokens\toutputs\ttargets\tinput\toutput\n";
  for (std::int64_t step = 0; step < 2; ++step)
    for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
      Batch batch;
      batch.reset(1, task->sizes(TaskFormat::language_model), TaskFormat::language_model);
      task->training_sequence(TaskFormat::language_model, 4, step, sequence, batch, 0);
      // the symbols, the separator, and the symbols again without the last one
      const std::int32_t n = batch.lengths[0], symbols = n / 2;
      const std::string tokens = numbers(batch.tokens, n), answered = numbers(batch.tokens, symbols);
      expected += std::to_string(step) + "\t" + std::to_string(sequence) + "\t" + tokens + "\t\t" +
                  numbers(batch.targets, n) + "\t" + answered + " |\t" + answered + "\n";
    }
  CHECK(answer.out == expected);
  CHECK(heed_says({"data", file, "--batches", "2", "seed=5"}).out != expected);
  CHECK(contains(heed_says({"data", file, "--batches", "2", "--all"}).err, "leave out --all, --examples and --split"));
  CHECK(heed_says({"data", file, "--batches", "0"}).status == 2);
  const Answer images = heed_says({"data", file, "--batches", "1", "task.kind=shapes", "model.kind=patches"});
  CHECK(images.status == 2);
  CHECK(contains(images.err, "the task has images"));
}

TEST_CASE("data writes the vocabulary as JSON", "[command_line]") {
  Files files;
  const std::string table = files.file("films.csv", "text,label\ngood film,yes\nbad film,\"no\nno\"\ngood plot,yes\n"
                                                    "bad plot,yes\n");
  const std::string file = files.file("a.toml",
                                      "[task]\nkind = \"labelled_text\"\n[model]\nkind = \"encoder\"\n[data]\n"
                                      "train = 0.5\npath = \"" +
                                          table + "\"\n");
  const Answer answer = heed_says({"data", file, "--vocabulary"});
  INFO(answer.err);
  REQUIRE(answer.status == 0);
  const auto json = boost::json::parse(answer.out).as_object();
  CHECK(json.size() == 2);
  CHECK(json.at("classes") == boost::json::array({"no\nno", "yes"}));
  const auto task = make_task(Settings::load(file).resolve());
  const auto& tokens = json.at("tokens").as_array();
  REQUIRE(std::ssize(tokens) == task->sizes(TaskFormat::classification).vocabulary);
  for (std::size_t i = 1; i < tokens.size(); ++i)
    CHECK(task->encode(std::string(tokens[i].as_string())) == std::vector<std::int32_t>{static_cast<std::int32_t>(i)});
  CHECK(contains(heed_says({"data", file, "--vocabulary", "--all"}).err, "leave out --batches"));
  const std::string copy = files.file("b.toml", "[task]\nkind = \"copy\"\n");
  CHECK(heed_says({"data", copy, "--vocabulary", "task.kind=shapes", "model.kind=patches"}).status == 2);
  CHECK(contains(heed_says({"data", copy, "--vocabulary", "model.kind=encoder_decoder"}).out, "\"tokens\""));
}

TEST_CASE("no message commands the terminal", "[command_line]") {
  const Answer answer = heed_says({"run", "a\x1b[2J.toml"});
  CHECK(answer.status == 2);
  CHECK(contains(answer.err, "a\\x1b[2J.toml"));
}
