#include "autograd/ops.hpp"
#include "autograd/relative.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string kernel = "logarithmic";
  std::string start = "logarithms";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("kernel", &Options::kernel,
                                                     "-a log(1 + b |i - j|), or -a |i - j|^b with b below 2")
                                                  .one_of({"logarithmic", "power"}),
                                              option("start", &Options::start,
                                                     "a and b start at random: logarithms (the logarithms of a and b "
                                                     "between -1 and 1; of the power kernel, b between 0.54 and "
                                                     "1.46), or uniform (a between 0 and 2, and b between 0 and 1, "
                                                     "both at least 0.01, as in the authors' code)")
                                                  .one_of({"logarithms", "uniform"})
                                                  .initial_value());
  return t;
}

/// The parameters of numbers that start uniform, at least `least`, for u in [0, 1): ln a, ln b, and the logit of b / 2.
constexpr double least = 0.01;
double uniform_amount(double u) { return std::log(std::max(2 * u, least)); }
double uniform_shape(double u) { return std::log(std::max(u, least)); }
double uniform_exponent(double u) { return std::log(std::max(u, least) / (2 - std::max(u, least))); }

/// The parameters are unconstrained: a = exp(amount) and, depending on the kernel, b = exp(shape) or b = 2
/// sigmoid(shape), so that a and b are always in the kernel's range.
class Kerple : public RelativePosition {
public:
  Kerple(const Scope& scope, const RelativeSizes& sizes, const Options& options)
      : power_(options.kernel == "power"), heads_(sizes.heads),
        amount_(scope.no_decay("amount", {sizes.heads, 1}, start(options, uniform_amount))),
        shape_(scope.no_decay("shape", {sizes.heads, 1}, start(options, power_ ? uniform_exponent : uniform_shape))) {}

  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override {
    const std::int64_t furthest = std::max(keys, queries.shape[2] + mask.offset) - 1, n = 2 * furthest + 1;
    // Distances or their logarithms. The logarithm of 0 is a very negative number, so that the power of 0 is 0.
    const Tensor distances = pass.tape().make({1, n});
    for (std::int64_t d = -furthest; d <= furthest; ++d) {
      const auto x = static_cast<double>(std::abs(d));
      distances.data[d + furthest] = static_cast<Real>(!power_ ? x : d == 0 ? lowest_logarithm : std::log(x));
    }
    const Tensor b = pass(shape_);
    const Tensor shapes = power_ ? exp(mul(scale(sigmoid(b), 2), distances)) : log(scale(mul(exp(b), distances), 1, 1));
    const Tensor numbers = scale(mul(exp(pass(amount_)), shapes), -1);
    return bias_by_distance(reshape(numbers, {1, heads_, 1, n}), mask.offset);
  }

private:
  static Init start(const Options& options, double (*uniform)(double)) {
    return options.start == "uniform" ? Init::of_uniform(uniform) : Init::uniform(1);
  }

  static constexpr double lowest_logarithm = -1e4;

  bool power_;
  std::int64_t heads_;
  ParameterId amount_, shape_;
};

RelativeBias pair(const RelativeArguments& a) {
  const double amount = std::exp(static_cast<double>(a.parameters[0][a.head])),
               sizes = static_cast<double>(a.parameters[1][a.head]),
               distance = static_cast<double>(std::abs(a.distance));
  RelativeBias out;
  const double kernel = table().read(*a.options).kernel == "power" ? std::pow(distance, 2 / (1 + std::exp(-sizes)))
                                                                   : std::log(1 + std::exp(sizes) * distance);
  out.score = static_cast<Real>(-amount * kernel);
  return out;
}

} // namespace

extern const PositionInfo position_kerple{
    .about = {.name = "kerple",
              .summary = "-a log(1 + b |i - j|) is added to the score, or -a |i - j|^b, with learned a and b for each "
                         "head",
              .paper = "Chi et al. 2022, arXiv 2205.09921",
              .equals = "alibi, with its slopes learned, for the power kernel with b = 1",
              .cost = "an addition for each pair; two parameters for each head",
              .options = table().options(),
              .disables = {"position.combine", "position.width", "position.concat", "init.position"}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope& scope, const RelativeSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<Kerple>(scope, sizes, table().read(options)); },
    .pair = pair};

} // namespace heed::HEED_REAL
