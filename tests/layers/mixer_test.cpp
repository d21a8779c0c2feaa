// Recurrent mixers: the layer compared with plain loops, and what they promise: decoding, causality, bits, segments.
#include "autograd/kernels/packed_product.hpp"
#include "autograd/thread_pool.hpp"
#include "layers/attention/heads.hpp"
#include "tests/layers/kept_weights.hpp"
#include "tests/layers/mixer_support.hpp"
#include "tests/layers/module_check.hpp"
#include "tests/layers/rwkv7_loops.hpp"

#include <fmt/format.h>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

Value word(const char* text) { return std::string(text); }

struct Case {
  std::string kind;
  std::map<std::string, Value> changes;
  std::string text() const {
    std::string out = kind;
    for (const auto& [key, value] : changes) out += ", " + key;
    return out;
  }
};

// Every kind with its presets, and `recurrence` with each axis, and with some together.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& kind : recurrences()) out.push_back({kind, by_itself(kind)});
  for (const char* part : {"token_shift", "bonus", "gate"}) {
    out.push_back({"rwkv7", by_itself("rwkv7")});
    out.back().changes[fmt::format("mixer.rwkv7.{}", part)] = false;
  }
  for (const FeatureInfo* info : features())
    out.push_back({"recurrence", {{"mixer.feature", word(info->about.name.c_str())}}});
  for (const char* norm : {"l2", "sum"})
    out.push_back({"recurrence", {{"mixer.query_key_norm", word(norm)}, {"mixer.feature", word("exp")}}});
  for (const char* by : {"head", "channel"})
    out.push_back({"recurrence",
                   {{"mixer.decay", word("log_sigmoid")},
                    {"mixer.log_sigmoid.by", word(by)},
                    {"mixer.convolution", std::int64_t{3}},
                    {"mixer.output_norm", word("rms_head")}}});
  out.push_back(
      {"recurrence",
       {{"mixer.decay", word("softplus")}, {"mixer.normalizer", word("sum")}, {"mixer.feature", word("elu")}}});
  out.push_back({"recurrence",
                 {{"mixer.decay", word("softplus")},
                  {"mixer.write", word("step")},
                  {"mixer.normalizer", word("sum")},
                  {"mixer.feature", word("elu")}}});
  out.push_back({"recurrence",
                 {{"mixer.heads", std::int64_t{4}},
                  {"mixer.key_heads", std::int64_t{2}},
                  {"mixer.key_width", std::int64_t{6}},
                  {"mixer.value_width", std::int64_t{5}},
                  {"mixer.position", word("rotary")},
                  {"mixer.bias", true},
                  {"mixer.scale", WordOrNumber{"", 0.3}},
                  {"mixer.gate", word("sigmoid")}}});
  out.push_back({"mamba2", {{"mixer.gate_first", false}}});
  for (const char* by : {"head", "channel"})
    out.push_back({"recurrence", {{"mixer.write_gate", word(by)}, {"mixer.skip", true}}});
  // States that are erased stay small with keys of length 1.
  for (const char* kind : {"delta_net", "gated_delta_net", "kda", "gdn2", "delta_product"})
    out.push_back({kind, {{"mixer.range", word("-1..1")}, {"mixer.convolution", std::int64_t{0}}}});
  for (const char* by : {"head", "channel"})
    out.push_back({"recurrence",
                   {{"mixer.query_key_norm", word("l2")},
                    {"mixer.heads", std::int64_t{4}},
                    {"mixer.key_heads", std::int64_t{2}},
                    {"mixer.feature", word("elu")},
                    {"mixer.decay", word("softplus")},
                    {"mixer.erase", word(by)},
                    {"mixer.write", word("step")},
                    {"mixer.write_gate", word("head")},
                    {"mixer.bias", true}}});
  // Several keys of a token.
  out.push_back({"gdn2", {{"mixer.steps", std::int64_t{3}}, {"mixer.position", word("rotary")}}});
  out.push_back({"delta_product", {{"mixer.feature", word("hedgehog")}, {"mixer.key_ratio", 1.0}}});
  out.push_back({"recurrence",
                 {{"mixer.query_key_norm", word("l2")},
                  {"mixer.heads", std::int64_t{4}},
                  {"mixer.key_heads", std::int64_t{2}},
                  {"mixer.decay", word("softplus")},
                  {"mixer.write", word("step")},
                  {"mixer.write_gate", word("channel")},
                  {"mixer.steps", std::int64_t{2}},
                  {"mixer.bias", true}}});
  out.push_back({"recurrence", {{"mixer.decay", word("constant")}, {"mixer.steps", std::int64_t{4}}}});
  out.push_back({"gla", {{"mixer.erase", word("head")}, {"mixer.keys", word("complement")}}});
  out.push_back({"gla", {{"mixer.keys", word("complement")}, {"mixer.query_key_norm", word("l2")}}});
  return out;
}

