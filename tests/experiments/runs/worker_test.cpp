// Tests of the worker, with an engine of three lines, so that each test sees only the worker's own behaviour.
#include "experiments/config/config.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/worker.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/read_metrics.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

class PlainTask : public Task {
public:
  std::string refuses(TaskFormat) const override { return {}; }
  TaskSizes shape(TaskFormat) const override { return {}; }
  void training_row(TaskFormat, std::uint64_t, std::int64_t, std::int64_t, Batch&, std::int64_t) const override {}
  std::int64_t evaluation_rows(TaskFormat, Split) const override { return 0; }
  void evaluation_row(TaskFormat, Split, std::int64_t, Batch&, std::int64_t) const override {}
  Chance chance(TaskFormat) const override { return {}; }
  std::string own_fingerprint() const override { return "plain"; }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }
  std::vector<std::int32_t> encode(std::string_view) const override { return {}; }
};

/// What happens at a step of the engine below.
struct Script {
  std::int64_t step = -1;
  std::function<void()> act;
} script;

/// One parameter, w <- 1.5 w - step; a metrics record at every step, and a checkpoint at every third step and at the
/// end.
Outcome fake_train(const Config& config, const Task&, const std::optional<Checkpoint>& from,
                   const TrainingHooks& hooks) {
  double w = static_cast<double>(config.general.seed);
  std::int64_t step = 0;
  if (from) {
    std::memcpy(&w, from->tensors.at(0).bytes.data(), 8);
    step = std::stoll(from->metadata.at("step"));
  }
  const auto keep = [&] {
    Checkpoint c;
    c.metadata["step"] = std::to_string(step);
    c.tensors.push_back({"w", {}, true, std::vector<std::byte>(8)});
    std::memcpy(c.tensors[0].bytes.data(), &w, 8);
    hooks.checkpoint(c);
  };
  while (step < config.train.steps) {
    w = 1.5 * w - static_cast<double>(step++);
    if (step == script.step) script.act();
    hooks.measured({step, static_cast<double>(step), step, {{"train_loss", w}}});
    hooks.progress({step, config.train.steps, w, 1});
    const bool stop = hooks.stop_requested();
    if (step % 3 == 0 || step == config.train.steps || stop) keep();
    if (stop) return Outcome::interrupted;
  }
  return Outcome::finished;
}

void fake_check(const Config& config, const Task&) {
  if (config.train.batch == 7) throw Refused("[model] cannot take a batch of 7");
}

std::vector<ParameterShape> fake_parameters(const Config&, const Task&) { return {{"w", {}}}; }

const Engine fake_engine{.check = fake_check,
                         .cost = nullptr,
                         .parameters = fake_parameters,
                         .train = fake_train,
                         .evaluate = nullptr,
                         .outputs = nullptr,
                         .inspect = nullptr,
                         .inspected = nullptr,
                         .attend = nullptr,
                         .generate = nullptr,
                         .attention_cost = nullptr,
                         .added_scores = nullptr,
                         .queries_without_keys = nullptr,
                         .attention_operator = nullptr,
                         .products = [] { return std::string("an abacus"); }};

WorkerParts parts() {
  return {[](const Config&, const std::string&) -> const Engine& { return fake_engine; },
          [](const Config&) -> std::unique_ptr<Task> { return std::make_unique<PlainTask>(); },
          [](const Config&) { return TaskFormat::language_model; },
          {"0.1.0", "gcc", "-O2", "blas"}};
}

RunFolder planned(const Scratch& out, const std::string& toml = "train.steps = 10\nseed = 1\n") {
  const Config config = Settings::parse(toml, "test").resolve();
  return prepare_run(out.path, run_id(config, "plain"), to_toml(config));
}

int work(const RunFolder& run) { return run_worker(run, 2, parts()); }

/// The record of an undisturbed run, for comparison.
struct Record {
  std::string metrics, checkpoint;
  explicit Record(const RunFolder& run) : metrics(content(run.metrics())), checkpoint(content(run.checkpoint(10))) {}
  bool operator==(const Record&) const = default;
};

Record undisturbed() {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  return Record(run);
}

} // namespace

