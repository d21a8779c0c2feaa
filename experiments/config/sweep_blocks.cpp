#include "experiments/config/sweep_blocks.hpp"

#include "autograd/rng.hpp"
#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <xxhash.h>

namespace heed {
namespace {

std::vector<Candidate> expand_grid(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (auto& changes : combinations(block.axes, block.origin)) out.push_back({std::move(changes), "", block.origin});
  return out;
}

std::vector<Candidate> expand_zip(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const auto& [key, values] : block.axes) {
    out.resize(values.size(), Candidate{{}, "", block.origin});
    for (std::size_t i = 0; i < values.size(); ++i) out[i].changes.push_back(values.at(i));
  }
  return out;
}

std::vector<Candidate> expand_list(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const NamedChanges& arm : block.sets) out.push_back({arm.changes, spaced(arm.name), arm.origin});
  return out;
}

std::vector<Candidate> each_set(const SweepBlock& block, const std::string& word) {
  std::vector<Candidate> out;
  for (const NamedChanges& set : block.sets) out.push_back({set.changes, word + " " + spaced(set.name), set.origin});
  return out;
}

std::vector<Candidate> expand_leave_one_out(const SweepBlock& block) { return each_set(block, "without"); }

std::vector<Candidate> expand_add_one(const SweepBlock& block) { return each_set(block, "with"); }

/// Both sets of changes together. An option in both must have the same value.
Candidate together(const NamedChanges& a, const NamedChanges& b) {
  Candidate out{a.changes, fmt::format("without {} and {}", spaced(a.name), spaced(b.name)), b.origin};
  for (const Change& change : b.changes) {
    const auto same = std::find_if(a.changes.begin(), a.changes.end(),
                                   [&](const Change& other) { return other.key == change.key; });
    if (same == a.changes.end()) out.changes.push_back(change);
    else if (same->value != change.value)
      throw Refused(fmt::format("{}: off.{} and off.{} both set {}, to different values, so they can't be ablated "
                                "together; put one of them into a block of its own (kind = \"leave_one_out\")",
                                change.origin.text(), a.name, b.name, change.key));
  }
  return out;
}

std::vector<Candidate> expand_pairwise(const SweepBlock& block) {
  std::vector<Candidate> out = expand_leave_one_out(block);
  for (std::size_t i = 0; i < block.sets.size(); ++i)
    for (std::size_t j = i + 1; j < block.sets.size(); ++j) out.push_back(together(block.sets[i], block.sets[j]));
  return out;
}

std::vector<Candidate> expand_random(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (std::int64_t i = 0; i < block.count; ++i) {
    Candidate candidate{{}, "", block.origin};
    for (const Draw& draw : block.draws)
      candidate.changes.push_back({draw.key, drawn_value(draw, block.seed, i), draw.origin});
    out.push_back(std::move(candidate));
  }
  return out;
}

/// The number; empty if the value is not a number.
std::optional<double> number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* either = std::get_if<WordOrNumber>(&value); either && either->word.empty()) return either->number;
  return std::nullopt;
}

std::string wrong_bounds(const Draw& draw) {
  if (draw.values.size() != 2)
    return fmt::format("it has {} values; it takes two, the smallest and the largest", draw.values.size());
  const auto low = number(draw.values[0].value), high = number(draw.values[1].value);
  if (!low || !high) return "its bounds must be numbers";
  if (!(*low < *high)) return fmt::format("the smallest, {}, must be below the largest, {}", *low, *high);
  return "";
}

std::string wrong_reals(const Option& option, const Draw& draw) {
  if (option.type != OptionType::real && option.type != OptionType::word_or_number)
    return fmt::format("it draws real numbers, but {} is {}; use {}", draw.key, type_in_words(option),
                       option.type == OptionType::integer ? "int_uniform or choice" : "choice");
  return wrong_bounds(draw);
}

std::string wrong_logarithms(const Option& option, const Draw& draw) {
  if (std::string wrong = wrong_reals(option, draw); !wrong.empty()) return wrong;
  return *number(draw.values[0].value) > 0
             ? ""
             : "the smallest must be above 0, because the draws are uniform in the logarithm";
}

