// Attention formulas in a configuration: the tables [attention.parameters.NAME], whose names the user chooses, and the
// checks of formulas and parameters.
#include "experiments/config/catalogue.hpp"

#include "experiments/config/values.hpp"
#include "layers/attention/formula/formula.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {
namespace {

constexpr std::string_view prefix = formula_parameters_prefix;

// clang-format off
const OptionTable<FormulaParameter>& fields() {
  using P = FormulaParameter;
  static const OptionTable<P> table(
      option("per", &P::per,
             "What has a value of its own: one value for all, or one for each head, for each distance i - j, for each "
             "position (NAME[i] or NAME[j]), or for each head and distance or position.")
          .one_of({"one", "head", "distance", "head_and_distance", "position", "head_and_position"}),
      option("start", &P::start,
             "The initial value, as a formula of heads and width, of h (per head), i - j (per distance) or n (in a "
             "list, or per position).")
          .formula_like("2 ^ (-8 * (h + 1) / heads)"),
      option("learned", &P::learned, "The parameter is trained. If false, it stays at its initial value."),
      option("size", &P::size,
             "Length of the parameter if it is a list. Formulas use its values by index: NAME[0] is the first.")
          .between(0, 1e6).unit("numbers").default_means("0: a single value"),
      option("furthest", &P::furthest,
             "Per distance: the largest distance with a value of its own, on either side. Larger distances share this "
             "value. Per position: the same for the largest position, counted from 0.")
          .between(0, 1e6).unit("positions").default_means("0: the largest in training"));
  return table;
}
// clang-format on

/// "slope" for "attention.parameters.slope.start"; empty if the key is not of this form.
std::string_view name_in(std::string_view key) {
  if (!key.starts_with(prefix)) return {};
  key.remove_prefix(prefix.size());
  return key.substr(0, key.find('.'));
}

/// All parameters that are set, with the defaults of the options that are not.
std::vector<FormulaParameter> declared(const ParameterSettings& set) {
  std::map<std::string, OptionValues, std::less<>> tables;
  for (const auto& [key, setting] : set) {
    const std::string name(name_in(key));
    tables[name][key.substr(prefix.size() + name.size() + 1)] = setting.value;
  }
  std::vector<FormulaParameter> out;
  for (const auto& [name, values] : tables) {
    out.push_back(fields().read(values));
    out.back().name = name;
  }
  return out;
}

/// The reasons why names do not exist in self attention.
FormulaSite site_of(const FormulaContext& context) {
  FormulaSite out;
  const bool images = context.model == "patches";
  if (images) out.segments = "needs tokens, and the model 'patches' reads images";
  else if (context.segment_end.empty())
    out.segments = "needs model.segment_end: the text that ends a segment, such as \"\\n\\n\" between documents";
  if (!images)
    out.patches = fmt::format("needs the patches of images (model.kind = \"patches\"), and model.kind is '{}'",
                              context.model);
  return out;
}

/// A formula of a block: its option, its text, what it is, and its reading.
struct OneFormula {
  const char* key;
  const std::string& text;
  FormulaKind kind;
  bool cross;
  ReadFormula read{}; ///< without formula and without error if the text is empty
};

struct Read {
  std::vector<FormulaParameter> parameters;
  std::vector<OneFormula> formulas;

  Read(const ParameterSettings& set, const FormulaTexts& texts, const FormulaSite& site = {})
      : parameters(declared(set)), formulas{
                                       {"attention.score_mod", texts.score_mod, FormulaKind::score, false},
                                       {"attention.mask_mod", texts.mask_mod, FormulaKind::mask, false},
                                       {"attention.cross_score_mod", texts.cross_score_mod, FormulaKind::score, true},
                                       {"attention.cross_mask_mod", texts.cross_mask_mod, FormulaKind::mask, true}} {
    FormulaSite of_cross = site;
    of_cross.queries = "does not exist in cross attention: the length of the output is not known while it is written";
    for (OneFormula& f : formulas)
      if (!f.text.empty()) f.read = read_formula(f.text, f.kind, parameters, nullptr, f.cross ? of_cross : site);
  }
  bool failed() const {
    return std::ranges::any_of(formulas, [](const OneFormula& f) { return !f.read.mistake.what.empty(); });
  }
  static bool names(const OneFormula& f, std::size_t parameter) {
    return f.read.formula &&
           std::ranges::count(use_of(*f.read.formula).parameters, static_cast<std::int32_t>(parameter)) > 0;
  }
  /// True if a formula names the parameter. A formula that cannot be parsed may name any parameter.
  bool names(std::size_t parameter) const {
    return failed() || std::ranges::any_of(formulas, [&](const OneFormula& f) { return names(f, parameter); });
  }
  /// True if a formula names the parameter and gives it no gradient.
  bool gives_no_gradient(std::size_t parameter) const {
    return std::ranges::any_of(formulas, [&](const OneFormula& f) {
      return f.kind == FormulaKind::score && names(f, parameter) &&
             std::ranges::count(use_of(*f.read.formula).with_gradient, static_cast<std::int32_t>(parameter)) == 0;
    });
  }
};

std::string wrong_score(const Formula& formula) {
  const FormulaUse use = use_of(formula);
  if (!use.score) return "it doesn't contain s, so the score would have no effect; if you want this, write 0 * s + ...";
  if (formula.nodes.back().name == FormulaName::s) return "the formula s changes nothing; leave it out";
  return "";
}

std::string wrong_mask(const Formula& formula, bool causal) {
  const FormulaUse use = use_of(formula);
  if (!use.anything) return "it is the same for all queries and keys; use i or j in it";
  const FormulaNode& root = formula.nodes.back();
  const auto is = [&](std::int32_t node, FormulaName name) {
    return formula.nodes[static_cast<std::size_t>(node)].name == name;
  };
  if (causal && root.op == FormulaOp::less_equal && is(root.a, FormulaName::j) && is(root.b, FormulaName::i))
    return "attention.causal already hides every key that this mask hides; leave the mask out, or set attention.causal "
           "= false";
  return "";
}

} // namespace

