// Gradients of the linear recurrence and of the causal convolution, compared with finite differences in double.
#include "autograd/causal_convolution.hpp"
#include "autograd/linear_recurrence.hpp"
#include "tests/autograd/gradients.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

const Domain unit{-1, 1};

// q, k, v, the state before, the strength of the write, and the decays, if there are any.
std::vector<CheckInput> operands(std::int64_t key_heads, std::int64_t heads, std::int64_t tokens,
                                 std::int64_t key_width, std::int64_t value_width, std::int64_t decays,
                                 const Domain& decay = {-2, -0.05}, const Domain& keys = unit) {
  std::vector<CheckInput> out{input({2, key_heads, tokens, key_width}, 1, keys),
                              input({2, key_heads, tokens, key_width}, 2, keys),
                              input({2, heads, tokens, value_width}, 3, unit),
                              input({2, heads, key_width, value_width + (keys.low > 0 ? 1 : 0)}, 4, keys),
                              input({2, heads, tokens, 1}, 6, {0.2, 2})};
  if (decays > 0) out.push_back(input({2, heads, tokens, decays}, 5, decay));
  return out;
}

LinearRecurrenceOperands of(const Tensors& x) { return {x[0], x[1], x[2], x.size() > 5 ? x[5] : Tensor{}, x[3], x[4]}; }

// Of two sequences: none, lengths, or segments from position 3 on.
struct Bounds {
  std::vector<std::int32_t> lengths{3, 17}, numbers;

  Bounds() {
    for (std::int32_t t = 0; t < 160; ++t) numbers.push_back(t / 7);
  }
  RecurrenceBounds operator[](int kind) const {
    return {.lengths = kind == 1 ? lengths.data() : nullptr,
            .segments = {kind == 2 ? numbers.data() : nullptr, 80},
            .first = 3};
  }
};

Tensor together(const LinearRecurrenceResult& r) { return add(sum(mul(r.outputs, r.outputs)), sum(tanh(r.state))); }

} // namespace

TEST_CASE("the linear recurrence has the right gradient", "[gradient]") {
  const Bounds bounds;
  for (const auto& [key_heads, heads] : {std::pair{2, 2}, {1, 2}})
    for (const std::int64_t tokens : {1, 5, 18})
      for (const std::int64_t decays : {0, 1, 3})
        for (const int bounded : {0, 1, 2})
          check_gradient(
              fmt::format("{} of {} heads, {} tokens, {} decays, bounds {}", key_heads, heads, tokens, decays, bounded),
              [&](const Tensors& x) { return together(linear_recurrence(of(x), bounds[bounded], true)); },
              operands(key_heads, heads, tokens, 3, 2, decays));
}

TEST_CASE("the linear recurrence has the right gradient across blocks and chunks", "[gradient]") {
  for (const std::int64_t decays : {0, 1, 3})
    for (const std::int64_t tokens : {66, 131})
      check_gradient(
          fmt::format("{} tokens, {} decays", tokens, decays),
          [&](const Tensors& x) { return linear_recurrence(of(x)).outputs; }, operands(1, 1, tokens, 3, 2, decays));
}

TEST_CASE("the linear recurrence has the right gradient if outputs are divided by their weights", "[gradient]") {
  const Domain positive{0.2, 1};
  for (const std::int64_t decays : {0, 1, 3})
    for (const std::int64_t tokens : {1, 18, 66})
      check_gradient(
          fmt::format("{} tokens, {} decays", tokens, decays),
          [&](const Tensors& x) {
            LinearRecurrenceOperands all = of(x);
            all.normalized = true;
            return together(linear_recurrence(all, {}, true));
          },
          operands(1, 2, tokens, 3, 2, decays, {-2, -0.05}, positive));
}

// Keys are short, so that a state which is erased does not grow. x: as `operands`, then the strength of the erase.
const Domain short_key{-0.5, 0.5};
LinearRecurrenceOperands with_erase(const Tensors& x) {
  LinearRecurrenceOperands all = of({x.begin(), x.end() - 1});
  all.erase = x.back();
  return all;
}