std::string wrong_integers(const Option& option, const Draw& draw) {
  if (option.type != OptionType::integer)
    return fmt::format("it draws integers, but {} is {}", draw.key, type_in_words(option));
  return wrong_bounds(draw);
}

std::string wrong_choice(const Option&, const Draw&) { return ""; }

/// `x` rounded to four significant digits, with the type of the bounds.
Value rounded(double x, const std::vector<Change>& bounds) {
  x = std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr);
  x = std::clamp(x, *number(bounds[0].value), *number(bounds[1].value));
  if (std::holds_alternative<WordOrNumber>(bounds[0].value)) return WordOrNumber{"", x};
  return x;
}

Value draw_uniform(const std::vector<Change>& bounds, std::uint64_t bits) {
  const double low = *number(bounds[0].value), high = *number(bounds[1].value);
  return rounded(low + (high - low) * unit_interval(bits), bounds);
}

Value draw_logarithm(const std::vector<Change>& bounds, std::uint64_t bits) {
  const double low = *number(bounds[0].value), high = *number(bounds[1].value);
  return rounded(low * std::exp(std::log(high / low) * unit_interval(bits)), bounds);
}

Value draw_integer(const std::vector<Change>& bounds, std::uint64_t bits) {
  const auto low = std::get<std::int64_t>(bounds[0].value), high = std::get<std::int64_t>(bounds[1].value);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return low + static_cast<std::int64_t>(scaled_below(bits, span));
}

Value draw_choice(const std::vector<Change>& choices, std::uint64_t bits) {
  return choices[scaled_below(bits, choices.size())].value;
}

} // namespace

const std::vector<SweepKind>& sweep_kinds() {
  static const std::vector<SweepKind> all{
      {"grid", "every combination of the values", "grid", SweepForm::crossed, "", expand_grid},
      {"zip", "one arm of the first values, one of the second values, and so on", "zip", SweepForm::paired, "",
       expand_zip},
      {"list", "these arms", "arms", SweepForm::arms, "each arm", expand_list},
      {"random", "values drawn from distributions", "random", SweepForm::draws, "", expand_random},
      {"leave_one_out", "each ablation by itself", "off", SweepForm::sets, "each ablation", expand_leave_one_out},
      {"add_one", "each addition by itself", "on", SweepForm::sets, "each addition", expand_add_one},
      {"pairwise", "each ablation by itself, and every pair of ablations together", "off", SweepForm::sets,
       "each ablation", expand_pairwise},
  };
  return all;
}

std::vector<std::vector<Change>> combinations(const std::vector<Axis>& axes, const Origin& origin) {
  std::size_t count = 1;
  for (const auto& [key, values] : axes)
    if (__builtin_mul_overflow(count, values.size(), &count) || count > most_arms)
      throw Refused(fmt::format("{}: this grid has more than {} combinations; make it several blocks", origin.text(),
                                most_arms));
  std::vector<std::vector<Change>> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      out[i].insert(out[i].begin(), axis->second[rest % axis->second.size()]);
      rest /= axis->second.size();
    }
  }
  return out;
}

std::vector<Candidate> expand(const SweepBlock& block) {
  for (const SweepKind& kind : sweep_kinds())
    if (kind.name == block.kind) return kind.expand(block);
  throw Refused(fmt::format("{}: there is no kind of block '{}'", block.origin.text(), block.kind));
}

std::string not_for_arms(std::string_view key) {
  if (key == "seed") return "a sweep's arm cannot change seed: seeds are replicates, so list them in sweep.seeds";
  const Option* option = option_of_key(key);
  if (option && !option->changes_results)
    return fmt::format("a sweep's arm cannot change {}: it is not part of a run's identity", key);
  return "";
}

