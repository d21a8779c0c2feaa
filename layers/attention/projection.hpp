// The interface of projections, which make queries, keys and values from vectors of tokens.
//
// A projection is one file in projections/ and its name in layers/meson.build, like a score.
#pragma once

#include "layers/layer_options.hpp"
#include "layers/linear.hpp"
#include "layers/position/relative.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// The sizes that a projection is made for. Widths are those of one head.
struct ProjectionSizes {
  std::int64_t width = 0;        ///< of the queries' tokens and of the attention's result
  std::int64_t memory_width = 0; ///< of the encoder output, for cross attention; 0: self attention
  std::int64_t heads = 1;        ///< of the result
  std::int64_t query_heads = 1, key_heads = 1, value_heads = 1;
  std::int64_t query_width = 0, value_width = 0; ///< of queries and keys; of values
  bool bias = true;
  std::int64_t registers = 0; ///< the first positions of a sequence, which have no position in the sense of schemes

  std::int64_t queries() const { return query_heads * query_width; }
  std::int64_t keys() const { return key_heads * query_width; }
  std::int64_t values() const { return value_heads * value_width; }
  std::int64_t source_width() const { return memory_width > 0 ? memory_width : width; }
};

/// From these vectors of some positions, [B, T, any width], a projection makes keys and values again.
struct StoredVectors {
  Tensor vectors{}, rotated{}; ///< the second tensor is empty if one is enough
};

/// Queries, keys and values of some positions: [B, T, heads * width] each.
struct Projected {
  Tensor q{}, k, v;
  StoredVectors stored{};
};

/// The projections before the heads, with their parameters. Parts of attention and
/// positional schemes act on their results.
class Projection {
public:
  virtual ~Projection() = default;
  /// Queries of x [B, T, width]. The first vector is at position `first` of its sequence (registers count).
  virtual Tensor queries(Pass& pass, const Tensor& x, std::int64_t first) const = 0;
  /// Keys and values of `source` [B, T, source_width()], which is x or the encoder output. The query may be empty.
  virtual Projected keys_and_values(Pass& pass, const Tensor& source, std::int64_t first) const = 0;
  /// Self attention: all three.
  virtual Projected of_self(Pass& pass, const Tensor& x, std::int64_t first) const;
  /// Does decoding store `Projected::stored` in place of keys and values?
  virtual bool stores_vectors() const { return false; }
  /// The keys and values of stored vectors.
  virtual Projected of_stored(Pass&, const StoredVectors&) const { return {}; }
};

/// The arguments of `row`: the vector of one position of self attention, and its number (negative: a register, which
/// has none). `parameters` are the projection's own, in the order in which it added them.
struct ProjectionArguments {
  const Real* x;
  std::int64_t position;
  ProjectionSizes sizes;
  std::vector<const Real*> parameters;
  const OptionValues* options;
};
/// Its query, key and value, with all heads.
struct ProjectedRow {
  std::vector<Real> q, k, v;
};

struct ProjectionInfo {
  Variant about;
  /// Adds the projection's parameters to the scope.
  RequiredFunction<std::unique_ptr<Projection>(const Scope& scope, const ProjectionSizes& sizes,
                                               const OptionValues& options)>
      make;
  /// The projections in plain loops without the engine: the tests' reference.
  RequiredFunction<ProjectedRow(const ProjectionArguments& arguments)> row;
  bool has_output = true; ///< does a linear map follow the heads?
  /// Why it can't be made for these sizes, as a sentence; empty: it can. Null: it always can.
  std::string (*wrong_sizes)(const ProjectionSizes& sizes, const OptionValues& options) = nullptr;
  /// In self attention, the features of each query and key in addition to those of attention.head_width; null: none.
  std::int64_t (*further_query_width)(const OptionValues& options) = nullptr;
};

/// All registered projections, in Meson's order (generated).
std::span<const ProjectionInfo* const> projections();
const ProjectionInfo& projection_info(const std::string& name);

/// A linear map to queries, keys or values. For initial values, `joint` is the number of outputs of all of them.
inline Linear projection_map(const Scope& scope, const char* name, std::int64_t in, std::int64_t out, bool bias,
                             std::int64_t joint) {
  return {scope / name, in, out, bias, Fans{.in = in, .out = scope.qkv_as_one() ? joint : out}};
}

/// For `row`: y = W x (+ b) in plain loops.
std::vector<Real> affine_row(const Real* x, std::int64_t in, std::int64_t out, const Real* weight, const Real* bias);

} // namespace heed::HEED_REAL
