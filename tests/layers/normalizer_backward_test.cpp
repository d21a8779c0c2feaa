// The two ways to the gradient of a row's scores: from kept weights, and in one call with the weights.
#include "autograd/kernels/simd.hpp"
#include "layers/attention/normalizer.hpp"
#include "tests/layers/layer_support.hpp"

#include <limits>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct NamedRow {
  std::string name;
  std::vector<Real> scores;
};

std::vector<NamedRow> rows_of(std::int64_t n) {
  const auto with = [&](const char* name, double low, double high) {
    return NamedRow{name, draw(n, 3, {low, high, 0})};
  };
  const auto all = [&](const char* name, Real score) {
    return NamedRow{name, std::vector<Real>(static_cast<std::size_t>(n), score)};
  };
  const Real infinity = std::numeric_limits<Real>::infinity();
  std::vector<NamedRow> rows = {with("flat", -0.01, 0.01),     with("usual", -3, 3),
                                with("steep", -50, 50),        with("none above 0", -8, -1),
                                with("above 60", 20, 90),      with("very low", -300, -200),
                                with("very large", -1e7, 1e7), all("zeros", 0),
                                all("all equal", 2),           all("all of minus infinity", -infinity)};
  rows.push_back(with("some of minus infinity", -2, 2));
  for (std::size_t j = 0; j < rows.back().scores.size(); j += 3) rows.back().scores[j] = -infinity;
  return rows;
}

// Equal up to the rounding of the largest, or of `size`, with infinities and NaN in the same places.
bool same(const std::vector<Real>& a, const std::vector<Real>& b, double size) {
  for (const Real x : b)
    if (std::isfinite(x)) size = std::max(size, std::abs(static_cast<double>(x)));
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (std::isnan(a[j]) && std::isnan(b[j])) continue;
    if (a[j] != b[j] && !(std::abs(static_cast<double>(a[j]) - static_cast<double>(b[j])) <= 20 * rounding * size))
      return false;
  }
  return true;
}

} // namespace

TEST_CASE("a streaming kernel's gradient of a row is that from kept weights", "[normalizer][contract]") {
  for (const NormalizerInfo* info : normalizers())
    for (const Setup& setup : setups(info->about)) {
      Weights parameters;
      const auto normalizer = info->make(parameters.scope() / "normalizer", 1, setup.options);
      if (!normalizer->has_rules()) continue;
      parameters.fill(1);
      Tape tape;
      Pass pass = parameters.pass(tape, {.training = true});
      const RowRule& rule = normalizer->rules(pass)->of_head(0);
      for (const std::int64_t n : {1, 2, 16, 37, 130})
        for (const auto& [name, scores] : rows_of(n)) {
          INFO(setup.text << ", " << n << " keys, " << name);
          const RowKeys keys{.n = n, .earlier = n - 1, .own = true};
          const auto size = static_cast<std::size_t>(n);
          const std::vector<Real> dw = draw(n, 4, {-1, 1, 0});
          std::vector<Real> w(size), ds(size), w_again(size), ds_again(size),
              scratch(2 * static_cast<std::size_t>(whole_vectors(n)));
          Real value = 0;
          rule.weights(scores.data(), w.data(), keys, scratch.data(), value);
          rule.backward(value, scores.data(), w.data(), dw.data(), ds.data(), keys, scratch.data());
          rule.weights_and_backward(value, scores.data(), w_again.data(), dw.data(), ds_again.data(), keys,
                                    scratch.data());
          CHECK(same(w_again, w, 1)); // clipped_softmax's are differences of such numbers
          CHECK(same(ds_again, ds, 0));
        }
    }
}