TEST_CASE("the linear recurrence that erases has the right gradient", "[gradient]") {
  const Bounds bounds;
  for (const auto& [key_heads, heads] : {std::pair{2, 2}, {1, 2}})
    for (const std::int64_t tokens : {1, 5, 18})
      for (const std::int64_t decays : {0, 1, 3})
        for (const std::int64_t erases : {1, 3})
          for (const int bounded : {0, 1, 2}) {
            auto inputs = operands(key_heads, heads, tokens, 3, 2, decays, {-2, -0.05}, short_key);
            inputs.push_back(input({2, heads, tokens, erases}, 7, {0.1, 1.5}));
            check_gradient(
                fmt::format("{} of {} heads, {} tokens, {} decays, {} erases, bounds {}", key_heads, heads, tokens,
                            decays, erases, bounded),
                [&](const Tensors& x) { return together(linear_recurrence(with_erase(x), bounds[bounded], true)); },
                inputs);
          }
  for (const std::int64_t decays : {0, 1, 3})
    for (const std::int64_t erases : {1, 3}) {
      auto inputs = operands(1, 1, 70, 3, 2, decays, {-0.5, -0.05}, short_key);
      inputs.push_back(input({2, 1, 70, erases}, 7, {0.1, 1.5}));
      check_gradient(
          fmt::format("70 tokens, {} decays, {} erases", decays, erases),
          [&](const Tensors& x) { return linear_recurrence(with_erase(x)).outputs; }, inputs);
    }
  auto inputs = operands(1, 2, 40, 3, 2, 3, {-5, -0.05}, short_key); // channels that decay below 2^-40
  inputs.push_back(input({2, 2, 40, 1}, 7, {0.1, 1.5}));
  check_gradient(
      "decays far below 1", [](const Tensors& x) { return linear_recurrence(with_erase(x)).outputs; }, inputs);
}

TEST_CASE("the linear recurrence that erases by keys of its own has the right gradient", "[gradient]") {
  const auto by_keys = [](const Tensors& x) {
    LinearRecurrenceOperands all = of({x.begin(), x.end() - 1});
    all.erase_keys = x.back();
    return all;
  };
  const Bounds bounds;
  for (const auto& [key_heads, heads] : {std::pair{2, 2}, {1, 2}})
    for (const std::int64_t tokens : {1, 18})
      for (const std::int64_t decays : {0, 1, 3})
        for (const int bounded : {0, 1, 2}) {
          auto inputs = operands(key_heads, heads, tokens, 3, 2, decays, {-2, -0.05}, short_key);
          inputs.push_back(input({2, heads, tokens, 3}, 7, short_key));
          check_gradient(
              fmt::format("{} of {} heads, {} tokens, {} decays, bounds {}", key_heads, heads, tokens, decays, bounded),
              [&](const Tensors& x) { return together(linear_recurrence(by_keys(x), bounds[bounded], true)); }, inputs);
        }
  auto inputs = operands(1, 1, 70, 3, 2, 3, {-0.5, -0.05}, short_key);
  inputs.push_back(input({2, 1, 70, 3}, 7, short_key));
  check_gradient(
      "70 tokens", [&](const Tensors& x) { return linear_recurrence(by_keys(x)).outputs; }, inputs);
  check_gradient("keys and erase keys are one tensor",
                 [](const Tensors& x) {
                   LinearRecurrenceOperands all{x[0], x[0], x[1]};
                   all.erase_keys = x[0];
                   return linear_recurrence(all).outputs;
                 },
                 {input({2, 2, 5, 3}, 1, short_key), input({2, 2, 5, 2}, 2, short_key)});
}

