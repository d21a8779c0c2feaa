// Attention over an encoder's states, and the recurrent decoders that use it: compares them with the formulas in plain
// loops, and single steps with the whole sequence.
#include "layers/recurrent/decoder.hpp"
#include "tests/layers/attention_support.hpp"

#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double source_tolerance = 20 * rounding;

const std::vector<std::string> reaches = {"global", "local_m", "local_p"};

// An encoder output of two sequences, the second shorter, and queries for it.
struct Sources {
  static constexpr std::int64_t sequences = 2, keys = 7, steps = 5, width = 4;
  std::vector<std::int32_t> lengths = {7, 4};
  Operand states{{sequences, keys, width}, 1, {-1, 1, 0}}, queries{{sequences, steps, width}, 2, {-1, 1, 0}};

  Real state(std::int64_t b, std::int64_t s, std::int64_t d) const {
    return states.values[static_cast<std::size_t>((b * keys + s) * width + d)];
  }
  Real query(std::int64_t b, std::int64_t t, std::int64_t d) const {
    return queries.values[static_cast<std::size_t>((b * steps + t) * width + d)];
  }
};

LayerChoice dot() {
  LayerChoice choice;
  choice.attention.score = "dot";
  return choice;
}

// c_t of the dot score: softmax over the states s with sees(s), then each weight is multiplied by factor(s).
std::vector<double> expected_context(const Sources& x, std::int64_t b, std::int64_t t,
                                     const std::function<bool(std::int64_t)>& sees,
                                     const std::function<double(std::int64_t)>& factor) {
  std::vector<double> weights(Sources::keys);
  double total = 0;
  for (std::int64_t s = 0; s < x.lengths[static_cast<std::size_t>(b)]; ++s) {
    if (!sees(s)) continue;
    double product = 0;
    for (std::int64_t d = 0; d < Sources::width; ++d)
      product += static_cast<double>(x.query(b, t, d)) * static_cast<double>(x.state(b, s, d));
    total += weights[static_cast<std::size_t>(s)] = std::exp(product);
  }
  std::vector<double> out(Sources::width);
  for (std::int64_t s = 0; s < Sources::keys; ++s)
    for (std::int64_t d = 0; d < Sources::width && total > 0; ++d)
      out[static_cast<std::size_t>(d)] += weights[static_cast<std::size_t>(s)] / total * factor(s) *
                                          static_cast<double>(x.state(b, s, d));
  return out;
}

} // namespace

TEST_CASE("a step sees what its reach says, by the formulas in plain loops", "[recurrent][contract]") {
  for (const std::string& reach : reaches) {
    INFO(reach);
    const std::int64_t window = 2;
    Sources x;
    Weights weights;
    const SourceAttention attention(weights.scope(), dot(), {.reach = reach, .window = window},
                                    {Sources::width, Sources::width, Sources::keys});
    weights.fill(3);
    Tape tape;
    Pass pass = weights.pass(tape);
    const auto source = attention.read(pass, x.states.on(tape), x.lengths.data());
    const std::vector<Real> found = read(attention(pass, x.queries.on(tape), source, 1)); // steps 1, 2, ...
    std::vector<double> expected;
    for (std::int64_t b = 0; b < Sources::sequences; ++b)
      for (std::int64_t t = 0; t < Sources::steps; ++t) {
        double place = 0;
        if (reach == "local_p") {
          const Real* hidden = weights.parameters.values() + weights.parameters.find("place.hidden.weight")->offset;
          const Real* height = weights.parameters.values() + weights.parameters.find("place.height.weight")->offset;
          double sum = 0;
          for (std::int64_t i = 0; i < Sources::width; ++i) {
            double inner = 0;
            for (std::int64_t d = 0; d < Sources::width; ++d)
              inner += static_cast<double>(hidden[i * Sources::width + d]) * static_cast<double>(x.query(b, t, d));
            sum += static_cast<double>(height[i]) * std::tanh(inner);
          }
          place = x.lengths[static_cast<std::size_t>(b)] / (1 + std::exp(-sum));
        }
        const auto sees = [&](std::int64_t s) {
          if (reach == "global") return true;
          const double middle = reach == "local_m" ? static_cast<double>(t + 1) : place;
          return std::abs(static_cast<double>(s) - middle) <= static_cast<double>(window);
        };
        const auto factor = [&](std::int64_t s) { // the standard deviation is window / 2 = 1
          return reach == "local_p" ? std::exp(-(static_cast<double>(s) - place) * (static_cast<double>(s) - place) / 2)
                                    : 1;
        };
        const std::vector<double> c = expected_context(x, b, t, sees, factor);
        expected.insert(expected.end(), c.begin(), c.end());
      }
    CHECK(distance(found, expected) < source_tolerance);
    CHECK_FALSE(all_zero(found));
  }
}

