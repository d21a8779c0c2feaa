// Selections of blocks of keys (attention.selection), besides their plain loops (parts_test.cpp): every score and
// normaliser with the keys that plain loops choose, equality with full attention, ties, causality, batches, segments,
// lengths, decoding, and costs.
#include "autograd/kernels/packed_product.hpp"
#include "autograd/operation_count.hpp"
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>
#include <numeric>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

OptionValues moba(std::int64_t block, std::int64_t chosen) {
  return {{"selection", std::string("moba")}, {"selection_block", block}, {"selection_chosen", chosen}};
}

OptionValues nsa(std::int64_t block, std::int64_t chosen, std::int64_t window) {
  OptionValues out = moba(block, chosen);
  out["selection"] = std::string("nsa");
  out["selection_window"] = window;
  return out;
}

// The blocks of keys as [first, end), counted anew in each segment.
std::vector<std::pair<std::int64_t, std::int64_t>> blocks_of(std::int64_t keys, std::int64_t block,
                                                             const std::int32_t* segments) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::int64_t begin = 0; begin < keys;) {
    std::int64_t end = begin + 1;
    while (end < keys && end < begin + block && (!segments || segments[end] == segments[begin])) ++end;
    out.emplace_back(begin, end);
    begin = end;
  }
  return out;
}

// Does query i attend to key j? `seen`: by the mask.
bool is_chosen(const AttentionCase& c, std::int64_t block, std::int64_t chosen, const Mask& mask, const Pair& p,
               const std::function<bool(const Pair&)>& seen) {
  const Extents& e = c.extents;
  const auto blocks = blocks_of(e.keys, block, mask.key_segments.numbers ? mask.key_segments.of(p.b) : nullptr);
  std::vector<std::pair<double, std::int64_t>> rated; // minus the score, the block
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const auto [begin, end] = blocks[n];
    const bool is_own = begin <= p.i + mask.offset && p.i + mask.offset < end, has_key = begin <= p.j && p.j < end;
    if (is_own && has_key) return true;
    if (end > p.i + mask.offset) break;
    bool is_seen = false;
    double score = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      is_seen = is_seen || seen({p.b, p.h, p.i, j});
      for (std::int64_t d = 0; d < e.query_width; ++d)
        score += static_cast<double>(query_at(e, c.q.values, p)[d]) *
                 static_cast<double>(key_at(e, c.k.values, {p.b, p.h, p.i, j})[d]);
    }
    if (is_seen) rated.emplace_back(-score / static_cast<double>(end - begin), static_cast<std::int64_t>(n));
  }
  std::ranges::sort(rated);
  for (std::size_t n = 0; n < rated.size() && static_cast<std::int64_t>(n) < chosen - 1; ++n) {
    const auto [begin, end] = blocks[static_cast<std::size_t>(rated[n].second)];
    if (begin <= p.j && p.j < end) return true;
  }
  return false;
}

constexpr std::int64_t selecting_width = 8;

// Multi-head self attention.
struct Selecting {
  Weights weights;
  LayerChoice choice;
  std::optional<MultiHeadAttention> attention;

  explicit Selecting(const OptionValues& options, const std::function<void(LayerChoice&)>& change = {}) {
    choice.part_options = options;
    if (change) change(choice);
    attention.emplace(weights.scope(), choice,
                      MultiHeadAttention::Sizes{.width = selecting_width, .heads = 2, .longest = 64}, Init::normal(1));
    weights.fill(3);
  }
  std::vector<Real> run(const Tensor& x, const Mask& mask = {.causal = true}) {
    Pass pass = weights.pass(*x.tape);
    return read((*attention)(pass, x, mask));
  }
  std::vector<Real> run(Operand& x, const Mask& mask = {.causal = true}) {
    Tape tape;
    return run(x.on(tape), mask);
  }
};

std::vector<Real> tokens_of(const std::vector<Real>& of, std::int64_t begin, std::int64_t n) {
  return {of.begin() + begin * selecting_width, of.begin() + (begin + n) * selecting_width};
}

} // namespace

