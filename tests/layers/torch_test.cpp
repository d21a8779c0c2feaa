// Compares layers with PyTorch: values and all gradients must be equal with copied weights
// (tests/fixtures/multihead_attention.json and encoder_layer.json).
#include "layers/block.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/layers/kept_weights.hpp"
#include "tests/layers/layer_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Weight matrices are row-major with one row per output. Where PyTorch stores the matrices for queries, keys and values
// as one matrix, each of the three is a block of rows.

// `x` with columns of zeros before and after it.
FixtureTensor padded(const FixtureTensor& x, std::int64_t before, std::int64_t behind) {
  FixtureTensor out{x.shape, {}};
  out.shape[-1] += before + behind;
  const std::int64_t width = x.shape[-1];
  for (std::int64_t row = 0; row < x.shape.size() / width; ++row) {
    out.values.insert(out.values.end(), static_cast<std::size_t>(before), 0.0);
    out.values.insert(out.values.end(), x.values.begin() + row * width, x.values.begin() + (row + 1) * width);
    out.values.insert(out.values.end(), static_cast<std::size_t>(behind), 0.0);
  }
  return out;
}

// Columns [begin, end) of the last axis.
std::vector<Real> columns(const std::vector<Real>& x, std::int64_t width, std::int64_t begin, std::int64_t end) {
  std::vector<Real> out;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(width))
    out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(row) + begin,
               x.begin() + static_cast<std::ptrdiff_t>(row) + end);
  return out;
}

// A module of a fixture: copies the weights, compares the result, and compares the gradients after the backward pass.
struct Comparison {
  Fixture fixture;
  Weights weights;
  Tape tape;

  Comparison(const std::string& file, const std::string& name) : fixture(file, name) {}

  std::int64_t heads() const { return static_cast<std::int64_t>(fixture.number("heads")); }
  Operand operand(const std::string& name) const { return {fixture[name].shape, fixture[name].as<Real>()}; }

  void copy(const std::string& ours, const FixtureTensor& theirs) {
    const auto* e = weights.parameters.find(ours);
    REQUIRE(e);
    REQUIRE(e->shape == theirs.shape);
    weights.set(ours, theirs.as<Real>());
  }
  void copy(const std::string& ours, const std::string& theirs) { copy(ours, fixture[theirs]); }

  Pass pass() {
    weights.gradients.assign(static_cast<std::size_t>(weights.parameters.extent()), Real(7));
    return weights.pass(tape, {.training = true});
  }
  // Compares the result, and runs the backward pass from the fixture's derivative by the result.
  void backward(Pass& pass, const Tensor& y) {
    REQUIRE(y.shape == fixture["y"].shape);
    CHECK(distance(read(y), fixture["y"].values) < agreement);
    const std::vector<Real> dy = fixture["dy"].as<Real>();
    tape.backward(sum(mul(y, tape.copy(dy.data(), y.shape))));
    pass.finish_gradients();
  }
  void same_gradient(const std::string& ours, const FixtureTensor& theirs) const {
    INFO(ours);
    CHECK(distance(weights.gradient(ours), theirs.values) < agreement);
  }
  void same_gradient(const std::string& ours, const std::string& theirs) const {
    same_gradient(ours, fixture["d." + theirs]);
  }
};

LayerChoice scaled_dot_choice(bool causal) {
  LayerChoice c;
  c.attention.causal = causal;
  return c;
}

