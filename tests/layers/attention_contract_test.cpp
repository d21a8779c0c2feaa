// The contract of attention, checked for every registered score, normaliser and mask.
#include "autograd/thread_pool.hpp"
#include "tests/layers/attention_support.hpp"
#include "tests/layers/kept_weights.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Whether the kernels can stream this choice. The normaliser decides, because every score has a form that can be
// streamed.
bool streams(const LayerChoice& choice) {
  Weights unused;
  const auto normalizer =
      normalizer_info(choice.attention.normalizer).make(unused.scope(), 1, choice.normalizer_options);
  return normalizer->is_softmax() || normalizer->has_rules();
}

// Lengths that the kernels' tiles do not divide, and a single position. Composed attention has no tiles; the operations
// that it is composed of have their own tests.
std::vector<Extents> problems(const LayerChoice& choice, bool equal_widths) {
  std::vector<Extents> out;
  if (!streams(choice)) {
    for (auto [queries, keys] : {std::pair{1, 1}, {1, 6}, {5, 1}, {5, 9}})
      out.push_back(
          {.heads = 2, .queries = queries, .keys = keys, .query_width = 5, .key_width = equal_widths ? 5 : 3});
    return out;
  }
  for (auto [queries, keys] : {std::pair{1, 1}, {1, 17}, {3, 3}, {5, 1}, {17, 17}, {5, 33}, {33, 16}})
    for (int heads : {1, 3}) {
      out.push_back({.heads = heads, .queries = queries, .keys = keys});
      if (!equal_widths)
        out.push_back({.heads = heads, .queries = queries, .keys = keys, .query_width = 7, .key_width = 3});
    }
  out.push_back({.batch = 1, .queries = 66, .keys = 131});
  out.push_back({.batch = 1, .queries = 9, .keys = 9, .query_width = 17, .key_width = 17, .value_width = 17});
  return out;
}

// The results of the first `queries` queries, for every batch entry and head.
std::vector<Real> rows_before(const std::vector<Real>& y, const Extents& e, std::int64_t queries, std::int64_t width) {
  std::vector<Real> out;
  for (std::int64_t head = 0; head < e.batch * e.heads; ++head) {
    const auto begin = y.begin() + head * e.queries * width;
    out.insert(out.end(), begin, begin + queries * width);
  }
  return out;
}

// Replaces the values of the keys with index `first` or higher. No two keys get the same values.
void disturb(Operand& x, const Extents& e, std::int64_t first) {
  const std::int64_t width = x.shape[3];
  for (std::int64_t head = 0; head < e.batch * e.heads; ++head)
    for (std::int64_t j = first; j < e.keys; ++j)
      for (std::int64_t d = 0; d < width; ++d)
        x.values[static_cast<std::size_t>((head * e.keys + j) * width + d)] =
            static_cast<Real>(2 * std::sin(50 + 3 * j - 7 * d));
}

// The result and the gradients of one attention.
struct Outcome {
  std::vector<Real> y, dq, dk, dv, of_parameters;
};

} // namespace

TEST_CASE("every attention equals the plain loops over pairs, under every mask", "[attention][contract]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    for (const Extents& e : problems(choice, score.equal_widths)) {
      AttentionCase attention(choice, e);
      for (const MaskCase& mask : masks(e)) {
        if (!turns()) continue;
        INFO(e.text() << ", " << mask.name);
        const Attended found = attention(mask()), expected = attention.naive(mask());
        CHECK(distance(found.weights, expected.weights) < attention_tolerance);
        CHECK(distance(found.result, expected.result) < attention_tolerance);
      }
    }
  });
}

TEST_CASE("a query that may attend to nothing gives zeros and zero gradients", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.heads = 2, .queries = 4, .keys = 5};
    AttentionCase attention(choice, e);
    const std::vector<std::int32_t> lengths = {0, 0};
    const Mask mask{.lengths = lengths.data()};
    CHECK(all_zero(attention(mask).weights));
    CHECK(all_zero(attention(mask).result));
    CHECK(all_zero(attention.gradients(mask, false)));
    CHECK(all_zero(attention.gradients(mask, true)));
  });
}

