// Positional schemes: what tells a model where a token stands. One file each in schemes/, registered like
// scores. A scheme has vectors for tokens, or acts within attention (layers/position/relative.hpp), or does neither.
#pragma once

#include "layers/layer_options.hpp"
#include "layers/linear.hpp"
#include "layers/position/relative.hpp"
#include "options/variant.hpp"

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
  /// Does it have vectors to be added or concatenated?
  bool has_vectors;
  /// Where it has vectors. Adds its parameters to the scope. `longest` is the greatest length that the model will be
  /// trained with.
  std::unique_ptr<Position> (*make)(const Scope& scope, std::int64_t width, std::int64_t longest,
                                    const OptionValues& options);
  /// The same for one that acts within attention; null for others.
  std::unique_ptr<RelativePosition> (*make_relative)(const Scope& scope, const RelativeShape& shape,
                                                     const OptionValues& options) = nullptr;
  /// Of one that acts within attention, in plain loops, for tests: the terms of a pair, if it has any; and a query or a
  /// key of `width` numbers at a position, turned, if it turns them.
  RelativeBias (*pair)(const RelativeArguments& arguments) = nullptr;
  void (*rotate)(const Real* x, Real* rotated, std::int64_t width, std::int64_t position,
                 const OptionValues& options) = nullptr;
};

/// All registered schemes, in Meson's order (generated).
std::span<const PositionInfo* const> positions();
const PositionInfo& position_info(const std::string& name);

/// Hands a scheme that acts within attention to the blocks of a model: to each one of its own, or the same to all, as
/// [position] shared says.
class RelativePositions {
public:
  /// `scope`: the model's, where a shared scheme is named `position`.
  RelativePositions(const Scope& scope, const PositionOptions& options, const OptionValues& own_options);
  /// For the block of this scope, where a scheme of its own is named `position`; null where the scheme does not act
  /// within attention. Throws heed::Failed where blocks share a scheme and differ in shape.
  std::shared_ptr<const RelativePosition> for_block(const Scope& block, const RelativeShape& shape);

private:
  const PositionInfo* info_;
  OptionValues options_;
  std::optional<Scope> shared_scope_;
  RelativeShape shared_shape_;
  std::shared_ptr<const RelativePosition> shared_;
};

/// Puts positions to embeddings, as [position] says: added; or concatenated, and then projected back to the model's
/// width (`projection`, a linear map without bias), or not, which makes the model wider.
class PositionalEmbedding {
public:
  /// width: of the token embeddings.
  PositionalEmbedding(const Scope& scope, const PositionOptions& options, const OptionValues& own_options,
                      std::int64_t width, std::int64_t longest);

  /// x [B, T, width] to [B, T, output_width()]; the first token stands at position `first`.
  Tensor operator()(Pass& pass, const Tensor& x, std::int64_t first = 0) const;

  std::int64_t output_width() const { return output_width_; }

private:
  std::unique_ptr<Position> position_; // null: none
  bool concatenated_ = false;
  std::int64_t position_width_ = 0, output_width_ = 0;
  std::optional<Linear> projection_;
};

} // namespace heed::HEED_REAL
