#include "experiments/metrics/text/chrf.hpp"

#include "autograd/error.hpp"
#include "experiments/metrics/text/code_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace heed {

namespace {

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

} // namespace heed
