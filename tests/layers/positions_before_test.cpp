// Tests of keys before those of the sequence (persistent keys, registers) against plain loops, and of what they refuse.
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t entries = 2, sequence_length = 7, sequence_width = 8, head_count = 2, width_of_head = 4;

// The weights and the scores that an observer gets.
struct ShownSequences : Observer {
  bool wants_weights() const override { return true; }
  bool wants_scores() const override { return true; }
  void weights(const AttentionPlace&, const Tensor& w) override { kept_weights = w; }
  void scores(const AttentionPlace&, const Tensor& s) override { kept_scores = s; }
  Tensor kept_weights, kept_scores;
};

struct KeysBefore {
  std::int64_t persistent = 0, registers = 0, key_heads = head_count;
  std::int64_t all() const { return persistent + registers; }
};

struct SequencesResult {
  std::vector<double> y, weights; // [B, registers + T, width]; of the sequence's own queries and keys: [B, H, T, T]
};

struct SequenceAttention {
  KeysBefore before;
  LayerChoice choice;
  const PositionInfo& info;
  OptionValues options;
  Weights weights;
  std::optional<MultiHeadAttention> attention;
  Operand x;

  SequenceAttention(const KeysBefore& b, const LayerChoice& c, const PositionInfo& position,
                    const OptionValues& position_options)
      : before(b), choice(c), info(position), options(position_options),
        x({entries, b.registers + sequence_length, sequence_width}, 2, {-1, 1, 0}) {
    choice.part_options["persistent_keys"] = b.persistent;
    choice.attention.key_value_heads = b.key_heads == head_count ? 0 : b.key_heads;
    std::shared_ptr<const RelativePosition> scheme;
    if (info.make_relative)
      scheme = info.make_relative(weights.scope() / "position",
                                  {head_count, width_of_head, width_of_head, sequence_length}, options);
    attention.emplace(weights.scope(), choice,
                      MultiHeadAttention::Sizes{.width = sequence_width,
                                                .heads = head_count,
                                                .bias = false,
                                                .position = scheme,
                                                .longest = sequence_length,
                                                .registers = b.registers},
                      Init::normal(1));
    weights.fill(5, {-0.9, 0.8, 0});
  }

  const Real* values(const std::string& name) const {
    const auto* entry = weights.parameters.find(name);
    REQUIRE(entry);
    return weights.parameters.values() + entry->offset;
  }

  SequencesResult found(const Mask& mask, std::vector<Real>* scores = nullptr) {
    Tape tape;
    ShownSequences shown;
    Pass plain = weights.pass(tape), watched = weights.pass(tape, {.observer = &shown});
    const Tensor y = (*attention)(plain, x.on(tape), mask);
    CHECK(read((*attention)(watched, x.on(tape), mask)) == read(y));
    CHECK(shown.kept_weights.shape == Shape{entries, head_count, sequence_length, sequence_length});
    CHECK(shown.kept_scores.shape == Shape{entries, head_count, sequence_length, sequence_length});
    if (scores) *scores = read(shown.kept_scores);
    const std::vector<Real> w = read(shown.kept_weights), result = read(y);
    return {{result.begin(), result.end()}, {w.begin(), w.end()}};
  }