TEST_CASE("the linear recurrence that erases has the right gradient if operands are the same, and through views",
          "[gradient]") {
  const std::vector<CheckInput> three{input({2, 1, 20, 3}, 1, short_key), input({2, 1, 20, 3}, 2, short_key),
                                      input({2, 2, 20, 2}, 3, unit)};
  const auto check = [&](const char* name, const CheckInput& strength, auto&& more) {
    auto inputs = three;
    inputs.push_back(strength);
    check_gradient(
        name,
        [&](const Tensors& x) {
          LinearRecurrenceOperands all{x[0], x[1], x[2]};
          more(all, x);
          return linear_recurrence(all).outputs;
        },
        inputs);
  };
  const CheckInput strength = input({2, 2, 20, 1}, 4, {0.1, 1.5});
  check("write and erase", strength, [](auto& all, const Tensors& x) { all.write = all.erase = x[3]; });
  check("erase and decay", input({2, 2, 20, 1}, 4, {-0.9, -0.1}),
        [](auto& all, const Tensors& x) { all.log_decay = all.erase = x[3]; });
  check("write, erase and decay", input({2, 2, 20, 1}, 4, {-0.9, -0.1}),
        [](auto& all, const Tensors& x) { all.log_decay = all.write = all.erase = x[3]; });
  check("halves of one tensor", input({2, 2, 20, 2}, 4, {0.1, 1.5}), [](auto& all, const Tensors& x) {
    all.write = slice(x[3], 3, 0, 1);
    all.erase = slice(x[3], 3, 1, 1);
  });
  check("erase by channel, transposed", input({2, 3, 20, 2}, 4, {0.1, 1.5}),
        [](auto& all, const Tensors& x) { all.erase = transpose(x[3], 1, 3); });
  check_gradient("one tensor is all operands",
                 [](const Tensors& x) {
                   LinearRecurrenceOperands all{x[0], x[0], x[0], x[0]};
                   all.erase = x[0];
                   return linear_recurrence(all).outputs;
                 },
                 {input({2, 2, 5, 3}, 1, {-0.5, -0.1})});
}

TEST_CASE("the linear recurrence has the right gradient if channels decay below what a quotient can hold",
          "[gradient]") {
  for (const std::int64_t tokens : {16, 40})
    check_gradient(
        fmt::format("{} tokens", tokens), [&](const Tensors& x) { return linear_recurrence(of(x)).outputs; },
        operands(1, 2, tokens, 3, 2, 3, {-5, -0.05}));
}

TEST_CASE("the linear recurrence has the right gradient through views of its operands, and if they are the same",
          "[gradient]") {
  for (const std::int64_t decays : {0, 1, 3}) {
    const auto inputs = operands(2, 2, 4, 3, 3, decays);
    for (const View& view : views())
      for (std::size_t seen = 0; seen < inputs.size(); ++seen) {
        const Shape shape = inputs[seen].shape;
        if (!view.fits(shape)) continue;
        auto leaves = inputs;
        leaves[seen] = input(view.of(shape), 9, seen == 5 ? Domain{-2, -0.05} : unit);
        check_gradient(
            fmt::format("operand {} {}, {} decays", seen, view.name, decays),
            [&](const Tensors& x) {
              Tensors on = x;
              on[seen] = view.take(x[seen], shape);
              return together(linear_recurrence(of(on), {}, true));
            },
            leaves);
      }
  }
  check_gradient("one tensor is all operands",
                 [](const Tensors& x) {
                   return linear_recurrence({x[0], x[0], x[0], x[0]}).outputs;
                 },
                 {input({2, 2, 5, 3}, 1, {-1, -0.1})});
  check_gradient("one tensor is the decay and the strength of the write",
                 [](const Tensors& x) {
                   return linear_recurrence({x[0], x[0], x[0], x[1], {}, x[1]}).outputs;
                 },
                 {input({2, 2, 5, 3}, 1, unit), input({2, 2, 5, 1}, 2, {-1, -0.1})});
}

TEST_CASE("the causal convolution has the right gradient", "[gradient]") {
  std::vector<std::int32_t> numbers;
  for (std::int32_t t = 0; t < 40; ++t) numbers.push_back(t / 3);
  const std::vector<Real> before = draw(2 * 3 * 5, 8);
  for (const std::int64_t tokens : {1, 3, 9})
    for (const int form : {0, 1, 2, 3}) {
      const auto convolved = [&](const Tensors& x) {
        const ConvolutionStart start{form % 2 == 1 ? x[0].tape->constant(before.data(), {2, 3, 5}) : Tensor{},
                                     {form >= 2 ? numbers.data() : nullptr, 20},
                                     form % 2 == 1 ? 4 : 0};
        return causal_convolution(x[0], x[1], form == 0 ? nullptr : &x[2], start);
      };
      std::vector<CheckInput> inputs{input({2, tokens, 5}, 1), input({5, 4}, 2)};
      if (form != 0) inputs.push_back(input({5}, 3));
      check_gradient(fmt::format("{} tokens, form {}", tokens, form), convolved, inputs);
    }
  for (const View& view : views())
    check_gradient(view.name,
                   [&](const Tensors& x) {
                     return causal_convolution(view.take(x[0], {2, 4, 3}), x[1], nullptr);
                   },
                   {input(view.of({2, 4, 3}), 1), input({3, 4}, 2)});
}
