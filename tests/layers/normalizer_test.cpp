// Tests of single normalisers: properties beyond the contract of all attention.
#include "autograd/normalize.hpp"
#include "layers/attention/attention.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/layers/layer_support.hpp"

#include <limits>
#include <map>
#include <numeric>
#include <tuple>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The weights of one normaliser for random scores [B, H, Tq, Tk].
struct Rows {
  Weights weights;
  std::unique_ptr<Normalizer> normalizer;
  Operand scores;

  Rows(const std::string& name, const OptionValues& options, const Shape& shape, const Domain& domain = {})
      : normalizer(normalizer_info(name).make(weights.scope() / "normalizer", shape[1], options)),
        scores(shape, 5, domain) {
    weights.fill(1);
  }
  std::vector<Real> operator()(const Pass::Options& options = {}, const Mask& mask = {}) {
    Tape tape;
    Pass pass = weights.pass(tape, options);
    return read((*normalizer)(pass, scores.on(tape), mask));
  }
};

// Of a query at the last key.
std::vector<Real> row_of(const std::string& name, std::vector<Real> scores, const OptionValues& options = {}) {
  const std::int64_t n = std::ssize(scores);
  Rows rows(name, options, {1, 1, 1, n});
  rows.scores.values = std::move(scores);
  return rows({}, {.offset = n - 1});
}

} // namespace

TEST_CASE("each value of each option of a normaliser changes its weights or their gradient", "[normalizer][contract]") {
  for (const NormalizerInfo* info : normalizers()) {
    const auto outcome = [&](const OptionValues& options) {
      Rows rows(info->about.name, options, {2, 1, 3, 16});
      Tape tape;
      Pass pass = rows.weights.pass(tape, {.training = true});
      const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {});
      tape.backward(weighted_sum(w));
      std::vector<Real> out = read(w);
      out.insert(out.end(), rows.scores.gradient.begin(), rows.scores.gradient.end());
      out.insert(out.end(), rows.weights.gradients.begin(), rows.weights.gradients.end());
      return out;
    };
    const auto all = setups(info->about);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        INFO(all[i].text << ", against " << all[j].text);
        CHECK(outcome(all[i].options) != outcome(all[j].options));
      }
  }
}

TEST_CASE("a score that is not a number makes a row of them, and no other row", "[normalizer][contract]") {
  for (const NormalizerInfo* info : normalizers()) {
    INFO(info->about.name);
    Rows rows(info->about.name, {}, {1, 1, 3, 20});
    const std::vector<Real> before = rows();
    rows.scores.values[27] = std::numeric_limits<Real>::quiet_NaN();
    const std::vector<Real> after = rows();
    CHECK(std::isnan(after[27]));
    CHECK(std::equal(before.begin(), before.begin() + 20, after.begin()));
    CHECK(std::equal(before.begin() + 40, before.end(), after.begin() + 40));
  }
}

TEST_CASE("a row of scores that are all minus infinity has no weights and no gradient", "[normalizer][contract]") {
  for (const NormalizerInfo* info : normalizers())
    for (const Setup& setup : setups(info->about)) {
      INFO(setup.text);
      Rows rows(info->about.name, setup.options, {1, 2, 3, 20});
      std::fill_n(rows.scores.values.begin() + 20, 20, -std::numeric_limits<Real>::infinity());
      Tape tape;
      Pass pass = rows.weights.pass(tape, {.training = true});
      const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {.offset = 17});
      tape.backward(weighted_sum(w));
      const std::vector<Real> weights = read(w);
      for (std::size_t j = 0; j < weights.size(); ++j) {
        const bool hidden = j / 20 == 1;
        CHECK((hidden ? weights[j] == 0 : std::isfinite(weights[j])));
        CHECK((hidden ? rows.scores.gradient[j] == 0 : std::isfinite(rows.scores.gradient[j])));
      }
      for (const Real gradient : rows.weights.gradients) CHECK(std::isfinite(gradient));
    }
}

