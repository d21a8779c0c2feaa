// Test support for attention: problems with given shapes, all kinds of masks, and a reference implementation in plain
// loops.
#pragma once

#include "layers/attention/attention.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/layer_support.hpp"
#include "tests/wanted.hpp"

#include <cstdlib>
#include <type_traits>

namespace heed::HEED_REAL {

/// Is there self attention of these sizes with this positional scheme, and with these options? The exclusions are
/// evaluated once for each scheme and kind of mask, because tests ask for every score and normaliser.
inline bool serves(const PositionInfo& scheme, const OptionValues& options, const RelativeSizes& sizes, bool causal,
                   std::int64_t prefix = AttentionOptions().prefix) {
  if (scheme.wrong_sizes && !scheme.wrong_sizes(sizes, options).empty()) return false;
  struct Known {
    const PositionInfo* scheme;
    OptionValues options;
    bool causal;
    std::int64_t prefix;
    bool serves;
  };
  static std::vector<Known> known;
  for (const Known& k : known)
    if (k.scheme == &scheme && k.causal == causal && k.prefix == prefix && k.options == options) return k.serves;
  LayerChoice choice;
  choice.attention.causal = causal;
  choice.attention.prefix = prefix;
  choice.position.kind = scheme.about.name;
  choice.position_options = options;
  known.push_back({&scheme, options, causal, prefix, !excluded(choice, true)});
  return known.back().serves;
}

/// Allowed rounding error of scores that are sums of a few products of values below 1, and of results computed from
/// their exponentials.
inline constexpr double attention_tolerance = 20 * rounding;

/// The dimensions of an attention problem.
struct Extents {
  std::int64_t batch = 2, heads = 1, queries = 5, keys = 5, query_width = 4, key_width = 4, value_width = 3;

  Shape q() const { return {batch, heads, queries, query_width}; }
  Shape k() const { return {batch, heads, keys, key_width}; }
  Shape v() const { return {batch, heads, keys, value_width}; }
  /// As in the third block of a stack over images whose rows have three patches, for formulas.
  ScoreSizes score() const {
    return {.heads = heads,
            .query_width = query_width,
            .key_width = key_width,
            .longest = keys,
            .layer = 2,
            .patches_in_row = 3};
  }
  std::string text() const { return "q " + q().text() + ", k " + k().text() + ", v " + v().text(); }
};

/// A mask with the memory that its pointers refer to.
struct MaskCase {
  std::string name;
  Mask mask;
  std::vector<std::int32_t> lengths;
  std::vector<std::uint8_t> allowed;

