// BLEU of a whole corpus, as sacreBLEU computes it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What turns a text into the words that BLEU counts.
using BleuTokenizer = std::vector<std::u32string> (*)(std::string_view text);

/// The names that sacreBLEU has for them (`tok:` in its signatures):
///   13a   mteval-v13a's rules for Western languages
///   none  what stands between white space
///   intl  mteval-v14's rules for all languages, by Unicode's categories of punctuation, symbols and numbers
///   char  every character but white space
std::vector<std::string> bleu_tokenizations();
/// The tokenizer of that name; throws heed::Failed for any other.
BleuTokenizer bleu_tokenizer(std::string_view name);

/// What BLEU is made of, summed over a corpus.
struct BleuCounts {
  std::array<std::int64_t, 4> right{}, all{}; ///< n-grams of 1 to 4 words: in both, clipped; of the output
  std::int64_t output_words = 0, reference_words = 0;

  /// Counts one output against its reference.
  void add(std::string_view output, std::string_view reference, BleuTokenizer words_of);

  /// 100 min(1, exp(1 - reference_words / output_words)) (prod_n p_n)^(1/4), with p_n = right_n / all_n (Papineni et
  /// al. 2002). The first n without a right one takes 1 / (2 all_n), the next 1 / (4 all_n) and so on (sacreBLEU's
  /// `smooth:exp`; Chen and Cherry 2014, method 3). 0 where nothing is right at all, or outputs have no 4-gram. Equals
  /// sacreBLEU (Post 2018, arXiv 1804.08771), signature nrefs:1|case:mixed|eff:no|tok:NAME|smooth:exp.
  double score() const;
};

/// BLEU of outputs against one reference each, 0 to 100, with the tokenization of that name. Throws heed::Failed where
/// the counts differ.
double corpus_bleu(std::span<const std::string> outputs, std::span<const std::string> references,
                   std::string_view tokenization = "13a");

} // namespace heed