TEST_CASE("a run is recorded in its folder", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  CHECK(work(run) == 0);
  CHECK(state_of(run) == RunState::finished);
  const auto manifest = read_manifest(run);
  REQUIRE(manifest);
  CHECK(manifest->run == run.id());
  CHECK(manifest->step == 10);
  CHECK(manifest->starts == 1);
  CHECK(manifest->threads == 2);
  CHECK(manifest->data == "plain");
  CHECK(manifest->build.flags == "-O2");
  CHECK(manifest->numerics == numerics_of(flatten(read_config(run))));
  CHECK_FALSE(manifest->cpu.empty());
  CHECK(manifest->started.size() == std::strlen("2024-05-01T12:00:00Z"));
  CHECK(manifest->ended >= manifest->started);
  CHECK(read_metrics(run)->size() == 10);
  CHECK(checkpoint_steps(run) == std::vector<std::int64_t>{10, 9});
  CHECK(progress_from_json(content(run.progress()))->step == 10);
}

TEST_CASE("a run on the user's texts has its vocabulary in a file, which changes nothing else", "[runs][worker]") {
  const Scratch out;
  script = {};
  std::string text;
  for (int i = 0; i < 100; ++i) text += "b\ta \"c\"\n";
  put(out.path / "text.txt", text);
  WorkerParts own = parts();
  own.make_task = make_task;
  const std::string toml = "train.steps = 10\nseed = 1\ntask.kind = \"text\"\ntask.text.block = 8\ndata.path = \"" +
                           (out.path / "text.txt").string() + "\"\n";
  const Config config = Settings::parse(toml, "test").resolve();
  const fs::path runs = out.path / "runs";
  fs::create_directory(runs);
  const RunFolder run = prepare_run(runs, run_id(config, make_task(config)->fingerprint()), to_toml(config));
  REQUIRE(run_worker(run, 2, own) == 0);
  const std::string written = content(run.vocabulary());
  const auto tokens = boost::json::parse(written).at("tokens").as_array();
  const auto task = make_task(config);
  REQUIRE(std::ssize(tokens) == task->shape(TaskFormat::language_model).vocabulary);
  for (std::int32_t i = 0; i < 6; ++i) CHECK(tokens[static_cast<std::size_t>(i)].as_string() == task->decode({&i, 1}));
  CHECK(tokens[1].as_string() == "\n");
  CHECK(std::ranges::count(written, '\n') == std::ssize(tokens) + 4);

  // A file that can't be written stops no run: here, a folder has its name.
  const std::string metrics = content(run.metrics());
  fs::remove_all(run.path);
  prepare_run(runs, run.id(), to_toml(config));
  fs::create_directory(run.vocabulary().path());
  CHECK(run_worker(run, 2, own) == 0);
  CHECK(content(run.metrics()) == metrics);

  // The form is the model's: with inputs and outputs, an output has tokens of its own.
  put(out.path / "pairs.tsv", "a b\tx y\nb a\ty x\na a\tx x\n");
  own.task_format_of = [](const Config&) { return TaskFormat::sequence_to_sequence; };
  const Config pairs = Settings::parse("train.steps = 10\ntask.kind = \"translation\"\n"
                                       "task.translation.shared_vocabulary = false\ndata.train = 0.5\ndata.path = \"" +
                                           (out.path / "pairs.tsv").string() + "\"\n",
                                       "test")
                           .resolve();
  const RunFolder of_pairs = prepare_run(runs, run_id(pairs, make_task(pairs)->fingerprint()), to_toml(pairs));
  REQUIRE(run_worker(of_pairs, 2, own) == 0);
  const auto both = boost::json::parse(content(of_pairs.vocabulary())).as_object();
  CHECK(std::ssize(both.at("tokens").as_array()) ==
        make_task(pairs)->shape(TaskFormat::sequence_to_sequence).vocabulary);
  CHECK(std::ssize(both.at("output_tokens").as_array()) ==
        make_task(pairs)->shape(TaskFormat::sequence_to_sequence).classes);

  // A run on generated data has none.
  const RunFolder other = planned(out);
  REQUIRE(work(other) == 0);
  CHECK_FALSE(other.vocabulary().exists());
}

TEST_CASE("a run that begins takes back every line of its metrics", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  for (const std::int64_t step : {0, 1}) append_metrics(run, {step, 0, 0, {}});
  CHECK(work(run) == 0);
  CHECK(Record(run) == expected);
}

TEST_CASE("a finished run is left alone", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  const std::string before = content(run.manifest());
  CHECK(work(run) == 0);
  CHECK(content(run.manifest()) == before);
}

