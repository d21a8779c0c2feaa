// Tests of runs that start from the weights of a finished run ([train] start), with the real engine.
#include "experiments/runs/run_start.hpp"

#include "experiments/metrics/record.hpp"
#include "experiments/models/model.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/runs/worker.hpp"
#include "tests/autograd/thread_ranks.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"
#include "tests/experiments/runs/read_metrics.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cstdio>
#include <map>
#include <memory>

using namespace heed;
using Catch::Contains;
using heed::test::refusal;
namespace fs = std::filesystem;

namespace {

const std::string small = R"(
seed = 1
[task]
kind = "copy"
validation = 24
[task.copy]
length = 4
symbols = 5
[model]
layers = 1
width = 8
heads = 2
[position]
kind = "learned"
[train]
steps = 6
batch = 6
shards = 2
learning_rate = 0.02
evaluate_every = 3
)";

/// A log that a test can read.
struct Log {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  std::string text() const {
    std::rewind(file.get());
    std::string out;
    for (int c = 0; (c = std::fgetc(file.get())) != EOF;) out += static_cast<char>(c);
    return out;
  }
};

TaskFormat format_in(const Config& config) { return f32::model_info(config.model.kind).format; }

WorkerParts parts(const Log& log) {
  WorkerParts out{
      [](const Config& config, const std::string& kernels) -> const Engine& { return engine(config, kernels); },
      make_task,
      format_in,
      {"0.1.0", "gcc", "-O2", "blas"}};
  out.log = log.file.get();
  return out;
}

RunFolder planned(const fs::path& out, const std::string& toml, const std::vector<std::string>& changes = {}) {
  Settings settings = Settings::parse(toml, "test");
  settings.override_with(changes);
  const Config config = settings.resolve();
  return prepare_run(out, run_id(config, make_task(config)->fingerprint()), to_toml(config));
}

/// Executes a run to its end.
RunFolder trained(const fs::path& out, const std::string& toml, const std::vector<std::string>& changes = {}) {
  const Log log;
  const RunFolder run = planned(out, toml, changes);
  const int status = run_worker(run, 1, parts(log));
  INFO(log.text());
  REQUIRE(status == 0);
  return run;
}

/// The reason why a run failed, and its exit status.
std::pair<int, std::string> failed(const RunFolder& run) {
  const Log log;
  WorkerParts with = parts(log);
  std::string why;
  with.tell = [&](std::string_view text) { why = text; };
  const int status = run_worker(run, 1, with);
  return {status, why};
}

/// The tensors of the last checkpoint, by name: their shapes and bytes.
std::map<std::string, std::pair<std::vector<std::int64_t>, std::vector<std::byte>>> weights_of(const RunFolder& run) {
  std::map<std::string, std::pair<std::vector<std::int64_t>, std::vector<std::byte>>> out;
  const auto kept = newest_weights(run);
  REQUIRE(kept);
  for (const StoredTensor& tensor : kept->checkpoint.tensors) out[tensor.name] = {tensor.shape, tensor.bytes};
  return out;
}

double last(const RunFolder& run, const std::string& metric) {
  std::optional<double> value;
  const auto lines = read_metrics(run);
  REQUIRE(lines);
  for (const MetricsRecord& line : *lines)
    if (const auto found = value_of(line, metric)) value = found;
  REQUIRE(value);
  return *value;
}

/// All metrics without the seconds.
std::string metrics_of_run(const RunFolder& run) {
  std::string out;
  const auto lines = read_metrics(run);
  for (const MetricsRecord& line : *lines) {
    out += fmt::format("{} {}", line.step, line.tokens);
    for (const auto& [name, value] : line.values) out += fmt::format(" {} {:a}", name, value);
    out += "\n";
  }
  return out;
}

std::vector<std::string> from(const RunFolder& start, std::vector<std::string> more = {}) {
  more.push_back("train.start=" + start.id());
  return more;
}

} // namespace

TEST_CASE("a run of no steps from a start has the start's results, to the last bit", "[runs][start]") {
  const Scratch out;
  const RunFolder start = trained(out.path, small);
  for (const std::string seed : {"1", "2"}) {
    const RunFolder run = trained(out.path, small, from(start, {"train.steps=0", "seed=" + seed}));
    CHECK(run.id() != start.id());
    CHECK(last(run, "val_loss") == last(start, "val_loss"));
    CHECK(last(run, "val_accuracy") == last(start, "val_accuracy"));
    CHECK(weights_of(run) == weights_of(start));
  }
  // Without the start, the untrained model has other weights.
  CHECK(last(trained(out.path, small, {"train.steps=0"}), "val_loss") != last(start, "val_loss"));
}

