#include "experiments/config/toml_values.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace heed {
namespace {

template <class T> std::optional<T> plain(const toml::node& node) {
  if constexpr (std::is_same_v<T, double>) {
    if (node.is_integer()) return static_cast<double>(node.as_integer()->get());
    if (node.is_floating_point()) return node.as_floating_point()->get();
    return std::nullopt;
  } else {
    const auto* value = node.as<T>();
    return value ? std::optional<T>(value->get()) : std::nullopt;
  }
}

template <class T> ReadValue read_plain(const Option& option, std::string_view key, const toml::node& node) {
  if (auto v = plain<T>(node)) return {Value(*v), ""};
  return {std::nullopt, wrong_type(option, key, node_in_words(node))};
}

template <class T> ReadValue read_list(const Option& option, std::string_view key, const toml::node& node) {
  const toml::array* array = node.as_array();
  if (!array) return {std::nullopt, wrong_type(option, key, node_in_words(node))};
  std::vector<T> out;
  for (const toml::node& entry : *array) {
    auto v = plain<T>(entry);
    if (!v) return {std::nullopt, wrong_type(option, key, "a list with " + node_in_words(entry))};
    out.push_back(*v);
  }
  return {Value(std::move(out)), ""};
}

ReadValue read_formula_text(const Option& option, std::string_view key, const toml::node& node) {
  if (auto number = plain<double>(node)) return {Value(fmt::format("{}", *number)), ""};
  return read_plain<std::string>(option, key, node);
}

ReadValue read_word_or_number(const Option& option, std::string_view key, const toml::node& node) {
  // The empty word would be taken for a number.
  if (auto word = plain<std::string>(node); word && !word->empty()) return {Value(WordOrNumber{*word, 0.0}), ""};
  if (auto number = plain<double>(node)) return {Value(WordOrNumber{"", *number}), ""};
  return {std::nullopt, wrong_type(option, key, node_in_words(node))};
}

ReadValue read_any(const Option& option, std::string_view key, const toml::node& node) {
  switch (option.type) {
    case OptionType::boolean: return read_plain<bool>(option, key, node);
    case OptionType::integer: return read_plain<std::int64_t>(option, key, node);
    case OptionType::real: return read_plain<double>(option, key, node);
    case OptionType::text:
      return option.formula_like.empty() ? read_plain<std::string>(option, key, node)
                                         : read_formula_text(option, key, node);
    case OptionType::word_or_number: return read_word_or_number(option, key, node);
    case OptionType::integers: return read_list<std::int64_t>(option, key, node);
    case OptionType::reals: return read_list<double>(option, key, node);
    case OptionType::texts: return read_list<std::string>(option, key, node);
  }
  return {};
}

ReadValue checked(const Option& option, std::string_view key, ReadValue read) {
  if (read.value) read.problem = wrong_value(option, key, *read.value);
  if (!read.problem.empty()) read.value.reset();
  return read;
}

/// Parses `text` as the value of one TOML key; empty if that fails.
std::optional<toml::table> parse_one(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  try {
    return parse_toml(fmt::format("x = {}", text), "");
  } catch (const Refused&) {
    return std::nullopt;
  }
}

/// Text that is not UTF-8 cannot be written to a run's config.toml.
bool is_utf8(std::string_view text) { return parse_one(toml_string(text)).has_value(); }

/// A number in command-line spellings that TOML does not allow: .5, 5., 1E3.
template <class T> std::optional<Value> number(std::string_view text) {
  const std::optional<T> number = number_of<T>(text);
  return number ? std::optional<Value>(*number) : std::nullopt;
}

/// "; a text needs quotes: kind = \"copy\"" if this line sets an option to a bare word. Also a hint for a line with the
/// key of a block without quotes.
std::string quotes_hint(std::string_view text, std::size_t line) {
  for (; line > 1 && !text.empty(); --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  for (std::size_t at = text.find("block["); at != std::string_view::npos; at = text.find("block[", at + 1))
    if (at == 0 || (text[at - 1] != '"' && text[at - 1] != '\''))
      return "; options of single blocks are in [[block.override]], and in arms of a sweep in quotes, such as "
             "\"block[3].mixer.kind\"";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return "";
  const std::string_view key = trimmed(text.substr(0, equals)),
                         word = trimmed(text.substr(equals + 1, text.find('#', equals) - equals - 1));
  const auto is_bare = [](std::string_view of) {
    return !of.empty() && of.size() < 100 && std::ranges::all_of(of, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-' || c == '/';
    });
  };
  if (!is_bare(key) || !is_bare(word) || std::isalpha(static_cast<unsigned char>(word.front())) == 0) return "";
  const std::string lower = lower_case(word);
  if (lower == "true" || lower == "false") return fmt::format("; write {} = {}", key, lower);
  if (lower == "none" || lower == "null") return "; an option without a value is left out";
  return fmt::format("; a text needs quotes: {} = \"{}\"", key, word);
}

} // namespace

