// Corpus BLEU and chrF2, with the same results as sacreBLEU, and the Unicode code points and categories that they need.
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

/// Decodes UTF-8 to code points. Each byte that is not valid UTF-8 becomes U+FFFD, because a model may output any
/// bytes.
std::u32string code_points(std::string_view text);

/// Is it Unicode white space, as in Python's str.split()? This includes U+001C to U+001F, U+0085, U+00A0 and U+3000.
bool is_white_space(char32_t character);

/// Is it in Unicode's general category P, S or N? The Unicode version is that of the Python that built the program.
bool is_punctuation(char32_t character);
bool is_symbol(char32_t character);
bool is_number(char32_t character);

} // namespace heed
