#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double base = 10000;
  double fraction = 1;
  std::string pairs = "halves";
  bool xpos = false;
  std::string scaling = "none";
  double factor = 2;
  std::int64_t original_length = 0;
  std::string evaluation_scaling = "none";
  WordOrNumber evaluation_factor{"length", 0};
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
          .one_of({"halves", "neighbours"}),
      option("xpos", &Options::xpos,
             "xPos: the product of a pair's features also decays with the distance, by z_p^(distance / 512) with z_p "
             "from 0.29 (the fastest pair) to nearly 1; for causal attention"),
      option("scaling", &Options::scaling,
             "the angles are those of sequences that are shorter by `factor`: all angles / factor (linear, position "
             "interpolation); a greater base, which changes slow pairs most (ntk); or angles / factor for pairs that "
             "rotate less than once in original_length, none for those that rotate 32 times or more, in between "
             "linearly, and queries and keys times 0.1 ln factor + 1 (yarn, by the paper's ramp; the factor is on all "
             "features, while gpt-oss has it on those that rotate)")
          .one_of({"none", "linear", "ntk", "yarn"}),
      option("factor", &Options::factor, "how many times as long sequences are as those that the base is meant for")
          .above(1)
          .at_most(1e6),
      option("original_length", &Options::original_length, "the length of sequences that the base is meant for")
          .between(0, 1e9)
          .unit("tokens")
          .default_means("0: the longest sequence in training / factor"),
      option("evaluation_scaling", &Options::evaluation_scaling,
             "a scaling of training's angles, only in sequences of train.evaluate_lengths that are longer than "
             "training's; "
             "its original length is the longest sequence in training")
          .one_of({"none", "linear", "ntk", "yarn"}),
      option("evaluation_factor", &Options::evaluation_factor,
             "the factor of evaluation_scaling: a number, or the sequence's length / that of the longest sequence in "
             "training "
             "(length)")
          .one_of({"length"})
          .above(1)
          .at_most(1e6));
  return t;
}

constexpr double xpos_base = 512;          // positions; the base of xPos's exponents
constexpr double furthest_of_xpos = 25000; // positions; at twice as many, factors are beyond float32's numbers

/// One scaling: for sequences that are `factor` times as long as `original`.
struct Scaling {
  std::string kind;
  double factor, original;

  /// The scaled angle per position of pair p of `pairs`.
  double of(double theta, std::int64_t p, std::int64_t pairs) const {
    if (kind == "linear") return theta / factor;
    // base factor^(d / (d - 2)) to the power -2 p / d, with d = 2 pairs
    if (kind == "ntk") return theta * std::pow(factor, -static_cast<double>(p) / static_cast<double>(pairs - 1));
    if (kind != "yarn") return theta;
    constexpr double slow = 1, fast = 32; // rotations in `original` positions: alpha and beta of the paper
    const double rotations = original * theta / (2 * std::numbers::pi);
    const double unscaled = std::clamp((rotations - slow) / (fast - slow), 0.0, 1.0);
    return (1 - unscaled) * theta / factor + unscaled * theta;
  }
  /// The factor of queries and of keys.
  double temperature() const { return kind == "yarn" ? 0.1 * std::log(factor) + 1 : 1; }
};

/// Which features of a query or key of this width are rotated, by which angle at a position, and by how much all are
/// multiplied.
struct Rotation {
  std::int64_t width, pairs;
  bool neighbours, xpos;
  double temperature = 1;
  std::vector<double> thetas; ///< the angle per position of each pair

  /// @param evaluated  the length of the sequences in an evaluation at a length; 0: other sequences
  Rotation(std::int64_t head_width, const Options& o, std::int64_t trained, std::int64_t evaluated)
      : width(head_width), pairs(rotated_pairs(head_width, o.fraction)), neighbours(o.pairs == "neighbours"),
        xpos(o.xpos) {
    for (std::int64_t p = 0; p < pairs; ++p)
      thetas.push_back(std::pow(o.base, -static_cast<double>(p) / static_cast<double>(pairs)));
    const auto longest = static_cast<double>(trained);
    scale({o.scaling, o.factor, o.original_length ? static_cast<double>(o.original_length) : longest / o.factor});
    if (evaluated <= trained) return;
    const WordOrNumber& factor = o.evaluation_factor;
    scale({o.evaluation_scaling, factor.word.empty() ? factor.number : static_cast<double>(evaluated) / longest,
           longest});
  }

