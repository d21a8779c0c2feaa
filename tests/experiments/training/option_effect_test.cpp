// No option is ever ignored: each option of the catalogue is changed in turn, where it matters, and the run must
// change; options that are said to have no effect on results must leave every bit as it is.
#include "experiments/config/dependencies.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <map>

using namespace heed;
using namespace heed::test;

namespace {

// What an option needs beside the choices of variants that the catalogue knows of.
const std::map<std::string, std::vector<std::string>> also_needed = {
    {"train.optimizer", {"train.adamw.weight_decay=0.1"}},  // without decay, adamw is adam
    {"train.sgd.nesterov", {"train.sgd.momentum=0.9"}},     // it looks ahead along the momentum
};

// There is nothing to change an option to that has one word only.
bool has_one_word(const Option& option) { return option.type == OptionType::text && option.words.size() == 1; }

// Everything that a run gives, to the last bit: what it measured, its last checkpoint, and the test split's metrics.
std::string results(const Config& c) {
  const History h = train(c);
  std::string out = text_of(h.metrics) + text_of(h.last());
  const auto task = make_task(c);
  if (task->evaluation_rows(c.model.kind == "encoder" ? Form::classification : Form::language_model, Split::test) > 0)
    out += text_of({engine(c).evaluate(c, *task, h.last(), Split::test)});
  return out;
}

// An option's value in a configuration.
Value value_in(const Config& c, const std::string& key) {
  const auto dot = key.rfind('.');
  const std::string table = dot == std::string::npos ? "" : key.substr(0, dot), name = key.substr(dot + 1);
  for (const Section& s : sections())
    if (s.table == table) return s.get ? s.get(c).at(name) : s.get_layer(c.layers[0]).at(name);
  for (const FamilyPlace& place : family_places())
    for (const Variant* v : place.family.variants)
      if (full_name(place.family.table, v->name) == table) {
        const OptionValues& values = place.options ? c.*place.options : c.layers[0].*place.layer_options;
        return values.at(name);
      }
  throw Failed("there is no option " + key);
}

// Other values than an option's default, further from it than rounding.
std::vector<Value> clearly_other(const Option& option) {
  std::vector<Value> out;
  for (Value& v : test::other_values(option)) {
    if (const auto* x = std::get_if<double>(&v))
      if (std::abs(*x - std::get<double>(option.default_value)) < 1e-9) continue;
    out.push_back(std::move(v));
  }
  return out;
}

// Other values near the one that the configuration has.
std::vector<Value> values_near(const std::string& key, const Config& c) {
  Option option = *find_option(key);
  option.default_value = value_in(c, key);
  return clearly_other(option);
}

// The changes that make an option matter: each choice that it depends on, and what these depend on.
std::vector<std::string> enabling(const std::string& key, const Config& base) {
  std::vector<std::string> out;
  const auto add = [&](const auto& self, const std::string& option) -> void {
    for (const Dependency& d : dependencies()) {
      if (d.option != option) continue;
      self(self, d.on);
      const auto chosen = choice_word(value_in(base, d.on));
      const bool listed = std::count(d.words.begin(), d.words.end(), chosen) > 0;
      if (listed != d.unless) continue;
      std::string word = d.words[0];
      if (d.unless)
        for (const std::string& w : find_option(d.on)->words)
          if (std::count(d.words.begin(), d.words.end(), w) == 0) word = w;
      out.push_back(d.on + "=" + word);
    }
  };
  add(add, key);
  if (const auto more = also_needed.find(key); more != also_needed.end())
    out.insert(out.end(), more->second.begin(), more->second.end());
  return out;
}

// Three runs of a few milliseconds: a decoder of a generated task, one of a text, an encoder.
struct Bases {
  Folder folder;
  std::string path, other_path;

