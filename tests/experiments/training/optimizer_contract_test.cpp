// Tests of the properties that every registered optimizer must have, with each of its options, and of its state in
// checkpoints.
#define HEED_REAL f64
#include "experiments/config/catalogue.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/training.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/experiments/training/training_support.hpp"

using namespace heed;
using namespace heed::f64;

namespace {

Parameters some_parameters() {
  Parameters parameters;
  parameters.add("matrix", {33, 17}, Init::normal(1), WeightDecay::yes);
  parameters.add("vector", {7}, Init::normal(1));
  parameters.add("cube", {2, 3, 4}, Init::normal(1), WeightDecay::yes);
  parameters.add("number", {}, Init::normal(1));
  parameters.initialise(1);
  return parameters;
}

std::vector<double> gradients_of(const Parameters& parameters, std::int64_t step) {
  std::vector<double> out(static_cast<std::size_t>(parameters.extent()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::sin(static_cast<double>(i) * 0.7 + static_cast<double>(step));
  return out;
}

void take_steps(Optimizer& optimizer, Parameters& parameters, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step)
    optimizer.update(parameters, gradients_of(parameters, step).data(), 0.01, 0.5, step);
}

std::vector<double> numbers_in(const Parameters& p) { return {p.values(), p.values() + p.extent()}; }

// Every optimizer with its defaults, and with another value of each of its options.
void for_each_optimizer(const auto& check) {
  for (const OptimizerInfo* info : optimizers()) {
    std::vector<OptionValues> cases = {{}};
    for (const Option& option : info->about.options)
      for (const Value& value : test::other_values(option)) cases.push_back({{option.name, value}});
    for (const OptionValues& options : cases) {
      INFO(info->about.name << (options.empty() ? "" : " with another " + options.begin()->first));
      try {
        info->make(options, Parameters{});
      } catch (const Refused&) {
        continue;
      }
      check(*info, options);
    }
  }
}

// Optimizer state that does not have the parameters' shapes: Adafactor's sums over rows and columns (Shazeer and Stern
// 2018, arXiv 1804.04235), only for matrices.
class Factored : public Optimizer {
public:
  explicit Factored(const Parameters& parameters) : Optimizer(parameters) {
    for (const Parameters::Entry& e : parameters.entries()) {
      const bool matrix = e.shape.rank == 2;
      rows_.emplace_back(matrix ? e.shape[0] : 0);
      columns_.emplace_back(matrix ? e.shape[1] : 0);
    }
  }

  std::vector<StateArray> state(const Parameters& parameters) override {
    std::vector<StateArray> out;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Parameters::Entry& e = parameters.entries()[i];
      if (e.shape.rank != 2) continue;
      out.push_back({"factored.rows." + e.name, {e.shape[0]}, rows_[i]});
      out.push_back({"factored.columns." + e.name, {e.shape[1]}, columns_[i]});
    }
    return out;
  }

private:
  void update_one(const Update& u) override {
    if (u.entry.shape.rank != 2) return;
    for (std::size_t r = 0, i = 0; r < rows_[u.index].size(); ++r)
      for (std::size_t c = 0; c < columns_[u.index].size(); ++c, ++i) {
        const double square = u.gradients[i] * u.gradients[i];
        rows_[u.index][r] += square;
        columns_[u.index][c] += square;
        u.values[i] -= u.learning_rate * u.gradients[i] / std::sqrt(rows_[u.index][r] * columns_[u.index][c]);
      }
  }

  std::vector<std::vector<double>> rows_, columns_;
};

// Five steps at once, and five steps with a checkpoint after the third.
void expect_to_go_on(const auto& make) {
  Parameters whole = some_parameters();
  const auto uninterrupted = make(whole);
  take_steps(*uninterrupted, whole, 1, 5);

  Parameters before = some_parameters();
  const auto first = make(before);
  take_steps(*first, before, 1, 3);
  Checkpoint checkpoint;
  store_state(*first, before, checkpoint);
  Parameters after = before;
  const auto second = make(after);
  load_state(*second, after, checkpoint);
  take_steps(*second, after, 4, 5);
  CHECK(numbers_in(after) == numbers_in(whole));
}

} // namespace

