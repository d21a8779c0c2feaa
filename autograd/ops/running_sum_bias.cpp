#include "autograd/kernels/simd.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/ops.hpp"
#include "autograd/relative.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// Keys in a row of this many share a base, from which their sums are counted.
constexpr std::int64_t keys_of_base = 128;

// The bias of (i, j) is S_i - S_j with the running sums S. For the keys of one base, it is computed as (S_i - base) -
// (S_j - base), in which both differences are small where the bias is.
class RunningSumBias final : public AttentionBias {
public:
  RunningSumBias(const Tensor& steps, std::int64_t offset) : steps_(steps), keys_(steps.shape[2]), offset_(offset) {
    Tape& tape = *steps.tape;
    const std::int64_t rows = steps.shape[0] * steps.shape[1];
    sums_ = tape.keep<double>(rows * keys_);
    from_base_ = tape.keep<Real>(rows * keys_);
    for (std::int64_t row = 0; row < rows && !counting_only(); ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < keys_; ++j) {
        const std::int64_t at = row * keys_ + j;
        sums_[at] = sum += static_cast<double>(steps.data[at]);
        from_base_[at] = static_cast<Real>(sum - sums_[at - j % keys_of_base]);
      }
    }
    if (requires_grad()) gradients_ = tape.keep<double>(rows * keys_);
  }

  bool requires_grad() const override { return steps_.slot->requires_grad; }
  bool gradients_serve_several_threads() const override { return true; } // each head has its own

  void add(const ScoreTile& tile, Real* scores) const override {
    each_base(tile, [&](std::int64_t first, std::int64_t keys, std::int64_t column) {
      const Real* of_keys = from_base_ + first;
      const double base = sums_[first - (tile.j + column) % keys_of_base];
      for (std::int64_t r = 0; r < tile.queries; ++r) {
        const auto of_query = static_cast<Real>(sums_[query(tile, r)] - base);
        Real* s = scores + r * tile.row + column;
        map(keys, [&](std::int64_t c, int n) { store(s + c, load(s + c, n) + (of_query - load(of_keys + c, n)), n); });
      }
    });
  }

  void open(Tape&) override {
    if (gradients_ && !counting_only()) std::fill_n(gradients_, steps_.size(), 0.0);
  }
  void add_gradients(const ScoreTile& tile, const Real* grad_scores) override {
    if (!gradients_) return;
    alignas(64) Real of_keys[keys_of_base];
    each_base(tile, [&](std::int64_t first, std::int64_t keys, std::int64_t column) {
      std::fill_n(of_keys, keys_of_base, Real{0});
      for (std::int64_t r = 0; r < tile.queries; ++r) {
        const Real* s = grad_scores + r * tile.row + column;
        Simd sum(Real{0});
        map(keys, [&](std::int64_t c, int n) {
          const Simd here = load(s + c, n);
          sum += here;
          store(of_keys + c, load(of_keys + c, n) + here, n);
        });
        gradients_[query(tile, r)] += static_cast<double>(lane_sum(sum));
      }
      for (std::int64_t c = 0; c < keys; ++c) gradients_[first + c] -= static_cast<double>(of_keys[c]);
    });
  }
  // A step is a summand of its own running sum and of all later ones.
  void close(Tape& tape) override {
    if (!gradients_) return;
    const GradTarget to = tape.grad_target(steps_);
    if (!to || counting_only()) return;
    for (std::int64_t begin = 0; begin < steps_.size(); begin += keys_) {
      double sum = 0;
      for (std::int64_t j = keys_ - 1; j >= 0; --j) {
        sum += gradients_[begin + j];
        accumulate(to.p[begin + j], static_cast<Real>(sum), to.overwrite);
      }
    }
  }

private:
  std::int64_t row(const ScoreTile& tile) const { return (tile.b * steps_.shape[1] + tile.h) * keys_; }
  std::int64_t query(const ScoreTile& tile, std::int64_t r) const { return row(tile) + tile.i + r + offset_; }
  // Calls f(index of the first key, number of keys, their first column in the tile) for the keys of each base.
  template <class F> void each_base(const ScoreTile& tile, F&& f) const {
    for (std::int64_t c = 0; c < tile.keys;) {
      const std::int64_t keys = std::min(tile.keys - c, keys_of_base - (tile.j + c) % keys_of_base);
      f(row(tile) + tile.j + c, keys, c);
      c += keys;
    }
  }

  Tensor steps_;
  std::int64_t keys_, offset_;
  double *sums_, *gradients_ = nullptr; // [B, H, Tk]; the gradients of the sums
  Real* from_base_;                     // [B, H, Tk]: a key's sum minus that of the first key of its base
};

class SumOfBiases final : public AttentionBias {
public:
  SumOfBiases(AttentionBias& first, AttentionBias& second) : first_(&first), second_(&second) {}

  bool requires_grad() const override { return first_->requires_grad() || second_->requires_grad(); }
  bool serves_several_threads() const override {
    return first_->serves_several_threads() && second_->serves_several_threads();
  }
  bool gradients_serve_several_threads() const override {
    return first_->gradients_serve_several_threads() && second_->gradients_serve_several_threads();
  }
  void add(const ScoreTile& tile, Real* scores) const override {
    first_->add(tile, scores);
    second_->add(tile, scores);
  }
  void open(Tape& tape) override {
    first_->open(tape);
    second_->open(tape);
  }
  void add_gradients(const ScoreTile& tile, const Real* grad_scores) override {
    first_->add_gradients(tile, grad_scores);
    second_->add_gradients(tile, grad_scores);
  }
  void close(Tape& tape) override {
    first_->close(tape);
    second_->close(tape);
  }

private:
  AttentionBias *first_, *second_;
};

} // namespace

AttentionBias* bias_by_running_sum(const Tensor& steps, std::int64_t queries, std::int64_t offset) {
  const Op op("bias_by_running_sum", {&steps});
  op.check(steps.rank() == 4 && steps.shape[3] == 1 && queries + offset <= steps.shape[2],
           "the steps must be [B, H, Tk, 1] with Tk of at least {} + {}, they are {}", queries, offset,
           steps.shape.text());
  return keep_bias(op.tape(), RunningSumBias(contiguous(steps), offset));
}

AttentionBias* sum_of(Tape& tape, AttentionBias* first, AttentionBias* second) {
  if (!first || !second) return first ? first : second;
  return keep_bias(tape, SumOfBiases(*first, *second));
}

} // namespace heed::HEED_REAL
