// The linear maps to queries and keys, for projections whose values have none of their own.
#pragma once

#include "layers/attention/projection.hpp"

namespace heed::HEED_REAL {

struct QueryAndKey {
  Linear query, key; ///< named `query` and `key`

  QueryAndKey(const Scope& scope, const ProjectionSizes& sizes)
      : query(map(scope, "query", sizes.width, sizes.queries(), sizes)),
        key(map(scope, "key", sizes.source_width(), sizes.keys(), sizes)) {}

  /// The same in plain loops, for `ProjectionInfo::row`. The result has no value.
  static ProjectedRow row(const ProjectionArguments& a) {
    const ProjectionSizes& s = a.sizes;
    const auto& p = a.parameters;
    return {affine_row(a.x, s.width, s.queries(), p[0], s.bias ? p[1] : nullptr),
            affine_row(a.x, s.width, s.keys(), p[s.bias ? 2 : 1], s.bias ? p[3] : nullptr),
            {}};
  }

private:
  static Linear map(const Scope& scope, const char* name, std::int64_t in, std::int64_t out,
                    const ProjectionSizes& sizes) {
    return projection_map(scope, name, in, out, sizes.bias, sizes.queries() + sizes.keys());
  }
};

} // namespace heed::HEED_REAL
