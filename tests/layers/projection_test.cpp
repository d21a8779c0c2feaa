// Projections before the heads: each against its plain loops, what they equal, what decoding stores, and what they
// refuse. Gradients are in gradient_test.cpp, and comparisons with PyTorch in torch_test.cpp.
#include "tests/layers/attention_support.hpp"
#include "tests/layers/projection_support.hpp"

#include <catch2/catch.hpp>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

std::vector<const Real*> in_order(const Weights& weights) {
  std::vector<const Real*> out;
  for (const auto& entry : weights.parameters.entries()) out.push_back(weights.parameters.values() + entry.offset);
  return out;
}

std::vector<Real> values_of(const Weights& weights, const std::string& name) {
  const Parameters::Entry* e = weights.parameters.find(name);
  REQUIRE(e);
  const Real* p = weights.parameters.values() + e->offset;
  return {p, p + e->shape.size()};
}

std::vector<Real> joined(std::vector<Real> a, const std::vector<Real>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Real> identity_matrix(std::size_t width) {
  std::vector<Real> out(width * width, 0);
  for (std::size_t i = 0; i < width; ++i) out[i * width + i] = 1;
  return out;
}

// Self attention's result for 5 positions of 2 sequences.
std::vector<Real> result_of(Weights& weights, const MultiHeadAttention& attention) {
  Operand x({2, 5, 8}, 1, {-1, 1, 0});
  Tape tape;
  Pass pass = weights.pass(tape);
  return read(attention(pass, x.on(tape), {.causal = true}));
}

LayerChoice choice_with(const std::string& projection, const OptionValues& options = {}) {
  LayerChoice choice;
  choice.attention.projection = projection;
  choice.projection_options = options;
  return choice;
}

std::string refusal_of(LayerChoice choice, MultiHeadAttention::Sizes sizes = {.width = 8, .heads = 2},
                       const std::string& position = "none") {
  Weights weights;
  choice.position.kind = position;
  try {
    if (position_info(position).make_relative)
      sizes.position = position_info(position).make_relative(weights.scope() / "position", {2, 4, 4, 5}, {});
    const MultiHeadAttention made(weights.scope(), choice, sizes, Init::normal(1));
    return "";
  } catch (const Failed& e) {
    return e.what();
  }
}

} // namespace

TEST_CASE("every projection is its plain loops, at every position of a sequence", "[attention][contract]") {
  // One map for each head, and two with queries and keys of half the width. Registers have no position.
  const std::vector<ProjectionSizes> shapes = {
      {.width = 8, .heads = 2, .query_heads = 2, .key_heads = 2, .value_heads = 2, .query_width = 4, .value_width = 4},
      {.width = 8, .heads = 2, .query_heads = 4, .key_heads = 4, .value_heads = 2, .query_width = 2, .value_width = 4},
      {.width = 8, .heads = 2, .query_heads = 4, .key_heads = 2, .value_heads = 2, .query_width = 4, .value_width = 4}};
  for (const ProjectionInfo* info : projections())
    for (const Setup& setup : projection_setups(*info))
      for (ProjectionSizes sizes : shapes)
        for (const auto& [bias, registers, first] :
             {std::tuple{true, 0, 0}, {false, 0, 3}, {true, 2, 0}, {true, 2, 4}}) {
          INFO(setup.text << ", " << sizes.query_heads << " heads of queries, bias " << bias << ", " << registers
                          << " registers, from position " << first);
          sizes.bias = bias;
          sizes.registers = registers;
          if (info->further_query_width) sizes.query_width += info->further_query_width(setup.options);
          Weights weights;
          const auto projection = info->make(weights.scope(), sizes, setup.options);
          weights.fill(4);
          Operand x({2, 5, 8}, 1, {-1, 1, 0});
          Tape tape;
          Pass pass = weights.pass(tape);
          const Projected found = projection->of_self(pass, x.on(tape), first);
          std::vector<Real> q, k, v;
          for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t t = 0; t < 5; ++t) {
              const ProjectedRow row = info->row({x.values.data() + (b * 5 + t) * 8, first + t - registers, sizes,
                                                  in_order(weights), &setup.options});
              q = joined(q, row.q);
              k = joined(k, row.k);
              v = joined(v, row.v);
            }
          CHECK(distance(read(found.q), q) < 200 * rounding);
          CHECK(distance(read(found.k), k) < 200 * rounding);
          CHECK(distance(read(found.v), v) < 200 * rounding);
          if (!projection->stores_vectors()) continue;
          const Projected again = projection->of_stored(pass, found.stored);
          CHECK(distance(read(again.k), k) < 200 * rounding);
          CHECK(distance(read(again.v), v) < 200 * rounding);
        }
}

