#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_comparison.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <cstring>
#include <limits>

using namespace heed;
using Catch::Contains;
using heed::test::losses;
using heed::test::run_of;

namespace {

StoredTensor tensor(const std::string& name, const std::vector<float>& values) {
  StoredTensor t{name, {static_cast<std::int64_t>(values.size())}, false, std::vector<std::byte>(4 * values.size())};
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

std::string only_difference(const RunComparison& compared) {
  REQUIRE(compared.differences.size() == 1);
  return compared.differences.front();
}

std::string metrics_difference(const std::vector<MetricsRecord>& then, const std::vector<MetricsRecord>& now) {
  RunComparison compared;
  const auto lines_of_list = [](const std::vector<MetricsRecord>& lines) {
    return [&lines, next = std::size_t{0}]() mutable {
      return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
    };
  };
  compare_metrics(lines_of_list(then), lines_of_list(now), compared);
  return compared.same() ? "" : only_difference(compared);
}

std::string checkpoint_difference(const std::vector<StoredTensor>& then, const std::vector<StoredTensor>& now) {
  RunComparison compared;
  compare_checkpoints({{}, then}, {{}, now}, compared);
  return compared.same() ? "" : only_difference(compared);
}

} // namespace

TEST_CASE("metrics are the same whatever time they took", "[runs][comparison]") {
  auto now = losses({2.0, std::numeric_limits<double>::quiet_NaN(), 1.0});
  const auto then = now;
  for (MetricsRecord& line : now) line.seconds += 3;
  CHECK(metrics_difference(then, now).empty());
}

TEST_CASE("the first metric that differs is named with its step and both values", "[runs][comparison]") {
  const auto then = losses({2.0, 1.5, 1.0});
  CHECK_THAT(metrics_difference(then, losses({2.0, 1.5000000000000002, 0.5})),
             Contains("step 20: val_loss 1.5 then, 1.5000000000000002 now"));
  CHECK_THAT(metrics_difference(then, losses({2.0, 1.5})), Contains("3 lines then, 2 now"));
  auto other = then;
  other[1].values[0].first = "val_accuracy";
  CHECK_THAT(metrics_difference(then, other), Contains("step 20: val_loss is missing now"));
  other = then;
  other[2].values.emplace_back("more", 1.0);
  CHECK_THAT(metrics_difference(then, other), Contains("step 30: more is new"));
  other = then;
  other[0].tokens = 7;
  CHECK_THAT(metrics_difference(then, other), Contains("step 10: tokens 0 then, 7 now"));
  other = then;
  other[0].step = 11;
  CHECK_THAT(metrics_difference(then, other), Contains("step 10 then, step 11 now"));
}

TEST_CASE("the first tensor that differs is named with its first number that does", "[runs][comparison]") {
  const std::vector<StoredTensor> then{tensor("a", {1, 2, 3}), tensor("b", {4})};
  CHECK(checkpoint_difference(then, then).empty());
  CHECK_THAT(checkpoint_difference(then, {tensor("a", {1, 2.5F, 4}), tensor("b", {4})}),
             Contains("1 of 2 tensors") && Contains("a: 2 of 3 numbers differ, the first at 1: 2 then, 2.5 now"));
  CHECK_THAT(checkpoint_difference(then, {tensor("a", {1, 2, 3})}), Contains("b is missing now"));
  CHECK_THAT(checkpoint_difference({tensor("a", {1})}, then), Contains("a is float32 [1] then, float32 [3] now"));
  CHECK_THAT(checkpoint_difference({tensor("b", {4})}, then), Contains("a is new"));
  // Numbers that are equal but differ in their bits count as different.
  CHECK_THAT(checkpoint_difference({tensor("z", {0.0F})}, {tensor("z", {-0.0F})}), Contains("0 then, -0 now"));
}

TEST_CASE("tensors in float64 are told apart in all of their digits", "[runs][comparison]") {
  const auto stored = [](double value) {
    StoredTensor out{"a", {1}, true, std::vector<std::byte>(sizeof value)};
    std::memcpy(out.bytes.data(), &value, sizeof value);
    return out;
  };
  CHECK(checkpoint_difference({stored(0.1)}, {stored(0.1)}).empty());
  CHECK_THAT(checkpoint_difference({stored(0.1)}, {stored(0.1 + 0x1p-56)}), Contains("0.1 then, 0.1000000000000"));
  const auto pair = [](double first, double second) {
    StoredTensor out{"a", {2}, true, std::vector<std::byte>(16)};
    std::memcpy(out.bytes.data(), &first, 8);
    std::memcpy(out.bytes.data() + 8, &second, 8);
    return out;
  };
  CHECK_THAT(checkpoint_difference({pair(1, 2)}, {pair(1, 3)}),
             Contains("1 of 2 numbers differ, the first at 1: 2 then, 3 now"));
}

TEST_CASE("runs are compared by their metrics and by their checkpoints of one step", "[runs][comparison]") {
  const Scratch one, two;
  const RunFolder then = run_of(one, "seed = 0\n", losses({2.0, 1.0}));
  const RunFolder now = run_of(two, "seed = 0\n", losses({2.0, 1.0}));
  CHECK(compare_runs(then, now).same());
  CHECK_THAT(compare_runs(then, now).not_compared.at(0), Contains("no intact checkpoint"));
  Checkpoint checkpoint{{{"step", "20"}}, {tensor("a", {1, 2})}};
  write_checkpoint(then, 20, checkpoint);
  CHECK_FALSE(compare_runs(then, now).same());
  write_checkpoint(now, 20, checkpoint);
  const RunComparison same = compare_runs(then, now);
  CHECK(same.same());
  CHECK(same.lines == 2);
  CHECK(same.tensors == 1);
  CHECK(same.numbers == 2);
  checkpoint.tensors[0].bytes[0] = std::byte{1};
  write_checkpoint(now, 20, checkpoint);
  CHECK_FALSE(compare_runs(then, now).same());
}

TEST_CASE("what machines and programs differ in is listed", "[runs][comparison]") {
  Manifest a;
  a.build = {"0.1.0", "gcc 12", "-O2", "blas"};
  a.cpu = "one";
  Manifest b = a;
  CHECK(machine_differences(a, b).empty());
  b.cpu = "another";
  b.threads = 4;
  const auto found = machine_differences(a, b);
  REQUIRE(found.size() == 2);
  CHECK(found[0].what == "cpu");
  CHECK(found[0].b == "another");
  CHECK(found[1].what == "threads");
}

TEST_CASE("an unlike CPU makes other bits but with kernels that are the same on each", "[runs][comparison]") {
  Manifest a;
  a.build = {"0.1.0", "gcc 12", "-O2", "own products", "avx2"};
  a.cpu = "one";
  a.host = "here";
  a.threads = 1;
  Manifest b = a;
  b.cpu = "another";
  b.host = "there";
  b.threads = 2;
  CHECK(bit_differences(a, b).empty());
  for (const char* kernels : {"native", "baseline"}) {
    a.build.kernels = b.build.kernels = kernels;
    REQUIRE(bit_differences(a, b).size() == 1);
    CHECK(bit_differences(a, b)[0].what == "cpu");
  }
  a.build.kernels = "avx512";
  b.build.kernels = "avx2";
  REQUIRE(bit_differences(a, b).size() == 2);
  CHECK(bit_differences(a, b)[0].what == "kernels");
  a.build.kernels.clear(); // as a version wrote it that did not record the instruction set
  REQUIRE(bit_differences(a, b).size() == 1);
  CHECK(bit_differences(a, b)[0].what == "cpu");
}