TEST_CASE("rows of any length, flat, steep or with equal scores, have the weights of the plain loop",
          "[normalizer][contract]") {
  for (const NormalizerInfo* info : normalizers())
    for (const Setup& setup : setups(info->about))
      for (const std::int64_t n : {1, 7, 16, 33, 64, 257, 1000})
        for (const double spread : {0.01, 1.0, 20.0})
          for (const bool ties : {false, true}) {
            INFO(setup.text << ", " << n << " keys, within " << spread << (ties ? ", with equal scores" : ""));
            std::vector<Real> scores = draw(n, static_cast<std::uint64_t>(n), {-spread, spread, 0}), expected(scores);
            if (ties)
              for (Real& s : scores)
                s = static_cast<Real>(std::round(static_cast<double>(s) / spread * 4) * spread / 4);
            info->row(scores.data(), expected.data(), {.n = n, .earlier = n - 1, .own = true}, setup.options);
            CHECK(distance(row_of(info->about.name, scores, setup.options), expected) < 50 * rounding);
          }
}

TEST_CASE("scalable_softmax of scores whose rounding errors are large gives the best key all the weight",
          "[normalizer]") {
  for (const double size : {1e7, 1e9, 1e12, 1e15, 1e30})
    for (const double best : {0.91, 0.7713, 0.6137, 0.3331}) {
      INFO(best << " * " << size);
      CHECK(row_of("scalable_softmax", {static_cast<Real>(0.2 * size), static_cast<Real>(best * size),
                                        static_cast<Real>(-size)}) == std::vector<Real>{0, 1, 0});
    }
}

TEST_CASE("sparsemax is the nearest point of the simplex", "[normalizer]") {
  // Computed by hand from the definition: thresholds -0.2, 0.5, 2 and, for ten equal scores, 6.9.
  CHECK(distance(row_of("sparsemax", {Real(0.1), Real(0.2), Real(0.1)}), std::vector<double>{0.3, 0.4, 0.3}) <
        rounding);
  CHECK(distance(row_of("sparsemax", {1, 1, -1}), std::vector<double>{0.5, 0.5, 0}) < rounding);
  CHECK(row_of("sparsemax", {1, 3, 2}) == std::vector<Real>{0, 1, 0});
  CHECK(distance(row_of("sparsemax", std::vector<Real>(10, 7)), std::vector<double>(10, 0.1)) < rounding);
  CHECK(row_of("sparsemax", {-1e30F, 1e30F}) == std::vector<Real>{0, 1});

  // Optimality: with r = s - w, r_j is a constant t wherever w_j > 0, and at most t elsewhere.
  Rows rows("sparsemax", {}, {1, 1, 40, 33}, {-1.5, 1.5, 0});
  const std::vector<Real> w = rows();
  int zeros = 0;
  for (std::size_t r = 0; r < 40; ++r) {
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (std::size_t j = r * 33; j < (r + 1) * 33; ++j) {
      const double gap = static_cast<double>(rows.scores.values[j]) - static_cast<double>(w[j]);
      sum += static_cast<double>(w[j]);
      if (w[j] > 0) low = std::min(low, gap);
      high = std::max(high, gap);
      zeros += w[j] == 0;
    }
    CHECK(sum == Approx(1).margin(rounding));
    CHECK(high - low < 2 * rounding);
  }
  CHECK(zeros > 400);
}

TEST_CASE("entmax15 and entmax are what the package entmax computes, and softmax_one a softmax with a zero more",
          "[normalizer]") {
  for (const auto& [name, options, case_name] : {std::tuple<std::string, OptionValues, std::string>{"entmax15", {}, ""},
                                                 {"softmax_one", {}, ""},
                                                 {"entmax", {{"alpha", 1.25}}, "_125"},
                                                 {"entmax", {{"alpha", 1.9}}, "_190"}}) {
    INFO(name << case_name);
    const Fixture fixture("variants", name + case_name);
    Rows rows(name, options, {1, 1, 6, 9});
    rows.scores.values = fixture["scores"].as<Real>();
    Tape tape;
    Pass pass = rows.weights.pass(tape);
    const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {});
    CHECK(distance(read(w), fixture["y"].values) < 10 * rounding);
    const std::vector<Real> dy = fixture["dy"].as<Real>();
    tape.backward(sum(mul(w, tape.constant(dy.data(), w.shape))));
    CHECK(distance(rows.scores.gradient, fixture["d.scores"].values) < 50 * rounding);
  }
}

