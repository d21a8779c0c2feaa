// A configuration before it is resolved: values by full name ("attention.cosine.temperature"), each with its origin.
// They are merged in increasing priority: built-in defaults, `extends` from left to right, the file, the command line.
#pragma once

#include "autograd/error.hpp"
#include "options/options.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class Problems;

struct Config;
struct Resolution;
struct ConfigFile;
struct Variant;
struct VariantFamily;

/// Whether a place is no file, so that positions in it have no lines: "command line", "overrides".
bool is_without_lines(std::string_view place);

/// The position where a value was written. It is shown as `file:line:column`, `command line` or `sweep`.
struct Origin {
  std::string file; ///< "": built-in; "command line"; "sweep": an arm that no file spells out
  std::int64_t line = 0, column = 0;
  int layer = 0;            ///< values of one layer were set together; a higher layer wins
  std::string text() const; ///< "a.toml:3:1", "command line", "built-in"
};

struct Setting {
  Value value;
  Origin origin;
};

/// [[block.override]]: values that replace those of [block], [attention] and [position] in some blocks, by full name
/// ("block.residual", "attention.score").
struct BlockOverride {
  /// The numbers of the blocks; empty: all blocks of the stack
  std::vector<std::int64_t> layers;
  /// In place of `layers`: of the blocks from `from` to `to`, each `every`-th one; `to` below 0: the last one
  std::int64_t every = 1, from = 0, to = -1;
  /// The stack whose blocks are meant: "encoder" or "decoder". Empty: those of the model, or of both stacks
  std::string stack;
  std::map<std::string, Setting> values;
  Origin origin;
  /// "block[3].mixer.kind", where such a key sets the only value; empty: an entry of [[block.override]]
  std::string key;
};

/// A change that an arm makes: one `"key" = value` of `off.NAME = { ... }`, one value of a grid's axis, etc. The key is
/// an option's full name, "block[3].mixer.kind" for an option of a single block, or "block.override".
struct Change {
  std::string key;
  Value value; ///< of "block.override": the list in words
  Origin origin;
  std::vector<BlockOverride> overrides = {}; ///< of "block.override"
};

/// Changes under one name: `off.NAME = { ... }`, `on.NAME`, `arms.NAME`. Listed arms may have no name.
struct NamedChanges {
  std::string name;
  std::vector<Change> changes;
  Origin origin;
};

/// An option with a list of values: one axis of a grid.
using Axis = std::pair<std::string, std::vector<Change>>;

/// The distribution from which a `random` block draws the values of an option.
struct Draw {
  std::string key;
  std::string distribution;   ///< a name of `distributions()`
  std::vector<Change> values; ///< the two bounds, or the choices
  Origin origin;
};

/// [[sweep.block]] as written. `kind`: a name of `sweep_kinds()` (experiments/config/sweep_blocks.hpp).
struct SweepBlock {
  std::string kind = "grid";
  std::vector<Axis> axes;                   ///< grid, zip: each key with its values
  std::vector<NamedChanges> sets;           ///< list, leave_one_out, add_one, pairwise
  std::vector<Draw> draws;                  ///< random
  std::int64_t count = 0, seed = 0;         ///< random: the number of arms, and the seed of the draws
  std::vector<std::vector<Change>> exclude; ///< an arm that matches every value of any entry is dropped
  std::vector<std::vector<Change>> require; ///< if not empty: an arm that matches none of these entries is dropped
  Origin origin;
};

/// [sweep.tune]: each arm tries these values on separate seeds and uses the best.
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

/// [sweep] looks: increasing numbers of seeds at which the answers are analysed.
struct LookSpec {
  std::vector<std::int64_t> seeds; ///< empty: one analysis, with all seeds
  Origin origin;
};

/// [sweep] vary: the sources of chance whose variance is measured, with vary_values and vary_fixings.
struct VarySpec {
  std::vector<std::string> sources; ///< names of `chance_sources()`; empty: none
  std::int64_t values = 6;          ///< of each source in each fixing
  std::int64_t fixings = 3;
  Origin origin;                         ///< of the sources
  std::optional<Origin> of_values = {};  ///< if the file gives them
  std::optional<Origin> of_fixings = {}; ///< likewise
};

/// [sweep]
struct SweepSpec {
  std::vector<std::int64_t> seeds; ///< replicates; empty: only the file's own seed
  LookSpec looks;
  std::vector<SweepBlock> blocks;
  /// none | parameters | flops | state: the quantity that a width matches across arms
  std::string match = "none";
  Origin match_origin;
  std::string reference;           ///< what reports call the reference; empty: by the options that arms change
  std::vector<NamedOption> within; ///< arms are only compared with arms that have the same values of these options
  std::optional<TuneSpec> tune;
  VarySpec vary;
  bool present = false; ///< true if the file has a [sweep]
};

/// The settings of a configuration or a sweep. Errors are thrown as heed::Refused, with the text `file:line:column:
/// what was found, what is allowed, the nearest name`.
class Settings {
public:
  /// Reads a file and all files that it extends. Checks every key, type and bound.
  static Settings load(const std::filesystem::path& file);
  /// Like `load`, but from text. Error messages contain `name`.
  static Settings parse(std::string_view toml, const std::string& name);
  /// Like `parse`, but for the configuration that Heed saved with a run, which somebody may have edited. It must be
  /// self-contained: no other file is opened, and an `extends` is an error.
  static Settings parse_saved(std::string_view toml, const std::string& name);

