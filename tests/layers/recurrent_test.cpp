// Tests of recurrent layers: the contract of all cells, and equality with PyTorch (tests/fixtures/recurrent.json).
#include "layers/recurrent/recurrent.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/layers/layer_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double recurrent_tolerance = 20 * rounding;

// Layers of one cell type with random parameters, on random inputs x [B, T, 3].
struct Sequences {
  Weights weights;
  Recurrent layers;
  Operand x;

  Sequences(const RecurrentCellInfo& info, Recurrent::Sizes sizes, std::int64_t sequences, std::int64_t steps)
      : layers(weights.scope(), info.about.name, {}, with_input(sizes)), x({sequences, steps, 3}, 2) {
    weights.fill(1);
  }
  static Recurrent::Sizes with_input(Recurrent::Sizes sizes) {
    sizes.input_width = 3;
    return sizes;
  }

  struct Outcome {
    std::vector<Real> states;            // [B, T, output_width]
    std::vector<std::vector<Real>> last; // h of each layer and direction, then c if the cell has it
  };
  Outcome operator()(const std::int32_t* lengths = nullptr, const Pass::Options& options = {}) {
    Tape tape;
    Pass pass = weights.pass(tape, options);
    const Recurrent::Result r = layers(pass, x.on(tape), lengths);
    CHECK(r.states.shape == Shape{x.shape[0], x.shape[1], layers.output_width()});
    Outcome out{read(r.states), {}};
    for (const RecurrentState& s : r.last) out.last.push_back(read(s.h));
    for (const RecurrentState& s : r.last)
      if (layers.cell().has_memory) out.last.push_back(read(s.c));
    return out;
  }
};

void for_each_cell(const std::function<void(const RecurrentCellInfo&)>& use) {
  for (const RecurrentCellInfo* info : recurrent_cells()) {
    INFO(info->about.name);
    use(*info);
  }
}

// Steps [begin, end) of sequence b.
std::vector<Real> steps_of(const std::vector<Real>& states, const Shape& shape, std::int64_t b, std::int64_t begin,
                           std::int64_t end) {
  const auto row = states.begin() + b * shape[1] * shape[2];
  return {row + begin * shape[2], row + end * shape[2]};
}

} // namespace

TEST_CASE("every cell over a sequence equals its step in plain loops", "[recurrent][contract]") {
  for_each_cell([](const RecurrentCellInfo& info) {
    for (const auto& [sequences, steps, width] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {2, 5, 3}, {9, 4, 17}, {3, 3, 32}, {1, 6, 33}, {17, 2, 64}})
      for (bool backward : {false, true}) {
        INFO(sequences << " sequences, " << steps << " steps, width " << width << ", backward " << backward);
        Sequences s(info, {.width = width, .both_directions = backward}, sequences, steps);
        std::vector<std::int32_t> lengths;
        for (std::int64_t b = 0; b < sequences; ++b)
          lengths.push_back(static_cast<std::int32_t>((b * 3 + steps) % (steps + 1)));
        const Sequences::Outcome found = s(lengths.data());

        const std::string part = backward ? "layers.0.backward." : "layers.0.forward.";
        std::vector<const Real*> own;
        const Real *input = nullptr, *bias = nullptr;
        for (std::size_t p = 0; p < s.weights.parameters.entries().size(); ++p) {
          const std::string& name = s.weights.parameters.entries()[p].name;
          const Real* values = s.weights.parameters.values(ParameterId{p});
          if (name == part + "input.weight") input = values;
          else if (name == part + "input.bias") bias = values;
          else if (name.starts_with(part)) own.push_back(values);
        }
        const std::int64_t out_width = s.layers.output_width(), all = info.gates * width;
        std::vector<Real> states, expected, last;
        for (std::int64_t b = 0; b < sequences; ++b) {
          std::vector<Real> h(static_cast<std::size_t>(width)), c(h), projected(static_cast<std::size_t>(all));
          const std::int64_t length = lengths[static_cast<std::size_t>(b)];
          for (std::int64_t n = 0; n < length; ++n) {
            const std::int64_t t = backward ? length - 1 - n : n;
            for (std::int64_t g = 0; g < all; ++g) {
              Real sum = bias[g];
              for (std::int64_t i = 0; i < 3; ++i)
                sum += input[g * 3 + i] * s.x.values[static_cast<std::size_t>((b * steps + t) * 3 + i)];
              projected[static_cast<std::size_t>(g)] = sum;
            }
            info.step({projected.data(), h.data(), c.data(), width, own});
            const auto at = found.states.begin() + (b * steps + t) * out_width + (backward ? width : 0);
            states.insert(states.end(), at, at + width);
            expected.insert(expected.end(), h.begin(), h.end());
          }
          last.insert(last.end(), h.begin(), h.end());
        }
        CHECK(distance(states, expected) < recurrent_tolerance);
        CHECK(distance(found.last[backward ? 1 : 0], last) < recurrent_tolerance);
      }
  });
}

