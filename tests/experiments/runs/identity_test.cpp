// Tests that a run's ID is made of the seed and of what differs from the defaults. So an option that a later version
// adds leaves the IDs of runs without it. Each such test compares with the ID of a version without the option.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/runs/run_identity.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <algorithm>
#include <random>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

std::string id_of(const Config& config) { return run_id(config, "data"); }

/// The ID by a version without the option: the configuration lacks its lines.
std::string earlier_id(const Config& config, const std::string& key) {
  std::vector<FlatOption> lines = flatten(config);
  std::erase_if(lines, [&](const FlatOption& line) { return line.option == key; });
  return run_id(lines, "data");
}

std::string text_of(const Config& config) { return identity_text(flatten(config), "data"); }

const std::string blocks = "[model]\nlayers = 4\n";

} // namespace

TEST_CASE("an ID is made of the numerics, the data, the seed and what differs from the defaults", "[runs][identity]") {
  CHECK(text_of(config("task.kind = \"reverse\"\ntrain.shards = 3\nmodel.dropout = 0.1")) ==
        fmt::format("numerics {}\ndata data\nseed = 0\ntask.kind = \"reverse\"\nmodel.dropout = 0.1\n"
                    "train.shards = 3\n",
                    numerics_version));
}

TEST_CASE("an option is left out while it has its default", "[runs][identity]") {
  const Config without = config("seed = 3"), with = config("seed = 3\nmodel.dropout = 0.1");
  CHECK(find_option("model.dropout")->default_value == Value(0.0));
  CHECK(id_of(without) == earlier_id(without, "model.dropout"));
  CHECK(id_of(without) == id_of(config("seed = 3\nmodel.dropout = 0.0")));
  CHECK(id_of(with) != id_of(without));
  // The option is shown nevertheless.
  const auto lines = flatten(without);
  CHECK(std::ranges::count(lines, std::string("model.dropout"), &FlatOption::key) == 1);
}

TEST_CASE("a variant's option is left out while it has its default", "[runs][identity]") {
  const std::string key = "attention.cosine.learned",
                    cosine = "attention.score = \"cosine\"\nattention.cosine.learned = ";
  const bool usual = std::get<bool>(find_option(key)->default_value);
  const Config without = config(cosine + (usual ? "true" : "false")),
               with = config(cosine + (usual ? "false" : "true"));
  CHECK(id_of(without) == earlier_id(without, key));
  CHECK(id_of(with) != earlier_id(with, key));
  CHECK(id_of(with) != id_of(without));
}

TEST_CASE("a block with another value than the other blocks names it, also if it is the default", "[runs][identity]") {
  const std::string with_block = "[[block.override]]\nlayers = [1]\ndropout = ";
  const Config one = config(blocks + with_block + "0.3\n");
  CHECK_THAT(text_of(one), Contains("\nblock[1].dropout = 0.3\n") && !Contains("\nblock.dropout"));
  const std::string all = blocks + "[block]\ndropout = 0.3\n";
  const Config others = config(all + with_block + "0.0\n");
  CHECK_THAT(text_of(others), Contains("\nblock.dropout = 0.3\n") && Contains("\nblock[1].dropout = 0.0\n"));
  CHECK(id_of(others) != id_of(config(all)));
  CHECK(id_of(config(blocks)) == earlier_id(config(blocks), "block.dropout"));
}

