// Reads the [sweep] of a configuration file.
#include "experiments/config/chance_sources.hpp"
#include "experiments/config/config_file.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>

namespace heed {
namespace {

constexpr std::string_view of_single_options =
    "takes single options, and block.override is a list of tables: name an option of a block, such as "
    "block[3].mixer.kind";

struct SweepReader : SweepChanges {
  void read_zip(const toml::node& node, SweepBlock& out) {
    out.axes = read_axes("zip", node);
    for (const auto& [key, values] : out.axes)
      if (values.size() != out.axes.front().second.size())
        problem(node.source(), fmt::format("zip takes lists of one length: {} has {} values, {} has {}",
                                           out.axes.front().first, out.axes.front().second.size(), key, values.size()));
  }

  /// Reads `off`, `on` or `arms`: names, each with its changes.
  void read_named(const SweepKind& kind, const toml::table& table, SweepBlock& out) {
    for (const TomlEntry& entry : in_order(table)) {
      const toml::table* changes = entry.node->as_table();
      const std::string name = fmt::format("{}.{}", kind.holder, entry.name);
      if (!changes || changes->empty())
        problem(entry.node->source(), fmt::format("{} is {}; it must be a table of what it changes, such as {} = "
                                                  "{{ \"block.residual\" = \"none\" }}",
                                                  name, changes ? "empty" : node_in_words(*entry.node), name));
      else if (entry.name == "reference")
        problem(entry.at, fmt::format("{}: the reference is the file without its [sweep]", name));
      else if (const std::string wrong = wrong_text("the name of an arm", entry.name); !wrong.empty())
        problem(entry.at, wrong);
      else out.sets.push_back({entry.name, read_changes(*changes), at(entry.at)});
    }
  }

  void read_sets(const SweepKind& kind, const toml::node& node, SweepBlock& out) {
    const toml::table* table = node.as_table();
    if (table && !table->empty()) return read_named(kind, *table, out);
    problem(node.source(), fmt::format("{} must name what {} changes, such as {}.{} = {{ "
                                       "\"block.residual\" = \"none\" }}",
                                       kind.holder, kind.each, kind.holder, "residual"));
  }

  /// Reads arms by name, or a list of arms.
  void read_arms(const SweepKind& kind, const toml::node& node, SweepBlock& out) {
    const toml::array* list = node.as_array();
    if (!list) return read_sets(kind, node, out);
    for (const toml::node& entry : *list) {
      const toml::table* table = entry.as_table();
      if (!table || table->empty())
        problem(entry.source(), fmt::format("arms holds {}; each entry must be a table of options and values",
                                            table ? "an empty table" : node_in_words(entry)));
      else out.sets.push_back({"", read_changes(*table), at(entry.source())});
    }
  }

  /// Reads `random`: each option with a distribution.
  void read_draws(const toml::node& node, SweepBlock& out) {
    constexpr std::string_view such = "such as { \"train.learning_rate\" = { log_uniform = [1e-4, 1e-2] } }";
    const toml::table* table = node.as_table();
    if (!table || table->empty())
      return problem(node.source(), fmt::format("random is {}; it must be a table of options and their "
                                                "distributions, {}",
                                                table ? "empty" : node_in_words(node), such));
    each_option(*table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
      if (key == override_key) return problem(entry.at, fmt::format("random {}", of_single_options));
      const toml::table* within = entry.node->as_table();
      if (!within || within->size() != 1)
        return problem(entry.node->source(),
                       fmt::format("random gives {} {}; it must be one distribution, {}", key,
                                   within ? "several distributions, or none" : node_in_words(*entry.node), such));
      const TomlEntry stated = in_order(*within).front();
      const Distribution* distribution = find_distribution(stated.name);
      const toml::array* list = stated.node->as_array();
      if (!distribution) {
        const std::vector<std::string> names = names_of(distributions());
        const std::string near = did_you_mean(stated.name, names);
        return problem(stated.at, fmt::format("there is no distribution '{}'{}", stated.name,
                                              near.empty() ? "; there are " + list_in_words(names) : near));
      }
      if (!list || list->empty())
        return problem(stated.node->source(),
                       fmt::format("{} of {} is {}; it must be {}", stated.name, key,
                                   list ? "an empty list" : node_in_words(*stated.node), distribution->takes));
      Draw draw{key, stated.name, {}, at(entry.at)};
      for (const toml::node& value : *list) add_change(key, option, value, value.source(), draw.values);
      if (draw.values.size() != list->size()) return; // already reported
      if (const std::string wrong = distribution->wrong(option, draw); !wrong.empty())
        problem(stated.node->source(), fmt::format("{} of {}: {}", stated.name, key, wrong));
      else out.draws.push_back(std::move(draw));
    });
  }