// nn.MultiheadAttention called on one tensor.
void compare_self_attention(const std::string& name) {
  INFO(name);
  Comparison c("multihead_attention", name);
  const bool bias = c.fixture.has("in_proj_bias");
  Operand x = c.operand("query");
  const MultiHeadAttention attention(c.weights.scope(), scaled_dot_choice(false),
                                     {.width = x.shape[2], .memory_width = 0, .heads = c.heads(), .bias = bias},
                                     Init::zeros());
  std::vector<std::pair<std::string, std::string>> names = {{"qkv.weight", "in_proj_weight"},
                                                            {"output.weight", "out_proj.weight"}};
  if (bias) names.insert(names.end(), {{"qkv.bias", "in_proj_bias"}, {"output.bias", "out_proj.bias"}});
  for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
  Mask mask;
  std::vector<std::uint8_t> allowed;
  if (c.fixture.has("allowed")) {
    allowed = c.fixture["allowed"].as<std::uint8_t>();
    mask.allowed = allowed.data();
  }
  KeptWeights weights;
  Pass pass(c.tape, c.weights.parameters, nullptr, {.observer = &weights});
  attention(pass, x.on(c.tape), mask);
  REQUIRE(weights.kept.size() == 1);
  CHECK(distance(read(weights.kept[0]), c.fixture["weights"].values) < agreement);

  Pass training = c.pass();
  c.backward(training, attention(training, x.on(c.tape), mask));
  CHECK(distance(x.gradient, c.fixture["d.query"].values) < agreement);
  for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
}

// nn.MultiheadAttention called on a query, a key and a value. Heed has one encoder output for keys and values, so
// PyTorch's key and value are concatenated; the key's matrix has zeros for the value's features, and the value's matrix
// has zeros for the key's features.
void compare_cross_attention(const std::string& name) {
  INFO(name);
  Comparison c("multihead_attention", name);
  Operand x = c.operand("query");
  const FixtureTensor key = c.fixture["key"], value = c.fixture["value"];
  const std::int64_t width = x.shape[2], keys = key.shape[2], values = value.shape[2], both = keys + values;
  const bool one_matrix = c.fixture.has("in_proj_weight");
  const auto matrix = [&](const std::string& prefix, int part) -> FixtureTensor {
    if (one_matrix) return c.fixture[prefix + "in_proj_weight"].rows(part * width, (part + 1) * width);
    return c.fixture[prefix + std::string(1, "qkv"[part]) + "_proj_weight"];
  };
  const auto bias = [&](const std::string& prefix, int part) {
    return c.fixture[prefix + "in_proj_bias"].rows(part * width, (part + 1) * width);
  };
  const MultiHeadAttention attention(c.weights.scope(), scaled_dot_choice(false),
                                     {.width = width, .memory_width = both, .heads = c.heads(), .bias = true},
                                     Init::zeros());
  c.copy("query.weight", matrix("", 0));
  c.copy("key.weight", padded(matrix("", 1), 0, values));
  c.copy("value.weight", padded(matrix("", 2), keys, 0));
  c.copy("output.weight", "out_proj.weight");
  c.copy("output.bias", "out_proj.bias");
  const std::vector<std::string> maps = {"query", "key", "value"};
  for (int part = 0; part < 3; ++part) c.copy(maps[static_cast<std::size_t>(part)] + ".bias", bias("", part));

  Operand k(key.shape, key.as<Real>()), v(value.shape, value.as<Real>());
  Mask mask;
  std::vector<std::int32_t> lengths;
  if (c.fixture.has("lengths")) {
    lengths = c.fixture["lengths"].as<std::int32_t>();
    mask.lengths = lengths.data();
  }
  Pass pass = c.pass();
  c.backward(pass, attention(pass, x.on(c.tape), concat({k.on(c.tape), v.on(c.tape)}, 2), mask));
  CHECK(distance(x.gradient, c.fixture["d.query"].values) < agreement);
  CHECK(distance(k.gradient, c.fixture["d.key"].values) < agreement);
  CHECK(distance(v.gradient, c.fixture["d.value"].values) < agreement);
  c.same_gradient("query.weight", matrix("d.", 0));
  CHECK(distance(columns(c.weights.gradient("key.weight"), both, 0, keys), matrix("d.", 1).values) < agreement);
  CHECK(distance(columns(c.weights.gradient("value.weight"), both, keys, both), matrix("d.", 2).values) < agreement);
  for (int part = 0; part < 3; ++part)
    c.same_gradient(maps[static_cast<std::size_t>(part)] + ".bias", bias("d.", part));
  c.same_gradient("output.weight", "out_proj.weight");
  c.same_gradient("output.bias", "out_proj.bias");
}

