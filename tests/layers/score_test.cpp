// Tests of single scores: the effects of their options, and equivalences between scores.
#include "autograd/operation_count.hpp"
#include "tests/layers/attention_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The names and values of all parameters.
std::vector<std::pair<std::string, std::vector<Real>>> start_of(const AttentionCase& attention) {
  std::vector<std::pair<std::string, std::vector<Real>>> out;
  for (const auto& e : attention.weights.parameters.entries()) {
    const Real* p = attention.weights.parameters.values() + e.offset;
    out.emplace_back(e.name, std::vector<Real>(p, p + e.shape.size()));
  }
  return out;
}

AttentionCase untrained(const LayerChoice& choice, const Extents& e) {
  AttentionCase attention(choice, e);
  attention.weights.parameters.initialise(5);
  return attention;
}

// Scales each vector to length 1.
void normalise(Operand& x) {
  const auto width = static_cast<std::size_t>(x.shape[-1]);
  for (std::size_t row = 0; row < x.values.size(); row += width) {
    double square = 0;
    for (std::size_t d = 0; d < width; ++d)
      square += static_cast<double>(x.values[row + d]) * static_cast<double>(x.values[row + d]);
    for (std::size_t d = 0; d < width; ++d)
      x.values[row + d] = static_cast<Real>(static_cast<double>(x.values[row + d]) / std::sqrt(square));
  }
}

// Both attentions must give equal results on the same queries, keys and values.
void expect_equal(AttentionCase& found, AttentionCase& expected) {
  for (const MaskCase& mask : masks(found.extents)) {
    INFO(mask.name);
    CHECK(distance(found(mask()).weights, expected(mask()).weights) < attention_tolerance);
    CHECK(distance(found(mask()).result, expected(mask()).result) < attention_tolerance);
  }
}

} // namespace

TEST_CASE("each value of each option of a score changes its weights or its parameters", "[score][contract]") {
  const Extents e{.heads = 2, .queries = 4, .keys = 5};
  for (const ScoreInfo* score : scores()) {
    for (const Option& option : score->about.options) {
      INFO(score->about.name << "." << option.name);
      CHECK_FALSE(other_values(option).empty());
    }
    const auto all = setups(score->about);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        INFO(all[i].text << ", against " << all[j].text);
        AttentionCase one = untrained(choice_of(*score, all[i].options), e);
        AttentionCase other = untrained(choice_of(*score, all[j].options), e);
        CHECK((start_of(one) != start_of(other) || one({}).weights != other({}).weights));
      }
  }
}

TEST_CASE("different scores give different weights", "[score]") {
  const Extents e{.heads = 2, .queries = 4, .keys = 5};
  for (const ScoreInfo* one : scores())
    for (const ScoreInfo* other : scores()) {
      if (one == other) continue;
      INFO(one->about.name << ", " << other->about.name);
      CHECK(untrained(choice_of(*one), e)({}).weights != untrained(choice_of(*other), e)({}).weights);
    }
}

TEST_CASE("scaled_dot without its scale is dot", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 7, .keys = 7};
  AttentionCase scaled(choice_of(score_info("scaled_dot"), {{"scale", WordOrNumber{"none", 0}}}), e);
  AttentionCase dot(choice_of(score_info("dot")), e);
  expect_equal(scaled, dot);
}

TEST_CASE("a learned scale starts at 1 / sqrt(d), as a stated one and as sqrt", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 7, .keys = 7, .query_width = 9, .key_width = 9};
  AttentionCase root = untrained(choice_of(score_info("scaled_dot")), e);
  AttentionCase learned = untrained(choice_of(score_info("scaled_dot"), {{"scale", WordOrNumber{"learned", 0}}}), e);
  AttentionCase stated = untrained(choice_of(score_info("scaled_dot"), {{"scale", WordOrNumber{"", 1.0 / 3.0}}}), e);
  expect_equal(learned, root);
  expect_equal(stated, root);
  CHECK(learned.weights.parameters.count() == 2);
}

