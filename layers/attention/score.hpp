// The interface of score functions s(q, k), which rate how well a query and a key match.
//
// A score is one file in scores/ and its name in layers/meson.build. The file has the score's options, computation and
// info record. All other code finds it through the table that Meson generates.
#pragma once

#include "autograd/attention.hpp"
#include "layers/attention/heads.hpp"
#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// The sizes that a score is made for.
struct ScoreSizes {
  std::int64_t heads = 1;
  std::int64_t query_width = 0; ///< of one head
  std::int64_t key_width = 0;   ///< of one head
  std::int64_t longest = 0;     ///< upper bound on the number of keys; 0: unknown
  std::int64_t trained = 0;     ///< greatest number of keys in training; 0: `longest`
  /// For formulas: an upper bound on the number of queries, if there may be more queries than keys; the index of the
  /// block in its stack; the number of patches in a row of an image (0: there are no patches)
  std::int64_t longest_queries = 0, layer = 0, patches_in_row = 0;
};

/// Applies the matrices of a form; returns any other form unchanged.
ScoreForm projected(const ScoreForm& form);

/// The scores of a form, composed from operations: [B, H, Tq, Tk]. Throws heed::Failed if there is no form.
Tensor compose(const ScoreForm& form);

struct AttentionAlgorithm;

/// A score function with its parameters. If it has a form, attention can stream. Otherwise it computes its scores
/// itself. queries [B, H, Tq, Dq], keys [B, H, Tk, Dk]; a form's keys may have fewer heads, which the query heads
/// share.
class Score {
public:
  virtual ~Score() = default;
  /// An algorithm of this score's own for attention, tried before the algorithms that serve any score; null: none.
  virtual const AttentionAlgorithm* algorithm() const { return nullptr; }
  virtual ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const;
  /// [B, H, Tq, Tk]: entry (i, j) is s(q_i, k_j). Composed from the form if the score has one.
  virtual Tensor operator()(Pass& pass, const Tensor& queries, const Tensor& keys) const;
};

/// The arguments of `pair`, the score of one pair in plain loops without the engine: the tests' reference. `parameters`
/// are the score's own, in the order in which it added them.
struct PairArguments {
  const Real* query;
  const Real* key;
  ScoreSizes sizes;
  std::int64_t head;
  std::vector<const Real*> parameters;
  const OptionValues* options;
  std::int64_t key_position = 0; ///< index of the key
};

struct ScoreInfo {
  Variant about;
  /// Must queries and keys have the same width?
  bool equal_widths;
  /// Adds the score's parameters to the scope. Throws heed::Failed if the sizes are not supported.
  RequiredFunction<std::unique_ptr<Score>(const Scope& scope, const ScoreSizes& sizes, const OptionValues& options)>
      make;
  RequiredFunction<Real(const PairArguments& arguments)> pair;
};

/// All registered scores, in Meson's order (generated).
std::span<const ScoreInfo* const> scores();
/// The score with this name. Throws heed::Failed, which lists all names, if there is none.
const ScoreInfo& score_info(const std::string& name);

} // namespace heed::HEED_REAL
