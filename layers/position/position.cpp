#include "layers/position/position.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace heed::HEED_REAL {

const PositionInfo& position_info(const std::string& name) {
  return variant_named(positions(), name, "[position] there is no scheme");
}

std::shared_ptr<const RelativePosition> RelativePositions::for_block(const Scope& block, const PositionOptions& options,
                                                                     const OptionValues& own_options,
                                                                     const RelativeSizes& sizes) {
  const PositionInfo& info = position_info(options.kind);
  if (!info.make_relative) return nullptr;
  if (!options.shared) return info.make_relative(block / "position", sizes, own_options);
  for (const Shared& s : shared_) {
    if (s.kind != options.kind || s.options != own_options) continue;
    if (s.sizes != sizes) throw std::logic_error("blocks of different sizes share their positions");
    return s.scheme;
  }
  const std::string name = shared_.empty() ? "position" : fmt::format("position_{}", shared_.size() + 1);
  shared_.push_back({options.kind, own_options, sizes, info.make_relative(scope_ / name, sizes, own_options)});
  return shared_.back().scheme;
}

PositionalEmbedding::PositionalEmbedding(const Scope& scope, const PositionOptions& options,
                                         const OptionValues& own_options, std::int64_t width, std::int64_t longest)
    : output_width_(width) {
  const PositionInfo& info = position_info(options.kind);
  if (!info.has_vectors) return;
  concatenated_ = options.combine == "concat";
  position_width_ = concatenated_ && options.width ? options.width : width;
  position_ = info.make(scope, position_width_, longest, own_options);
  if (!concatenated_) return;
  if (options.concat == "widen") output_width_ = width + position_width_;
  else projection_.emplace(scope / "projection", width + position_width_, width, false);
}

Tensor PositionalEmbedding::operator()(Pass& pass, const Tensor& x, std::int64_t first) const {
  if (!position_) return x;
  const Op op("position", {&x});
  op.check(x.rank() == 3, "x must be [B, T, width], it has {} axes", x.rank());
  const std::int64_t sequences = x.shape[0], length = x.shape[1];
  const Tensor p = position_->vectors(pass, first, length);
  if (!concatenated_) return add(x, p);
  const Tensor all = add(op.tape().zeros({sequences, length, position_width_}), p); // the same for all sequences
  const Tensor both = concat({x, all}, 2);
  return projection_ ? (*projection_)(pass, both) : both;
}

namespace {

// Another bias, for the queries and keys after the first ones, which have none.
class LaterBias final : public AttentionBias {
public:
  LaterBias(AttentionBias* bias, std::int64_t queries, std::int64_t keys)
      : bias_(bias), queries_(queries), keys_(keys) {}

  bool requires_grad() const override { return bias_->requires_grad(); }
  bool serves_several_threads() const override { return bias_->serves_several_threads(); }
  bool gradients_serve_several_threads() const override { return bias_->gradients_serve_several_threads(); }
  void open(Tape& tape) override { bias_->open(tape); }
  void close(Tape& tape) override { bias_->close(tape); }
  void add(const ScoreTile& tile, Real* scores) const override {
    const Part part = later(tile);
    if (!part.is_empty()) bias_->add(part.tile, scores + part.at);
  }
  void add_gradients(const ScoreTile& tile, const Real* grad_scores) override {
    const Part part = later(tile);
    if (!part.is_empty()) bias_->add_gradients(part.tile, grad_scores + part.at);
  }

private:
  // The part of a tile that has a bias, and where it begins in the tile's scores.
  struct Part {
    ScoreTile tile;
    std::int64_t at;
    bool is_empty() const { return tile.queries <= 0 || tile.keys <= 0; }
  };
  Part later(const ScoreTile& t) const {
    const std::int64_t rows = std::max<std::int64_t>(queries_ - t.i, 0),
                       columns = std::max<std::int64_t>(keys_ - t.j, 0);
    return {{t.b, t.h, t.i + rows - queries_, t.queries - rows, t.j + columns - keys_, t.keys - columns, t.row},
            rows * t.row + columns};
  }

  AttentionBias* bias_;
  std::int64_t queries_, keys_;
};

} // namespace

std::int64_t SequencePosition::unplaced(std::int64_t offset, std::int64_t count) const {
  return std::clamp<std::int64_t>(before_ - offset, 0, count);
}

Mask SequencePosition::of_sequence(const Mask& mask) const {
  Mask own = mask;
  own.offset = std::max<std::int64_t>(mask.offset - before_, 0);
  own.prefix = std::max<std::int64_t>(mask.prefix - before_, 0);
  own.lengths = nullptr; // counts all keys, and no scheme reads it
  return own;
}

Tensor SequencePosition::rotate(Pass& pass, const Tensor& x, std::int64_t first, Rotated of) const {
  const std::int64_t count = x.shape[2], without = unplaced(first, count);
  if (without == count) return x;
  if (without == 0) return scheme_->rotate(pass, x, first - before_, of);
  return concat({slice(x, 2, 0, without), scheme_->rotate(pass, slice(x, 2, without, count - without), 0, of)}, 2);
}

AttentionBias* SequencePosition::bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const {
  const std::int64_t count = queries.shape[2], without = unplaced(mask.offset, count);
  if (without == count || keys <= before_) return nullptr;
  const Tensor placed = without == 0 ? queries : slice(queries, 2, without, count - without);
  AttentionBias* const of_sequence_only = scheme_->bias(pass, placed, keys - before_, of_sequence(mask));
  return of_sequence_only ? keep_bias(pass.tape(), LaterBias(of_sequence_only, without, before_)) : nullptr;
}

Tensor SequencePosition::values(Pass& pass, const Tensor& weights, const Mask& mask) const {
  const std::int64_t count = weights.shape[2], without = unplaced(mask.offset, count);
  const std::int64_t keys = weights.shape[3] - before_;
  if (without == count || keys <= 0) return pass.tape().zeros({1, 1, 1, 1});
  const Tensor placed = slice(slice(weights, 2, without, count - without), 3, before_, keys);
  const Tensor y = scheme_->values(pass, placed, of_sequence(mask));
  if (without == 0) return y;
  return concat({pass.tape().zeros({y.shape[0], y.shape[1], without, y.shape[3]}), y}, 2);
}

} // namespace heed::HEED_REAL