TEST_CASE("step by step is the whole sequence", "[recurrent][contract]") {
  for_each_cell([](const RecurrentCellInfo& info) {
    Sequences s(info, {.width = 20, .layers = 2}, 3, 5);
    const std::vector<std::int32_t> lengths = {5, 0, 3};
    const Sequences::Outcome whole = s(lengths.data());
    Tape tape;
    Pass pass = s.weights.pass(tape);
    const Tensor x = s.x.on(tape);
    RecurrentStates state = s.layers.start(pass, 3);
    std::vector<std::vector<Real>> outputs;
    for (std::int64_t t = 0; t < 5; ++t) {
      const Tensor now = reshape(slice(x, 1, t, 1), {3, 3});
      const Recurrent::Step step = s.layers.step(pass, now, state, {.lengths = lengths.data(), .first = t});
      outputs.push_back(read(step.output));
      state = step.state;
    }
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t t = 0; t < 5; ++t) {
        const auto& at = outputs[static_cast<std::size_t>(t)];
        const std::vector<Real> sequence(at.begin() + b * 20, at.begin() + (b + 1) * 20);
        CHECK(distance(sequence, steps_of(whole.states, {3, 5, 20}, b, t, t + 1)) < recurrent_tolerance);
      }
    for (std::size_t i = 0; i < state.size(); ++i)
      CHECK(distance(read(state[i].h), whole.last[i]) < recurrent_tolerance);
    if (info.has_memory)
      for (std::size_t i = 0; i < state.size(); ++i)
        CHECK(distance(read(state[i].c), whole.last[2 + i]) < recurrent_tolerance);
  });
}

TEST_CASE("padding changes no state, bit for bit, and gets no gradient", "[recurrent][contract]") {
  for_each_cell([](const RecurrentCellInfo& info) {
    for (bool both : {false, true}) {
      Sequences s(info, {.width = 5, .layers = 2, .both_directions = both}, 3, 6);
      const std::vector<std::int32_t> lengths = {4, 6, 0};
      const Shape shape{3, 6, s.layers.output_width()};
      const Sequences::Outcome before = s(lengths.data());
      for (std::int64_t b = 0; b < 3; ++b)
        for (std::int64_t i = lengths[static_cast<std::size_t>(b)] * 3; i < 18; ++i)
          s.x.values[static_cast<std::size_t>(b * 18 + i)] = Real(50) + static_cast<Real>(i);
      const Sequences::Outcome after = s(lengths.data());
      CHECK(after.last == before.last);
      for (std::int64_t b = 0; b < 3; ++b) {
        const std::int64_t length = lengths[static_cast<std::size_t>(b)];
        CHECK(steps_of(after.states, shape, b, 0, length) == steps_of(before.states, shape, b, 0, length));
      }
      CHECK(all_zero(std::vector<Real>(after.last[0].begin() + 10, after.last[0].end())));

      Tape tape;
      Pass pass = s.weights.pass(tape, {.training = true});
      tape.backward(weighted_sum(s.layers(pass, s.x.on(tape), lengths.data()).states));
      CHECK(all_zero({s.x.gradient.begin() + 12, s.x.gradient.begin() + 18}));
      CHECK(all_zero({s.x.gradient.begin() + 36, s.x.gradient.end()}));
      CHECK_FALSE(all_zero({s.x.gradient.begin(), s.x.gradient.begin() + 12}));
    }
  });
}

