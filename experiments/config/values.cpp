#include "experiments/config/values.hpp"

#include "experiments/config/registry.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

std::string real_text(double v) {
  std::string text = fmt::format("{}", v); // the shortest text that reads back as the same number
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <class T> std::string list_text(const std::vector<T>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + value_text(Value(list[i]));
  return out + "]";
}

std::string single(std::string_view text) { return fmt::format("'{}'", text); }

/// A bound in its usual spelling: 1e+12 unchanged, 65536 without a decimal point.
std::string bound_text(double v) { return fmt::format("{}", v); }

bool within(const Option& o, double v) {
  if (o.minimum && (v < *o.minimum || (o.minimum_excluded && v == *o.minimum))) return false;
  if (o.maximum && (v > *o.maximum || (o.maximum_excluded && v == *o.maximum))) return false;
  return true;
}

std::string wrong_number(const Option& o, std::string_view key, double v, const std::string& shown) {
  if (!std::isfinite(v)) return fmt::format("{} is {}; it must be a finite number", key, shown);
  if (!within(o, v)) return fmt::format("{} is {}; it must be {}", key, shown, bounds_in_words(o));
  return "";
}

std::string wrong_word(const Option& o, std::string_view key, const std::string& word) {
  for (const std::string& w : o.words)
    if (w == word) return "";
  return fmt::format("{} is {}; it must be {}{}", key, single(word), type_in_words(o), other_word(key, word, o.words));
}

/// Checks a value of the right type.
struct Check {
  const Option& option;
  std::string key;

  std::string operator()(bool) const { return ""; }
  std::string operator()(std::int64_t v) const {
    return wrong_number(option, key, static_cast<double>(v), fmt::format("{}", v));
  }
  std::string operator()(double v) const { return wrong_number(option, key, v, fmt::format("{}", v)); }
  std::string operator()(const std::string& v) const {
    return option.words.empty() ? wrong_text(key, v) : wrong_word(option, key, v);
  }
  std::string operator()(const WordOrNumber& v) const {
    return v.word.empty() ? (*this)(v.number) : wrong_word(option, key, v.word);
  }
  template <class T> std::string operator()(const std::vector<T>& list) const {
    const Check entry{option, "an entry of " + key};
    for (const T& v : list)
      if (std::string problem = entry(v); !problem.empty()) return problem;
    return "";
  }
};

/// For an option whose default is an empty list, which shows nothing: a list of two entries; empty for other options.
std::string list_example(const Option& option) {
  const auto within_bounds = [&](double v) {
    return std::clamp(v, option.minimum.value_or(v), option.maximum.value_or(v));
  };
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&option.default_value); v && v->empty())
    return fmt::format("[{}, {}]", static_cast<std::int64_t>(within_bounds(8)),
                       static_cast<std::int64_t>(within_bounds(16)));
  if (const auto* v = std::get_if<std::vector<std::string>>(&option.default_value); v && v->empty())
    return option.name == "validation_sets" ? "[\"long = long.tsv\"]" // the form of an entry is the mistake
           : option.words.empty()           ? "[\"...\", \"...\"]"
                                            : fmt::format("[\"{}\"]", option.words.front());
  return "";
}

bool names_metrics(std::string_view key) { return key == "report.metric" || key == "report.also"; }

std::string wrong_metrics(std::string_view key, const Value& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  for (const std::string& name : list ? *list : std::vector{std::get<std::string>(value)})
    if (const std::string why = wrong_metric(name); !why.empty())
      return fmt::format("{}{} is {}, {}", list ? "an entry of " : "", key, single(name), why);
  return "";
}

} // namespace

std::optional<unsigned> control_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (text.empty() || byte(0) == '\n' || byte(0) == '\t') return std::nullopt;
  if (byte(0) < 0x20 || byte(0) == 0x7f) return byte(0);
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return byte(1);
  return std::nullopt;
}

std::string wrong_text(std::string_view key, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (const auto control = control_character(text.substr(i)))
      return fmt::format("{} contains the control character U+{:04X}, which can't be shown; remove it", key, *control);
  return "";
}