  /// The run that [train] start names: its full ID, and its checksum ([train] start_checksum).
  struct Start {
    std::string id, checksum;
  };
  /// Gives each run that starts from another ([train] start) the full ID and the checksum of the other: in files, on
  /// the command line and in the arms of a sweep. `find` gets the ID as written, or its beginning. If it throws
  /// heed::Refused, the place of the option is added.
  void use_starts(const std::function<Start(const std::string& run)>& find);

  /// Applies `a.b=value` from the command line, read by the option's type; `a.b=@default` resets an option. All
  /// assignments of one call are one layer. Options of [sweep] can be set, too.
  /// @param where  what gives them, for messages
  void override_with(const std::vector<std::string>& assignments, const std::string& where = "command line");
  /// The settings of one arm: these changes are one layer above all others.
  Settings with(const std::vector<Change>& changes) const;

  /// All options with their values, after the combination is checked. No option is ever silently ignored: an option of
  /// a variant that is not chosen is an error if the same layer chose the other variant; otherwise it is dropped.
  Config resolve() const;
  /// The same for a caller that makes only a part of a model: whether the whole model can be made is not checked.
  Config resolve_for_part() const;
  /// The settings that `resolve` drops, as sentences for `heed show`.
  std::vector<std::string> dropped() const;

  const SweepSpec& sweep() const { return *sweep_; }
  /// [report.label]: texts by the name of a metric or an arm. They are not part of a Config, so no run depends on them.
  const std::map<std::string, Setting>& report_labels() const { return report_labels_; }
  /// The values that files, the command line or an arm set. Options with their built-in defaults are not included.
  const std::map<std::string, Setting>& values() const { return values_; }
  /// Settings without effect, one sentence each: an option that one command line sets twice.
  const std::vector<std::string>& notes() const { return notes_; }

private:
  Config resolve(const Resolution& resolution) const;
  friend struct Resolution;
  /// Merges the settings of files; later files have priority. Tables are merged, arrays are replaced.
  static Settings merged(std::vector<ConfigFile>&& files, int layer);
  /// Applies `sweep.seeds=TEXT`. Returns the error, or an empty text.
  std::string override_seeds(const std::string& text);
  std::string override_looks(const std::string& text, const Origin& origin);
  /// Applies another option of [sweep]: `sweep.block=[{...}]`, in the syntax of TOML.
  void override_sweep(const std::string& option, const std::string& text, const Origin& origin, Problems& problems);
  /// Applies `report.label.NAME=TEXT`. NAME may be in quotes, and must be if it contains "=". Returns the error, or an
  /// empty text.
  std::string override_label(const std::string& assignment, const Origin& origin);

  std::map<std::string, Setting> values_;
  std::map<std::string, Origin> resets_;       ///< options that `@default` reset, with the place of the reset
  std::vector<BlockOverride> block_overrides_; ///< if two overrides name the same block, the later one has priority
  std::shared_ptr<const SweepSpec> sweep_ = std::make_shared<SweepSpec>(); ///< shared by all arms
  std::map<std::string, Setting> report_labels_;
  std::vector<std::string> notes_;
  std::map<std::string, std::string> start_checksums_; ///< by the ID of a run that others start from
  std::string file_name_; ///< the file's name without extension; used as the name of an unnamed experiment
  int layer_ = 0;         ///< the highest layer in use
};

/// The resolved configuration as a TOML file that resolves to the same configuration. It contains exactly all options,
/// each in its table, in the order of the option tables.
std::string to_toml(const Config& config);
inline constexpr std::string_view seed_key = "seed";

/// An option's full name, and its value in TOML syntax. The name is "block[1].dropout" if the block has its own value,
/// and "block[decoder.1].dropout" if block 1 of the decoder has another value than block 1 of the encoder.
struct FlatOption {
  std::string key, value;
  bool changes_results;
  /// True if a run's ID depends on the option: it can change a result, and its value is not the default, or it is the
  /// seed. So an option that a later version adds leaves the IDs of runs without it, and a default that changes needs a
  /// new version of the numerics (experiments/config/config.hpp).
  bool identifies;
  std::string_view option; ///< the option's full name, also for a block's own value
};
/// All options that have an effect, in order, for differences and for a run's identity.
std::vector<FlatOption> flatten(const Config& config);

/// The word of `allowed` that is nearest to `word` (Damerau-Levenshtein distance), or "" if none is near. Commands use
/// it too.
std::string nearest(std::string_view word, const std::vector<std::string>& allowed);

/// One table of the configuration for `heed options`, the JSON Schema and the tests: "attention", "attention.cosine".
struct TableInfo {
  std::string table;
  std::string title;
  std::vector<Option> options;
  const Variant* variant = nullptr;
};
/// All families of variants, from all modules that register them.
std::vector<VariantFamily> variant_families();

} // namespace heed