  Mask operator()() const {
    Mask m = mask;
    if (!lengths.empty()) m.lengths = lengths.data();
    if (!allowed.empty()) m.allowed = allowed.data();
    return m;
  }
};

/// All kinds of masks of the contract (autograd/mask.hpp), and all kinds at once. Some masks leave queries without a
/// key: lengths of 0, windows beyond the last key, rows of `allowed` without an entry.
inline std::vector<MaskCase> masks(const Extents& e) {
  std::vector<std::int32_t> lengths, none;
  for (std::int64_t b = 0; b < e.batch; ++b) {
    lengths.push_back(static_cast<std::int32_t>(b % 2 ? e.keys : (e.keys + 1) / 2));
    none.push_back(static_cast<std::int32_t>(b % 2 ? 0 : e.keys));
  }
  const auto pattern = [&](std::int64_t matrices) {
    std::vector<std::uint8_t> out;
    for (std::int64_t i = 0; i < matrices * e.queries; ++i)
      for (std::int64_t j = 0; j < e.keys; ++j)
        out.push_back(static_cast<std::uint8_t>(i % 4 != 2 && (5 * i + 3 * j + i * j) % 3 != 0));
    return out;
  };
  const std::vector<std::uint8_t> shared = pattern(1), each = pattern(e.batch);
  return {{"no mask", {}, {}, {}},
          {"causal", {.causal = true}, {}, {}},
          {"causal after 2 earlier keys", {.causal = true, .offset = 2}, {}, {}},
          {"causal behind a prefix", {.causal = true, .prefix = 3}, {}, {}},
          {"causal window behind a prefix", {.causal = true, .prefix = 2, .window = 1}, {}, {}},
          {"causal window behind a prefix, and padding", {.causal = true, .prefix = 1, .window = 0}, lengths, {}},
          {"padding", {}, lengths, {}},
          {"a sequence that is all padding", {}, none, {}},
          {"window", {.window = 1}, {}, {}},
          {"causal window after 1 earlier key", {.causal = true, .offset = 1, .window = 2}, {}, {}},
          {"causal dilated window behind a prefix",
           {.causal = true, .prefix = 1, .offset = 1, .window = 4, .dilation = 2},
           {},
           {}},
          {"allowed, one matrix", {}, {}, shared},
          {"allowed, a matrix for each sequence", {.allowed_shared = false}, {}, each},
          {"everything at once",
           {.causal = true, .prefix = 2, .offset = 1, .window = 1, .allowed_shared = false},
           lengths,
           each}};
}

/// Whether query i of batch entry b may attend to key j. Checks the conditions of autograd/mask.hpp one by one.
inline bool may_attend(const Mask& m, const Extents& e, std::int64_t b, std::int64_t i, std::int64_t j) {
  const bool in_prefix = j < m.prefix;
  if (m.causal && j > i + m.offset && !in_prefix) return false;
  if (m.window >= 0 && std::abs(j - (i + m.offset)) > m.window && !in_prefix) return false;
  if ((j - (i + m.offset)) % m.dilation != 0 && !in_prefix) return false;
  if (m.lengths && j >= m.lengths[b]) return false;
  if (m.allowed && !m.allowed[((m.allowed_shared ? 0 : b) * e.queries + i) * e.keys + j]) return false;
  return true;
}

/// The row of query i: its keys, counted one by one. `allows`: a further condition, such as a formula's.
inline RowKeys keys_of(const Mask& m, const Extents& e, std::int64_t b, std::int64_t i,
                       const std::function<bool(std::int64_t j)>& allows = {}) {
  RowKeys out;
  for (std::int64_t j = 0; j < e.keys; ++j) {
    if (!may_attend(m, e, b, i, j) || (allows && !allows(j))) continue;
    ++out.n;
    if (j < i + m.offset) ++out.earlier;
    if (j == i + m.offset) out.own = true;
  }
  return out;
}

/// A layer choice with one score and one normaliser.
inline LayerChoice choice_of(const ScoreInfo& score, const OptionValues& score_options = {},
                             const std::string& normalizer = "softmax", const OptionValues& normalizer_options = {}) {
  LayerChoice c;
  c.attention.score = score.about.name;
  c.attention.normalizer = normalizer;
  c.score_options = score_options;
  c.normalizer_options = normalizer_options;
  return c;
}

/// Can attention use it in which a query has no position among the keys, such as cross attention and pooling?
inline bool serves_without_positions(const LayerChoice& choice) {
  Weights unused;
  return !normalizer_info(choice.attention.normalizer).make(unused.scope(), 1, choice.normalizer_options)->is_ordered();
}

/// Weights [B, H, Tq, Tk] and results [B, H, Tq, Dv] of an attention.
struct Attended {
  std::vector<Real> weights, result;
};

/// A query and a key: batch entry, head, and their indices.
struct Pair {
  std::int64_t b, h, i, j;
};

/// What the loops below ask of each pair. `score` also gets the keys of the query's row, counted.
struct PlainLoops {
  std::function<Real(const Pair&, const RowKeys&)> score;
  std::function<std::vector<double>(const Pair&)> value;
  std::function<bool(const Pair&)> allows = {}; ///< beyond the mask; empty: every pair
};

/// Attention in plain loops, in double: the weights by NormalizerInfo::row, and the weighted sums of the values.
struct PlainAttended {
  std::vector<Real> weights;  ///< [B, H, Tq, Tk]
  std::vector<double> result; ///< [B, H, Tq, Dv]
};
inline PlainAttended plain_attention(const Extents& e, const Mask& mask, const LayerChoice& choice,
                                     const PlainLoops& loops) {
  const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
  PlainAttended out;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h)
      for (std::int64_t i = 0; i < e.queries; ++i) {
        const auto allows = [&](std::int64_t j) { return !loops.allows || loops.allows({b, h, i, j}); };
        const RowKeys row = keys_of(mask, e, b, i, allows);
        std::vector<Real> scores;
        std::vector<std::int64_t> keys;
        for (std::int64_t j = 0; j < e.keys; ++j) {
          if (!may_attend(mask, e, b, i, j) || !allows(j)) continue;
          scores.push_back(loops.score({b, h, i, j}, row));
          keys.push_back(j);
        }
        std::vector<Real> w(scores.size()), all(static_cast<std::size_t>(e.keys));
        normalizer.row(scores.data(), w.data(), row, choice.normalizer_options);
        std::vector<double> y(static_cast<std::size_t>(e.value_width));
        for (std::size_t n = 0; n < keys.size(); ++n) {
          all[static_cast<std::size_t>(keys[n])] = w[n];
          const std::vector<double> value = loops.value({b, h, i, keys[n]});
          for (std::size_t d = 0; d < y.size(); ++d) y[d] += static_cast<double>(w[n]) * value[d];
        }
        out.weights.insert(out.weights.end(), all.begin(), all.end());
        out.result.insert(out.result.end(), y.begin(), y.end());
      }
  return out;
}