TEST_CASE("lion is its paper's algorithm 2", "[training][optimizer]") {
  Parameters parameters;
  parameters.add("matrix", {1, 2}, Init::normal(1), WeightDecay::yes);
  parameters.add("vector", {2}, Init::normal(1));
  parameters.initialise(1);
  const OptionValues options{{"beta1", 0.8}, {"beta2", 0.95}, {"weight_decay", 0.1}};
  const auto& all = optimizers();
  const auto lion = std::ranges::find(all, "lion", [](const OptimizerInfo* info) { return info->about.name; });
  REQUIRE(lion != all.end());
  const auto optimizer = (*lion)->make(options, parameters);
  std::vector<double> theta = numbers_in(parameters), m(theta.size());
  std::vector<std::size_t> numbers; // without the gaps between parameters
  for (const Parameters::Entry& e : parameters.entries())
    for (std::int64_t i = 0; i < e.shape.size(); ++i) numbers.push_back(static_cast<std::size_t>(e.offset + i));
  for (std::int64_t step = 1; step <= 20; ++step) {
    const std::vector<double> g = gradients_of(parameters, step);
    optimizer->update(parameters, g.data(), 0.01, 0.5, step);
    for (const std::size_t i : numbers) {
      const double clipped = 0.5 * g[i], c = 0.8 * m[i] + 0.2 * clipped;
      theta[i] -= 0.01 * ((c > 0) - (c < 0) + (i < 2 ? 0.1 * theta[i] : 0.0));
      m[i] = 0.95 * m[i] + 0.05 * clipped;
    }
  }
  for (const std::size_t i : numbers) CHECK(numbers_in(parameters)[i] == Approx(theta[i]).epsilon(1e-13));
}

TEST_CASE("fused projections say which maps they are", "[training][optimizer]") {
  const auto parts = [](const std::vector<std::string>& more, const std::string& name) {
    const Config c = test::config(test::tiny_decoder, more);
    const auto task = make_task(c);
    const RunModel run(c, *task);
    return run.parameters.find("blocks.0." + name + ".weight")->parts;
  };
  const std::int64_t width = test::config(test::tiny_decoder).model.width;
  CHECK(parts({}, "attention.qkv") == std::vector<std::int64_t>(3, width));
  CHECK(parts({"attention.key_value_heads=1"}, "attention.key_value") == std::vector<std::int64_t>(2, width / 2));
  const std::vector<std::int64_t> gated = parts({"block.activation=swiglu"}, "ffn.expand");
  CHECK((gated.size() == 2 && gated[0] == gated[1]));
  CHECK(parts({}, "ffn.expand").empty());
}

TEST_CASE("adafactor's and muon's ten steps are PyTorch's", "[training][optimizer]") {
  for (const auto& [name, options, rate] :
       {std::tuple<std::string, OptionValues, double>{
            "adafactor", {{"decay", 0.7}, {"clip", 1.05}, {"least_scale", 1e-2}, {"weight_decay", 0.1}}, 0.05},
        {"muon", {}, 0.02},
        {"muon_parts", {}, 0.02}}) { // its matrix consists of two linear maps, with one row and two rows
    INFO(name);
    const Fixture fixture("variant_optimizers", name);
    Parameters parameters;
    const std::vector<std::string> names = {"matrix", "vector"};
    for (const std::string& n : names) {
      const bool map = n == "matrix";
      const ParameterId id = parameters.add(n, fixture[n].shape, Init::zeros(),
                                            map ? WeightDecay::yes : WeightDecay::no, "", map);
      std::ranges::copy(fixture[n].values, parameters.values(id));
      if (map && name.ends_with("_parts")) {
        CHECK_THROWS_AS(parameters.set_parts(id, {1, 1}), Failed);
        parameters.set_parts(id, {1, 2});
      }
    }
    const std::string kind = name.substr(0, name.find('_'));
    const auto info = std::ranges::find(optimizers(), kind, [](const OptimizerInfo* i) { return i->about.name; });
    REQUIRE(info != optimizers().end());
    const auto optimizer = (*info)->make(options, parameters);
    std::vector<double> gradients(static_cast<std::size_t>(parameters.extent()));
    for (std::int64_t step = 1; step <= 10; ++step) {
      for (const std::string& n : names)
        std::ranges::copy(fixture["gradients." + n].rows(step - 1, step).values,
                          gradients.begin() + parameters.find(n)->offset);
      optimizer->update(parameters, gradients.data(), rate, 1, step);
      for (const std::string& n : names) {
        const Parameters::Entry& e = *parameters.find(n);
        const std::vector<double> expected = fixture["after." + n].rows(step - 1, step).values;
        for (std::size_t i = 0; i < expected.size(); ++i)
          CHECK(parameters.values()[e.offset + static_cast<std::int64_t>(i)] == Approx(expected[i]).margin(1e-12));
      }
    }
  }
}

