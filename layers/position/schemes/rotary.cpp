#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double base = 10000;
  double fraction = 1;
  std::string pairs = "halves";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("base", &Options::base, "the slowest pair rotates by about position / base").above(1),
      option("fraction", &Options::fraction, "fraction of a head's width that is rotated, at least one pair")
          .above(0)
          .at_most(1),
      option("pairs", &Options::pairs,
             "which features form a pair: halves, feature p with p + half of the rotated features (GPT-NeoX, and LLaMA "
             "in Hugging Face's layout), or neighbours, 2 p with 2 p + 1 (RoFormer, GPT-J, and LLaMA's own layout)")
          .one_of({"halves", "neighbours"}));
  return t;
}

/// Which features of a query or key of this width are rotated, and by which angle at a position.
struct Rotation {
  std::int64_t width, pairs;
  bool neighbours;
  double base;

  Rotation(std::int64_t head_width, const Options& o)
      : width(head_width), pairs(head_width < 2 ? 0 : std::max<std::int64_t>(turned_pairs(head_width, o.fraction), 1)),
        neighbours(o.pairs == "neighbours"), base(o.base) {}

  static std::int64_t turned_pairs(std::int64_t head_width, double fraction) {
    return static_cast<std::int64_t>(static_cast<double>(head_width) * fraction) / 2;
  }
  std::int64_t first(std::int64_t p) const { return neighbours ? 2 * p : p; }
  std::int64_t second(std::int64_t p) const { return neighbours ? 2 * p + 1 : p + pairs; }
  double angle(std::int64_t p, std::int64_t position) const {
    return static_cast<double>(position) * std::pow(base, -static_cast<double>(p) / static_cast<double>(pairs));
  }
};

/// y = x with its pairs of features rotated: x is [B, H, T, D] at the positions first, first + 1, ...
Tensor rotated(const Tensor& input, std::int64_t first, const Rotation& by) {
  const Op op("rotary", {&input});
  const Tensor x = contiguous(input), y = op.output(x.shape);
  const std::int64_t length = x.shape[-2], rows = x.shape.size() / x.shape[-1], width = by.width;
  op.check(x.shape[-1] == width, "heads are {} wide, and {} were expected", x.shape[-1], width);
  Real* cosines = op.tape().keep<Real>(2 * length * by.pairs);
  Real* sines = cosines + length * by.pairs;
  for (std::int64_t t = 0, some = op.computed(length); t < some; ++t)
    for (std::int64_t p = 0; p < by.pairs; ++p) {
      cosines[t * by.pairs + p] = static_cast<Real>(std::cos(by.angle(p, first + t)));
      sines[t * by.pairs + p] = static_cast<Real>(std::sin(by.angle(p, first + t)));
    }
  // The backward pass uses the transposed rotation.
  const auto rotate_all = [=](const Real* from, Real* to, Real direction, bool store) {
    for (std::int64_t r = 0; r < rows; ++r, from += width, to += width) {
      const Real *c = cosines + r % length * by.pairs, *s = sines + r % length * by.pairs;
      for (std::int64_t p = 0; p < by.pairs; ++p) {
        const std::int64_t i = by.first(p), j = by.second(p);
        const Real sine = direction * s[p], a = from[i] * c[p] - from[j] * sine, b = from[i] * sine + from[j] * c[p];
        to[i] = store ? a : to[i] + a;
        to[j] = store ? b : to[j] + b;
      }
      for (std::int64_t i = 2 * by.pairs; i < width; ++i) to[i] = store ? from[i] : to[i] + from[i];
    }
  };
  if (op.computes()) rotate_all(x.data, y.data, 1, true);
  op.record(y, [=] {
    if (const GradTarget d = y.tape->grad_target(x)) rotate_all(y.tape->grad(y), d.p, -1, d.overwrite);
  });
  return y;
}

class Rotary : public RelativePosition {
public:
  Rotary(const RelativeShape& shape, const Options& options) : by_(shape.query_width, options) {}
  void check(const AttentionOptions&) const override {
    if (by_.pairs == 0)
      throw Failed(
          "[position] rotary rotates pairs of features, but heads have width 1: set fewer heads, or a larger width");
  }
  Tensor rotate(Pass&, const Tensor& x, std::int64_t first) const override { return rotated(x, first, by_); }
  bool is_of_pairs() const override { return false; }

private:
  Rotation by_;
};

// The reference: a product of complex numbers.
void rotate_one(const Real* x, Real* to, std::int64_t width, std::int64_t position, const OptionValues& values) {
  const Rotation by(width, table().read(values));
  std::copy_n(x, width, to);
  for (std::int64_t p = 0; p < by.pairs; ++p) {
    const std::complex<double> z(static_cast<double>(x[by.first(p)]), static_cast<double>(x[by.second(p)]));
    const std::complex<double> product = z * std::polar(1.0, by.angle(p, position));
    to[by.first(p)] = static_cast<Real>(product.real());
    to[by.second(p)] = static_cast<Real>(product.imag());
  }
}

} // namespace

extern const PositionInfo position_rotary{
    .about = {.name = "rotary",
              .summary = "pairs of features of queries and keys are rotated by position * base^(-p / pairs), p the "
                         "pair, so products depend on positions only by their distance",
              .paper = "Su et al. 2021, RoFormer, arXiv 2104.09864",
              .equals = "none if all positions are the same",
              .cost = "three operations for each feature of queries and keys; no parameters",
              .options = table().options(),
              .presets = {},
              .silences = {"position.combine", "position.width", "position.concat", "position.shared",
                           "init.position"}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope&, const RelativeShape& shape, const OptionValues& options)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<Rotary>(shape, table().read(options)); },
    .rotate = rotate_one};

} // namespace heed::HEED_REAL