TEST_CASE("the rules of newer papers are what PyTorch computes, by scores and by the heads' numbers", "[normalizer]") {
  struct RuleCase {
    std::string fixture, name;
    OptionValues options;
    std::string parameter;
  };
  for (const RuleCase& c : std::vector<RuleCase>{
           {"softpick", "softpick", {}, ""},
           {"clipped_softmax", "clipped_softmax", {{"zeta", 1.05}, {"gamma", -0.05}}, ""},
           {"scalable_softmax", "scalable_softmax", {}, "scale"},
           {"softmax_sink", "softmax_sink", {}, "sink"},
           {"sigmoid_learned", "sigmoid", {{"learned", true}}, "bias"},
           {"stick_breaking", "stick_breaking", {}, ""},
           {"stick_breaking_remainder", "stick_breaking", {{"own_key", std::string("remainder")}}, ""},
           {"stick_breaking_attended", "stick_breaking", {{"own_key", std::string("attended")}}, ""}}) {
    INFO(c.fixture);
    const Fixture fixture("variants", c.fixture);
    Rows rows(c.name, c.options, {1, 2, 7, 7});
    const std::string parameter = "normalizer." + c.parameter;
    if (!c.parameter.empty()) rows.weights.set(parameter, fixture[c.parameter].as<Real>());
    rows.scores.values = fixture["scores"].as<Real>();
    Tape tape;
    Pass pass = rows.weights.pass(tape, {.training = true});
    const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {.causal = true});
    CHECK(distance(read(w), fixture["y"].values) < 10 * rounding);
    const std::vector<Real> dy = fixture["dy"].as<Real>();
    tape.backward(sum(mul(w, tape.constant(dy.data(), w.shape))));
    pass.finish_gradients();
    CHECK(distance(rows.scores.gradient, fixture["d.scores"].values) < 50 * rounding);
    if (!c.parameter.empty())
      CHECK(distance(rows.weights.gradient(parameter), fixture["d." + c.parameter].values) < 100 * rounding);
  }
}

TEST_CASE("softpick keeps its digits where all scores are small, and has no weights where none is above 0",
          "[normalizer]") {
  const std::vector<double> d = {std::expm1(2e-6), std::expm1(1e-6), std::expm1(-1e-6)};
  const double total = d[0] + d[1] - d[2];
  CHECK(distance(row_of("softpick", {Real(2e-6), Real(1e-6), Real(-1e-6)}),
                 std::vector<double>{d[0] / total, d[1] / total, 0}) < 10 * rounding);
  CHECK(all_zero(row_of("softpick", {-1, 0, -300})));
  CHECK(distance(row_of("softpick", {1000, 1000, -1000}), std::vector<double>{0.5, 0.5, 0}) < rounding);
}

TEST_CASE("scalable_softmax is a softmax of scores times c log n, right under every mask", "[normalizer]") {
  Rows rows("scalable_softmax", {{"learned", false}, {"scale", 2.0}}, {1, 1, 4, 4}), plain("softmax", {}, {1, 1, 4, 4});
  for (std::size_t row = 0; row < 4; ++row) // 1 to 4 keys
    for (std::size_t j = 0; j < 4; ++j)
      plain.scores.values[4 * row + j] = static_cast<Real>(2 * std::log(static_cast<double>(row + 1)) *
                                                           static_cast<double>(rows.scores.values[4 * row + j]));
  CHECK(distance(rows({}, {.causal = true}), plain({}, {.causal = true})) < 10 * rounding);
}