TEST_CASE("a run that is stopped keeps a checkpoint, and goes on to the same bits", "[runs][worker]") {
  const Record expected = undisturbed();
  const int signal = GENERATE(SIGINT, SIGTERM);
  const std::int64_t step = GENERATE(1, 3, 5, 10);
  const Scratch out;
  const RunFolder run = planned(out);
  script = {step, [&] { raise(signal); }};
  CHECK(work(run) == 1);
  CHECK(state_of(run) == RunState::interrupted);
  CHECK(checkpoint_steps(run).front() == step);
  script = {};
  CHECK(work(run) == 0);
  CHECK(read_manifest(run)->starts == 2);
  CHECK(Record(run) == expected);
}

TEST_CASE("a run that is killed at any step goes on to the same bits", "[runs][worker]") {
  const Record expected = undisturbed();
  for (std::int64_t step = 1; step <= 10; ++step) {
    const Scratch out;
    const RunFolder run = planned(out);
    const pid_t child = fork();
    if (child == 0) {
      script = {step, [] { kill(getpid(), SIGKILL); }};
      _exit(work(run));
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    CHECK(state_of(run) == RunState::interrupted);
    script = {};
    CHECK(work(run) == 0);
    INFO("killed at step " << step);
    CHECK(Record(run) == expected);
  }
}

TEST_CASE("whichever write fails, the run goes on to the same bits when it is run again", "[runs][worker]") {
  const Record expected = undisturbed();
  int failures = 0;
  for (int n = 0;; ++n) {
    const Scratch out;
    const RunFolder run = planned(out);
    int left = n, status = 0;
    {
      const WriteHook hook([&](const fs::path& path) {
        return path.filename() != "progress.json" && left-- == 0 ? ENOSPC : 0;
      });
      status = work(run);
    }
    INFO("write " << n << " fails");
    if (left >= 0) {
      CHECK(status == 0);
      break;
    }
    ++failures;
    CHECK(status == 1);
    CHECK(state_of(run) != RunState::finished);
    CHECK(work(run) == 0);
    CHECK(Record(run) == expected);
  }
  CHECK(failures > 40);
}

namespace {

/// Each file of a run's folder with its bytes, except files that are being written and files that only show progress.
std::map<std::string, std::string> all_of(const RunFolder& run) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::directory_iterator(run.path))
    if (const std::string name = entry.path().filename(); name != "progress.json" && !name.starts_with('.'))
      out[entry.path().filename().string()] = content(entry.path());
  return out;
}

/// For each n, the n-th read fails once. No file may be lost because of the failure, and the next start must give the
/// same bits. Returns the number of reads.
int with_each_read_failing(const std::function<RunFolder(const Scratch&)>& prepare, int error) {
  const Record expected = undisturbed();
  for (int n = 0;; ++n) {
    const Scratch out;
    const RunFolder run = prepare(out);
    script = {};
    const auto before = all_of(run);
    int left = n, status = 0;
    std::string failed_at, told;
    WorkerParts with = parts();
    with.tell = [&](std::string_view text) { told = text; };
    {
      const ReadHook hook([&](const fs::path& path) {
        if (path.string().find(run.path.string()) != 0 || left-- != 0) return 0;
        failed_at = path.filename().string();
        return error;
      });
      status = run_worker(run, 2, with);
    }
    INFO("reading " << n << " fails, of " << failed_at << ": " << told);
    if (left >= 0) {
      CHECK(status == 0);
      return n;
    }
    // Before the first step, nothing was changed; later, nothing has been lost.
    if (status == untouched) CHECK_THAT(told, Contains("cannot read"));
    for (const auto& [name, bytes] : before) {
      if (!name.starts_with("checkpoint-")) continue;
      const bool newer = checkpoint_steps(run).front() > std::stoll(name.substr(11, 6));
      CHECK((newer || content(run.path / name) == bytes));
    }
    CHECK(work(run) == 0);
    CHECK(Record(run) == expected);
    for (const auto& entry : fs::directory_iterator(run.path))
      CHECK(entry.path().string().find(".damaged") == std::string::npos);
  }
}

} // namespace

