// Tests that an option of a later version does not change the identity of runs while the option has its neutral value.
// Each test pretends that an option came later, and compares with the identity of a version without it.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/numerics.hpp"
#include "experiments/config/values.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/runs/run_identity.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <algorithm>
#include <random>

using namespace heed;
using namespace heed::test;

namespace {

using Later = std::map<std::string, Value>;

/// The ID by a version in which these options were added later.
std::string later_id(const Config& config, const Later& later) { return run_id(flatten(config, later), "data"); }

/// The ID by a version without the option: the configuration lacks its lines.
std::string earlier_id(const Config& config, const std::string& key) {
  std::vector<FlatOption> lines = flatten(config);
  const std::string in_block = key.starts_with("block.") ? key.substr(5) : "." + key;
  std::erase_if(lines, [&](const FlatOption& line) {
    return line.key == key || (line.key.starts_with("block[") && line.key.ends_with("]" + in_block));
  });
  return run_id(lines, "data");
}

std::vector<std::string> identifying(const Config& config, const Later& later) {
  std::vector<std::string> out;
  for (const FlatOption& line : flatten(config, later))
    if (line.identifies) out.push_back(line.key + " = " + line.value);
  return out;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::ranges::find(lines, line) != lines.end();
}

const std::string blocks = "[model]\nlayers = 4\n";

} // namespace

TEST_CASE("an option of a section that came later is left out while it is neutral", "[runs][identity]") {
  const Later later{{"model.dropout", Value(0.0)}};
  const Config without = config("seed = 3"), with = config("seed = 3\nmodel.dropout = 0.1");
  CHECK(later_id(without, later) == earlier_id(without, "model.dropout"));
  CHECK(later_id(without, later) != run_id(without, "data"));
  CHECK(later_id(with, later) != later_id(without, later));
  CHECK(later_id(with, later) == run_id(with, "data"));
  // The option is shown nevertheless.
  const auto lines = flatten(without, later);
  CHECK(std::ranges::count(lines, std::string("model.dropout"), &FlatOption::key) == 1);
}

TEST_CASE("an option of a variant that came later is left out while it is neutral", "[runs][identity]") {
  const std::string key = "attention.cosine.learned";
  const Later later{{key, Value(false)}};
  const Config without = config("attention.score = \"cosine\"\nattention.cosine.learned = false"),
               with = config("attention.score = \"cosine\"\nattention.cosine.learned = true"),
               other = config("attention.score = \"dot\"");
  CHECK(later_id(without, later) == earlier_id(without, key));
  CHECK(later_id(with, later) != earlier_id(with, key));
  CHECK(later_id(with, later) != later_id(without, later));
  CHECK(later_id(other, later) == run_id(other, "data"));
}

TEST_CASE("a block that is not neutral where the others are says so, and only it", "[runs][identity]") {
  const Later later{{"block.dropout", Value(0.0)}};
  const Config with = config(blocks + "[[block.override]]\nlayers = [1]\ndropout = 0.3\n");
  const auto lines = identifying(with, later);
  CHECK(has(lines, "block[1].dropout = 0.3"));
  CHECK_FALSE(has(lines, "block.dropout = 0.0"));
  CHECK(later_id(with, later) != earlier_id(with, "block.dropout"));
  CHECK(later_id(config(blocks), later) == earlier_id(config(blocks), "block.dropout"));
}

TEST_CASE("a block that is neutral where the others are not says so, too", "[runs][identity]") {
  const Later later{{"block.dropout", Value(0.0)}};
  const std::string all = blocks + "[block]\ndropout = 0.3\n";
  const Config with = config(all + "[[block.override]]\nlayers = [1]\ndropout = 0.0\n");
  const auto lines = identifying(with, later);
  CHECK(has(lines, "block.dropout = 0.3"));
  CHECK(has(lines, "block[1].dropout = 0.0"));
  CHECK(later_id(with, later) != later_id(config(all), later));
  CHECK(later_id(with, later) == run_id(with, "data"));
}

