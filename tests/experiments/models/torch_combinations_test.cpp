// Decoders with randomly drawn options, and with randomly drawn sequence mixers: five training steps equal an
// independent implementation in PyTorch (tests/fixtures/combinations.py, mixer_stacks.py), in double precision.
#define HEED_REAL f64
#include "tests/experiments/models/model_support.hpp"
#include "tests/fixtures/fixture.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The start of a parameter's entries, from its name, as combinations.py has it.
std::vector<Real> start_of(const std::string& name, std::int64_t size) {
  std::int64_t seed = 0;
  for (std::size_t k = 0; k < name.size(); ++k) seed += static_cast<std::int64_t>(k + 1) * name[k];
  std::vector<Real> out;
  for (std::int64_t k = 1; k <= size; ++k)
    out.push_back(0.35 * std::sin(0.7 * static_cast<double>(k) + static_cast<double>(seed % 997)));
  return out;
}

std::vector<Real> values_of(const Weights& weights, const std::string& name) {
  const Parameters::Entry& e = *weights.parameters.find(name);
  return {weights.parameters.values() + e.offset, weights.parameters.values() + e.offset + e.shape.size()};
}

// The last of three sequences is shorter than the others.
Batch batch_of(const TaskSizes& sizes, std::int32_t last) {
  Batch batch;
  batch.reset(3, sizes.length, TaskFormat::language_model);
  const auto length = static_cast<std::int32_t>(sizes.length);
  batch.lengths = {length, length, last};
  for (std::int32_t sequence = 0; sequence < 3; ++sequence)
    for (std::int32_t t = 0; t < length; ++t) {
      const auto at = static_cast<std::size_t>(sequence * length + t);
      batch.tokens[at] = (3 * sequence + 5 * t + t * t) % 7;
      batch.targets[at] = t < batch.lengths[static_cast<std::size_t>(sequence)] ? (2 * sequence + 3 * t * t + 1) % 7
                                                                                : ignored;
    }
  return batch;
}

// `text`: the configuration, to which a case adds its options and overrides.
void check_cases(const char* fixture, std::size_t count, const std::string& text, const TaskSizes& sizes,
                 const Batch& batch) {
  const boost::json::value file = boost::json::parse(fixture_text(fixture));
  const boost::json::array& cases = file.as_array();
  REQUIRE(cases.size() == count);
  constexpr double tolerance = 1e-10;
  for (const boost::json::value& each : cases) {
    std::vector<std::string> assignments;
    for (const boost::json::value& option : each.at("options").as_array()) assignments.emplace_back(option.as_string());
    const boost::json::value* const overrides = each.as_object().if_contains("overrides");
    const std::string more = overrides ? std::string(overrides->as_string()) : "";
    INFO(listed(assignments) << "\n" << more);
    const Config config = test::config(text + more, assignments);
    Weights weights;
    const auto model = model_info("decoder").make(weights.scope(), config, sizes);
    const boost::json::object& parameters = each.at("parameters").as_object();
    weights.fill(1);
    CHECK(weights.parameters.entries().size() == parameters.size());
    for (const auto& entry : weights.parameters.entries()) {
      INFO(entry.name);
      REQUIRE(parameters.contains(entry.name));
      Shape expected;
      for (const auto& extent : parameters.at(entry.name).at("shape").as_array()) expected.push_back(extent.as_int64());
      REQUIRE(entry.shape == expected);
      weights.set(entry.name, start_of(entry.name, entry.shape.size()));
    }
    for (const boost::json::value& loss : each.at("losses").as_array()) {
      Tape tape;
      Pass pass = weights.pass(tape, {.training = true});
      const Tensor found = cross_entropy(model->logits(pass, batch), batch.targets.data(), {.ignore = ignored});
      CHECK(std::abs(found.item() - loss.as_double()) < tolerance);
      tape.backward(found);
      pass.finish_gradients();
      for (const auto& entry : weights.parameters.entries()) {
        std::vector<Real> values = values_of(weights, entry.name);
        const std::vector<Real> gradient = weights.gradient(entry.name);
        for (std::size_t k = 0; k < values.size(); ++k) values[k] -= 0.1 * gradient[k];
        weights.set(entry.name, values);
      }
    }
    for (const auto& [name, parameter] : parameters) {
      INFO(std::string(name));
      const std::vector<Real> values = values_of(weights, std::string(name));
      double sum = 0;
      for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * std::cos(static_cast<double>(k + 1));
      CHECK(std::abs(sum - parameter.at("sum").as_double()) < tolerance);
    }
  }
}

} // namespace

TEST_CASE(
    "60 random combinations of options, and 4 with path, train as PyTorch's implementation of their formulas does",
    "[torch]") {
  const TaskSizes sizes{7, 7, 7};
  check_cases("combinations", 64, "[model]\nlayers = 2\nwidth = 8\nheads = 2\n[block]\nffn_width = 6\n", sizes,
              batch_of(sizes, 5));
}

TEST_CASE("60 random stacks of sequence mixers train as PyTorch's implementation of their formulas does", "[torch]") {
  const TaskSizes sizes{7, 21, 7};
  check_cases("mixer_stacks", 60, "[model]\nlayers = 3\nwidth = 8\nheads = 2\n[block]\nffn_width = 6\n", sizes,
              batch_of(sizes, 17));
}
