// RWKV-7: what the tests of all mixers do not show of it: the values of the first block, the start, and what can't be.
#include "tests/layers/kept_weights.hpp"
#include "tests/layers/mixer_support.hpp"
#include "tests/layers/module_check.hpp"
#include "tests/layers/rwkv7_loops.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t rwkv7_width = 8, rwkv7_tokens = 35;
constexpr double rwkv7_tolerance = 100 * rounding;

struct MadeRwkv7 {
  Weights weights;
  LayerChoice choice;
  MixerSizes sizes;
  std::unique_ptr<Mixer> mixer;

  explicit MadeRwkv7(const MixerSizes& of, const std::map<std::string, Value>& changes = {})
      : choice(choice_of("rwkv7", changes)), sizes(of) {
    mixer = mixer_info("rwkv7").make(weights.scope(), choice, sizes, Init::normal(0.5));
  }
};

Rwkv7Loops::Rows rows_of_rwkv7(const std::vector<Real>& numbers) {
  Rwkv7Loops::Rows out;
  for (auto at = numbers.begin(); at != numbers.end(); at += rwkv7_width) out.emplace_back(at, at + rwkv7_width);
  return out;
}

double rwkv7_difference(const std::vector<Real>& got, const Rwkv7Loops::Rows& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - wanted[i / rwkv7_width][i % rwkv7_width]));
  return worst;
}

const MixerSizes first_of_two{.width = rwkv7_width, .heads = 2, .layers = 2, .hands_on_values = true},
    second_of_two{.width = rwkv7_width, .heads = 2, .layer = 1, .layers = 2};

} // namespace

TEST_CASE("later blocks of rwkv7 mix in the first one's values, also in decoding", "[mixer]") {
  MadeRwkv7 first(first_of_two), second(second_of_two);
  for (MadeRwkv7* of : {&first, &second}) of->weights.fill(3, {-0.6, 0.8});
  CHECK_FALSE(first.weights.parameters.find("value_residual.up"));
  Operand x({1, rwkv7_tokens, rwkv7_width}, 5, {-1, 1}), other({1, rwkv7_tokens, rwkv7_width}, 6, {-1, 1});
  const auto rows = rows_of_rwkv7(x.values), others = rows_of_rwkv7(other.values);
  const auto values = Rwkv7Loops(first.choice, first.sizes, first.weights.parameters).values(rows, {});
  Tape tape;
  tape.record(false);
  Pass pass_first = first.weights.pass(tape), pass = second.weights.pass(tape);
  Tensor handed;
  const Tensor of_first = x.on(tape), of_second = other.on(tape);
  (*first.mixer)(pass_first, of_first, {}, &handed);
  CHECK(rwkv7_difference(read(handed), values) < rwkv7_tolerance);
  const auto wanted = Rwkv7Loops(second.choice, second.sizes, second.weights.parameters)(others, values);
  CHECK(rwkv7_difference(read((*second.mixer)(pass, of_second, {}, &handed)), wanted) < rwkv7_tolerance);
  CHECK_THROWS_WITH((*second.mixer)(pass, of_second, {}, nullptr), "[mixer] rwkv7 needs the values of the first block");

  std::unique_ptr<MixerState> past_first, past;
  for (std::int64_t t = 0; t < rwkv7_tokens; t += 5) {
    Tensor here;
    first.mixer->step(pass_first, slice(of_first, 1, t, 5), {}, past_first, &here);
    const auto got = read(second.mixer->step(pass, slice(of_second, 1, t, 5), {}, past, &here));
    CHECK(rwkv7_difference(got, Rwkv7Loops::Rows(wanted.begin() + t, wanted.begin() + t + 5)) < rwkv7_tolerance);
  }
}

TEST_CASE("the weights of rwkv7 times the values are the results of its heads", "[mixer]") {
  struct KeptHeads : KeptWeights {
    void heads(const AttentionPlace&, const Tensor& y) override { results = read(y); }
    std::vector<Real> results;
  };
  MadeRwkv7 made({.width = rwkv7_width, .heads = 2});
  made.weights.fill(3, {-0.6, 0.8});
  Operand x({1, rwkv7_tokens, rwkv7_width}, 5, {-1, 1});
  Tape tape;
  tape.record(false);
  KeptHeads observer;
  Pass pass(tape, made.weights.parameters, nullptr, {.observer = &observer});
  (*made.mixer)(pass, x.on(tape), {}, nullptr);
  const auto values = Rwkv7Loops(made.choice, made.sizes, made.weights.parameters).values(rows_of_rwkv7(x.values), {});
  const std::vector<Real> w = read(observer.kept.at(0));
  double worst = 0;
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < rwkv7_tokens; ++i)
      for (std::int64_t d = 0; d < rwkv7_width / 2; ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j < rwkv7_tokens; ++j)
          sum += static_cast<double>(w[static_cast<std::size_t>((h * rwkv7_tokens + i) * rwkv7_tokens + j)]) *
                 values[static_cast<std::size_t>(j)][static_cast<std::size_t>(h * rwkv7_width / 2 + d)];
        const Real got = observer.results[static_cast<std::size_t>((h * rwkv7_tokens + i) * rwkv7_width / 2 + d)];
        worst = std::max(worst, std::abs(sum - static_cast<double>(got)));
      }
  CHECK(worst < rwkv7_tolerance);
}