/// The vectors of a pair's query, key and value. No heads share keys.
inline const Real* query_at(const Extents& e, const std::vector<Real>& q, const Pair& p) {
  return q.data() + ((p.b * e.heads + p.h) * e.queries + p.i) * e.query_width;
}
inline const Real* key_at(const Extents& e, const std::vector<Real>& k, const Pair& p) {
  return k.data() + ((p.b * e.heads + p.h) * e.keys + p.j) * e.key_width;
}
inline std::vector<double> value_at(const Extents& e, const std::vector<Real>& v, const Pair& p) {
  const Real* value = v.data() + ((p.b * e.heads + p.h) * e.keys + p.j) * e.value_width;
  return {value, value + e.value_width};
}

/// The score of a query and a key by ScoreInfo::pair. `own` are the score's parameters.
inline Real plain_score(const LayerChoice& choice, const Extents& e, const Real* query, const Real* key, const Pair& p,
                        const std::vector<const Real*>& own) {
  return score_info(choice.attention.score).pair({query, key, e.score(), p.h, own, &choice.score_options, p.j});
}

/// The parameters of a score, if there are only its own and those of a normaliser.
inline std::vector<const Real*> score_parameters(Parameters& parameters) {
  std::vector<const Real*> own;
  for (std::size_t p = 0; p < parameters.entries().size(); ++p)
    if (!Weights::of_normalizer(parameters.entries()[p])) own.push_back(parameters.values(ParameterId{p}));
  return own;
}

/// The queries, keys and values of a problem, and an attention with random parameters.
struct AttentionCase {
  Extents extents;
  LayerChoice choice;
  Weights weights;
  Attention attention;
  Operand q, k, v;

  AttentionCase(const LayerChoice& c, const Extents& e)
      : extents(e), choice(c), attention(weights.scope(), c, e.score()), q(e.q(), 1, {-1, 1, 0}),
        k(e.k(), 2, {-1, 1, 0}), v(e.v(), 3, {-1, 1, 0}) {
    weights.fill(4);
  }

  /// The result is from a call without weights, which may use another algorithm than a call with weights.
  Attended operator()(const Mask& mask) {
    Tape tape;
    Pass pass = weights.pass(tape);
    Tensor w;
    const AttentionInputs inputs{.queries = q.on(tape), .values = v.on(tape), .keys = k.on(tape), .mask = mask};
    const Tensor y = attention(pass, inputs);
    CHECK(distance(read(attention(pass, inputs, &w)), read(y)) < attention_tolerance);
    return {read(w), read(y)};
  }

  /// The gradients of a weighted sum of the result by q, k, v and the parameters, concatenated.
  std::vector<Real> gradients(const Mask& mask, bool with_weights) {
    Tape tape;
    Pass pass = weights.pass(tape, {.training = true});
    for (Operand* x : {&q, &k, &v}) x->gradient.assign(x->values.size(), Real(7));
    weights.gradients.assign(weights.gradients.size(), Real(7));
    const Tensor on_q = q.on(tape), on_k = k.on(tape), on_v = v.on(tape);
    const AttentionInputs inputs{.queries = on_q, .values = on_v, .keys = on_k, .mask = mask};
    Tensor w;
    tape.backward(weighted_sum(with_weights ? attention(pass, inputs, &w) : attention(pass, inputs)));
    pass.finish_gradients();
    std::vector<Real> out;
    for (const auto& [operand, leaf] : {std::pair{&q, on_q}, {&k, on_k}, {&v, on_v}}) {
      if (Tape::untouched(leaf)) out.insert(out.end(), operand->values.size(), Real{0});
      else out.insert(out.end(), operand->gradient.begin(), operand->gradient.end());
    }
    for (const auto& e : weights.parameters.entries()) {
      const std::vector<Real> gradient = weights.gradient(e.name);
      out.insert(out.end(), gradient.begin(), gradient.end());
    }
    return out;
  }

  /// In plain loops. `bias` is added to the score of a pair; empty: nothing.
  Attended naive(const Mask& mask, const std::function<double(const Pair&)>& bias = {}) {
    const std::vector<const Real*> own = score_parameters(weights.parameters);
    const PlainAttended found =
        plain_attention(extents, mask, choice,
                        {.score =
                             [&](const Pair& p, const RowKeys&) {
                               const Real s = plain_score(choice, extents, query_at(extents, q.values, p),
                                                          key_at(extents, k.values, p), p, own);
                               return bias ? static_cast<Real>(static_cast<double>(s) + bias(p)) : s;
                             },
                         .value = [&](const Pair& p) { return value_at(extents, v.values, p); }});
    return {found.weights, {found.result.begin(), found.result.end()}};
  }
};