TEST_CASE("asking for the weights changes no gradient", "[attention][contract][many]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    for (const Extents& e : problems(choice, score.equal_widths)) {
      AttentionCase attention(choice, e);
      for (const MaskCase& mask : masks(e)) {
        if (!turns()) continue;
        INFO(e.text() << ", " << mask.name);
        // The gradients are sums over all pairs of a head, so the rounding error grows with the number of pairs.
        const double allowed = attention_tolerance * (1 + std::sqrt(static_cast<double>(e.queries * e.keys)));
        CHECK(distance(attention.gradients(mask(), false), attention.gradients(mask(), true)) < allowed);
      }
    }
  });
}

TEST_CASE("operations that threads share have the same bits", "[attention][contract][bits]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    for (const Extents& e : problems(choice, score.equal_widths)) {
      AttentionCase attention(choice, e);
      for (const MaskCase& mask : masks(e)) {
        if (!turns()) continue;
        INFO(e.text() << ", " << mask.name);
        const auto all = [&] {
          const Attended found = attention(mask());
          return std::array{found.weights, found.result, attention.gradients(mask(), false)};
        };
        const auto expected = all();
        for (int parts : {2, 5}) {
          const CutEverything cut(parts);
          CHECK(all() == expected);
        }
      }
    }
  });
}

TEST_CASE("the future changes nothing in the past, bit for bit", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    for (std::int64_t length : {3, 17, 33})
      for (std::int64_t offset : {0, 2}) {
        const Extents e{.heads = 2, .queries = length, .keys = length + offset};
        AttentionCase attention(choice, e);
        const Mask mask{.causal = true, .offset = offset};
        const Attended before = attention(mask);
        // whether a query that may see the disturbed keys changed: a hard choice may not select a disturbed key, and a
        // normaliser may select no key
        bool seen = false;
        for (std::int64_t past : {std::int64_t{1}, length / 2, length - 1}) {
          INFO(e.text() << ", keys from " << past + offset << " on disturbed");
          disturb(attention.k, e, past + offset);
          disturb(attention.v, e, past + offset);
          const Attended after = attention(mask);
          const std::int64_t width = e.value_width;
          CHECK(rows_before(after.result, e, past, width) == rows_before(before.result, e, past, width));
          CHECK(rows_before(after.weights, e, past, e.keys) == rows_before(before.weights, e, past, e.keys));
          seen = seen || after.result != before.result || all_zero(after.weights);
          attention.k = Operand(e.k(), 2, {-1, 1, 0});
          attention.v = Operand(e.v(), 3, {-1, 1, 0});
        }
        CHECK(seen);
      }
  });
}

TEST_CASE("the past has no gradient to the future", "[attention][contract]") {
  bool any = false; // a normaliser may select no key
  for_each_attention([&](const LayerChoice& choice, const ScoreInfo&) {
    const std::int64_t past = 4;
    const Extents e{.heads = 2, .queries = 9, .keys = 9};
    AttentionCase attention(choice, e);
    Tape tape;
    Pass pass = attention.weights.pass(tape);
    const Tensor y = attention.attention(pass, {.queries = attention.q.on(tape),
                                                .values = attention.v.on(tape),
                                                .keys = attention.k.on(tape),
                                                .mask = {.causal = true}});
    tape.backward(weighted_sum(slice(y, 2, 0, past)));
    for (const Operand* x : {&attention.q, &attention.k, &attention.v})
      for (std::int64_t head = 0; head < e.batch * e.heads; ++head) {
        const auto begin = x->gradient.begin() + head * 9 * x->shape[3];
        CHECK(all_zero({begin + past * x->shape[3], begin + 9 * x->shape[3]}));
      }
    any = any || !all_zero(attention.v.gradient);
  });
  CHECK(any);
}

TEST_CASE("padded keys and values change nothing, bit for bit", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.heads = 2, .queries = 6, .keys = 19};
    AttentionCase attention(choice, e);
    const std::vector<std::int32_t> lengths = {11, 7};
    const Mask mask{.lengths = lengths.data()};
    const Attended before = attention(mask);
    disturb(attention.k, e, 11);
    disturb(attention.v, e, 11);
    const Attended after = attention(mask);
    CHECK(after.result == before.result);
    CHECK(after.weights == before.weights);
  });
}

