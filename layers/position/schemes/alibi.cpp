#include "autograd/relative.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

/// The slope of a head. If the number of heads n is a power of two: 2^(-8 (h + 1) / n). Otherwise the first heads have
/// the slopes for the next lower power of two, and the others have every second slope for the next higher power, as in
/// the authors' code.
double slope(std::int64_t head, std::int64_t heads) {
  const auto of_power = [](std::int64_t h, std::int64_t n) {
    return std::exp2(-8 * static_cast<double>(h + 1) / static_cast<double>(n));
  };
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  return head < below ? of_power(head, below) : of_power(2 * (head - below), 2 * below);
}

class Alibi : public RelativePosition {
public:
  explicit Alibi(const RelativeSizes& sizes) : heads_(sizes.heads) {}

  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override {
    const std::int64_t longest = std::max(keys, queries.shape[2] + mask.offset) - 1;
    const Tensor biases = pass.tape().make({1, heads_, 1, 2 * longest + 1});
    for (std::int64_t h = 0; h < heads_; ++h)
      for (std::int64_t d = -longest; d <= longest; ++d)
        biases.data[h * (2 * longest + 1) + d + longest] = static_cast<Real>(-slope(h, heads_) *
                                                                             static_cast<double>(std::abs(d)));
    return bias_by_distance(biases, mask.offset);
  }

private:
  std::int64_t heads_;
};

RelativeBias pair(const RelativeArguments& a) {
  RelativeBias out;
  out.score = static_cast<Real>(-slope(a.head, a.sizes.heads) * static_cast<double>(std::abs(a.distance)));
  return out;
}

} // namespace

extern const PositionInfo position_alibi{
    .about =
        {.name = "alibi",
         .summary = "-m |i - j| is added to the score, with a fixed slope m for each head h: 2^(-8 (h + 1) / heads) "
                    "where heads is a power of two, else as the authors' code interleaves them",
         .paper = "Press, Smith and Lewis 2022, arXiv 2108.12409",
         .equals = "none as slopes go to 0",
         .cost = "an addition for each pair; no parameters",
         .disables = {"position.combine", "position.width", "position.concat", "position.shared", "init.position"}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope&, const RelativeSizes& sizes, const OptionValues&)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<Alibi>(sizes); },
    .pair = pair};

} // namespace heed::HEED_REAL
