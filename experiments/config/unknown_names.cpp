#include "experiments/config/unknown_names.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/formulas.hpp"
#include "experiments/config/hints.hpp"
#include "experiments/config/values.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace heed {
namespace {

/// The names that are allowed in a table: its options, then its subtables.
std::vector<std::string> names_in(std::string_view table) {
  std::vector<std::string> out;
  if (const TableInfo* info = find_table(table))
    for (const Option& o : info->options) out.push_back(o.name);
  if (table.empty()) out.insert(out.end(), {"extends", "sweep"});
  if (table == "block") out.push_back("override");
  if (table == "report") out.push_back("label");
  const std::string prefix = table.empty() ? "" : fmt::format("{}.", table);
  for (const TableInfo& t : catalogue())
    if (t.table.size() > prefix.size() && t.table.starts_with(prefix) &&
        t.table.find('.', prefix.size()) == std::string::npos)
      out.push_back(t.table.substr(prefix.size()));
  return out;
}

} // namespace

std::vector<std::string> keys_named(std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& key : all_keys())
    if (key == name || key.ends_with(fmt::format(".{}", name))) out.push_back(key);
  return out;
}

std::vector<std::string> keys_about(std::string_view word) {
  const auto lower = [](std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  };
  const std::string wanted = lower(word);
  const auto has = [&](const std::string& text) { // the word, or its plural
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
      const auto in_word = [&](std::size_t i) {
        return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
      };
      const std::size_t end = at + wanted.size();
      const bool ends = !in_word(end) || (text[end] == 's' && !in_word(end + 1));
      if ((at == 0 || !in_word(at - 1)) && ends) return true;
    }
    return false;
  };
  std::vector<std::string> out;
  if (wanted.size() < 3) return out;
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key); option && (has(lower(key)) || has(lower(option->meaning))))
      out.push_back(key);
  return out;
}

std::string other_word(std::string_view key, const std::string& word, const std::vector<std::string>& allowed) {
  if (std::string hint = hint_for(key, word); !hint.empty()) return hint;
  if ((key == "attention.score" || key == "attention.cross_score") && word.find_first_of("()*/+ ") != word.npos)
    return fmt::format("; a formula belongs to attention.score_mod, such as score_mod = \"{}\"",
                       find_option("attention.score_mod")->formula_like);
  const std::string_view table = key.substr(0, key.rfind('.'));
  for (const std::string& other : all_keys())
    if (other != key && other.starts_with(fmt::format("{}.", table)))
      if (const Option* option = find_option(other); option && std::ranges::count(option->words, word) > 0)
        return fmt::format("; '{}' is a word of {}", word, other);
  return did_you_mean(word, allowed);
}

std::string unknown_option(std::string_view table, std::string_view name) {
  if (table == formula_parameters_key) return wrong_parameter_name(full_name(table, name));
  std::string text = fmt::format("{} has no option '{}'", table_in_words(table), name);
  if (find_option(name) && name.find('.') != std::string_view::npos)
    return text + fmt::format("; write '{}' without quotes, or in its table", name);
  if (find_option(name))
    return text + fmt::format("; '{}' belongs to the top level: write it above the first [table]", name);
  if (std::string hint = hint_for(table_in_words(table), name); !hint.empty()) return text + hint;
  if (const std::string hint = hint_of_tables(name); !hint.empty() && keys_named(name).empty()) return text + hint;
  const std::vector<std::string> here = names_in(table);
  if (const std::string near = did_you_mean(name, here); !near.empty()) return text + near;
  constexpr std::size_t most = 6;
  if (const std::vector<std::string> other = keys_named(name); !other.empty() && other.size() <= most) {
    text += "; did you mean ";
    for (std::size_t i = 0; i < other.size(); ++i) text += fmt::format("{}'{}'", i ? " or " : "", other[i]);
    return text + "?";
  }
  if (here.empty()) return fmt::format("{} has no options, so not '{}'", table_in_words(table), name);
  return text + "; it has " + list_in_words(here);
}

std::string unknown_table(std::string_view table) {
  if (table.starts_with(formula_parameters_prefix)) return wrong_parameter_name(table);
  std::vector<std::string> tables{"sweep", "report.label"};
  for (const TableInfo& t : catalogue())
    if (!t.table.empty()) tables.push_back(t.table);
  const std::string near = nearest(table, tables);
  if (!near.empty()) return fmt::format("there is no table [{}]; did you mean [{}]?", table, near);
  const std::size_t dot = table.rfind('.');
  const std::string_view within = dot == std::string_view::npos ? std::string_view() : table.substr(0, dot);
  if (!find_table(within)) return fmt::format("there is no table [{}], nor [{}]", table, within);
  return fmt::format("there is no table [{}]; {} has {}", table, table_in_words(within),
                     list_in_words(names_in(within)));
}

std::string unknown_key(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  const std::string_view table = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  if (find_table(key))
    return fmt::format("[{}] is a table; give one of its options: {}", key, list_in_words(names_in(key)));
  if (find_table(table)) return unknown_option(table, dot == std::string_view::npos ? key : key.substr(dot + 1));
  if (table.starts_with(formula_parameters_prefix)) return wrong_parameter_name(table);
  return fmt::format("there is no option '{}'{}", key, did_you_mean(key, all_keys()));
}

} // namespace heed