TEST_CASE("a selection serves every score and normaliser: attention to the keys that plain loops choose",
          "[attention][contract]") {
  const auto few = selection_moba.make({.block = 3, .chosen = 2}),
             more = selection_moba.make({.block = 2, .chosen = 3});
  const Extents square{.heads = 2, .queries = 13, .keys = 13}, after{.heads = 2, .queries = 4, .keys = 13};
  const std::int32_t lengths[] = {13, 8}, segments[] = {0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, //
                                                        0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  const std::vector<MaskCase> every_mask{
      {"causal", {.causal = true}, {}, {}},
      {"lengths", {.causal = true}, {lengths, lengths + 2}, {}},
      {"segments", {.causal = true, .query_segments = {segments, 13}, .key_segments = {segments, 13}}, {}, {}}};
  int compared = 0;
  for_each_attention_in_turns([&](const LayerChoice& choice, const ScoreInfo&, Turns& turns) {
    for (const Extents& e : {square, after}) {
      AttentionCase c(choice, e);
      for (const bool is_few : {true, false})
        for (const MaskCase& one : every_mask) {
          if (!turns()) continue;
          Mask mask = one();
          mask.offset = e.keys - e.queries;
          INFO(one.name << ", " << e.queries << " queries, few " << is_few);
          const auto seen = [&](const Pair& p) { return may_attend(mask, e, p.b, p.i, p.j); };
          const std::vector<const Real*> own = score_parameters(c.weights.parameters);
          const PlainAttended expected = plain_attention(
              e, mask, choice,
              {.score =
                   [&](const Pair& p, const RowKeys&) {
                     return plain_score(choice, e, query_at(e, c.q.values, p), key_at(e, c.k.values, p), p, own);
                   },
               .value = [&](const Pair& p) { return value_at(e, c.v.values, p); },
               .allows = [&](const Pair& p) { return is_chosen(c, is_few ? 3 : 2, is_few ? 2 : 3, mask, p, seen); }});
          Tape tape;
          Pass pass = c.weights.pass(tape);
          AttentionInputs inputs{.queries = c.q.on(tape),
                                 .values = c.v.on(tape),
                                 .keys = c.k.on(tape),
                                 .mask = mask,
                                 .selection = (is_few ? few : more).get()};
          Tensor w;
          const std::vector<Real> whole = read(c.attention(pass, inputs, &w));
          CHECK(distance(read(w), expected.weights) < attention_tolerance);
          CHECK(distance(whole, std::vector<Real>(expected.result.begin(), expected.result.end())) <
                attention_tolerance);
          CHECK(distance(read(c.attention(pass, inputs)), whole) < attention_tolerance);
          inputs.rows = 3;
          CHECK(distance(read(c.attention(pass, inputs)), whole) < attention_tolerance);
          ++compared;
        }
    }
  });
  CHECK(compared > 20);
}

TEST_CASE("with all blocks chosen, moba is full attention, to the last bit", "[attention]") {
  Operand x({2, 40, selecting_width}, 5, {-1, 1, 0});
  Selecting full({}), all(moba(8, 5)), some(moba(8, 4));
  CHECK(all.run(x) == full.run(x));
  CHECK(distance(some.run(x), full.run(x)) > 1000 * attention_tolerance);
  // With segments, blocks are chosen in any case.
  const std::vector<std::int32_t> numbers(40);
  const Mask mask{.causal = true, .query_segments = {numbers.data(), 0}, .key_segments = {numbers.data(), 0}};
  CHECK(distance(all.run(x, mask), full.run(x)) < attention_tolerance);
}

TEST_CASE("of blocks with equal scores, a query attends to the earliest", "[attention]") {
  const auto two = selection_moba.make({.block = 2, .chosen = 3});
  const Extents e{.batch = 1, .heads = 1, .queries = 11, .keys = 11};
  AttentionCase c(choice_of(score_info("dot")), e);
  for (std::size_t n = 0; n < c.k.values.size(); ++n) c.k.values[n] = static_cast<Real>(n % 4 + 1) / 7;
  Tape tape;
  Pass pass = c.weights.pass(tape);
  Tensor w;
  c.attention(pass,
              {.queries = c.q.on(tape),
               .values = c.v.on(tape),
               .keys = c.k.on(tape),
               .mask = {.causal = true},
               .selection = two.get()},
              &w);
  const std::vector<Real> weights = read(w);
  for (std::int64_t i = 0; i < e.queries; ++i)
    for (std::int64_t j = 0; j < e.keys; ++j) {
      INFO(i << ", " << j);
      CHECK((weights[static_cast<std::size_t>(i * e.keys + j)] > 0) == (j <= i && (j < 4 || j / 2 == i / 2)));
    }
}

TEST_CASE("the gradients of a selection are those of attention to the chosen keys", "[attention][gradient]") {
  const auto few = selection_moba.make({.block = 3, .chosen = 2});
  const Extents e{.heads = 2, .queries = 11, .keys = 11};
  for (const std::string score : {"scaled_dot", "additive", "location"})
    for (const std::int64_t rows : {0, 4}) {
      INFO(score << ", " << rows);
      AttentionCase c(choice_of(score_info(score)), e);
      std::vector<std::uint8_t> allowed;
      const Mask causal{.causal = true};
      for (std::int64_t b = 0; b < e.batch; ++b)
        for (std::int64_t h = 0; h < e.heads; ++h)
          for (std::int64_t i = 0; i < e.queries; ++i)
            for (std::int64_t j = 0; j < e.keys; ++j)
              allowed.push_back(is_chosen(c, 3, 2, causal, {b, h, i, j}, [](const Pair&) { return true; }) ? 1 : 0);
      std::vector<std::vector<Real>> found;
      for (const bool selects : {true, false}) {
        Mask mask = causal;
        if (!selects) {
          mask.allowed = allowed.data();
          mask.allowed_shared = false;
          mask.allowed_heads = e.heads;
        }
        Tape tape;
        Pass pass = c.weights.pass(tape);
        for (Operand* x : {&c.q, &c.k, &c.v}) x->gradient.assign(x->values.size(), Real(7));
        const Tensor y = c.attention(pass, {.queries = c.q.on(tape),
                                            .values = c.v.on(tape),
                                            .keys = c.k.on(tape),
                                            .mask = mask,
                                            .selection = selects ? few.get() : nullptr,
                                            .rows = rows});
        tape.backward(weighted_sum(y));
        found.push_back(read(y));
        if (score != "location") // which does not read keys
          for (const Operand* x : {&c.q, &c.k}) found.push_back(x->gradient);
        found.push_back(c.v.gradient);
      }
      for (std::size_t n = 0; n < found.size() / 2; ++n)
        CHECK(distance(found[n], found[n + found.size() / 2]) < attention_tolerance);
    }
}

TEST_CASE("with a selection, attention sees no later token and no other sequence", "[attention]") {
  for (const OptionValues& options : {moba(4, 3), nsa(4, 3, 5)})
    for (const std::int64_t length : {19, 600}) { // the second one in blocks of queries
      Selecting made(options);
      Operand x({2, length, selecting_width}, 5, {-1, 1, 0});
      const std::vector<Real> before = made.run(x);
      for (const std::int64_t token : {std::int64_t{0}, length / 2, length - 1}) {
        Operand changed = x;
        for (std::int64_t d = 0; d < selecting_width; ++d)
          changed.values[static_cast<std::size_t>(token * selecting_width + d)] += Real(0.5);
        const std::vector<Real> after = made.run(changed);
        CHECK(tokens_of(after, 0, token) == tokens_of(before, 0, token));
        CHECK(tokens_of(after, length, length) == tokens_of(before, length, length));
        CHECK(tokens_of(after, token, 1) != tokens_of(before, token, 1));
      }
      // A sequence has the same bits beside others. (BLAS, in portable builds, sums a row differently beside others.)
      Tape tape;
      const std::vector<Real> alone = made.run(slice(x.on(tape), 0, 1, 1)),
                              together = tokens_of(before, length, length);
      if (own_product) CHECK(alone == together);
      else CHECK(distance(alone, together) < attention_tolerance);
    }
}

TEST_CASE("blocks of a selection begin anew with each segment", "[attention]") {
  Selecting made(moba(2, 2), [](LayerChoice& choice) { choice.attention.mask_mod = "segment_i == segment_j"; });
  Operand x({1, 21, selecting_width}, 5, {-1, 1, 0});
  std::vector<std::int32_t> numbers(21);
  for (std::size_t t = 0; t < numbers.size(); ++t) numbers[t] = t < 7 ? 0 : t < 8 ? 1 : 2;
  Tape tape;
  const Tensor all = x.on(tape);
  const auto run = [&](std::int64_t first, std::int64_t n) {
    const Segments segments{numbers.data() + first, n};
    return made.run(slice(all, 1, first, n), {.causal = true, .query_segments = segments, .key_segments = segments});
  };
  const std::vector<Real> whole = run(0, 21);
  for (const auto& [first, n] : {std::pair{0, 7}, std::pair{7, 1}, std::pair{8, 13}})
    CHECK(distance(tokens_of(whole, first, n), run(first, n)) < attention_tolerance);
}

TEST_CASE("padding changes nothing of a selection", "[attention]") {
  for (const OptionValues& options : {moba(2, 2), nsa(2, 2, 3)}) {
    Selecting made(options);
    Operand x({2, 15, selecting_width}, 5, {-1, 1, 0});
    const std::int32_t lengths[] = {15, 9};
    const std::vector<Real> padded = made.run(x, {.causal = true, .lengths = lengths}), whole = made.run(x);
    CHECK(tokens_of(padded, 0, 15) == tokens_of(whole, 0, 15));
    CHECK(tokens_of(padded, 15, 9) == tokens_of(whole, 15, 9));
    Tape tape;
    const std::vector<Real> alone = made.run(slice(slice(x.on(tape), 0, 1, 1), 1, 0, 9));
    CHECK(distance(tokens_of(padded, 15, 9), alone) < attention_tolerance);
  }
}

TEST_CASE("decoding with a selection, by tokens or in pieces, gives the whole sequence's results", "[attention]") {
  std::vector<std::int32_t> numbers;
  for (int b = 0; b < 2; ++b)
    for (std::int32_t t = 0; t < 26; ++t) numbers.push_back(t / (b == 0 ? 9 : 5));
  for (const OptionValues& options : {moba(3, 2), nsa(3, 2, 4)})
    for (const std::string score : {"scaled_dot", "linear"})
      for (const std::string more : {"", "differential", "forget_gate", "convolution", "latent"})
        for (const bool is_segmented : {false, true}) {
          Selecting made(options, [&](LayerChoice& choice) {
            choice.attention.score = score;
            if (score == "linear") choice.attention.normalizer = "sum";
            if (more == "differential") choice.part_options[more] = std::string("v1");
            if (more == "forget_gate") choice.part_options[more] = true;
            if (more == "convolution") choice.part_options[more] = std::int64_t{3};
            if (more == "latent") choice.attention.projection = "latent";
          });
          Operand x({2, 26, selecting_width}, 5, {-1, 1, 0});
          const Segments segments{is_segmented ? numbers.data() : nullptr, 26};
          const Mask mask{.causal = true, .query_segments = segments, .key_segments = segments};
          const std::vector<Real> whole = made.run(x, mask);
          for (const std::int64_t piece : {1, 4}) {
            INFO(score << ", " << more << ", segments " << is_segmented << ", pieces of " << piece);
            std::unique_ptr<MixerState> past;
            for (std::int64_t t = 0; t < 26; t += piece) {
              const std::int64_t n = std::min<std::int64_t>(piece, 26 - t);
              Tape tape;
              tape.record(false);
              Pass pass = made.weights.pass(tape);
              const std::vector<Real> here = read(made.attention->step(pass, slice(x.on(tape), 1, t, n), mask, past));
              for (std::int64_t b = 0; b < 2; ++b)
                CHECK(distance(tokens_of(here, b * n, n), tokens_of(whole, b * 26 + t, n)) < attention_tolerance);
            }
          }
        }
}

TEST_CASE("sequences that are chosen in decoding attend to their own keys", "[attention]") {
  for (const OptionValues& options : {moba(2, 2), nsa(2, 2, 3)}) {
    Selecting made(options);
    Operand x({2, 12, selecting_width}, 5, {-1, 1, 0});
    Tape tape;
    tape.record(false);
    Pass pass = made.weights.pass(tape);
    const Tensor all = x.on(tape);
    std::unique_ptr<MixerState> past;
    made.attention->step(pass, slice(all, 1, 0, 10), {.causal = true}, past);
    past->select(std::vector<std::int64_t>{1, 1, 0});
    const Tensor next = slice(all, 1, 10, 2), first = slice(next, 0, 0, 1), second = slice(next, 0, 1, 1);
    const std::vector<Real> found = read(made.attention->step(pass, concat({second, second, first}, 0),
                                                              {.causal = true}, past));
    const std::vector<Real> whole = made.run(x);
    for (const auto& [at, from] : {std::pair{0, 22}, std::pair{2, 22}, std::pair{4, 10}})
      CHECK(distance(tokens_of(found, at, 2), tokens_of(whole, from, 2)) < attention_tolerance);
  }
}

TEST_CASE("the memory of a selection grows linearly, and its operations are counted", "[attention]") {
  const auto bytes = [](const OptionValues& options, std::int64_t length) {
    Selecting made(options);
    Operand x({1, length, selecting_width}, 5, {-1, 1, 0});
    Tape tape;
    Pass pass = made.weights.pass(tape);
    tape.backward(weighted_sum((*made.attention)(pass, x.on(tape), {.causal = true})));
    return static_cast<double>(tape.peak());
  };
  for (const OptionValues& options : {moba(16, 4), nsa(8, 4, 16)})
    CHECK(bytes(options, 4096) < 2.3 * bytes(options, 2048));
  const auto operations = [](const OptionValues& options, std::int64_t length) {
    Selecting made(options, [](LayerChoice& choice) { choice.part_options["talking_heads"] = std::string("both"); });
    Operand x({1, length, selecting_width}, 5, {-1, 1, 0});
    Tape tape;
    Pass pass = made.weights.pass(tape);
    const double before = counted_operations();
    tape.backward(weighted_sum((*made.attention)(pass, x.on(tape), {.causal = true})));
    return counted_operations() - before;
  };
  // 2 heads of 4 features; sums of 32 keys; 4 queries in each block; from the third block on, 2, 3, ..., 7 products
  const double products = 4 * (2 + 3 + 4 + 5 + 6 + 7);
  CHECK(operations(moba(4, 2), 32) - operations({}, 32) == 2 * 4 * (32 + 2 * products));
}

TEST_CASE("a selection is for causal self attention over all keys, and other attention refuses it or has none",
          "[attention]") {
  LayerChoice choice;
  choice.part_options = moba(2, 2);
  const auto why = [&](std::int64_t registers = 0) {
    return MultiHeadAttention::refusal_of(choice, {.width = 4, .heads = 2, .registers = registers}).why;
  };
  CHECK(why().empty());
  CHECK_THAT(why(2), Catch::Contains("a selection counts blocks from the first position, and registers have no"));
  choice.attention.prefix = 2;
  CHECK_THAT(why(), Catch::Contains("a prefix of at most 1"));
  choice.attention.prefix = 0;
  choice.attention.causal = false;
  CHECK_THAT(why(), Catch::Contains("attention.causal = true"));
  choice.attention.causal = true;
  choice.attention.window = 3;
  CHECK_THAT(why(), Catch::Contains("set attention.window = 0"));
  choice.attention.window = 0;
  choice.attention.dilation = 2;
  CHECK_THAT(why(), Catch::Contains("attention.dilation = 1"));
  choice.attention.dilation = 1;
  choice.part_options["persistent_keys"] = std::int64_t{2};
  CHECK_THAT(why(), Catch::Contains("set attention.persistent_keys = 0"));
  choice.part_options.erase("persistent_keys");
  CHECK(why().empty());
  choice.attention.normalizer = "gumbel";
  CHECK(why().empty());
  choice.part_options["selection"] = std::string("nsa");
  CHECK_THAT(why(), Catch::Contains("choose another normaliser, or attention.selection = \"moba\""));
  choice.attention.normalizer = "softmax";
  CHECK(why().empty());
  const Refusal of_segments = MultiHeadAttention::refusal_of(choice, {.width = 4, .heads = 2},
                                                             {{"model.segment_end", std::string("|")}});
  CHECK_THAT(of_segments.why, Catch::Contains("choose 'moba', or leave out model.segment_end"));
}

namespace {

// The weights of query i in head h of nsa, in plain loops: `scores` of all heads with the keys that the mask shows, and
// the numbers of these keys, from 0.
std::vector<double> nsa_weights(const LayerChoice& choice, const SelectionSizes& sizes, std::int64_t head,
                                std::int64_t at, const std::vector<std::vector<Real>>& scores,
                                const std::vector<Real>& gates) {
  const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
  const auto normalized = [&](const std::vector<Real>& s, bool has_own) {
    std::vector<Real> w(s.size());
    normalizer.row(s.data(), w.data(),
                   {.n = std::ssize(s), .earlier = std::ssize(s) - (has_own ? 1 : 0), .own = has_own},
                   choice.normalizer_options);
    return w;
  };
  const std::int64_t keys = std::ssize(scores[0]), own = at / sizes.block, earlier = std::min(own, keys / sizes.block);
  std::vector<Real> sums(static_cast<std::size_t>(earlier)), compressed;
  const std::int64_t sharing = std::ssize(scores) / sizes.groups;
  for (std::int64_t h = 0; h < std::ssize(scores); ++h) {
    std::vector<Real> of_blocks;
    for (std::int64_t block = 0; block < earlier; ++block) {
      double sum = 0;
      for (std::int64_t j = block * sizes.block; j < (block + 1) * sizes.block; ++j)
        sum += static_cast<double>(scores[static_cast<std::size_t>(h)][static_cast<std::size_t>(j)]);
      of_blocks.push_back(static_cast<Real>(sum / static_cast<double>(sizes.block)));
    }
    const std::vector<Real> w = normalized(of_blocks, false);
    if (h / sharing == head / sharing)
      for (std::size_t block = 0; block < w.size(); ++block) sums[block] += w[block];
    if (h == head) compressed = w;
  }
  std::vector<std::pair<Real, std::int64_t>> rated;
  for (std::int64_t block = 0; block < earlier; ++block)
    rated.emplace_back(-sums[static_cast<std::size_t>(block)], block);
  std::ranges::sort(rated);
  std::vector<std::int64_t> chosen{own};
  for (std::size_t n = 0; n < rated.size() && std::ssize(chosen) < sizes.chosen; ++n) chosen.push_back(rated[n].second);
  std::vector<double> out(static_cast<std::size_t>(keys));
  for (std::int64_t block = 0; block < earlier; ++block)
    for (std::int64_t j = block * sizes.block; j < (block + 1) * sizes.block; ++j)
      out[static_cast<std::size_t>(j)] += static_cast<double>(gates[0] * compressed[static_cast<std::size_t>(block)]) /
                                          static_cast<double>(sizes.block);
  for (const bool is_window : {false, true}) {
    std::vector<Real> of_keys;
    std::vector<std::size_t> which;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (is_window ? j <= at - sizes.window : std::ranges::count(chosen, j / sizes.block) == 0) continue;
      of_keys.push_back(scores[static_cast<std::size_t>(head)][static_cast<std::size_t>(j)]);
      which.push_back(static_cast<std::size_t>(j));
    }
    const std::vector<Real> w = normalized(of_keys, keys > at);
    for (std::size_t n = 0; n < w.size(); ++n) out[which[n]] += static_cast<double>(gates[is_window ? 2 : 1] * w[n]);
  }
  return out;
}

} // namespace

