// Positional schemes: their interface, the registry, and the layers that apply them. Each scheme is one file in
// schemes/, registered like scores. A scheme has a vector for each position, or acts within attention
// (layers/position/relative.hpp), or is a part of attention that reads the tokens (layers/attention/part.hpp), or none
// of these. Sequences may begin with vectors without a position: learned keys,
// or register tokens.
#pragma once

#include "layers/layer_options.hpp"
#include "layers/linear.hpp"
#include "layers/position/relative.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

class AttentionPart;
struct PartSequence;
struct PartSizes;

/// A scheme with a vector for each position.
class Position {
public:
  virtual ~Position() = default;
  /// The vectors of positions first .. first + length - 1: [length, width].
  virtual Tensor vectors(Pass& pass, std::int64_t first, std::int64_t length) const = 0;
};

struct PositionInfo {
  Variant about;
  /// Does it have vectors, which are added to the embeddings or concatenated with them?
  bool has_vectors;
  /// Makes a scheme with vectors and adds its parameters to the scope. `longest` is the greatest length in training.
  std::unique_ptr<Position> (*make)(const Scope& scope, std::int64_t width, std::int64_t longest,
                                    const OptionValues& options);
  /// Makes a scheme that acts within attention; null for others.
  std::unique_ptr<RelativePosition> (*make_relative)(const Scope& scope, const RelativeSizes& sizes,
                                                     const OptionValues& options) = nullptr;
  /// Reference implementations in plain loops, for tests, of schemes that act within attention. `pair`: the bias of a
  /// pair, if the scheme has one. `rotate`: a query or key of `width` values, rotated for its position, if the scheme
  /// rotates.
  RelativeBias (*pair)(const RelativeArguments& arguments) = nullptr;
  void (*rotate)(const RotationArguments& arguments, Real* rotated) = nullptr;
  /// Why a scheme that acts within attention can't be made for these sizes, as a sentence; empty: it can. Null: it
  /// always can.
  std::string (*wrong_sizes)(const RelativeSizes& sizes, const OptionValues& options) = nullptr;
  /// Makes a scheme that is a part of multi-head self attention, because it reads the tokens; null for others.
  std::unique_ptr<AttentionPart> (*make_part)(const Scope& scope, const PartSizes& sizes,
                                              const OptionValues& options) = nullptr;
  /// Of such a scheme, for tests: what takes the place of the product of query i and key j in a head, in plain loops.
  /// Heads count maps.
  double (*product)(const PartSequence& sequence, std::int64_t head, std::int64_t i, std::int64_t j) = nullptr;
};

/// All registered schemes, in Meson's order (generated).
std::span<const PositionInfo* const> positions();
const PositionInfo& position_info(const std::string& name);

/// Gives the blocks of a stack their schemes that act within attention: one instance for each block, or, as [position]
/// shared says, one for all blocks with the same scheme and the same options.
class RelativePositions {
public:
  /// `scope`: the stack's scope. Shared schemes are named `position`, `position_2`, ... in it.
  explicit RelativePositions(const Scope& scope) : scope_(scope) {}
  /// The scheme for the block with this scope; the block's own scheme is named `position` in it. Null if the scheme
  /// does not act within attention. Blocks that share a scheme must have equal sizes.
  std::shared_ptr<const RelativePosition> for_block(const Scope& block, const PositionOptions& options,
                                                    const OptionValues& own_options, const RelativeSizes& sizes);

private:
  struct Shared {
    std::string kind;
    OptionValues options;
    RelativeSizes sizes;
    std::shared_ptr<const RelativePosition> scheme;
  };
  Scope scope_;
  std::vector<Shared> shared_;
};

/// Combines positions with token embeddings, as [position] says. The position vectors are added; or concatenated and
/// projected back to the model's width (`projection`, a linear map without bias); or only concatenated, which makes the
/// model wider.
class PositionalEmbedding {
public:
  /// width: the width of the token embeddings.
  PositionalEmbedding(const Scope& scope, const PositionOptions& options, const OptionValues& own_options,
                      std::int64_t width, std::int64_t longest);

  /// x [B, T, width] to [B, T, output_width()]; the first token has the position `first`.
  Tensor operator()(Pass& pass, const Tensor& x, std::int64_t first = 0) const;

  std::int64_t output_width() const { return output_width_; }

private:
  std::unique_ptr<Position> position_; // null: none
  bool concatenated_ = false;
  std::int64_t position_width_ = 0, output_width_ = 0;
  std::optional<Linear> projection_;
};

/// The scheme for the positions after the first `before` ones, which have none: the sequence's position t is at before
/// + t. Queries and keys without a position are not rotated. A pair of which one has no position gets no bias and no
/// value.
class SequencePosition final : public RelativePosition {
public:
  SequencePosition(std::shared_ptr<const RelativePosition> scheme, std::int64_t before)
      : scheme_(std::move(scheme)), before_(before) {}

  Tensor rotate(Pass& pass, const Tensor& x, std::int64_t first, Rotated of) const override;
  bool rotates() const override { return scheme_->rotates(); }
  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override;
  bool is_of_pairs() const override { return scheme_->is_of_pairs(); }
  bool has_values() const override { return scheme_->has_values(); }
  Tensor values(Pass& pass, const Tensor& weights, const Mask& mask) const override;

private:
  // The number of queries without a position, of `count` queries of which the first one is at `offset`.
  std::int64_t unplaced(std::int64_t offset, std::int64_t count) const;
  Mask of_sequence(const Mask& mask) const;

  std::shared_ptr<const RelativePosition> scheme_;
  std::int64_t before_;
};

} // namespace heed::HEED_REAL