  static std::int64_t rotated_pairs(std::int64_t head_width, double fraction) {
    if (head_width < 2) return 0;
    return std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(head_width) * fraction) / 2, 1);
  }
  std::int64_t first(std::int64_t p) const { return neighbours ? 2 * p : p; }
  std::int64_t second(std::int64_t p) const { return neighbours ? 2 * p + 1 : p + pairs; }
  double angle(std::int64_t p, std::int64_t position) const {
    return static_cast<double>(position) * thetas[static_cast<std::size_t>(p)];
  }
  /// The factor of a pair. xPos's centre is position 0, so cached keys stay as they are.
  double size(std::int64_t p, std::int64_t position, Rotated of) const {
    if (!xpos) return temperature;
    const auto d = 2 * static_cast<double>(pairs), zeta = (2 * static_cast<double>(p) + 0.4 * d) / (1.4 * d);
    const double exponent = static_cast<double>(position) / xpos_base;
    return temperature * std::pow(zeta, of == Rotated::queries ? exponent : -exponent);
  }

private:
  void scale(const Scaling& by) {
    for (std::int64_t p = 0; p < pairs; ++p) {
      double& theta = thetas[static_cast<std::size_t>(p)];
      theta = by.of(theta, p, pairs);
    }
    temperature *= by.temperature();
  }
};

