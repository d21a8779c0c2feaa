// Compares values and gradients with PyTorch (tests/fixtures/ops.json and nanogpt.json).
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/fixtures/fixture.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The inputs of a fixture on a tape, and the comparison of the results.
class Comparison {
public:
  Comparison(const std::string& file, const std::string& name) : fixture_(file, name) {
    for (const auto& [key, tensor] : fixture_.tensors())
      if (fixture_.has("d." + key)) operands_.emplace(key, Operand(tensor.shape, tensor.as<Real>()));
  }

  const Fixture& fixture() const { return fixture_; }
  Tape& tape() { return tape_; }
  Tensor operator()(const std::string& name) { return operands_.at(name).on(tape_); }

  // Compares the result with PyTorch's y, and every gradient, for the fixture's dy, with PyTorch's gradient.
  void expect(const Tensor& y) {
    INFO(y.shape.text());
    Tensor loss = y;
    std::vector<Real> dy;
    if (fixture_.has("y")) {
      CHECK(y.shape == fixture_["y"].shape);
      CHECK(distance(read(y), fixture_["y"].values) < agreement);
      dy = fixture_["dy"].as<Real>();
      loss = sum(mul(y, tape_.constant(dy.data(), y.shape)));
    } else {
      CHECK(distance(read(y), fixture_["loss"].values) < agreement);
    }
    tape_.backward(loss);
    for (const auto& [name, operand] : operands_) {
      INFO(name);
      CHECK(distance(operand.gradient, fixture_["d." + name].values) < agreement);
    }
  }

private:
  Fixture fixture_;
  Tape tape_;
  std::map<std::string, Operand> operands_;
};

void expect_elementwise(const char* name, Tensor (*function)(const Tensor&)) {
  Comparison c("ops", name);
  INFO(name);
  c.expect(function(c("x")));
}

Tensor attend(Comparison& c, const Mask& mask) {
  const Tensor q = c("query"), k = c("key"), v = c("value");
  const Real root = std::sqrt(static_cast<Real>(q.shape[-1]));
  return matmul(masked_softmax(scale(matmul(q, transpose(k)), 1 / root), mask), v);
}

} // namespace

TEST_CASE("elementwise and row functions equal PyTorch's", "[torch]") {
  expect_elementwise("gelu", gelu);
  expect_elementwise("gelu_tanh", gelu_tanh);
  expect_elementwise("silu", silu);
  expect_elementwise("sigmoid", sigmoid);
  expect_elementwise("tanh", tanh);
  expect_elementwise("softmax", softmax);
  expect_elementwise("log_softmax", log_softmax);
  expect_elementwise("l2_normalize", [](const Tensor& x) { return l2_normalize(x); });
}

TEST_CASE("linear and the norms equal PyTorch's", "[torch]") {
  Comparison affine("ops", "linear");
  affine.expect(linear(affine("x"), affine("weight"), affine("bias")));
  Comparison layer("ops", "layer_norm");
  const Tensor bias = layer("bias");
  layer.expect(layer_norm(layer("x"), layer("weight"), &bias));
  Comparison rms("ops", "rms_norm");
  rms.expect(rms_norm(rms("x"), rms("weight")));
}

TEST_CASE("cross-entropy equals PyTorch's, smoothed and with an ignored class", "[torch]") {
  struct Case {
    const char* name;
    CrossEntropyOptions options;
  };
  for (const Case& it : {Case{"cross_entropy", {}}, Case{"cross_entropy_smoothed", {.label_smoothing = Real(0.1)}},
                         Case{"cross_entropy_ignoring", {.ignore = 7}},
                         Case{"cross_entropy_smoothed_ignoring", {.label_smoothing = Real(0.2), .ignore = 7}}}) {
    Comparison c("ops", it.name);
    INFO(it.name);
    c.expect(cross_entropy(c("x"), c.fixture()["targets"].as<std::int32_t>().data(), it.options));
  }
}

TEST_CASE("embedding equals PyTorch's", "[torch]") {
  Comparison c("ops", "embedding");
  const FixtureTensor& tokens = c.fixture()["tokens"];
  c.expect(embedding(c("table"), tokens.as<std::int32_t>().data(), tokens.shape));
}

TEST_CASE("attention composed of operations equals scaled_dot_product_attention", "[torch]") {
  Comparison plain("ops", "attention");
  plain.expect(attend(plain, {}));
  Comparison causal("ops", "attention_causal");
  causal.expect(attend(causal, {.causal = true}));
  Comparison padded("ops", "attention_padded");
  const auto lengths = padded.fixture()["lengths"].as<std::int32_t>();
  padded.expect(attend(padded, {.lengths = lengths.data()}));
  Comparison masked("ops", "attention_masked");
  const auto allowed = masked.fixture()["allowed"].as<std::uint8_t>();
  masked.expect(attend(masked, {.allowed = allowed.data(), .allowed_shared = false}));
}

TEST_CASE("a language model of nanoGPT's form has PyTorch's loss and gradients", "[torch]") {
  Comparison c("nanogpt", "decoder");
  const FixtureTensor& token_shape = c.fixture()["tokens"];
  const auto tokens = token_shape.as<std::int32_t>(), targets = c.fixture()["targets"].as<std::int32_t>();
  const auto heads = static_cast<std::int64_t>(c.fixture().number("heads"));
  const std::int64_t B = token_shape.shape[0], T = token_shape.shape[1];
  const Tensor table = c("transformer.wte.weight"), positions = c("transformer.wpe.weight");
  const std::int64_t C = table.shape[1];

  Tensor x = add(embedding(table, tokens.data(), {B, T}), slice(positions, 0, 0, T));
  for (const std::string block : {"transformer.h.0.", "transformer.h.1."}) {
    const Tensor all = linear(layer_norm(x, c(block + "ln_1.weight"), nullptr), c(block + "attn.c_attn.weight"));
    const auto part = [&](int i) {
      return transpose(reshape(slice(all, -1, i * C, C), {B, T, heads, C / heads}), 1, 2);
    };
    const Tensor scores = scale(matmul(part(0), transpose(part(1))), 1 / std::sqrt(static_cast<Real>(C / heads)));
    const Tensor seen = matmul(masked_softmax(scores, {.causal = true}), part(2));
    x = add(x, linear(reshape(transpose(seen, 1, 2), {B, T, C}), c(block + "attn.c_proj.weight")));
    const Tensor inner = linear(layer_norm(x, c(block + "ln_2.weight"), nullptr), c(block + "mlp.c_fc.weight"));
    x = add(x, linear(gelu(inner), c(block + "mlp.c_proj.weight")));
  }
  const Tensor logits = linear(layer_norm(x, c("transformer.ln_f.weight"), nullptr), table);
  CHECK(distance(read(logits), c.fixture()["logits"].values) < agreement);
  c.expect(cross_entropy(logits, targets.data()));
}
