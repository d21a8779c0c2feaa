// Attention with formulas: compares the kernels with plain loops, and formulas with the built-in schemes that they are
// equivalent to.
#include "layers/block.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/formula_support.hpp"
#include "tests/layers/kept_weights.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Problems for streaming attention, with lengths that the kernels' tiles do not divide.
const std::vector<Extents> formula_problems = {{.heads = 2, .queries = 1, .keys = 17},
                                               {.heads = 1, .queries = 5, .keys = 5},
                                               {.heads = 2, .queries = 33, .keys = 18},
                                               {.batch = 1, .heads = 2, .queries = 66, .keys = 131}};

const double rough = 10 * attention_tolerance; // formulas amplify errors in their inputs

LayerChoice plain(const std::string& normalizer = "softmax") {
  return choice_of(score_info("scaled_dot"), {}, normalizer);
}

} // namespace

TEST_CASE("every formula equals the plain loops over pairs, under every mask", "[attention][formula][contract]") {
  for (const Formulas& f : formula_cases())
    for (const std::string normalizer : {"softmax", "sparsemax"})
      for (const Extents& e : formula_problems) {
        Formulated attention(f, plain(normalizer), e);
        for (const MaskCase& mask : masks(e)) {
          INFO(f.text() << ", " << normalizer << ", " << e.text() << ", " << mask.name);
          CHECK(distance(attention(mask()), attention.naive(mask())) < rough);
        }
      }
}

TEST_CASE("a formula that shares its parts deeply has the value of the plain loops", "[attention][formula]") {
  std::string number = "heads / 2";
  for (int n = 0; n < 90; ++n) number = "(" + number + ")^16";
  const Formulas f{"s * 0.5 * " + number, "i - j < 3 * " + number};
  for (const Extents& e : formula_problems) {
    if (e.heads != 2) continue; // only problems in which heads / 2 is 1
    Formulated attention(f, plain(), e);
    INFO(e.text());
    CHECK(distance(attention({}), attention.naive({})) < rough);
  }
}

TEST_CASE("every score and normaliser has every formula, streaming or composed",
          "[attention][formula][contract][many]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    const NormalizerInfo& info = normalizer_info(choice.attention.normalizer);
    for (const Formulas& f : formula_cases()) {
      const Extents e{.heads = 2, .queries = 5, .keys = 6, .query_width = 4, .key_width = score.equal_widths ? 4 : 3};
      Formulated attention(f, choice, e);
      for (const MaskCase& mask : masks(e)) {
        if (!turns()) continue;
        INFO(f.text() << ", " << mask.name);
        CHECK(distance(attention(mask()), attention.naive(mask())) < rough);
        // A hard choice may select another key if two scores are almost equal.
        if (info.gradient_of && info.gradient_of(choice.normalizer_options)) continue;
        const auto streamed = attention.trained(mask(), false), whole = attention.trained(mask(), true),
                   blocks = attention.trained(mask(), false, 2);
        CHECK(distance(streamed.result, whole.result) < rough);
        CHECK(distance(streamed.gradients, whole.gradients) < 10 * rough);
        CHECK(distance(blocks.result, whole.result) < rough);
        CHECK(distance(blocks.gradients, whole.gradients) < 10 * rough);
      }
    }
  });
}

TEST_CASE("a score that is not a number makes its query's result none, by every algorithm and normaliser",
          "[attention][formula][contract][many]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    // NaN scores for: all keys; the first key; a middle key; the last key; and more than a tile of keys.
    for (const std::string formula : {"0 / 0 * s", "where(j == 0, 0 / 0, s)", "where(j == 17, 0 / 0, s)",
                                      "where(j == keys - 1, 0 / 0, s)", "where(j < 40, 0 / 0, s)"}) {
      const Extents e{.heads = 2, .queries = 5, .keys = 75, .query_width = 4, .key_width = score.equal_widths ? 4 : 3};
      Formulated attention({formula, ""}, choice, e);
      if (!turns()) continue;
      INFO(formula);
      const auto is_lost = [](const std::vector<Real>& y) {
        return std::ranges::all_of(y, [](Real x) { return std::isnan(x); });
      };
      CHECK(is_lost(attention({})));
      CHECK(is_lost(attention.trained({}, false).result));
      CHECK(is_lost(attention.trained({}, true).result));
      CHECK(is_lost(attention.trained({}, false, 2).result));
    }
  });
}