/// y = x with its pairs of features rotated: x is [B, H, T, D] at the positions first, first + 1, ...
Tensor rotated(const Tensor& input, std::int64_t first, Rotated of, const Rotation& by) {
  const Op op("rotary", {&input});
  const Tensor x = contiguous(input), y = op.output(x.shape);
  const std::int64_t length = x.shape[-2], rows = x.shape.size() / x.shape[-1], width = by.width, pairs = by.pairs;
  op.check(x.shape[-1] == width, "heads are {} wide, and {} were expected", x.shape[-1], width);
  op.check(!by.xpos || static_cast<double>(first + length) <= furthest_of_xpos,
           "position.rotary.xpos serves sequences of up to {} tokens, because its factors grow exponentially; this "
           "sequence has {}",
           furthest_of_xpos, first + length);
  Real* cosines = op.tape().keep<Real>(2 * length * pairs);
  Real* sines = cosines + length * pairs;
  for (std::int64_t t = 0, some = op.computed(length); t < some; ++t)
    for (std::int64_t p = 0; p < pairs; ++p) {
      const double size = by.size(p, first + t, of);
      cosines[t * pairs + p] = static_cast<Real>(size * std::cos(by.angle(p, first + t)));
      sines[t * pairs + p] = static_cast<Real>(size * std::sin(by.angle(p, first + t)));
    }
  const auto rest = static_cast<Real>(by.temperature);
  const bool neighbours = by.neighbours;
  // The backward pass uses the transposed map.
  const auto rotate_all = [=](const Real* from, Real* to, Real direction, bool store) {
    for (std::int64_t r = 0; r < rows; ++r, from += width, to += width) {
      const Real *c = cosines + r % length * pairs, *s = sines + r % length * pairs;
      for (std::int64_t p = 0; p < pairs; ++p) {
        const std::int64_t i = neighbours ? 2 * p : p, j = neighbours ? 2 * p + 1 : p + pairs;
        const Real sine = direction * s[p], a = from[i] * c[p] - from[j] * sine, b = from[i] * sine + from[j] * c[p];
        to[i] = store ? a : to[i] + a;
        to[j] = store ? b : to[j] + b;
      }
      for (std::int64_t i = 2 * pairs; i < width; ++i) to[i] = store ? rest * from[i] : to[i] + rest * from[i];
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
  Rotary(const Scope& scope, const RelativeSizes& sizes, const Options& options)
      : options_(options), reads_(scope.reads()), width_(sizes.query_width),
        trained_(sizes.trained ? sizes.trained : sizes.longest), by_(width_, options, trained_, 0) {}

  Tensor rotate(Pass& pass, const Tensor& x, std::int64_t first, Rotated of) const override {
    const std::int64_t evaluated = options_.evaluation_scaling == "none" ? 0 : pass.evaluated_length(reads_);
    if (evaluated <= trained_) return rotated(x, first, of, by_);
    return rotated(x, first, of, Rotation(width_, options_, trained_, evaluated));
  }
  bool rotates() const override { return true; }
  bool is_of_pairs() const override { return false; }

private:
  Options options_;
  Reads reads_;
  std::int64_t width_, trained_;
  Rotation by_;
};

// The reference: a product of complex numbers.
void rotate_one(const RotationArguments& a, Real* to) {
  const Rotation by(a.width, table().read(*a.options), a.trained, 0);
  for (std::int64_t i = 0; i < a.width; ++i) to[i] = static_cast<Real>(by.temperature * static_cast<double>(a.x[i]));
  for (std::int64_t p = 0; p < by.pairs; ++p) {
    const std::complex<double> z(static_cast<double>(a.x[by.first(p)]), static_cast<double>(a.x[by.second(p)]));
    const std::complex<double> product = z * std::polar(by.size(p, a.position, a.of), by.angle(p, a.position));
    to[by.first(p)] = static_cast<Real>(product.real());
    to[by.second(p)] = static_cast<Real>(product.imag());
  }
}

std::string wrong_sizes(const RelativeSizes& sizes, const OptionValues& values) {
  const Options options = table().read(values);
  const std::int64_t pairs = Rotation::rotated_pairs(sizes.query_width, options.fraction);
  if (pairs == 0) return "rotary rotates pairs of features, but heads have width 1: set fewer heads, or a larger width";
  if (pairs == 1 && (options.scaling == "ntk" || options.evaluation_scaling == "ntk"))
    return "rotary's scaling \"ntk\" changes all pairs but the first, and heads have only one pair: set fewer heads, a "
           "larger width, or another scaling";
  return "";
}

} // namespace

extern const PositionInfo position_rotary{
    .about =
        {.name = "rotary",
         .summary = "pairs of features of queries and keys are rotated by position * base^(-p / pairs), p the "
                    "pair, so products depend on positions only by their distance",
         .paper = "Su et al. 2021, RoFormer, arXiv 2104.09864; xpos: Sun et al. 2022, arXiv 2212.10554; scaling: Chen "
                  "et al. 2023, arXiv 2306.15595 (linear), Peng et al. 2023, arXiv 2309.00071 (ntk, yarn)",
         .equals = "none if all positions are the same",
         .cost = "three operations for each feature of queries and keys; no parameters",
         .options = table().options(),
         .disables = {"position.combine", "position.width", "position.concat", "position.shared", "init.position"},
         .conditions = {{"position.rotary.factor", "position.rotary.scaling", {"none"}, true},
                        {"position.rotary.original_length", "position.rotary.scaling", {"yarn"}},
                        {"position.rotary.evaluation_scaling", "train.evaluate_lengths", {OptionCondition::anything}},
                        {"position.rotary.evaluation_factor",
                         "position.rotary.evaluation_scaling",
                         {"linear", "ntk", "yarn"}}},
         .excludes =
             {{{{"", "attention.projection", {"latent"}}},
               "the projection 'latent' stores latent vectors in decoding, and a rotation of all keys would be "
               "needed again at each step: set position.kind = \"none\" and attention.latent.rotary_width, "
               "which rotates a part of each query and one key that all heads share"},
              {{{"", "position.rotary.xpos", {"true"}},
                {"", "attention.causal", {"false"}, false, {{"", "attention.prefix", {"0", "1"}, true}}}},
               "rotary.xpos makes scores decay with the distance to earlier keys, and would make those of later "
               "keys grow exponentially: it needs attention.causal = true and attention.prefix = 1 or 0"}}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope& scope, const RelativeSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<Rotary>(scope, sizes, table().read(options)); },
    .rotate = rotate_one,
    .wrong_sizes = wrong_sizes};

} // namespace heed::HEED_REAL