constexpr std::int64_t width = 8;
const MixerSizes sizes{.width = width, .heads = 2, .longest = 200, .layer = 1, .layers = 3};

// A mixer with random parameters.
struct Made {
  Weights weights;
  LayerChoice choice;
  std::unique_ptr<Mixer> mixer;

  explicit Made(const Case& c, const MixerSizes& of = sizes) : choice(choice_of(c.kind, c.changes)) {
    mixer = mixer_info(c.kind).make(weights.scope(), choice, of, Init::normal(0.5));
    weights.fill(3, {-0.6, 0.8});
  }
  std::vector<Real> run(Operand& x, const Mask& mask = {}) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read((*mixer)(pass, x.on(tape), mask));
  }
};

constexpr double tolerance = 100 * rounding;

double worst_difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i] - b[i])));
  return worst;
}

// BLAS, in portable builds, sums a row of a product differently beside other rows.
bool same(const std::vector<Real>& a, const std::vector<Real>& b) {
  return own_product ? a == b : worst_difference(a, b) < tolerance;
}

std::vector<Real> part(const std::vector<Real>& of, std::int64_t begin, std::int64_t n) {
  return {of.begin() + begin * width, of.begin() + (begin + n) * width};
}

// The largest difference from loops in double, relative to results above 1.
double difference_from_loops(Made& made, std::int64_t sequences, std::int64_t tokens, const std::int32_t* lengths) {
  Operand x({sequences, tokens, width}, 5, {-1, 1});
  const std::vector<Real> found = made.run(x, {.lengths = lengths});
  double worst = 0;
  for (std::int64_t b = 0; b < sequences; ++b) {
    std::vector<std::vector<double>> rows;
    for (std::int64_t t = 0; t < std::min<std::int64_t>(tokens, lengths[b]); ++t) {
      const auto at = x.values.begin() + (b * tokens + t) * width;
      rows.emplace_back(at, at + width);
    }
    const Parameters& parameters = made.weights.parameters;
    const auto wanted = made.choice.mixer.kind == "rwkv7" ? Rwkv7Loops(made.choice, sizes, parameters)(rows)
                                                          : RecurrenceLoops(made.choice, sizes, parameters)(rows);
    for (std::size_t t = 0; t < wanted.size(); ++t)
      for (std::size_t d = 0; d < wanted[t].size(); ++d) {
        const double got = static_cast<double>(
            found[static_cast<std::size_t>((b * tokens + static_cast<std::int64_t>(t)) * width) + d]);
        worst = std::max(worst, std::abs(got - wanted[t][d]) / std::max(1.0, std::abs(wanted[t][d])));
      }
  }
  return worst;
}

} // namespace

TEST_CASE("every recurrence equals its plain loops", "[mixer]") {
  const std::int32_t lengths[] = {9, 200, 64};
  for (const Case& c : cases()) {
    Made made(c);
    for (const std::int64_t tokens : {1, 2, 16, 17, 63, 64, 65, 130}) {
      INFO(c.text() << ", " << tokens << " tokens");
      CHECK(difference_from_loops(made, 3, tokens, lengths) < tolerance);
    }
  }
}

TEST_CASE("every kind of recurrence keeps its digits over a long sequence", "[mixer]") {
  const std::int32_t length[] = {4096};
  for (const std::string& kind : recurrences()) {
    INFO(kind);
    Made made({kind, by_itself(kind)});
    CHECK(difference_from_loops(made, 1, 4096, length) < 4 * tolerance);
  }
}