TEST_CASE("each option is left out at its default, and different runs have different IDs", "[runs][identity][many]") {
  std::mt19937_64 random(20260131);
  const auto any_of = [&](const auto& list) { return list[random() % list.size()]; };
  int left_out = 0, compared = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string key = any_of(all_keys());
    const Option& option = *find_option(key);
    if (!option.changes_results || option.of_tables || key == seed_key) continue;
    const bool is_of_recurrences = key.starts_with("mixer.") && key != "mixer.kind";
    Settings settings = Settings::parse(std::string("[model]\nlayers = 3\n") +
                                            (is_of_recurrences ? "[mixer]\nkind = \"recurrence\"\n" : ""),
                                        "x.toml");
    for (const std::string choice : {"attention.score", "attention.normalizer", "position.kind", "model.kind"}) {
      const Settings next = settings.with({{choice, any_of(other_values(*find_option(choice))), {}}});
      if (refusal([&] { next.resolve(); }).empty()) settings = next;
    }
    std::vector<Value> values = other_values(option);
    values.push_back(option.default_value);
    std::vector<Config> configs;
    for (const Value& value : values) {
      const Settings next = settings.with({{key, value, {}}});
      if (!refusal([&] { next.resolve(); }).empty()) continue;
      configs.push_back(next.resolve());
      if (!belongs_to_blocks(key)) continue;
      for (const Value& own : values) { // of the middle block
        const std::string text = to_toml(next.resolve()) + "\n[[block.override]]\nlayers = [1]\n" +
                                 (key.starts_with("block.") ? key.substr(6) : key) + " = " + value_text(own) + "\n";
        if (refusal_of(text).empty()) configs.push_back(config(text));
      }
    }
    std::map<std::string, std::string> found; // ID, its configuration
    for (const Config& c : configs) {
      std::string text;
      bool usual = true;
      for (const FlatOption& line : flatten(c)) {
        if (line.changes_results) text += line.key + " = " + line.value + "\n";
        usual = usual && (line.option != key || line.value == value_text(option.default_value));
      }
      INFO(key << "\n" << text);
      const std::string id = id_of(c);
      CHECK(found.try_emplace(id, text).first->second == text);
      if (!usual) continue;
      CHECK(id == earlier_id(c, key));
      ++left_out;
    }
    compared += std::max(static_cast<int>(found.size()) - 1, 0);
  }
  CHECK(left_out > 100);
  CHECK(compared > 200);
}

TEST_CASE("the name of an option of a block is that of the option", "[runs][identity]") {
  const Config c = config(blocks + "[[block.override]]\nlayers = [1]\ndropout = 0.3\nattention.score = \"dot\"\n");
  for (const FlatOption& line : flatten(c)) {
    INFO(line.key);
    const Option* option = option_of_flat(line.key);
    REQUIRE(option != nullptr);
    CHECK(option == find_option(line.option));
  }
}

TEST_CASE("the numerics name the variants in use whose results have changed, and only those", "[runs][identity]") {
  const auto used = [](const std::string& toml) {
    std::vector<std::string> out;
    for (const VariantInUse& variant : variants_in_use(flatten(config(toml)))) out.push_back(variant.name);
    return out;
  };
  const auto uses = [&](const std::string& toml, const std::string& name) {
    return std::ranges::count(used(toml), name);
  };
  CHECK(uses("", "attention.scaled_dot") == 1);
  CHECK(uses("attention.score = \"l1\"", "attention.l1") == 1);
  CHECK(uses("attention.score = \"l1\"", "attention.scaled_dot") == 0);
  CHECK(uses(blocks + "[[block.override]]\nlayers = [1, 2]\nattention.normalizer = \"entmax15\"",
             "attention.entmax15") == 1);
  CHECK(uses("model.kind = \"encoder_decoder\"\nattention.cross_score = \"concat\"", "attention.concat") == 1);
  CHECK(uses("train.optimizer = \"muon\"", "train.muon") == 1);
  CHECK(uses("train.steps = 0", "train.adam") + uses("train.steps = 0", "train.adamw") == 0); // it has no effect
  CHECK(uses("attention.differential = \"v1\"", "attention.differential") == 1);
  CHECK(uses("attention.differential = \"none\"", "attention.differential") == 0);
  CHECK(uses(blocks + "[[block.override]]\nlayers = [3]\nattention.gate = \"head\"", "attention.gate") == 1);

  Variant changed, unchanged, other;
  changed.numerics = 2;
  other.numerics = 1;
  const std::string now = fmt::format("{}", numerics_version);
  CHECK(numerics_text({}) == now);
  CHECK(numerics_text({{"attention.l1", &unchanged}}) == now);
  CHECK(numerics_text({{"train.muon", &changed}, {"attention.l1", &unchanged}, {"attention.dot", &other}}) ==
        now + ", attention.dot 1, train.muon 2");
  CHECK(text_of(config("")).starts_with("numerics " + numerics_of(flatten(config(""))) + "\n"));
}

TEST_CASE("the data that a task makes is named by what differs from the task's defaults", "[runs][identity]") {
  struct Made {
    std::int64_t length = 4;
    bool odd = false;
  };
  const auto table = option_table<Made>(option("length", &Made::length, "how long"),
                                        option("odd", &Made::odd, "came later"));
  CHECK(without_defaults(table.options(), table.write({5, false})) == OptionValues{{"length", Value(std::int64_t{5})}});
  CHECK(without_defaults(table.options(), table.write({5, true})) == table.write({5, true}));
}