TEST_CASE("a file that can't be read once is no damage: nothing is lost, and the run goes on to the same bits",
          "[runs][worker][unreadable]") {
  const int error = GENERATE(EACCES, EIO, ESTALE, EMFILE);
  SECTION("of an interrupted run") {
    CHECK(with_each_read_failing(
              [](const Scratch& out) {
                const RunFolder run = planned(out);
                script = {8, [] { throw Failed("stop"); }};
                REQUIRE(work(run) == 1);
                return run;
              },
              error) > 10);
  }
  SECTION("of a finished run") {
    CHECK(with_each_read_failing(
              [](const Scratch& out) {
                const RunFolder run = planned(out);
                script = {};
                REQUIRE(work(run) == 0);
                return run;
              },
              error) >= 3);
  }
}

TEST_CASE("a finished run whose files can't be read is left as it is, byte for byte", "[runs][worker][unreadable]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  const auto before = all_of(run);
  for (const char* name : {"manifest.json", "metrics.jsonl", "config.toml"}) {
    const ReadHook hook([&](const fs::path& path) { return path.filename() == name ? EACCES : 0; });
    INFO(name);
    std::string told;
    WorkerParts with = parts();
    with.tell = [&](std::string_view text) { told = text; };
    const int status = run_worker(run, 2, with);
    CHECK(status == (std::string(name) == "config.toml" ? 0 : untouched));
    if (status != 0) CHECK_THAT(told, Contains(name) && Contains("Permission denied"));
  }
  CHECK(all_of(run) == before);
  CHECK(state_of(run) == RunState::finished);
}

TEST_CASE("what is passed over is renamed, and goes when the run is finished", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  script = {8, [] { throw Failed("stop"); }};
  REQUIRE(work(run) == 1);
  put(run.checkpoint(6), "rubbish");
  put(run.manifest(), "rubbish, too");
  script = {5, [] { throw Failed("stop again"); }};
  REQUIRE(work(run) == 1);
  CHECK(content(run.checkpoint(6).string() + ".damaged") == "rubbish");
  CHECK(content(run.manifest().string() + ".damaged") == "rubbish, too");
  script = {};
  CHECK(work(run) == 0);
  CHECK(Record(run) == expected);
  for (const auto& entry : fs::directory_iterator(run.path))
    CHECK(entry.path().string().find(".damaged") == std::string::npos);
}

TEST_CASE("metrics that were changed keep what they held until the run is finished", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  script = {8, [] { throw Failed("stop"); }};
  REQUIRE(work(run) == 1);
  const std::string changed = "{\"step\": 1, \"seconds\": 1, \"tokens\": 1}\n";
  put(run.metrics(), changed);
  script = {2, [] { throw Failed("stop again"); }};
  REQUIRE(work(run) == 1);
  CHECK(content(run.metrics().string() + ".damaged") == changed);
  CHECK(fs::exists(run.checkpoint(6).string() + ".damaged"));
  script = {};
  CHECK(work(run) == 0);
  CHECK(Record(run) == expected);
}

