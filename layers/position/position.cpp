#include "layers/position/position.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

const PositionInfo& position_info(const std::string& name) {
  return variant_named(positions(), name, "[position] there is no scheme");
}

std::shared_ptr<const RelativePosition> RelativePositions::for_block(const Scope& block, const PositionOptions& options,
                                                                     const OptionValues& own_options,
                                                                     const RelativeSizes& shape) {
  const PositionInfo& info = position_info(options.kind);
  if (!info.make_relative) return nullptr;
  if (!options.shared) return info.make_relative(block / "position", shape, own_options);
  for (const Shared& s : shared_) {
    if (s.kind != options.kind || s.options != own_options) continue;
    if (s.shape == shape) return s.scheme;
    throw Failed(fmt::format(
        "[position] blocks that share their positions must have equal heads: some have {} of width "
        "{} (values: {}), and some {} of width {} (values: {}); each map of "
        "attention.differential counts as a head; make attention.differential, "
        "attention.head_width, attention.value_width and attention.projection equal, or set "
        "position.shared = false",
        s.shape.heads, s.shape.query_width, s.shape.value_width, shape.heads, shape.query_width, shape.value_width));
  }
  const std::string name = shared_.empty() ? "position" : fmt::format("position_{}", shared_.size() + 1);
  shared_.push_back({options.kind, own_options, shape, info.make_relative(scope_ / name, shape, own_options)});
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
  const std::int64_t rows = x.shape[0], length = x.shape[1];
  const Tensor p = position_->vectors(pass, first, length);
  if (!concatenated_) return add(x, p);
  const Tensor all = add(op.tape().zeros({rows, length, position_width_}), p); // the same for all rows
  const Tensor both = concat({x, all}, 2);
  return projection_ ? (*projection_)(pass, both) : both;
}

} // namespace heed::HEED_REAL