TEST_CASE("a run from a start counts its own steps, and says what it took", "[runs][start]") {
  const Scratch out;
  const RunFolder start = trained(out.path, small);
  const Log log;
  const RunFolder run = planned(out.path, small, from(start, {"train.steps=4"}));
  REQUIRE(run_worker(run, 1, parts(log)) == 0);
  const std::size_t parameters = weights_of(start).size();
  CHECK_THAT(log.text(),
             Contains(fmt::format("starts from run {} (step 6): {} parameters are taken\n", start.id(), parameters)));
  CHECK(read_metrics(run)->back().step == 4);
  const auto manifest = read_manifest(run);
  REQUIRE(manifest);
  REQUIRE(manifest->start);
  CHECK(manifest->start->run == start.id());
  CHECK(manifest->start->step == 6);
  CHECK(manifest->start->match.taken.size() == parameters);
  CHECK(manifest->start->match.all());
  CHECK(manifest->start->checksum == read_start(out.path, start.id()).checksum);
  CHECK_FALSE(read_manifest(start)->start);
  const auto again = manifest_from_json(to_json(*manifest));
  REQUIRE(again);
  CHECK(again->start == manifest->start);
}

TEST_CASE("what the start's weights compute otherwise here is listed, and refused if it can't be meant",
          "[runs][start]") {
  const Scratch out;
  const RunFolder start = trained(out.path, small);
  const RunFolder run = trained(out.path, small,
                                from(start, {"attention.window=2", "block.activation=\"relu\"", "attention.dropout=0.1",
                                             "train.learning_rate=0.01"}));
  const auto manifest = read_manifest(run);
  REQUIRE(manifest);
  REQUIRE(manifest->start);
  CHECK(manifest->start->changes ==
        std::vector<std::string>{"attention.window 0 -> 2", "block.activation \"gelu\" -> \"relu\""});
  CHECK_THAT(start_in_words(*manifest->start),
             Contains("; the same weights compute something else here: attention.window 0 -> 2, block.activation"));
  const auto [status, why] = failed(planned(out.path, small, from(start, {"model.heads=4"})));
  CHECK(status != 0);
  CHECK_THAT(why, Contains("the shapes of its weights fit, but it has 2 heads and this model 4"));
}

TEST_CASE("matching takes the weights of equal names and shapes; others are those of the seed", "[runs][start]") {
  const Scratch out;
  const RunFolder start = trained(out.path, small);
  const std::vector<std::string> changes{"model.layers=2", "task.copy.length=6", "train.steps=0"};
  std::vector<std::string> with_start = from(start, changes);
  with_start.emplace_back("train.start_weights=matching");
  const RunFolder run = trained(out.path, small, with_start), fresh = trained(out.path, small, changes);
  const auto of_start = weights_of(start), of_run = weights_of(run), of_fresh = weights_of(fresh);
  std::size_t taken = 0, reshaped = 0, missing = 0;
  for (const auto& [name, tensor] : of_run) {
    INFO(name);
    const auto there = of_start.find(name);
    const bool same = there != of_start.end() && there->second.first == tensor.first;
    taken += same;
    reshaped += !same && there != of_start.end();
    missing += there == of_start.end();
    CHECK((tensor == (same ? there->second : of_fresh.at(name))));
  }
  CHECK(of_run.size() == of_fresh.size());
  CHECK(taken > 5);
  CHECK(reshaped == 1); // the table of learned positions
  CHECK(missing > 5);   // the second block
  const auto manifest = read_manifest(run);
  REQUIRE(manifest->start);
  CHECK(manifest->start->match.taken.size() == taken);
  CHECK(manifest->start->match.missing.size() == missing);
  REQUIRE(manifest->start->match.reshaped.size() == 1);
  CHECK_THAT(manifest->start->match.reshaped.front(), Contains("here") && Contains("there"));
  CHECK_THAT(start_in_words(*manifest->start),
             Contains("1 parameter has another shape: ") && Contains("are not in the start: ") && Contains(" and "));

  // A model without positions leaves their table out.
  std::vector<std::string> without = from(start, {"position.kind=none", "train.steps=0"});
  without.emplace_back("train.start_weights=matching");
  const RunFolder bare = trained(out.path, small, without);
  CHECK(read_manifest(bare)->start->match.unused.size() == 1);
  CHECK(weights_of(bare).size() + 1 == of_start.size());
}