TEST_CASE("an owner that was halted beyond its lease changes nothing of the next owner's", "[runs][worker][claim]") {
  // The process is halted at each of these moments, while another process takes over the run and finishes it.
  const std::string moment = GENERATE(as<std::string>(), "a line", "a checkpoint", "the removal of one",
                                      "the manifest");
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  bool halted = false;
  std::map<std::string, std::string> theirs;
  const auto halt = [&] {
    if (halted) return;
    halted = true;
    // As if the lease had expired and another machine's process had done the rest.
    fs::remove(run.claim());
    const pid_t other = fork();
    if (other == 0) {
      const WriteHook none([](const fs::path&) { return 0; });
      script = {};
      _exit(work(run));
    }
    int status = 0;
    waitpid(other, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    theirs = all_of(run);
  };
  int manifests = 0;
  {
    const WriteHook hook([&](const fs::path& path) {
      const std::string name = path.filename().string();
      if (moment == "a line" && name == "metrics.jsonl" && content(run.metrics()).size() > 300) halt();
      if (moment == "a checkpoint" && name == "checkpoint-000006.safetensors") halt();
      if (moment == "the removal of one" && name == "checkpoint-000003.safetensors" && fs::exists(run.checkpoint(9)))
        halt();
      if (moment == "the manifest" && name == "manifest.json" && ++manifests == 6) halt();
      return 0;
    });
    script = {};
    CHECK(work(run) == 1);
  }
  REQUIRE(halted);
  CHECK(all_of(run) == theirs);
  CHECK(state_of(run) == RunState::finished);
  CHECK(Record(run) == expected);
}

TEST_CASE("a progress file that can't be written stops nothing", "[runs][worker]") {
  const Scratch out;
  script = {};
  const WriteHook hook([](const fs::path& path) { return path.filename() == "progress.json" ? ENOSPC : 0; });
  CHECK(work(planned(out)) == 0);
}

TEST_CASE("a failure is noted, and the last good checkpoint stays", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {8, [] { throw Failed("[train] step 8: the loss is NaN, first made by softmax"); }};
  CHECK(work(run) == 1);
  CHECK(state_of(run) == RunState::failed);
  const auto manifest = read_manifest(run);
  CHECK_THAT(manifest->failure, Contains("first made by softmax") && Contains("checkpoint of step 6 is saved"));
  CHECK_FALSE(manifest->refused);
  CHECK(newest_checkpoint(run)->step == 6);
}

TEST_CASE("running out of memory is a failure like others", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {1, [] { throw std::bad_alloc(); }};
  CHECK(work(run) == 1);
  CHECK_THAT(read_manifest(run)->failure, Contains("out of memory"));
}

TEST_CASE("what is refused before the first step has the exit status 2", "[runs][worker]") {
  const Scratch out;
  script = {};
  SECTION("by the model") {
    const RunFolder run = planned(out, "train.batch = 7\n");
    CHECK(work(run) == 2);
    CHECK_THAT(read_manifest(run)->failure, Contains("a batch of 7"));
    CHECK(read_manifest(run)->refused);
  }
  SECTION("a configuration that was edited since it was planned") {
    const RunFolder run = planned(out);
    put(run.config(), content(run.config()) + "\n");
    CHECK(work(run) == 0); // the failure has no consequence
    const RunFolder other = prepare_run(out.path, "0123456789abcdef", "train.steps = 5\n");
    CHECK(work(other) == 2);
    CHECK_THAT(read_manifest(other)->failure, Contains("of another run") && Contains("changed since it was planned"));
  }
  SECTION("a configuration that does not read") {
    const RunFolder run = prepare_run(out.path, "0123456789abcdef", "attention.score = \"dott\"\n");
    CHECK(work(run) == 2);
    CHECK_THAT(read_manifest(run)->failure, Contains("dott"));
  }
}

TEST_CASE("what is refused after the first step has failed", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {2, [] { throw Refused("[model] cannot go on"); }};
  CHECK(work(run) == 1);
  CHECK_FALSE(read_manifest(run)->refused);
  CHECK_THAT(read_manifest(run)->failure, Contains("cannot go on"));
  script = {};
}

TEST_CASE("a manifest has the sums of the checkpoints that are kept, and of the one before", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out, "train.steps = 20\nseed = 1\ntrain.keep_checkpoints = 3\n");
  REQUIRE(work(run) == 0);
  std::vector<std::int64_t> steps;
  const Manifest manifest = *read_manifest(run);
  for (const MetricsChecksum& sum : manifest.metrics) steps.push_back(sum.step);
  CHECK(steps == std::vector<std::int64_t>{12, 15, 18, 20});
  CHECK(checkpoint_steps(run) == std::vector<std::int64_t>{20, 18, 15});
}

TEST_CASE("a damaged checkpoint costs only the steps since the one before", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  script = {8, [] { throw Failed("stop"); }};
  REQUIRE(work(run) == 1);
  put(run.checkpoint(6), "rubbish");
  std::int64_t repeated = 0;
  script = {5, [&] { ++repeated; }};
  CHECK(work(run) == 0);
  CHECK(repeated == 1);
  CHECK(Record(run) == expected);
}

TEST_CASE("what is taken from a run while it goes on is a failure, and no shorter result", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  std::string failure;
  const auto work_with = [&](std::int64_t step, const std::function<void()>& taken) {
    script = {step, taken};
    const int status = work(run);
    script = {};
    failure = read_manifest(run).value.value_or(Manifest{}).failure;
    planned(out);
    return status;
  };
  const auto undo = [&] {
    CHECK(work(run) == 0);
    CHECK(Record(run) == expected);
    fs::remove_all(run.path);
    planned(out);
  };
  SECTION("metrics, before the next line") {
    CHECK(work_with(5, [&] { fs::remove(run.metrics()); }) == 1);
    CHECK_THAT(failure, Contains("metrics.jsonl' was changed or removed during the run; run again"));
    undo();
  }
  SECTION("a line of them") {
    CHECK(work_with(8, [&] { truncate_metrics(run, 4); }) == 1);
    CHECK_THAT(failure, Contains("metrics.jsonl' was changed"));
    undo();
  }
  SECTION("its configuration") {
    CHECK(work_with(8, [&] { fs::remove(run.config()); }) == 1);
    CHECK_THAT(failure, Contains("config.toml' was removed during the run"));
    undo();
  }
  SECTION("its folder") {
    CHECK(work_with(8, [&] { fs::remove_all(run.path); }) == 1);
    undo();
  }
}

