#include "layers/attention/heads.hpp"
#include "layers/attention/projection.hpp"
#include "layers/mixers/decay.hpp"
#include "layers/mixers/low_rank_linear.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string by = "head", rank = "full", rates = "1..16";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("by", &Options::by, "a head's state decays as a whole, or each channel of the keys has its own step")
          .one_of({"head", "channel"}),
      option("rank", &Options::rank,
             "W is one matrix (full), or the product of two whose rank is the width of a head's values (head)")
          .one_of({"full", "head"}),
      option("rates", &Options::rates, "A starts at random, with equal probability of all numbers between these")
          .one_of({"1..16", "0.01..16"}));
  return t;
}

double start_between(double least, double uniform) { return std::log(least + (16 - least) * uniform); }
double from_one(double uniform) { return start_between(1, uniform); }
double from_almost_zero(double uniform) { return start_between(0.01, uniform); }

// The start of Mamba-2's code: a step of exp(U(log 1e-3, log 1e-1)), at least 1e-4, where W x is 0.
double start_of_step_bias(double uniform) {
  constexpr double shortest = 1e-3, longest = 1e-1, least = 1e-4;
  const double step = std::max(std::exp(std::log(shortest) + uniform * std::log(longest / shortest)), least);
  return step + std::log(-std::expm1(-step)); // the inverse of softplus
}

class Softplus final : public Decay {
public:
  Softplus(const Scope& scope, const DecaySizes& sizes, const Options& options)
      : heads_(sizes.heads), by_channel_(options.by == "channel"),
        map_(scope / "low_rank", scope / "step", sizes.model_width, options.rank == "head" ? sizes.value_width : 0,
             steps_of(sizes, options), false),
        bias_(scope.no_decay("step_bias", {steps_of(sizes, options)}, Init::of_uniform(start_of_step_bias))),
        log_rate_(scope.no_decay("log_rate", {sizes.heads},
                                 Init::of_uniform(options.rates == "1..16" ? from_one : from_almost_zero))) {}
  Decayed operator()(Pass& pass, const Tensor& x) const override {
    const Tensor step = scale(log_sigmoid(scale(add(map_(pass, x), pass(bias_)), -1)), -1), // softplus
        rate = scale(exp(pass(log_rate_)), -1);
    if (by_channel_) return {.log_decay = mul(split_heads(step, heads_), reshape(rate, {heads_, 1, 1}))};
    return {.log_decay = column_of_heads(mul(step, rate)), .step = column_of_heads(step)};
  }

private:
  static std::int64_t steps_of(const DecaySizes& sizes, const Options& options) {
    return sizes.heads * (options.by == "channel" ? sizes.width : 1);
  }

  std::int64_t heads_;
  bool by_channel_;
  LowRankLinear map_;
  ParameterId bias_, log_rate_;
};

DecayRow row(const Real* x, const DecaySizes& sizes, const std::vector<const Real*>& parameters,
             const OptionValues& values) {
  const Options options = table().read(values);
  const std::int64_t each = options.by == "channel" ? sizes.width : 1;
  std::vector<Real> in(x, x + sizes.model_width);
  const std::size_t first = options.rank == "head" ? 1 : 0;
  if (first == 1) in = affine_row(in.data(), std::ssize(in), sizes.value_width, parameters[0], nullptr);
  const std::vector<Real> mapped = affine_row(in.data(), std::ssize(in), sizes.heads * each, parameters[first],
                                              nullptr);
  const Real *const bias = parameters[first + 1], *const log_rate = parameters[first + 2];
  DecayRow out;
  for (std::int64_t h = 0; h < sizes.heads; ++h)
    for (std::int64_t d = 0; d < sizes.width; ++d) {
      const std::int64_t i = h * each + (each == 1 ? 0 : d);
      const double step = std::log1p(std::exp(static_cast<double>(mapped[static_cast<std::size_t>(i)] + bias[i])));
      if (options.by == "head" && d == 0) out.step.push_back(step);
      out.log_decay.push_back(-std::exp(static_cast<double>(log_rate[h])) * step);
    }
  return out;
}

} // namespace

extern const DecayInfo decay_softplus{
    .about = {.name = "softplus",
              .summary = "exp(-A s) with the step s = softplus(W x + b) of each token and head, or of each channel of "
                         "the keys, and a learned A > 0 of each head",
              .paper = "Dao and Gu 2024, arXiv 2405.21060 (Mamba-2); Kimi Team 2025, arXiv 2510.26692 (by channel)",
              .cost = "(d + 2) parameters for each head; two exponentials and a logarithm for each token and head, or "
                      "channel",
              .options = table().options()},
    .make = [](const Scope& scope, const DecaySizes& sizes, const OptionValues& options) -> std::unique_ptr<Decay> {
      return std::make_unique<Softplus>(scope, sizes, table().read(options));
    },
    .row = row,
    .is_by_channel = [](const OptionValues& options) { return table().read(options).by == "channel"; },
    .has_step = true};

} // namespace heed::HEED_REAL