TEST_CASE("the checksum of a start is that of its step and weights, and the run's ID depends on it", "[runs][start]") {
  const Scratch out, other, longer;
  const RunFolder start = trained(out.path, small);
  const StartRun read = read_start(out.path, start.id());
  CHECK(read.step == 6);
  // Trained again, to the same bits at another time: the same checksum.
  CHECK(read_start(other.path, trained(other.path, small).id()).checksum == read.checksum);
  const RunFolder other_seed = trained(longer.path, small, {"seed=2"});
  CHECK(read_start(longer.path, other_seed.id()).checksum != read.checksum);
  const auto id = [&](const std::vector<std::string>& changes) { return planned(out.path, small, changes).id(); };
  const std::string plain = id(from(start)), pinned = id(from(start, {"train.start_checksum=" + read.checksum}));
  CHECK(plain != pinned);
  CHECK(pinned != id(from(start, {"train.start_checksum=" + std::string(32, '0')})));
  CHECK(pinned != id(from(other_seed, {"train.start_checksum=" + read.checksum})));
  CHECK(id({}) == start.id());
}

TEST_CASE("a start that can't be used is refused before the first step, with the reason", "[runs][start]") {
  const Scratch out;
  const RunFolder start = trained(out.path, small);
  const auto refused = [&](const std::vector<std::string>& changes) {
    const auto [status, why] = failed(planned(out.path, small, changes));
    CHECK(status == 2);
    return why;
  };
  CHECK_THAT(refused({"train.start=0123456789abcdef"}),
             Contains("there is no such run in '" + out.path.string() + "'"));
  CHECK_THAT(refused({"train.start=../" + start.id()}), Contains("not the ID of a run"));
  CHECK_THAT(refused({"train.start=" + start.id().substr(0, 8)}), Contains("not the ID of a run"));
  CHECK_THAT(refused({"train.start=" + planned(out.path, small, {"seed=7"}).id()}),
             Contains("the run is not finished (missing)") && Contains("finish it"));
  CHECK_THAT(refused(from(start, {"model.layers=2"})),
             Contains("are not in the start: blocks.1.") && Contains("train.start_weights = \"matching\""));
  CHECK_THAT(refused(from(start, {"model.width=16"})),
             Contains("have other shapes: ") && Contains("embedding.weight ([6, 16] here, [6, 8] there)"));
  CHECK_THAT(refused(from(start, {"position.kind=none"})), Contains("1 parameter is only in the start: "));
  CHECK_THAT(refused(from(start, {"train.start_checksum=" + std::string(32, '0')})),
             Contains("its weights are not those that were planned") && Contains(std::string(32, '0')));
  CHECK_THAT(refused(from(start, {"model.width=16", "train.start_weights=matching", "model.kind=recurrent"})),
             Contains("no parameter of this model"));

  SECTION("its checkpoint is damaged, and the one before is not used") {
    std::string bytes = content(start.checkpoint(6).path());
    bytes.back() = static_cast<char>(bytes.back() + 1); // of the weights or of the optimiser's state
    bytes[bytes.size() / 4] = static_cast<char>(bytes[bytes.size() / 4] + 1);
    put(start.checkpoint(6).path(), bytes);
    CHECK_THAT(refused(from(start)), Contains("its last weights can't be used") && Contains("checkpoint-000006"));
  }
  SECTION("its checkpoint is gone") {
    fs::remove(start.checkpoint(6).path());
    CHECK_THAT(refused(from(start)), Contains("its last weights can't be used"));
  }
  SECTION("its configuration was edited") {
    put(start.config().path(), content(start.config().path()) + "\n[engine]\nkernels = \"baseline\"\n");
    const std::string why = refused(from(start));
    CHECK_THAT(why, Contains("it was edited") || Contains("engine"));
  }
  SECTION("its metrics were changed, so it is not finished") {
    put(start.metrics().path(), "{}\n");
    CHECK_THAT(refused(from(start)), Contains("not finished (interrupted)"));
  }
  SECTION("its folder is a link, or a file of it is one") {
    const Scratch elsewhere;
    const bool folder = GENERATE(true, false);
    const fs::path real = folder ? start.path : start.checkpoint(6).path();
    fs::rename(real, elsewhere.path / "real");
    if (folder) fs::create_directory_symlink(elsewhere.path / "real", real);
    else fs::create_symlink(elsewhere.path / "real", real);
    const auto [status, why] = failed(planned(out.path, small, from(start)));
    CHECK(status != 0);
    CHECK_FALSE(why.empty());
  }
}

