// A configuration's formulas in a layer: their program, and parameters of their own.
#pragma once

#include "autograd/score_formula.hpp"
#include "layers/attention/formula/program.hpp"
#include "layers/layer_options.hpp"
#include "layers/module.hpp"

#include <memory>
#include <vector>

namespace heed::HEED_REAL {

/// attention.score_mod and attention.mask_mod, with attention.parameters: scores s become f(s), and pairs are hidden.
class AttentionFormula {
public:
  /// Null where the options have neither. Learned parameters are named as in the configuration, in the scope. `longest`:
  /// most keys that there will ever be; 0: not known. Throws heed::Failed with the place of a mistake.
  static std::unique_ptr<AttentionFormula> make(const Scope& scope, const AttentionOptions& options, std::int64_t heads,
                                                std::int64_t width, std::int64_t longest);

  /// In the tape's memory, for one attention; this must live until the backward pass is done.
  ScoreFormula* on(Pass& pass, const FormulaShape& shape) const;

private:
  struct Numbers {
    Shape shape; // [heads or 1, how many]
    std::vector<Real> fixed;
    std::optional<ParameterId> learned;
  };

  FormulaProgram program_;
  std::vector<Numbers> parameters_;
};

} // namespace heed::HEED_REAL