TEST_CASE("multiplicative with the identity is dot", "[score][equals]") {
  const Extents e{.heads = 3, .queries = 7, .keys = 7};
  AttentionCase product(choice_of(score_info("multiplicative")), e);
  std::vector<Real> identity(3 * 4 * 4);
  for (std::size_t h = 0; h < 3; ++h)
    for (std::size_t d = 0; d < 4; ++d) identity[h * 16 + d * 4 + d] = 1;
  product.weights.set("score.weight", identity);
  AttentionCase dot(choice_of(score_info("dot")), e);
  expect_equal(product, dot);
}

TEST_CASE("cosine of vectors of length 1, with temperature 1, is dot", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 7, .keys = 7};
  AttentionCase cosine(choice_of(score_info("cosine"), {{"temperature", 1.0}}), e);
  AttentionCase dot(choice_of(score_info("dot")), e);
  for (Operand* x : {&cosine.q, &cosine.k, &dot.q, &dot.k}) normalise(*x);
  expect_equal(cosine, dot);
}

TEST_CASE("cosine's temperature from the length of sequences is QKNorm's, and all heads may learn one", "[score]") {
  const Extents e{.heads = 2, .queries = 9, .keys = 9};
  const double expected = std::log2(9.0 * 9.0 - 9.0);
  AttentionCase stated = untrained(choice_of(score_info("cosine"), {{"temperature", expected}}), e);
  AttentionCase from_length = untrained(choice_of(score_info("cosine"), {{"from_length", true}}), e);
  expect_equal(from_length, stated);
  for (const auto& [shared, count] : {std::pair{false, 2}, {true, 1}}) {
    AttentionCase learned = untrained(choice_of(score_info("cosine"),
                                                {{"from_length", true}, {"learned", true}, {"shared", shared}}),
                                      e);
    expect_equal(learned, stated);
    CHECK(learned.weights.parameters.count() == count);
  }
  // Sequences of training decide, and not those of an evaluation at a greater length.
  Weights weights;
  const auto make = [&](std::int64_t longest, std::int64_t trained) {
    return score_info("cosine").make(
        weights.scope() / std::to_string(longest),
        {.heads = 1, .query_width = 4, .key_width = 4, .longest = longest, .trained = trained},
        {{"from_length", true}, {"learned", true}});
  };
  make(100, 9);
  weights.parameters.initialise(1);
  CHECK(weights.parameters.values()[0] == Approx(expected));
  CHECK_THROWS_WITH(make(0, 0), Catch::Contains("attention.cosine.temperature"));
}

TEST_CASE("cosine does not see how long queries and keys are", "[score]") {
  const Extents e{.heads = 2, .queries = 7, .keys = 7};
  AttentionCase plain(choice_of(score_info("cosine")), e), longer(choice_of(score_info("cosine")), e);
  for (Real& x : longer.q.values) x *= Real{100};
  for (Real& x : longer.k.values) x *= Real(0.01);
  expect_equal(longer, plain);
}

TEST_CASE("additive with v = 0 attends to all keys alike", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 3, .keys = 5};
  AttentionCase additive(choice_of(score_info("additive")), e);
  additive.weights.set("score.v", std::vector<Real>(2 * 4));
  CHECK(distance(additive({}).weights, std::vector<double>(2 * 2 * 3 * 5, 0.2)) < attention_tolerance);
}

TEST_CASE("additive's hidden width is its own, and the head's query width if not given", "[score]") {
  const auto parameters = [](std::int64_t hidden) {
    const Extents e{.heads = 2, .query_width = 4, .key_width = 3};
    return AttentionCase(choice_of(score_info("additive"), {{"hidden", hidden}}), e).weights.parameters.count();
  };
  CHECK(parameters(10) == 2 * (4 + 3 + 1) * 10);
  CHECK(parameters(0) == parameters(4));
}