TEST_CASE("those who look on get the weights of formulas, and change no bit", "[attention][formula]") {
  for (const Formulas& f : formula_cases())
    for (const std::string score : {"scaled_dot", "additive"})
      for (const std::string normalizer : {"softmax", "sparsemax"}) {
        INFO(f.text() << ", " << score << ", " << normalizer);
        Formulated attention(f, choice_of(score_info(score), {}, normalizer), {.heads = 2, .queries = 17, .keys = 130});
        const Mask mask{.causal = true, .offset = 113};
        Tape tape;
        KeptWeights told;
        Pass alone = attention.weights.pass(tape, {.first_sequence = 1}),
             watched = attention.weights.pass(tape, {.first_sequence = 1, .observer = &told});
        Tensor composed;
        attention.attention(alone, attention.inputs(tape, mask), &composed);
        const Tensor y = attention.attention(watched, attention.inputs(tape, mask));
        REQUIRE(told.kept.size() == 1);
        CHECK(distance(read(told.kept[0]), read(composed)) < rough);
        CHECK(read(y) == read(attention.attention(alone, attention.inputs(tape, mask))));
      }
}

TEST_CASE("over many tiles, streaming formulas have the gradients of composed ones", "[attention][formula]") {
  const Extents e{.batch = 2, .heads = 2, .queries = 70, .keys = 135};
  for (const Formulas& f : formula_cases())
    for (const std::string score : {"scaled_dot", "additive"})
      for (const std::string normalizer : {"softmax", "sigmoid"})
        for (const Mask& mask : {Mask{}, Mask{.causal = true, .offset = 65, .window = 40}}) {
          INFO(f.text() << ", " << score << ", " << normalizer << ", causal " << mask.causal);
          Formulated attention(f, choice_of(score_info(score), {}, normalizer), e);
          const auto streamed = attention.trained(mask, false), whole = attention.trained(mask, true);
          CHECK(distance(streamed.result, whole.result) < rough);
          // The gradients of learned parameters are sums over about 20,000 pairs.
          CHECK(distance(streamed.gradients, whole.gradients) < 100 * rough);
        }
}

namespace {

// The result of an attention, and the gradients by queries, keys and values.
struct FormulaOutcome {
  std::vector<Real> y, dq, dk, dv;
};
double distance_of(const FormulaOutcome& a, const FormulaOutcome& b) {
  return std::max({distance(a.y, b.y), distance(a.dq, b.dq), distance(a.dk, b.dk), distance(a.dv, b.dv)});
}

const Extents whole_rows{.heads = 4, .queries = 70, .keys = 70};

// An attention with random inputs; its parameters have their initial values.
struct Started {
  Weights weights;
  std::unique_ptr<RelativePosition> position;
  Attention attention;
  Extents e;
  Operand q, k, v;

  Started(const LayerChoice& choice, const char* scheme = nullptr, const OptionValues& options = {},
          const Extents& extents = whole_rows)
      : position(scheme ? position_info(scheme).make_relative(weights.scope() / "position",
                                                              {extents.heads, extents.query_width, extents.value_width,
                                                               extents.keys},
                                                              options)
                        : nullptr),
        attention(weights.scope(), choice, extents.score()), e(extents), q(e.q(), 1, {-1, 1, 0}),
        k(e.k(), 2, {-1, 1, 0}), v(e.v(), 3, {-1, 1, 0}) {
    weights.fill(4);
    weights.parameters.initialise(5);
  }

  FormulaOutcome operator()(const Mask& mask = {}) {
    return by([&](Pass& pass, const Tensor& on_q, const Tensor& on_k, const Tensor& on_v) {
      return attention(pass, {.queries = on_q, .values = on_v, .keys = on_k, .mask = mask, .position = position.get()});
    });
  }
  FormulaOutcome by(const std::function<Tensor(Pass&, const Tensor&, const Tensor&, const Tensor&)>& compute) {
    Tape tape;
    Pass pass = weights.pass(tape, {.training = true});
    const Tensor y = compute(pass, q.on(tape), k.on(tape), v.on(tape));
    tape.backward(weighted_sum(y));
    pass.finish_gradients();
    return {read(y), q.gradient, k.gradient, v.gradient};
  }
};

LayerChoice with(const Formulas& f, const std::string& score = "scaled_dot") {
  return f.in(choice_of(score_info(score)));
}

} // namespace