bool is_command(char32_t c) {
  return (c < 0x20 && c != U'\n' && c != U'\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string without_controls(std::string_view text) {
  const auto plain = [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; };
  if (std::ranges::all_of(text, plain)) return std::string(text);
  std::string out;
  for (const char *p = text.data(), *end = p + text.size(); p != end;) {
    char32_t c = 0;
    const std::size_t size = decode_utf8(p, end, c);
    if (size == 0) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(*p));
    else if (!is_command(c)) out.append(p, size);
    else if (c < 0xa0) out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
    else out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    p += std::max<std::size_t>(size, 1);
  }
  return out;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += fmt::format("\\{}", c);
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += fmt::format("\\u{:04X}", c);
    else out += c;
  }
  return out + "\"";
}

std::string value_text(const Value& value) {
  struct Text {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return real_text(v); }
    std::string operator()(const std::string& v) const { return toml_string(v); }
    std::string operator()(const WordOrNumber& v) const {
      return v.word.empty() ? real_text(v.number) : toml_string(v.word);
    }
    std::string operator()(const std::vector<std::int64_t>& v) const { return list_text(v); }
    std::string operator()(const std::vector<double>& v) const { return list_text(v); }
    std::string operator()(const std::vector<std::string>& v) const { return list_text(v); }
  };
  return std::visit(Text{}, value);
}

std::string list_in_words(const std::vector<std::string>& words) {
  return joined(words, ", ", [](const std::string& word) { return single(word); });
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed) {
  const std::string near = nearest(word, allowed);
  return near.empty() ? "" : fmt::format("; did you mean {}?", single(near));
}

std::string type_in_words(const Option& o) {
  auto words = [&](std::string_view otherwise) {
    if (o.words.empty()) return std::string(otherwise);
    return (o.words.size() > 1 ? "one of " : "") + list_in_words(o.words);
  };
  switch (o.type) {
    case OptionType::boolean: return "true or false";
    case OptionType::integer: return "an integer";
    case OptionType::real: return "a number";
    case OptionType::text:
      return o.formula_like.empty() ? words("a text") : "a formula, such as " + toml_string(o.formula_like);
    case OptionType::word_or_number: return o.words.empty() ? "a number" : words("") + " or a number";
    case OptionType::integers: return "a list of integers";
    case OptionType::reals: return "a list of numbers";
    case OptionType::texts: return o.words.empty() ? "a list of texts" : "a list of any of " + list_in_words(o.words);
  }
  return "";
}

std::string bounds_in_words(const Option& o) {
  std::string out;
  if (o.minimum) out = fmt::format("{} {}", o.minimum_excluded ? "above" : "at least", bound_text(*o.minimum));
  if (o.maximum)
    out += fmt::format("{}{} {}", out.empty() ? "" : " and ", o.maximum_excluded ? "below" : "at most",
                       bound_text(*o.maximum));
  if (!out.empty() && !o.unit.empty()) out += fmt::format(" ({})", o.unit);
  return out;
}

std::string wrong_type(const Option& option, std::string_view key, std::string_view found) {
  const auto* text = std::get_if<std::string>(&option.default_value);
  if (const std::string list = list_example(option); !list.empty())
    return fmt::format("{} is {}; it must be {}, for example: {} = {}", key, found, type_in_words(option), option.name,
                       list);
  const std::string example = !option.formula_like.empty() ? toml_string(option.formula_like)
                              : text && text->empty()      ? "\"...\""
                                                           : value_text(option.default_value);
  const std::string must_be = option.formula_like.empty() ? type_in_words(option) : "a formula";
  return fmt::format("{} is {}; it must be {}, for example: {} = {}", key, found, must_be, option.name, example);
}

std::string wrong_value(const Option& option, std::string_view key, const Value& value) {
  if (option.of_tables) return fmt::format("{} is made of tables: write [{}.NAME]", key, key);
  if (value.index() != option.default_value.index()) return wrong_type(option, key, value_text(value));
  const std::string problem = std::visit(Check{option, std::string(key)}, value);
  return problem.empty() && names_metrics(key) ? wrong_metrics(key, value) : problem;
}

} // namespace heed