TEST_CASE("concat with one matrix is additive with its two parts", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 4, .keys = 7, .query_width = 4, .key_width = 3};
  const OptionValues hidden = {{"hidden", std::int64_t{5}}};
  AttentionCase concat(choice_of(score_info("concat"), hidden), e),
      additive(choice_of(score_info("additive"), hidden), e);
  const Real* w = concat.weights.parameters.values(ParameterId{0});
  std::vector<Real> query, key;
  for (int head = 0; head < 2; ++head, w += 7 * 5) {
    query.insert(query.end(), w, w + 4 * 5);
    key.insert(key.end(), w + 4 * 5, w + 7 * 5);
  }
  const Real* v = concat.weights.parameters.values(ParameterId{1});
  additive.weights.set("score.query", query);
  additive.weights.set("score.key", key);
  additive.weights.set("score.v", {v, v + 10});
  expect_equal(concat, additive);
}

TEST_CASE("location does not look at keys, and refuses more of them than it was made for", "[score]") {
  const Extents e{.heads = 2, .queries = 3, .keys = 6, .query_width = 4, .key_width = 3};
  AttentionCase one(choice_of(score_info("location")), e), other(choice_of(score_info("location")), e);
  for (Real& x : other.k.values) x = Real(-9);
  CHECK(one({}).weights == other({}).weights);
  CHECK(one.weights.parameters.count() == 2 * 6 * 4);

  Tape tape;
  Pass pass = one.weights.pass(tape);
  using Catch::Contains;
  CHECK_THROWS_WITH(one.attention(pass, {.queries = tape.zeros({1, 2, 1, 4}), .values = tape.zeros({1, 2, 7, 3})}),
                    Contains("location") && Contains("6 keys") && Contains("7"));
  Weights w;
  CHECK_THROWS_WITH(Attention(w.scope(), choice_of(score_info("location")), {1, 4, 4}), Contains("longest"));
}

TEST_CASE("Keras's scores are additive without its projections", "[score][equals]") {
  const Extents e{.heads = 2, .queries = 4, .keys = 7};
  std::vector<Real> identity(2 * 4 * 4);
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t d = 0; d < 4; ++d) identity[h * 16 + d * 5] = 1;
  const auto additive = [&](Real first, Real second, const std::vector<Real>& v) {
    AttentionCase a(choice_of(score_info("additive")), e);
    std::vector<Real> scaled = identity;
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= i < 16 ? first : second;
    a.weights.set("score.query", scaled);
    a.weights.set("score.key", scaled);
    a.weights.set("score.v", v);
    return a;
  };
  const std::vector<Real> v = {1, -2, 3, Real(0.5), 2, 1, Real(-0.25), 4};
  const std::vector<Real> two = {3, 3, 3, 3, -2, -2, -2, -2};
  AttentionCase scaled(choice_of(score_info("keras_additive")), e);
  scaled.weights.set("score.scale", v);
  AttentionCase expected = additive(1, 1, v);
  expect_equal(scaled, expected);
  AttentionCase plain(choice_of(score_info("keras_additive"), {{"use_scale", false}}), e);
  AttentionCase ones = additive(1, 1, std::vector<Real>(8, 1));
  expect_equal(plain, ones);
  AttentionCase concat(choice_of(score_info("keras_concat"), {{"use_scale", true}}), e);
  concat.weights.set("score.concat_score_weight", {3, -2});
  concat.weights.set("score.scale", {Real(0.5), 2});
  AttentionCase doubled = additive(Real(0.5), 2, two);
  expect_equal(concat, doubled);
  AttentionCase start = untrained(choice_of(score_info("keras_concat"), {{"use_scale", true}}), e);
  expect_equal(start, ones); // both parameters start from 1
}