TEST_CASE("rwkv7 starts with the published numbers", "[mixer]") {
  // Of block 1 of 3, by the formulas of the published code (RWKV-LM, RWKV-v7/train_temp), for heads of width 64.
  MadeRwkv7 made({.width = 128, .heads = 2, .layer = 1, .layers = 3});
  Parameters& parameters = made.weights.parameters;
  parameters.initialise(7);
  const auto at = [&](const std::string& name, std::int64_t i) {
    const auto* e = parameters.find(name);
    REQUIRE(e);
    return static_cast<double>(parameters.values()[e->offset + i]);
  };
  const auto near = [](double value) { return Catch::Detail::Approx(value).margin(1e-6); };
  CHECK(at("shift.query", 32) == near(1 - std::pow(0.25, 0.2 * 2 / 3)));
  CHECK(at("shift.decay", 32) == near(1 - std::pow(0.25, 0.9 * 2 / 3)));
  CHECK(at("shift.value", 96) == near(1 - std::pow(0.75, 0.7 * 2 / 3)));
  CHECK(at("decay.bias", 0) == near(-6 + 0.5 - 2.5)); // the first channel of a head: z = -1
  CHECK(at("decay.bias", 127) == near(-6 + 6 + 0.5 + 2.5));
  CHECK(at("decay.bias", 64) == near(-6 + 6 * std::pow(64.0 / 127, 1 + std::pow(0.5, 0.3)) + 0.5 - 2.5));
  CHECK(at("erase.bias", 127) == near(-0.19 + 0.3 + 0.2));
  CHECK(at("value_residual.bias", 0) == near(0.73 + 0.2));
  CHECK(at("erase_key", 127) == near(0.71 - 0.05));
  CHECK(at("key_by_erase", 5) == near(1.02));
  CHECK(at("bonus", 70) == near(-0.04));
  CHECK(at("norm.weight", 3) == near(std::pow(2.0 / 3, 0.7)));
  for (const char* zero :
       {"decay.down", "erase.down", "value_residual.down", "gate.down", "norm.bias", "output.weight"})
    CHECK(at(zero, 17) == 0);
  // Rows of `up`, [width, rank], are columns here: orthogonal, of length 0.1.
  const auto* up = parameters.find("gate.up");
  REQUIRE((up->shape == Shape{128, 64})); // 5 sqrt(128) = 56.6, to a multiple of 32
  CHECK(parameters.find("decay.up")->shape[1] == 32);
  for (const std::int64_t j : {0, 1, 63})
    for (const std::int64_t k : {0, 1, 63}) {
      double sum = 0;
      for (std::int64_t i = 0; i < 128; ++i) sum += at("gate.up", i * 64 + j) * at("gate.up", i * 64 + k);
      CHECK(sum == near(j == k ? 0.01 : 0));
    }
  double largest = 0;
  for (std::int64_t i = 0; i < 128 * 128; ++i) largest = std::max(largest, std::abs(at("key.weight", i)));
  CHECK(largest <= 0.05 / std::sqrt(128));
  CHECK(largest > 0.049 / std::sqrt(128));
  // Weight decay is for the four maps alone.
  for (const auto& e : parameters.entries())
    CHECK((e.decay == WeightDecay::yes) == (e.name.ends_with(".weight") && e.name != "norm.weight"));
}

TEST_CASE("rwkv7 refuses a width that its heads don't divide", "[mixer]") {
  const MixerInfo& info = mixer_info("rwkv7");
  CHECK(info.refusal_of(choice_of("rwkv7"), {.width = 8, .heads = 2}, {}).why.empty());
  CHECK(info.refusal_of(choice_of("rwkv7", {{"mixer.heads", std::int64_t{3}}}), {.width = 8, .heads = 2}, {}).why ==
        "3 heads do not divide the width 8: set mixer.heads to a number that does");
}