TEST_CASE("the query that a projection makes beside the encoder output is that of self attention", "[attention]") {
  for (const ProjectionInfo* info : projections()) {
    INFO(info->about.name);
    ProjectionSizes sizes{
        .width = 8, .heads = 2, .query_heads = 2, .key_heads = 2, .value_heads = 2, .query_width = 4, .value_width = 4};
    Weights own, cross;
    const auto of_self = info->make(own.scope(), sizes, {});
    sizes.memory_width = 8;
    const auto of_memory = info->make(cross.scope(), sizes, {});
    own.fill(4);
    cross.fill(4);
    // dense has one matrix in self attention, and three in cross attention
    for (const char* kind : {"weight", "bias"})
      if (own.parameters.find(std::string("qkv.") + kind))
        own.set(std::string("qkv.") + kind, joined(joined(values_of(cross, std::string("query.") + kind),
                                                          values_of(cross, std::string("key.") + kind)),
                                                   values_of(cross, std::string("value.") + kind)));
    Operand x({2, 5, 8}, 1, {-1, 1, 0}), memory({2, 3, 8}, 2, {-1, 1, 0});
    Tape tape;
    Pass pass = own.pass(tape), other = cross.pass(tape);
    CHECK(distance(read(of_memory->queries(other, x.on(tape), 0)), read(of_self->of_self(pass, x.on(tape), 0).q)) <
          20 * rounding);
    const Projected found = of_memory->keys_and_values(other, memory.on(tape), 0),
                    expected = of_self->of_self(pass, memory.on(tape), 0);
    CHECK(distance(read(found.k), read(expected.k)) < 20 * rounding);
    CHECK(distance(read(found.v), read(expected.v)) < 20 * rounding);
  }
}

TEST_CASE("projections of values and results that are left out are identity matrices", "[attention][equals]") {
  const MultiHeadAttention::Sizes sizes{.width = 8, .heads = 2, .bias = false};
  Weights weights, dense;
  const MultiHeadAttention found(weights.scope(), choice_with("identity"), sizes, Init::normal(1)),
      expected(dense.scope(), {}, sizes, Init::normal(1));
  CHECK(weights.parameters.entries().size() == 2);
  weights.fill(3);
  dense.fill(3);
  dense.set("qkv.weight",
            joined(joined(values_of(weights, "query.weight"), values_of(weights, "key.weight")), identity_matrix(8)));
  dense.set("output.weight", identity_matrix(8));
  CHECK(distance(result_of(weights, found), result_of(dense, expected)) < attention_tolerance);
}

TEST_CASE("one projection for keys and values is two equal ones, and norms act on keys only", "[attention][equals]") {
  for (const std::string norm : {"none", "rms"}) {
    const MultiHeadAttention::Sizes sizes{.width = 8, .heads = 2, .bias = false};
    LayerChoice choice = choice_with("shared_key_value"), other;
    choice.part_options["query_key_norm"] = other.part_options["query_key_norm"] = norm;
    Weights weights, dense;
    const MultiHeadAttention found(weights.scope(), choice, sizes, Init::normal(1)),
        expected(dense.scope(), other, sizes, Init::normal(1));
    weights.fill(3);
    dense.fill(3);
    const std::vector<Real> key = values_of(weights, "key.weight");
    dense.set("qkv.weight", joined(joined(values_of(weights, "query.weight"), key), key));
    for (const std::string name : {"output.weight", "query_norm.weight", "key_norm.weight"})
      if (dense.parameters.find(name)) dense.set(name, values_of(weights, name));
    CHECK(distance(result_of(weights, found), result_of(dense, expected)) < attention_tolerance);
  }
}

TEST_CASE("decoding stores latent vectors and rotated keys, or one vector for key and value", "[attention][decoding]") {
  const auto stored = [](LayerChoice choice, bool mixes = false) {
    if (mixes) choice.part_options["value_residual"] = "fixed";
    Weights weights;
    const MultiHeadAttention attention(weights.scope(), choice, {.width = 8, .heads = 2, .layer = 1, .layers = 2},
                                       Init::normal(1));
    weights.fill(3);
    Operand x({3, 4, 8}, 1, {-1, 1, 0});
    Tape tape;
    Pass pass = weights.pass(tape);
    std::unique_ptr<MixerState> past;
    Tensor first = mixes ? x.on(tape) : Tensor{};
    attention.step(pass, x.on(tape), {.causal = true}, past, &first);
    const auto* cache = dynamic_cast<const KVCache*>(past.get());
    REQUIRE(cache);
    CHECK(cache->length() == 4);
    CHECK(cache->numbers(3) == 7 * cache->width());
    return cache->width();
  };
  CHECK(stored({}) == 16);
  CHECK(stored(choice_with("identity")) == 16);
  CHECK(stored(choice_with("shared_key_value")) == 8);
  CHECK(stored(choice_with("latent")) == 4);
  CHECK(stored(choice_with("latent", {{"width", std::int64_t{3}}, {"rotary_width", std::int64_t{2}}})) == 5);
  // Values that are mixed with those of the first block can't be made again from a latent vector.
  CHECK(stored(choice_with("latent"), true) == 16);
  CHECK(stored(choice_with("shared_key_value"), true) == 16);
}

