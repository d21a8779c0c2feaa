// The parameters of formulas, [attention.parameters.NAME]: conversion from and to lines, and initial values.
#include "layers/attention/formula/formula.hpp"

#include "autograd/error.hpp"
#include "layers/attention/formula/program.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace heed {

std::string text_of(const FormulaParameter& p) {
  return fmt::format("{}: per = {}, learned = {}, size = {}, furthest = {}, start = {}", p.name, p.per, p.learned,
                     p.size, p.furthest, p.start);
}

std::optional<FormulaParameter> formula_parameter(std::string_view line) {
  FormulaParameter out;
  const auto until = [&](std::string_view sign) -> std::optional<std::string_view> {
    const std::size_t end = line.find(sign);
    if (end == std::string_view::npos) return {};
    const std::string_view part = line.substr(0, end);
    line.remove_prefix(end + sign.size());
    return part;
  };
  const auto whole = [](std::string_view text, std::int64_t& to) {
    return std::from_chars(text.data(), text.data() + text.size(), to).ptr == text.data() + text.size();
  };
  const auto name = until(": per = "), per = until(", learned = "), learned = until(", size = "),
             size = until(", furthest = "), furthest = until(", start = ");
  if (!name || !per || !learned || !size || !furthest || !whole(*size, out.size) || !whole(*furthest, out.furthest))
    return {};
  out.name = *name;
  out.per = *per;
  out.learned = *learned == "true";
  out.start = line;
  return out;
}

std::vector<FormulaParameter> formula_parameters(const std::vector<std::string>& lines) {
  std::vector<FormulaParameter> out;
  for (const std::string& line : lines) {
    std::optional<FormulaParameter> p = formula_parameter(line);
    if (!p) throw Failed(fmt::format("[attention] parameters: '{}' is no parameter", line));
    out.push_back(std::move(*p));
  }
  return out;
}

std::string wrong_parameter(const FormulaParameter& p) {
  const std::string key = "attention.parameters." + p.name;
  if (!is_parameter_name(p.name))
    return fmt::format(
        "[{}] can't be a parameter's name: it must begin with a letter, continue with letters, digits and _, and be no "
        "word of the language",
        key);
  if (p.size > 0 && p.by_distance())
    return fmt::format("{}.size makes a list, which needs per = one or head; per = {} has a value for each distance, "
                       "up to {}.furthest",
                       key, p.per, key);
  if (p.size > 0 && p.by_position())
    return fmt::format("{}.size does nothing: per = {} has a value for each position, up to {}.furthest; leave it out",
                       key, p.per, key);
  if (p.furthest > 0 && !p.by_distance() && !p.by_position())
    return fmt::format("{}.furthest does nothing: with {}.per = {}, there are no distances", key, key, p.per);
  const ReadFormula start = read_formula(p.start, FormulaKind::start, {}, &p);
  if (!start.formula) return fmt::format("{}.start: {}", key, start.mistake.shown(p.start));
  if (const FormulaAxis axis = axis_of(*start.formula); axis != FormulaAxis::head && axis != FormulaAxis::distance)
    return fmt::format("{}.start must be a formula of the distance i - j, not of i or j in another way", key);
  return "";
}

std::int64_t numbers_of_each(const FormulaParameter& p, std::int64_t longest) {
  if (!p.by_distance() && !p.by_position()) return std::max<std::int64_t>(p.size, 1);
  if (p.furthest == 0 && longest == 0)
    throw Failed(fmt::format("[attention] the largest {} of the parameter '{}' is not known here: set "
                             "attention.parameters.{}.furthest",
                             p.by_distance() ? "distance" : "position", p.name, p.name));
  const std::int64_t furthest = p.furthest ? p.furthest : longest - 1;
  return p.by_distance() ? 2 * furthest + 1 : furthest + 1;
}

std::vector<double> starting_numbers(const FormulaParameter& p, std::int64_t heads, std::int64_t width,
                                     std::int64_t longest) {
  const ReadFormula start = read_formula(p.start, FormulaKind::start, {}, &p);
  if (!start.formula)
    throw Failed(fmt::format("attention.parameters.{}.start: {}", p.name, start.mistake.shown(p.start)));
  const std::int64_t each = numbers_of_each(p, longest), middle = each / 2;
  std::vector<double> out;
  for (std::int64_t h = 0; h < (p.by_head() ? heads : 1); ++h)
    for (std::int64_t n = 0; n < each; ++n) {
      FormulaPair pair{.h = static_cast<double>(h),
                       .heads = static_cast<double>(heads),
                       .width = static_cast<double>(width),
                       .n = static_cast<double>(n)};
      if (p.by_distance()) pair.j = static_cast<double>(n - middle);
      out.push_back(evaluate(*start.formula, pair));
      if (!std::isfinite(out.back()))
        throw Failed(fmt::format("attention.parameters.{}.start is {} for head {}, number {}", p.name, out.back(), h,
                                 n));
    }
  return out;
}

std::string FormulaMistake::shown(std::string_view text) const {
  std::string line(text), under;
  for (char& c : line)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  // A multi-byte character takes one column.
  for (std::size_t k = 0; k < column && k < line.size(); ++k)
    if ((static_cast<unsigned char>(line[k]) & 0xc0) != 0x80) under += ' ';
  return fmt::format("{}\n    {}\n    {}^", what, line, under);
}

} // namespace heed
