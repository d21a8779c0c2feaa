// The formulas of a configuration (score_mod, mask_mod) as part of a layer: their compiled program and their
// parameters.
#pragma once

#include "autograd/score_formula.hpp"
#include "layers/attention/formula/program.hpp"
#include "layers/attention/score.hpp"
#include "layers/layer_options.hpp"
#include "layers/module.hpp"

#include <memory>
#include <vector>

namespace heed::HEED_REAL {

/// attention.score_mod and attention.mask_mod (in cross attention: cross_score_mod and cross_mask_mod) with
/// attention.parameters: scores s become f(s), and pairs may be masked.
class AttentionFormula {
public:
  /// Returns null if the options have neither formula. Learned parameters get their names of the configuration, within
  /// the scope; those that only other formulas use are not made. Throws heed::Failed with the location of a mistake.
  static std::unique_ptr<AttentionFormula> make(const Scope& scope, const AttentionOptions& options,
                                                const ScoreSizes& sizes);

  /// The formula for one attention, in the tape's memory. This object must live until the backward pass is done.
  ScoreFormula* on(Pass& pass, const FormulaSizes& sizes) const;

private:
  struct Numbers {
    Shape shape; // [heads or 1, numbers of each]
    std::vector<Real> fixed;
    std::optional<ParameterId> learned;
  };

  FormulaProgram program_;
  std::vector<Numbers> parameters_;
};

} // namespace heed::HEED_REAL