TEST_CASE("softmax_sink starts as softmax_one, and a low sink keeps a gradient with digits", "[normalizer]") {
  const std::vector<Real> scores = {1, Real(0.5), -1};
  CHECK(distance(row_of("softmax_sink", scores), row_of("softmax_one", scores)) < rounding);
  Rows rows("softmax_sink", {{"start", -40.0}}, {1, 1, 1, 3});
  rows.scores.values = scores;
  Tape tape;
  Pass pass = rows.weights.pass(tape, {.training = true});
  tape.backward(sum((*rows.normalizer)(pass, rows.scores.on(tape), {})));
  pass.finish_gradients();
  // sum_j w_j = 1 - w_sink, so the derivative is -w_sink (1 - w_sink).
  const double sink = std::exp(-40.0) / (std::exp(1.0) + std::exp(0.5) + std::exp(-1.0));
  CHECK(static_cast<double>(rows.weights.gradient("normalizer.sink")[0]) == Approx(-sink).epsilon(1e-4));
}

TEST_CASE("stick_breaking gives each key its part of what nearer keys leave, for rows of any length", "[normalizer]") {
  const OptionValues remainder = {{"own_key", std::string("remainder")}};
  CHECK(distance(row_of("stick_breaking", {0, 0, 0, 7}), std::vector<double>{0.125, 0.25, 0.5, 0}) < rounding);
  CHECK(distance(row_of("stick_breaking", {0, 0, 0, 7}, remainder), std::vector<double>{0.125, 0.25, 0.5, 0.125}) <
        rounding);
  CHECK(row_of("stick_breaking", {7}) == std::vector<Real>{0});
  CHECK(row_of("stick_breaking", {7}, remainder) == std::vector<Real>{1});
  for (const double spread : {1.0, 30.0})
    for (const std::int64_t n : {2, 100, 3000}) {
      const std::vector<Real> w = row_of("stick_breaking", draw(n, 3, {-spread, spread, 0}), remainder);
      CHECK(std::accumulate(w.begin(), w.end(), 0.0) == Approx(1).margin(100 * rounding));
    }
}

TEST_CASE("stick_breaking is for causal self attention, and other attention refuses it", "[normalizer][attention]") {
  LayerChoice choice;
  choice.attention.normalizer = "stick_breaking";
  const auto make = [&](std::int64_t memory_width) {
    Weights weights;
    MultiHeadAttention(weights.scope(), choice, {.width = 4, .memory_width = memory_width, .heads = 2}, Init::zeros());
  };
  CHECK_NOTHROW(make(0));
  CHECK_THROWS_WITH(make(4), Catch::Contains("only self attention") && Catch::Contains("cross_normalizer"));
  choice.attention.prefix = 2;
  CHECK_THROWS_WITH(make(0), Catch::Contains("attention.prefix has no effect"));
  choice.attention.window = 3;
  CHECK_NOTHROW(make(0));
  choice.attention.causal = false;
  CHECK_THROWS_WITH(make(0), Catch::Contains("attention.causal = true"));
  for (const NormalizerInfo* info : normalizers()) {
    Weights weights;
    const auto normalizer = info->make(weights.scope(), 1, {});
    CHECK((info->is_ordered == normalizer->is_ordered() || !normalizer->has_rules()));
  }
}

TEST_CASE("entmax with alpha = 1.5 is entmax15, with 2 sparsemax, and close to 1 almost softmax", "[normalizer]") {
  const std::vector<Real> scores = draw(200, 4, {-3, 3, 0});
  const auto entmax = [&](double alpha) { return row_of("entmax", scores, {{"alpha", alpha}}); };
  CHECK(distance(entmax(1.5), row_of("entmax15", scores)) < 20 * rounding);
  CHECK(distance(entmax(2), row_of("sparsemax", scores)) < 20 * rounding);
  CHECK(distance(entmax(1.0001), row_of("softmax", scores)) < 1e-4);
}