// nn.TransformerEncoderLayer.
void compare_encoder_layer(const std::string& name, const std::string& norm, const std::string& activation) {
  INFO(name);
  Comparison c("encoder_layer", name);
  Operand x = c.operand("x");
  LayerChoice choice = scaled_dot_choice(false);
  choice.block = {.norm = norm, .activation = activation, .ffn_width = c.fixture["linear1.bias"].shape[0]};
  const Block block(c.weights.scope(), choice, {x.shape[2], c.heads(), Init::zeros()});
  const std::vector<std::pair<std::string, std::string>> names = {
      {"attention.qkv.weight", "self_attn.in_proj_weight"},
      {"attention.qkv.bias", "self_attn.in_proj_bias"},
      {"attention.output.weight", "self_attn.out_proj.weight"},
      {"attention.output.bias", "self_attn.out_proj.bias"},
      {"ffn.expand.weight", "linear1.weight"},
      {"ffn.expand.bias", "linear1.bias"},
      {"ffn.project.weight", "linear2.weight"},
      {"ffn.project.bias", "linear2.bias"},
      {"attention_norm.weight", "norm1.weight"},
      {"attention_norm.bias", "norm1.bias"},
      {"ffn_norm.weight", "norm2.weight"},
      {"ffn_norm.bias", "norm2.bias"}};
  REQUIRE(c.weights.parameters.entries().size() == names.size());
  for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
  std::vector<std::int32_t> lengths;
  Mask mask;
  if (c.fixture.has("lengths")) {
    lengths = c.fixture["lengths"].as<std::int32_t>();
    mask.lengths = lengths.data();
  }
  Pass pass = c.pass();
  c.backward(pass, block(pass, x.on(c.tape), mask));
  CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
  for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
}

} // namespace

TEST_CASE("gates and attention without the own value's part have PyTorch's values and gradients",
          "[torch][attention]") {
  for (const auto& [name, gate, exclusive] : {std::tuple{"gate_head", "head", false},
                                              {"gate_elementwise", "elementwise", false},
                                              {"exclusive", "none", true},
                                              {"exclusive_gate", "elementwise", true}}) {
    INFO(name);
    Comparison c("variants", name);
    LayerChoice choice = scaled_dot_choice(true);
    choice.part_options["gate"] = gate;
    choice.part_options["exclusive"] = exclusive;
    Operand x = c.operand("x");
    const bool gated = c.fixture.has("gate");
    const MultiHeadAttention attention(c.weights.scope(), choice, {.width = 6, .heads = 2, .bias = gated},
                                       Init::zeros());
    std::vector<std::pair<std::string, std::string>> names = {{"qkv.weight", "qkv"}, {"output.weight", "output"}};
    if (gated) {
      names.insert(names.end(), {{"gate.weight", "gate"}, {"gate.bias", "gate_bias"}});
      c.weights.set("qkv.bias", std::vector<Real>(18, 0));
      c.weights.set("output.bias", std::vector<Real>(6, 0));
    }
    for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
    Pass pass = c.pass();
    c.backward(pass, attention(pass, x.on(c.tape), {.causal = true}));
    CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
    for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
  }
}

