// Compares optimisers with ten steps of PyTorch (tests/fixtures/optimizers.json), and tests their further guarantees.
#include "autograd/optimizers/adam.hpp"
#include "autograd/optimizers/sgd.hpp"
#include "autograd/shards.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/fixtures/fixture.hpp"

#include <limits>
#include <memory>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t steps = 10;

// Runs the steps of a fixture, and compares the parameters after each step.
template <class Kind> void expect_as_torch(const std::string& name, const auto& options, double rate, double clip = 0) {
  INFO(name);
  const Fixture fixture("optimizers", name);
  Parameters parameters;
  std::vector<ParameterId> ids;
  const std::vector<std::string> names = {"matrix", "vector"};
  for (const std::string& n : names)
    ids.push_back(parameters.add(n, fixture[n].shape, Init::zeros(),
                                 n == "matrix" ? WeightDecay::yes : WeightDecay::no));
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto start = fixture[names[k]].as<Real>();
    std::copy(start.begin(), start.end(), parameters.values(ids[k]));
  }
  Kind optimizer(options, parameters);
  std::vector<Real> gradients(static_cast<std::size_t>(parameters.extent()));
  for (std::int64_t step = 1; step <= steps; ++step) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto g = fixture["gradients." + names[k]].rows(step - 1, step).as<Real>();
      std::copy(g.begin(), g.end(), gradients.begin() + parameters[ids[k]].offset);
    }
    const double norm = global_norm(gradients.data(), parameters.extent());
    if (clip > 0) CHECK(norm == Approx(fixture["norms"].values[static_cast<std::size_t>(step - 1)]).epsilon(agreement));
    optimizer.update(parameters, gradients.data(), rate, clip_factor(norm, clip), step);
    for (std::size_t k = 0; k < names.size(); ++k) {
      const Real* now = parameters.values(ids[k]);
      INFO(names[k] << " after step " << step);
      CHECK(distance(std::vector<Real>(now, now + parameters[ids[k]].shape.size()),
                     fixture["after." + names[k]].rows(step - 1, step).values) < agreement);
    }
  }
}

Parameters some_parameters() {
  Parameters parameters;
  std::string name;
  for (const Shape& shape : {Shape{3, 5}, Shape{7}, Shape{1}, Shape{33, 17}, Shape{}, Shape{16}})
    parameters.add(name += "x", shape, Init::normal(1), name.size() % 2 == 0 ? WeightDecay::yes : WeightDecay::no);
  parameters.initialise(1);
  return parameters;
}

std::vector<Real> list(const Parameters& p) { return {p.values(), p.values() + p.extent()}; }

} // namespace

TEST_CASE("AdamW, Adam and SGD take PyTorch's steps; decay acts on the matrix alone", "[optimizer]") {
  AdamOptions adam{.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .weight_decay = 0.1};
  expect_as_torch<Adam>("adamw", adam, 0.01);
  expect_as_torch<Adam>("adamw_clipped", adam, 0.01, 1.5);
  adam.coupled = true;
  expect_as_torch<Adam>("adam", adam, 0.01);
  expect_as_torch<Sgd>("sgd", SgdOptions{}, 0.05);
  expect_as_torch<Sgd>("sgd_momentum", SgdOptions{.momentum = 0.9, .weight_decay = 0.1}, 0.05);
  expect_as_torch<Sgd>("sgd_nesterov", SgdOptions{.momentum = 0.9, .weight_decay = 0.1, .nesterov = true}, 0.05);
}

