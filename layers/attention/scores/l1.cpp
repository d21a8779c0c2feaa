#include "layers/attention/score.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double scale = 0.0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("scale", &Options::scale, "factor of the distances").at_least(0).default_means("0: 1 / sqrt(d)"));
  return t;
}

Real factor(const OptionValues& values, std::int64_t width) {
  const double scale = table().read(values).scale;
  return static_cast<Real>(scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(width)));
}

class L1 : public Score {
public:
  explicit L1(Real factor) : factor_(factor) {}

  ScoreForm form(Pass&, const Tensor& queries, const Tensor& keys) const override {
    return DistanceForm{queries, keys, factor_};
  }

private:
  Real factor_;
};

Real pair(const PairArguments& a) {
  Real total = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) total += std::abs(a.query[d] - a.key[d]);
  return -total * factor(*a.options, a.sizes.query_width);
}

} // namespace

extern const ScoreInfo score_l1{
    .about = {.name = "l1",
              .summary = "s(q, k) = -c sum_d |q_d - k_d|: the Manhattan distance",
              .paper = "Brannvall 2023, arXiv 2310.02041 (the distance of its inhibitor attention)",
              .cost = "no parameters; 3 d operations for each pair",
              .options = table().options()},
    .equal_widths = true,
    .make = [](const Scope&, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<L1>(factor(options, sizes.query_width));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
