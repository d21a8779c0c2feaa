// Tests of positional schemes: the contract of all schemes, and properties of single schemes.
#include "layers/position/position.hpp"
#include "tests/layers/layer_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t position_width = 6, longest = 12;

// A single scheme with random parameters.
struct PositionAlone {
  Weights weights;
  std::unique_ptr<Position> position;

  PositionAlone(const PositionInfo& info, const OptionValues& options = {}, std::int64_t w = position_width) {
    position = info.make(weights.scope(), w, longest, options);
    weights.fill(1);
  }
  std::vector<Real> operator()(std::int64_t first, std::int64_t length) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read(position->vectors(pass, first, length));
  }
};

// A positional embedding applied to random token embeddings x [2, 5, 6].
struct Embedded {
  Weights weights;
  PositionalEmbedding embedding;
  Operand x{{2, 5, position_width}, 2};

  Embedded(const PositionOptions& options, const OptionValues& own = {})
      : embedding(weights.scope(), options, own, position_width, longest) {
    weights.fill(1);
  }
  std::vector<Real> operator()(std::int64_t first = 0) {
    Tape tape;
    Pass pass = weights.pass(tape);
    const Tensor y = embedding(pass, x.on(tape), first);
    CHECK(y.shape == Shape{2, 5, embedding.output_width()});
    return read(y);
  }
};

void for_each_scheme(const std::function<void(const PositionInfo&, const Setup&)>& use) {
  for (const PositionInfo* info : positions())
    for (const Setup& setup : setups(info->about)) {
      INFO(setup.text);
      use(*info, setup);
    }
}

} // namespace

TEST_CASE("vectors from a later position on are those of that position", "[position][contract]") {
  for_each_scheme([](const PositionInfo& info, const Setup& setup) {
    if (!info.has_vectors) return;
    PositionAlone scheme(info, setup.options);
    const std::vector<Real> all = scheme(0, longest);
    REQUIRE(all.size() == longest * position_width);
    for (auto [first, length] : {std::pair{0, 1}, {3, 5}, {11, 1}, {4, 8}})
      CHECK(scheme(first, length) ==
            std::vector<Real>(all.begin() + first * position_width, all.begin() + (first + length) * position_width));
  });
}

TEST_CASE("no two positions have the same vector", "[position][contract]") {
  for_each_scheme([](const PositionInfo& info, const Setup& setup) {
    if (!info.has_vectors) return;
    PositionAlone scheme(info, setup.options);
    for (std::int64_t i = 0; i < longest; ++i)
      for (std::int64_t j = i + 1; j < longest; ++j) CHECK(scheme(i, 1) != scheme(j, 1));
  });
}

TEST_CASE("positions are the same for every sequence, and nothing else than added", "[position][contract]") {
  for_each_scheme([](const PositionInfo& info, const Setup& setup) {
    Embedded added({.kind = info.about.name}, setup.options);
    CHECK(added.embedding.output_width() == position_width);
    for (std::int64_t first : {0, 4}) {
      std::vector<double> expected;
      std::vector<Real> p(5 * position_width);
      if (info.has_vectors) p = PositionAlone(info, setup.options)(first, 5);
      for (std::size_t i = 0; i < added.x.values.size(); ++i)
        expected.push_back(static_cast<double>(added.x.values[i]) + static_cast<double>(p[i % p.size()]));
      CHECK(distance(added(first), expected) < rounding);
    }
  });
}

TEST_CASE("concatenated positions stand behind the embeddings, in a width of their own", "[position][contract]") {
  for_each_scheme([](const PositionInfo& info, const Setup& setup) {
    if (!info.has_vectors) return;
    for (std::int64_t own : {0, 4}) {
      const std::int64_t p_width = own ? own : position_width;
      Embedded widened({.kind = info.about.name, .combine = "concat", .width = own, .concat = "widen"}, setup.options);
      REQUIRE(widened.embedding.output_width() == position_width + p_width);
      const std::vector<Real> p = PositionAlone(info, setup.options, p_width)(2, 5), y = widened(2);
      std::vector<Real> expected;
      for (std::ptrdiff_t row = 0; row < 10; ++row) {
        const auto x = widened.x.values.begin() + row * position_width;
        const auto at = p.begin() + row % 5 * p_width;
        expected.insert(expected.end(), x, x + position_width);
        expected.insert(expected.end(), at, at + p_width);
      }
      CHECK(y == expected);

      Embedded projected({.kind = info.about.name, .combine = "concat", .width = own, .concat = "project"},
                         setup.options);
      REQUIRE(projected.embedding.output_width() == position_width);
      const auto* entry = projected.weights.parameters.find("projection.weight");
      REQUIRE(entry);
      REQUIRE(entry->shape == Shape{position_width, position_width + p_width});
      const Real* w = projected.weights.parameters.values() + entry->offset;
      std::vector<double> products;
      for (std::int64_t row = 0; row < 10; ++row)
        for (std::int64_t o = 0; o < position_width; ++o) {
          double sum = 0;
          for (std::int64_t i = 0; i < position_width + p_width; ++i)
            sum += static_cast<double>(w[o * (position_width + p_width) + i]) *
                   static_cast<double>(expected[static_cast<std::size_t>(row * (position_width + p_width) + i)]);
          products.push_back(sum);
        }
      CHECK(distance(projected(2), products) < 10 * rounding);
    }
  });
}