TEST_CASE("a block with another variant leaves that variant's later options out", "[runs][identity]") {
  const std::string key = "attention.cosine.learned";
  const Later later{{key, Value(false)}};
  const std::string one = blocks + "[[block.override]]\nlayers = [2]\nattention.score = \"cosine\"\n";
  const Config without = config(one + "attention.cosine.learned = false\n"),
               with = config(one + "attention.cosine.learned = true\n");
  CHECK(later_id(without, later) == earlier_id(without, key));
  CHECK(later_id(with, later) != earlier_id(with, key));
  CHECK(has(identifying(with, later), "block[2].attention.cosine.learned = true"));
}

TEST_CASE("whichever option came later, its neutral value is left out, and different runs stay different",
          "[runs][identity][many]") {
  std::mt19937_64 random(20260131);
  const auto any_of = [&](const auto& list) { return list[random() % list.size()]; };
  int left_out = 0, compared = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string key = any_of(all_keys());
    const Option& option = *find_option(key);
    if (!option.changes_results || option.of_tables) continue;
    Settings settings = Settings::parse("[model]\nlayers = 3\n", "x.toml");
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
    const Later later{{key, option.default_value}};
    std::map<std::string, std::string> found; // ID, its configuration
    for (const Config& c : configs) {
      std::string text;
      bool neutral = true;
      for (const FlatOption& line : flatten(c)) {
        if (line.changes_results) text += line.key + " = " + line.value + "\n";
        const bool is_it = line.key == key || (line.key.starts_with("block[") && option_of_flat(line.key) == &option);
        neutral = neutral && (!is_it || line.value == value_text(option.default_value));
      }
      INFO(key << "\n" << text);
      const std::string id = later_id(c, later);
      CHECK(found.try_emplace(id, text).first->second == text);
      if (!neutral) continue;
      CHECK(id == earlier_id(c, key));
      ++left_out;
    }
    compared += static_cast<int>(found.size()) - 1;
  }
  CHECK(left_out > 100);
  CHECK(compared > 200);
}