TEST_CASE("decoding a recurrence token by token, or in pieces, equals the whole sequence", "[mixer]") {
  std::vector<std::int32_t> numbers;
  for (int b = 0; b < 2; ++b)
    for (std::int32_t t = 0; t < 70; ++t) numbers.push_back(t / (b == 0 ? 9 : 100));
  for (const Case& c : cases())
    for (const bool segmented : {false, true}) {
      Made made(c);
      Operand x({2, 70, width}, 5, {-1, 1});
      const Mask mask{.query_segments = {segmented ? numbers.data() : nullptr, 70}};
      const std::vector<Real> whole = made.run(x, mask);
      for (const std::int64_t piece : {1, 2, 23}) {
        INFO(c.text() << ", in pieces of " << piece << ", segments " << segmented);
        std::unique_ptr<MixerState> past;
        double worst = 0;
        for (std::int64_t t = 0; t < 70; t += piece) {
          const std::int64_t n = std::min<std::int64_t>(piece, 70 - t);
          Tape tape;
          tape.record(false);
          Pass pass = made.weights.pass(tape);
          const std::vector<Real> here = read(made.mixer->step(pass, slice(x.on(tape), 1, t, n), mask, past));
          CHECK(past->length() == t + n);
          for (std::int64_t b = 0; b < 2; ++b)
            worst = std::max(worst, worst_difference(part(here, b * n, n), part(whole, b * 70 + t, n)));
        }
        CHECK(worst < tolerance);
      }
    }
}

TEST_CASE("the numbers of a recurrence's state are its matrices and the inputs of its convolution", "[mixer]") {
  const auto after = [](const Case& c, std::int64_t sequences, std::int64_t tokens, std::int64_t more) {
    Made made(c);
    Operand x({sequences, tokens, width}, 5, {-1, 1});
    Tape tape;
    tape.record(false);
    Pass pass = made.weights.pass(tape);
    std::unique_ptr<MixerState> past;
    made.mixer->step(pass, x.on(tape), {}, past);
    return past->numbers(more);
  };
  // 2 heads in a width of 8: K V for each head, V + 1 with a normalizer, and taps - 1 inputs of all channels.
  CHECK(after({"retention", {}}, 1, 1, 0) == 2 * 4 * 8);
  CHECK(after({"gla", {}}, 1, 1, 0) == 2 * 2 * 4);
  CHECK(after({"linear_attention", {}}, 1, 1, 0) == 2 * 4 * (4 + 1));
  CHECK(after({"linear_attention", {{"mixer.feature", word("taylor")}}}, 1, 1, 0) == 2 * (1 + 4 + 10) * (4 + 1));
  CHECK(after({"delta_net", {}}, 1, 1, 0) == 2 * 4 * 4 + 3 * (8 + 8 + 8));
  CHECK(after({"mamba2", {}}, 1, 1, 0) == 2 * 64 * 8 + 3 * (64 + 64 + 16)); // one query and one key for both heads
  for (const Case& c : cases()) {
    INFO(c.text());
    const std::int64_t numbers = after(c, 1, 1, 0);
    CHECK(after(c, 1, 1, 69) == numbers);
    CHECK(after(c, 3, 70, 0) == numbers);
  }
}

TEST_CASE("a chosen sequence of a recurrence's state goes on as that sequence", "[mixer]") {
  for (const std::string& kind : recurrences()) {
    Made made({kind, by_itself(kind)});
    Operand x({2, 9, width}, 5, {-1, 1});
    Tape tape;
    tape.record(false);
    Pass pass = made.weights.pass(tape);
    std::unique_ptr<MixerState> past;
    const Tensor all = x.on(tape);
    made.mixer->step(pass, slice(all, 1, 0, 6), {}, past);
    past->select(std::vector<std::int64_t>{1, 1, 0});
    const Tensor next = slice(all, 1, 6, 3),
                 order = concat({slice(next, 0, 1, 1), slice(next, 0, 1, 1), slice(next, 0, 0, 1)}, 0);
    const std::vector<Real> got = read(made.mixer->step(pass, order, {}, past)), whole = made.run(x);
    INFO(kind);
    CHECK(worst_difference(part(got, 0, 3), part(whole, 9 + 6, 3)) < tolerance);
    CHECK(same(part(got, 0, 3), part(got, 3, 3)));
    CHECK(worst_difference(part(got, 6, 3), part(whole, 6, 3)) < tolerance);
  }
}

