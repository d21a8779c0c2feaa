// The interface of sequence mixers, the sublayer of a block that carries information from token to token: attention, or
// a recurrence over a state. Each kind is one file in mixers/kinds/, registered like scores.
#pragma once

#include "layers/exclusions.hpp"
#include "layers/module.hpp"
#include "layers/position/relative.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace heed::HEED_REAL {

/// What a block stores between decoding steps: keys and values, or the state of a recurrence.
class MixerState {
public:
  virtual ~MixerState() = default;
  /// The number of positions seen so far.
  virtual std::int64_t length() const = 0;
  /// Sequence i becomes a copy of the earlier sequence parents[i]. The number of sequences may change.
  virtual void select(std::span<const std::int64_t> parents) = 0;
  /// How many numbers are stored for one sequence once `more` further positions are read; at least one step is done.
  virtual std::int64_t numbers(std::int64_t more) const = 0;
};

/// What a mixer, or cross attention, is made for.
struct MixerSizes {
  std::int64_t width = 0;        ///< width of the input and of the result
  std::int64_t memory_width = 0; ///< width of the encoder output that cross attention attends to; 0: no cross attention
  std::int64_t heads = 1;
  bool bias = true;                                   ///< do the projections of attention have a bias?
  std::optional<bool> output_bias{};                  ///< bias of the output projection; if not given, as `bias`
  std::shared_ptr<const RelativePosition> position{}; ///< for self attention; null: none
  std::int64_t longest = 0;     ///< upper bound on the number of keys, for parameters per key; 0: unknown
  std::int64_t trained = 0;     ///< the same in training; 0: `longest`
  std::int64_t layer = 0;       ///< the index of the block
  std::int64_t layers = 1;      ///< the number of blocks in its stack
  bool shared_layers = false;   ///< do all blocks have the parameters of the first one?
  bool hands_on_values = false; ///< are the values of attention stored for later blocks?
  /// For formulas of cross attention: upper bound on the number of queries; 0: as many as keys
  std::int64_t longest_queries = 0;
  std::int64_t patches_in_row = 0; ///< for formulas: the number of patches in a row of an image; 0: no patches
  /// The first positions of each sequence, which have no position in the sense of positional schemes and which every
  /// query sees. A mask's lengths, prefix and offset do not count them.
  std::int64_t registers = 0;
};

/// The sublayer of a block that carries information from token to token.
class Mixer {
public:
  virtual ~Mixer() = default;
  /// x [B, T, width]. `first_values` is V_1 of these positions, [B, T, values_width()]: with MixerSizes::
  /// hands_on_values, V_1 is written to it (copied if it has memory already); parts of attention that use it read it.
  /// Otherwise it may be null.
  virtual Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values = nullptr) const = 0;
  /// For decoding: x [B, n, width] are the positions after those that `past` has seen. `past` is extended by x, and is
  /// created if it is null. The mask's offset is set here. If `serves_steps`, the result equals that for the whole
  /// sequence at these positions.
  virtual Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
                      Tensor* first_values = nullptr) const = 0;
  /// True if no position reads a later one.
  virtual bool serves_steps() const = 0;
  /// The width of the projected values of all heads, which attention hands on.
  virtual std::int64_t values_width() const { return 0; }
};

/// The shape of the values of a token.
struct ValuesShape {
  std::int64_t heads = 0, width = 0; ///< width: of a head
  bool operator==(const ValuesShape&) const = default;
};

struct MixerInfo {
  Variant about;
  /// Adds the mixer's parameters to the scope. `output_init` initialises its last projection.
  RequiredFunction<std::unique_ptr<Mixer>(const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes,
                                          const InitRule& output_init)>
      make;
  /// Why there is no mixer with these choices and sizes. `others`: the values of options outside of blocks.
  RequiredFunction<Refusal(const LayerChoice& choice, const MixerSizes& sizes, const ValuesByName& others)> refusal_of;
  /// The values that the first block of a stack hands on to later ones. Null: it can't.
  ValuesShape (*shape_of_values)(const LayerChoice& choice, const MixerSizes& sizes) = nullptr;
  /// Does the mixer itself, not a part of it, use them in this block? Null: it does not.
  bool (*uses_first_values)(const LayerChoice& choice, std::int64_t layer) = nullptr;
};

/// All registered mixers, in Meson's order (generated).
std::span<const MixerInfo* const> mixers();
const MixerInfo& mixer_info(const std::string& name);

/// Does the block have self attention? Otherwise it has a recurrence.
bool has_attention(const LayerChoice& choice);

} // namespace heed::HEED_REAL
