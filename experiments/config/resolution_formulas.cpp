// The formulas of each block, and their checks.
#include "experiments/config/dependencies.hpp"
#include "experiments/config/resolution.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

FormulaTexts formula_texts(const View& view) {
  const auto text = [&](const char* key) -> std::string {
    if (unmet_dependency(key, values_of(view))) return "";
    return std::get<std::string>(view.at(key).value);
  };
  return {text("attention.score_mod"), text("attention.mask_mod"), text("attention.cross_score_mod"),
          text("attention.cross_mask_mod")};
}

bool Resolution::uses_segments() const {
  return std::ranges::any_of(deciding_views(), [](const View* view) {
    return formulas_use_segments(view->parameters, formula_texts(*view));
  });
}

void Resolution::check_formulas() {
  std::vector<std::string> told; // problems that were reported; most blocks have the same ones
  each_block([&](const View& block) {
    const FormulaTexts texts = formula_texts(block);
    if (texts.none()) return;
    const bool causal = !unmet_dependency("attention.causal", values_of(block)) &&
                        std::get<bool>(block.at("attention.causal").value);
    const FormulaContext context{causal, std::get<std::string>(run.at("model.kind").value),
                                 std::get<std::string>(run.at(segment_end_key).value)};
    for (const FormulaProblem& problem : formula_problems(block.parameters, texts, context)) {
      const auto parameter = block.parameters.find(problem.key);
      // If the parameter has no setting of this option, use the origin of its first setting.
      const auto any = block.parameters.lower_bound(problem.key.substr(0, problem.key.rfind('.') + 1));
      const Origin& origin = parameter != block.parameters.end() ? parameter->second.origin
                             : parameter_option(problem.key)     ? any->second.origin
                                                                 : block.at(problem.key).origin;
      std::string line = fmt::format("{}: {}", origin.text(), problem.what);
      if (std::ranges::find(told, line) != told.end()) continue;
      problems.add(line);
      told.push_back(std::move(line));
    }
  });
}

} // namespace heed