TEST_CASE("a recurrence sees no later token, no other sequence and no earlier segment", "[mixer]") {
  for (const Case& c : cases()) {
    INFO(c.text());
    Made made(c);
    Operand x({2, 40, width}, 5, {-1, 1});
    const std::vector<Real> before = made.run(x);
    for (const std::int64_t token : {1, 16, 39}) {
      Operand changed = x;
      for (std::int64_t d = 0; d < width; ++d) changed.values[static_cast<std::size_t>(token * width + d)] += Real(0.5);
      const std::vector<Real> after = made.run(changed);
      CHECK(part(after, 0, token) == part(before, 0, token));
      CHECK(part(after, 40, 40) == part(before, 40, 40));
      CHECK(part(after, token, 1) != part(before, token, 1));
    }
    Operand alone({1, 40, width}, {x.values.begin() + 40 * width, x.values.end()});
    CHECK(same(made.run(alone), part(before, 40, 40)));
    {
      const CutEverything cut(5);
      CHECK(made.run(x) == before);
    }
    if (made.choice.mixer.position != "none") continue; // positions go on
    Operand joined({1, 80, width}, x.values);
    std::vector<std::int32_t> numbers(80, 2);
    std::fill(numbers.begin(), numbers.begin() + 40, 1);
    CHECK(worst_difference(made.run(joined, {.query_segments = {numbers.data(), 80}}), before) == 0);
  }
}

TEST_CASE("the weights of a recurrence times the values are its results", "[mixer]") {
  for (const Case& c : cases()) {
    if (c.kind == "rwkv7") continue; // rwkv7_test.cpp
    Case plain = c;                  // what is done to the results is left out, and the output layer is the identity
    plain.changes["mixer.skip"] = false;
    plain.changes["mixer.gate"] = word("none");
    plain.changes["mixer.output_norm"] = word("none");
    plain.changes["mixer.convolution"] = std::int64_t{0};
    plain.changes["mixer.activation"] = word("none");
    Made made(plain);
    const RecurrenceWidths widths = recurrence_widths(made.choice.mixer, sizes);
    if (widths.steps > 1) continue; // each value has a weight of its own, and only their sum is shown
    Operand x({2, 35, width}, 5, {-1, 1});
    Tape tape;
    Pass pass = made.weights.pass(tape);
    const auto& recurrence = dynamic_cast<const MatrixStateMixer&>(*made.mixer);
    const std::int64_t values = widths.values(), first = made.weights.parameters.find("qkv.weight")->shape[0] - values;
    const auto parameter = [&](const std::string& name, std::int64_t begin, std::int64_t rows) {
      const auto* e = made.weights.parameters.find(name);
      return tape.constant(made.weights.parameters.values() + e->offset + begin * e->shape[-1],
                           e->shape.rank == 1 ? Shape{rows} : Shape{rows, e->shape[-1]});
    };
    const Tensor on = x.on(tape), w = recurrence.weights(pass, on, {});
    const bool biased = made.choice.mixer.bias;
    Tensor v = linear(on, parameter("qkv.weight", first, values));
    if (biased) v = add(v, slice(parameter("qkv.bias", 0, first + values), 0, first, values));
    if (made.choice.mixer.write_gate == "channel")
      v = mul(v, sigmoid(linear(on, parameter("write_gate.weight", 0, values))));
    Tensor y = linear(merge_heads(matmul(w, split_heads(v, widths.heads))), parameter("output.weight", 0, width));
    if (biased) y = add(y, parameter("output.bias", 0, width));
    INFO(c.text());
    CHECK(worst_difference(read(y), made.run(x)) < tolerance);
  }
}

