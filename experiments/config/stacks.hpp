// The stacks of blocks of a model, and the blocks that [[block.override]] means.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstdint>
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

} // namespace heed
