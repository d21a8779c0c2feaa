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
    if (about.decays > 0) shapes_.push_back(shape(about.decays));
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto n = static_cast<std::size_t>(shapes_[i].size());
      values_.emplace_back(n);
      gradients_.emplace_back(n);
      for (std::size_t j = 0; j < n; ++j) {
        const auto x = static_cast<float>(normal({.seed = seed, .stream = Stream::test, .step = i}, j));
        values_[i][j] = i == 4 ? -0.05F * std::abs(x) : x; // logarithms of decays
      }
    }
  }

  void run() {
    tape_.rewind();
    const auto operand = [&](std::size_t i) {
      return i < shapes_.size() ? tape_.leaf(values_[i].data(), gradients_[i].data(), shapes_[i]) : Tensor{};
    };
    const Tensor y = linear_recurrence({operand(0), operand(1), operand(2), operand(4)}).outputs;
    tape_.backward(HEED_REAL::bench::upstream(y, values_[3].data()));
  }

private:
  std::vector<Shape> shapes_;                          // of queries, keys, values, the result's gradient, and decays
  std::vector<std::vector<float>> values_, gradients_; // of each shape
  Tape tape_;
};

} // namespace

void measure_recurrence(const RecurrenceCase& about, int threads) { measure_parts_of_batch<Part>(about, threads); }

} // namespace heed::bench