TEST_CASE("entmax with a learned alpha for each head is what the package entmax computes, by scores and by alpha",
          "[normalizer]") {
  const Fixture fixture("variants", "entmax_learned");
  Rows rows("entmax", {{"learned", true}}, {1, 2, 3, 9});
  rows.weights.set("normalizer.alpha", fixture["alpha"].as<Real>());
  rows.scores.values = fixture["scores"].as<Real>();
  Tape tape;
  Pass pass = rows.weights.pass(tape, {.training = true});
  const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {});
  CHECK(distance(read(w), fixture["y"].values) < 10 * rounding);
  const std::vector<Real> dy = fixture["dy"].as<Real>();
  tape.backward(sum(mul(w, tape.constant(dy.data(), w.shape))));
  CHECK(distance(rows.scores.gradient, fixture["d.scores"].values) < 50 * rounding);
  CHECK(distance(rows.weights.gradient("normalizer.alpha"), fixture["d.alpha"].values) < 100 * rounding);
}

TEST_CASE("each head of entmax with a learned alpha is entmax with that alpha, and starts with the option's",
          "[normalizer]") {
  Rows learned("entmax", {{"learned", true}, {"alpha", 1.7}}, {2, 3, 4, 30});
  REQUIRE(learned.weights.parameters.find("normalizer.alpha")->shape == Shape{3});
  CHECK(distance(learned(), [&] {
          Rows fixed("entmax", {{"alpha", 1.7}}, {2, 3, 4, 30});
          return fixed();
        }()) < 10 * rounding);
  const std::vector<double> alphas = {1.05, 1.4, 1.93};
  std::vector<Real> numbers;
  for (const double alpha : alphas) numbers.push_back(static_cast<Real>(std::log((alpha - 1) / (2 - alpha))));
  learned.weights.set("normalizer.alpha", numbers);
  const std::vector<Real> w = learned();
  for (std::size_t h = 0; h < 3; ++h) {
    Rows fixed("entmax", {{"alpha", alphas[h]}}, {2, 3, 4, 30});
    const std::vector<Real> all = fixed();
    for (std::ptrdiff_t b = 0; b < 2; ++b) {
      const std::ptrdiff_t at = (3 * b + static_cast<std::ptrdiff_t>(h)) * 120;
      const auto part = [&](const std::vector<Real>& x) {
        return std::vector<Real>(x.begin() + at, x.begin() + at + 120);
      };
      CHECK(distance(part(w), part(all)) < 100 * rounding);
    }
  }
  LayerChoice choice;
  choice.attention.normalizer = "entmax";
  choice.normalizer_options = {{"learned", true}, {"alpha", 2.0}};
  CHECK_THAT(excluded(choice, true).why, Catch::Contains("below 2"));
}

TEST_CASE("entmax's slope by alpha keeps its digits where alpha is almost 1", "[normalizer]") {
  // For alpha -> 1: w -> p = softmax(s), dw_j/dalpha -> p_j (sum_k p_k l_k^2 - l_j^2) / 2, with l = -log p.
  Rows rows("entmax", {{"learned", true}}, {1, 1, 1, 12});
  std::vector<double> p, dw;
  double total = 0, mean = 0, expected = 0;
  for (const Real s : rows.scores.values) p.push_back(std::exp(static_cast<double>(s)));
  for (const double x : p) total += x;
  for (double& x : p) x /= total;
  const std::vector<Real> c = draw(12, 99, {0.5, 1.5, 0}); // the coefficients of weighted_sum
  for (const double x : p) mean += x * std::log(x) * std::log(x);
  for (std::size_t j = 0; j < 12; ++j)
    expected += static_cast<double>(c[j]) * p[j] * (mean - std::log(p[j]) * std::log(p[j])) / 2;
  for (const double a : {-10.0, -13.0}) {
    rows.weights.set("normalizer.alpha", {static_cast<Real>(a)});
    Tape tape;
    Pass pass = rows.weights.pass(tape, {.training = true});
    tape.backward(weighted_sum((*rows.normalizer)(pass, rows.scores.on(tape), {})));
    const double step = 1 / (1 + std::exp(-a));
    CHECK(static_cast<double>(rows.weights.gradient("normalizer.alpha")[0]) / (step * (1 - step)) ==
          Approx(expected).epsilon(1e-3));
  }
}

