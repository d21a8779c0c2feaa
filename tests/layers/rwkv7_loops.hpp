// Test support: RWKV-7 in plain loops.
#pragma once

#include "layers/mixer.hpp"

#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

/// The mixer of one sequence, in double, from its definition token by token: x [T, width] to [T, width]. `parameters`:
/// those of the mixer, whose scope has no name.
class Rwkv7Loops {
public:
  using Rows = std::vector<std::vector<double>>;

  Rwkv7Loops(const LayerChoice& choice, const MixerSizes& sizes, const Parameters& parameters)
      : parameters_(parameters), width_(static_cast<std::size_t>(sizes.width)),
        heads_(static_cast<std::size_t>(choice.mixer.heads ? choice.mixer.heads : sizes.heads)) {}

  /// The values of each token.
  Rows values(const Rows& x, const Rows& first_values) const {
    Rows out;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const auto read = shifted("value", x, t);
      out.push_back(map("value.weight", read));
      if (first_values.empty()) continue;
      const auto mix = low_rank("value_residual", read, [](double y) { return y; });
      for (std::size_t d = 0; d < width_; ++d) out[t][d] += (first_values[t][d] - out[t][d]) * sigmoid(mix[d]);
    }
    return out;
  }

  Rows operator()(const Rows& x, const Rows& first_values = {}) const {
    const std::size_t width = width_ / heads_;
    const Rows v = values(x, first_values);
    Rows out;
    std::vector<Rows> states(heads_, Rows(width, std::vector<double>(width)));
    for (std::size_t t = 0; t < x.size(); ++t) {
      const auto q = map("query.weight", shifted("query", x, t)), k = map("key.weight", shifted("key", x, t));
      const auto w = low_rank("decay", shifted("decay", x, t), [](double y) { return std::tanh(y); }),
                 strength = low_rank("erase", shifted("erase", x, t), [](double y) { return y; });
      std::vector<double> y(width_);
      for (std::size_t h = 0; h < heads_; ++h) {
        std::vector<double> p(width), a(width), f(width), key(width);
        double square = 0;
        for (std::size_t d = 0; d < width; ++d) {
          const std::size_t i = h * width + d;
          p[d] = k[i] * number("erase_key", i);
          square += p[d] * p[d];
          a[d] = sigmoid(strength[i]);
          f[d] = std::exp(-std::exp(-0.5) * sigmoid(w[i]));
          key[d] = k[i] * (1 + (a[d] - 1) * number("key_by_erase", i));
        }
        for (double& n : p) n /= std::max(std::sqrt(square), 1e-12);
        double own = 0, mean = 0, variance = 0;
        for (std::size_t d = 0; d < width && parameters_.find("bonus"); ++d)
          own += q[h * width + d] * key[d] * number("bonus", h * width + d);
        std::vector<double> read(width);
        for (std::size_t c = 0; c < width; ++c) {
          double erased = 0;
          for (std::size_t d = 0; d < width; ++d) erased += p[d] * states[h][d][c];
          for (std::size_t d = 0; d < width; ++d) {
            double& cell = states[h][d][c];
            cell = f[d] * cell - a[d] * p[d] * erased + key[d] * v[t][h * width + c];
            read[c] += q[h * width + d] * cell;
          }
          mean += read[c] / static_cast<double>(width);
        }
        for (const double n : read) variance += (n - mean) * (n - mean) / static_cast<double>(width);
        for (std::size_t c = 0; c < width; ++c) {
          const std::size_t i = h * width + c;
          y[i] = (read[c] - mean) / std::sqrt(variance + 1e-5 * static_cast<double>(width)) * number("norm.weight", i) +
                 number("norm.bias", i) + own * v[t][i];
        }
      }
      if (parameters_.find("gate.up")) {
        const auto gate = low_rank("gate", shifted("gate", x, t), sigmoid);
        for (std::size_t i = 0; i < width_; ++i) y[i] *= gate[i];
      }
      out.push_back(map("output.weight", y));
    }
    return out;
  }

private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  double number(const std::string& name, std::size_t i) const {
    const auto* e = parameters_.find(name);
    if (!e) throw Failed("there is no parameter " + name);
    return static_cast<double>(parameters_.values()[e->offset + static_cast<std::int64_t>(i)]);
  }
  std::vector<double> map(const std::string& name, const std::vector<double>& x) const {
    std::vector<double> y(static_cast<std::size_t>(parameters_.find(name)->shape[0]));
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += number(name, i * x.size() + j) * x[j];
    return y;
  }
  template <class F>
  std::vector<double> low_rank(const std::string& name, const std::vector<double>& x, const F& between) const {
    std::vector<double> low = map(name + ".down", x);
    for (double& n : low) n = between(n);
    std::vector<double> y = map(name + ".up", low);
    for (std::size_t i = 0; i < y.size() && parameters_.find(name + ".bias"); ++i) y[i] += number(name + ".bias", i);
    return y;
  }
  std::vector<double> shifted(const std::string& reader, const Rows& x, std::size_t t) const {
    std::vector<double> y = x[t];
    for (std::size_t d = 0; d < width_ && parameters_.find("shift." + reader); ++d)
      y[d] += number("shift." + reader, d) * ((t > 0 ? x[t - 1][d] : 0) - x[t][d]);
    return y;
  }

  const Parameters& parameters_;
  std::size_t width_, heads_;
};

} // namespace heed::HEED_REAL