TEST_CASE("l1's distances are divided by sqrt(d) unless another scale is stated", "[score][equals]") {
  const Extents e{.heads = 2, .query_width = 9, .key_width = 9};
  AttentionCase usual(choice_of(score_info("l1")), e);
  AttentionCase stated(choice_of(score_info("l1"), {{"scale", 1.0 / 3.0}}), e);
  expect_equal(usual, stated);
}

TEST_CASE("gaussian is scaled_dot where all keys are equally long", "[score]") {
  const Extents e{.heads = 2};
  AttentionCase near(choice_of(score_info("gaussian"), {{"bandwidth", 0.5}}), e);
  AttentionCase products(choice_of(score_info("scaled_dot"), {{"scale", WordOrNumber{"", 4}}}), e);
  for (AttentionCase* x : {&near, &products}) normalise(x->k);
  expect_equal(near, products);
}

TEST_CASE("linear attention by sums equals what pairs give, in values and gradients, over several chunks", "[score]") {
  const std::vector<std::int32_t> lengths = {150, 70};
  for (const std::int64_t count : {1, 64, 65, 150})
    for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.lengths = lengths.data()},
                             Mask{.causal = true, .lengths = lengths.data()}}) {
      const Extents e{.heads = 2, .queries = count, .keys = count};
      INFO(count << " positions, causal " << mask.causal << ", lengths " << (mask.lengths != nullptr));
      AttentionCase x(choice_of(score_info("linear"), {}, "sum"), e);
      const Attended naive = x.naive(mask), found = x(mask);
      CHECK(distance(found.result, naive.result) < attention_tolerance);
      CHECK(distance(found.weights, naive.weights) < attention_tolerance);
      CHECK(distance(x.gradients(mask, false), x.gradients(mask, true)) < 10 * attention_tolerance);
    }
  // Different numbers of queries and keys, not causal.
  AttentionCase cross(choice_of(score_info("linear"), {}, "sum"), {.heads = 2, .queries = 9, .keys = 130});
  CHECK(distance(cross({}).result, cross.naive({}).result) < attention_tolerance);
}

TEST_CASE("linear attention takes memory and operations for positions, and not for pairs", "[score]") {
  const auto numbers_of = [](std::int64_t count) {
    AttentionCase x(choice_of(score_info("linear"), {}, "sum"), {.batch = 1, .queries = count, .keys = count});
    Tape tape;
    Pass pass = x.weights.pass(tape, {.training = true});
    const double before = counted_operations();
    const Tensor y = x.attention(
        pass, {.queries = x.q.on(tape), .values = x.v.on(tape), .keys = x.k.on(tape), .mask = {.causal = true}});
    tape.backward(sum(y));
    return std::pair(counted_operations() - before, static_cast<double>(tape.peak()));
  };
  const auto few = numbers_of(512), many = numbers_of(2048);
  CHECK(many.first <= 4 * few.first);
  CHECK(many.second < 4.4 * few.second);
}

TEST_CASE("a learned score's parameters have one set for each head", "[score]") {
  // Changes the parameters of head 1: the result of head 0 must not change.
  for (const ScoreInfo* score : scores())
    for (const Setup& setup : setups(score->about)) {
      const Extents e{.batch = 1, .heads = 2, .queries = 3, .keys = 4};
      AttentionCase attention(choice_of(*score, setup.options), e);
      if (attention.weights.parameters.entries().empty() || setup.options.contains("shared")) continue;
      INFO(setup.text);
      const auto before = attention({}).weights;
      for (const auto& entry : attention.weights.parameters.entries()) {
        REQUIRE(entry.shape[0] == 2);
        Real* p = attention.weights.parameters.values() + entry.offset;
        for (std::int64_t i = entry.shape.size() / 2; i < entry.shape.size(); ++i) p[i] += Real(0.5);
      }
      const auto after = attention({}).weights;
      CHECK(std::equal(before.begin(), before.begin() + 12, after.begin()));
      CHECK_FALSE(std::equal(before.begin() + 12, before.end(), after.begin() + 12));
    }
}