TEST_CASE("ALiBi is a formula", "[attention][formula][equals]") {
  const Formulas alibi{"s - slope * abs(i - j)",
                       "",
                       {{.name = "slope", .per = "head", .start = "2 ^ (-8 * (h + 1) / heads)", .learned = false}}};
  for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.causal = true, .window = 9}})
    CHECK(distance_of(Started(with(alibi))(mask), Started(plain(), "alibi")(mask)) < rough);
  CHECK(distance(Started(with(alibi))({}).y, Started(plain())({}).y) > 0.01);
}

TEST_CASE("KERPLE's kernels are formulas", "[attention][formula][equals]") {
  for (const auto& [kernel, formula] :
       {std::pair<std::string, std::string>{"logarithmic", "s - exp(p) * log(1 + exp(q) * abs(i - j))"},
        {"power", "s - where(i == j, 0, exp(p) * abs(i - j) ^ (2 * sigmoid(q)))"}}) {
    INFO(kernel);
    Started scheme(plain(), "kerple", {{"kernel", kernel}});
    Started by_formula(with({formula, "", {{.name = "p", .per = "head"}, {.name = "q", .per = "head"}}}));
    const auto* amount = scheme.weights.parameters.find("position.amount");
    const auto* shape = scheme.weights.parameters.find("position.shape");
    REQUIRE((amount && shape));
    const Real* numbers = scheme.weights.parameters.values();
    by_formula.weights.set("formula.p", {numbers + amount->offset, numbers + amount->offset + 4});
    by_formula.weights.set("formula.q", {numbers + shape->offset, numbers + shape->offset + 4});
    for (const Mask& mask : {Mask{}, Mask{.causal = true}}) {
      CHECK(distance_of(scheme(mask), by_formula(mask)) < rough);
      CHECK(distance(scheme.weights.gradient("position.amount"), by_formula.weights.gradient("formula.p")) <
            10 * rough);
      CHECK(distance(scheme.weights.gradient("position.shape"), by_formula.weights.gradient("formula.q")) < 10 * rough);
    }
  }
}

TEST_CASE("soft capping is a formula", "[attention][formula][equals]") {
  // Gemma 2 (arXiv 2408.00118), section 2: cap tanh(s / cap).
  const double cap = 0.5;
  Started formula(with({"cap * tanh(s / cap)", "", {{.name = "cap", .start = "0.5", .learned = false}}})),
      operations(plain());
  CHECK(distance_of(formula(), operations.by([&](Pass&, const Tensor& q, const Tensor& k, const Tensor& v) {
          const Tensor s = scale(matmul(q, transpose(k)), Real(0.5)); // 1 / sqrt(4)
          return matmul(softmax(scale(tanh(scale(s, static_cast<Real>(1 / cap))), static_cast<Real>(cap))), v);
        })) < rough);
}

TEST_CASE("causal, window, prefix and dilated masks are formulas", "[attention][formula][equals]") {
  std::vector<std::uint8_t> dilated;
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t j = 0; j < 70; ++j)
      dilated.push_back(static_cast<std::uint8_t>(j <= i && (i - j) % 3 == 0 && i - j < 30));
  for (const std::string score : {"scaled_dot", "additive"})
    for (const auto& [formula, mask] : {std::pair<const char*, Mask>{"j <= i", {.causal = true}},
                                        {"abs(i - j) <= 9", {.window = 9}},
                                        {"j <= i and i - j <= 9", {.causal = true, .window = 9}},
                                        {"j <= i or j < 5", {.causal = true, .prefix = 5}},
                                        {"j <= i and i - j <= 9 or j < 5", {.causal = true, .prefix = 5, .window = 9}},
                                        {"j <= i and (i - j) % 3 == 0 and i - j < 30", {.allowed = dilated.data()}}})
      for (const std::string normalizer : {"softmax", "sparsemax"}) {
        INFO(formula << ", " << score << ", " << normalizer);
        const LayerChoice choice = choice_of(score_info(score), {}, normalizer);
        CHECK(distance_of(Started(Formulas{"", formula}.in(choice))(), Started(choice)(mask)) < rough);
      }
}

