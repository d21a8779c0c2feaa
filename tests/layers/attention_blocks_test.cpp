// Composed (not streaming) attention on blocks of queries: blocks must give the same values and gradients as all
// queries at once.
#include "layers/attention/query_chunks.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"

#include <cmath>
#include <limits>
#include <span>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// A relative position scheme, or none.
struct Place {
  std::string text = "no relative position";
  const PositionInfo* info = nullptr;
  OptionValues options{};
};

std::vector<Place> places() {
  std::vector<Place> out{{}};
  for (const PositionInfo* info : positions())
    if (info->make_relative)
      for (const Setup& setup : setups(info->about)) out.push_back({setup.text, info, setup.options});
  return out;
}

// Observer that collects the scores of all blocks into one array, -infinity for scores that were not shown, and the
// weights.
struct Shown : Observer {
  explicit Shown(const Extents& extents)
      : e(extents), scores_of_all(static_cast<std::size_t>(Shape{e.batch, e.heads, e.queries, e.keys}.size()),
                                  -std::numeric_limits<Real>::infinity()) {}

  bool wants_weights() const override { return true; }
  bool wants_scores() const override { return true; }
  void weights(const AttentionPlace&, const Tensor& w) override { weights_of_all = read(w); }
  void scores(const AttentionPlace&, const Tensor& s) override {
    ++parts;
    const std::vector<Real> numbers = read(s);
    const std::int64_t some = s.shape[2], keys = s.shape[3];
    for (std::int64_t b = 0; b < s.shape[0]; ++b)
      for (std::int64_t h = 0; h < e.heads; ++h)
        for (std::int64_t i = 0; i < some; ++i)
          std::copy_n(numbers.begin() + ((b * e.heads + h) * some + i) * keys, keys,
                      scores_of_all.begin() + (((entry + b) * e.heads + h) * e.queries + query + i) * e.keys);
    query += some;
    if (query < e.queries) return;
    query = 0;
    entry += s.shape[0];
  }

  Extents e;
  std::vector<Real> scores_of_all, weights_of_all;
  std::int64_t entry = 0, query = 0, parts = 0; // `entry`, `query`: start of the next block
};

// Attention with a relative position scheme in training, with dropout.
struct Blocked {
  Extents e;
  Place place;
  Weights weights;
  std::unique_ptr<RelativePosition> position;
  Attention attention;
  Operand q, k, v;

  Blocked(LayerChoice choice, const Place& at, const Extents& extents, double dropout = 0.25)
      : e(extents), place(at),
        position(place.info ? place.info->make_relative(weights.scope() / "position",
                                                        {e.heads, e.query_width, e.value_width, e.keys}, place.options)
                            : nullptr),
        attention(weights.scope(), (choice.attention.dropout = dropout, choice), e.score()), q(e.q(), 1, {-1, 1, 0}),
        k(e.k(), 2, {-1, 1, 0}), v(e.v(), 3, {-1, 1, 0}) {
    weights.fill(4);
  }

  // Whether this mask and this position scheme can be combined. If not, the scheme gives the reason.
  bool served(const Mask& mask) const {
    if (!position) return true;
    if (!serves(*place.info, place.options, {e.heads, e.query_width, e.value_width, e.keys}, mask.causal, mask.prefix))
      return false;
    return !mask.causal || mask.prefix > 1 || mask.offset + e.queries <= e.keys;
  }

  struct Outcome {
    std::vector<Real> result, gradients;
    std::uint64_t dropout_sites;
  };
  Shown look(const Mask& mask, std::int64_t rows) {
    Tape tape;
    tape.record(false);
    Shown shown(e);
    Pass pass = weights.pass(tape, {.observer = &shown});
    attention(pass, {.queries = q.on(tape),
                     .values = v.on(tape),
                     .keys = k.on(tape),
                     .mask = mask,
                     .position = position.get(),
                     .rows = rows});
    return shown;
  }

