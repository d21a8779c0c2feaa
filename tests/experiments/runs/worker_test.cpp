// Tests of the worker: what it records, refuses and reports, and that a run has one worker.
#include "experiments/config/config.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_state.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/worker_support.hpp"

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace heed;
using namespace heed::test;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("a run is recorded in its folder", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned_run(out);
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
  WorkerParts own = fake_parts();
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
  REQUIRE(std::ssize(tokens) == task->sizes(TaskFormat::language_model).vocabulary);
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
        make_task(pairs)->sizes(TaskFormat::sequence_to_sequence).vocabulary);
  CHECK(std::ssize(both.at("output_tokens").as_array()) ==
        make_task(pairs)->sizes(TaskFormat::sequence_to_sequence).classes);

  // A run on generated data has none.
  const RunFolder other = planned_run(out);
  REQUIRE(work(other) == 0);
  CHECK_FALSE(other.vocabulary().exists());
}

TEST_CASE("a finished run is left alone", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned_run(out);
  REQUIRE(work(run) == 0);
  const std::string before = content(run.manifest());
  CHECK(work(run) == 0);
  CHECK(content(run.manifest()) == before);
}

TEST_CASE("an owner that was halted beyond its lease changes nothing of the next owner's", "[runs][worker][claim]") {
  // The process is halted at each of these moments, while another process takes over the run and finishes it.
  const std::string moment = GENERATE(as<std::string>(), "a line", "a checkpoint", "the removal of one",
                                      "the manifest");
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned_run(out);
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
  CHECK(work(planned_run(out)) == 0);
}

TEST_CASE("a failure is noted, and the last good checkpoint stays", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  script = {1, [] { throw std::bad_alloc(); }};
  CHECK(work(run) == 1);
  CHECK_THAT(read_manifest(run)->failure, Contains("out of memory"));
}

TEST_CASE("what is refused before the first step has the exit status 2", "[runs][worker]") {
  const Scratch out;
  script = {};
  SECTION("by the model") {
    const RunFolder run = planned_run(out, "train.batch = 7\n");
    CHECK(work(run) == 2);
    CHECK_THAT(read_manifest(run)->failure, Contains("a batch of 7"));
    CHECK(read_manifest(run)->refused);
  }
  SECTION("a configuration that was edited since it was planned") {
    const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  script = {2, [] { throw Refused("[model] cannot go on"); }};
  CHECK(work(run) == 1);
  CHECK_FALSE(read_manifest(run)->refused);
  CHECK_THAT(read_manifest(run)->failure, Contains("cannot go on"));
  script = {};
}

TEST_CASE("two workers of one run take turns, and nothing runs twice", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned_run(out);
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

TEST_CASE("why a run failed is told, whatever the disk takes", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned_run(out);
  script = {};
  std::string told;
  WorkerParts telling = fake_parts();
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
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  REQUIRE(work(run) == 0);
  CHECK(read_manifest(run)->build.kernels == own_instruction_set());
  CHECK(read_manifest(run)->build.blas == "an abacus");
}

TEST_CASE("kernels of a sweep, or of a run's first steps, that are not here are told of", "[runs][worker]") {
  const Scratch out;
  const RunFolder run = planned_run(out);
  WorkerParts beads = fake_parts();
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
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  put(run.claim(), ""); // of another machine, as far as this one can see
  fs::last_write_time(run.claim(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  WorkerParts patient = fake_parts();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen((out.path / "log").c_str(), "w"), std::fclose);
  patient.log = log.get();
  const auto logged = [&] { return read_file(out.path / "log").value.value_or(""); };
  patient.stop_requested = [&] { return !logged().empty(); };
  CHECK(run_worker(run, 2, patient) == 1);
  CHECK_THAT(logged(), Contains("waiting for '" + run.claim().string() + "', which names no process: at most 1"));
  CHECK_FALSE(fs::exists(run.metrics().path()));
}
