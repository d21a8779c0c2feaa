// Tests that a resolved configuration, written as TOML, resolves to the same configuration again.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <random>
#include <set>

using namespace heed;
using namespace heed::test;

namespace {

void check_round_trip(const Config& config) {
  const std::string text = to_toml(config);
  INFO(text);
  const Config again = Settings::parse(text, "again.toml").resolve();
  CHECK(to_toml(again) == text);
  CHECK(difference(config, again).empty());
  // Compares not only the text, but every struct and the variants' options in every block.
  for (const Section& s : sections()) {
    if (s.get) CHECK(s.get(config) == s.get(again));
    else
      for (std::size_t i = 0; i < config.layers.size(); ++i)
        CHECK(s.get_layer(config.layers[i]) == s.get_layer(again.layers[i]));
    for (std::size_t i = 0; s.get_layer && i < config.decoder_layers.size(); ++i)
      CHECK(s.get_layer(config.decoder_layers[i]) == s.get_layer(again.decoder_layers.at(i)));
  }
  for (const FamilyPlace& place : family_places()) {
    if (place.options) CHECK(config.*place.options == again.*place.options);
    else
      for (std::size_t i = 0; i < config.layers.size(); ++i)
        CHECK(config.layers[i].*place.layer_options == again.layers[i].*place.layer_options);
    for (std::size_t i = 0; place.layer_options && i < config.decoder_layers.size(); ++i)
      CHECK(config.decoder_layers[i].*place.layer_options == again.decoder_layers.at(i).*place.layer_options);
  }
}

using Random = std::mt19937_64;

template <class T> const T& any_of(const std::vector<T>& list, Random& random) { return list[random() % list.size()]; }

/// Some options, each set to another value, one after the other. Refused values are left out.
Settings random_settings(Random& random) {
  Settings settings;
  // Choices of variants first, so that more of the variants' options have an effect.
  std::vector<std::string> keys;
  for (const FamilyPlace& place : family_places()) keys.push_back(place.key);
  for (int i = 0; i < 25; ++i) keys.push_back(any_of(all_keys(), random));
  for (const std::string& key : keys) {
    const std::vector<Value> values = other_values(*find_option(key));
    if (values.empty() || key == "model.layers") continue;
    const Settings next = settings.with({{key, any_of(values, random), {}}});
    if (refusal([&] { next.resolve(); }).empty()) settings = next;
  }
  return settings;
}

/// The same configuration with one block that differs at random.
std::string with_random_override(const std::string& toml, Random& random) {
  std::string out = toml + "\n[[block.override]]\nlayers = [" + std::to_string(random() % 2) + "]\n";
  if (toml.find("kind = \"encoder_decoder\"") != std::string::npos && random() % 3 > 0)
    out += random() % 2 == 0 ? "stack = \"encoder\"\n" : "stack = \"decoder\"\n";
  std::set<std::string> taken;
  for (int i = 0; i < 4; ++i) {
    const std::string& key = any_of(all_keys(), random);
    const std::vector<Value> values = other_values(*find_option(key));
    if (!belongs_to_blocks(key) || values.empty() || !taken.insert(key).second) continue;
    out += (key.starts_with("block.") ? key.substr(6) : key) + " = " + value_text(any_of(values, random)) + "\n";
  }
  return out;
}

} // namespace

TEST_CASE("The built-in configuration makes the round trip", "[config]") { check_round_trip(default_config()); }

TEST_CASE("Any configuration makes the round trip through TOML", "[config]") {
  Random random(20240229);
  std::size_t with_overrides = 0;
  for (int i = 0; i < 300; ++i) {
    const Config config = random_settings(random).resolve();
    check_round_trip(config);
    const std::string overridden = with_random_override(to_toml(config), random);
    if (!refusal_of(overridden).empty()) continue;
    ++with_overrides;
    check_round_trip(Settings::parse(overridden, "x.toml").resolve());
  }
  CHECK(with_overrides > 30);
}

TEST_CASE("Each option can be written and read back with each of its other values", "[config]") {
  for (const std::string& key : all_keys())
    for (const Value& value : other_values(*find_option(key))) {
      INFO(key << " = " << value_text(value));
      const Settings read = Settings::parse(key + " = " + value_text(value), "x.toml");
      CHECK(read.values().at(key).value == value);
      const ReadValue assigned = read_text(*find_option(key), key, value_text(value));
      CHECK(assigned.value == value);
    }
}

TEST_CASE("Numbers are written as the shortest text that reads back as the same", "[config]") {
  CHECK(value_text(Value(0.1)) == "0.1");
  CHECK(value_text(Value(5.0)) == "5.0");
  CHECK(value_text(Value(1e-8)) == "1e-08");
  CHECK(value_text(Value(0.1 + 0.2)) == "0.30000000000000004");
  CHECK(value_text(Value(std::int64_t{5})) == "5");
  CHECK(value_text(Value(WordOrNumber{"", 2.0})) == "2.0");
  CHECK(value_text(Value(WordOrNumber{"sqrt", 0.0})) == "\"sqrt\"");
  CHECK(value_text(Value(std::string("a\"b\\c\n\x01"))) == "\"a\\\"b\\\\c\\n\\u0001\"");
  CHECK(value_text(Value(std::vector<std::string>{"a", "b"})) == "[\"a\", \"b\"]");
}

TEST_CASE("A configuration is written with every option that does something, and no other", "[config]") {
  const std::string text = to_toml(config("[position]\nkind = \"none\"\n[attention]\nscore = \"dot\""));
  CHECK_THAT(text, Catch::Contains("\n[position]\nkind = \"none\"\n\n[mixer]\nkind = \"attention\"\n\n[attention]\n"
                                   "score = \"dot\"\n"));
  CHECK_THAT(text, !Catch::Contains("combine") && !Catch::Contains("bucket") && !Catch::Contains("[attention."));
}

TEST_CASE("Flattened options are in order, and say whether they are part of a run's identity", "[config]") {
  const std::vector<FlatOption> flat = flatten(default_config());
  CHECK(flat[0].key == "name");
  CHECK_FALSE(flat[0].changes_results);
  CHECK(flat[1].key == "seed");
  CHECK(flat[1].value == "0");
  CHECK(flat[1].changes_results);
  std::set<std::string> keys, without_effect;
  for (const FlatOption& f : flat) {
    keys.insert(f.key);
    if (!f.changes_results) without_effect.insert(f.key);
    const bool usual = f.value == value_text(find_option(f.key)->default_value);
    CHECK(f.identifies == (f.changes_results && (!usual || f.key == seed_key)));
    CHECK(f.option == f.key);
  }
  CHECK(keys.size() == flat.size());
  CHECK(without_effect == std::set<std::string>{"name", "train.threads", "train.checkpoint_every",
                                                "train.keep_checkpoints", "report.metric", "report.also",
                                                "report.margin", "report.answer", "report.test", "report.over",
                                                "report.scale", "report.learned", "report.question", "report.examples",
                                                "report.attend"});
}