TEST_CASE("each value of each option of a scheme changes its vectors", "[position][contract]") {
  for (const PositionInfo* info : positions()) {
    if (!info->has_vectors) continue;
    const auto all = setups(info->about);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        INFO(all[i].text << ", against " << all[j].text);
        CHECK(PositionAlone(*info, all[i].options)(0, longest) != PositionAlone(*info, all[j].options)(0, longest));
      }
  }
}

TEST_CASE("none leaves embeddings as they are, and has no parameters", "[position]") {
  for (const std::string combine : {"add", "concat"}) {
    Embedded none({.kind = "none", .combine = combine, .concat = "widen"});
    CHECK(none() == none.x.values);
    CHECK(none.embedding.output_width() == position_width);
    CHECK(none.weights.parameters.count() == 0);
  }
}

TEST_CASE("sinusoidal positions are the paper's formula at any length", "[position]") {
  // Vaswani et al. 2017, arXiv 1706.03762, section 3.5, in double precision.
  for (double base : {10000.0, 50.0})
    for (std::int64_t w : {1, 5, 6}) {
      PositionAlone scheme(position_info("sinusoidal"), {{"base", base}}, w);
      for (int first : {990, 0, 8}) { // beyond the longest training sequence, within it, and across its end
        std::vector<double> expected;
        for (int t = first; t < first + 10; ++t)
          for (int i = 0; i < w; ++i) {
            const double angle = t / std::pow(base, 2.0 * (i / 2) / static_cast<double>(w));
            expected.push_back(i % 2 ? std::cos(angle) : std::sin(angle));
          }
        CHECK(distance(scheme(first, 10), expected) < (sizeof(Real) == 8 ? 1e-10 : 1e-6));
      }
    }
  PositionAlone scheme(position_info("sinusoidal"));
  CHECK(scheme.weights.parameters.count() == 0);
  CHECK(scheme(0, 1) == std::vector<Real>{0, 1, 0, 1, 0, 1});
}

TEST_CASE("learned positions are a table, and refuse to go beyond it", "[position]") {
  PositionAlone scheme(position_info("learned"));
  CHECK(scheme.weights.parameters.count() == longest * position_width);
  const Real* table = scheme.weights.parameters.values();
  CHECK(scheme(0, longest) == std::vector<Real>(table, table + longest * position_width));
  using Catch::Contains;
  CHECK_THROWS_WITH(scheme(0, longest + 1), Contains("12") && Contains("13") && Contains("a scheme for any length"));
  CHECK_THROWS_WITH(scheme(10, 3), Contains("12") && Contains("13"));
  CHECK_NOTHROW(scheme(longest - 1, 1));
}

TEST_CASE("positions that do not exist are refused with those that do", "[position]") {
  CHECK_THROWS_WITH(position_info("sinusoid"), Catch::Contains("sinusoid") && Catch::Contains("learned"));
}

TEST_CASE("KERPLE starts as its authors' code does, on request", "[attention][start]") {
  for (const bool power : {false, true}) {
    Parameters parameters;
    constexpr std::int64_t heads = 4000;
    const RelativeSizes sizes{.heads = heads, .query_width = 4, .value_width = 4, .longest = 4};
    const std::string kernel = power ? "power" : "logarithmic";
    const auto scheme = position_info("kerple").make_relative(Scope(parameters, {}), sizes,
                                                              {{"kernel", Value(kernel)},
                                                               {"start", Value(std::string("uniform"))}});
    parameters.initialise(5);
    const auto check = [&](const char* name, double high, const auto& number) {
      const auto* entry = parameters.find(name);
      REQUIRE(entry);
      std::vector<double> found;
      for (std::int64_t h = 0; h < heads; ++h)
        found.push_back(number(static_cast<double>(parameters.values()[entry->offset + h])));
      std::ranges::sort(found);
      CHECK(found.front() == Approx(0.01).margin(1e-6)); // some of 4000 uniform numbers are below
      CHECK(found.back() < high);
      for (const int tenth : {1, 3, 5, 7, 9})
        CHECK(found[static_cast<std::size_t>(heads * tenth / 10)] == Approx(high * tenth / 10).margin(0.03 * high));
    };
    check("amount", 2, [](double x) { return std::exp(x); });
    check("shape", 1, [&](double x) { return power ? 2 / (1 + std::exp(-x)) : std::exp(x); });
  }
}