TEST_CASE("decoupled rotary positions see only distances", "[attention][position]") {
  // Equal vectors at all positions: with the positions, weights depend on the distance; without, they are equal.
  const LayerChoice choice = choice_with("latent", {{"rotary_width", std::int64_t{4}}});
  const MultiHeadAttention::Sizes sizes{.width = 8, .heads = 2};
  CHECK(MultiHeadAttention::relative_sizes(choice, sizes).query_width == 8);
  Weights weights;
  const auto projection = projection_info("latent").make(
      weights.scope(),
      {.width = 8, .heads = 2, .query_heads = 2, .key_heads = 2, .value_heads = 2, .query_width = 8, .value_width = 4},
      choice.projection_options);
  weights.fill(3);
  Operand one({1, 1, 8}, 1, {-1, 1, 0});
  const auto product = [&](std::int64_t query_at, std::int64_t key_at) {
    Tape tape;
    Pass pass = weights.pass(tape);
    const Tensor x = one.on(tape);
    const std::vector<Real> q = read(projection->of_self(pass, x, query_at).q),
                            k = read(projection->of_self(pass, x, key_at).k);
    double sum = 0;
    for (std::size_t d = 0; d < 8; ++d) sum += static_cast<double>(q[d]) * static_cast<double>(k[d]);
    return sum;
  };
  CHECK(std::abs(product(5, 2) - product(9, 6)) < 200 * rounding);
  CHECK(std::abs(product(5, 2) - product(5, 4)) > 1e-3);
}

TEST_CASE("projections refuse shapes and options that they can't serve, and say what to do", "[attention]") {
  using Catch::Contains;
  LayerChoice grouped = choice_with("latent");
  grouped.attention.key_value_heads = 1;
  CHECK_THAT(refusal_of(grouped), Contains("key_value_heads") && Contains("attention.latent.width"));
  CHECK_THAT(refusal_of(choice_with("latent"), {.width = 8, .heads = 2}, "rotary"),
             Contains("position.kind = \"none\"") && Contains("attention.latent.rotary_width"));
  CHECK(refusal_of(choice_with("shared_key_value"), {.width = 8, .heads = 2}, "rotary").empty());
  CHECK(refusal_of(choice_with("latent"), {.width = 8, .heads = 2}, "t5").empty());
  CHECK_THAT(refusal_of(choice_with("latent", {{"rotary_width", std::int64_t{3}}})), Contains("an even number"));
  LayerChoice normed = choice_with("latent", {{"rotary_width", std::int64_t{2}}});
  normed.part_options["query_key_norm"] = "rms";
  CHECK_THAT(refusal_of(normed), Contains("query_key_norm") && Contains("attention.latent.rotary_width = 0"));
  normed.projection_options.clear();
  CHECK(refusal_of(normed).empty());
  LayerChoice unequal = choice_with("shared_key_value");
  unequal.attention.head_width = 3;
  CHECK_THAT(refusal_of(unequal), Contains("6 and 8") && Contains("attention.value_width"));
  unequal.attention.value_width = 3;
  CHECK(refusal_of(unequal).empty());
  for (const auto& [heads, width] : {std::pair{1, 0}, {0, 3}, {1, 8}}) {
    LayerChoice cut = choice_with("identity");
    cut.attention.key_value_heads = heads;
    cut.attention.value_width = width;
    CHECK_THAT(refusal_of(cut), Contains("identity") && Contains("attention.value_width"));
  }
  CHECK(refusal_of(choice_with("identity"), {.width = 8, .memory_width = 8, .heads = 2}).empty());
  CHECK_THAT(refusal_of(choice_with("identity"), {.width = 8, .memory_width = 6, .heads = 2}), Contains("width 6"));
}

TEST_CASE("cross attention has a projection of its own, with its defaults", "[attention]") {
  LayerChoice choice = choice_with("latent", {{"width", std::int64_t{3}}});
  CHECK(choice.for_cross_attention().projection_options == choice.projection_options);
  choice.attention.cross_projection = "dense";
  CHECK(choice.for_cross_attention().attention.projection == "dense");
  CHECK(choice.for_cross_attention().projection_options.empty());
}