TEST_CASE("a memory gives what the same keys and values give, with every score and normaliser",
          "[attention][contract]") {
  for_each_attention([](const LayerChoice& choice, const ScoreInfo& score) {
    const Extents e{.batch = 2, .queries = 3, .keys = 5, .query_width = 4, .key_width = score.equal_widths ? 4 : 2};
    const std::vector<std::int32_t> lengths = {5, 3};
    AttentionCase attention(choice, e);
    const Mask mask{.offset = 1, .window = 2, .lengths = lengths.data()};
    const std::vector<Real> factors = draw(2 * 3 * 5, 8, {0.5, 1.5, 0});
    for (const bool weighted : {false, true}) {
      std::vector<std::vector<Real>> results, gradients;
      for (const bool remembered : {false, true}) {
        Tape tape;
        Pass pass = attention.weights.pass(tape, {.training = true, .seed = 5});
        attention.q.gradient.assign(attention.q.gradient.size(), Real{0});
        attention.k.gradient.assign(attention.k.gradient.size(), Real{0});
        const auto sequence = [&](Operand& x) { return reshape(x.on(tape), {x.shape[0], x.shape[2], x.shape[3]}); };
        const Tensor q = sequence(attention.q), k = sequence(attention.k), v = sequence(attention.v);
        const Tensor f = tape.copy(factors.data(), {2, 1, 3, 5});
        const Tensor* used = weighted ? &f : nullptr;
        Tensor y;
        if (remembered) y = attention.attention(pass, q, attention.attention.encode_memory(pass, v, k), mask, used);
        else y = attention.attention(pass, {.queries = q, .values = v, .keys = k, .mask = mask, .factors = used});
        CHECK(y.shape == Shape{2, 3, 3});
        results.push_back(read(y));
        tape.backward(weighted_sum(y));
        pass.finish_gradients();
        std::vector<Real> all = attention.weights.gradients;
        for (const Operand* x : {&attention.q, &attention.k, &attention.v})
          all.insert(all.end(), x->gradient.begin(), x->gradient.end());
        gradients.push_back(all);
      }
      INFO("factors " << weighted);
      CHECK(distance(results[0], results[1]) < source_tolerance);
      CHECK(distance(gradients[0], gradients[1]) < attention_tolerance);
    }
  });
}

namespace {

// A decoder of two layers on random vectors, with random initial states.
struct DecoderCase {
  Sources source;
  Weights weights;
  RecurrentDecoder decoder;
  std::vector<Operand> start;
  bool has_memory;

  DecoderCase(const RecurrentCellInfo& cell, const RecurrentOptions& options)
      : decoder(weights.scope(), dot(), with_cell(options, cell), {},
                {.width = Sources::width, .memory_width = Sources::width, .longest = Sources::keys}),
        has_memory(cell.has_memory) {
    weights.fill(6);
    for (std::uint64_t i = 0; i < 4; ++i) start.emplace_back(Shape{Sources::sequences, Sources::width}, 20 + i);
  }
  static RecurrentOptions with_cell(RecurrentOptions options, const RecurrentCellInfo& cell) {
    options.cell = cell.about.name;
    options.layers = 2;
    return options;
  }
  std::vector<RecurrentState> states(Tape& tape) {
    return {{start[0].on(tape), has_memory ? start[1].on(tape) : Tensor{}},
            {start[2].on(tape), has_memory ? start[3].on(tape) : Tensor{}}};
  }
  std::vector<Real> whole() {
    Tape tape;
    Pass pass = weights.pass(tape);
    const auto read_source = decoder.read(pass, source.states.on(tape), source.lengths.data());
    const auto before = states(tape);
    const Tensor y = decoder(pass, source.queries.on(tape), before, read_source);
    CHECK(y.shape == Shape{Sources::sequences, Sources::steps, Sources::width});
    return read(y);
  }
};

void for_each_decoder(const std::function<void(const RecurrentCellInfo&, const RecurrentOptions&)>& use) {
  for (const RecurrentCellInfo* cell : recurrent_cells())
    for (const RecurrentAttentionInfo* info : recurrent_attentions())
      for (const std::string& reach : reaches)
        for (const bool feeding : {false, true}) {
          const std::string& attention = info->about.name;
          if (attention == "none" && (reach != "global" || feeding)) continue;
          if (attention == "bahdanau" && feeding) continue;
          INFO(cell->about.name << ", " << attention << ", " << reach << ", input feeding " << feeding);
          use(*cell, {.attention = attention, .input_feeding = feeding, .reach = reach, .window = 2});
        }
}

} // namespace

