// Names that stand in files and become paths, or words of other programs.
#pragma once

#include <algorithm>
#include <string_view>

namespace heed {

/// Whether all characters are letters of ASCII, digits, or one of `more`.
inline bool all_plain(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

/// Whether a text is the ID of a run, which is the name of its folder: 16 hexadecimal digits.
inline bool is_run_id(std::string_view text) {
  constexpr std::size_t digits = 16;
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether a text is the name of a submission to a cluster's queue, which is the name of its folder, too:
/// "heed-LABEL-DIGITS", of letters, digits, '-', '_' and '.'.
inline bool is_submission_name(std::string_view text) {
  constexpr std::size_t longest = 80;
  return text.starts_with("heed-") && text.size() <= longest && all_plain(text, "-_.");
}

/// Whether a text is the number of a job as Slurm gives it.
inline bool is_job_number(std::string_view text) {
  constexpr std::size_t longest = 20;
  return !text.empty() && text.size() <= longest && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether a text can be the name of kernels (engines/kernels.hpp): "avx2", or what a compiler calls a CPU.
inline bool is_kernels_name(std::string_view text) {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest && !text.starts_with('-') && all_plain(text, "-_.+");
}

} // namespace heed