  // rows: queries per block; -1: all queries at once, with the weights.
  Outcome operator()(const Mask& mask, std::int64_t rows) {
    Tape tape;
    Pass pass = weights.pass(tape, {.training = true, .seed = 3, .step = 5, .first_sequence = 2});
    for (Operand* x : {&q, &k, &v}) x->gradient.assign(x->values.size(), Real(7));
    weights.gradients.assign(weights.gradients.size(), Real(7));
    const AttentionInputs inputs{.queries = q.on(tape),
                                 .values = v.on(tape),
                                 .keys = k.on(tape),
                                 .mask = mask,
                                 .position = position.get(),
                                 .rows = std::max<std::int64_t>(rows, 0)};
    Tensor w;
    const Tensor y = rows < 0 ? attention(pass, inputs, &w) : attention(pass, inputs);
    tape.backward(weighted_sum(y));
    pass.finish_gradients();
    Outcome out{read(y), {}, pass.state().dropout_sites};
    for (const auto& [operand, leaf] : {std::pair{&q, inputs.queries}, {&k, *inputs.keys}, {&v, inputs.values}}) {
      if (Tape::untouched(leaf)) out.gradients.insert(out.gradients.end(), operand->values.size(), Real{0});
      else out.gradients.insert(out.gradients.end(), operand->gradient.begin(), operand->gradient.end());
    }
    out.gradients.insert(out.gradients.end(), weights.gradients.begin(), weights.gradients.end());
    return out;
  }
};

const PositionInfo& shaw() { return position_info("shaw"); }

} // namespace

TEST_CASE("blocks give what the whole gives, with every score, normaliser, relative position and mask",
          "[attention][blocks][contract]") {
  int compared = 0;
  const std::vector<Place> every_place = places();
  const Extents e{.heads = 2, .queries = 5, .keys = 5, .query_width = 3, .key_width = 3, .value_width = 2};
  const std::vector<MaskCase> every_mask = masks(e);
  for_each_attention_in_turns([&](const LayerChoice& choice, const ScoreInfo&, Turns& turns) {
    for (const Place& place : every_place) {
      Blocked attention(choice, place, e);
      for (const MaskCase& mask : every_mask) {
        if (!attention.served(mask()) || !turns()) continue;
        INFO(place.text << ", " << mask.name);
        const auto expected = attention(mask(), -1), found = attention(mask(), 2);
        CHECK(distance(found.result, expected.result) < attention_tolerance);
        CHECK(distance(found.gradients, expected.gradients) < 5 * attention_tolerance);
        CHECK(found.dropout_sites == expected.dropout_sites);
        ++compared;
      }
    }
  });
  CHECK(compared > (std::getenv("HEED_VARIANTS") ? 10 : 1000));
}

TEST_CASE("blocks of any size, more keys than queries and fewer", "[attention][blocks]") {
  const LayerChoice choice = choice_of(score_info("additive"), {}, "sparsemax");
  for (const auto& [queries, keys] : {std::pair{7, 7}, {7, 12}, {12, 5}, {1, 9}})
    for (const Place& place : {Place{}, Place{"shaw", &shaw(), {{"values", true}}}}) {
      const Extents e{.heads = 2, .queries = queries, .keys = keys};
      Blocked attention(choice, place, e);
      for (const MaskCase& mask : masks(e))
        for (std::int64_t rows : {1, 3, 7, 20}) {
          INFO(e.text() << ", " << place.text << ", " << mask.name << ", " << rows << " rows");
          const auto expected = attention(mask(), -1), found = attention(mask(), rows);
          CHECK(distance(found.result, expected.result) < attention_tolerance);
          CHECK(distance(found.gradients, expected.gradients) < 5 * attention_tolerance);
        }
    }
}

TEST_CASE("heads that talk: blocks give what the whole gives, and the identity what heads give that don't",
          "[attention][blocks]") {
  for (const std::string word : {"scores", "weights", "both"})
    for (const std::string normalizer : {"softmax", "sparsemax", "gumbel"})
      for (const Place& place : {Place{}, Place{"alibi", &position_info("alibi"), {}}, Place{"shaw", &shaw(), {}}}) {
        const Extents e{.heads = 3, .queries = 5, .keys = 7};
        LayerChoice choice = choice_of(score_info("scaled_dot"), {}, normalizer);
        Blocked plain(choice, place, e, 0);
        choice.part_options["talking_heads"] = word;
        Blocked talking(choice, place, e), silent(choice, place, e, 0);
        plain.weights.parameters.initialise(1);
        silent.weights.parameters.initialise(1);
        for (const MaskCase& mask : masks(e)) {
          INFO(word << ", " << normalizer << ", " << place.text << ", " << mask.name);
          const auto expected = talking(mask(), -1), found = talking(mask(), 2);
          CHECK(distance(found.result, expected.result) < attention_tolerance);
          CHECK(distance(found.gradients, expected.gradients) < 5 * attention_tolerance);
          CHECK(found.dropout_sites == expected.dropout_sites);
          CHECK(distance(silent(mask(), 2).result, plain(mask(), -1).result) < attention_tolerance);
        }
      }
}

