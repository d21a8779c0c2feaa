#include "autograd/operation_count.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/block_stack.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The width of a square image of so many patches, or of the largest one with fewer.
std::int64_t side_of_square(std::int64_t patches) {
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= patches) ++side;
  return side;
}

// Runs one row through the block, forward and backward.
class Row {
public:
  Row(const Config& config, std::int64_t length)
      : shape_{1, length, config.model.width},
        stack_(Scope(parameters_, init_rules(config)), config,
               BlockStack::Sizes{.longest = length, .patches_in_row = side_of_square(length)}),
        segments_(static_cast<std::size_t>(length)) {
    parameters_.initialise(static_cast<std::uint64_t>(config.general.seed));
    gradients_.resize(static_cast<std::size_t>(parameters_.extent()));
    vectors_.resize(static_cast<std::size_t>(shape_.size()));
    of_vectors_.resize(vectors_.size());
    const RandomKey key{.seed = static_cast<std::uint64_t>(config.general.seed), .stream = Stream::test};
    for (std::size_t i = 0; i < vectors_.size(); ++i) vectors_[i] = static_cast<Real>(normal(key, i));
  }

  void forward_and_backward() {
    tape_.rewind();
    Pass pass(tape_, parameters_, gradients_.data(), {.training = true});
    const Tensor x = tape_.leaf(vectors_.data(), of_vectors_.data(), shape_);
    const Segments one{segments_.data(), shape_[1]};
    tape_.backward(sum(stack_(pass, x, {.query_segments = one, .key_segments = one})));
  }

  std::int64_t parameters() const { return parameters_.count(); }
  std::size_t bytes() const { return tape_.peak(); }

private:
  Shape shape_;
  Parameters parameters_;
  BlockStack stack_;
  std::vector<std::int32_t> segments_; // the row is one segment
  std::vector<Real> gradients_, vectors_, of_vectors_;
  Tape tape_;
};

} // namespace

AttentionCost attention_cost(const Config& config, std::int64_t length, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  constexpr std::size_t fewest = 3;
  Row row(attention_of_first_block(config), length);
  AttentionCost cost;
  const double before = counted_operations();
  row.forward_and_backward();
  cost.flops = counted_operations() - before;
  cost.parameters = row.parameters();
  cost.bytes = static_cast<double>(row.bytes());
  row.forward_and_backward(); // now the tape's memory is one contiguous block
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < fewest || since(begin) < seconds) {
    const Clock::time_point one = Clock::now();
    row.forward_and_backward();
    times.push_back(since(one));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  cost.seconds = *middle;
  return cost;
}

} // namespace heed::HEED_REAL
