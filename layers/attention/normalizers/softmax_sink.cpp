#include "layers/attention/learned_rows.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double start = 0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("start", &Options::start,
                                                     "initial value of each head's learned logit b")
                                                  .between(-100, 100)
                                                  .initial_value());
  return t;
}

class SinkRows final : public RowRule {
public:
  explicit SinkRows(Real sink) : sink_(sink) {}

  // The row's value is the largest of the scores and the sink.
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& top) const override {
    top = std::max(row_largest(s, keys.n), sink_);
    const Real inverse = inverse_sum(top, s, w, keys.n);
    for (std::int64_t j = 0; j < keys.n; ++j) w[j] *= inverse;
  }
  // As softmax's: the sink has the value 0, and so no term here.
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    SoftmaxRule().backward(value, s, w, dw, ds, keys, scratch);
  }
  void weights_and_backward(Real top, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real*) const override {
    const Real inverse = inverse_sum(top, s, w, keys.n), along = row_scale_and_dot(inverse, w, dw, keys.n);
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = w[j] * (dw[j] - along);
  }
  // The sink's weight follows from the best key's: 1 - sum_j w_j would have no digits where it is small.
  double derivative(const Real* s, const Real* w, const Real* dw, const Real*, RowKeys keys) const {
    const auto along = static_cast<double>(row_dot(w, dw, keys.n)), most = static_cast<double>(row_largest(w, keys.n));
    if (along == 0) return 0;
    return -along * most * std::exp(static_cast<double>(sink_) - static_cast<double>(row_largest(s, keys.n)));
  }

private:
  // e_j = exp(s_j - top), and 1 / (their sum with the sink's).
  Real inverse_sum(Real top, const Real* s, Real* e, std::int64_t n) const {
    return 1 / (row_exponentials(s, top, e, n) + std::exp(sink_ - top));
  }

  Real sink_;
};

void row(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options) {
  const double sink = table().read(options).start;
  double top = sink;
  for (std::int64_t j = 0; j < keys.n; ++j) top = std::max(top, static_cast<double>(scores[j]));
  const auto power = [&](std::int64_t j) { return std::exp(static_cast<double>(scores[j]) - top); };
  double total = std::exp(sink - top);
  for (std::int64_t j = 0; j < keys.n; ++j) total += power(j);
  for (std::int64_t j = 0; j < keys.n; ++j) weights[j] = static_cast<Real>(power(j) / total);
}

} // namespace

extern const NormalizerInfo normalizer_softmax_sink{
    .about = {.name = "softmax_sink",
              .summary = "w_j = exp(s_j) / (exp(b) + sum_k exp(s_k)), with a learned logit b for each head: the weight "
                         "of this sink goes to no key, so a head may attend to nothing",
              .paper = "OpenAI 2025, gpt-oss-120b and gpt-oss-20b model card, arXiv 2508.10925",
              .equals = "softmax_one while b is 0",
              .cost = "one parameter for each head; one exponential for each pair",
              .options = table().options()},
    .make = [](const Scope& scope, std::int64_t heads, const OptionValues& options) -> std::unique_ptr<Normalizer> {
      return std::make_unique<LearnedNormalizer<SinkRows>>(scope, "sink", heads, table().read(options).start,
                                                           [](Real sink) { return SinkRows(sink); });
    },
    .row = row};

} // namespace heed::HEED_REAL