  Bases() {
    std::string text;
    for (int i = 0; i < 1500; ++i) text += static_cast<char>('a' + (i * i + i / 5) % 7);
    path = folder.write("text.txt", text).string();
    other_path = folder.write("same.txt", text).string();
  }
  std::string text_decoder() const {
    return fmt::format(R"(
seed = 1
[data]
path = "{}"
train = 0.7
test = 0.1
[task]
kind = "text"
[task.text]
block = 6
[model]
layers = 2
width = 8
heads = 2
init_std = 0.3
[train]
steps = 6
batch = 6
shards = 2
threads = 1
learning_rate = 0.01
log_every = 1
evaluate_every = 3
)", path);
  }
  std::vector<std::string> all() const { return {tiny_decoder, text_decoder(), tiny_encoder}; }
};

// The settings as a configuration that can run, if they are one.
std::optional<Config> runnable(const Settings& settings) {
  try {
    Config c = settings.resolve();
    engine(c).check(c, *make_task(c));
    return c;
  } catch (const Refused&) {
    return {};
  }
}

// Tries an option's values in a base; returns how many could be tried.
int try_option(const std::string& key, const std::string& base_text, const Bases& bases) {
  Settings base = Settings::parse(base_text, "base.toml");
  base.override_with(enabling(key, base.resolve()));
  const std::optional<Config> before = runnable(base);
  if (!before) return 0;
  const std::string unchanged = results(*before);
  int tried = 0;
  std::vector<Value> values = values_near(key, *before);
  if (key == "data.path") values = {Value(bases.other_path)};
  for (const Value& value : values) {
    const std::optional<Config> after = runnable(base.with({{key, value, {"sweep", 0, 0, 0}}}));
    if (!after) continue;
    ++tried;
    INFO(key << " = " << value_text(value) << " instead of " << value_text(value_in(*before, key)));
    if (find_option(key)->changes_results) CHECK((results(*after) != unchanged));
    else CHECK((results(*after) == unchanged));
  }
  return tried;
}

} // namespace

TEST_CASE("every option changes the run, or, where it says so, none of its bits", "[training][options]") {
  const Bases bases;
  for (const std::string& key : all_keys()) {
    int tried = 0;
    for (const std::string& base : bases.all()) tried += try_option(key, base, bases);
    INFO(key << " could not be changed in any of the runs");
    if (has_one_word(*find_option(key))) CHECK(tried == 0);
    else CHECK(tried > 0);
  }
}

TEST_CASE("every option of a block changes the run when one block has another value", "[training][options]") {
  // The first: what the last block makes of early positions may count for nothing, where no target stands there.
  const std::string plain = results(config(tiny_decoder));
  int tried = 0;
  for (const std::string& key : all_keys()) {
    const bool own = key.starts_with("block.");
    if (!belongs_to_blocks(key) || has_one_word(*find_option(key))) continue;
    std::string needed;  // the choice of the variant that the option is of
    std::string base = plain;
    for (const std::string& a : enabling(key, config(tiny_decoder))) {
      const auto equals = a.find('=');
      needed += a.substr(0, equals) + " = \"" + a.substr(equals + 1) + "\"\n";
    }
    const auto with_override = [&](const std::string& lines) {
      return config(tiny_decoder + "[[block.override]]\nlayers = [0]\n" + lines);
    };
    if (!needed.empty()) base = results(with_override(needed));
    for (const Value& value : clearly_other(*find_option(key))) {
      const std::string line = (own ? key.substr(6) : key) + " = " + value_text(value) + "\n";
      INFO(needed << line);
      ++tried;
      CHECK((results(with_override(needed + line)) != base));
    }
  }
  CHECK(tried > 20);
}

TEST_CASE("Nesterov's momentum without a momentum is refused", "[training][options]") {
  const Config c = config(tiny_decoder, {"train.optimizer=sgd", "train.sgd.nesterov=true"});
  CHECK_THAT(refusal([&] { engine(c).check(c, *make_task(c)); }),
             Catch::Contains("train.sgd.nesterov") && Catch::Contains("momentum"));
}
