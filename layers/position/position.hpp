// Positional schemes: what tells a model where a token stands. One file each in schemes/, registered like scores.
#pragma once

#include "layers/linear.hpp"
#include "layers/layer_options.hpp"
#include "layers/variant.hpp"

#include <memory>
#include <optional>
#include <span>

namespace heed::HEED_REAL {

/// A scheme that has a vector for each position.
class Position {
public:
  virtual ~Position() = default;
  /// The vectors of positions first .. first + length - 1: [length, width].
  virtual Tensor vectors(Pass& pass, std::int64_t first, std::int64_t length) const = 0;
};

struct PositionInfo {
  Variant about;
  /// Does it have vectors to be added or concatenated? `none` has not.
  bool has_vectors;
  /// Adds its parameters to the scope. `longest` is the greatest length that the model will be trained with.
  std::unique_ptr<Position> (*make)(const Scope& scope, std::int64_t width, std::int64_t longest,
                                    const OptionValues& options);
};

/// All registered schemes, in Meson's order (generated).
std::span<const PositionInfo* const> positions();
const PositionInfo& position_info(const std::string& name);

/// Puts positions to embeddings, as [position] says: added; or concatenated, and then projected back to the model's width
/// (`projection`, a linear map without bias), or not, which makes the model wider.
class PositionalEmbedding {
public:
  /// width: of the token embeddings.
  PositionalEmbedding(const Scope& scope, const PositionOptions& options, const OptionValues& own_options,
                      std::int64_t width, std::int64_t longest);

  /// x [B, T, width] to [B, T, output_width()]; the first token stands at position `first`.
  Tensor operator()(Pass& pass, const Tensor& x, std::int64_t first = 0) const;

  std::int64_t output_width() const { return output_width_; }

private:
  std::unique_ptr<Position> position_;  // null: none
  bool concatenated_ = false;
  std::int64_t position_width_ = 0, output_width_ = 0;
  std::optional<Linear> projection_;
};

} // namespace heed::HEED_REAL