TEST_CASE("every optimiser changes every parameter, and in ranges, in any order, to the same bits",
          "[training][optimizer]") {
  for_each_optimizer([](const OptimizerInfo& info, const OptionValues& options) {
    Parameters whole = some_parameters(), parts = some_parameters();
    const Parameters start = whole;
    const auto first = info.make(options, whole), second = info.make(options, parts);
    for (std::int64_t step = 1; step <= 3; ++step) {
      const std::vector<double> g = gradients_of(whole, step);
      first->update(whole, g.data(), 0.1, 0.5, step);
      second->update(parts, g.data(), 0.1, 0.5, step, 2, 4);
      second->update(parts, g.data(), 0.1, 0.5, step, 0, 1);
      second->update(parts, g.data(), 0.1, 0.5, step, 1, 2);
    }
    CHECK(numbers_in(whole) == numbers_in(parts));
    for (const Parameters::Entry& e : whole.entries())
      CHECK_FALSE(std::equal(whole.values() + e.offset, whole.values() + e.offset + e.shape.size(),
                             start.values() + e.offset));
  });
}

TEST_CASE("every optimiser goes on from a checkpoint as if it had never stopped", "[training][optimizer]") {
  for_each_optimizer([](const OptimizerInfo& info, const OptionValues& options) {
    expect_to_go_on([&](const Parameters& parameters) { return info.make(options, parameters); });
  });
}

TEST_CASE("a state may have shapes of its own", "[training][optimizer]") {
  const auto make = [](const Parameters& parameters) { return std::make_unique<Factored>(parameters); };
  expect_to_go_on(make);
  Parameters parameters = some_parameters();
  const auto optimizer = make(parameters);
  Checkpoint checkpoint;
  store_state(*optimizer, parameters, checkpoint);
  REQUIRE(checkpoint.tensors.size() == 2);
  CHECK(checkpoint.tensors[0].name == "optimizer.factored.rows.matrix");
  CHECK(checkpoint.tensors[0].shape == std::vector<std::int64_t>{33});
  CHECK(checkpoint.tensors[1].name == "optimizer.factored.columns.matrix");
  CHECK(checkpoint.tensors[1].shape == std::vector<std::int64_t>{17});
  checkpoint.tensors[1].shape = {16};
  CHECK(test::failure([&] { load_state(*optimizer, parameters, checkpoint); }) ==
        "[checkpoint] 'optimizer.factored.columns.matrix' should be [17] of float64: the checkpoint is of another "
        "configuration");
}

TEST_CASE("the states of today's optimisers have the names and the order that checkpoints know",
          "[training][optimizer]") {
  const std::vector<std::string> parameters = {"matrix", "vector", "cube", "number"};
  const auto expect = [&](const std::string& name, const OptionValues& options,
                          const std::vector<std::string>& arrays) {
    INFO(name);
    std::vector<std::string> expected, found;
    for (const std::string& array : arrays)
      for (const std::string& p : parameters) expected.push_back("optimizer." + array + "." + p);
    for (const OptimizerInfo* info : optimizers()) {
      if (info->about.name != name) continue;
      const Parameters some = some_parameters();
      Checkpoint checkpoint;
      store_state(*info->make(options, some), some, checkpoint);
      for (const StoredTensor& t : checkpoint.tensors) found.push_back(t.name);
    }
    CHECK(found == expected);
  };
  expect("adamw", {}, {"adam.m", "adam.v"});
  expect("adam", {}, {"adam.m", "adam.v"});
  expect("sgd", {}, {});
  expect("sgd", {{"momentum", 0.9}}, {"sgd.momentum"});
}
