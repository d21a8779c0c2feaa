// The interface of decays: how much of a recurrence's state each token keeps. Each form is one file in decays/,
// registered like scores.
#pragma once

#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// What a decay makes of some tokens.
struct Decayed {
  /// The logarithm of the decay, at most 0: [B, heads, T, width or 1], or [1, heads, 1, 1] for one that is the same at
  /// every token. No tape: the state does not decay.
  Tensor log_decay{};
  Tensor step{}; ///< [B, heads, T, 1]: the step of a discretised differential equation; no tape: there is none
};

/// A form of decay with its parameters.
class Decay {
public:
  virtual ~Decay() = default;
  /// x [B, T, model width]: the mixer's input.
  virtual Decayed operator()(Pass& pass, const Tensor& x) const = 0;
};

struct DecaySizes {
  std::int64_t model_width = 0;
  std::int64_t heads = 1, width = 0; ///< width: of a head's keys, after the feature map
  std::int64_t value_width = 0;      ///< of a head
  std::int64_t layer = 0, layers = 1;
};

/// One token in plain loops, as the tests' reference.
struct DecayRow {
  std::vector<double> log_decay; ///< [heads * width]
  std::vector<double> step;      ///< [heads]; empty: there is none
};

struct DecayInfo {
  Variant about;
  RequiredFunction<std::unique_ptr<Decay>(const Scope& scope, const DecaySizes& sizes, const OptionValues& options)>
      make;
  /// `parameters`: the form's own, in the order in which it added them.
  RequiredFunction<DecayRow(const Real* x, const DecaySizes& sizes, const std::vector<const Real*>& parameters,
                            const OptionValues& options)>
      row;
  /// Does it decay each channel by itself, with these options? Null: never.
  bool (*is_by_channel)(const OptionValues& options) = nullptr;
  bool has_step = false; ///< unless it is by channel
};

/// All registered forms, in Meson's order (generated).
std::span<const DecayInfo* const> decays();
const DecayInfo& decay_info(const std::string& name);

} // namespace heed::HEED_REAL