TEST_CASE("with softmax, weights sum to 1 where a query attends to anything", "[attention][contract]") {
  for (const ScoreInfo* score : scores()) {
    const Extents e{.heads = 3, .queries = 6, .keys = 17};
    AttentionCase attention(choice_of(*score), e);
    for (const MaskCase& mask : masks(e)) {
      INFO(score->about.name << ", " << mask.name);
      const std::vector<Real> w = attention(mask()).weights;
      std::vector<double> sums, expected;
      for (std::int64_t r = 0; r < e.batch * e.heads * e.queries; ++r) {
        const std::int64_t b = r / (e.heads * e.queries), i = r % e.queries;
        double total = 0;
        bool any = false;
        for (std::int64_t j = 0; j < e.keys; ++j) {
          total += static_cast<double>(w[static_cast<std::size_t>(r * e.keys + j)]);
          any = any || may_attend(mask(), e, b, i, j);
        }
        sums.push_back(total);
        expected.push_back(any ? 1 : 0);
      }
      CHECK(distance(sums, expected) < attention_tolerance);
    }
  }
}

TEST_CASE("the returned weights are what the values are summed with", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.heads = 2, .queries = 5, .keys = 7};
    AttentionCase attention(choice, e);
    Tape tape;
    KeptWeights told;
    Pass pass = attention.weights.pass(tape, {.observer = &told});
    Tensor w;
    const Tensor q = attention.q.on(tape), k = attention.k.on(tape), v = attention.v.on(tape);
    const Tensor y = attention.attention(pass, {.queries = q, .values = v, .keys = k, .mask = {.causal = true}}, &w);
    CHECK(w.shape == Shape{2, 2, 5, 7});
    CHECK(distance(read(matmul(w, v)), read(y)) < attention_tolerance);
    REQUIRE(told.kept.size() == 1);
    CHECK(read(told.kept[0]) == read(w));
  });
}

TEST_CASE("those who look on get the same weights, and change no bit", "[attention][contract][many]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    for (const Extents& e : problems(choice, score.equal_widths)) {
      AttentionCase attention(choice, e);
      for (const MaskCase& mask : masks(e)) {
        if (!turns()) continue;
        INFO(e.text() << ", " << mask.name);
        Tape tape;
        const Tensor q = attention.q.on(tape), k = attention.k.on(tape), v = attention.v.on(tape);
        const AttentionInputs inputs{.queries = q, .values = v, .keys = k, .mask = mask()};
        KeptWeights told;
        Pass watched = attention.weights.pass(tape, {.observer = &told}), alone = attention.weights.pass(tape);
        const std::vector<Real> y = read(attention.attention(watched, inputs));
        REQUIRE(told.kept.size() == 1);
        CHECK(distance(read(told.kept[0]), attention.naive(mask()).weights) < attention_tolerance);
        // If the choice does not stream, a pass with an observer computes all queries at once instead of in blocks.
        if (streams(choice)) CHECK(y == read(attention.attention(alone, inputs)));
        else CHECK(distance(y, read(attention.attention(alone, inputs))) < attention_tolerance);
      }
    }
  });
}

TEST_CASE("heads that share keys and values attend as if each had its own", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    for (const std::int64_t sharing : {2, 4}) {
      const Extents e{.heads = 4, .queries = 7, .keys = 9};
      AttentionCase each(choice, e);
      const Mask mask{.causal = true, .offset = 2};
      Outcome shared, own;
      for (Outcome* out : {&shared, &own}) {
        Operand k({e.batch, e.heads / sharing, e.keys, e.key_width}, 2, {-1, 1, 0}),
            v({e.batch, e.heads / sharing, e.keys, e.value_width}, 3, {-1, 1, 0});
        Tape tape;
        Pass pass = each.weights.pass(tape, {.training = true});
        const auto repeated = [&](const Tensor& x) {
          std::span<Tensor> heads(tape.keep<Tensor>(e.heads), static_cast<std::size_t>(e.heads));
          for (std::int64_t h = 0; h < e.heads; ++h) heads[static_cast<std::size_t>(h)] = slice(x, 1, h / sharing, 1);
          return concat(heads, 1);
        };
        const Tensor on_k = k.on(tape), on_v = v.on(tape);
        const Tensor y = each.attention(pass, {.queries = each.q.on(tape),
                                               .values = out == &shared ? on_v : repeated(on_v),
                                               .keys = out == &shared ? on_k : repeated(on_k),
                                               .mask = mask});
        tape.backward(weighted_sum(y));
        pass.finish_gradients();
        *out = {read(y), each.q.gradient, k.gradient, v.gradient, each.weights.gradients};
      }
      INFO(sharing << " heads share keys");
      CHECK(distance(shared.y, own.y) < attention_tolerance);
      CHECK(distance(shared.dq, own.dq) < 10 * attention_tolerance);
      CHECK(distance(shared.dk, own.dk) < 10 * attention_tolerance);
      CHECK(distance(shared.dv, own.dv) < 10 * attention_tolerance);
      CHECK(distance(shared.of_parameters, own.of_parameters) < 10 * attention_tolerance);
    }
  });
}