namespace {
/// Stands for "block.override", whose values are lists of tables.
const Option& overrides_option() {
  static const Option option("override", "Options of some blocks.", OptionType::text);
  return option;
}

/// True if the names in the table continue the key of a block: { "block[3]" = { mixer.kind = ... } }.
bool begins_block_key(std::string_view key, const toml::table& within) {
  return names_block(key) && !within.empty() && !option_of_key(key);
}
} // namespace

void SweepChanges::each_option(const toml::table& table, const std::string& prefix, const Use& use) {
  for (const TomlEntry& entry : in_order(table)) {
    const std::string key = full_name(prefix, entry.name);
    const toml::table* within = entry.node->as_table();
    if (key == "sweep" || key.starts_with("sweep.") || key == "extends" || key.starts_with("block.override."))
      problem(entry.at, fmt::format("a sweep's arm cannot change {}", key));
    else if (key == override_key) use(key, overrides_option(), entry);
    else if (within && (find_table(key) || key == formula_parameters_key || begins_block_key(key, *within)))
      each_option(*within, key, use);
    else if (const Option* option = option_of_key(key)) {
      if (const std::string why = not_for_arms(key); !why.empty()) problem(entry.at, why);
      else use(key, *option, entry);
    } else problem(entry.at, wrong_key(key));
  }
}

void SweepChanges::add_change(const std::string& key, const Option& option, const toml::node& node,
                              const toml::source_region& place, std::vector<Change>& out) {
  if (key == override_key) {
    constexpr std::string_view list = "[{ every = 4, \"mixer.kind\" = \"attention\" }]";
    std::vector<BlockOverride> overrides = read_overrides(node, file, layer, list, problems);
    std::string words = in_words(overrides);
    out.push_back({key, std::move(words), at(place), std::move(overrides)});
    return;
  }
  ReadValue read = read_node(option, key, node);
  if (read.value) out.push_back({key, *read.value, at(place)});
  else problem(node.source(), read.problem);
}

std::vector<Change> SweepChanges::read_changes(const toml::table& table) {
  std::vector<Change> out;
  each_option(table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
    add_change(key, option, *entry.node, entry.at, out);
  });
  return out;
}

std::vector<Axis> SweepChanges::read_axes(const std::string& name, const toml::node& node) {
  std::vector<Axis> out;
  const toml::table* table = node.as_table();
  if (!table || table->empty()) {
    problem(node.source(), fmt::format("{} is {}; it must be a table of options and their values, such as {} = "
                                       "{{ \"attention.score\" = [\"dot\", \"scaled_dot\"] }}",
                                       name, table ? "empty" : node_in_words(node), name));
    return out;
  }
  each_option(*table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
    const toml::array* list = entry.node->as_array();
    if (!list || list->empty())
      return problem(entry.node->source(), fmt::format("{} gives {} {}; it must be a list of the values to try", name,
                                                       key, list ? "no values" : node_in_words(*entry.node)));
    std::vector<Change> values;
    for (const toml::node& value : *list) add_change(key, option, value, value.source(), values);
    out.emplace_back(key, std::move(values));
  });
  return out;
}

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all{
      {"uniform", "two numbers, the smallest and the largest", wrong_reals, draw_uniform},
      {"log_uniform", "two numbers above 0, the smallest and the largest", wrong_logarithms, draw_logarithm},
      {"int_uniform", "two integers, the smallest and the largest", wrong_integers, draw_integer},
      {"choice", "a list of values", wrong_choice, draw_choice},
  };
  return all;
}

const Distribution* find_distribution(std::string_view name) {
  for (const Distribution& distribution : distributions())
    if (distribution.name == name) return &distribution;
  return nullptr;
}

Value drawn_value(const Draw& draw, std::int64_t seed, std::int64_t index) {
  // The step of a RandomKey has 48 bits
  const std::uint64_t option = XXH3_64bits(draw.key.data(), draw.key.size()) >> 16;
  const RandomKey key{static_cast<std::uint64_t>(seed), Stream::sweep, option};
  const RandomBlock block = random_block(key, static_cast<std::uint64_t>(index));
  return find_distribution(draw.distribution)->draw(draw.values, first_64_bits(block));
}

} // namespace heed