const TableInfo& parameter_table() {
  static const TableInfo table{fmt::format("{}NAME", prefix), "A parameter that formulas use by its name",
                               fields().options(), nullptr};
  return table;
}

bool is_parameter_table(std::string_view table) {
  return table.starts_with(prefix) && is_parameter_name(table.substr(prefix.size()));
}

const Option* parameter_option(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  if (dot == std::string_view::npos || !is_parameter_table(key.substr(0, dot))) return nullptr;
  for (const Option& option : parameter_table().options)
    if (option.name == key.substr(dot + 1)) return &option;
  return nullptr;
}

std::string wrong_parameter_name(std::string_view table) {
  return wrong_parameter({.name = std::string(table.substr(std::min(table.size(), prefix.size())))});
}

std::vector<std::string> parameter_lines(const ParameterSettings& set, const FormulaTexts& texts) {
  std::vector<std::string> out;
  if (set.empty()) return out;
  const Read read(set, texts);
  for (std::size_t p = 0; p < read.parameters.size(); ++p)
    if (read.names(p)) out.push_back(text_of(read.parameters[p]));
  return out;
}

bool formulas_name(std::string_view key, const ParameterSettings& set, const FormulaTexts& texts) {
  const Read read(set, texts);
  for (std::size_t p = 0; p < read.parameters.size(); ++p)
    if (read.parameters[p].name == name_in(key)) return read.names(p);
  return false;
}

bool formulas_use_segments(const ParameterSettings& set, const FormulaTexts& texts) {
  const Read read(set, texts);
  return read.failed() || std::ranges::any_of(read.formulas, [](const OneFormula& f) {
           return f.read.formula && use_of(*f.read.formula).segments;
         });
}

std::vector<FormulaProblem> formula_problems(const ParameterSettings& set, const FormulaTexts& texts,
                                             const FormulaContext& context) {
  std::vector<FormulaProblem> out;
  const Read read(set, texts, site_of(context));
  for (const OneFormula& f : read.formulas) {
    if (f.text.empty()) continue;
    if (!f.read.formula) {
      out.push_back({f.key, fmt::format("{}: {}", f.key, f.read.mistake.shown(f.text))});
      continue;
    }
    const std::string what = f.kind == FormulaKind::score ? wrong_score(*f.read.formula)
                                                          : wrong_mask(*f.read.formula, context.causal && !f.cross);
    if (!what.empty()) out.push_back({f.key, fmt::format("{} is '{}': {}", f.key, f.text, what)});
  }
  for (std::size_t p = 0; p < read.parameters.size(); ++p) {
    const FormulaParameter& x = read.parameters[p];
    const std::string key = fmt::format("{}{}", prefix, x.name);
    if (const std::string what = wrong_parameter(x); !what.empty()) out.push_back({key + ".start", what});
    else if (x.learned && !read.failed() && read.gives_no_gradient(p))
      out.push_back({key + ".learned", fmt::format("{}.learned is true, but '{}' gets no gradient (comparisons, floor "
                                                   "and list indices have none): set {}.learned = false",
                                                   key, x.name, key)});
  }
  return out;
}

std::vector<WrittenParameter> written_parameters(const std::vector<std::string>& lines) {
  std::vector<WrittenParameter> out;
  for (const FormulaParameter& p : formula_parameters(lines)) {
    out.push_back({fmt::format("{}{}", prefix, p.name), {}});
    const std::vector<Value> values = fields().write_all(p);
    for (std::size_t i = 0; i < values.size(); ++i)
      out.back().options.emplace_back(&fields().options()[i], value_text(values[i]));
  }
  return out;
}

} // namespace heed
