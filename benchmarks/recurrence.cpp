#include "autograd/linear_recurrence.hpp"
#include "autograd/rng.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/parts_of_batch.hpp"
#include "benchmarks/upstream.hpp"

#include <cmath>

namespace heed::bench {

namespace {

using namespace HEED_REAL;

// One thread's part of the batch: operands with their gradients.
class Part {
public:
  Part(const RecurrenceCase& about, int batch, std::uint64_t seed) {
    const auto shape = [&](int width) { return Shape{batch, about.heads, about.length, width}; };
    shapes_ = {shape(about.keys), shape(about.keys), shape(about.values), shape(about.values)};
    for (const auto& [numbers, place] : {std::pair{about.decays, &decay_}, {about.erases, &erase_}}) {
      if (numbers == 0) continue;
      *place = shapes_.size();
      shapes_.push_back(shape(numbers));
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto n = static_cast<std::size_t>(shapes_[i].size());
      values_.emplace_back(n);
      gradients_.emplace_back(n);
      for (std::size_t j = 0; j < n; ++j) {
        const auto x = static_cast<float>(normal({.seed = seed, .stream = Stream::test, .step = i}, j));
        // Logarithms of decays; strengths; keys whose length is about 1, so that states which are erased stay small.
        values_[i][j] = i == decay_   ? -0.05F * std::abs(x)
                        : i == erase_ ? 1 / (1 + std::exp(-x))
                        : i == 1      ? x / std::sqrt(static_cast<float>(about.keys))
                                      : x;
      }
    }
  }

  void run() {
    tape_.rewind();
    const auto operand = [&](std::size_t i) {
      return i < shapes_.size() ? tape_.leaf(values_[i].data(), gradients_[i].data(), shapes_[i]) : Tensor{};
    };
    LinearRecurrenceOperands all{operand(0), operand(1), operand(2), operand(decay_)};
    all.erase = operand(erase_);
    if (all.erase.shape.rank == 4 && all.erase.shape[3] == 1) all.write = all.erase; // as the delta rule has it
    const Tensor y = linear_recurrence(all).outputs;
    tape_.backward(HEED_REAL::bench::upstream(y, values_[3].data()));
  }

private:
  static constexpr std::size_t absent = 9;
  std::size_t decay_ = absent, erase_ = absent;
  std::vector<Shape> shapes_; // of queries, keys, values, the result's gradient, decays and strengths of the erase
  std::vector<std::vector<float>> values_, gradients_; // of each shape
  Tape tape_;
};

} // namespace

void measure_recurrence(const RecurrenceCase& about, int threads) { measure_parts_of_batch<Part>(about, threads); }

} // namespace heed::bench
