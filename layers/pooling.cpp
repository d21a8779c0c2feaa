#include "layers/pooling.hpp"

#include "layers/for_each_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

namespace heed::HEED_REAL {

namespace {

// The range of a sequence's n vectors whose mean is taken; null for a method that is not a mean.
struct Kind {
  const char* word;
  std::int64_t (*begin)(std::int64_t n);
  std::int64_t (*end)(std::int64_t n);
};

constexpr Kind kinds[] = {
    {"mean", [](std::int64_t) { return std::int64_t{0}; }, [](std::int64_t n) { return n; }},
    {"first", [](std::int64_t) { return std::int64_t{0}; },
     [](std::int64_t n) { return std::min<std::int64_t>(n, 1); }},
    {"last", [](std::int64_t n) { return std::max<std::int64_t>(n - 1, 0); }, [](std::int64_t n) { return n; }},
    {"context", nullptr, nullptr},
};

std::size_t find_kind(const std::string& word) {
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (kinds[i].word == word) return i;
  throw Failed(fmt::format("[pooling] there is no '{}'; there are {}", word, fmt::join(pooling_words(), ", ")));
}

} // namespace

std::vector<std::string> pooling_words() {
  std::vector<std::string> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.word);
  return words;
}

Pooling::Pooling(const Scope& scope, const std::string& word, const LayerChoice& choice, const Sizes& sizes)
    : kind_(find_kind(word)) {
  if (kinds[kind_].begin) return;
  const Init start = Init::uniform(1 / std::sqrt(static_cast<double>(sizes.width)));
  const Scope keys = (scope / "keys").starting_by_itself_with(start);
  const ParameterId query = scope.no_decay("query", {1, sizes.width}, start);
  LayerChoice one_head = choice.without_formulas();
  one_head.part_options.clear();
  context_.emplace(Context{
      query, Linear(keys, sizes.width, sizes.width, true),
      Attention(scope, one_head, {1, sizes.width, sizes.width, sizes.longest}, AttentionPlace::Kind::pooling)});
}

Tensor Pooling::operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths) const {
  const Op op("pooling", {&x});
  op.check(x.rank() == 3, "x must be [B, T, width], it is {}", x.shape.text());
  return context_ ? by_context(pass, x, lengths) : mean_of_range(x, lengths);
}

// Computed as a product with a sequence of weights for each sequence.
Tensor Pooling::mean_of_range(const Tensor& x, const std::int32_t* lengths) const {
  const std::int64_t sequences = x.shape[0], length = x.shape[1];
  const Tensor share = x.tape->zeros({sequences, 1, length});
  for (std::int64_t r = 0; r < sequences; ++r) {
    const std::int64_t n = lengths ? lengths[r] : length;
    const std::int64_t begin = kinds[kind_].begin(n), count = kinds[kind_].end(n) - begin;
    std::fill_n(share.data + r * length + begin, count, Real{1} / static_cast<Real>(std::max<std::int64_t>(count, 1)));
  }
  return reshape(matmul(share, x), {sequences, x.shape[2]});
}

Tensor Pooling::by_context(Pass& pass, const Tensor& x, const std::int32_t* lengths) const {
  const Tensor keys = tanh(context_->keys(pass, x));
  const Tensor query = for_each_sequence(pass(context_->query), x.shape[0]);
  const Tensor y = context_->attend(pass, {.queries = query, .values = x, .keys = keys, .mask = {.lengths = lengths}});
  return reshape(y, {x.shape[0], x.shape[2]});
}

} // namespace heed::HEED_REAL