TEST_CASE("an update in ranges, in any order, gives the bits of a whole one", "[optimizer]") {
  for (int kind : {0, 1, 2}) {
    Parameters whole = some_parameters(), parts = some_parameters();
    const auto make = [&]() -> std::unique_ptr<Optimizer> {
      if (kind == 0) return std::make_unique<Adam>(AdamOptions{}, whole);
      return std::make_unique<Sgd>(SgdOptions{.momentum = kind == 1 ? 0.9 : 0.0, .weight_decay = 0.1}, whole);
    };
    const auto first = make(), second = make();
    const std::vector<Real> g = draw(whole.extent(), 3);
    for (std::int64_t step = 1; step <= 3; ++step) {
      first->update(whole, g.data(), 0.1, 0.5, step);
      second->update(parts, g.data(), 0.1, 0.5, step, 4, 6);
      second->update(parts, g.data(), 0.1, 0.5, step, 0, 1);
      second->update(parts, g.data(), 0.1, 0.5, step, 1, 1);
      second->update(parts, g.data(), 0.1, 0.5, step, 1, 4);
    }
    CHECK(list(whole) == list(parts));
  }
}

TEST_CASE("an optimiser goes on from its state as if it had never stopped", "[optimizer]") {
  for (bool adam : {true, false}) {
    Parameters parameters = some_parameters();
    const auto make = [&]() -> std::unique_ptr<Optimizer> {
      if (adam) return std::make_unique<Adam>(AdamOptions{}, parameters);
      return std::make_unique<Sgd>(SgdOptions{.momentum = 0.9}, parameters);
    };
    const std::vector<Real> g = draw(parameters.extent(), 3);
    const auto first = make(), second = make();
    for (std::int64_t step = 1; step <= 3; ++step) first->update(parameters, g.data(), 0.1, 1, step);
    Parameters copy = parameters;
    const auto from = first->state(parameters), to = second->state(copy);
    std::vector<std::string> names, expected;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Parameters::Entry& entry = parameters.entries()[i % parameters.entries().size()];
      names.push_back(from[i].name);
      CHECK(from[i].shape == entry.shape);
      CHECK(from[i].numbers.size() == static_cast<std::size_t>(entry.shape.size()));
      std::ranges::copy(from[i].numbers, to[i].numbers.begin());
    }
    for (const std::string array : adam ? std::vector{"adam.m.", "adam.v."} : std::vector{"sgd.momentum."})
      for (const Parameters::Entry& entry : parameters.entries()) expected.push_back(array + entry.name);
    CHECK(names == expected);
    first->update(parameters, g.data(), 0.1, 1, 4);
    second->update(copy, g.data(), 0.1, 1, 4);
    CHECK(list(parameters) == list(copy));
  }
  const Parameters parameters = some_parameters();
  CHECK(Sgd({}, parameters).state(parameters).empty());
}

TEST_CASE("an optimiser refuses parameters of another layout", "[optimizer]") {
  Parameters parameters = some_parameters();
  const std::vector<Real> g(static_cast<std::size_t>(parameters.extent()));
  Parameters others;
  others.add("x", {64}, Init::zeros());
  Adam optimizer({}, others);
  CHECK_THROWS_AS(optimizer.update(parameters, g.data(), 0.1, 1, 1), Failed);
}

TEST_CASE("the global norm is exact where squares are, and sums in double", "[optimizer]") {
  CHECK(global_norm(nullptr, 0) == 0);
  for (std::int64_t n : {1, 3, 17, 8191, 8192, 8193, 30000}) {
    const std::vector<Real> twos(static_cast<std::size_t>(n), 2);
    CHECK(global_norm(twos.data(), n) == std::sqrt(4.0 * static_cast<double>(n)));
  }
  // One large value and many small values, which a sum in float would lose.
  std::vector<Real> numbers(20001, 1);
  numbers[0] = 10000;
  CHECK(global_norm(numbers.data(), 20001) == std::sqrt(1e8 + 20000));
  const std::vector<Real> odd = {1, std::numeric_limits<Real>::quiet_NaN()};
  CHECK(std::isnan(global_norm(odd.data(), 2)));
}

TEST_CASE("clipping shrinks what is longer than the limit, and nothing else", "[optimizer]") {
  CHECK(clip_factor(4, 2) == 2 / (4 + 1e-6));
  CHECK(clip_factor(1, 2) == 1);
  CHECK(clip_factor(0, 2) == 1);
  CHECK(clip_factor(1000, 0) == 1);
}
