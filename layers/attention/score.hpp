// Score functions: how well a query and a key go together.
//
// A score is one file in scores/ and its word in layers/meson.build. The file holds its options, its computation and
// its info record; everything else finds it through the table that Meson generates.
#pragma once

#include "autograd/attention.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// What a score is made for.
struct ScoreShape {
  std::int64_t heads = 1;
  std::int64_t query_width = 0; ///< of one head
  std::int64_t key_width = 0;   ///< of one head
  std::int64_t longest = 0;     ///< most keys that there will ever be; 0: not known
};

/// Keys or values [B, Hk, Tk, D], whose heads several heads share, for each of these: [B, heads, Tk, D].
Tensor for_each_head(const Tensor& x, std::int64_t heads);

/// The same form with its matrices applied; any other form as it is.
ScoreForm projected(const ScoreForm& form);

/// The scores of a form, composed from operations: [B, H, Tq, Tk]. Throws heed::Failed where there is no form.
Tensor compose(const ScoreForm& form);

struct AttentionAlgorithm;

/// A score function with its parameters. It gives its form, and streams; or, where it has neither form, computes its
/// scores itself. queries [B, H, Tq, Dq], keys [B, H, Tk, Dk]; a form's keys may have fewer heads, which share them.
class Score {
public:
  virtual ~Score() = default;
  /// A way to compute attention that is this score's own, asked before those that serve any score; null: none.
  virtual const AttentionAlgorithm* algorithm() const { return nullptr; }
  virtual ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const;
  /// [B, H, Tq, Tk]: entry (i, j) is s(q_i, k_j). Composed from the form where a score has one.
  virtual Tensor operator()(Pass& pass, const Tensor& queries, const Tensor& keys) const;
};

/// The score of one pair in plain loops, written without the engine: what tests compare the computation with.
/// `parameters` are the score's own, in the order in which it added them.
struct PairArguments {
  const Real* query;
  const Real* key;
  ScoreShape shape;
  std::int64_t head;
  std::vector<const Real*> parameters;
  const OptionValues* options;
  std::int64_t key_position = 0; ///< which key it is
};

struct ScoreInfo {
  Variant about;
  /// Must queries and keys be of one width?
  bool equal_widths;
  /// Adds its parameters to the scope. Throws heed::Failed where the shape does not suit it.
  std::unique_ptr<Score> (*make)(const Scope& scope, const ScoreShape& shape, const OptionValues& options);
  Real (*pair)(const PairArguments& arguments);
};

/// All registered scores, in Meson's order (generated).
std::span<const ScoreInfo* const> scores();
/// The score of that name; heed::Failed lists the names if there is none.
const ScoreInfo& score_info(const std::string& name);

} // namespace heed::HEED_REAL