TEST_CASE("with fewer heads of keys, multi-head attention is that of heads with the same ones", "[attention]") {
  // Four heads of queries of width 3; two heads of keys of width 3; two heads of values of width 2. Heads 0 and 1 of
  // the queries share the first head of keys and values, heads 2 and 3 the second.
  LayerChoice grouped;
  grouped.attention.head_width = 3;
  grouped.attention.value_width = 2;
  LayerChoice each = grouped;
  grouped.attention.key_value_heads = 2;
  const MultiHeadAttention::Sizes sizes{.width = 5, .heads = 4, .longest = 6};
  Weights few, all;
  const MultiHeadAttention a(few.scope(), grouped, sizes, Init::normal(1)),
      b(all.scope(), each, sizes, Init::normal(1));
  few.fill(3);
  all.fill(3);
  const auto numbers = [&](const std::string& name) {
    const Parameters::Entry* e = few.parameters.find(name);
    REQUIRE(e);
    const Real* p = few.parameters.values() + e->offset;
    return std::vector<Real>(p, p + e->shape.size());
  };
  for (const auto& [kind, width] : {std::pair<std::string, std::ptrdiff_t>{"weight", 5}, {"bias", 1}}) {
    std::vector<Real> out = numbers("query." + kind);
    const std::vector<Real> both = numbers("key_value." + kind);
    REQUIRE(std::ssize(both) == (2 * 3 + 2 * 2) * width);
    for (const auto& [first, rows] : {std::pair{0, 3}, {6, 2}})
      for (const int head : {0, 0, 1, 1}) {
        const auto begin = both.begin() + (first + head * rows) * width;
        out.insert(out.end(), begin, begin + rows * width);
      }
    all.set("qkv." + kind, out);
    all.set("output." + kind, numbers("output." + kind));
  }
  Operand x({2, 6, 5}, 1, {-1, 1, 0});
  Tape tape;
  Pass with_few = few.pass(tape), with_all = all.pass(tape);
  CHECK(distance(read(a(with_few, x.on(tape), {.causal = true})), read(b(with_all, x.on(tape), {.causal = true}))) <
        attention_tolerance);
  grouped.attention.key_value_heads = 3;
  Weights w;
  CHECK_THROWS_WITH(MultiHeadAttention(w.scope(), grouped, sizes, Init::normal(1)),
                    Catch::Contains("key_value_heads is 3") && Catch::Contains("model.heads 4"));
}

TEST_CASE("queries and keys that are normalised have one size", "[attention]") {
  // With a gain of 1, the scale of the input changes only the values.
  for (const std::string norm : {"layer", "rms"}) {
    LayerChoice choice = choice_of(score_info("dot"));
    choice.part_options["query_key_norm"] = norm;
    Weights weights;
    const MultiHeadAttention attention(weights.scope(), choice, {.width = 8, .heads = 2, .bias = false, .longest = 5},
                                       Init::normal(1));
    weights.fill(3);
    for (const char* name : {"query_norm.weight", "key_norm.weight"}) weights.set(name, std::vector<Real>(4, 1));
    KeptWeights told;
    Operand x({1, 5, 8}, 1, {-1, 1, 0}), larger = x;
    for (Real& v : larger.values) v *= 100;
    Tape tape;
    Pass pass = weights.pass(tape, {.observer = &told});
    attention(pass, x.on(tape), {});
    attention(pass, larger.on(tape), {});
    REQUIRE(told.kept.size() == 2);
    CHECK(distance(read(told.kept[0]), read(told.kept[1])) < 1e-3);
    CHECK(distance(read(told.kept[0]), std::vector<double>(50, 0.2)) > 0.05);
  }
}