TEST_CASE("sequences do not see each other", "[recurrent][contract]") {
  for_each_cell([](const RecurrentCellInfo& info) {
    Sequences s(info, {.width = 5, .layers = 2, .both_directions = true}, 11, 4);
    const std::vector<Real> all = s().states;
    for (std::int64_t b : {0, 7, 10}) {
      Sequences one(info, {.width = 5, .layers = 2, .both_directions = true}, 1, 4);
      std::copy_n(s.x.values.begin() + b * 12, 12, one.x.values.begin());
      CHECK(distance(one().states, steps_of(all, {11, 4, 10}, b, 0, 4)) < recurrent_tolerance);
    }
  });
}

TEST_CASE("dropout between layers acts in training alone, and on a sequence of the batch wherever it is",
          "[recurrent]") {
  const RecurrentCellInfo& info = recurrent_cell_info("gru");
  Sequences with(info, {.width = 8, .layers = 2, .dropout = 0.5}, 4, 5), without(info, {.width = 8, .layers = 2}, 4, 5);
  CHECK(with().states == without().states);
  const std::vector<Real> whole = with(nullptr, {.training = true, .seed = 3}).states;
  CHECK(whole != without().states);
  CHECK(with(nullptr, {.training = true, .seed = 4}).states != whole);
  Sequences half(info, {.width = 8, .layers = 2, .dropout = 0.5}, 2, 5);
  std::copy(with.x.values.begin() + 30, with.x.values.end(), half.x.values.begin());
  CHECK(distance(half(nullptr, {.training = true, .seed = 3, .first_sequence = 2}).states,
                 std::vector<Real>(whole.begin() + 80, whole.end())) < recurrent_tolerance);
}

TEST_CASE("recurrent layers refuse what they cannot do, and say so", "[recurrent]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(recurrent_cell_info("grru"), Contains("grru") && Contains("lstm"));
  Weights weights;
  CHECK_THROWS_WITH(Recurrent(weights.scope(), "gru", {}, {.input_width = 3, .width = 4, .layers = 0}),
                    Contains("0 layers"));
  const Recurrent both(weights.scope(), "gru", {}, {.input_width = 3, .width = 4, .both_directions = true});
  weights.fill(1);
  Tape tape;
  Pass pass = weights.pass(tape);
  CHECK_THROWS_WITH(both.step(pass, tape.zeros({2, 3}), both.start(pass, 2)), Contains("two directions"));
  CHECK_THROWS_WITH(both(pass, tape.zeros({2, 5, 4})), Contains("[B, T, 3]") && Contains("[2, 5, 4]"));
  const RecurrentStates one = both.start(pass, 2).subspan(1);
  CHECK_THROWS_WITH(both(pass, tape.zeros({2, 5, 3}), nullptr, one), Contains("2 states"));
}