TEST_CASE("a dilated mask is its formula, streaming, in blocks and step by step", "[attention][formula][equals]") {
  struct Case {
    AttentionOptions options;
    std::string formula;
  };
  for (const Case& c : {Case{{.causal = true, .dilation = 3}, "j <= i and (i - j) % 3 == 0"},
                        {{.causal = false, .dilation = 2}, "(i - j) % 2 == 0"},
                        // 4 keys on each side; the furthest is at distance 4 * 5.
                        {{.causal = false, .window = 4, .dilation = 5}, "(i - j) % 5 == 0 and abs(i - j) <= 20"},
                        {{.causal = true, .prefix = 7, .window = 4, .dilation = 5},
                         "j <= i and (i - j) % 5 == 0 and i - j <= 20 or j < 7"}})
    for (const std::string score : {"scaled_dot", "additive", "l1"})
      for (const std::string normalizer : {"softmax", "sparsemax"}) {
        INFO(c.formula << ", " << score << ", " << normalizer);
        const LayerChoice choice = choice_of(score_info(score), {}, normalizer);
        const Mask mask = self_attention_mask(c.options, {});
        Started dilated(choice), by_formula(Formulas{"", c.formula}.in(choice));
        CHECK(distance_of(dilated(mask), by_formula()) < rough);
        const FormulaOutcome in_blocks = dilated.by([&](Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v) {
          return dilated.attention(pass, {.queries = q, .values = v, .keys = k, .mask = mask, .rows = 13});
        });
        CHECK(distance_of(in_blocks, by_formula()) < rough);
        // Only the queries with position 60 or higher, which also attend to the earlier keys.
        Mask behind = mask;
        behind.offset = 60;
        const auto last = [&](Started& x, const Mask& m) {
          return x.by([&](Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v) {
            return x.attention(pass, {.queries = slice(q, 2, 60, 10), .values = v, .keys = k, .mask = m});
          });
        };
        CHECK(distance_of(last(dilated, behind), last(by_formula, {.offset = 60})) < rough);
      }
}

TEST_CASE("T5's buckets are a formula", "[attention][formula][equals]") {
  // Raffel et al. 2020 (arXiv 1910.10683), section 2.1, causal: 16 of the 32 buckets are for one distance each. The
  // others grow logarithmically up to distance 128. Here: 4 of 8 buckets, up to distance 20.
  const auto bucket = [](std::int64_t distance) -> std::int64_t {
    constexpr std::int64_t buckets = 8, exact = 4, furthest = 20;
    if (distance < exact) return distance;
    const double log_share = std::log(static_cast<double>(distance) / exact) / std::log(1.0 * furthest / exact);
    return std::min(buckets - 1, exact + static_cast<std::int64_t>(log_share * (buckets - exact)));
  };
  const Formulas t5{"s + bias[where(i - j < 4, i - j, min(7, 4 + floor(log(max(i - j, 1) / 4) / log(20 / 4) * 4)))]",
                    "",
                    {{.name = "bias", .per = "head", .start = "sin(n + 3 * h)", .size = 8}}};
  Started formula(with(t5)), operations(plain());
  std::vector<Real> numbers, own_gradient(4 * 8);
  for (int h = 0; h < 4; ++h)
    for (int n = 0; n < 8; ++n) numbers.push_back(static_cast<Real>(std::sin(n + 3 * h)));
  const FormulaOutcome found = formula({.causal = true});
  const FormulaOutcome expected = operations.by([&](Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v) {
    std::vector<Real> bias(4 * 70 * 70);
    for (std::size_t h = 0; h < 4; ++h)
      for (std::int64_t i = 0; i < 70; ++i)
        for (std::int64_t j = 0; j <= i; ++j)
          bias[(h * 70 + static_cast<std::size_t>(i)) * 70 + static_cast<std::size_t>(j)] =
              numbers[h * 8 + static_cast<std::size_t>(bucket(i - j))];
    const Tensor s = scale(matmul(q, transpose(k)), Real(0.5));
    return matmul(masked_softmax(add(s, pass.tape().copy(bias.data(), {4, 70, 70})), {.causal = true}), v);
  });
  CHECK(distance_of(found, expected) < rough);
  Started scheme(plain(), "t5", {{"buckets", std::int64_t{8}}, {"furthest", std::int64_t{20}}});
  std::vector<Real> by_bucket; // [buckets, heads]
  for (std::size_t n = 0; n < 8; ++n)
    for (std::size_t h = 0; h < 4; ++h) by_bucket.push_back(numbers[h * 8 + n]);
  scheme.weights.set("position.bias", by_bucket);
  CHECK(distance_of(scheme({.causal = true}), expected) < rough);
}