TEST_CASE("nsa serves every score and normaliser: the weights are those of plain loops", "[attention][contract]") {
  int compared = 0;
  const std::int32_t lengths[] = {14, 8};
  for_each_attention_in_turns([&](const LayerChoice& choice, const ScoreInfo&, Turns& turns) {
    for (const std::int64_t queries : {14, 5})
      for (const SelectionSizes& sizes : {SelectionSizes{.block = 3, .chosen = 2, .window = 4, .groups = 1},
                                          SelectionSizes{.block = 2, .chosen = 3, .window = 1, .groups = 2}})
        for (const bool is_padded : {false, true}) {
          if (!turns()) continue;
          const Extents e{.heads = 2, .queries = queries, .keys = 14};
          AttentionCase c(choice, e);
          const Mask mask{.causal = true, .offset = e.keys - e.queries, .lengths = is_padded ? lengths : nullptr};
          Operand gates({e.batch, e.heads, e.queries, 3}, 6, {0, 1, 0});
          INFO(queries << " queries, blocks of " << sizes.block << ", padding " << is_padded);
          const std::vector<const Real*> own = score_parameters(c.weights.parameters);
          std::vector<Real> expected;
          for (std::int64_t b = 0; b < e.batch; ++b)
            for (std::int64_t h = 0; h < e.heads; ++h)
              for (std::int64_t i = 0; i < e.queries; ++i) {
                const std::int64_t keys = std::min<std::int64_t>(i + mask.offset + 1, is_padded ? lengths[b] : e.keys);
                std::vector<std::vector<Real>> scores(static_cast<std::size_t>(e.heads));
                for (std::int64_t head = 0; head < e.heads; ++head)
                  for (std::int64_t j = 0; j < keys; ++j) {
                    const Pair p{b, head, i, j};
                    scores[static_cast<std::size_t>(head)].push_back(plain_score(choice, e, query_at(e, c.q.values, p),
                                                                                 key_at(e, c.k.values, p), p, own));
                  }
                const auto of_gates = gates.values.begin() + ((b * e.heads + h) * e.queries + i) * 3;
                std::vector<double> w = nsa_weights(choice, sizes, h, i + mask.offset, scores,
                                                    {of_gates, of_gates + 3});
                w.resize(static_cast<std::size_t>(e.keys));
                expected.insert(expected.end(), w.begin(), w.end());
              }
          const auto selection = selection_nsa.make(sizes);
          Tape tape;
          Pass pass = c.weights.pass(tape);
          AttentionInputs inputs{.queries = c.q.on(tape),
                                 .values = c.v.on(tape),
                                 .keys = c.k.on(tape),
                                 .mask = mask,
                                 .selection = selection.get(),
                                 .gates = gates.on(tape)};
          Tensor w;
          const std::vector<Real> whole = read(c.attention(pass, inputs, &w));
          CHECK(distance(read(w), expected) < attention_tolerance);
          CHECK(distance(read(c.attention(pass, inputs)), whole) < attention_tolerance);
          inputs.rows = 4;
          CHECK(distance(read(c.attention(pass, inputs)), whole) < attention_tolerance);
          ++compared;
        }
  });
  CHECK(compared > 20);
}