  /// Reads `count` and `seed` of `random`.
  void read_number(const TomlEntry& entry, std::int64_t least, std::int64_t most, std::int64_t& out) {
    const auto* number = entry.node->as_integer();
    if (number && number->get() >= least && number->get() <= most) out = number->get();
    else
      problem(entry.node->source(), fmt::format("[[sweep.block]] {} is {}; it must be an integer from {} to {}",
                                                entry.name, node_in_words(*entry.node), least, most));
  }

  /// Reads `exclude` or `require`.
  void read_conditions(const std::string& name, const toml::node& node, std::vector<std::vector<Change>>& out) {
    const toml::array* list = node.as_array();
    if (!list)
      return problem(node.source(), fmt::format("{} is {}; it must be a list of tables, such as {} = "
                                                "[{{ \"model.heads\" = 8, \"model.width\" = 32 }}]",
                                                name, node_in_words(node), name));
    for (const toml::node& entry : *list) {
      const toml::table* table = entry.as_table();
      if (!table || table->empty())
        problem(entry.source(), fmt::format("{} holds {}; each entry must be a table of options and values", name,
                                            table ? "an empty table" : node_in_words(entry)));
      else {
        out.push_back(read_changes(*table));
        for (const Change& change : out.back())
          if (change.key == override_key)
            problems.add(fmt::format("{}: {} {}", change.origin.text(), name, of_single_options));
      }
    }
  }

  void read_held(const SweepKind& kind, const toml::node& node, SweepBlock& out) {
    switch (kind.form) {
      case SweepForm::crossed: out.axes = read_axes(kind.holder, node); break;
      case SweepForm::paired: read_zip(node, out); break;
      case SweepForm::sets: read_sets(kind, node, out); break;
      case SweepForm::arms: read_arms(kind, node, out); break;
      case SweepForm::draws: read_draws(node, out); break;
    }
  }

  /// The kind that a block states; without a `kind`, the first kind whose holder the block contains.
  const SweepKind* kind_of(const toml::table& table) {
    const toml::node* stated = table.get("kind");
    if (!stated) {
      for (const SweepKind& kind : sweep_kinds())
        if (table.contains(kind.holder)) return &kind;
      return &sweep_kinds().front();
    }
    const auto* text = stated->as_string();
    std::vector<std::string> names;
    for (const SweepKind& kind : sweep_kinds()) {
      if (text && text->get() == kind.name) return &kind;
      names.push_back(kind.name);
    }
    problem(stated->source(), fmt::format("[[sweep.block]] kind is {}; it must be one of {}{}", node_in_words(*stated),
                                          list_in_words(names), text ? did_you_mean(text->get(), names) : ""));
    return nullptr;
  }

