#include "autograd/gradcheck.hpp"

#include "autograd/ops.hpp"
#include "autograd/rng.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

using Function = std::function<Tensor(Tape&, const std::vector<Tensor>&)>;
using Rows = std::vector<std::vector<Real>>; // the values of each input

std::vector<Real> weights(std::int64_t n, std::uint64_t which) {
  std::vector<Real> w(static_cast<std::size_t>(n));
  RandomSource random({which, Stream::test, 0});
  for (Real& x : w) x = static_cast<Real>(random.normal());
  return w;
}

// f(data, i) for every element, in row-major order.
template <class F> void for_each(const Tensor& x, F&& f) {
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, at = 0;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      at += rest % x.shape[axis] * x.stride[axis];
      rest /= x.shape[axis];
    }
    f(x.data[at], i);
  }
}

// The weighted sum of the function's result, computed without recording.
double value(const Function& function, const std::vector<CheckInput>& inputs, const Rows& values) {
  Tape tape;
  tape.record(false);
  std::vector<Tensor> x;
  for (std::size_t k = 0; k < inputs.size(); ++k) x.push_back(tape.constant(values[k].data(), inputs[k].shape));
  const Tensor y = function(tape, x);
  const std::vector<Real> w = weights(y.size(), 0);
  double total = 0;
  for_each(y, [&](Real number, std::int64_t i) {
    total += static_cast<double>(w[static_cast<std::size_t>(i)]) * static_cast<double>(number);
  });
  return total;
}

// Says if each input also has a second use besides the function, and if that use is recorded before or after the
// function.
enum class Besides { nowhere, before, after };

Tensor weighted_sum(Tape& tape, const Tensor& y, const std::vector<Real>& w) {
  return sum(mul(y, tape.copy(w.data(), y.shape)));
}

// The gradients from backward, written to memory that held `garbage`. The contribution of the second use is subtracted.
Rows gradients(const Function& function, const std::vector<CheckInput>& inputs, const Rows& values, Besides besides,
               Real garbage) {
  Tape tape;
  Rows out;
  std::vector<Tensor> x;
  for (const auto& v : values) out.emplace_back(v.size(), garbage);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    x.push_back(tape.leaf(values[k].data(), out[k].data(), inputs[k].shape));

  std::vector<Tensor> sums;
  const auto add_besides = [&] {
    for (std::size_t k = 0; k < x.size(); ++k)
      sums.push_back(weighted_sum(tape, add(x[k], x[k]), weights(x[k].size(), k + 1)));
  };
  if (besides == Besides::before) add_besides();
  const Tensor y = function(tape, x);
  sums.push_back(weighted_sum(tape, y, weights(y.size(), 0)));
  if (besides == Besides::after) add_besides();
  Tensor loss = sums[0];
  for (std::size_t i = 1; i < sums.size(); ++i) loss = add(loss, sums[i]);
  tape.backward(loss);

  for (std::size_t k = 0; k < x.size(); ++k) {
    if (Tape::untouched(x[k])) {
      std::fill(out[k].begin(), out[k].end(), Real{0});
      continue;
    }
    if (besides == Besides::nowhere) continue;
    const std::vector<Real> w = weights(x[k].size(), k + 1);
    for (std::size_t i = 0; i < w.size(); ++i) out[k][i] -= 2 * w[i];
  }
  return out;
}

double error(double analytic, double numeric) {
  const double e = std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
  return std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
}

std::string place(const std::vector<CheckInput>& inputs, std::size_t k, std::size_t element) {
  return fmt::format("input {}{} {} element {}", k, inputs[k].name.empty() ? "" : " (" + inputs[k].name + ")",
                     inputs[k].shape.text(), element);
}

// Keeps the worst error and its text.
template <class Text> void note(GradcheckResult& result, const GradcheckOptions& options, double e, Text&& text) {
  if (!(e <= options.tolerance)) result.passed = false;
  if (!result.message.empty() && e <= result.worst) return;
  result.worst = e;
  result.message = text();
}

// Checks that the gradients do not change if an input has a second use, or with different initial memory contents.
void compare_uses(GradcheckResult& result, const Function& function, const std::vector<CheckInput>& inputs,
                  const Rows& values, const Rows& alone, const GradcheckOptions& options) {
  struct Use {
    Besides besides;
    Real garbage;
    const char* what;
  };
  for (const Use& use : {Use{Besides::nowhere, std::numeric_limits<Real>::quiet_NaN(), "its memory held a NaN"},
                         Use{Besides::before, Real{7}, "the input was used before as well"},
                         Use{Besides::after, Real{7}, "the input is used afterwards as well"}}) {
    const Rows other = gradients(function, inputs, values, use.besides, use.garbage);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      for (std::size_t i = 0; i < values[k].size(); ++i) {
        const double expected = alone[k][i], found = other[k][i];
        if (const double e = error(found, expected); e > options.tolerance)
          note(result, options, e, [&] {
            return fmt::format("{}: analytic {}, but {} where {}", place(inputs, k, i), expected, found, use.what);
          });
      }
  }
}

} // namespace

GradcheckResult gradcheck(const Function& function, const std::vector<CheckInput>& inputs,
                          const GradcheckOptions& options) {
  if (options.every < 1) throw Failed("[gradcheck] each 0th element can't be checked; 1 checks all");
  Rows values;
  for (const CheckInput& input : inputs) {
    if (static_cast<std::int64_t>(input.values.size()) != input.shape.size())
      throw Failed(fmt::format("[gradcheck] input {} is {}, but has {} numbers", values.size(), input.shape.text(),
                               input.values.size()));
    values.push_back(input.values);
  }

  GradcheckResult result;
  const Rows analytic = gradients(function, inputs, values, Besides::nowhere, Real{0});
  for (std::size_t k = 0; k < inputs.size(); ++k)
    for (std::size_t i = 0; i < values[k].size(); i += options.every) {
      const Real x = values[k][i];
      const double h = options.step * std::max(1.0, std::abs(static_cast<double>(x)));
      const auto at = [&](double distance) {
        values[k][i] = static_cast<Real>(x + distance);
        return value(function, inputs, values);
      };
      const double numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      values[k][i] = x;
      note(result, options, error(analytic[k][i], numeric),
           [&] { return fmt::format("{}: analytic {}, numeric {}", place(inputs, k, i), analytic[k][i], numeric); });
    }
  compare_uses(result, function, inputs, values, analytic, options);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (values[k] != inputs[k].values) {
      result.passed = false;
      result.message = fmt::format("input {} was changed by the function", k);
    }
  return result;
}

} // namespace heed::HEED_REAL
