#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/most_memory.hpp"
#include "tests/experiments/runs/read_metrics.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <bit>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

Config config_from(const std::string& toml) { return Settings::parse(toml, "test").resolve(); }

Checkpoint checkpoint_of(std::int64_t step) {
  Checkpoint c;
  c.metadata["step"] = std::to_string(step);
  c.tensors.push_back({"w", {1}, false, std::vector<std::byte>(4)});
  return c;
}

RunFolder new_run(const Scratch& scratch) { return prepare_run(scratch.path, "0123456789abcdef", "seed = 1\n"); }

void set_outcome(const RunFolder& run, const std::string& outcome) {
  Manifest manifest;
  manifest.run = run.id();
  manifest.outcome = outcome;
  write_file(run.manifest(), to_json(manifest));
}

} // namespace

TEST_CASE("a run's identity is what can change its result", "[runs][identity]") {
  const std::string id = run_id(config_from("seed = 1"), "data");
  CHECK(id.size() == 16);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(run_id(config_from("seed = 1\nname = \"other\"\ntrain.threads = 3\n"), "data") == id);
  CHECK(run_id(config_from("seed = 2"), "data") != id);
  CHECK(run_id(config_from("seed = 1\nattention.score = \"dot\"\n"), "data") != id);
  CHECK(run_id(config_from("seed = 1\ntrain.shards = 3\n"), "data") != id);
  CHECK(run_id(config_from("seed = 1"), "other data") != id);
}

TEST_CASE("a resolved configuration that was written and read is the same run", "[runs][identity]") {
  const Config before = config_from("seed = 3\ntrain.learning_rate = 0.1\nattention.score = \"cosine\"\n");
  CHECK(run_id(config_from(to_toml(before)), "data") == run_id(before, "data"));
}

TEST_CASE("a manifest comes back as it was", "[runs][manifest]") {
  Manifest before;
  before.run = "0123456789abcdef";
  before.name = "which \"score\"\n";
  before.outcome = "failed";
  before.failure = "[train] NaN";
  before.refused = true;
  before.step = 40;
  before.threads = 2;
  before.build = {"0.1.0", "gcc 12.2.0", "-O3", "OpenBLAS"};
  before.host = "host";
  before.cpu = "cpu";
  before.numerics = "13, attention.l1 1";
  before.data = "fingerprint";
  before.started = "2024-05-01T12:00:00Z";
  before.ended = "2024-05-01T12:00:01Z";
  before.seconds = 1.25;
  before.starts = 3;
  before.metrics = {{20, "ab", 3}, {40, "cd", 7}};
  before.earlier = {{20, "cpu \"an abacus\""}};
  const auto after = manifest_from_json(to_json(before));
  REQUIRE(after);
  CHECK(to_json(*after) == to_json(before));
  CHECK(after->build.blas == "OpenBLAS");
  CHECK(after->metrics == before.metrics);
  CHECK(after->earlier == before.earlier);
}

TEST_CASE("damaged manifests are errors", "[runs][manifest]") {
  CHECK_THAT(manifest_from_json("").error, Contains("not JSON"));
  CHECK_THAT(manifest_from_json("[]").error, Contains("not a JSON object"));
  CHECK_THAT(manifest_from_json(R"({"format": 1})").error, Contains("no \"run\""));
  CHECK_THAT(manifest_from_json(R"({"format": 1, "run": "a", "outcome": "splendid"})").error, Contains("splendid"));
  CHECK_THAT(manifest_from_json(R"({"format": 1, "run": "a", "outcome": "failed", "failure": 3})").error,
             Contains("not a text"));
  CHECK_THAT(manifest_from_json(R"({"format": 1, "run": "a", "outcome": "failed", "starts": -1})").error,
             Contains("out of bounds"));

  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  put(run.manifest(), R"({"format": 1})");
  CHECK_THAT(read_manifest(run).error,
             Contains("'" + run.manifest().string() + "' is damaged: ") && Contains("no \"run\""));
  put(run.manifest(), R"({"run": "a", "outcome": "failed"})");
  CHECK(read_manifest(run).error == "'" + run.manifest().string() +
                                        "' has no format number: a version of Heed before 0.3.0 wrote this run, and " +
                                        "this version does not read it; run its configuration again");
  put(run.manifest(), R"({"format": "1", "run": "a", "outcome": "failed"})");
  CHECK_THAT(read_manifest(run).error, Contains("is damaged") && Contains("format"));
  set_outcome(run, "failed");
  CHECK(read_manifest(run).error.empty());
}