  SweepBlock read_block(const toml::table& table) {
    SweepBlock out;
    out.origin = at(table.source());
    const SweepKind* kind = kind_of(table);
    if (!kind) return out;
    out.kind = kind->name;
    const bool drawn = kind->form == SweepForm::draws;
    std::vector<std::string> names{"kind", kind->holder};
    if (drawn) names.insert(names.end(), {"count", "seed"});
    names.insert(names.end(), {"exclude", "require"});
    for (const TomlEntry& entry : in_order(table)) {
      if (entry.name == "kind") continue;
      if (entry.name == kind->holder) read_held(*kind, *entry.node, out);
      else if (entry.name == "exclude") read_conditions(entry.name, *entry.node, out.exclude);
      else if (entry.name == "require") read_conditions(entry.name, *entry.node, out.require);
      else if (drawn && entry.name == "count") read_number(entry, 1, 10'000, out.count);
      else if (drawn && entry.name == "seed") read_number(entry, 0, std::numeric_limits<std::int64_t>::max(), out.seed);
      else {
        const std::string near = did_you_mean(entry.name, names);
        problem(entry.at, fmt::format("[[sweep.block]] of kind '{}' has no option '{}'{}", out.kind, entry.name,
                                      near.empty() ? "; it has " + list_in_words(names) : near));
      }
    }
    if (!table.contains(kind->holder))
      problem(table.source(),
              fmt::format("[[sweep.block]] of kind '{}' changes nothing: give it {}", out.kind, kind->holder));
    if (drawn && !table.contains("count"))
      problem(table.source(), "[[sweep.block]] of kind 'random' does not say how many arms to draw: give it count");
    return out;
  }

  void read_match(const toml::node& node, ConfigFile& out) {
    const std::vector<std::string> words{"none", "parameters", "flops", "state"};
    const auto* text = node.as_string();
    if (text && std::find(words.begin(), words.end(), text->get()) != words.end())
      out.sweep_match = Setting{text->get(), at(node.source())};
    else
      problem(node.source(), fmt::format("sweep.match is {}; it must be one of {}{}", node_in_words(node),
                                         list_in_words(words), text ? did_you_mean(text->get(), words) : ""));
  }

  void read_reference(const toml::node& node, ConfigFile& out) {
    const auto* text = node.as_string();
    if (!text || text->get().empty())
      return problem(node.source(), fmt::format("sweep.reference is {}; it must be a name for the reference, such as "
                                                "\"no positions\" (the reference itself is the file without its "
                                                "[sweep])",
                                                text ? "empty" : node_in_words(node)));
    if (const std::string wrong = wrong_text("sweep.reference", text->get()); !wrong.empty())
      return problem(node.source(), wrong);
    out.sweep_reference = Setting{text->get(), at(node.source())};
  }

  /// Reads an option's name, or a list of names.
  void read_within(const toml::node& node, ConfigFile& out) {
    out.sweep_within.emplace();
    const auto read_name = [&](const toml::node& entry) {
      const auto* text = entry.as_string();
      if (!text)
        return problem(entry.source(), fmt::format("sweep.within holds {}; it must be the name of an option, such as "
                                                   "\"task.copy.length\"",
                                                   node_in_words(entry)));
      const std::string& key = text->get();
      if (key == override_key) return problem(entry.source(), fmt::format("sweep.within {}", of_single_options));
      if (!option_of_key(key)) return problem(entry.source(), "sweep.within: " + wrong_key(key));
      if (const std::string why = not_for_arms(key); !why.empty())
        return problem(entry.source(), fmt::format("sweep.within: {}", why));
      for (const NamedOption& before : *out.sweep_within)
        if (before.key == key) return problem(entry.source(), fmt::format("sweep.within names {} twice", key));
      out.sweep_within->push_back({key, at(entry.source())});
    };
    if (const toml::array* list = node.as_array())
      for (const toml::node& entry : *list) read_name(entry);
    else read_name(node);
  }

  /// Reads the names of sources of chance.
  void read_vary(const toml::node& node, ConfigFile& out) {
    std::vector<std::string> names;
    for (const ChanceSource& source : chance_sources()) names.emplace_back(source.name);
    const toml::array* list = node.as_array();
    if (!list)
      return problem(node.source(), fmt::format("sweep.vary is {}; it must be a list of {}, such as vary = [\"init\", "
                                                "\"order\"]",
                                                node_in_words(node), list_in_words(names)));
    std::vector<std::string>& found = out.sweep_vary.emplace();
    out.sweep_vary_origin = at(node.source());
    for (const toml::node& entry : *list) {
      const auto* text = entry.as_string();
      if (!text || !find_chance_source(text->get()))
        problem(entry.source(), fmt::format("sweep.vary holds {}; its entries are {}{}", node_in_words(entry),
                                            list_in_words(names), text ? did_you_mean(text->get(), names) : ""));
      else if (std::ranges::find(found, text->get()) != found.end())
        problem(entry.source(), fmt::format("sweep.vary names {} twice", text->get()));
      else found.push_back(text->get());
    }
  }

  /// Reads vary_values or vary_fixings.
  void read_vary_number(const TomlEntry& entry, std::int64_t least, std::optional<Setting>& out) {
    constexpr std::int64_t most = 1000;
    const auto* number = entry.node->as_integer();
    if (number && number->get() >= least && number->get() <= most)
      out = Setting{Value(number->get()), at(entry.node->source())};
    else
      problem(entry.node->source(), fmt::format("sweep.{} is {}; it must be an integer from {} to {}", entry.name,
                                                node_in_words(*entry.node), least, most));
  }

  void read_tune(const toml::node& node, ConfigFile& out) {
    const toml::table* table = node.as_table();
    if (!table)
      return problem(node.source(), fmt::format("[sweep.tune] is a table, but here is {}", node_in_words(node)));
    const std::vector<std::string> names{"grid", "seeds"};
    TuneSpec tune;
    tune.origin = at(table->source());
    for (const TomlEntry& entry : in_order(*table)) {
      if (entry.name == "grid") {
        tune.axes = read_axes("sweep.tune.grid", *entry.node);
        for (const auto& [key, values] : tune.axes)
          if (key == override_key) problem(entry.at, fmt::format("sweep.tune.grid {}", of_single_options));
      } else if (entry.name == "seeds") {
        const auto seeds = read_seeds(*entry.node, "sweep.tune.seeds");
        if (const auto* wrong = std::get_if<std::string>(&seeds)) problem(entry.node->source(), *wrong);
        else tune.seeds = std::get<0>(seeds);
      } else {
        const std::string near = did_you_mean(entry.name, names);
        problem(entry.at, fmt::format("[sweep.tune] has no option '{}'{}", entry.name,
                                      near.empty() ? "; it has " + list_in_words(names) : near));
      }
    }
    out.sweep_tune = std::move(tune);
  }
};

} // namespace

std::variant<std::vector<std::int64_t>, std::string> read_seeds(const toml::node& node, std::string_view name) {
  constexpr std::string_view allowed = "a list of integers from 0 on, such as seeds = [0, 1, 2], or how many";
  std::vector<std::int64_t> out;
  if (const auto* count = node.as_integer()) {
    if (count->get() < 1 || count->get() > 1'000'000)
      return fmt::format("{} is {}; as a number it must be at least 1 and at most 1000000", name, count->get());
    for (std::int64_t i = 0; i < count->get(); ++i) out.push_back(i);
    return out;
  }
  const toml::array* list = node.as_array();
  if (!list || list->empty())
    return fmt::format("{} is {}; it must be {}", name, list ? "an empty list" : node_in_words(node), allowed);
  std::unordered_set<std::int64_t> seen;
  for (const toml::node& entry : *list) {
    const auto* seed = entry.as_integer();
    if (!seed || seed->get() < 0) return fmt::format("{} holds {}; it must be {}", name, node_in_words(entry), allowed);
    if (seed->get() > largest_seed)
      return fmt::format("{} holds {}; a seed is at most {}", name, seed->get(), largest_seed);
    if (!seen.insert(seed->get()).second)
      return fmt::format("{} holds {} twice; each seed is one replicate", name, seed->get());
    out.push_back(seed->get());
  }
  return out;
}

std::variant<std::vector<std::int64_t>, WrongNode> read_looks(const toml::node& node) {
  constexpr std::string_view allowed = "a rising list of numbers of seeds from 2 on, such as looks = [6, 10]";
  const toml::array* list = node.as_array();
  if (!list) return WrongNode{&node, fmt::format("sweep.looks is {}; it must be {}", node_in_words(node), allowed)};
  std::vector<std::int64_t> out;
  for (const toml::node& entry : *list) {
    const auto* seeds = entry.as_integer();
    if (!seeds || seeds->get() < 2)
      return WrongNode{&entry, fmt::format("sweep.looks holds {}; it must be {}", node_in_words(entry), allowed)};
    if (!out.empty() && seeds->get() <= out.back())
      return WrongNode{&entry,
                       fmt::format("sweep.looks holds {} after {}; it must be {}", seeds->get(), out.back(), allowed)};
    out.push_back(seeds->get());
  }
  return out;
}

const std::vector<std::string>& sweep_options() {
  static const std::vector<std::string> names{"seeds",  "looks", "block", "match",       "reference",
                                              "within", "tune",  "vary",  "vary_values", "vary_fixings"};
  return names;
}

void read_sweep(const toml::node& sweep, const std::string& file, int layer, Problems& problems, ConfigFile& out) {
  SweepReader reader{{file, layer, problems}};
  const toml::table* table = sweep.as_table();
  if (!table)
    return reader.problem(sweep.source(), fmt::format("[sweep] is a table, but here is {}", node_in_words(sweep)));
  for (const TomlEntry& entry : in_order(*table)) {
    if (entry.name == "seeds") {
      const auto seeds = read_seeds(*entry.node);
      if (const auto* wrong = std::get_if<std::string>(&seeds)) reader.problem(entry.node->source(), *wrong);
      else out.sweep_seeds = std::get<0>(seeds);
    } else if (entry.name == "looks") {
      auto looks = read_looks(*entry.node);
      if (const auto* wrong = std::get_if<WrongNode>(&looks)) reader.problem(wrong->node->source(), wrong->why);
      else out.sweep_looks = LookSpec{std::move(std::get<0>(looks)), reader.at(entry.node->source())};
    } else if (entry.name == "match") {
      reader.read_match(*entry.node, out);
    } else if (entry.name == "reference") {
      reader.read_reference(*entry.node, out);
    } else if (entry.name == "within") {
      reader.read_within(*entry.node, out);
    } else if (entry.name == "tune") {
      reader.read_tune(*entry.node, out);
    } else if (entry.name == "vary") {
      reader.read_vary(*entry.node, out);
    } else if (entry.name == "vary_values") {
      reader.read_vary_number(entry, 2, out.sweep_vary_values);
    } else if (entry.name == "vary_fixings") {
      reader.read_vary_number(entry, 1, out.sweep_vary_fixings);
    } else if (entry.name == "block") {
      out.sweep_blocks.emplace();
      const toml::array* list = entry.node->as_array();
      if (!list) reader.problem(entry.node->source(), "sweep.block is a list of tables: write [[sweep.block]]");
      else
        for (const toml::node& block : *list)
          if (const toml::table* t = block.as_table()) out.sweep_blocks->push_back(reader.read_block(*t));
          else reader.problem(block.source(), "sweep.block is a list of tables: write [[sweep.block]]");
    } else {
      const std::string hint = hint_for("[sweep]", entry.name),
                        near = hint.empty() ? did_you_mean(entry.name, sweep_options()) : hint;
      reader.problem(entry.at, fmt::format("[sweep] has no option '{}'{}", entry.name,
                                           near.empty() ? "; it has " + list_in_words(sweep_options()) : near));
    }
  }
}

} // namespace heed
