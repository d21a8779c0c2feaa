#include "autograd/relative.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t clip = 16;
  bool values = false;
};

const OptionTable<Options>& table() {
  static const auto t =
      option_table<Options>(option("clip", &Options::clip, "larger distances count as this distance")
                                .between(0, 1048576)
                                .unit("positions")
                                .default_means("0: the longest sequence in training; longer sequences are refused"),
                            option("values", &Options::values,
                                   "distances also have vectors that are added to values, not only vectors for keys"));
  return t;
}

std::int64_t clip_of(const Options& options, const RelativeSizes& sizes) {
  return options.clip ? options.clip : std::max<std::int64_t>(sizes.longest - 1, 1);
}

class Shaw : public RelativePosition {
public:
  Shaw(const Scope& scope, const RelativeSizes& sizes, const Options& options)
      : clip_(clip_of(options, sizes)), longest_(options.clip ? 0 : sizes.longest),
        factor_(static_cast<Real>(1 / std::sqrt(static_cast<double>(sizes.query_width)))),
        keys_(scope.position("keys", {2 * clip_ + 1, sizes.query_width})) {
    if (options.values) values_ = scope.position("values", {2 * clip_ + 1, sizes.value_width});
  }

  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override {
    const std::int64_t length = std::max(keys, queries.shape[2] + mask.offset);
    if (longest_ > 0 && length > longest_)
      throw Failed(fmt::format("[position] shaw without a clip has vectors for distances within {} positions, from "
                               "training's longest sequence, but {} are needed: set position.shaw.clip, and larger "
                               "distances share the vectors at its ends",
                               longest_, length));
    return bias_by_distance(matmul(scale(queries, factor_), transpose(pass(keys_))), mask.offset);
  }
  bool has_values() const override { return values_.has_value(); }
  Tensor values(Pass& pass, const Tensor& weights, const Mask& mask) const override {
    return matmul(sum_by_distance(weights, clip_, mask.offset), pass(*values_));
  }

private:
  std::int64_t clip_, longest_;
  Real factor_;
  ParameterId keys_;
  std::optional<ParameterId> values_;
};

RelativeBias pair(const RelativeArguments& a) {
  const std::int64_t clip = clip_of(table().read(*a.options), a.sizes);
  const std::int64_t row = std::clamp(a.distance, -clip, clip) + clip;
  RelativeBias out;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d)
    out.score += a.query[d] * a.parameters[0][row * a.sizes.query_width + d];
  out.score /= std::sqrt(static_cast<Real>(a.sizes.query_width));
  if (a.parameters.size() > 1) {
    const Real* value = a.parameters[1] + row * a.sizes.value_width;
    out.value.assign(value, value + a.sizes.value_width);
  }
  return out;
}

} // namespace

extern const PositionInfo position_shaw{
    .about = {.name = "shaw",
              .summary = "learned vectors for each distance, clipped, the same for all heads: q_i . a(j - i) / sqrt(d) "
                         "is added to the score (and b(j - i) to the value)",
              .paper = "Shaw, Uszkoreit and Vaswani 2018, arXiv 1803.02155",
              .equals = "the paper's with attention.score = \"scaled_dot\"; none with vectors of zeros",
              .cost = "(2 clip + 1) d parameters, twice with values; 2 d operations for each query and distance; "
                      "with values, attention runs in blocks of queries, twice in training",
              .options = table().options(),
              .disables = {"position.combine", "position.width", "position.concat"}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope& scope, const RelativeSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<Shaw>(scope, sizes, table().read(options)); },
    .pair = pair};

} // namespace heed::HEED_REAL
