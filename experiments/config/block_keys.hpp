// Options of single blocks by a key: "block[3].mixer.kind", "block[decoder.0].norm". The command line and the arms of a
// sweep set them above [[block.override]], and results name them. The options that an arm's "block.override" has.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heed {

/// The list of overrides: [[block.override]] in a file, "block.override" in an arm.
inline constexpr std::string_view override_key = "block.override";

/// "block[decoder.0].norm"
struct BlockKey {
  std::string stack; ///< "encoder" or "decoder"; empty: as in BlockOverride
  std::int64_t block = 0;
  std::string option; ///< full name: "block.norm"
};

/// True for a key that begins as one of a single block does.
inline bool names_block(std::string_view key) { return key.starts_with("block["); }

/// The parts of a key for which `names_block` holds, or what is wrong with it, with how to mend it.
std::variant<BlockKey, std::string> read_block_key(std::string_view key);

/// The option that a key names, in the whole model or in a single block; null if there is none.
const Option* option_of_key(std::string_view key);
/// The message for a key that names no option.
std::string wrong_key(std::string_view key);

/// The name of a block's option within [[block.override]] and after "block[3].": without "block.".
std::string name_in_block(std::string_view option);
/// "block 3: ", "decoder block 0: "
std::string block_in_words(const BlockKey& key);

/// Sets an option of a block above the overrides so far. Replaces an earlier value of the same key.
void set_in_block(std::vector<BlockOverride>& overrides, std::string_view key, const Setting& setting);
/// Replaces the entries of [[block.override]], and sets this layer for the new ones. Keys of lower layers keep their
/// values, below the new entries.
void replace_overrides(std::vector<BlockOverride>& overrides, std::vector<BlockOverride> with, int layer);

/// "every 4th: mixer = attention; blocks 0, 1: norm = post". Different lists have different words.
std::string in_words(const std::vector<BlockOverride>& overrides);

/// Adds the values that single blocks have, by the keys that name them, in TOML syntax, and removes those that have no
/// effect there. Other keys are left as they are.
void add_block_values(const Config& config, const std::vector<std::string>& keys,
                      std::map<std::string, std::string>& flat);

} // namespace heed
