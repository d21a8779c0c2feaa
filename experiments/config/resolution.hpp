// From settings to a configuration: determines the value of each option for each block, finds settings that have no
// effect, and checks that the combination is valid. The stacks of blocks of a model, and the blocks that
// [[block.override]] means.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "experiments/config/problems.hpp"
#include "experiments/config/settings.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A stack of blocks with options of their own.
struct Stack {
  std::string name;        ///< "encoder" or "decoder"; empty if the model has no blocks
  std::int64_t blocks = 1; ///< their number; 1 if the model has no blocks
  std::string count_key;   ///< the option that determines the number
};

/// A model's stacks. Blocks of the second stack are configured as those of the first with the same number, unless an
/// override names the second stack. If the second stack is longer, its further blocks are configured as the first
/// stack's last block.
struct Stacks {
  std::vector<Stack> all;

  bool has(std::string_view name) const;
  /// True if the override changes this block of stack `stack`.
  bool means(const BlockOverride& override, std::size_t stack, std::int64_t block) const;
  /// True if the override changes some block.
  bool means_any(const BlockOverride& override) const;
  /// The numbers that the override gives and that no block has.
  std::vector<std::int64_t> missing(const BlockOverride& override) const;
  /// The stack whose numbers the override uses: the named one, or the first one.
  const Stack& counted(const BlockOverride& override) const;
  /// False if the blocks of this stack do not read the option: only a decoder has cross attention.
  bool reads(std::size_t stack, std::string_view key) const;
};

/// The value of every option with its origin, for the whole run or for one block.
struct View : OfOptions<Setting> {
  std::map<std::string, Setting> parameters; ///< the settings of formula parameters, by full name
};

inline ValueOf values_of(const View& view) {
  return [&view](std::size_t option) -> const Value& { return view[option].value; };
}
/// The formulas of a view that have an effect.
FormulaTexts formula_texts(const View& view);

/// Is the block's mixer a recurrence?
bool is_recurrence(const View& block);
/// Does the block begin anew with each segment, as recurrences, convolutions and selections of keys do?
bool acts_by_segments(const View& block);

struct Resolution {
  explicit Resolution(const Settings& settings);

  View run;      ///< the whole run; [attention], [block] and [position] are without overrides
  Stacks stacks; ///< the model's stacks of blocks; one of one block if it has no blocks
  /// By stack: the views of its blocks, with overrides applied
  std::vector<std::vector<View>> blocks;
  std::vector<std::string> dropped; ///< settings that have no effect because a later layer chose otherwise
  Problems problems;

  /// The views that decide whether an option of the whole run has an effect: in some block.
  std::vector<const View*> deciding_views() const;
  /// Throws heed::RefusedConfig if no model of this configuration, which is the resolution's, can be made.
  void refuse_wrong_choice(const Config& config) const;
  /// True if a formula of some block uses segments, or a block has a recurrence, which begins anew with each.
  bool uses_segments() const;

private:
  View view(const std::map<std::string, Setting>& set) const;
  View block_view(std::size_t stack, std::int64_t block) const;
  /// Why an override of [position] has no effect, because the whole run's scheme adds to the token embeddings; else
  /// empty.
  std::string refuses_positions() const;
  void check_override(const BlockOverride& override);
  void find_idle_settings();
  template <class F> void each_block(const F& call) const {
    for (const std::vector<View>& stack : blocks)
      for (const View& block : stack) call(block);
  }
  void check_combinations();
  void check_formulas();

  const Settings& settings_;
};

/// "model.width is 64 (a.toml:3:1)".
std::string shown(const View& view, const std::string& key);

/// Stores the views' values in the structs of Config. An option that has no effect gets its default.
Config resolved_config(const Resolution& resolution);

} // namespace heed
