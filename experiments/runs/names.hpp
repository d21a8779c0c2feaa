// Checks for names that are read from files and become parts of paths or arguments of other programs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heed {

/// Whether all characters are ASCII letters, digits, or in `more`.
inline bool all_plain(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

/// The text as a part of a name: each sequence of characters other than ASCII letters, digits and `more` is one "-",
/// and none stands at the ends.
inline std::string slug(std::string_view text, std::string_view more) {
  std::string out;
  for (const char& c : text)
    if (all_plain({&c, 1}, more)) out += c;
    else if (!out.empty() && out.back() != '-') out += '-';
  if (out.ends_with('-')) out.pop_back();
  return out;
}

/// Whether a text is a run ID, which is also the name of the run's folder: 16 hexadecimal digits.
inline bool is_run_id(std::string_view text) {
  constexpr std::size_t digits = 16;
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether a text is the name of a submission to a cluster's queue, which is also the name of its folder:
/// "heed-LABEL-DIGITS", of letters, digits, '-', '_' and '.'.
inline bool is_submission_name(std::string_view text) {
  constexpr std::size_t longest = 80;
  return text.starts_with("heed-") && text.size() <= longest && all_plain(text, "-_.");
}

/// Whether a text is a Slurm job number.
inline bool is_job_number(std::string_view text) {
  constexpr std::size_t longest = 20;
  return !text.empty() && text.size() <= longest && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether a text can name an instruction set (engines/instruction_sets.hpp): "avx2", or a compiler's name of a
/// CPU.
inline bool is_instruction_set_name(std::string_view text) {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest && !text.starts_with('-') && all_plain(text, "-_.+");
}

} // namespace heed
