#include "layers/attention/formula/attention_formula.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

std::optional<Formula> formula_of(const char* key, const std::string& text, FormulaKind kind,
                                  const std::vector<FormulaParameter>& parameters) {
  if (text.empty()) return {};
  ReadFormula read = read_formula(text, kind, parameters);
  if (!read.formula) throw Failed(fmt::format("[attention] {}: {}", key, read.mistake.shown(text)));
  return std::move(read.formula);
}

// The parameters that one of the formulas names.
std::vector<FormulaParameter> named_parameters(const AttentionOptions& options) {
  const std::vector<FormulaParameter> all = formula_parameters(options.parameters);
  const auto score = formula_of("score_mod", options.score_mod, FormulaKind::score, all),
             mask = formula_of("mask_mod", options.mask_mod, FormulaKind::mask, all);
  const auto names = [](const std::optional<Formula>& formula, std::size_t p) {
    return formula && std::ranges::count(use_of(*formula).parameters, static_cast<std::int32_t>(p)) > 0;
  };
  std::vector<FormulaParameter> out;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (names(score, p) || names(mask, p)) out.push_back(all[p]);
  return out;
}

} // namespace

std::unique_ptr<AttentionFormula> AttentionFormula::make(const Scope& scope, const AttentionOptions& options,
                                                         const ScoreSizes& sizes) {
  if (options.score_mod.empty() && options.mask_mod.empty()) return nullptr;
  for (const FormulaParameter& p : formula_parameters(options.parameters))
    if (const std::string wrong = wrong_parameter(p); !wrong.empty()) throw Failed(wrong);
  const std::vector<FormulaParameter> parameters = named_parameters(options);
  const auto score = formula_of("score_mod", options.score_mod, FormulaKind::score, parameters);
  const auto mask = formula_of("mask_mod", options.mask_mod, FormulaKind::mask, parameters);
  auto out = std::make_unique<AttentionFormula>();
  out->program_ = program_of(score ? &*score : nullptr, mask ? &*mask : nullptr, parameters,
                             {.layer = sizes.layer, .patches_in_row = sizes.patches_in_row});
  const std::int64_t heads = sizes.heads, width = sizes.query_width,
                     longest = sizes.longest > 0 ? std::max(sizes.longest, sizes.longest_queries) : 0;
  for (const FormulaParameter& p : parameters) {
    std::vector<double> start = starting_numbers(p, heads, width, longest);
    Numbers numbers{{p.by_head() ? heads : 1, numbers_of_each(p, longest)}, {}, {}};
    if (p.learned) numbers.learned = scope.no_decay(p.name, numbers.shape, Init::listed(std::move(start)));
    else numbers.fixed.assign(start.begin(), start.end());
    out->parameters_.push_back(std::move(numbers));
  }
  return out;
}

ScoreFormula* AttentionFormula::on(Pass& pass, const FormulaSizes& given) const {
  FormulaSizes sizes = given;
  const Pass::Options& options = pass.state().options;
  if (!options.sequences.empty()) sizes.sequences = options.sequences.data() + sizes.first_sequence;
  sizes.first_sequence += options.first_sequence;
  if (program_.segments && (!sizes.mask.query_segments.numbers || !sizes.mask.key_segments.numbers))
    throw Failed("[attention] a formula uses the segments of tokens, and there are none");
  Tape& tape = pass.tape();
  const auto count = static_cast<std::int64_t>(parameters_.size());
  auto* numbers = tape.keep<Tensor>(count);
  for (std::int64_t p = 0; p < count; ++p) {
    const Numbers& x = parameters_[static_cast<std::size_t>(p)];
    numbers[p] = x.learned ? pass(*x.learned) : tape.constant(x.fixed.data(), x.shape);
  }
  return keep_formula(tape, program_, {numbers, static_cast<std::size_t>(count)}, sizes);
}

} // namespace heed::HEED_REAL