TEST_CASE("forget gates and differential attention have PyTorch's values and gradients", "[torch][attention]") {
  using Names = std::vector<std::pair<std::string, std::string>>;
  const auto check = [](const std::string& name, const LayerChoice& choice, const Names& more) {
    INFO(name);
    Comparison c("variants", name);
    Operand x = c.operand("x");
    const bool shares_keys = choice.attention.key_value_heads > 0;
    const MultiHeadAttention attention(c.weights.scope(), choice,
                                       {.width = 8, .heads = shares_keys ? 4 : 2, .bias = false, .layer = 2},
                                       Init::zeros());
    Names names = {{"output.weight", "output"}};
    if (shares_keys) names.insert(names.end(), {{"query.weight", "query"}, {"key_value.weight", "key_value"}});
    else names.emplace_back("qkv.weight", "qkv");
    names.insert(names.end(), more.begin(), more.end());
    for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
    Pass pass = c.pass();
    c.backward(pass, attention(pass, x.on(c.tape), {.causal = true}));
    CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
    for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
  };
  LayerChoice choice = scaled_dot_choice(true);
  choice.part_options["forget_gate"] = true;
  check("forget_gate", choice, {{"forget_gate.weight", "gate"}, {"forget_gate.bias", "gate_bias"}});
  choice.part_options["forget_gate"] = false;
  choice.part_options["differential"] = "v1";
  check("differential_v1", choice,
        {{"differential.lambda_query", "query_numbers"},
         {"differential.lambda_key", "key_numbers"},
         {"differential.norm.weight", "gain"}});
  choice.part_options["differential"] = "v2";
  check("differential_v2", choice, {{"differential.lambda.weight", "mix"}});
  choice.part_options["differential"] = "v1";
  choice.attention.key_value_heads = 2;
  choice.attention.head_width = 2;
  check("differential_v1_shared_keys", choice,
        {{"differential.lambda_query", "query_numbers"},
         {"differential.lambda_key", "key_numbers"},
         {"differential.norm.weight", "gain"}});
}

TEST_CASE("values mixed with those of the first block have PyTorch's values and gradients", "[torch][attention]") {
  for (const std::string word : {"fixed", "learned", "sparse"}) {
    INFO(word);
    Comparison c("variants", "value_residual_" + word);
    LayerChoice choice = scaled_dot_choice(true);
    choice.block = {.norm = "none", .bias = false, .ffn = false};
    choice.part_options["value_residual"] = word;
    std::vector<Block> blocks;
    std::vector<std::pair<std::string, std::string>> names;
    for (std::size_t n = 0; n < 3; ++n) {
      const std::string number = std::to_string(n);
      blocks.emplace_back(c.weights.scope() / number, choice,
                          Block::Sizes{.width = 6,
                                       .heads = 2,
                                       .residual_init = Init::zeros(),
                                       .layer = static_cast<std::int64_t>(n),
                                       .layers = 3,
                                       .hands_on_values = n == 0});
      names.emplace_back(number + ".attention.qkv.weight", "qkv" + number);
      names.emplace_back(number + ".attention.output.weight", "output" + number);
      if (word == "learned" && n > 0) names.emplace_back(number + ".attention.value_residual", "factors" + number);
    }
    REQUIRE(c.weights.parameters.entries().size() == names.size());
    for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
    Operand x = c.operand("x");
    Pass pass = c.pass();
    Tensor y = x.on(c.tape), first_values;
    for (const Block& block : blocks) y = block(pass, y, {}, &first_values);
    c.backward(pass, y);
    CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
    for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
  }
}

TEST_CASE("learned keys and values before the sequence have PyTorch's values and gradients", "[torch][attention]") {
  Comparison c("variants", "persistent_keys");
  LayerChoice choice = scaled_dot_choice(true);
  choice.part_options["persistent_keys"] = 4;
  Operand x = c.operand("x");
  const MultiHeadAttention attention(c.weights.scope(), choice, {.width = 6, .heads = 2, .bias = false}, Init::zeros());
  const std::vector<std::pair<std::string, std::string>> names = {{"qkv.weight", "qkv"},
                                                                  {"output.weight", "output"},
                                                                  {"persistent_keys", "persistent_keys"},
                                                                  {"persistent_values", "persistent_values"}};
  for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
  Pass pass = c.pass();
  c.backward(pass, attention(pass, x.on(c.tape), {.causal = true}));
  CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
  for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
}