TEST_CASE("each branch of nsa, alone, is a known attention", "[attention]") {
  Operand x({2, 21, selecting_width}, 5, {-1, 1, 0});
  const auto run = [&](const OptionValues& options, const std::vector<Real>& open,
                       const std::function<void(LayerChoice&)>& change = {}, const Mask& mask = {.causal = true}) {
    Selecting made(options, change);
    for (const Parameters::Entry& e : made.weights.parameters.entries()) { // equal names, equal values
      std::uint64_t seed = 0;
      for (const char c : e.name) seed = 31 * seed + static_cast<std::uint64_t>(c);
      made.weights.set(e.name, draw(e.shape.size(), seed, {-1, 1, 0}));
    }
    if (!open.empty()) {
      made.weights.set("selection_gate.weight", std::vector<Real>(static_cast<std::size_t>(6 * selecting_width)));
      std::vector<Real> bias;
      for (int head = 0; head < 2; ++head)
        for (const Real one : open) bias.push_back(one > 0 ? Real(90) : Real(-90));
      made.weights.set("selection_gate.bias", bias);
    }
    return made.run(x, mask);
  };
  CHECK(distance(run(nsa(4, 2, 6), {0, 0, 1}), run({}, {}, {}, {.causal = true, .window = 5})) < attention_tolerance);
  CHECK(distance(run(nsa(4, 6, 1), {0, 1, 0}), run({}, {})) < attention_tolerance);
  // Heads that share no values choose as moba does, if scores are products.
  CHECK(distance(run(nsa(4, 2, 6), {0, 1, 0}), run(moba(4, 2), {})) < attention_tolerance);
  // With blocks of one key, the compressed branch is attention to all earlier keys, without the query's own.
  const std::vector<Real> earlier = run(nsa(1, 1, 1), {1, 0, 0});
  const std::vector<Real> masked = run({}, {}, [](LayerChoice& choice) { choice.attention.mask_mod = "j < i"; });
  CHECK(distance(earlier, masked) < attention_tolerance);
}
