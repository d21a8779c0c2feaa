// Corpus chrF2, with the same results as sacreBLEU's default.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// The counts from which chrF is computed, summed over a corpus.
struct ChrfCounts {
  /// n-grams of 1 to 6 characters, without white space. output: in the output, if its reference has any n-gram of this
  /// n; reference: in the reference; both: in both texts, clipped.
  std::array<std::int64_t, 6> output{}, reference{}, both{};

  /// Counts one output against its reference.
  void add(std::string_view output_text, std::string_view reference_text);

  /// 100 (1 + 4) P R / (4 P + R). Precision P and recall R are means over each n for which both sides have n-grams
  /// (Popovic 2015, "chrF: character n-gram F-score for automatic MT evaluation", with beta = 2). Equals sacreBLEU,
  /// signature nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no.
  double score() const;
};

/// chrF2 of outputs against one reference each, from 0 to 100. Throws heed::Failed if the numbers of outputs and
/// references differ.
double corpus_chrf(std::span<const std::string> outputs, std::span<const std::string> references);

} // namespace heed
