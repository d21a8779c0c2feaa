#include "experiments/actions/diagnostics.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/problems.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/text.hpp"

#include <array>
#include <cstddef>
#include <fmt/format.h>

namespace heed {

namespace {

using Text = std::optional<std::string>;

/// Takes "FILE:3:9: ", "FILE: " or "command line: " from the front of a message.
void take_place(std::string_view& rest, Diagnostic& out) {
  const std::size_t end = rest.find(": ");
  if (end == rest.npos) return;
  std::string_view place = rest.substr(0, end);
  const auto number_at_end = [&]() -> std::optional<std::int64_t> {
    const std::size_t colon = place.rfind(':');
    const auto number = colon == place.npos ? std::nullopt : number_of<std::int64_t>(place.substr(colon + 1));
    if (number) place = place.substr(0, colon);
    return number;
  };
  const auto column = number_at_end();
  const auto line = column ? number_at_end() : std::nullopt;
  constexpr std::array<std::string_view, 4> no_files = {"command line", "overrides", "config", "sweep"};
  bool is_place = line.has_value();
  for (const std::string_view name : no_files) is_place = is_place || place == name;
  // A file is named by a path or a name with an ending; other words are a command's or a run's.
  const bool is_file = place.find(' ') == place.npos && place.find_first_of("./") != place.npos && !find_option(place);
  if (!is_place && !is_file) return;
  out.file = std::string(place);
  out.line = line ? line : column;
  if (line) out.column = column;
  rest.remove_prefix(end + 2);
}

/// Cuts the last part from `begin` to `end` out of the message; returns what is between the two. A user's text within
/// the message may have the same words, but then a quote follows.
Text take_between(std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.rfind(begin);
  if (from == text.npos) return {};
  const std::size_t first = from + begin.size(), last = text.find(end, first);
  if (last == text.npos || text.substr(last + end.size()).starts_with('\'')) return {};
  std::string inside = text.substr(first, last - first);
  text.erase(from, last + end.size() - from);
  return inside;
}

/// "attention.score" of "attention.score is 'x'" and of "[attention] has no option 'x'" with x in place of score.
Text option_in(std::string_view found) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  for (std::size_t begin = found.find_first_of(letters); begin != found.npos;) {
    const std::size_t end = std::min(found.find_first_not_of(letters, begin), found.size());
    std::string_view word = found.substr(begin, end - begin);
    while (word.ends_with('.')) word.remove_suffix(1);
    if (word.find('.') != word.npos && find_option(word)) return std::string(word);
    begin = found.find_first_of(letters, end);
  }
  const std::size_t open = found.find('['), close = found.find("] has no option '");
  if (open == found.npos || close == found.npos || close < open) return {};
  const std::string_view name = found.substr(found.find('\'', close) + 1);
  return fmt::format("{}.{}", found.substr(open + 1, close - open - 1), name.substr(0, name.find('\'')));
}

/// The words in single quotes.
std::vector<std::string> quoted_words(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t open = text.find('\''); open != text.npos;) {
    const std::size_t close = text.find('\'', open + 1);
    if (close == text.npos) break;
    out.emplace_back(text.substr(open + 1, close - open - 1));
    open = text.find('\'', close + 1);
  }
  return out;
}

} // namespace

Diagnostic diagnostic_of(std::string_view message, Severity severity) {
  Diagnostic out{.severity = severity, .message = std::string(message)};
  std::string_view rest = message;
  take_place(rest, out);
  std::string text(rest);
  if (const std::size_t line_end = text.find('\n'); line_end != text.npos) {
    for (const std::string& line : lines_of(std::string_view(text).substr(line_end + 1))) {
      const std::string_view words = trimmed(line);
      if (!words.empty()) out.hint = out.hint ? *out.hint + "\n" + std::string(words) : std::string(words);
    }
    text.erase(line_end);
  }
  out.nearest = take_between(text, "; did you mean '", "'?");
  constexpr std::string_view or_else = "' or '";
  if (const std::size_t other = out.nearest ? out.nearest->find(or_else) : std::string::npos;
      other != std::string::npos) {
    out.words = quoted_words("'" + *out.nearest + "'");
    out.nearest->erase(other);
  }
  if (!out.nearest) out.nearest = take_between(text, "; did you mean [", "]?");
  constexpr std::string_view in_heed = "; in Heed, ";
  if (const std::size_t at = text.find(in_heed); at != text.npos) {
    out.hint = text.substr(at + 2);
    text.erase(at);
  }
  const std::size_t end = text.find("; ");
  out.found = text_or_none(text.substr(0, end));
  if (end != text.npos) out.allowed = text_or_none(text.substr(end + 2));
  if (out.allowed && out.allowed->find("one of '") != text.npos) out.words = quoted_words(*out.allowed);
  if (out.found) out.option = option_in(*out.found);
  return out;
}

Diagnostic failure_of(std::string_view message) {
  Diagnostic out = diagnostic_of(message);
  if (out.allowed) out.found = *out.found + "; " + *out.allowed;
  out.allowed.reset();
  return out;
}

std::vector<Diagnostic> diagnostics_of(const std::exception& error) {
  if (const auto* refused = dynamic_cast<const RefusedConfig*>(&error)) {
    std::vector<Diagnostic> out;
    for (const std::string& problem : refused->problems) out.push_back(diagnostic_of(problem));
    return out;
  }
  if (dynamic_cast<const Refused*>(&error)) return {diagnostic_of(error.what())};
  return {failure_of(failure_in_words(error))};
}

} // namespace heed
