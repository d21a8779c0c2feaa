// Which choices of a block exclude each other, as data: the records of variants and parts say with what they can't be
// combined, and exclusions.cpp says it of options that all blocks have. Configurations are refused by them before a
// model is made, and so are layers.
#pragma once

#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// All exclusions. Those of a variant also have the condition that it is chosen.
const std::vector<Exclusion>& exclusions();

struct AttentionPartInfo;

/// What adds keys that have no position, before those of the row.
struct KeysWithoutPosition {
  std::string what, option;                ///< "registers", "model.registers"
  const AttentionPartInfo* part = nullptr; ///< null: no part does
};
/// Registers, then the parts of self attention that add keys.
const std::vector<KeysWithoutPosition>& keys_without_position();

/// The values of options by full name.
using ValuesByName = std::map<std::string, Value, std::less<>>;

/// Why choices can't be combined; false: they can.
struct Refusal {
  std::string why;                  ///< a sentence
  std::vector<std::string> options; ///< those that exclude each other; empty if it is about numbers
  explicit operator bool() const { return !why.empty(); }
};

/// The first exclusion that holds for a block.
/// @param is_self  self attention, and all that is not attention; or any other attention, whose score, normaliser and
///                 projection `choice` has (LayerChoice::for_cross_attention)
/// @param others   values of options outside of blocks, such as model.registers; an exclusion on an option that is not
///                 among them does not hold
Refusal excluded(const LayerChoice& choice, bool is_self, const ValuesByName& others = {});

} // namespace heed::HEED_REAL