TEST_CASE("an entry's numbers are the same bits whatever else is in the batch", "[attention][blocks]") {
  const Extents alone{.batch = 1, .heads = 2, .queries = 6, .keys = 6},
      among{.batch = 3, .heads = 2, .queries = 6, .keys = 6};
  Blocked one(choice_of(score_info("dot"), {}, "sparsemax"), {"shaw", &shaw(), {}}, alone, 0),
      three(choice_of(score_info("dot"), {}, "sparsemax"), {"shaw", &shaw(), {}}, among, 0);
  for (auto [a, b] : {std::pair{&one.q, &three.q}, {&one.k, &three.k}, {&one.v, &three.v}})
    a->values.assign(b->values.begin(), b->values.begin() + a->shape.size());
  const auto single = one({.causal = true}, 4), several = three({.causal = true}, 4);
  CHECK(single.result == std::vector<Real>(several.result.begin(), several.result.begin() + std::ssize(single.result)));
  const std::ptrdiff_t of_queries = alone.q().size();
  CHECK(std::equal(single.gradients.begin(), single.gradients.begin() + of_queries, several.gradients.begin()));
}

TEST_CASE("small attention is not cut, and the rule knows nothing of the batch", "[attention][blocks]") {
  const ScoreForm none;
  CHECK(queries_at_a_time({16, 4, 64, 32}, 64, none) == 0);
  const std::int64_t rows = queries_at_a_time({1, 4, 2048, 32}, 2048, none);
  CHECK(rows > 0);
  CHECK(rows < 2048);
  CHECK(queries_at_a_time({64, 4, 2048, 32}, 2048, none) == rows);
  CHECK(queries_at_a_time({1, 4, 1 << 20, 32}, 1 << 20, none) > 0);
}

TEST_CASE("memory grows linearly with the length, in the kernels and in blocks", "[attention][blocks][many]") {
  const auto peak = [](std::int64_t length, const std::string& normalizer, const Place& place) {
    const Extents e{.batch = 1, .heads = 2, .queries = length, .keys = length};
    Blocked attention(choice_of(score_info("dot"), {}, normalizer), place, e);
    Tape tape;
    Pass pass = attention.weights.pass(tape, {.training = true});
    const Tensor y = attention.attention(pass, {.queries = attention.q.on(tape),
                                                .values = attention.v.on(tape),
                                                .keys = attention.k.on(tape),
                                                .mask = {.causal = true},
                                                .position = attention.position.get()});
    tape.backward(weighted_sum(y));
    return static_cast<double>(tape.peak());
  };
  for (const auto& [normalizer, place] : {std::pair{"sparsemax", Place{}},
                                          {"softmax", Place{"shaw", &shaw(), {{"values", true}}}},
                                          {"gumbel", Place{"skewed", &position_info("skewed"), {}}}}) {
    INFO(normalizer << ", " << place.text);
    CHECK(peak(2048, normalizer, place) < 4.4 * peak(512, normalizer, place));
  }
}

TEST_CASE("within blocks, what is random must be by query and key", "[attention][blocks]") {
  Weights weights;
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true, .seed = 1});
  Pass part(pass.state(), {.entry = 0, .first_query = 2, .some_queries = 2, .some_keys = 4, .queries = 6, .keys = 6});
  CHECK_THROWS_WITH(part.dropout(tape.zeros({1, 2, 2, 3}), 0.5),
                    Catch::Contains("[1, H, 2, 4]") && Catch::Contains("[1, 2, 2, 3]"));
  // Dropout of a block must give the same values as dropout of the whole at the same elements.
  const std::vector<Real> ones(1 * 2 * 6 * 6, Real{1});
  Pass again = weights.pass(tape, {.training = true, .seed = 1});
  const Tensor whole = again.dropout(tape.copy(ones.data(), {1, 2, 6, 6}), 0.5);
  Pass fresh(weights.pass(tape, {.training = true, .seed = 1}).state(),
             {.entry = 0, .first_query = 2, .some_queries = 2, .some_keys = 4, .queries = 6, .keys = 6});
  const Tensor some = fresh.dropout(tape.copy(ones.data(), {1, 2, 2, 4}), 0.5);
  CHECK(read(some) == read(slice(slice(whole, 2, 2, 2), 3, 0, 4)));
}

