// Tests of metrics.jsonl with lines and sizes that no run writes: sparse files, which claim any size and need no disk.
#include "experiments/metrics/record.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/most_memory.hpp"
#include "tests/experiments/runs/read_metrics.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fmt/format.h>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30, tib = std::uint64_t{1} << 40;

/// Five lines of metrics, and the manifest of a run that finished with them.
struct Finished : Scratch {
  RunFolder run = prepare_run(path, "0123456789abcdef", "seed = 1\n");
  Manifest manifest;
  std::string lines;

  Finished() {
    for (std::int64_t step = 1; step <= 5; ++step) append_metrics(run, {step, 0.5, 10, {{"val_loss", 1.5}}});
    lines = content(run.metrics());
    manifest.step = 5;
    manifest.metrics = {metrics_checksum(run, 5)};
  }
  void resize(std::uint64_t size) const { fs::resize_file(run.metrics().path(), size); }
  std::string wrong() const { return *wrong_metrics(run, manifest); }
  std::string unread() const { return read_metrics(run).error; }
};

} // namespace

TEST_CASE("the manifest has the size of the metrics", "[runs][metrics]") {
  Finished f;
  CHECK(f.wrong().empty());
  REQUIRE(f.manifest.metrics.back().size == f.lines.size());
  f.manifest.run = "0123456789abcdef";
  f.manifest.outcome = "finished";
  const std::string json = to_json(f.manifest);
  CHECK(manifest_from_json(json)->metrics == f.manifest.metrics);
  std::string earlier = json;
  const std::string size = fmt::format(", \"size\": {}", f.lines.size());
  REQUIRE(earlier.find(size) != std::string::npos);
  earlier.erase(earlier.find(size), size.size());
  CHECK(manifest_from_json(earlier).error == "it has no \"size\"");
}

TEST_CASE("metrics that can't be the run's are not read to their end", "[runs][metrics]") {
  const Finished f;
  const std::int64_t before = test::most_memory();

  SECTION("a sparse GiB follows the last line") {
    f.resize(gib);
    CHECK_THAT(f.wrong(), Contains("was changed after the run finished (its last line is damaged)"));
    CHECK_THAT(f.unread(), Contains("is damaged in line 6: it has more than 16777216 bytes"));
  }
  SECTION("the file claims a TiB") {
    f.resize(tib);
    for (const std::string& why : {f.wrong(), f.unread()})
      CHECK_THAT(why, Contains("it has 1099511627776 bytes, and a run's metrics have at most 17179869184") &&
                          Contains("heed run"));
  }
  SECTION("a sparse GiB is before the last line") {
    f.resize(gib);
    append_metrics(f.run, {5, 0.5, 10, {}});
    // The line begins with zero bytes.
    CHECK_THAT(f.wrong(), Contains("its last line is damaged"));
  }
  CHECK(wrong_metrics(f.run, f.manifest).problem == ReadProblem::none);
#ifndef HEED_INSTRUMENTED
  CHECK(test::most_memory() - before < 100'000'000);
#else
  static_cast<void>(before);
#endif
}

TEST_CASE("metrics of another size than the run's are not hashed", "[runs][metrics]") {
  const Finished f;
  const std::string last = f.lines.substr(f.lines.rfind('\n', f.lines.size() - 2));
  put(f.run.metrics().path(), f.lines + last.substr(1));
  CHECK_THAT(f.wrong(), Contains(fmt::format("it has {} bytes, and had {}); heed run", f.lines.size() + last.size() - 1,
                                             f.lines.size())));
}

TEST_CASE("a run resumes before a sparse end of its metrics", "[runs][metrics]") {
  const Finished f;
  f.resize(gib);
  CHECK(metrics_checksum(f.run, 5) == f.manifest.metrics.back());
  truncate_metrics(f.run, 4);
  CHECK(f.lines.starts_with(content(f.run.metrics())));
  CHECK(read_metrics(f.run)->back().step == 4);
  f.resize(gib);
  truncate_metrics(f.run, 0); // before its first line
  CHECK(content(f.run.metrics()).empty());
}

TEST_CASE("metrics that are too large are set aside as they are, and the run begins again", "[runs][metrics]") {
  const Finished f;
  f.resize(tib);
  CHECK(metrics_checksum(f.run, 5).size == 0);
  truncate_metrics(f.run, -1, true);
  CHECK_FALSE(f.run.metrics().exists());
  CHECK(fs::file_size(f.run.metrics().path().string() + ".damaged") == tib);
}

TEST_CASE("no run writes a line or a file that is not read again", "[runs][metrics]") {
  const Finished f;
  const MetricsRecord longest{6, 0, 0, {{std::string(longest_metrics_line - 100, 'a'), 1}}};
  append_metrics(f.run, longest);
  REQUIRE(read_metrics(f.run));
  const std::string before = content(f.run.metrics());
  CHECK_THROWS_WITH(append_metrics(f.run, {7, 0, 0, {{std::string(longest_metrics_line, 'a'), 1}}}),
                    Contains("the metrics of step 7 have") && Contains("at most 16777216") &&
                        Contains("train.inspect"));
  CHECK(content(f.run.metrics()) == before);
  f.resize(largest_metrics - 10);
  CHECK_THROWS_WITH(append_metrics(f.run, {7, 0, 0, {}}),
                    Contains("at most 17179869184") && Contains("train.log_every"));
  CHECK(fs::file_size(f.run.metrics().path()) == largest_metrics - 10);
}
