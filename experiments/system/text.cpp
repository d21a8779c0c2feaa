#include "experiments/system/text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace heed {

std::string counted(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, plural(n)); }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by) {
  std::string out;
  for (const char c : text) {
    const auto* const found = std::ranges::find(by, c, &std::pair<char, std::string_view>::first);
    out += found == by.end() ? std::string_view(&c, 1) : found->second;
  }
  return out;
}

std::string in_shell_quotes(std::string_view word) { return "'" + replaced(word, {{'\'', "'\\''"}}) + "'"; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = parts_of(text, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

std::string_view beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  // A character has at most three bytes after its first one.
  for (std::size_t back = 0; back < 4 && back <= most; ++back)
    if ((static_cast<unsigned char>(text[most - back]) & 0xc0) != 0x80) return text.substr(0, most - back);
  return text.substr(0, most);
}

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::string end = fmt::format("... ({} bytes)", text.size());
  return std::string(beginning_of(text, most - std::min(most, end.size()))) + end;
}

std::string first_words(const std::vector<std::string>& words, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, words.size()); ++i) out += (i > 0 ? ", " : "") + cut(words[i]);
  return words.size() > most ? out + fmt::format(" and {} more", words.size() - most) : out;
}

std::string first_lines(const std::vector<std::string>& sentences, std::string_view indent, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, sentences.size()); ++i)
    out += fmt::format("{}{}\n", indent, cut(sentences[i], longest_message));
  return sentences.size() > most ? out + fmt::format("{}and {} more\n", indent, sentences.size() - most) : out;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, n};
}

std::string shell_words(const std::vector<std::string>& words) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
  std::string out;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    out += (out.empty() ? "" : " ") + (is_plain ? word : in_shell_quotes(word));
  }
  return out;
}

} // namespace heed
