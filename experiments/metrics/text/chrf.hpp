// chrF2 of a whole corpus, as sacreBLEU computes it by default.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// What chrF is made of, summed over a corpus.
struct ChrfCounts {
  /// n-grams of 1 to 6 characters, white space left out: of the output, where its reference has any of that n; of the
  /// reference; and in both, clipped.
  std::array<std::int64_t, 6> output{}, reference{}, both{};

  /// Counts one output against its reference.
  void add(std::string_view output_text, std::string_view reference_text);

  /// 100 (1 + 4) P R / (4 P + R), with precision P and recall R the means over the n of which both sides have n-grams
  /// (Popovic 2015, "chrF: character n-gram F-score for automatic MT evaluation", with beta = 2). Equals sacreBLEU,
  /// signature nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no.
  double score() const;
};

/// chrF2 of outputs against one reference each, 0 to 100. Throws heed::Failed where the counts differ.
double corpus_chrf(std::span<const std::string> outputs, std::span<const std::string> references);

} // namespace heed