TEST_CASE("an observer sees the weights of a recurrence without registers, and may silence a head", "[mixer]") {
  struct Silencing : KeptWeights {
    void heads(const AttentionPlace& at, const Tensor& y) override {
      place = at.module;
      for (std::int64_t b = 0; b < y.shape[0]; ++b)
        for (std::int64_t t = 0; t < y.shape[2]; ++t)
          for (std::int64_t d = 0; d < y.shape[3]; ++d)
            y.data[b * y.stride[0] + y.stride[1] + t * y.stride[2] + d * y.stride[3]] = 0; // head 1
    }
    std::string place;
  };
  for (const std::string& kind : recurrences())
    for (const std::int64_t registers : {0, 2}) {
      INFO(kind << ", " << registers << " registers");
      MixerSizes of = sizes;
      of.registers = registers;
      Made made({kind, by_itself(kind)}, of);
      Operand x({2, 9, width}, 5, {-1, 1});
      const std::int32_t lengths[] = {7, 4};
      Tape tape;
      tape.record(false);
      Silencing observer;
      Pass pass(tape, made.weights.parameters, nullptr, {.observer = &observer});
      const Tensor on = x.on(tape), y = (*made.mixer)(pass, on, {.lengths = lengths});
      REQUIRE(observer.kept.size() == 1);
      Pass plain = made.weights.pass(tape);
      const Tensor all = dynamic_cast<const MatrixStateMixer&>(*made.mixer).weights(plain, on, {.lengths = lengths});
      const std::int64_t seen = 9 - registers;
      CHECK(read(observer.kept[0]) == read(slice(slice(all, 2, registers, seen), 3, registers, seen)));
      CHECK(read(y) != made.run(x, {.lengths = lengths}));
    }
}

TEST_CASE("a kind equals another where its parts are the same", "[mixer]") {
  const auto outputs = [](const Case& c) {
    Made made(c);
    Operand x({2, 40, width}, 5, {-1, 1});
    return made.run(x);
  };
  // Presets are all that a kind is.
  for (const std::string& kind : recurrences()) {
    if (kind == "rwkv7") continue;
    std::map<std::string, Value> presets;
    for (const auto& [key, value] : mixer_info(kind).about.presets) presets[key] = value;
    INFO(kind);
    CHECK(outputs({kind, {}}) == outputs({"recurrence", presets}));
  }
  // Equal decays of all channels are the decay of the head.
  Made by_head({"recurrence", {{"mixer.decay", word("log_sigmoid")}, {"mixer.log_sigmoid.by", word("head")}}}),
      by_channel({"recurrence", {{"mixer.decay", word("log_sigmoid")}}});
  for (const auto& e : by_head.weights.parameters.entries()) {
    const Real* from = by_head.weights.parameters.values() + e.offset;
    const auto* to = by_channel.weights.parameters.find(e.name);
    REQUIRE(to);
    const std::int64_t copies = to->shape[0] / e.shape[0], each = e.shape.size() / e.shape[0];
    for (std::int64_t i = 0; i < to->shape[0]; ++i)
      std::copy_n(from + i / copies * each, each, by_channel.weights.parameters.values() + to->offset + i * each);
  }
  Operand x({2, 40, width}, 5, {-1, 1});
  CHECK(worst_difference(by_head.run(x), by_channel.run(x)) < tolerance);
}

