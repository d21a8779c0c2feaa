#include "layers/mixers/decay.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string rates = "retention";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option(
          "rates", &Options::rates,
          "the decay of head h, from 0: 1 - 2^(-5 - h) (retention, Sun et al. 2023, arXiv 2307.08621), or exp(-s) "
          "with s = 2^(-8 (h + 1) / heads) (1 - l / (L - 1 + 1e-5) + 1e-5) in block l of L (lightning, as MiniMax-01, "
          "arXiv 2501.08313)")
          .one_of({"retention", "lightning"}));
  return t;
}

double log_decay(const Options& options, std::int64_t head, const DecaySizes& sizes) {
  const auto h = static_cast<double>(head);
  if (options.rates == "retention") return std::log1p(-std::exp2(-5 - h));
  constexpr double small = 1e-5; // of the paper's code: the last block's slope is not 0
  const double depth = static_cast<double>(sizes.layer) / (static_cast<double>(sizes.layers - 1) + small);
  return -std::exp2(-8 * (h + 1) / static_cast<double>(sizes.heads)) * (1 - depth + small);
}

class Constant final : public Decay {
public:
  Constant(const DecaySizes& sizes, const Options& options) {
    for (std::int64_t h = 0; h < sizes.heads; ++h) of_heads_.push_back(static_cast<Real>(log_decay(options, h, sizes)));
  }
  Decayed operator()(Pass& pass, const Tensor&) const override {
    return {.log_decay = pass.tape().constant(of_heads_.data(), {1, std::ssize(of_heads_), 1, 1})};
  }

private:
  std::vector<Real> of_heads_;
};

DecayRow row(const Real*, const DecaySizes& sizes, const std::vector<const Real*>&, const OptionValues& options) {
  DecayRow out;
  for (std::int64_t h = 0; h < sizes.heads; ++h)
    for (std::int64_t d = 0; d < sizes.width; ++d) out.log_decay.push_back(log_decay(table().read(options), h, sizes));
  return out;
}

} // namespace

extern const DecayInfo decay_constant{
    .about = {.name = "constant",
              .summary = "the same at every token, and different in each head: from fast to slow heads",
              .paper = "Sun et al. 2023, arXiv 2307.08621; Qin et al. 2024, arXiv 2401.04658",
              .cost = "none",
              .options = table().options()},
    .make = [](const Scope&, const DecaySizes& sizes, const OptionValues& options) -> std::unique_ptr<Decay> {
      return std::make_unique<Constant>(sizes, table().read(options));
    },
    .row = row};

} // namespace heed::HEED_REAL