TEST_CASE("keys are the values if not given", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.heads = 2, .queries = 3, .keys = 6, .query_width = 4, .key_width = 4, .value_width = 4};
    AttentionCase attention(choice, e);
    Tape tape;
    Pass pass = attention.weights.pass(tape);
    const Tensor q = attention.q.on(tape), v = attention.v.on(tape);
    const auto without = read(attention.attention(pass, {.queries = q, .values = v}));
    const auto with = read(attention.attention(pass, {.queries = q, .values = v, .keys = v}));
    CHECK(without == with);
  });
}

TEST_CASE("inputs without a head axis are those with one head", "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.queries = 3, .keys = 6};
    AttentionCase attention(choice, e);
    for (const MaskCase& mask : masks(e)) {
      INFO(mask.name);
      Tape tape;
      Pass pass = attention.weights.pass(tape);
      const auto flat = [&](Operand& x) { return reshape(x.on(tape), {x.shape[0], x.shape[2], x.shape[3]}); };
      Tensor w;
      const Tensor q = flat(attention.q), k = flat(attention.k), v = flat(attention.v);
      const AttentionInputs inputs{.queries = q, .values = v, .keys = k, .mask = mask()};
      attention.attention(pass, inputs, &w);
      const Tensor y = attention.attention(pass, inputs);
      CHECK(y.shape == Shape{2, 3, 3});
      CHECK(w.shape == Shape{2, 1, 3, 6});
      const Attended four = attention(mask());
      CHECK(read(y) == four.result);
      CHECK(read(w) == four.weights);
    }
  });
}

TEST_CASE("heads are views of one projection as well as tensors of their own", "[attention][contract]") {
  // [B, T, H D] viewed as [B, H, T, D], as in multi-head attention.
  for_each_attention([](const LayerChoice& choice, const ScoreInfo&) {
    const Extents e{.heads = 3, .queries = 9, .keys = 9};
    AttentionCase attention(choice, e);
    Tape tape;
    Pass pass = attention.weights.pass(tape);
    const auto interleaved = [&](Operand& x) { return transpose(contiguous(transpose(x.on(tape), 1, 2)), 1, 2); };
    const Tensor y = attention.attention(pass, {.queries = interleaved(attention.q),
                                                .values = interleaved(attention.v),
                                                .keys = interleaved(attention.k),
                                                .mask = {.causal = true}});
    CHECK(distance(read(y), attention({.causal = true}).result) < attention_tolerance);
  });
}

TEST_CASE("attention refuses what does not fit, and says what it was given", "[attention]") {
  AttentionCase attention(choice_of(score_info("dot")), {.heads = 2});
  Tape tape;
  Pass pass = attention.weights.pass(tape);
  const auto message = [&](const Shape& q, const Shape& k, const Shape& v) -> std::string {
    try {
      attention.attention(pass, {.queries = tape.zeros(q), .values = tape.zeros(v), .keys = tape.zeros(k), .mask = {}});
    } catch (const Failed& e) {
      return e.what();
    }
    return "";
  };
  using Catch::Contains;
  CHECK_THAT(message({2, 2, 5, 4}, {2, 2, 5, 4}, {2, 5, 4}), Contains("[attention]") && Contains("4, 4 and 3"));
  CHECK_THAT(message({2, 3, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}), Contains("2 heads") && Contains("[2, 3, 5, 4]"));
  CHECK_THAT(message({3, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}), Contains("batch") && Contains("[3, 2, 5, 4]"));
  CHECK_THAT(message({2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 6, 4}), Contains("one length") && Contains("[2, 2, 6, 4]"));
  CHECK_THAT(message({2, 2, 5, 3}, {2, 2, 5, 4}, {2, 2, 5, 4}), Contains("widths") && Contains("[2, 2, 5, 3]"));
  CHECK(message({2, 2, 5, 4}, {2, 2, 6, 4}, {2, 2, 6, 9}).empty());
  for (const ScoreInfo* score : scores()) {
    if (!score->equal_widths) continue;
    Weights w;
    CHECK_THROWS_WITH(Attention(w.scope(), choice_of(*score), {.heads = 1, .query_width = 4, .key_width = 5}),
                      Contains(score->about.name) && Contains("4 and 5"));
  }
  Weights w;
  LayerChoice unknown;
  unknown.attention.score = "dott";
  CHECK_THROWS_WITH(Attention(w.scope(), unknown, {1, 4, 4}), Contains("dott") && Contains("scaled_dot"));
}