TEST_CASE("the scores that are shown give the weights that are shown, whole and in parts",
          "[attention][blocks][looks]") {
  int compared = 0;
  const std::vector<Place> all = places();
  for_each_attention([&](const LayerChoice& choice, const ScoreInfo& score) {
    const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
    // With normalisers whose weights jump, two keys that are equal up to rounding may swap ranks.
    if (normalizer.gradient_of) return;
    // The observer sees scores before the normaliser, so two normalisers suffice for all scores, and one score for all
    // normalisers.
    const bool all_places = normalizer.about.name == "softmax" || normalizer.about.name == "sum";
    if (!all_places && score.about.name != "dot") return;
    for (const Place& place : std::span(all).first(all_places ? all.size() : 1)) {
      const Extents e{.heads = 2, .queries = 5, .keys = 5, .query_width = 3, .key_width = 3, .value_width = 2};
      Blocked attention(choice, place, e, 0);
      for (const MaskCase& mask : masks(e)) {
        if (!attention.served(mask())) continue;
        INFO(place.text << ", " << mask.name);
        const Shown whole = attention.look(mask(), 0), parts = attention.look(mask(), 2);
        CHECK(whole.parts == 1);
        CHECK(parts.parts == 6);
        std::vector<Real> expected(whole.scores_of_all.size());
        bool alike = true;
        for (std::size_t row = 0; row < expected.size(); row += 5) {
          std::vector<Real> seen, weights(5);
          RowKeys keys;
          const auto own = static_cast<std::size_t>(mask.mask.offset) + row / 5 % static_cast<std::size_t>(e.queries);
          for (std::size_t j = 0; j < 5; ++j) {
            const Real s = whole.scores_of_all[row + j], other = parts.scores_of_all[row + j];
            alike = alike && (s == other || std::abs(s - other) < 5 * attention_tolerance);
            if (!std::isfinite(s)) continue;
            seen.push_back(s);
            ++keys.n;
            keys.earlier += j < own ? 1 : 0;
            keys.own = keys.own || j == own;
          }
          if (seen.empty()) continue;
          normalizer.row(seen.data(), weights.data(), keys, choice.normalizer_options);
          for (std::size_t j = 0, at = 0; j < 5; ++j)
            if (std::isfinite(whole.scores_of_all[row + j])) expected[row + j] = weights[at++];
        }
        CHECK(alike);
        CHECK(distance(whole.weights_of_all, expected) < 5 * attention_tolerance);
        ++compared;
      }
    }
  });
  CHECK(compared > 100);
}

TEST_CASE("a formula's scores are shown as it makes them, without the pairs that it hides",
          "[attention][blocks][looks]") {
  LayerChoice choice = choice_of(score_info("scaled_dot"), {}, "softmax");
  choice.attention.score_mod = "3 * s + h - i * j";
  choice.attention.mask_mod = "j != 1 or b == 1";
  const Extents e{.heads = 2, .queries = 5, .keys = 5, .query_width = 4, .key_width = 4};
  Blocked attention(choice, {}, e, 0);
  for (const std::int64_t rows : {0, 2}) {
    const Shown shown = attention.look({.causal = true}, rows);
    for (std::int64_t b = 0, at = 0; b < 2; ++b)
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < 5; ++i)
          for (std::int64_t j = 0; j < 5; ++j, ++at) {
            const Real found = shown.scores_of_all[static_cast<std::size_t>(at)];
            if (j > i || (j == 1 && b != 1)) {
              CHECK(found == -std::numeric_limits<Real>::infinity());
              continue;
            }
            Real dot = 0;
            for (std::int64_t d = 0; d < 4; ++d)
              dot += attention.q.values[static_cast<std::size_t>(((b * 2 + h) * 5 + i) * 4 + d)] *
                     attention.k.values[static_cast<std::size_t>(((b * 2 + h) * 5 + j) * 4 + d)];
            CHECK(std::abs(found - (3 * dot / 2 + static_cast<Real>(h - i * j))) < 5 * attention_tolerance);
          }
  }
}
