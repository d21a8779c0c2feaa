#include "layers/attention/projection.hpp"
#include "layers/mixers/decay.hpp"
#include "layers/mixers/low_rank_linear.hpp"
#include "layers/attention/heads.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string by = "channel";
  std::int64_t low_rank = 0;
  double temperature = 1;
  bool bias = true;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("by", &Options::by, "each channel of the keys decays by itself, or a head's state as a whole")
          .one_of({"channel", "head"}),
      option("low_rank", &Options::low_rank, "W is the product of two matrices of this rank")
          .between(0, 65536)
          .unit("features")
          .default_means("0: one matrix"),
      option("temperature", &Options::temperature, "log f is divided by it, so that f is nearer to 1").above(0),
      option("bias", &Options::bias, "W x has a bias, which starts at 0"));
  return t;
}

class LogSigmoid final : public Decay {
public:
  LogSigmoid(const Scope& scope, const DecaySizes& sizes, const Options& options)
      : heads_(sizes.heads), factor_(static_cast<Real>(1 / options.temperature)) {
    const std::int64_t out = sizes.heads * (options.by == "channel" ? sizes.width : 1);
    const auto make = [&](const auto& bias) {
      map_.emplace(scope / "low_rank", scope / "gate", sizes.model_width, options.low_rank, out, bias);
    };
    if (options.bias) make(Init::zeros());
    else make(false);
  }
  Decayed operator()(Pass& pass, const Tensor& x) const override {
    const Tensor gates = log_sigmoid((*map_)(pass, x));
    return {.log_decay = split_heads(factor_ == 1 ? gates : scale(gates, factor_), heads_)};
  }

private:
  std::int64_t heads_;
  Real factor_;
  std::optional<LowRankLinear> map_;
};

DecayRow row(const Real* x, const DecaySizes& sizes, const std::vector<const Real*>& parameters,
             const OptionValues& values) {
  const Options options = table().read(values);
  const std::int64_t each = options.by == "channel" ? sizes.width : 1, out = sizes.heads * each;
  std::vector<Real> in(x, x + sizes.model_width);
  std::size_t next = 0;
  if (options.low_rank > 0) in = affine_row(in.data(), std::ssize(in), options.low_rank, parameters[next++], nullptr);
  const Real* const weight = parameters[next++];
  const std::vector<Real> gates = affine_row(in.data(), std::ssize(in), out, weight,
                                             options.bias ? parameters[next] : nullptr);
  DecayRow decays;
  for (std::int64_t h = 0; h < sizes.heads; ++h)
    for (std::int64_t d = 0; d < sizes.width; ++d) {
      const auto gate = static_cast<double>(gates[static_cast<std::size_t>(h * each + (each == 1 ? 0 : d))]);
      decays.log_decay.push_back(-std::log1p(std::exp(-gate)) / options.temperature);
    }
  return decays;
}

} // namespace

extern const DecayInfo decay_log_sigmoid{
    .about = {.name = "log_sigmoid",
              .summary = "f = sigmoid(W x + b)^(1 / temperature), by channel of the keys or by head",
              .paper = "Yang et al. 2023, arXiv 2312.06635 (gated linear attention); Qin et al. 2024, arXiv 2404.07904 "
                       "(HGRN2)",
              .cost = "W, of low rank or full; an exponential and a logarithm for each channel and token",
              .options = table().options()},
    .make = [](const Scope& scope, const DecaySizes& sizes, const OptionValues& options) -> std::unique_ptr<Decay> {
      return std::make_unique<LogSigmoid>(scope, sizes, table().read(options));
    },
    .row = row,
    .is_by_channel = [](const OptionValues& options) { return table().read(options).by == "channel"; }};

} // namespace heed::HEED_REAL
