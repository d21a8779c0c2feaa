// Tests of pooling, which reduces a sequence to one vector.
#include "layers/attention/formula/formula.hpp"
#include "layers/pooling.hpp"
#include "tests/layers/attention_support.hpp"

#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t sequences = 3, length = 5, width = 4;
const std::vector<std::int32_t> lengths = {5, 2, 1};

std::vector<Real> pooled(const std::string& word, const LayerChoice& choice, const std::vector<Real>& x, bool padded,
                         Weights& weights) {
  const Pooling pooling(weights.scope(), word, choice, {width, length});
  weights.fill(2);
  Tape tape;
  Pass pass = weights.pass(tape);
  const Tensor y = pooling(pass, tape.copy(x.data(), {sequences, length, width}), padded ? lengths.data() : nullptr);
  CHECK(y.shape == Shape{sequences, width});
  return read(y);
}

} // namespace

TEST_CASE("mean, first and last are those of the tokens that are not padding", "[pooling]") {
  const std::vector<Real> x = draw(sequences * length * width, 1);
  for (const bool padded : {false, true})
    for (const std::string word : {"mean", "first", "last"}) {
      INFO(word << ", padded " << padded);
      std::vector<double> expected;
      for (std::int64_t b = 0; b < sequences; ++b)
        for (std::int64_t d = 0; d < width; ++d) {
          const std::int64_t n = padded ? lengths[static_cast<std::size_t>(b)] : length;
          const auto at = [&](std::int64_t t) {
            return static_cast<double>(x[static_cast<std::size_t>((b * length + t) * width + d)]);
          };
          double sum = 0;
          for (std::int64_t t = 0; t < n; ++t) sum += at(t);
          expected.push_back(word == "mean" ? sum / static_cast<double>(n) : at(word == "first" ? 0 : n - 1));
        }
      Weights weights;
      CHECK(distance(pooled(word, {}, x, padded, weights), expected) < 20 * rounding);
      CHECK(weights.parameters.entries().empty());
    }
}

TEST_CASE("a context is the formula of its paper: softmax of u . tanh(W x + b), and the weighted sum", "[pooling]") {
  const std::vector<Real> x = draw(sequences * length * width, 1, {-1, 1, 0});
  LayerChoice choice;
  choice.attention.score = "dot";
  Weights weights;
  const std::vector<Real> found = pooled("context", choice, x, true, weights);
  const auto values = [&](const char* name) {
    return weights.parameters.values() + weights.parameters.find(name)->offset;
  };
  const Real *u = values("query"), *w = values("keys.weight"), *bias = values("keys.bias");
  std::vector<double> expected;
  for (std::int64_t b = 0; b < sequences; ++b) {
    std::vector<double> y(width);
    double total = 0;
    for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t) {
      const Real* at = x.data() + (b * length + t) * width;
      double score = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        double sum = static_cast<double>(bias[i]);
        for (std::int64_t d = 0; d < width; ++d)
          sum += static_cast<double>(w[i * width + d]) * static_cast<double>(at[d]);
        score += static_cast<double>(u[i]) * std::tanh(sum);
      }
      total += std::exp(score);
      for (std::int64_t d = 0; d < width; ++d)
        y[static_cast<std::size_t>(d)] += std::exp(score) * static_cast<double>(at[d]);
    }
    for (double sum : y) expected.push_back(sum / total);
  }
  CHECK(distance(found, expected) < 20 * rounding);
}

TEST_CASE("a context's query has no position, so no formula acts on it", "[pooling]") {
  const std::vector<Real> x = draw(sequences * length * width, 1, {-1, 1, 0});
  LayerChoice choice;
  Weights plain, with_formulas;
  const std::vector<Real> expected = pooled("context", choice, x, true, plain);
  choice.attention.score_mod = "s - slope * abs(i - j)";
  choice.attention.mask_mod = "abs(i - j) < 2";
  choice.attention.parameters = {text_of(FormulaParameter{.name = "slope", .start = "1"})};
  CHECK(pooled("context", choice, x, true, with_formulas) == expected);
  CHECK(with_formulas.parameters.entries().size() == plain.parameters.entries().size());
}

TEST_CASE("padding changes nothing of what is pooled, bit for bit, with every score and normaliser",
          "[pooling][contract]") {
  bool any = false; // a normaliser may select no key of a sequence
  for_each_attention([&](const LayerChoice& choice, const ScoreInfo&) {
    std::vector<Real> x = draw(sequences * length * width, 1, {-1, 1, 0});
    Weights before, after;
    if (!serves_without_positions(choice)) {
      CHECK_THROWS_WITH(pooled("context", choice, x, true, before), Catch::Contains("only self attention"));
      return;
    }
    const std::vector<Real> expected = pooled("context", choice, x, true, before);
    for (std::int64_t b = 0; b < sequences; ++b)
      for (std::int64_t i = lengths[static_cast<std::size_t>(b)] * width; i < length * width; ++i)
        x[static_cast<std::size_t>(b * length * width + i)] = Real(20);
    CHECK(pooled("context", choice, x, true, after) == expected);
    any = any || !all_zero(expected);
  });
  CHECK(any);
}

TEST_CASE("a way to pool that there is not is refused with those that there are", "[pooling]") {
  Weights weights;
  CHECK_THROWS_WITH(Pooling(weights.scope(), "median", {}, {4, 5}),
                    Catch::Contains("median") && Catch::Contains("context"));
}
