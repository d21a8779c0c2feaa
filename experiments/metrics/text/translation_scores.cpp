#include "experiments/metrics/text/translation_scores.hpp"
#include "experiments/system/text.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <unordered_map>
#include <utility>

namespace heed {

namespace {

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_point(char32_t c) { return c == U'.' || c == U','; }

/// The character class [{-~[-` -&(-+:-@/]: ASCII punctuation and space, without ' , - .
bool stands_alone(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

/// Separates each pair of neighbours that fits by spaces. The search continues after both, as with a regular
/// expression.
template <class Fits>
std::u32string split_pairs(const std::u32string& text, Fits fits, std::u32string_view before,
                           std::u32string_view between, std::u32string_view after) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fits(text[i], text[i + 1])) {
      out += text[i];
      continue;
    }
    out.append(before).append(1, text[i]).append(between).append(1, text[i + 1]).append(after);
    ++i;
  }
  return out;
}

using Words = std::vector<std::u32string>;

std::map<std::vector<std::u32string>, std::int64_t> count_ngrams(const Words& words, std::size_t n) {
  std::map<Words, std::int64_t> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i)
    ++counts[Words(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + n))];
  return counts;
}

Words split(const std::u32string& line) {
  Words words(1);
  for (const char32_t c : line)
    if (!is_white_space(c)) words.back() += c;
    else if (!words.back().empty()) words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

std::u32string without_end(std::string_view text) {
  std::u32string line = code_points(text);
  while (!line.empty() && is_white_space(line.back())) line.pop_back();
  return line;
}

template <class Fits> std::u32string with_spaces_around(const std::u32string& text, Fits fits) {
  std::u32string spaced;
  for (const char32_t c : text)
    if (fits(c)) spaced.append({U' ', c, U' '});
    else spaced += c;
  return spaced;
}

Words tokenize_13a(std::string_view text) {
  std::u32string line = without_end(text);
  replace_all(line, U"<skipped>", U"");
  replace_all(line, U"-\n", U"");
  replace_all(line, U"\n", U" ");
  for (const auto& [from, to] : {std::pair{U"&quot;", U"\""}, {U"&amp;", U"&"}, {U"&lt;", U"<"}, {U"&gt;", U">"}})
    replace_all(line, from, to);
  line = with_spaces_around(U" " + line + U" ", stands_alone);
  // A full stop or comma stays attached only inside a number. A hyphen is separated from a digit before it.
  line = split_pairs(
      line, [](char32_t a, char32_t b) { return !is_digit(a) && is_point(b); }, U"", U" ", U" ");
  line = split_pairs(
      line, [](char32_t a, char32_t b) { return is_point(a) && !is_digit(b); }, U" ", U" ", U"");
  line = split_pairs(
      line, [](char32_t a, char32_t b) { return is_digit(a) && b == U'-'; }, U"", U" ", U" ");
  return split(line);
}

Words tokenize_none(std::string_view text) { return split(code_points(text)); }

// Punctuation stays attached only inside a number.
Words tokenize_intl(std::string_view text) {
  std::u32string line = without_end(text);
  line = split_pairs(
      line, [](char32_t a, char32_t b) { return !is_number(a) && is_punctuation(b); }, U"", U" ", U" ");
  line = split_pairs(
      line, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); }, U" ", U" ", U"");
  return split(with_spaces_around(line, is_symbol));
}

Words tokenize_char(std::string_view text) {
  Words words;
  for (const char32_t c : code_points(text))
    if (!is_white_space(c)) words.emplace_back(1, c);
  return words;
}

struct Tokenization {
  const char* name;
  BleuTokenizer tokenizer;
};
constexpr Tokenization tokenizations[] = {
    {"13a", tokenize_13a}, {"none", tokenize_none}, {"intl", tokenize_intl}, {"char", tokenize_char}};

using Counts = std::unordered_map<std::u32string_view, std::int64_t>;

Counts count_ngrams(std::u32string_view text, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= text.size(); ++i) ++counts[text.substr(i, n)];
  return counts;
}

std::int64_t count_of(std::u32string_view text, std::size_t n) {
  return text.size() < n ? 0 : static_cast<std::int64_t>(text.size() - n + 1);
}