TEST_CASE("no command reads a run of another format", "[runs][manifest]") {
  const Scratch scratch;
  const RunFolder run = prepare_run(scratch.path, "0123456789abcdef", to_toml(config_from("seed = 3\n")));
  CHECK(read_config(run).general.seed == 3);
  put(run.manifest(), R"({"run": "0123456789abcdef", "outcome": "finished"})");
  CHECK_THROWS_WITH(read_config(run), Contains("manifest.json' has no format number") && Contains("before 0.3.0"));
  put(run.manifest(), R"({"format": 2, "run": "0123456789abcdef", "outcome": "finished"})");
  CHECK_THROWS_WITH(read_config(run),
                    Contains("manifest.json' has the format 2: a later version of Heed wrote this run"));
}

TEST_CASE("records of runs hold no commands to terminals", "[runs][manifest][metrics]") {
  const auto manifest = manifest_from_json(
      R"({"format": 1, "run": "a", "outcome": "failed", "failure": "\u001b]0;title\u0007 \u009b2J\nin two lines", )"
      R"("host": "\u007f"})");
  REQUIRE(manifest);
  CHECK(manifest->failure == "\\x1b]0;title\\x07 \\x9b2J\nin two lines");
  CHECK(manifest->host == "\\x7f");
  CHECK(to_json(*manifest) == to_json(*manifest_from_json(to_json(*manifest))));
  const auto metrics =
      metrics_from_json(R"({"step": 1, "seconds": 0, "tokens": 1, "\u001b[2J": 1, "by_length": {"\u001b": 2}})");
  REQUIRE(metrics);
  CHECK(metrics->values[0].first == "\\x1b[2J");
  CHECK(metrics->values[1].first == "by_length.\\x1b");
}

TEST_CASE("metrics come back bit for bit, and values that are not finite as NaN", "[runs][metrics]") {
  const MetricsRecord before{7, 0.25, 4096, {{"train_loss", 0.1}, {"val \"loss\"", 1e-300}, {"gap", INFINITY}}};
  CHECK(to_json(before) == R"({"step": 7, "seconds": 0.250000, "tokens": 4096, "train_loss": 0.1, "val \"loss\"": )"
                           R"(1e-300, "gap": null})");
  const auto after = metrics_from_json(to_json(before));
  REQUIRE(after);
  CHECK(after->step == 7);
  CHECK(after->tokens == 4096);
  REQUIRE(after->values.size() == 3);
  CHECK(after->values[0] == before.values[0]);
  CHECK(after->values[1] == before.values[1]);
  CHECK(std::isnan(after->values[2].second));
  CHECK_THAT(metrics_from_json(R"({"step": 1, "seconds": 0})").error, Contains("no \"tokens\""));
  CHECK_THAT(metrics_from_json(R"({"step": 1, "seconds": null, "tokens": 1})").error, Contains("\"seconds\""));
  CHECK_THAT(metrics_from_json(R"({"step": 1, "seconds": 0, "tokens": 1, "a": 1e999})").error, Contains("\"a\""));
  CHECK_THAT(metrics_from_json(R"({"step": 1.5, "seconds": 0, "tokens": 1})").error, Contains("\"step\""));
}

