// Corpus BLEU, with the same results as sacreBLEU.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A function that splits a text into the words that BLEU counts.
using BleuTokenizer = std::vector<std::u32string> (*)(std::string_view text);

/// The names of the tokenizers, as in sacreBLEU's signatures (`tok:`):
///   13a   mteval-v13a's rules for Western languages
///   none  splits at white space only
///   intl  mteval-v14's rules for all languages, by Unicode's categories of punctuation, symbols and numbers
///   char  each character except white space is a word
std::vector<std::string> bleu_tokenizations();
/// The tokenizer with this name. Throws heed::Failed for any other name.
BleuTokenizer bleu_tokenizer(std::string_view name);

/// The counts from which BLEU is computed, summed over a corpus.
struct BleuCounts {
  /// n-grams of 1 to 4 words. right: in both texts, clipped; all: in the output.
  std::array<std::int64_t, 4> right{}, all{};
  std::int64_t output_words = 0, reference_words = 0;

  /// Counts one output against its reference.
  void add(std::string_view output, std::string_view reference, BleuTokenizer words_of);

  /// 100 min(1, exp(1 - reference_words / output_words)) (prod_n p_n)^(1/4), with p_n = right_n / all_n (Papineni et
  /// al. 2002). The first p_n with right_n = 0 becomes 1 / (2 all_n), the next 1 / (4 all_n) and so on (sacreBLEU's
  /// `smooth:exp`; Chen and Cherry 2014, method 3). The score is 0 if no n-gram is right at all, or the outputs have no
  /// 4-gram. Equals sacreBLEU (Post 2018, arXiv 1804.08771), signature nrefs:1|case:mixed|eff:no|tok:NAME|smooth:exp.
  double score() const;
};

/// BLEU of outputs against one reference each, from 0 to 100, with the tokenizer of this name. Throws heed::Failed if
/// the numbers of outputs and references differ.
double corpus_bleu(std::span<const std::string> outputs, std::span<const std::string> references,
                   std::string_view tokenization = "13a");

} // namespace heed
