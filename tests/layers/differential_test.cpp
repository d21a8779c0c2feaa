// Differential attention: what observers are shown, and what its shapes need. Values and gradients are compared with
// PyTorch's in torch_test.cpp.
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct Seen final : Observer {
  Shape weights_shape, heads_shape;
  std::int64_t heads_of_scores = 0, rows_of_scores = 0;
  std::vector<Real> all;

  bool wants_weights() const override { return true; }
  bool wants_scores() const override { return true; }
  void weights(const AttentionPlace&, const Tensor& w) override {
    weights_shape = w.shape;
    all = read(w);
  }
  void scores(const AttentionPlace&, const Tensor& s) override {
    heads_of_scores = s.shape[1];
    rows_of_scores += s.shape[2];
  }
  void heads(const AttentionPlace&, const Tensor& y) override { heads_shape = y.shape; }
};

} // namespace

TEST_CASE("differential attention shows each head's difference of two maps, and the scores of both", "[attention]") {
  for (const std::string version : {"v1", "v2"})
    for (const std::int64_t layer : {0, 3}) {
      INFO(version << ", layer " << layer);
      LayerChoice choice;
      choice.part_options["differential"] = version;
      Weights weights;
      const MultiHeadAttention attention(weights.scope(), choice,
                                         {.width = 8, .heads = 2, .bias = false, .layer = layer}, Init::normal(1));
      weights.fill(3);
      const auto set = [&](const std::string& name, Real number) {
        weights.set(name,
                    std::vector<Real>(static_cast<std::size_t>(weights.parameters.find(name)->shape.size()), number));
      };
      // lambda is then its start, or the sigmoid of 0
      if (version == "v1") {
        set("differential.lambda_query", 0);
        set("differential.lambda_key", 0);
      } else {
        set("differential.lambda.weight", 0);
      }
      const double lambda = version == "v2" ? 0.5 : 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer));
      Operand x({2, 5, 8}, 1, {-1, 1, 0});
      Seen seen;
      Tape tape;
      Pass pass = weights.pass(tape, {.observer = &seen});
      attention(pass, x.on(tape), {.causal = true});
      CHECK(seen.weights_shape == Shape{2, 2, 5, 5});
      CHECK(seen.heads_shape == Shape{2, 2, 5, 4});
      CHECK(seen.heads_of_scores == 2);
      CHECK(seen.rows_of_scores == 10);
      for (std::size_t row = 0; row < seen.all.size(); row += 5) {
        double total = 0;
        for (std::size_t j = 0; j < 5; ++j) total += static_cast<double>(seen.all[row + j]);
        CHECK(std::abs(total - (1 - lambda)) < 20 * rounding);
      }
    }
}

TEST_CASE("differential attention has the parameters of its paper, and needs a width for both maps", "[attention]") {
  const auto shapes = [](const std::string& version, std::int64_t key_heads) {
    LayerChoice choice;
    choice.part_options["differential"] = version;
    choice.attention.key_value_heads = key_heads;
    Weights weights;
    MultiHeadAttention(weights.scope(), choice, {.width = 12, .heads = 2, .bias = false}, Init::zeros());
    std::vector<std::string> out;
    for (const auto& entry : weights.parameters.entries()) out.push_back(entry.name + " " + entry.shape.text());
    std::ranges::sort(out);
    return out;
  };
  using Names = std::vector<std::string>;
  CHECK(shapes("v1", 0) == Names{"differential.lambda_key [2, 3]", "differential.lambda_query [2, 3]",
                                 "differential.norm.weight [6]", "output.weight [12, 12]", "qkv.weight [36, 12]"});
  CHECK(shapes("v2", 0) ==
        Names{"differential.lambda.weight [2, 12]", "output.weight [12, 12]", "qkv.weight [48, 12]"});
  CHECK(shapes("v2", 1) == Names{"differential.lambda.weight [2, 12]", "key_value.weight [12, 12]",
                                 "output.weight [12, 12]", "query.weight [24, 12]"});
  LayerChoice choice;
  choice.part_options["differential"] = "v1";
  Weights weights;
  CHECK_THROWS_WITH(MultiHeadAttention(weights.scope(), choice, {.width = 6, .heads = 2}, Init::zeros()),
                    Catch::Contains("2 heads with two maps each (attention.differential) do not divide a width of 6"));
}