  // `allows`: may the query at t see the key at j? Registers are at negative positions.
  SequencesResult naive(const std::function<bool(std::int64_t b, std::int64_t t, std::int64_t j)>& allows) const {
    const std::int64_t first = before.all(), queries = before.registers + sequence_length,
                       keys = first + sequence_length;
    const bool shared = before.key_heads != head_count;
    const Real* const of_queries = values(shared ? "query.weight" : "qkv.weight");
    const Real* const of_keys = shared ? values("key_value.weight")
                                       : of_queries + head_count * width_of_head * sequence_width;
    const Real* const of_values = of_keys + before.key_heads * width_of_head * sequence_width;
    const auto projected = [&](const Real* matrix, std::int64_t b, std::int64_t i, std::int64_t head) {
      std::vector<Real> out;
      for (std::int64_t d = 0; d < width_of_head; ++d) {
        double sum = 0;
        for (std::int64_t c = 0; c < sequence_width; ++c)
          sum += static_cast<double>(matrix[(head * width_of_head + d) * sequence_width + c]) *
                 static_cast<double>(x.values[static_cast<std::size_t>((b * queries + i) * sequence_width + c)]);
        out.push_back(static_cast<Real>(sum));
      }
      return out;
    };
    const auto learned = [&](const char* name, std::int64_t n, std::int64_t head) {
      const Real* from = values(name) + (n * before.key_heads + head) * width_of_head;
      return std::vector<Real>(from, from + width_of_head);
    };
    const auto rotated = [&](const std::vector<Real>& v, std::int64_t position, Rotated of) {
      if (position < 0 || !info.rotate) return v;
      std::vector<Real> out(v.size());
      info.rotate({v.data(), width_of_head, position, of, sequence_length, &options}, out.data());
      return out;
    };
    std::vector<const Real*> own;
    for (std::size_t p = 0; p < weights.parameters.entries().size(); ++p)
      if (weights.parameters.entries()[p].module == "position")
        own.push_back(weights.parameters.values() + weights.parameters.entries()[p].offset);
    const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
    SequencesResult out{std::vector<double>(static_cast<std::size_t>(entries * queries * sequence_width)), {}};
    for (std::int64_t b = 0; b < entries; ++b)
      for (std::int64_t h = 0; h < head_count; ++h)
        for (std::int64_t i = 0; i < queries; ++i) {
          const std::int64_t t = i - before.registers, key_head = h * before.key_heads / head_count;
          const std::vector<Real> q = projected(of_queries, b, i, h), turned = rotated(q, t, Rotated::queries);
          std::vector<Real> scores, row(static_cast<std::size_t>(keys));
          std::vector<std::vector<double>> seen_values;
          std::vector<std::int64_t> seen;
          for (std::int64_t c = 0; c < keys; ++c) {
            const std::int64_t j = c - first;
            if (j >= 0 && !allows(b, t, j)) continue;
            const bool is_learned = c < before.persistent;
            const std::vector<Real> k = is_learned ? learned("persistent_keys", c, key_head)
                                                   : projected(of_keys, b, c - before.persistent, key_head);
            const std::vector<Real> v = is_learned ? learned("persistent_values", c, key_head)
                                                   : projected(of_values, b, c - before.persistent, key_head);
            const std::vector<Real> turned_key = rotated(k, j, Rotated::keys);
            double s = 0;
            for (std::size_t d = 0; d < q.size(); ++d)
              s += static_cast<double>(turned[d]) * static_cast<double>(turned_key[d]);
            s /= std::sqrt(static_cast<double>(width_of_head));
            seen_values.emplace_back(v.begin(), v.end());
            if (info.pair && t >= 0 && j >= 0) {
              const RelativeBias bias = info.pair(
                  {q.data(), j - t, {head_count, width_of_head, width_of_head, sequence_length}, h, own, &options});
              s += static_cast<double>(bias.score);
              for (std::size_t d = 0; d < bias.value.size(); ++d)
                seen_values.back()[d] += static_cast<double>(bias.value[d]);
            }
            scores.push_back(static_cast<Real>(s));
            seen.push_back(c);
          }
          std::vector<Real> w(scores.size());
          normalizer.row(scores.data(), w.data(), {.n = std::ssize(scores)}, choice.normalizer_options);
          const Real* const output = values("output.weight");
          for (std::size_t n = 0; n < w.size(); ++n) {
            row[static_cast<std::size_t>(seen[n])] = w[n];
            for (std::int64_t o = 0; o < sequence_width; ++o)
              for (std::int64_t d = 0; d < width_of_head; ++d)
                out.y[static_cast<std::size_t>((b * queries + i) * sequence_width + o)] +=
                    static_cast<double>(w[n]) * seen_values[n][static_cast<std::size_t>(d)] *
                    static_cast<double>(output[o * sequence_width + h * width_of_head + d]);
          }
          if (t >= 0) out.weights.insert(out.weights.end(), row.begin() + first, row.end());
        }
    return out;
  }
};

const std::vector<KeysBefore> befores = {
    {.persistent = 3}, {.registers = 2}, {.persistent = 2, .registers = 3}, {.persistent = 50, .key_heads = 1}};

void same_sequences(const SequencesResult& found, const SequencesResult& expected) {
  CHECK(distance(found.y, expected.y) < 100 * rounding);
  CHECK(distance(found.weights, expected.weights) < 50 * rounding);
}

} // namespace

TEST_CASE("persistent keys and registers are seen by all, have no position, and are not shown to observers",
          "[attention][position][contract]") {
  const std::vector<std::int32_t> lengths = {7, 4};
  for (const PositionInfo* info : positions())
    for (const Setup& setup : setups(info->about))
      for (const std::string normalizer : {"softmax", "sparsemax"})
        for (const KeysBefore& before : befores) {
          INFO(setup.text << ", " << normalizer << ", " << before.persistent << " persistent keys, " << before.registers
                          << " registers");
          SequenceAttention a(before, choice_of(score_info("scaled_dot"), {}, normalizer), *info, setup.options);
          same_sequences(a.found({.causal = true, .lengths = lengths.data()}), a.naive([&](auto b, auto t, auto j) {
            return j <= t && j < lengths[static_cast<std::size_t>(b)];
          }));
          same_sequences(a.found({.causal = true, .window = 2}),
                         a.naive([](auto, auto t, auto j) { return j <= t && t - j <= 2; }));
          if (info->about.name == "skewed") continue;
          same_sequences(a.found({.causal = true, .prefix = 2, .window = 1}),
                         a.naive([](auto, auto t, auto j) { return j < 2 || (j <= t && t - j <= 1); }));
          same_sequences(a.found({.lengths = lengths.data()}),
                         a.naive([&](auto b, auto, auto j) { return j < lengths[static_cast<std::size_t>(b)]; }));
          if (before.registers == 0)
            same_sequences(a.found({.window = 1}), a.naive([](auto, auto t, auto j) { return std::abs(t - j) <= 1; }));
        }
}

