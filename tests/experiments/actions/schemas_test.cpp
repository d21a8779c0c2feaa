// Results of commands, and their JSON Schemas.
#include "experiments/actions/schemas.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/results.hpp"
#include "tests/catch.hpp"

#include <limits>
#include <string>
#include <vector>

namespace heed {

TEST_CASE("A result has all its members in JSON, null if they are not known", "[actions][schemas]") {
  EvaluateResult result{.run = "3f2a", .split = "test", .step = 20};
  result.metrics = {{"val_loss", 0.5}, {"val_accuracy", std::numeric_limits<double>::quiet_NaN()}};
  CHECK(boost::json::serialize(described::value_of(result)) ==
        R"({"run":"3f2a","split":"test","step":20,"average":1,)"
        R"("metrics":{"val_accuracy":null,"val_loss":5E-1},"outputs":null})");
}

TEST_CASE("The schema of a struct has each member with its type and text", "[actions][schemas]") {
  const boost::json::object schema = described::schema_of<DataResult>();
  CHECK(schema.at("additionalProperties") == false);
  const boost::json::object& properties = schema.at("properties").as_object();
  CHECK(schema.at("required").as_array().size() == properties.size());
  CHECK(properties.at("task").at("type") == "string");
  CHECK(properties.at("task").at("description") == "the task");
  CHECK(properties.at("filled").at("type").as_array().at(1) == "null");
  CHECK(properties.at("training").at("anyOf").at(0).at("type") == "integer");
  CHECK(properties.at("inputs").at("properties").as_object().contains("median"));
  CHECK(properties.at("examples").at("items").at("properties").as_object().contains("output"));
  const boost::json::value metrics = described::schema_of<EvaluateResult>();
  CHECK(metrics.at_pointer("/properties/metrics/additionalProperties/anyOf/1/type") == "null");
}

namespace {

/// Collects the members without a description.
void undescribed(const boost::json::value& schema, const std::string& place, std::vector<std::string>& found) {
  if (const auto* list = schema.if_array())
    for (const boost::json::value& item : *list) undescribed(item, place, found);
  const auto* object = schema.if_object();
  if (!object) return;
  for (const auto& [key, member] : *object) {
    undescribed(member, place + "/" + std::string(key), found);
    if (key == "properties")
      for (const auto& [name, of] : member.as_object())
        if (!of.as_object().contains("description")) found.push_back(place + "/" + std::string(name));
  }
}

} // namespace

TEST_CASE("Each member of what commands say, and of a report, has a description", "[actions][schemas]") {
  for (const std::string& name : schema_names()) {
    if (name == "config") continue; // its options have texts of their own, and its arms refer to them
    std::vector<std::string> found;
    undescribed(schema_named(name), name, found);
    CHECK(found == std::vector<std::string>{});
  }
}

TEST_CASE("Each name has a schema, and an unknown name is refused", "[actions][schemas]") {
  CHECK(schema_names().size() > 15);
  for (const std::string& name : schema_names()) {
    INFO(name);
    CHECK(schema_named(name).at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  }
  CHECK(boost::json::value(schema_named("run")).at_pointer("/properties/command/const") == "run");
  CHECK_THROWS_WITH(schema_named("statuss"), Catch::Contains("did you mean 'status'?"));
}

} // namespace heed
