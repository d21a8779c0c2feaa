#include "layers/position/position.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double base = 10000.0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("base", &Options::base, "the longest wave is 2 pi base positions long").above(1).unit("positions"));
  return t;
}

class Sinusoidal : public Position {
public:
  Sinusoidal(std::int64_t width, double base) : width_(width), base_(base) {}

  Tensor vectors(Pass& pass, std::int64_t first, std::int64_t length) const override {
    const Tensor p = pass.tape().make({length, width_});
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t i = 0; i < width_; ++i) {
        const std::int64_t even = i / 2 * 2;
        const double rate = std::pow(base_, -static_cast<double>(even) / static_cast<double>(width_));
        const double angle = static_cast<double>(first + t) * rate;
        p.data[t * width_ + i] = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    return p;
  }

private:
  std::int64_t width_;
  double base_;
};

} // namespace

extern const PositionInfo position_sinusoidal{
    .about = {.name = "sinusoidal",
              .summary = "p(t, 2i) = sin(t / base^(2i / width)), p(t, 2i + 1) = cos(t / base^(2i / width))",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762, section 3.5",
              .equals = "",
              .cost = "no parameters; any length",
              .options = table().options(),
              .presets = {},
              .silences = {"position.shared", "init.position"}},
    .has_vectors = true,
    .make = [](const Scope&, std::int64_t width, std::int64_t, const OptionValues& options)
        -> std::unique_ptr<Position> { return std::make_unique<Sinusoidal>(width, table().read(options).base); }};

} // namespace heed::HEED_REAL
