// Tests that a run which was stopped, killed or damaged resumes with the same bits, and loses nothing.
#include "experiments/index/run_entry.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/worker_support.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace heed;
using namespace heed::test;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("a run that begins takes back every line of its metrics", "[runs][worker]") {
  const Record expected = undisturbed();
  const Scratch out;
  const RunFolder run = planned_run(out);
  for (const std::int64_t step : {0, 1}) append_metrics(run, {step, 0, 0, {}});
  CHECK(work(run) == 0);
  CHECK(Record(run) == expected);
}

TEST_CASE("a run that is stopped keeps a checkpoint, and goes on to the same bits", "[runs][worker]") {
  const Record expected = undisturbed();
  const int signal = GENERATE(SIGINT, SIGTERM);
  const std::int64_t step = GENERATE(1, 3, 5, 10);
  const Scratch out;
  const RunFolder run = planned_run(out);
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
    const RunFolder run = planned_run(out);
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
    const RunFolder run = planned_run(out);
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
    WorkerParts with = fake_parts();
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
                const RunFolder run = planned_run(out);
                script = {8, [] { throw Failed("stop"); }};
                REQUIRE(work(run) == 1);
                return run;
              },
              error) > 10);
  }
  SECTION("of a finished run") {
    CHECK(with_each_read_failing(
              [](const Scratch& out) {
                const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  REQUIRE(work(run) == 0);
  const auto before = all_of(run);
  for (const char* name : {"manifest.json", "metrics.jsonl", "config.toml"}) {
    const ReadHook hook([&](const fs::path& path) { return path.filename() == name ? EACCES : 0; });
    INFO(name);
    std::string told;
    WorkerParts with = fake_parts();
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
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
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

TEST_CASE("a manifest has the sums of the checkpoints that are kept, and of the one before", "[runs][worker]") {
  const Scratch out;
  script = {};
  const RunFolder run = planned_run(out, "train.steps = 20\nseed = 1\ntrain.keep_checkpoints = 3\n");
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
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  std::string failure;
  const auto work_with = [&](std::int64_t step, const std::function<void()>& taken) {
    script = {step, taken};
    const int status = work(run);
    script = {};
    failure = read_manifest(run).value.value_or(Manifest{}).failure;
    planned_run(out);
    return status;
  };
  const auto undo = [&] {
    CHECK(work(run) == 0);
    CHECK(Record(run) == expected);
    fs::remove_all(run.path);
    planned_run(out);
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

namespace {

/// Checks the reason why a finished run is unreliable, and that running it again restores the same bits.
std::string made_again_after(const std::function<void(const RunFolder&)>& damage, std::int64_t resumed_at) {
  const Record expected = undisturbed();
  const Scratch out;
  script = {};
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
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
  const RunFolder run = planned_run(out);
  REQUIRE(work(run) == 0);
  Manifest manifest = *read_manifest(run);
  manifest.metrics.clear();
  write_file(run.manifest(), to_json(manifest));
  CHECK(state_of(run) == RunState::finished);
  keep_lines(run, 9);
  CHECK(state_of(run) == RunState::interrupted);
}
