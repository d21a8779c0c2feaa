// BLEU of a whole corpus, as sacreBLEU computes it by default.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The words that BLEU counts: mteval-v13a's tokenisation for Western languages, as in sacreBLEU (`tok:13a`).
std::vector<std::u32string> tokenize_13a(std::string_view text);

/// What BLEU is made of, summed over a corpus.
struct BleuCounts {
  std::array<std::int64_t, 4> right{}, all{};  ///< n-grams of 1 to 4 words: in both, clipped; of the output
  std::int64_t output_words = 0, reference_words = 0;

  /// Counts one output against its reference.
  void add(std::string_view output, std::string_view reference);

  /// 100 min(1, exp(1 - reference_words / output_words)) (prod_n p_n)^(1/4), with p_n = right_n / all_n (Papineni et
  /// al. 2002). The first n without a right one takes 1 / (2 all_n), the next 1 / (4 all_n) and so on (sacreBLEU's
  /// `smooth:exp`; Chen and Cherry 2014, method 3). 0 where nothing is right at all, or outputs have no 4-gram. Equals
  /// sacreBLEU (Post 2018, arXiv 1804.08771), signature nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp.
  double score() const;
};

/// BLEU of outputs against one reference each, 0 to 100. Throws heed::Failed where the counts differ.
double corpus_bleu(std::span<const std::string> outputs, std::span<const std::string> references);

} // namespace heed