TEST_CASE("observers get the scores of the sequence's own keys, those of the plain loops of their own", "[attention]") {
  SequenceAttention with({.persistent = 2, .registers = 1}, choice_of(score_info("dot")), position_info("alibi"), {});
  std::vector<Real> scores;
  with.found({.causal = true}, &scores);
  // The sequence alone, with the same projections.
  SequenceAttention alone({}, choice_of(score_info("dot")), position_info("alibi"), {});
  for (const char* name : {"qkv.weight", "output.weight"}) {
    const Real* from = with.values(name);
    alone.weights.set(name, {from, from + alone.weights.parameters.find(name)->shape.size()});
  }
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t t = 0; t < sequence_length; ++t)
      for (std::int64_t c = 0; c < sequence_width; ++c)
        alone.x.values[static_cast<std::size_t>((b * sequence_length + t) * sequence_width + c)] =
            with.x.values[static_cast<std::size_t>((b * (sequence_length + 1) + t + 1) * sequence_width + c)];
  std::vector<Real> expected;
  alone.found({.causal = true}, &expected);
  REQUIRE(scores.size() == expected.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    CHECK((std::isinf(expected[i]) ? scores[i] == expected[i]
                                   : std::abs(static_cast<double>(scores[i] - expected[i])) < 20 * rounding));
}

TEST_CASE("persistent keys start from a normal distribution of deviation 1", "[attention]") {
  Weights weights;
  LayerChoice choice;
  choice.part_options["persistent_keys"] = 200;
  const MultiHeadAttention attention(weights.scope(0.01), choice, {.width = 8, .heads = 2}, Init::normal(1));
  weights.parameters.initialise(1);
  for (const char* name : {"persistent_keys", "persistent_values"}) {
    const auto* entry = weights.parameters.find(name);
    REQUIRE(entry);
    CHECK(entry->shape == Shape{200, 8});
    double squares = 0;
    for (std::int64_t i = 0; i < 1600; ++i)
      squares += std::pow(static_cast<double>(weights.parameters.values()[entry->offset + i]), 2);
    CHECK(squares / 1600 == Approx(1).epsilon(0.2));
  }
}

TEST_CASE("what decides by positions or by the order of keys is refused with persistent keys and registers",
          "[attention]") {
  using Catch::Contains;
  const auto message = [](const std::function<void(LayerChoice&)>& change, const KeysBefore& before) -> std::string {
    LayerChoice choice;
    choice.part_options["persistent_keys"] = before.persistent;
    change(choice);
    Weights weights;
    try {
      const MultiHeadAttention made(weights.scope(), choice,
                                    {.width = 8, .heads = 2, .longest = 5, .registers = before.registers},
                                    Init::normal(1));
      return "";
    } catch (const Failed& e) {
      return e.what();
    }
  };
  const KeysBefore persistent{.persistent = 1}, registers{.registers = 1};
  for (const auto& [before, option] :
       {std::pair{persistent, "attention.persistent_keys = 0"}, {registers, "model.registers = 0"}}) {
    CHECK_THAT(message([](LayerChoice& c) { c.attention.normalizer = "stick_breaking"; }, before),
               Contains("stick_breaking") && Contains(option));
    CHECK_THAT(message([](LayerChoice& c) { c.attention.mask_mod = "h == 1 or i - j < 3"; }, before),
               Contains("mask_mod") && Contains(option));
    CHECK_THAT(message([](LayerChoice& c) { c.part_options["forget_gate"] = true; }, before),
               Contains("forget_gate sums the gates") && Contains(option));
    for (const char* formula : {"s - abs(i - j)", "s * log(keys)", "s + j", "s / queries"})
      CHECK_THAT(message([&](LayerChoice& c) { c.attention.score_mod = formula; }, before),
                 Contains("score_mod") && Contains(option));
    CHECK_THAT(message(
                   [](LayerChoice& c) {
                     c.attention.score_mod = "s + far";
                     c.attention.parameters = {
                         "far: per = distance, learned = true, size = 0, furthest = 0, start = 0"};
                   },
                   before),
               Contains("score_mod") && Contains(option));
    CHECK(message([](LayerChoice& c) { c.attention.score_mod = "30 * tanh(s / 30) + h / heads"; }, before).empty());
  }
  const auto in_window = [](LayerChoice& c) {
    c.attention.causal = false;
    c.attention.window = 3;
  };
  CHECK_THAT(message(in_window, registers), Contains("registers") && Contains("part of the sequence"));
  CHECK(message(in_window, persistent).empty());
  CHECK(message([](LayerChoice& c) { c.attention.window = 3; }, registers).empty());
}