TEST_CASE("two workers of one run take turns, and nothing runs twice", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {5, [] { usleep(100'000); }};
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    if (child == 0) _exit(work(run));
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  CHECK(read_manifest(run)->starts == 1);
  CHECK(read_metrics(run)->size() == 10);
}

namespace {

/// Checks the reason why a finished run is unreliable, and that running it again restores the same bits.
std::string made_again_after(const std::function<void(const RunFolder&)>& damage, std::int64_t resumed_at) {
  const Record expected = undisturbed();
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  REQUIRE(wrong_metrics(run, *read_manifest(run))->empty());
  damage(run);
  const std::string why = *wrong_metrics(run, *read_manifest(run));
  CHECK(read_entry(run).error == why);
  CHECK(state_of(run) == RunState::interrupted);
  std::int64_t first = 0; // first step of this start
  script = {resumed_at + 1, [&] { first = resumed_at + 1; }};
  CHECK(work(run) == 0);
  CHECK(first == (resumed_at < 10 ? resumed_at + 1 : 0));
  CHECK(state_of(run) == RunState::finished);
  CHECK(read_entry(run).error.empty());
  CHECK(Record(run) == expected);
  return why;
}

/// metrics.jsonl without the lines after line `n`.
void keep_lines(const RunFolder& run, std::size_t n, std::string_view rest = "") {
  std::string text = content(run.metrics());
  std::size_t end = 0;
  for (std::size_t line = 0; line < n; ++line) end = text.find('\n', end) + 1;
  put(run.metrics(), text.substr(0, end) + std::string(rest));
}

} // namespace

TEST_CASE("a finished run that lost metrics is named, and made again from a checkpoint before", "[runs][worker]") {
  // Checkpoints of steps 9 and 10 exist.
  CHECK_THAT(made_again_after([](const RunFolder& run) { keep_lines(run, 9); }, 9),
             Contains("ends at step 9, but the run at step 10") && Contains("heed run"));
  CHECK_THAT(made_again_after([](const RunFolder& run) { keep_lines(run, 9, "{\"step\": 10, \"sec"); }, 9),
             Contains("ends at step 9"));
  CHECK_THAT(made_again_after([](const RunFolder& run) { keep_lines(run, 4); }, 0), Contains("ends at step 4"));
  CHECK_THAT(made_again_after([](const RunFolder& run) { fs::remove(run.metrics()); }, 0), Contains("ends at step 0"));
}

TEST_CASE("a finished run whose metrics were changed is named, and made again", "[runs][worker]") {
  const auto changed = [](std::size_t line) {
    return [line](const RunFolder& run) {
      std::string text = content(run.metrics());
      std::size_t at = 0;
      for (std::size_t i = 1; i < line; ++i) at = text.find('\n', at) + 1;
      at = text.find("train_loss", at) + 13;
      text[at] = text[at] == '1' ? '2' : '1';
      put(run.metrics(), text);
    };
  };
  CHECK_THAT(made_again_after(changed(10), 9), Contains("its checksum differs"));
  CHECK_THAT(made_again_after(changed(3), 0), Contains("its checksum differs"));
  CHECK_THAT(made_again_after([](const RunFolder& run) { keep_lines(run, 10, "{\"step\": 1"); }, 10),
             Contains(" bytes, and had "));
}

TEST_CASE("a run that was killed does not go on from a checkpoint whose metrics are gone", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned(out);
  script = {8, [] { throw std::runtime_error("stop here"); }};
  CHECK(work(run) == 1);
  keep_lines(run, 4); // of the checkpoints of steps 3 and 6, only the first has all of its metrics
  script = {};
  CHECK(work(run) == 0);
  CHECK(Record(run) == expected);
}

TEST_CASE("a manifest without checksums is believed where the metrics reach", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  Manifest manifest = *read_manifest(run);
  manifest.metrics.clear();
  write_file(run.manifest(), to_json(manifest));
  CHECK(state_of(run) == RunState::finished);
  keep_lines(run, 9);
  CHECK(state_of(run) == RunState::interrupted);
}

TEST_CASE("why a run failed is told, whatever the disk takes", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {};
  std::string told;
  WorkerParts telling = parts();
  telling.tell = [&](std::string_view text) { told += text; };
  {
    const WriteHook full([](const fs::path& path) { return path.filename() == "lock" ? 0 : ENOSPC; });
    // The worker's standard error is a file on that disk.
    const int before = ::dup(STDERR_FILENO), nowhere = ::open("/dev/full", O_WRONLY);
    ::dup2(nowhere, STDERR_FILENO);
    const int status = run_worker(run, 2, telling);
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    ::close(nowhere);
    CHECK(status == 1);
  }
  CHECK_THAT(told, Contains("manifest.json") && Contains("no space left") && Contains("free some space"));
}

TEST_CASE("a run that goes on elsewhere says so, and keeps what its earlier steps were made with", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  const auto moved_from = [&](const std::string& compiler) {
    Manifest manifest = *read_manifest(run);
    manifest.build.compiler = compiler;
    manifest.host = "host"; // another host, the same bits
    write_file(run.manifest(), to_json(manifest));
  };
  script = {5, [] { throw std::runtime_error("stop here"); }};
  CHECK(work(run) == 1);
  CHECK(read_manifest(run)->earlier.empty());
  moved_from("an abacus");
  script = {8, [] { throw std::runtime_error("stop here"); }};
  CHECK(work(run) == 1);
  CHECK(read_manifest(run)->earlier == std::vector<EarlierSteps>{{3, "compiler \"an abacus\""}});
  moved_from("a slide rule");
  script = {};
  CHECK(work(run) == 0);
  CHECK(read_manifest(run)->earlier ==
        std::vector<EarlierSteps>{{3, "compiler \"an abacus\""}, {6, "compiler \"a slide rule\""}});
}

TEST_CASE("a run says what it is computed by", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  REQUIRE(work(run) == 0);
  CHECK(read_manifest(run)->build.kernels == own_instruction_set());
  CHECK(read_manifest(run)->build.blas == "an abacus");
}

TEST_CASE("kernels of a sweep, or of a run's first steps, that are not here are told of", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  WorkerParts beads = parts();
  beads.kernels = "beads";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen((out.path / "log").c_str(), "w"), std::fclose);
  beads.log = log.get();
  const auto logged = [&] { return read_file(out.path / "log").value.value_or(""); };
  script = {5, [] { throw std::runtime_error("stop here"); }};
  CHECK(run_worker(run, 2, beads) == 1);
  CHECK_THAT(logged(), Contains("warning: the sweep has kernels beads") &&
                           Contains("this process uses " + own_instruction_set()));

  Manifest manifest = *read_manifest(run);
  manifest.build.kernels = "slate";
  write_file(run.manifest(), to_json(manifest));
  script = {};
  CHECK(run_worker(run, 2, beads) == 0);
  CHECK_THAT(logged(), Contains("warning: the run was begun with kernels slate"));
  CHECK(read_manifest(run)->earlier == std::vector<EarlierSteps>{{3, "kernels \"slate\""}});
}

TEST_CASE("a run that begins anew elsewhere has no earlier steps", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned(out);
  script = {2, [] { throw std::runtime_error("stop here"); }}; // before its first checkpoint
  CHECK(work(run) == 1);
  Manifest manifest = *read_manifest(run);
  manifest.build.compiler = "an abacus";
  write_file(run.manifest(), to_json(manifest));
  script = {};
  CHECK(work(run) == 0);
  CHECK(read_manifest(run)->earlier.empty());
}

TEST_CASE("a worker says whose claim it waits for, and can be stopped meanwhile", "[runs][worker][claim]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned(out);
  put(run.claim(), ""); // of another machine, as far as this one can see
  fs::last_write_time(run.claim(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  WorkerParts patient = parts();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen((out.path / "log").c_str(), "w"), std::fclose);
  patient.log = log.get();
  const auto logged = [&] { return read_file(out.path / "log").value.value_or(""); };
  patient.stop_requested = [&] { return !logged().empty(); };
  CHECK(run_worker(run, 2, patient) == 1);
  CHECK_THAT(logged(), Contains("waiting for '" + run.claim().string() + "', which names no process: at most 1"));
  CHECK_FALSE(fs::exists(run.metrics().path()));
}
