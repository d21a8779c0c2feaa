// A linear map that may be the product of two.
#pragma once

#include "layers/linear.hpp"

#include <cstdint>
#include <optional>

namespace heed::HEED_REAL {

/// y = W x + b, or W_2 W_1 x + b with W_1 [rank, in].
class LowRankLinear {
public:
  /// @param low, map  the scopes of W_1 and of the last map
  /// @param rank      0: there is no W_1
  /// @param bias      of the last map, as in Linear: is there one, or how it starts
  template <class Bias>
  LowRankLinear(const Scope& low, const Scope& map, std::int64_t in, std::int64_t rank, std::int64_t out,
                const Bias& bias)
      : low_(rank > 0 ? std::optional<Linear>(std::in_place, low, in, rank, false) : std::nullopt),
        map_(map, rank > 0 ? rank : in, out, bias) {}

  Tensor operator()(Pass& pass, const Tensor& x) const { return map_(pass, low_ ? (*low_)(pass, x) : x); }

private:
  std::optional<Linear> low_;
  Linear map_;
};

} // namespace heed::HEED_REAL