#ifdef HEED_INSTRUMENTED
constexpr int one_pair_in = 8, one_case_in = 32;
#else
constexpr int one_pair_in = 1, one_case_in = 8;
#endif

/// Calls `use` for each score in each of its setups, with each normaliser in each of its setups. `place` is the index
/// of the score plus the index of the normaliser, so each score and each normaliser occurs with every remainder of
/// `place`. With HEED_VARIANTS, only pairs that contain one of its names (tests/wanted.hpp).
inline void for_each_pair(const std::function<void(const LayerChoice&, const ScoreInfo&, int place)>& use) {
  std::vector<std::pair<const NormalizerInfo*, std::vector<Setup>>> each_normalizer;
  for (const NormalizerInfo* normalizer : normalizers())
    each_normalizer.emplace_back(normalizer, setups(normalizer->about));
  int row = 0;
  for (const ScoreInfo* score : scores())
    for (const Setup& s : setups(score->about)) {
      int place = row++;
      for (const auto& [normalizer, its_setups] : each_normalizer)
        for (const Setup& n : its_setups) {
          INFO("score " << s.text << ", normaliser " << n.text);
          const int here = place++;
          if (wanted(score->about.name) || wanted(normalizer->about.name))
            use(choice_of(*score, s.options, normalizer->about.name, n.options), *score, here);
        }
    }
}

/// All pairs; in instrumented builds, one pair in eight.
inline void for_each_attention(const std::function<void(const LayerChoice&, const ScoreInfo&)>& use) {
  for_each_pair([&](const LayerChoice& choice, const ScoreInfo& score, int place) {
    if (place % one_pair_in == 0) use(choice, score);
  });
}

/// Selects the cases of a pair that are tested. Scores, normalisers, masks and sizes would multiply, so each pair tests
/// only every n-th case, and the next pair starts one case earlier. In this way each score meets every mask with every
/// size, with some normaliser, and so does each normaliser. float32 and float64 test different cases. With HEED_LONG,
/// all cases are tested.
class Turns {
public:
  explicit Turns(int place) : next_(place + (std::is_same_v<Real, float> ? one_case_in / 2 : 0)) {}
  /// Call it once for each case, always in the same order.
  bool operator()() {
    static const int one_in = std::getenv("HEED_LONG") ? 1 : one_case_in;
    return next_++ % one_in == 0;
  }

private:
  int next_;
};

/// All pairs; `turns` selects the cases of each pair.
inline void for_each_attention_in_turns(
    const std::function<void(const LayerChoice&, const ScoreInfo&, Turns& turns)>& use) {
  for_each_pair([&](const LayerChoice& choice, const ScoreInfo& score, int place) {
    Turns turns(place);
    use(choice, score, turns);
  });
}

/// Decodes four tokens of two sequences, then two more of the second one, of this again and of the first one: the
/// results are those of the whole sequences.
/// @param made  an attention of this width with its weights; `run` gives its outputs for whole sequences
template <class Case> void check_chosen_sequences(Case& made, std::int64_t width) {
  Operand x({2, 6, width}, 5, {-1, 1, 0});
  Tape tape;
  tape.record(false);
  Pass pass = made.weights.pass(tape);
  const Tensor all = x.on(tape);
  std::unique_ptr<MixerState> past;
  made.attention->step(pass, slice(all, 1, 0, 4), {.causal = true}, past);
  CHECK(past->length() == 4);
  past->select(std::vector<std::int64_t>{1, 1, 0});
  const Tensor next = slice(all, 1, 4, 2), first = slice(next, 0, 0, 1), second = slice(next, 0, 1, 1);
  const std::vector<Real> found = read(made.attention->step(pass, concat({second, second, first}, 0), {.causal = true},
                                                            past));
  const std::vector<Real> whole = made.run(x);
  const auto tokens = [&](const std::vector<Real>& of, std::int64_t begin) {
    return std::vector<Real>(of.begin() + begin * width, of.begin() + (begin + 2) * width);
  };
  CHECK(distance(tokens(found, 0), tokens(whole, 6 + 4)) < attention_tolerance);
  CHECK(distance(tokens(found, 2), tokens(whole, 6 + 4)) < attention_tolerance);
  CHECK(distance(tokens(found, 4), tokens(whole, 4)) < attention_tolerance);
}

} // namespace heed::HEED_REAL
