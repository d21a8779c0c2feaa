// Recognises reports that Heed wrote.
#include "experiments/report/renderers.hpp"

#include "experiments/report/page_files.hpp"

#include <algorithm>
#include <cctype>

namespace heed {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The page's head, up to the title.
bool is_page(std::string_view text) {
  return text.starts_with(page_files::page.substr(0, page_files::page.find("{{title}}")));
}

/// "% NAME (heed report), 6 of 6 runs finished".
bool is_latex(std::string_view line) {
  return line.starts_with("% ") && (has(line, " (heed report), ") || has(line, " (heed compare), "));
}

/// A line of names that no other table has.
bool is_csv(std::string_view line) {
  return line.starts_with("arm,changes,group,reference,metric,n,mean,standard_deviation,interquartile_mean,");
}

/// {"format": "heed report", with any white space.
bool is_json(std::string_view text) {
  constexpr std::string_view begin = "{\"format\":\"heedreport\"";
  constexpr std::size_t longest = 100;
  std::string dense(text.substr(0, longest));
  std::erase_if(dense, [](unsigned char c) { return std::isspace(c) != 0; });
  return dense.starts_with(begin);
}

/// "NAME  6 of 6 runs finished".
bool is_text(std::string_view line) {
  const std::size_t progress = line.rfind("  ");
  if (progress == std::string_view::npos) return false;
  const std::string_view words = line.substr(progress + 2);
  const auto is_number = [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  const std::size_t of = words.find(" of "), run = words.find(" run");
  return of != std::string_view::npos && run != std::string_view::npos && of < run && is_number(words.substr(0, of)) &&
         is_number(words.substr(of + 4, run - of - 4)) && has(words.substr(run), " finished");
}

} // namespace

bool is_report_of_heed(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find_first_of("\r\n"));
  return is_page(beginning) || beginning.starts_with(markdown_mark) || is_latex(line) || is_csv(line) ||
         is_json(beginning) || is_text(line);
}

} // namespace heed