TEST_CASE("a decoder gives step by step what it gives for the whole sequence", "[recurrent][contract]") {
  for_each_decoder([](const RecurrentCellInfo& cell, const RecurrentOptions& options) {
    DecoderCase c(cell, options);
    const std::vector<Real> whole = c.whole();
    Tape tape;
    Pass pass = c.weights.pass(tape);
    const auto source = c.decoder.read(pass, c.source.states.on(tape), c.source.lengths.data());
    const auto before = c.states(tape);
    RecurrentDecoder::State state = c.decoder.begin(pass, before);
    const Tensor e = c.source.queries.on(tape);
    for (std::int64_t t = 0; t < Sources::steps; ++t) {
      const Tensor now = reshape(slice(e, 1, t, 1), {Sources::sequences, Sources::width});
      const std::vector<Real> found = read(c.decoder.step(pass, now, state, source));
      for (std::int64_t b = 0; b < Sources::sequences; ++b) {
        const auto at = whole.begin() + (b * Sources::steps + t) * Sources::width;
        const std::vector<Real> sequence(found.begin() + b * Sources::width, found.begin() + (b + 1) * Sources::width);
        CHECK(distance(sequence, std::vector<Real>(at, at + Sources::width)) < source_tolerance);
      }
    }
  });
}

TEST_CASE("a decoder's vectors depend on no later token, and on no padding of the source, bit for bit",
          "[recurrent][contract]") {
  for_each_decoder([](const RecurrentCellInfo& cell, const RecurrentOptions& options) {
    DecoderCase c(cell, options);
    const std::vector<Real> before = c.whole();
    for (std::int64_t s = 4; s < Sources::keys; ++s)
      for (std::int64_t d = 0; d < Sources::width; ++d)
        c.source.states.values[static_cast<std::size_t>((Sources::keys + s) * Sources::width + d)] = Real(30);
    CHECK(c.whole() == before);
    for (std::int64_t b = 0; b < Sources::sequences; ++b) // the tokens of the last two steps
      for (std::int64_t i = 3 * Sources::width; i < Sources::steps * Sources::width; ++i)
        c.source.queries.values[static_cast<std::size_t>(b * Sources::steps * Sources::width + i)] += Real(1);
    const std::vector<Real> after = c.whole();
    for (std::int64_t b = 0; b < Sources::sequences; ++b) {
      const std::int64_t begin = b * Sources::steps * Sources::width;
      CHECK(std::equal(before.begin() + begin, before.begin() + begin + 3 * Sources::width, after.begin() + begin));
      CHECK(before[static_cast<std::size_t>(begin + 3 * Sources::width)] !=
            after[static_cast<std::size_t>(begin + 3 * Sources::width)]);
    }
  });
}

TEST_CASE("Bahdanau's readout has biases, and Luong's has none", "[recurrent]") {
  for_each_decoder([](const RecurrentCellInfo& cell, const RecurrentOptions& options) {
    const DecoderCase c(cell, options);
    const bool reads_out = options.attention != "none";
    const bool has_weight = c.weights.parameters.find("readout.weight") != nullptr,
               has_bias = c.weights.parameters.find("readout.bias") != nullptr;
    CHECK(has_weight == reads_out);
    CHECK(has_bias == (options.attention == "bahdanau"));
  });
}

TEST_CASE("with attention a decoder sees the source, without it only where it starts", "[recurrent]") {
  for_each_decoder([](const RecurrentCellInfo& cell, const RecurrentOptions& options) {
    DecoderCase c(cell, options);
    const std::vector<Real> before = c.whole();
    for (Real& x : c.source.states.values) x += Real(1);
    CHECK((c.whole() == before) == (options.attention == "none"));
    c.start[2].values[0] += Real(1);
    CHECK(c.whole() != before);
  });
}