TEST_CASE("weights for another vocabulary of the same size are refused", "[runs][start]") {
  const Scratch out;
  const auto text = [&](const std::string& name, std::string letters) {
    std::string all;
    for (int i = 0; i < 400; ++i) all += letters[static_cast<std::size_t>(i * i + i / 7) % letters.size()];
    put(out.path / name, all);
    return "data.path=" + (out.path / name).string();
  };
  const std::vector<std::string> task{"task.kind=text", "task.text.block=6"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), task.begin(), task.end());
    return more;
  };
  const std::string base = small.substr(0, small.find("[task]")) + small.substr(small.find("[model]"));
  const fs::path runs = out.path / "runs";
  fs::create_directory(runs);
  const RunFolder start = trained(runs, base, with({text("a.txt", "abcd")}));
  REQUIRE(start.vocabulary().exists());
  const auto refused = [&](const std::string& path) {
    return failed(planned(runs, base, with(from(start, {path})))).second;
  };
  CHECK_THAT(refused(text("b.txt", "abcx")), Contains("it has another vocabulary (of 4 tokens, number 3 is \"d\" there "
                                                      "and \"x\" here)"));
  // The same letters in another text are the same tokens.
  CHECK(failed(planned(runs, base, with(from(start, {text("c.txt", "dcba")})))).first == 0);
  // If a list differs in length, so do shapes.
  CHECK_THAT(refused(text("d.txt", "abcde")), Contains("another shape: embedding.weight"));
  put(start.vocabulary().path(), "{\"tokens\": [");
  CHECK_THAT(failed(planned(runs, base, with(from(start, {text("e.txt", "cdab"), "seed=5"})))).second,
             Contains("vocabulary.json is damaged"));
  // Without the file, the data says what the tokens are, unless it has changed.
  fs::remove(start.vocabulary().path());
  CHECK(failed(planned(runs, base, with(from(start, {text("e.txt", "cdab"), "seed=6"})))).first == 0);
  text("a.txt", "cdab"); // the same letters, but who knows
  CHECK_THAT(failed(planned(runs, base, with(from(start, {text("e.txt", "cdab"), "seed=8"})))).second,
             Contains("its vocabulary is not known") && Contains("a.txt' has changed since"));
  fs::remove(out.path / "a.txt");
  CHECK_THAT(failed(planned(runs, base, with(from(start, {text("e.txt", "cdab"), "seed=7"})))).second,
             Contains("its vocabulary is not known"));
}

TEST_CASE("a run from a start that was interrupted does not read the start again, and has the same bits",
          "[runs][start]") {
  const Scratch whole_out, out;
  const std::vector<std::string> more{"train.steps=8", "attention.dropout=0.1"};
  const RunFolder whole = trained(whole_out.path, small, from(trained(whole_out.path, small), more));
  const RunFolder start = trained(out.path, small);
  const RunFolder run = planned(out.path, small, from(start, more));
  REQUIRE(run.id() == whole.id());
  const Log log;
  WorkerParts stopping = parts(log);
  int asked = 0;
  stopping.stop_requested = [&] { return ++asked == 4; };
  REQUIRE(run_worker(run, 1, stopping) == 1);
  REQUIRE(state_of(run) == RunState::interrupted);
  const auto begun = read_manifest(run)->start;
  REQUIRE(begun);
  fs::remove_all(start.path);
  const Log second;
  CHECK(run_worker(run, 1, parts(second)) == 0);
  CHECK(second.text().find("starts from") == std::string::npos);
  CHECK(metrics_of_run(run) == metrics_of_run(whole));
  CHECK(weights_of(run) == weights_of(whole));
  CHECK(read_manifest(run)->start == begun);

  // From its beginning, it needs the start.
  fs::remove_all(run.path);
  CHECK(failed(planned(out.path, small, from(start, more))).first == 2);
  // A worker may find the start in another output folder.
  const Log third;
  WorkerParts elsewhere = parts(third);
  elsewhere.starts = whole_out.path;
  CHECK(run_worker(run, 1, elsewhere) == 0);
  CHECK(metrics_of_run(run) == metrics_of_run(whole));
}

TEST_CASE("all processes of a group begin with the start's weights", "[runs][start][ranks]") {
  const Scratch one_out, out;
  const RunFolder one = trained(one_out.path, small, from(trained(one_out.path, small)));
  const RunFolder run = planned(out.path, small, from(trained(out.path, small)));
  REQUIRE(run.id() == one.id());
  const Log log;
  int status = -1;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    WorkerParts with = parts(log);
    if (ranks.rank() > 0) return follow(ranks, with);
    with.stop_requested = [] { return false; };
    with.begin_together = [&](const ProcessGroupRun& group) {
      announce(ranks, group);
      return &ranks;
    };
    status = run_worker(run, 1, with);
    announce_end(ranks);
  });
  CHECK(status == 0);
  CHECK(metrics_of_run(run) == metrics_of_run(one));
  CHECK(weights_of(run) == weights_of(one));
}
