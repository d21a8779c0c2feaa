// The interface of feature maps, which a recurrence applies to queries and keys. Each map is one file in features/,
// registered like scores.
#pragma once

#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// A feature map with its parameters.
class Feature {
public:
  virtual ~Feature() = default;
  /// x [B, heads, T, width] to [B, heads, T, output width].
  virtual Tensor operator()(Pass& pass, const Tensor& x) const = 0;
};

struct FeatureSizes {
  std::int64_t heads = 1, width = 0;
};

struct FeatureInfo {
  Variant about;
  /// The width of the features of vectors of this width.
  RequiredFunction<std::int64_t(std::int64_t width)> output_width;
  RequiredFunction<std::unique_ptr<Feature>(const Scope& scope, const FeatureSizes& sizes)> make;
  /// The features of one vector of a head in plain loops, for tests. `parameters`: the map's own, in the order in which
  /// it added them.
  RequiredFunction<std::vector<double>(const std::vector<double>& x, std::int64_t head,
                                       const std::vector<const Real*>& parameters)>
      row;
};

/// All registered maps, in Meson's order (generated).
std::span<const FeatureInfo* const> features();
const FeatureInfo& feature_info(const std::string& name);

/// A map without parameters.
template <Tensor (*function)(const Tensor&)> class PlainFeature final : public Feature {
public:
  static std::unique_ptr<Feature> make(const Scope&, const FeatureSizes&) { return std::make_unique<PlainFeature>(); }
  Tensor operator()(Pass&, const Tensor& x) const override { return function(x); }
};

/// A function of each number, for `FeatureInfo::row`.
template <double (*function)(double)>
std::vector<double> each_number(const std::vector<double>& x, std::int64_t, const std::vector<const Real*>&) {
  std::vector<double> y;
  for (const double value : x) y.push_back(function(value));
  return y;
}

} // namespace heed::HEED_REAL