TEST_CASE("top_k is a softmax over the best k keys, and of equal ones over the first", "[normalizer]") {
  const auto top = [](std::int64_t k, std::vector<Real> scores) {
    return row_of("top_k", std::move(scores), {{"k", k}});
  };
  const double e = std::exp(1.0);
  CHECK(distance(top(2, {0, 3, 1, 4, 2}), std::vector<double>{0, 1 / (1 + e), 0, e / (1 + e), 0}) < rounding);
  CHECK(distance(top(2, {5, 1, 5, 5}), std::vector<double>{0.5, 0, 0.5, 0}) < rounding);
  CHECK(top(1, {5, 1, 7, 5}) == row_of("hard", {5, 1, 7, 5}));
  const std::vector<Real> scores = draw(40, 4, {-3, 3, 0});
  CHECK(distance(top(40, scores), row_of("softmax", scores)) < rounding);
  CHECK(distance(top(41, scores), row_of("softmax", scores)) < rounding);
  // The gradient is the gradient of a softmax over the k selected scores only.
  Rows few("top_k", {{"k", std::int64_t{3}}}, {1, 1, 1, 7}), same("softmax", {}, {1, 1, 1, 3});
  few.scores.values = {1, 9, 2, 8, 3, 7, 4};
  same.scores.values = {9, 8, 7};
  const std::vector<Real> dy = {1, 2, 3, 4, 5, 6, 7};
  const auto gradient = [&](Rows& rows, const std::vector<Real>& d) {
    Tape tape;
    Pass pass = rows.weights.pass(tape);
    const Tensor w = (*rows.normalizer)(pass, rows.scores.on(tape), {});
    tape.backward(sum(mul(w, tape.constant(d.data(), w.shape))));
    return rows.scores.gradient;
  };
  const std::vector<Real> g = gradient(few, dy), of_three = gradient(same, {2, 4, 6});
  CHECK(distance(g, std::vector<Real>{0, of_three[0], 0, of_three[1], 0, of_three[2], 0}) < rounding);
}

TEST_CASE("entmax's weights sum to 1 in rows of any length and size", "[normalizer]") {
  for (const double size : {1e-3, 1.0, 30.0})
    for (const std::int64_t n : {1, 2, 17, 1000})
      for (const double alpha : {1.05, 1.25, 1.75, 2.0}) {
        Rows rows("entmax", {{"alpha", alpha}}, {1, 1, 8, n}, {-size, size, 0});
        const std::vector<Real> w = rows();
        for (std::int64_t r = 0; r < 8; ++r) {
          INFO("alpha " << alpha << ", " << n << " scores of up to " << size);
          const double sum = std::accumulate(w.begin() + r * n, w.begin() + (r + 1) * n, 0.0);
          CHECK(sum == Approx(1).margin(1000 * rounding));
        }
      }
  for (const double size : {1e-3, 1.0, 30.0})
    for (const std::int64_t n : {1, 2, 17, 1000}) {
      Rows rows("entmax15", {}, {1, 1, 8, n}, {-size, size, 0});
      const std::vector<Real> w = rows();
      for (std::int64_t r = 0; r < 8; ++r) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) sum += static_cast<double>(w[static_cast<std::size_t>(r * n + j)]);
        CHECK(sum == Approx(1).margin(100 * rounding));
      }
    }
  CHECK(row_of("entmax15", {1, 5, 2}) == std::vector<Real>{0, 1, 0});
  CHECK(distance(row_of("entmax15", std::vector<Real>(10, 7)), std::vector<double>(10, 0.1)) < rounding);
  CHECK(row_of("entmax15", {-1e30F, 1e30F}) == std::vector<Real>{0, 1});
}

