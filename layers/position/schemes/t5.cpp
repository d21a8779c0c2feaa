#include "autograd/ops.hpp"
#include "autograd/relative.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t buckets = 32, furthest = 128;
  bool both_sides = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("buckets", &Options::buckets, "number of values of a head; half of them are for one distance each")
          .between(4, 65536),
      option("furthest", &Options::furthest, "the distance from which all larger distances share the last value")
          .above(1)
          .at_most(1048576)
          .unit("positions"),
      option("both_sides", &Options::both_sides,
             "bidirectional: half of the buckets are for later keys; if false, later keys share bucket 0"));
  return t;
}

/// The bucket of a distance, among the `n` buckets of one side. The first half of the buckets has one distance each;
/// the other half covers logarithmically equal ranges up to `furthest`. As in the authors' code, near distances have
/// their own buckets, whatever `furthest` is. If `furthest` is within that half, the authors' logarithm is undefined;
/// here all other distances share the last bucket.
std::int64_t bucket_of(std::int64_t distance, std::int64_t n, std::int64_t furthest) {
  const std::int64_t exact = n / 2;
  if (distance < exact) return distance;
  if (distance >= furthest) return n - 1;
  const double share = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(furthest) / static_cast<double>(exact));
  return std::min(n - 1, exact + static_cast<std::int64_t>(share * static_cast<double>(n - exact)));
}
std::int64_t buckets_on_a_side(const Options& o) { return o.both_sides ? o.buckets / 2 : o.buckets; }

/// The bucket of the signed distance from query to key (negative: earlier key).
std::int64_t bucket_of(std::int64_t distance, const Options& o) {
  if (!o.both_sides) return bucket_of(std::max<std::int64_t>(-distance, 0), o.buckets, o.furthest);
  const std::int64_t half = buckets_on_a_side(o);
  return bucket_of(std::abs(distance), half, o.furthest) + (distance > 0 ? half : 0);
}

class T5 : public RelativePosition {
public:
  T5(const Scope& scope, const RelativeSizes& sizes, const Options& options)
      : options_(options), heads_(sizes.heads),
        bias_(scope.no_decay("bias", {options.buckets, sizes.heads}, Init::zeros())) {}

  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override {
    // From this distance on, all distances share one bucket.
    const std::int64_t last = std::max(options_.furthest, buckets_on_a_side(options_) / 2);
    const std::int64_t furthest = std::min(std::max(keys, queries.shape[2] + mask.offset) - 1, last);
    const std::int64_t n = 2 * furthest + 1;
    auto* buckets = pass.tape().keep<std::int32_t>(n);
    for (std::int64_t d = -furthest; d <= furthest; ++d)
      buckets[d + furthest] = static_cast<std::int32_t>(bucket_of(d, options_));
    const Tensor numbers = contiguous(transpose(embedding(pass(bias_), buckets, {n})));
    return bias_by_distance(reshape(numbers, {1, heads_, 1, n}), mask.offset);
  }

private:
  Options options_;
  std::int64_t heads_;
  ParameterId bias_;
};

RelativeBias pair(const RelativeArguments& a) {
  RelativeBias out;
  out.score = a.parameters[0][bucket_of(a.distance, table().read(*a.options)) * a.sizes.heads + a.head];
  return out;
}

} // namespace

extern const PositionInfo position_t5{
    .about = {.name = "t5",
              .summary = "a learned value for each head and bucket of distances is added to the score: each near "
                         "distance has its own bucket, far distances share buckets of logarithmic size",
              .paper = "Raffel et al. 2020, arXiv 1910.10683, section 2.1",
              .equals = "none if all values are 0, as they are initially",
              .cost = "an addition for each pair; buckets parameters for each head",
              .options = table().options(),
              .disables = {"position.combine", "position.width", "position.concat", "init.position"}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope& scope, const RelativeSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<T5>(scope, sizes, table().read(options)); },
    .pair = pair};

} // namespace heed::HEED_REAL
