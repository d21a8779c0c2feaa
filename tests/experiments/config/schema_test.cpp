// Tests of the lists of all options (for people, programs and editors) and of the tables that the lists are made from.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <regex>

using namespace heed;
using namespace heed::test;
namespace json = boost::json;

TEST_CASE("Every option says what it means, and its default is allowed", "[config]") {
  for (const std::string& key : all_keys()) {
    const Option& o = *find_option(key);
    INFO(key);
    CHECK_FALSE(o.meaning.empty());
    CHECK(wrong_value(o, key, o.default_value).empty() != o.of_tables);
    CHECK(o.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
  }
}

TEST_CASE("Every option can be changed", "[config]") {
  for (const std::string& key : all_keys()) {
    const Option& o = *find_option(key);
    INFO(key);
    // A family with only one variant has no other word.
    CHECK((o.words.size() == 1 || o.of_tables || !other_values(o).empty()));
  }
}

TEST_CASE("What options depend on exists", "[config]") {
  const auto check = [](const std::string& key, const std::vector<std::string>& wanted) {
    const Option* on = find_option(key);
    REQUIRE(on);
    if (wanted == std::vector<std::string>{OptionCondition::anything}) {
      CHECK(on->words.empty());
      CHECK((on->type == OptionType::text || on->type == OptionType::integer || on->type == OptionType::real ||
             on->type == OptionType::integers));
      // With 0 steps, many options have no effect, and without noise, the number of noise tokens has none.
      CHECK(is_given(on->default_value) == (key == "train.steps" || key == "task.noisy_recall.noise"));
      return;
    }
    if (on->type == OptionType::integer) {
      for (const std::string& number : wanted) {
        const double value = std::stod(number);
        CHECK((value >= on->minimum.value_or(value) && value <= on->maximum.value_or(value)));
      }
      return;
    }
    const std::vector<std::string> words = on->type == OptionType::boolean ? std::vector<std::string>{"true", "false"}
                                                                           : on->words;
    for (const std::string& word : wanted) CHECK(std::count(words.begin(), words.end(), word) == 1);
  };
  for (const OptionCondition& d : dependencies()) {
    INFO(d.option << " on " << d.on);
    CHECK(find_option(d.option));
    check(d.on, d.words);
    for (const OptionCondition& other : d.others) check(other.on, other.words);
  }
}

TEST_CASE("The JSON Schema has every option with its type, bounds, words and default", "[config]") {
  const json::value schema = json::parse(json_schema());
  CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  for (const TableInfo& table : catalogue())
    for (const Option& o : table.options) {
      const std::string key = full_name(table.table, o.name);
      INFO(key);
      std::string pointer = "/properties/" + key;
      for (std::size_t dot; (dot = pointer.find('.')) != std::string::npos;) pointer.replace(dot, 1, "/properties/");
      const json::object& found = schema.at_pointer(pointer).as_object();
      CHECK(found.contains("default") != o.of_tables);
      CHECK(found.at("description").as_string().starts_with(o.meaning));
      if (o.type == OptionType::text && !o.words.empty()) CHECK(found.at("enum").as_array().size() == o.words.size());
      if (o.type == OptionType::integer) CHECK(found.at("type") == "integer");
      if (o.type == OptionType::real) CHECK(found.at("type") == "number");
      if (o.type == OptionType::integer || o.type == OptionType::real) {
        CHECK(found.contains(o.minimum_excluded ? "exclusiveMinimum" : "minimum") == o.minimum.has_value());
        CHECK(found.contains(o.maximum_excluded ? "exclusiveMaximum" : "maximum") == o.maximum.has_value());
      }
    }
}

TEST_CASE("The JSON Schema allows nothing that does not exist, and refers to nothing that does not", "[config]") {
  const json::value schema = json::parse(json_schema());
  std::size_t references = 0, tables = 0;
  const std::function<void(const json::value&)> visit = [&](const json::value& v) {
    if (const json::array* array = v.if_array())
      for (const json::value& entry : *array) visit(entry);
    const json::object* object = v.if_object();
    if (!object) return;
    if (object->contains("properties") && object->at("properties").is_object() && object->contains("type")) {
      ++tables;
      CHECK(object->at("additionalProperties") == false);
    }
    if (const json::value* reference = object->if_contains("$ref"); reference && reference->is_string()) {
      ++references;
      const std::string to(reference->as_string().c_str());
      REQUIRE(to.starts_with("#/"));
      CHECK_NOTHROW(schema.at_pointer(to.substr(1)));
    }
    for (const auto& [key, value] : *object) visit(value);
  };
  visit(schema);
  CHECK(references > 50);
  CHECK(tables > catalogue().size());
  const json::object& override = schema.at_pointer("/properties/block/properties/override/items").as_object();
  json::array chosen;
  for (const char* by : {"layers", "every", "from", "to", "stack"})
    chosen.emplace_back(json::object{{"required", json::array{by}}});
  CHECK(override.at("anyOf") == chosen);
  CHECK(override.at("properties").as_object().contains("residual"));
  CHECK(override.at("properties").as_object().contains("attention"));
  CHECK(override.at("properties").as_object().contains("mixer"));
  const json::object& position = override.at("properties").at("position").at("properties").as_object();
  CHECK(position.contains("kind"));
  CHECK(position.contains("rotary"));
  CHECK_FALSE(position.contains("combine"));
  CHECK(schema.at_pointer("/properties/sweep/properties/block/items/properties/kind/enum").as_array().size() ==
        sweep_kinds().size());
  CHECK(schema.at_pointer("/$defs/changes/properties").as_object().contains("attention.score"));
  CHECK_FALSE(schema.at_pointer("/$defs/changes/properties").as_object().contains("seed"));
  CHECK(schema.at_pointer("/properties").as_object().contains("extends"));
  const json::object& parameter =
      schema.at_pointer("/properties/attention/properties/parameters/additionalProperties").as_object();
  CHECK(parameter.at("properties").as_object().size() == 5);
  CHECK(parameter.at("additionalProperties") == false);
}

TEST_CASE("The JSON Schema allows options of single blocks in arms", "[config][block_keys]") {
  const json::value schema = json::parse(json_schema());
  for (const char* table : {"/$defs/changes", "/$defs/axes"}) {
    const json::object& changes = schema.at_pointer(table).as_object();
    const auto allowed = [&](const std::string& key) {
      const json::object& patterns = changes.at("patternProperties").as_object();
      return std::ranges::any_of(patterns, [&](const auto& pattern) {
        return std::regex_search(key, std::regex(std::string(pattern.key())));
      });
    };
    for (const char* key : {"block[3].mixer.kind", "block[decoder.0].norm", "block[12]"}) CHECK(allowed(key));
    for (const char* key : {"block.norm", "block[x].norm", "xblock[3].norm"}) CHECK_FALSE(allowed(key));
    CHECK(changes.at("properties").as_object().contains("block.override"));
  }
  CHECK(schema.at_pointer("/$defs/changes/properties/block.override/$ref") == "#/properties/block/properties/override");
  const json::object& override =
      schema.at_pointer("/properties/block/properties/override/items/properties").as_object();
  CHECK(override.contains("attention.cosine.temperature"));
  CHECK_FALSE(override.contains("position.combine"));
}

TEST_CASE("The list for programs has every option", "[config]") {
  const json::value list = json::parse(options_json());
  std::vector<std::string> keys;
  for (const json::value& table : list.as_array())
    for (const json::value& o : table.at("options").as_array()) keys.emplace_back(o.at("key").as_string().c_str());
  std::vector<std::string> expected;
  for (const std::string& key : all_keys())
    if (!find_option(key)->of_tables) expected.push_back(key);
    else
      for (const char* name : {"per", "start", "learned", "size", "furthest"})
        expected.push_back(fmt::format("{}.NAME.{}", key, name));
  CHECK(keys == expected);
  CHECK(json::parse(options_json("model.width")).as_array().size() == 1);
  CHECK(json::parse(options_json("sweep.tune")).at(0).at("options").at(0).at("key") == "sweep.tune.grid");
}

TEST_CASE("Every option of a sweep is described, and its example can be read", "[config][sweep]") {
  std::vector<std::string> words;
  for (const SweepTable& table : sweep_tables())
    for (const SweepOption& option : table.options) {
      INFO(table.table << "." << option.name << "\n" << option.example);
      CHECK_FALSE(option.meaning.empty());
      CHECK_FALSE(option.takes.empty());
      const Settings settings = Settings::parse(table.heading + "\n" + option.example + "\n", "x.toml");
      if (table.table == "report.label") {
        CHECK(settings.report_labels().size() == 2);
        continue;
      }
      CHECK_THAT(option.example, Catch::Contains(option.name == "kind" ? "grid" : option.name));
      CHECK(settings.sweep().present);
      if (table.table == "sweep.block") CHECK(settings.sweep().blocks.size() == 1);
      words.push_back(table.table + "." + option.name);
    }
  // The schema describes everything that a file may hold: an unknown name is refused with a list of all names.
  const auto known = [&](const std::string& table, const std::string& text) {
    for (const std::string& word : words)
      if (word.starts_with(table + ".") && word.find('.', table.size() + 1) == std::string::npos)
        CHECK_THAT(text, Catch::Contains(word.substr(table.size() + 1)));
  };
  known("sweep", refusal_of("[sweep]\nxyzzyxyzzy = 1\n"));
  known("sweep.tune", refusal_of("[sweep.tune]\nxyzzyxyzzy = 1\n"));
}

TEST_CASE("The JSON Schema describes every option of a sweep", "[config][sweep]") {
  const json::value schema = json::parse(json_schema());
  for (const auto& [table, pointer] :
       std::vector<std::pair<std::string, std::string>>{{"sweep", "/properties/sweep"},
                                                        {"sweep.block", "/properties/sweep/properties/block/items"},
                                                        {"sweep.tune", "/properties/sweep/properties/tune"}}) {
    const json::object& properties = schema.at_pointer(pointer + "/properties").as_object();
    const SweepTable described = sweep_tables(table).front();
    for (const SweepOption& option : described.options) {
      INFO(table << "." << option.name);
      REQUIRE(properties.contains(option.name));
      CHECK(properties.at(option.name).as_object().at("description").as_string().starts_with(option.meaning));
    }
    CHECK(schema.at_pointer(pointer).as_object().contains("description"));
  }
}

TEST_CASE("The JSON Schema allows any text in [report.label]", "[config]") {
  const json::value label = json::parse(json_schema()).at_pointer("/properties/report/properties/label");
  CHECK(label.at("additionalProperties").at("type") == "string");
  CHECK_THAT(options_text("report"), Catch::StartsWith("[report]") && Catch::Contains("\n[report.label]  "));
  CHECK_THAT(options_text("report.label"), Catch::StartsWith("[report.label]") && !Catch::Contains("[sweep"));
}

TEST_CASE("The list for people can be narrowed to a table or an option", "[config]") {
  const std::string all = options_text();
  for (const std::string& key : all_keys())
    if (!find_option(key)->of_tables) CHECK_THAT(all, Catch::Contains(find_option(key)->meaning));
  CHECK(options_text("model.width") ==
        "[model]  Model\n\nwidth = 64\n    Width of the embeddings and of the activations between the blocks "
        "(d_model).\n    an integer, at least 1 and at most 65536 (features)\n");
  CHECK_THAT(options_text("attention"), Catch::StartsWith("[attention]") && Catch::Contains("\n[attention.cosine]"));
  CHECK_THAT(options_text("attention.dot"), Catch::Contains("no options of its own"));
  CHECK_THAT(options_text("sweep"), Catch::StartsWith("[sweep]  ") && Catch::Contains("\n[[sweep.block]]  ") &&
                                        Catch::Contains("\n[sweep.tune]  "));
  CHECK_THAT(options_text("sweep.block"), Catch::StartsWith("[[sweep.block]]") && Catch::Contains("leave_one_out") &&
                                              Catch::Contains("log_uniform") && !Catch::Contains("[sweep.tune]"));
  CHECK_THAT(options_text("sweep.tune"),
             Catch::StartsWith("[sweep.tune]") && Catch::Contains("\ngrid\n") && Catch::Contains("\nseeds\n"));
  CHECK_THAT(options_text("sweep.block.exclude"), Catch::Contains("exclude = [{") && !Catch::Contains("\nrequire\n"));
  CHECK_THAT(all, Catch::Contains(options_text("sweep")));
  CHECK(refusal([] { options_text("sweep.blok"); }) ==
        "there is no option or table 'sweep.blok'; did you mean 'sweep.block'?");
  CHECK(refusal([] { options_text("atention"); }) == "there is no table [atention]; did you mean [attention]?");
  CHECK(refusal([] { options_text("model.widht"); }) == "[model] has no option 'widht'; did you mean 'width'?");
}
