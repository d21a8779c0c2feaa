#include "experiments/runs/checkpoints.hpp"
#include "experiments/training/training.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cstring>

using namespace heed;
using Catch::Contains;

namespace {

template <class Number> StoredTensor weight(const std::string& name, const std::vector<Number>& numbers) {
  StoredTensor t{name, {std::ssize(numbers)}, sizeof(Number) == 8, {}};
  t.bytes.resize(numbers.size() * sizeof(Number));
  std::memcpy(t.bytes.data(), numbers.data(), t.bytes.size());
  return t;
}

template <class Number> std::vector<Number> numbers(const StoredTensor& t) {
  std::vector<Number> out(t.bytes.size() / sizeof(Number));
  std::memcpy(out.data(), t.bytes.data(), t.bytes.size());
  return out;
}

Checkpoint checkpoint(std::int64_t step, const std::vector<float>& w, const std::vector<double>& v, float moment) {
  Checkpoint c;
  c.metadata["step"] = std::to_string(step);
  c.tensors = {weight("w", w), weight("v", v), weight<float>("optimizer.m.w", {moment})};
  return c;
}

} // namespace

TEST_CASE("the average has the mean of every weight, and the newest's step and optimiser", "[runs][average]") {
  const std::vector<Checkpoint> three = {checkpoint(30, {1, 5}, {0.25}, 9), checkpoint(20, {2, -4}, {0.5}, 8),
                                         checkpoint(10, {6, 2}, {0.75}, 7)};
  const Checkpoint mean = average(three);
  CHECK(numbers<float>(mean.tensors.at(0)) == std::vector<float>{3, 1});
  CHECK(numbers<double>(mean.tensors.at(1)) == std::vector<double>{0.5});
  CHECK(numbers<float>(mean.tensors.at(2)) == std::vector<float>{9});
  CHECK(mean.metadata.at("step") == "30");
  CHECK(numbers<float>(average(std::span(three).first(1)).tensors[0]) == std::vector<float>{1, 5});
}

TEST_CASE("checkpoints of different models have no average", "[runs][average]") {
  std::vector<Checkpoint> two = {checkpoint(2, {1, 2}, {3}, 0), checkpoint(1, {1, 2, 3}, {3}, 0)};
  CHECK_THROWS_WITH(average(two), Contains("'w' has another shape"));
  two[1] = checkpoint(1, {1, 2}, {3}, 0);
  two[1].tensors[1].name = "u";
  CHECK_THROWS_WITH(average(two), Contains("'v' is not in all"));
}

TEST_CASE("a run's newest whole checkpoints are averaged, as many as it keeps", "[runs][average]") {
  const Scratch scratch;
  const RunFolder run = prepare_run(scratch.path, "0123456789abcdef", "seed = 1\n");
  for (const std::int64_t step : {1, 2, 3, 4})
    write_checkpoint(run, step, checkpoint(step, {static_cast<float>(step)}, {0}, 0), 3);
  CHECK(checkpoint_steps(run) == std::vector<std::int64_t>{4, 3, 2});
  std::vector<std::string> damaged;
  CHECK(numbers<float>(average_of_newest(run, 2, damaged).tensors[0]) == std::vector<float>{3.5F});
  CHECK(damaged.empty());

  write_file(run.checkpoint(3), "nothing of the kind");
  CHECK(numbers<float>(average_of_newest(run, 2, damaged).tensors[0]) == std::vector<float>{3});
  CHECK(damaged.size() == 1);
  CHECK_THROWS_WITH(average_of_newest(run, 3, damaged), Contains("has 2 intact checkpoints, but the average needs 3"));
}