TEST_CASE("recurrent layers equal torch.nn.RNN, GRU and LSTM, with packed sequences where sequences are padded",
          "[torch]") {
  for (const auto& [cell, theirs] :
       {std::pair<std::string, std::string>{"srn", "rnn"}, {"gru", "gru"}, {"lstm", "lstm"}})
    for (const bool stacked : {false, true}) {
      const std::string name = theirs + (stacked ? "_stacked_both_ways_padded" : "");
      INFO(name);
      const Fixture f("recurrent", name);
      Weights weights;
      const Recurrent layers(weights.scope(), cell, {},
                             {.input_width = 4, .width = 5, .layers = stacked ? 2 : 1, .both_directions = stacked});
      weights.fill(1);
      const std::size_t parts = stacked ? 4 : 1;
      // Copies each part's parameters from PyTorch's names to Heed's. PyTorch has two biases, and Heed has their sum,
      // except for the third gate of the gru, whose two biases stay separate.
      const auto name_of = [&](std::size_t part) {
        return fmt::format("layers.{}.{}.", part / (stacked ? 2 : 1), part % 2 ? "backward" : "forward");
      };
      const auto torch_name = [&](const char* what, std::size_t part) {
        return fmt::format("{}_l{}{}", what, part / (stacked ? 2 : 1), part % 2 ? "_reverse" : "");
      };
      for (std::size_t part = 0; part < parts; ++part) {
        weights.set(name_of(part) + "input.weight", f[torch_name("weight_ih", part)].as<Real>());
        weights.set(name_of(part) + "recurrent.weight", f[torch_name("weight_hh", part)].as<Real>());
        std::vector<double> bias = f[torch_name("bias_ih", part)].values, other = f[torch_name("bias_hh", part)].values;
        const std::size_t shared = cell == "gru" ? 10 : bias.size();
        std::transform(bias.begin(), bias.begin() + static_cast<std::ptrdiff_t>(shared), other.begin(), bias.begin(),
                       std::plus<>());
        weights.set(name_of(part) + "input.bias", std::vector<Real>(bias.begin(), bias.end()));
        if (cell == "gru")
          weights.set(name_of(part) + "recurrent.bias", std::vector<Real>(other.begin() + 10, other.end()));
      }

      Tape tape;
      Pass pass = weights.pass(tape, {.training = true});
      Operand x(f["x"].shape, f["x"].as<Real>()), h(f["h"].shape, f["h"].as<Real>());
      Operand c = cell == "lstm" ? Operand(f["c"].shape, f["c"].as<Real>()) : Operand({0}, std::vector<Real>{});
      const Tensor on_h = h.on(tape), on_c = c.on(tape);
      std::vector<RecurrentState> before;
      for (std::size_t part = 0; part < parts; ++part) {
        const auto sequence = [&](const Tensor& all) {
          return reshape(slice(all, 0, static_cast<std::int64_t>(part), 1), {3, 5});
        };
        before.push_back({sequence(on_h), cell == "lstm" ? sequence(on_c) : Tensor{}});
      }
      std::vector<std::int32_t> lengths(3, 6);
      if (stacked) lengths = f["lengths"].as<std::int32_t>();
      const Recurrent::Result r = layers(pass, x.on(tape), stacked ? lengths.data() : nullptr, before);

      // At padding, PyTorch's packed sequences have zeros, and Heed has the carried state.
      std::vector<Real> inside;
      for (std::int64_t i = 0; i < r.states.size(); ++i)
        inside.push_back(i / layers.output_width() % 6 <
                         lengths[static_cast<std::size_t>(i / layers.output_width() / 6)]);
      std::vector<Tensor> all = {reshape(mul(r.states, tape.copy(inside.data(), r.states.shape)), {-1})};
      for (const RecurrentState& s : r.last) all.push_back(reshape(s.h, {-1}));
      if (cell == "lstm")
        for (const RecurrentState& s : r.last) all.push_back(reshape(s.c, {-1}));
      const Tensor y = concat(all, 0);
      CHECK(distance(read(y), f["y"].values) < agreement);

      const std::vector<Real> dy = f["dy"].as<Real>();
      tape.backward(sum(mul(y, tape.copy(dy.data(), y.shape))));
      pass.finish_gradients();
      CHECK(distance(x.gradient, f["d.x"].values) < agreement);
      CHECK(distance(h.gradient, f["d.h"].values) < agreement);
      if (cell == "lstm") CHECK(distance(c.gradient, f["d.c"].values) < agreement);
      for (std::size_t part = 0; part < parts; ++part) {
        INFO(name_of(part));
        CHECK(distance(weights.gradient(name_of(part) + "input.weight"),
                       f["d." + torch_name("weight_ih", part)].values) < agreement);
        CHECK(distance(weights.gradient(name_of(part) + "input.bias"), f["d." + torch_name("bias_ih", part)].values) <
              agreement);
        CHECK(distance(weights.gradient(name_of(part) + "recurrent.weight"),
                       f["d." + torch_name("weight_hh", part)].values) < agreement);
        if (cell == "gru")
          CHECK(distance(weights.gradient(name_of(part) + "recurrent.bias"),
                         f["d." + torch_name("bias_hh", part)].rows(10, 15).values) < agreement);
      }
    }
}