TEST_CASE("networks of the delta rule equal each other where their parts are the same", "[mixer]") {
  Operand x({2, 40, width}, 5, {-1, 1});
  // The parameters of one mixer to those of the same name of another, row by row if that has more rows.
  const auto copy = [](Made& from, Made& to, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto *a = from.weights.parameters.find(name), *b = to.weights.parameters.find(name);
      REQUIRE((a && b));
      const std::int64_t copies = b->shape[0] / a->shape[0], each = a->shape.size() / a->shape[0];
      for (std::int64_t i = 0; i < b->shape[0]; ++i)
        std::copy_n(from.weights.parameters.values() + a->offset + i / copies * each, each,
                    to.weights.parameters.values() + b->offset + i * each);
    }
  };
  const std::map<std::string, Value> plain{{"mixer.key_ratio", 1.0},
                                           {"mixer.value_ratio", 1.0},
                                           {"mixer.gate", word("none")},
                                           {"mixer.gate_rank", word("full")}};
  const auto with = [&](std::map<std::string, Value> changes) {
    changes.insert(plain.begin(), plain.end());
    return changes;
  };
  const std::vector<std::string> shared{"qkv.weight", "convolution.weight", "norm.weight", "output.weight"};
  const auto and_these = [&](std::vector<std::string> more) {
    more.insert(more.end(), shared.begin(), shared.end());
    return more;
  };
  // Without decay, gated_delta_net is delta_net.
  Made delta({"delta_net", {}}), gated({"gated_delta_net", with({{"mixer.decay", word("none")}})});
  copy(delta, gated, and_these({"erase.weight"}));
  CHECK(delta.run(x) == gated.run(x));
  // Channels that decay alike are gated_delta_net.
  Made by_head({"gated_delta_net", with({})}), by_channel({"kda", with({{"mixer.softplus.rank", word("full")}})});
  copy(by_head, by_channel, and_these({"erase.weight", "decay.step.weight", "decay.step_bias", "decay.log_rate"}));
  CHECK(worst_difference(by_head.run(x), by_channel.run(x)) < tolerance);
  // With one step for each token, delta_product is gated_delta_net with strengths up to 2.
  CHECK(Made({"delta_product", {{"mixer.steps", std::int64_t{1}}}}).run(x) ==
        Made({"gated_delta_net", {{"mixer.range", word("-1..1")}}}).run(x));
  // Strengths that are the same for all channels are kda.
  Made kda({"kda", {}}), gdn2({"gdn2", {}});
  copy(kda, gdn2,
       and_these({"erase.weight", "decay.low_rank.weight", "decay.step.weight", "decay.step_bias", "decay.log_rate",
                  "gate_low_rank.weight", "gate.weight", "gate.bias"}));
  const auto *from = kda.weights.parameters.find("erase.weight"),
             *to = gdn2.weights.parameters.find("write_gate.weight");
  for (std::int64_t i = 0; i < to->shape[0]; ++i)
    std::copy_n(kda.weights.parameters.values() + from->offset + i / (to->shape[0] / 2) * width, width,
                gdn2.weights.parameters.values() + to->offset + i * width);
  CHECK(worst_difference(kda.run(x), gdn2.run(x)) < tolerance);
}

TEST_CASE("a recurrence refuses sizes and parts that don't fit", "[mixer]") {
  const auto why = [](const Case& c) { return wrong_recurrence(choice_of(c.kind, c.changes), sizes, {}).why; };
  CHECK(why({"gla", {}}).empty());
  CHECK(why({"recurrence", {{"mixer.heads", std::int64_t{4}}, {"mixer.key_heads", std::int64_t{3}}}}) ==
        "mixer.key_heads is 3, which does not divide the 4 heads");
  CHECK(why({"recurrence", {{"mixer.heads", std::int64_t{64}}}}) ==
        "mixer.key_ratio is 1, which gives the keys of a head a width of 0.125, of 64 heads in a width of 8: choose "
        "another ratio or other mixer.heads, or set mixer.key_width");
  CHECK(why({"gated_delta_net", {{"mixer.heads", std::int64_t{4}}}}) ==
        "mixer.key_ratio is 0.75, the default of mixer.kind = \"gated_delta_net\", which gives the keys of a head a "
        "width of 1.5, of 4 heads in a width of 8: choose another ratio or other mixer.heads, or set mixer.key_width");
  CHECK(why({"gla", {{"mixer.key_heads", std::int64_t{1}}}}) ==
        "a decay by channel belongs to the keys of each head, and mixer.key_heads is 1 for 2 heads: set "
        "mixer.key_heads = 0, or decay by head");
  CHECK(why({"kda", {{"mixer.write", word("step")}}}) ==
        "mixer.write is 'step', and the decay has a step of each channel: set mixer.softplus.by = \"head\", or "
        "mixer.write = \"same\"");
  CHECK(why({"hgrn2", {{"mixer.steps", std::int64_t{2}}}}) ==
        "mixer.keys is 'complement', which gives each token one key, and mixer.steps is 2: set mixer.steps = 1, or "
        "mixer.keys = \"projected\"");
  CHECK(why({"mamba2", {{"mixer.steps", std::int64_t{2}}}}) ==
        "mixer.skip adds the value of a token, and mixer.steps = 2 gives each token 2 values: set mixer.skip = false, "
        "or mixer.steps = 1");
  CHECK(why({"delta_net", {{"mixer.normalizer", word("sum")}}}) ==
        "an erase makes weights negative, and their sum may be 0: set mixer.normalizer = \"none\"");
  CHECK(why({"retention", {{"mixer.keys", word("complement")}}}) ==
        "mixer.keys is 'complement', the part of each channel that decays: choose a decay by channel, such as "
        "mixer.decay = \"log_sigmoid\"");
}
