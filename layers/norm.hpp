// The interface of norms over each position's vector. Each norm is one file in norms/, registered like scores.
#pragma once

#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// A norm over the last axis, with its parameters.
class Norm {
public:
  virtual ~Norm() = default;
  /// x [..., width]; the result has x's shape.
  virtual Tensor operator()(Pass& pass, const Tensor& x) const = 0;
};

/// What a norm is made for.
struct NormSizes {
  std::int64_t width = 0;
  bool bias = true; ///< has it a bias, if the kind of norm can have one?
};

struct NormInfo {
  Variant about;
  /// Adds the norm's parameters to the scope.
  RequiredFunction<std::unique_ptr<Norm>(const Scope& scope, const NormSizes& sizes, const OptionValues& options)> make;
  /// The norm of one vector in plain loops, for tests. `parameters`: the norm's own, in the order in which it added
  /// them; the bias is missing if the norm has none.
  RequiredFunction<void(const Real* x, Real* y, const NormSizes& sizes, const std::vector<const Real*>& parameters,
                        const OptionValues& options)>
      row;
};

/// All registered norms, in Meson's order (generated).
std::span<const NormInfo* const> norms();
const NormInfo& norm_info(const std::string& name);

/// The norm of this kind, a word of [block] norm_kind.
std::unique_ptr<Norm> make_norm(const Scope& scope, const std::string& kind, const NormSizes& sizes,
                                const OptionValues& options = {});

} // namespace heed::HEED_REAL
