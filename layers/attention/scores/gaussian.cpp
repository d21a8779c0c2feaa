#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double bandwidth = 0.0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("bandwidth", &Options::bandwidth,
                                                     "the distance at which a weight falls to exp(-1/2) of its maximum")
                                                  .at_least(0)
                                                  .default_means("0: d^(1/4), which divides products by sqrt(d)"));
  return t;
}

// 1 / b^2. A bandwidth of 0 means b^2 = sqrt(width).
Real factor(const OptionValues& values, std::int64_t width) {
  const double b = table().read(values).bandwidth;
  return static_cast<Real>(b > 0 ? 1 / (b * b) : 1 / std::sqrt(static_cast<double>(width)));
}

class Gaussian : public Score {
public:
  explicit Gaussian(Real factor) : factor_(factor) {}

  // -|q - k|^2 / 2 is the dot product of [q, -|q|^2 / 2, 1] and [k, 1, -|k|^2 / 2].
  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const auto half_squares = [](const Tensor& x) { return scale(sum(mul(x, x), -1, true), Real(-0.5)); };
    const auto ones = [&](const Tensor& x) {
      const Tensor y = pass.tape().make({x.shape[0], x.shape[1], x.shape[2], 1});
      std::fill_n(y.data, y.size(), Real{1});
      return y;
    };
    return DotProductForm{concat({queries, half_squares(queries), ones(queries)}, -1),
                          concat({keys, ones(keys), half_squares(keys)}, -1), factor_};
  }

private:
  Real factor_;
};

Real pair(const PairArguments& a) {
  Real squares = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) {
    const Real difference = a.query[d] - a.key[d];
    squares += difference * difference;
  }
  return -squares / 2 * factor(*a.options, a.sizes.query_width);
}

} // namespace

extern const ScoreInfo score_gaussian{
    .about = {.name = "gaussian",
              .summary = "s(q, k) = -|q - k|^2 / (2 b^2), b the bandwidth",
              .paper = "Tsai et al. 2019, arXiv 1908.11775 (attention as a kernel smoother, RBF kernel)",
              .equals = "scaled_dot under a softmax if all keys have the same norm",
              .cost = "no parameters; 2 (d + 2) operations for each pair",
              .options = table().options()},
    .equal_widths = true,
    .make = [](const Scope&, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Gaussian>(factor(options, sizes.query_width));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