TEST_CASE("a learned number for each distance is Shaw's table where a query has one feature", "[attention][formula]") {
  // Shaw et al. 2018 (arXiv 1803.02155): q_i a_(j-i), clipped. With q_i = 1, it is one value for each distance.
  const Extents e{.heads = 2, .queries = 21, .keys = 21, .query_width = 1, .key_width = 1};
  const Formulas by_distance{
      "s + bias", "", {{.name = "bias", .per = "distance", .start = "sin(i - j)", .furthest = 6}}};
  Started formula(with(by_distance, "dot"), nullptr, {}, e),
      shaw(choice_of(score_info("dot")), "shaw", {{"clip", std::int64_t{6}}}, e);
  std::vector<Real> table;
  for (int d = -6; d <= 6; ++d) table.push_back(static_cast<Real>(std::sin(-d)));
  const std::string name = shaw.weights.parameters.entries()[0].name;
  shaw.weights.set(name, table);
  for (Started* x : {&formula, &shaw}) std::fill(x->q.values.begin(), x->q.values.end(), Real{1});
  for (const Mask& mask : {Mask{}, Mask{.causal = true}}) {
    const FormulaOutcome a = formula(mask), b = shaw(mask);
    CHECK(distance(a.y, b.y) < rough);
    CHECK(distance(a.dk, b.dk) < rough);
    CHECK(distance(a.dv, b.dv) < rough);
    CHECK(distance(formula.weights.gradient("formula.bias"), shaw.weights.gradient(name)) < 10 * rough);
    CHECK_FALSE(all_zero(formula.weights.gradient("formula.bias")));
  }
}

TEST_CASE("memory grows linearly with the length, whatever the formula", "[attention][formula][many]") {
  const auto peak = [](std::int64_t length, const Formulas& f, const std::string& normalizer) {
    const Extents e{.batch = 1, .heads = 2, .queries = length, .keys = length};
    Formulated attention(f, plain(normalizer), e);
    Tape tape;
    Pass pass = attention.weights.pass(tape, {.training = true});
    tape.backward(weighted_sum(attention.attention(pass, attention.inputs(tape, {.causal = true}))));
    return static_cast<double>(tape.peak());
  };
  for (const Formulas& f : formula_cases())
    for (const std::string normalizer : {"softmax", "sparsemax"}) {
      INFO(f.text() << ", " << normalizer);
      CHECK(peak(2048, f, normalizer) < 4.4 * peak(512, f, normalizer));
    }
}

TEST_CASE("what a query sees of the past is the same bits with and without what comes after", "[attention][formula]") {
  for (const Formulas& f :
       {Formulas{"5 * tanh(s / 5) - 0.1 * abs(i - j)", "j <= i"}, {"s - h * (i - j)", "i - j < 9"}}) {
    const Extents e{.heads = 2, .queries = 40, .keys = 40};
    Formulated attention(f, plain(), e);
    const std::vector<Real> before = attention({.causal = true});
    for (std::int64_t head = 0; head < 4; ++head)
      for (std::int64_t n = 30 * 4; n < 40 * 4; ++n)
        attention.k.values[static_cast<std::size_t>(head * 160 + n)] = Real(9);
    const std::vector<Real> after = attention({.causal = true});
    for (std::int64_t head = 0; head < 4; ++head)
      CHECK(std::equal(before.begin() + head * 120, before.begin() + head * 120 + 90, after.begin() + head * 120));
    CHECK(before != after);
  }
}

TEST_CASE("a layer refuses formulas that are none", "[attention][formula]") {
  using Catch::Contains;
  Weights w;
  const auto make = [&](const Formulas& f) { Attention(w.scope(), with(f), whole_rows.score()); };
  CHECK_THROWS_WITH(make({"30 * tan(s)", ""}), Contains("[attention] score_mod: there is no function 'tan'") &&
                                                   Contains("\n    30 * tan(s)\n         ^"));
  CHECK_THROWS_WITH(make({"", "i - j"}), Contains("[attention] mask_mod: a mask must be true or false"));
  CHECK_THROWS_WITH(make({"s * x", "", {{.name = "x", .start = "1 +"}}}), Contains("attention.parameters.x.start"));
  LayerChoice choice;
  choice.attention.score_mod = "s";
  choice.attention.parameters = {"x"};
  CHECK_THROWS_WITH(Attention(w.scope(), choice, whole_rows.score()), Contains("'x' is no parameter"));
}
