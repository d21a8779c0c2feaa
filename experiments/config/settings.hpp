// A configuration before it is resolved: values by full name ("attention.cosine.temperature"), each with the place it
// came from, merged from built-in defaults < `extends`, left to right < file < command line.
#pragma once

#include "autograd/error.hpp"
#include "options/options.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;
struct ConfigFile;
struct Variant;
struct VariantFamily;

/// Where a value was written. Shown as `file:line:column`, or `command line`, or `sweep`.
struct Origin {
  std::string file; ///< "" : built-in; "command line"; "sweep" (an arm that no file spells out)
  std::int64_t line = 0, column = 0;
  int layer = 0;            ///< values of one layer were set together; a higher layer wins
  std::string text() const; ///< "a.toml:3:1", "command line", "built-in"
};

struct Setting {
  Value value;
  Origin origin;
};

/// [[block.override]]: values that some of the blocks have instead of [block]'s and [attention]'s. By full name
/// ("block.residual", "attention.score").
struct BlockOverride {
  std::vector<std::int64_t> layers;
  std::map<std::string, Setting> values;
  Origin origin;
};

/// One `off.NAME = { "key" = value, ... }`, one point of a grid, ...: what an arm changes.
struct Change {
  std::string key;
  Value value;
  Origin origin;
};

/// Changes under one name: `off.NAME = { ... }`, `on.NAME`, `arms.NAME`. Listed arms may go without a name.
struct NamedChanges {
  std::string name;
  std::vector<Change> changes;
  Origin origin;
};

/// An option with all its values: one axis of a grid.
using Axis = std::pair<std::string, std::vector<Change>>;

/// What `random` draws an option's values from.
struct Draw {
  std::string key;
  std::string distribution;   ///< a name of `distributions()`
  std::vector<Change> values; ///< the two bounds, or the choices
  Origin origin;
};

/// [[sweep.block]] as written. `kind`: a name of `sweep_kinds()` (experiments/config/sweep_kinds.hpp).
struct SweepBlock {
  std::string kind = "grid";
  std::vector<Axis> axes;                   ///< grid, zip: each key with its values
  std::vector<NamedChanges> sets;           ///< list, leave_one_out, add_one, pairwise
  std::vector<Draw> draws;                  ///< random
  std::int64_t count = 0, seed = 0;         ///< random: how many arms, and the numbers' seed
  std::vector<std::vector<Change>> exclude; ///< left out: arms in which all of one entry holds
  std::vector<std::vector<Change>> require; ///< arms in which none of these holds are left out
  Origin origin;
};

/// [sweep.tune]: each arm tries these values with seeds of their own, and keeps the best.
struct TuneSpec {
  std::vector<Axis> axes; ///< a grid
  std::vector<std::int64_t> seeds;
  Origin origin;
};

/// An option that a file names without giving it a value.
struct NamedOption {
  std::string key;
  Origin origin;
};

/// [sweep] looks: numbers of seeds, rising, at which answers are looked at.
struct LookSpec {
  std::vector<std::int64_t> seeds; ///< none: once, when all are there
  Origin origin;
};

/// [sweep]
struct SweepSpec {
  std::vector<std::int64_t> seeds; ///< replicates; empty: the file's own seed alone
  LookSpec looks;
  std::vector<SweepBlock> blocks;
  std::string match = "none"; ///< none | parameters | flops: what the feed-forward's width evens out
  Origin match_origin;
  std::vector<NamedOption> within; ///< arms are compared among those that have the same values of these
  std::optional<TuneSpec> tune;
  bool present = false; ///< the file has a [sweep]
};

/// Thrown values: heed::Refused, with `file:line:column: what was found, what is allowed, the nearest name`.
class Settings {
public:
  /// Reads a file and all that it extends. Every key, type and bound is checked here.
  static Settings load(const std::filesystem::path& file);
  /// The same from text; `name` stands in errors.
  static Settings parse(std::string_view toml, const std::string& name);
  /// The same of what Heed wrote, a run's configuration, which somebody else may have changed: it stands by itself, so that no
  /// other file is opened, and an `extends` is a mistake.
  static Settings parse_saved(std::string_view toml, const std::string& name);

  /// `a.b=value` from the command line, read by the option's type; `a.b=@default` resets. All of one call are one
  /// layer. `sweep.seeds` can be set too.
  void override_with(const std::vector<std::string>& assignments);
  /// A sweep's arm: these changes as one layer above all others.
  Settings with(const std::vector<Change>& changes) const;

  /// All options with their values, combination checked ("no option is ever ignored", design of the layers: an option
  /// under a variant that is not chosen is an error if the same layer chose the other one, else it is dropped).
  Config resolve() const;
  /// What `resolve` drops, in words, for `heed show`.
  std::vector<std::string> dropped() const;

  const SweepSpec& sweep() const { return *sweep_; }
  /// What was set: by files, the command line or an arm. Options that have their built-in defaults are not among them.
  const std::map<std::string, Setting>& values() const { return values_; }
  /// What was set in vain, a sentence each: an option that one command line sets twice.
  const std::vector<std::string>& notes() const { return notes_; }

private:
  friend struct Resolution;
  /// The files' settings, later ones over earlier ones: tables merge, arrays replace.
  static Settings merged(std::vector<ConfigFile>&& files, int layer);
  /// `sweep.seeds=TEXT`; returns what is wrong, or nothing.
  std::string override_seeds(const std::string& text);

  std::map<std::string, Setting> values_;
  std::map<std::string, Origin> resets_;       ///< options that `@default` reset, and where
  std::vector<BlockOverride> block_overrides_; ///< of two that name the same block, the later one wins
  std::shared_ptr<const SweepSpec> sweep_ = std::make_shared<SweepSpec>(); ///< one for all arms
  std::vector<std::string> notes_;
  bool saved_ = false;    ///< of a run: options that earlier versions accepted without effect are no mistake
  std::string file_name_; ///< the file's name without its ending, for an experiment without one
  int layer_ = 0;         ///< the highest layer so far
};

/// The resolved configuration as a TOML file that resolves to the same again: every option in its table, in the order
/// of the option tables, nothing else.
std::string to_toml(const Config& config);
/// An option's full name ("block[1].dropout" where that block has its own value), and its value as TOML would write it.
struct FlatOption {
  std::string key, value;
  bool changes_results;
  /// Is it part of a run's identity? Not where it can't change a result, nor where it came later and is as it was
  /// before it was there (`Option::neutral`).
  bool identifies;
};
/// Every option that does something, in order: for differences and for a run's identity. `later`: values that count as
/// `Option::neutral`, by full name, as if these options had come later.
std::vector<FlatOption> flatten(const Config& config, const std::map<std::string, Value>& later = {});

/// The nearest of `allowed` to `word` (Damerau-Levenshtein), or "" where none is near. Also for commands.
std::string nearest(std::string_view word, const std::vector<std::string>& allowed);

/// One table of the configuration for `heed options`, the JSON Schema and the tests: "attention", "attention.cosine".
struct TableInfo {
  std::string table;
  std::string title;
  std::vector<Option> options;
  const Variant* variant = nullptr;
};
/// All families of variants, whichever room registers them.
std::vector<VariantFamily> variant_families();

} // namespace heed
