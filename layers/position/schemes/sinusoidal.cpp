#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

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

/// The vectors of positions up to `longest` are computed once, by the first thread that needs them, because sines take
/// longer than many other operations of a small model.
class Sinusoidal : public Position {
public:
  Sinusoidal(std::int64_t width, std::int64_t longest, double base)
      : width_(width), kept_(std::clamp<std::int64_t>(longest, 0, most_cached / width)) {
    for (std::int64_t i = 0; i < width; i += 2)
      rates_.push_back(std::pow(base, -static_cast<double>(i) / static_cast<double>(width)));
  }

  Tensor vectors(Pass& pass, std::int64_t first, std::int64_t length) const override {
    const Tensor p = pass.tape().make({length, width_});
    std::call_once(once_, [&] {
      table_.resize(static_cast<std::size_t>(kept_ * width_));
      for (std::int64_t t = 0; t < kept_; ++t) write(t, table_.data() + t * width_);
    });
    const std::int64_t known = std::clamp<std::int64_t>(kept_ - first, 0, length);
    if (known > 0) std::copy_n(table_.data() + first * width_, known * width_, p.data);
    for (std::int64_t t = known; t < length; ++t) write(first + t, p.data + t * width_);
    return p;
  }

private:
  static constexpr std::int64_t most_cached = 1 << 22; ///< values

  void write(std::int64_t position, Real* to) const {
    for (std::int64_t i = 0; i < width_; ++i) {
      const double angle = static_cast<double>(position) * rates_[static_cast<std::size_t>(i / 2)];
      to[i] = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }

  std::int64_t width_, kept_;
  std::vector<double> rates_; ///< of each sine and the following cosine
  mutable std::once_flag once_;
  mutable std::vector<Real> table_; ///< [cached positions, width]
};

} // namespace

extern const PositionInfo position_sinusoidal{
    .about = {.name = "sinusoidal",
              .summary = "p(t, 2i) = sin(t / base^(2i / width)), p(t, 2i + 1) = cos(t / base^(2i / width))",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762, section 3.5",
              .cost = "no parameters; any length",
              .options = table().options(),
              .disables = {"position.shared", "init.position"}},
    .has_vectors = true,
    .make = [](const Scope&, std::int64_t width, std::int64_t longest,
               const OptionValues& options) -> std::unique_ptr<Position> {
      return std::make_unique<Sinusoidal>(width, longest, table().read(options).base);
    }};

} // namespace heed::HEED_REAL