std::u32string without_space(std::string_view text) {
  std::u32string characters = code_points(text);
  std::erase_if(characters, is_white_space);
  return characters;
}

} // namespace

std::vector<std::string> bleu_tokenizations() { return names_of(tokenizations); }

BleuTokenizer bleu_tokenizer(std::string_view name) {
  for (const Tokenization& t : tokenizations)
    if (t.name == name) return t.tokenizer;
  throw Failed(fmt::format("[bleu] there is no tokenization '{}'; there are {}", name,
                           fmt::join(bleu_tokenizations(), ", ")));
}

void BleuCounts::add(std::string_view output, std::string_view reference, BleuTokenizer words_of) {
  const Words words = words_of(output), expected = words_of(reference);
  output_words += std::ssize(words);
  reference_words += std::ssize(expected);
  for (std::size_t n = 1; n <= right.size(); ++n) {
    const auto there = count_ngrams(expected, n);
    for (const auto& [ngram, count] : count_ngrams(words, n)) {
      all[n - 1] += count;
      if (const auto found = there.find(ngram); found != there.end()) right[n - 1] += std::min(count, found->second);
    }
  }
}

double BleuCounts::score() const {
  if (right[0] == 0 || all.back() == 0) return 0;
  double smoothing = 1, log_sum = 0;
  for (std::size_t n = 0; n < right.size(); ++n) {
    const auto of = static_cast<double>(all[n]);
    if (right[n] == 0) smoothing *= 2;
    log_sum += std::log(right[n] == 0 ? 1 / (smoothing * of) : static_cast<double>(right[n]) / of);
  }
  const double penalty = output_words < reference_words
                             ? std::exp(1 - static_cast<double>(reference_words) / static_cast<double>(output_words))
                             : 1.0;
  return 100 * penalty * std::exp(log_sum / static_cast<double>(right.size()));
}

double corpus_bleu(std::span<const std::string> outputs, std::span<const std::string> references,
                   std::string_view tokenization) {
  if (outputs.size() != references.size())
    throw Failed(fmt::format("[bleu] there are {} outputs and {} references", outputs.size(), references.size()));
  const BleuTokenizer words_of = bleu_tokenizer(tokenization);
  BleuCounts counts;
  for (std::size_t i = 0; i < outputs.size(); ++i) counts.add(outputs[i], references[i], words_of);
  return counts.score();
}

void ChrfCounts::add(std::string_view output_text, std::string_view reference_text) {
  const std::u32string text = without_space(output_text), expected = without_space(reference_text);
  for (std::size_t n = 1; n <= both.size(); ++n) {
    const std::int64_t there = count_of(expected, n);
    reference[n - 1] += there;
    output[n - 1] += there > 0 ? count_of(text, n) : 0;
    const Counts expected_counts = count_ngrams(expected, n);
    for (const auto& [ngram, count] : count_ngrams(text, n))
      if (const auto found = expected_counts.find(ngram); found != expected_counts.end())
        both[n - 1] += std::min(count, found->second);
  }
}

double ChrfCounts::score() const {
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t n = 0; n < both.size(); ++n) {
    if (output[n] == 0 || reference[n] == 0) continue;
    precision += static_cast<double>(both[n]) / static_cast<double>(output[n]);
    recall += static_cast<double>(both[n]) / static_cast<double>(reference[n]);
    orders += 1;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double factor = 4; // beta^2
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

double corpus_chrf(std::span<const std::string> outputs, std::span<const std::string> references) {
  if (outputs.size() != references.size())
    throw Failed(fmt::format("[chrf] there are {} outputs and {} references", outputs.size(), references.size()));
  ChrfCounts counts;
  for (std::size_t i = 0; i < outputs.size(); ++i) counts.add(outputs[i], references[i]);
  return counts.score();
}

std::u32string code_points(std::string_view text) {
  namespace utf = boost::locale::utf;
  std::u32string out;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const char* const start = p;
    const utf::code_point c = utf::utf_traits<char>::decode(p, end);
    const bool wrong = c == utf::illegal || c == utf::incomplete;
    out += wrong ? U'\uFFFD' : static_cast<char32_t>(c);
    if (wrong) p = start + 1;
  }
  return out;
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

} // namespace heed