TEST_CASE("every metric reads back to the last bit", "[runs][metrics]") {
  std::vector<double> values{9.406938033585421, 1.0194999999999999, -0.0, 5e-324, 1.7976931348623157e308, 1e23};
  std::uint64_t bits = 1;
  while (values.size() < 2000) {
    // Knuth's multiplier, from The Art of Computer Programming, 3.3.4
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    if (const auto value = std::bit_cast<double>(bits); std::isfinite(value)) values.push_back(value);
    values.push_back(static_cast<double>(bits >> 11) * 0x1p-53);
  }
  for (const double value : values) {
    const auto after = metrics_from_json(to_json(MetricsRecord{1, 0, 1, {{"val_loss", value}}}));
    REQUIRE(after);
    CHECK(std::bit_cast<std::uint64_t>(after->values.at(0).second) == std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("the time for each token is of the steps alone, and none where only the run's is known", "[runs][metrics]") {
  MetricsRecord line{7, 9.5, 4000000, {{"val_loss", 1}}};
  CHECK_FALSE(value_of(line, "time_per_token"));
  line.step_seconds = 2;
  CHECK(*value_of(line, "time_per_token") == 0.5); // 2 s / 4,000,000, in millionths
  const std::string text = to_json(line);
  CHECK(text == R"({"step": 7, "seconds": 9.500000, "step_seconds": 2.000000, "tokens": 4000000, "val_loss": 1})");
  const auto after = metrics_from_json(text);
  REQUIRE(after);
  CHECK(after->step_seconds == 2.0);
  CHECK(after->values == line.values);
}

TEST_CASE("metrics with a dot in their name are written as objects", "[runs][metrics]") {
  const MetricsRecord before{3,
                             0.5,
                             64,
                             {{"val_loss", 2},
                              {"val_accuracy_by_length.8", 0.5},
                              {"val_accuracy_by_length.12", 0.25},
                              {"other.1", 1},
                              {"last", 7}}};
  const std::string text = to_json(before);
  CHECK(text == R"({"step": 3, "seconds": 0.500000, "tokens": 64, "val_loss": 2, "val_accuracy_by_length": {"8": 0.5, )"
                R"("12": 0.25}, "other": {"1": 1}, "last": 7})");
  const auto after = metrics_from_json(text);
  REQUIRE(after);
  CHECK(after->values == before.values);
  const MetricsRecord ends{1, 0, 0, {{"by_length.1", 1}}};
  CHECK(to_json(ends) == R"({"step": 1, "seconds": 0.000000, "tokens": 0, "by_length": {"1": 1}})");
  CHECK_THAT(metrics_from_json(R"({"step": 1, "seconds": 0, "tokens": 1, "a": {"b": "c"}})").error, Contains("\"b\""));
}

TEST_CASE("metrics are read up to a line that was cut off", "[runs][metrics]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  CHECK(read_metrics(run)->empty());
  append_metrics(run, {1, 0.1, 10, {{"train_loss", 3}, {"val_loss", 4}}});
  append_metrics(run, {2, 0.2, 20, {{"train_loss", 2}}});
  put(run.metrics(), content(run.metrics()) + "{\"step\": 3, \"sec");
  const auto metrics = read_metrics(run);
  REQUIRE(metrics);
  CHECK(metrics->size() == 2);
  CHECK(value_of(metrics->back(), "train_loss") == 2);
  CHECK_FALSE(value_of(metrics->back(), "test_loss"));

  put(run.metrics(), "rubbish\n");
  CHECK_THAT(read_metrics(run).error, Contains("damaged in line 1"));
}

TEST_CASE("metrics after a checkpoint are taken back", "[runs][metrics]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  truncate_metrics(run, 3);
  for (std::int64_t step = 1; step <= 5; ++step) append_metrics(run, {step, 0, 0, {}});
  const std::string all = content(run.metrics());
  truncate_metrics(run, 5);
  CHECK(content(run.metrics()) == all);
  put(run.metrics(), all + "{\"st");
  truncate_metrics(run, 3);
  CHECK(read_metrics(run)->size() == 3);
  CHECK(all.starts_with(content(run.metrics())));
  truncate_metrics(run, -1);
  CHECK(content(run.metrics()).empty());
}

TEST_CASE("metrics are read and cut a block at a time, whatever their number", "[runs][metrics][many]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  // 48 MB: a hundredth of the former maximum size, and more than the memory limit of the test.
  const std::int64_t lines = 400'000;
  std::int64_t bytes = 0;
  std::uint64_t expected = 0;
  {
    std::ofstream file(run.metrics().path(), std::ios::binary);
    for (std::int64_t step = 1; step <= lines; ++step) {
      const std::string line = to_json(MetricsRecord{
          step, 0.5, 10 * step, {{"train_loss", 1.0 / static_cast<double>(step)}, {"learning_rate", 0.001}}});
      file << line << '\n';
      bytes += std::ssize(line) + 1;
      if (step == lines / 2) expected = static_cast<std::uint64_t>(bytes);
    }
  }
  REQUIRE(bytes > 40'000'000);
  const std::int64_t before = test::most_memory();
  std::int64_t sum = 0;
  const auto read = each_metrics_line(run.metrics(), [&](const MetricsRecord& line) { sum += line.step; });
  REQUIRE(read);
  CHECK(*read == lines);
  CHECK(sum == lines * (lines + 1) / 2);
  Manifest manifest;
  manifest.step = lines;
  manifest.metrics = {metrics_checksum(run, lines)};
  CHECK(*wrong_metrics(run, manifest) == "");
  const MetricsChecksum half = metrics_checksum(run, lines / 2);
  truncate_metrics(run, lines / 2);
  CHECK(fs::file_size(run.metrics().path()) == expected);
  CHECK(metrics_checksum(run, lines) == MetricsChecksum{lines, half.hash, half.size});
  CHECK_THAT(*wrong_metrics(run, manifest), Contains("ends at step 200000"));
  constexpr std::int64_t taken = 8'000'000;
#ifndef HEED_INSTRUMENTED
  CHECK(test::most_memory() - before < taken);
#else
  static_cast<void>(before + taken);
#endif
}

TEST_CASE("lines are found whatever blocks they are read in, and those that are longer than a block",
          "[runs][metrics]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  std::vector<MetricsRecord> expected;
  for (const std::size_t length : {1, 100'000, 10, 300'000, 262'144, 262'143, 5}) {
    expected.push_back({std::ssize(expected) + 1, 0.5, 7, {{std::string(length, 'a'), 1.5}}});
    append_metrics(run, expected.back());
  }
  const auto read = read_metrics(run);
  REQUIRE(read);
  REQUIRE(read->size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK((*read)[i].values == expected[i].values);
  const std::string whole = content(run.metrics());
  for (std::int64_t step = std::ssize(expected); step >= 0; --step) {
    truncate_metrics(run, step);
    CHECK(whole.starts_with(content(run.metrics())));
    CHECK(std::ssize(*read_metrics(run)) == step);
  }
}

TEST_CASE("the last two checkpoints are kept", "[runs][checkpoints]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  CHECK_FALSE(newest_checkpoint(run));
  for (const std::int64_t step : {5, 100, 1000000}) write_checkpoint(run, step, checkpoint_of(step));
  CHECK(checkpoint_steps(run) == std::vector<std::int64_t>{1000000, 100});
  CHECK(run.checkpoint(100).name() == "checkpoint-000100.safetensors");
  CHECK(newest_checkpoint(run)->step == 1000000);
  // Files whose names have no step are no checkpoints.
  for (const char* other : {"", "x", "7x", "-7", "99999999999999999999"})
    put(run.path / fmt::format("checkpoint-{}.safetensors", other), "");
  CHECK(checkpoint_steps(run) == std::vector<std::int64_t>{1000000, 100});
}

TEST_CASE("a damaged checkpoint gives way to the one before", "[runs][checkpoints]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  write_checkpoint(run, 1, checkpoint_of(1));
  write_checkpoint(run, 2, checkpoint_of(2));
  std::vector<std::string> damaged;

  SECTION("changed") {
    std::string bytes = content(run.checkpoint(2));
    bytes.back() ^= 1;
    put(run.checkpoint(2), bytes);
    CHECK(newest_checkpoint(run, &damaged)->step == 1);
    REQUIRE(damaged.size() == 1);
    CHECK_THAT(damaged[0], Contains("checkpoint-000002.safetensors' is damaged: its checksum"));
  }
  SECTION("of another step") {
    fs::copy_file(run.checkpoint(1), run.checkpoint(2), fs::copy_options::overwrite_existing);
    CHECK(newest_checkpoint(run, &damaged)->step == 1);
    CHECK_THAT(damaged.at(0), Contains("is the checkpoint of step 1"));
  }
  SECTION("both") {
    put(run.checkpoint(1), "");
    put(run.checkpoint(2), "");
    CHECK_FALSE(newest_checkpoint(run, &damaged));
    CHECK(damaged.size() == 2);
  }
}

TEST_CASE("a checkpoint's step is a whole number from 0 on, and nothing more", "[runs][checkpoints]") {
  Checkpoint c = checkpoint_of(0);
  CHECK(step_of(c).value == 0);
  for (const char* wrong : {"", "x", "12x", "-3", " 4", "5 ", "99999999999999999999"}) {
    CAPTURE(wrong);
    c.metadata["step"] = wrong;
    CHECK_THAT(step_of(c).error, Contains(fmt::format("its step is \"{}\"", wrong)));
  }
  c.metadata.clear();
  CHECK_THAT(step_of(c).error, Contains("no step"));
}

TEST_CASE("the sum of metrics is of their lines up to a step", "[runs][metrics]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  for (std::int64_t step = 5; step <= 7; ++step) append_metrics(run, {step, 0, 0, {}});
  const std::string all = content(run.metrics());
  CHECK(metrics_checksum(run, 4).hash == content_hash(""));
  CHECK(metrics_checksum(run, 5).hash == content_hash(all.substr(0, all.find('\n') + 1)));
  CHECK(metrics_checksum(run, 7).hash == content_hash(all));
  CHECK(metrics_checksum(run, 100).hash == content_hash(all));
}

TEST_CASE("the state of a run is what its folder shows", "[runs][state]") {
  const Scratch scratch;
  CHECK(state_of({scratch / "0123456789abcdef"}) == RunState::missing);
  const RunFolder run = new_run(scratch);
  CHECK(state_of(run) == RunState::missing);
  append_metrics(run, {1, 0, 0, {}});
  CHECK(state_of(run) == RunState::interrupted);
  // Its process died without a final record.
  set_outcome(run, "running");
  CHECK(state_of(run) == RunState::interrupted);
  set_outcome(run, "failed");
  CHECK(state_of(run) == RunState::failed);
  set_outcome(run, "finished");
  CHECK(state_of(run) == RunState::finished);
  put(run.manifest(), "{\"run\": ");
  CHECK(state_of(run) == RunState::interrupted);

  const auto claim = Lease::attempt(run.claim());
  REQUIRE(claim);
  CHECK(state_of(run) == RunState::running);
}

TEST_CASE("a run is claimed by one at a time", "[runs][claim]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  {
    const auto first = Lease::attempt(run.claim());
    REQUIRE(first);
    CHECK_FALSE(Lease::attempt(run.claim()));
    CHECK(Lease::held(run.claim()));
    int asked = 0;
    CHECK_FALSE(Lease::wait(run.claim(), [&] { return ++asked == 2; }));
  }
  CHECK_FALSE(Lease::held(run.claim()));
  CHECK(Lease::attempt(run.claim()));
}

TEST_CASE("a claim ends with its process", "[runs][claim]") {
  const Scratch scratch;
  const RunFolder run = new_run(scratch);
  int ready[2], over[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(over) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = Lease::attempt(run.claim());
    char byte = claim ? 1 : 0;
    if (write(ready[1], &byte, 1) != 1 || read(over[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  REQUIRE(byte == 1);
  CHECK(Lease::held(run.claim()));
  CHECK_FALSE(Lease::attempt(run.claim()));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(Lease::held(run.claim()));
  CHECK(Lease::attempt(run.claim()));
  for (const int fd : {ready[0], ready[1], over[0], over[1]}) close(fd);
}

TEST_CASE("preparing a run keeps what is done and brings the rest up to date", "[runs]") {
  const Scratch scratch;
  const RunFolder run = prepare_run(scratch.path, "0123456789abcdef", "seed = 1\n");
  prepare_run(scratch.path, run.id(), "seed = 1\ntrain.threads = 2\n");
  CHECK(content(run.config()) == "seed = 1\ntrain.threads = 2\n");
  set_outcome(run, "finished");
  prepare_run(scratch.path, run.id(), "seed = 1\n");
  CHECK(content(run.config()) == "seed = 1\ntrain.threads = 2\n");
}

TEST_CASE("a run is named by a path or the beginning of its ID", "[runs]") {
  const Scratch scratch;
  CHECK_THROWS_WITH(find_run(scratch.path, "ab"), Contains("there are no runs in") && Contains("--out"));
  for (const char* id : {"ab00000000000000", "ab11111111111111", "cd00000000000000"})
    prepare_run(scratch.path, id, "seed = 1\n");
  fs::create_directory(scratch / "sweeps");
  CHECK(run_ids(scratch.path).size() == 3);
  CHECK(find_run(scratch.path, "c").id() == "cd00000000000000");
  CHECK(find_run(scratch.path, "ab1").id() == "ab11111111111111");
  CHECK(find_run("elsewhere", (scratch / "ab00000000000000/").string()).id() == "ab00000000000000");
  CHECK_THROWS_WITH(find_run(scratch.path, "ab"), Contains("2 runs") &&
                                                      Contains("ab00000000000000, ab11111111111111") &&
                                                      Contains("give more of the ID"));
  CHECK_THROWS_WITH(find_run(scratch.path, "cd00000000000001"), Contains("did you mean cd00000000000000?"));
  CHECK_THROWS_AS(find_run(scratch.path, "ef"), Refused);
}

TEST_CASE("a folder without its configuration is refused", "[runs]") {
  const Scratch scratch;
  CHECK_THROWS_WITH(read_config({scratch.path}), Contains("not the folder of a run"));
}