TEST_CASE("keys and values from latent vectors have PyTorch's values and gradients", "[torch][attention]") {
  for (const auto& [name, of_query, rotated] :
       {std::tuple{"latent", 0, 0}, {"latent_rotary", 0, 4}, {"latent_query_rotary", 7, 2}}) {
    INFO(name);
    Comparison c("variants", name);
    LayerChoice choice = scaled_dot_choice(true);
    choice.attention.projection = "latent";
    choice.attention.head_width = 3;
    choice.projection_options = {
        {"width", std::int64_t{5}}, {"query_width", std::int64_t{of_query}}, {"rotary_width", std::int64_t{rotated}}};
    Operand x = c.operand("x");
    const MultiHeadAttention attention(c.weights.scope(), choice, {.width = 8, .heads = 2, .bias = false},
                                       Init::zeros());
    std::vector<std::pair<std::string, std::string>> names = {{"latent.weight", "down"}, {"latent_norm.weight", "gain"},
                                                              {"key.weight", "key"},     {"value.weight", "value"},
                                                              {"query.weight", "query"}, {"output.weight", "output"}};
    if (of_query > 0)
      names.insert(names.end(), {{"query_latent.weight", "query_down"}, {"query_latent_norm.weight", "query_gain"}});
    if (rotated > 0) names.emplace_back("rotary_key.weight", "rotary_key");
    REQUIRE(c.weights.parameters.entries().size() == names.size());
    for (const auto& [ours, theirs] : names) c.copy(ours, theirs);
    Pass pass = c.pass();
    c.backward(pass, attention(pass, x.on(c.tape), {.causal = true}));
    CHECK(distance(x.gradient, c.fixture["d.x"].values) < agreement);
    for (const auto& [ours, theirs] : names) c.same_gradient(ours, theirs);
  }
}

TEST_CASE("talking heads are their paper's products", "[attention][torch]") {
  Comparison c("variants", "talking_heads");
  Operand q = c.operand("query"), k = c.operand("key"), v = c.operand("value");
  LayerChoice choice;
  choice.part_options["talking_heads"] = "both";
  const Attention attention(c.weights.scope(), choice, {.heads = 3, .query_width = 4, .key_width = 4});
  for (const std::string name : {"scores", "weights"}) c.copy("talking_heads." + name, name);
  Pass pass = c.pass();
  c.backward(pass, attention(pass, {.queries = q.on(c.tape),
                                    .values = v.on(c.tape),
                                    .keys = k.on(c.tape),
                                    .mask = {.causal = true}}));
  for (const std::string name : {"scores", "weights"}) c.same_gradient("talking_heads." + name, name);
  for (const auto& [operand, name] : {std::pair{&q, "d.query"}, {&k, "d.key"}, {&v, "d.value"}})
    CHECK(distance(operand->gradient, c.fixture[name].values) < agreement);
}

TEST_CASE("multi-head self attention equals nn.MultiheadAttention", "[torch]") {
  compare_self_attention("self");
  compare_self_attention("self_causal");
  compare_self_attention("self_without_bias");
}

TEST_CASE("a causal mask is the lower triangle that PyTorch is given", "[torch]") {
  Comparison c("multihead_attention", "self_causal");
  Operand x = c.operand("query");
  const MultiHeadAttention attention(c.weights.scope(), scaled_dot_choice(false),
                                     {.width = 8, .memory_width = 0, .heads = c.heads(), .bias = true}, Init::zeros());
  c.copy("qkv.weight", "in_proj_weight");
  c.copy("qkv.bias", "in_proj_bias");
  c.copy("output.weight", "out_proj.weight");
  c.copy("output.bias", "out_proj.bias");
  Pass pass = c.pass();
  c.backward(pass, attention(pass, x.on(c.tape), {.causal = true}));
  CHECK(distance(x.gradient, c.fixture["d.query"].values) < agreement);
}

TEST_CASE("multi-head cross attention equals nn.MultiheadAttention", "[torch]") {
  compare_cross_attention("cross_padded");
  compare_cross_attention("cross_widths");
}

TEST_CASE("the block equals nn.TransformerEncoderLayer", "[torch]") {
  compare_encoder_layer("pre_norm_gelu", "pre", "gelu");
  compare_encoder_layer("pre_norm_gelu_padded", "pre", "gelu");
  compare_encoder_layer("post_norm_relu", "post", "relu");
  compare_encoder_layer("post_norm_relu_padded", "post", "relu");
}