TEST_CASE("softmax_one attends to nothing where all scores are far below 0", "[normalizer]") {
  CHECK(distance(row_of("softmax_one", {0, 0, 0}), std::vector<double>(3, 0.25)) < rounding);
  CHECK(distance(row_of("softmax_one", {-50, -60}), std::vector<double>{0, 0}) < 1e-20);
  CHECK(distance(row_of("softmax_one", {80, 80}), std::vector<double>{0.5, 0.5}) < rounding);
}

TEST_CASE("sigmoid's weights are those of each key alone, shifted by the number of keys that are seen",
          "[normalizer]") {
  CHECK(distance(row_of("sigmoid", {0, 0, 0, 0}), std::vector<double>(4, 0.2)) < rounding); // 1 / (1 + 4)
  CHECK(distance(row_of("sigmoid", {0, 1}, {{"bias", WordOrNumber{"", 0}}}),
                 std::vector<double>{0.5, 1 / (1 + std::exp(-1.0))}) < rounding);
  Rows rows("sigmoid", {}, {1, 1, 3, 3}, {0, 0, 0});
  CHECK(distance(rows({}, {.causal = true}), std::vector<double>{0.5, 0, 0, 1.0 / 3, 1.0 / 3, 0, 0.25, 0.25, 0.25}) <
        rounding);
}

TEST_CASE("hard attends to the first of the best", "[normalizer]") {
  CHECK(row_of("hard", {1, 3, 2}) == std::vector<Real>{0, 1, 0});
  CHECK(row_of("hard", {3, 1, 3}) == std::vector<Real>{1, 0, 0});
  CHECK(row_of("gumbel", {1, 3, 2}) == std::vector<Real>{0, 1, 0});
}

TEST_CASE("gumbel draws each key as often as softmax weighs it", "[normalizer]") {
  const std::vector<double> p = {0.1, 0.2, 0.7};
  const std::int64_t draws = 30000;
  Rows rows("gumbel", {}, {draws, 1, 1, 3});
  for (std::size_t i = 0; i < rows.scores.values.size(); ++i)
    rows.scores.values[i] = static_cast<Real>(std::log(p[i % 3]));
  std::vector<double> share(3);
  const std::vector<Real> w = rows({.training = true, .seed = 1});
  for (std::size_t i = 0; i < w.size(); ++i) share[i % 3] += static_cast<double>(w[i]) / static_cast<double>(draws);
  // Four standard errors of a fraction of 30000 draws are at most 0.0116.
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(share[k] - p[k]) < 0.0116);
}

TEST_CASE("gumbel's draws follow seed, step and the row of the batch, and nothing else", "[normalizer]") {
  const Shape shape{4, 2, 3, 5};
  Rows rows("gumbel", {}, shape), half("gumbel", {}, {2, 2, 3, 5});
  const std::vector<Real> drawn = rows({.training = true, .seed = 3, .step = 7});
  CHECK(rows({.training = true, .seed = 3, .step = 7}) == drawn);
  CHECK(rows({.training = true, .seed = 4, .step = 7}) != drawn);
  CHECK(rows({.training = true, .seed = 3, .step = 8}) != drawn);
  CHECK(rows() != drawn);
  std::copy_n(rows.scores.values.begin() + 60, 60, half.scores.values.begin());
  CHECK(half({.training = true, .seed = 3, .step = 7, .first_sequence = 2}) ==
        std::vector<Real>(drawn.begin() + 60, drawn.end()));
}

TEST_CASE("gumbel noise has the distribution's mean and variance, and no infinite number", "[normalizer]") {
  Tape tape;
  const std::int64_t n = 200000;
  const Tensor g = gumbel_noise(tape, {n}, {.seed = 1, .stream = Stream::test}, 3);
  double sum = 0, squares = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(g.data[i]);
    sum += v;
    squares += v * v;
    finite = finite && std::isfinite(v);
  }
  CHECK(finite);
  const double mean = sum / n, variance = squares / n - mean * mean;
  CHECK(mean == Approx(0.5772156649).margin(0.012));    // Euler's constant
  CHECK(variance == Approx(1.6449340668).margin(0.04)); // pi^2 / 6
}