TEST_CASE("a version that changed some configurations' bits concerns their identity alone", "[runs][identity]") {
  const auto numerics = [](const std::string& toml) { return numerics_of(flatten(config(toml))); };
  const auto text = [](const std::string& toml) { return identity_text(flatten(config(toml)), "data"); };
  CHECK(numerics("") == 6);
  CHECK(numerics("attention.normalizer = \"sigmoid\"") == 6);
  CHECK(numerics("attention.normalizer = \"sparsemax\"") == 7);
  CHECK(numerics("[[block.override]]\nlayers = [1]\nattention.normalizer = \"entmax15\"") == 7);
  CHECK(numerics("model.kind = \"encoder_decoder\"\nattention.cross_normalizer = \"entmax\"") == 7);
  CHECK(numerics("attention.normalizer = \"gumbel\"") == 7);
  CHECK(numerics("task.kind = \"scan\"\ndata.path = \"x\"\ndata.bucket = 20") == 8);
  CHECK(numerics("task.kind = \"scan\"\ndata.path = \"x\"\ndata.bucket = 1") == 6);
  CHECK(numerics("task.kind = \"parity\"\ntrain.evaluate_random_batches = 3") == 8);
  CHECK(numerics("task.kind = \"text\"\ndata.path = \"x\"\ntrain.evaluate_random_batches = 3") == 6);
  CHECK(numerics("train.optimizer = \"muon\"") == 8);
  CHECK(numerics("train.optimizer = \"muon\"\nmodel.kind = \"recurrent\"\nattention.score = \"dot\"") == 6);
  CHECK(numerics("attention.score = \"l1\"") == 9);
  CHECK(numerics("model.kind = \"encoder_decoder\"\nattention.cross_score = \"l1\"") == 9);
  CHECK(numerics("model.kind = \"encoder_decoder\"\nattention.cross_score = \"dot\"") == 6);
  CHECK(numerics("attention.normalizer = \"softpick\"") == 10);
  CHECK(numerics("model.kind = \"encoder_decoder\"\nattention.cross_normalizer = \"softpick\"") == 10);
  const std::string causal = "model.kind = \"decoder\"\nattention.";
  CHECK(numerics(causal + "normalizer = \"stick_breaking\"") == 10);
  CHECK(numerics(causal + "forget_gate = true") == 10);
  CHECK(numerics(causal + "forget_gate = false") == 6);
  CHECK(numerics("attention.score = \"additive\"") == 11);
  CHECK(numerics("model.kind = \"encoder_decoder\"\nattention.cross_score = \"concat\"") == 11);
  CHECK(numerics("[[block.override]]\nlayers = [1]\nattention.score = \"keras_concat\"") == 11);
  CHECK(numerics("attention.differential = \"v1\"") == 12);
  CHECK(numerics("attention.differential = \"v2\"\nattention.key_value_heads = 2") == 12);
  CHECK(numerics("attention.differential = \"v1\"\nattention.key_value_heads = 2") == 13);
  CHECK(numerics("attention.differential = \"none\"") == 6);
  const std::string t5 = "position.kind = \"t5\"\nposition.t5.";
  CHECK(numerics(t5 + "furthest = 15") == 8); // of 32 buckets, 16 hold one distance each: 0 to 15
  CHECK(numerics(t5 + "furthest = 16") == 6);
  CHECK(numerics(t5 + "furthest = 8\nposition.t5.both_sides = true") == 6);
  CHECK(numerics(t5 + "furthest = 7\nposition.t5.both_sides = true") == 8);
  for (const std::string formula :
       {"0 / 0 * s", "s / (1 + abs(i - j))", "s / 0", "log(s)", "s ^ 2", "s % 2", "sqrt(s)"})
    CHECK(numerics("attention.score_mod = \"" + formula + "\"") == 8);
  for (const std::string formula : {"30 * tanh(s / 30)", "s/2.5 - abs(i - j)", "s * 2"})
    CHECK(numerics("attention.score_mod = \"" + formula + "\"") == 6);
  for (const std::string formula : {"s + b", "s * queries", "s - 2*b"})
    CHECK(numerics("attention.score_mod = \"" + formula + "\"") == 8);
  CHECK(numerics("attention.mask_mod = \"b < 4 or i >= j\"") == 8);
  CHECK(numerics("attention.mask_mod = \"abs(i - j) < 3\"") == 6);
  const std::string encoder = "model.kind = \"encoder\"\ntask.kind = \"parity\"\n",
                    context = encoder + "model.encoder.pooling = \"context\"\n";
  CHECK(numerics(context) == 6);
  CHECK(numerics(context + "attention.mask_mod = \"abs(i - j) < 3\"") == 8);
  CHECK(numerics(encoder + "attention.mask_mod = \"abs(i - j) < 3\"") == 6);
  const std::string two = context + "model.layers = 2\n[[block.override]]\nattention.score_mod = \"s * 2\"\nlayers = ";
  CHECK(numerics(two + "[0]") == 6); // pooling uses the last block's choices
  CHECK(numerics(two + "[1]") == 8);
  CHECK(text("").starts_with("numerics 6\n"));
  CHECK(text("attention.normalizer = \"sparsemax\"").starts_with("numerics 7\n"));
}

TEST_CASE("the neutral value of an option is its default, and of its type and bounds", "[runs][identity]") {
  std::size_t count = 0;
  for (const std::string& key : all_keys()) {
    const Option& option = *find_option(key);
    if (!option.neutral) continue;
    ++count;
    INFO(key);
    // An old file means the same as before, and an option that cannot change a result is in no identity anyway.
    CHECK(*option.neutral == option.default_value);
    CHECK((option.of_tables || wrong_value(option, key, *option.neutral).empty()));
    CHECK(option.changes_results);
  }
  CHECK(count > 0);
}

TEST_CASE("data that a task makes has no mark of its neutral options", "[runs][identity]") {
  struct Made {
    std::int64_t length = 4;
    bool odd = false;
  };
  const auto table = option_table<Made>(option("length", &Made::length, "how long"),
                                        option("odd", &Made::odd, "came later").neutral(false));
  CHECK(without_neutral(table.options(), table.write({4, false})) == OptionValues{{"length", Value(std::int64_t{4})}});
  CHECK(without_neutral(table.options(), table.write({4, true})) == table.write({4, true}));
}