std::string node_in_words(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return fmt::format("the text '{}'", node.as_string()->get());
    case toml::node_type::integer: return fmt::format("the integer {}", node.as_integer()->get());
    case toml::node_type::floating_point: return fmt::format("the real {}", node.as_floating_point()->get());
    case toml::node_type::boolean: return node.as_boolean()->get() ? "the word true" : "the word false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time: return "a date or time";
    default: return "nothing";
  }
}

ReadValue read_node(const Option& option, std::string_view key, const toml::node& node) {
  if (option.of_tables) return {std::nullopt, wrong_value(option, key, option.default_value)};
  return checked(option, key, read_any(option, key, node));
}

ReadValue read_text(const Option& option, std::string_view key, std::string_view text) {
  if (option.of_tables) return {std::nullopt, wrong_value(option, key, option.default_value)};
  const bool in_quotes = !text.empty() && (text.front() == '"' || text.front() == '\'');
  const bool takes_words = option.type == OptionType::text || option.type == OptionType::word_or_number;
  if (option.type == OptionType::integer)
    if (auto v = number<std::int64_t>(text)) return checked(option, key, {v, ""});
  if (option.type == OptionType::real)
    if (auto v = number<double>(text)) return checked(option, key, {v, ""});
  if (option.type == OptionType::word_or_number)
    if (auto v = number<double>(text)) return checked(option, key, {Value(WordOrNumber{"", std::get<double>(*v)}), ""});
  if (takes_words && !in_quotes) {
    if (!is_utf8(text)) return {std::nullopt, fmt::format("{} is not UTF-8", key)};
    if (option.type == OptionType::text) return checked(option, key, {Value(std::string(text)), ""});
    if (!text.empty()) return checked(option, key, {Value(WordOrNumber{std::string(text), 0.0}), ""});
  }
  if (auto parsed = parse_one(text)) return read_node(option, key, *parsed->get("x"));
  // A list of bare words is not valid TOML.
  if (option.type == OptionType::texts && text.starts_with('[') && text.ends_with(']')) {
    std::vector<std::string> words;
    for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();) {
      std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      while (word.starts_with(' ')) word.remove_prefix(1);
      while (word.ends_with(' ')) word.remove_suffix(1);
      if (!is_utf8(word)) return {std::nullopt, fmt::format("an entry of {} is not UTF-8", key)};
      words.emplace_back(word);
    }
    return checked(option, key, {Value(std::move(words)), ""});
  }
  return {std::nullopt, wrong_type(option, key, text.empty() ? "nothing" : fmt::format("'{}'", text))};
}

std::vector<TomlEntry> in_order(const toml::table& table) {
  std::vector<TomlEntry> out;
  for (const auto& [key, node] : table) out.push_back({std::string(key.str()), key.source(), &node});
  std::stable_sort(out.begin(), out.end(), [](const TomlEntry& a, const TomlEntry& b) {
    return std::pair(a.at.begin.line, a.at.begin.column) < std::pair(b.at.begin.line, b.at.begin.column);
  });
  return out;
}

toml::table parse_toml(std::string_view text, const std::string& name) {
  // toml++ recurses for every part of a dotted key without a limit, so a key of 100000 parts would crash the program.
  constexpr std::size_t longest_line = 8192;
  std::int64_t line = 1;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    if (length > longest_line)
      throw Refused(fmt::format("{}:{}:1: this line has {} bytes; at most {} are allowed", name, line, length,
                                longest_line));
    rest.remove_prefix(std::min(rest.size(), length + 1));
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw Refused(fmt::format("{}:{}:{}: this is not TOML: {}{}", name, at.line, at.column, error.description(),
                              quotes_hint(text, at.line)));
  }
}

} // namespace heed
