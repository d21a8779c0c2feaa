// Test support: recurrences of [mixer] by the name of their kind, and in plain loops.
#pragma once

#include "layers/mixers/recurrence.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/layer_support.hpp"

#include <map>

namespace heed::HEED_REAL {

/// The choice of a kind, with its presets and with changes, by full name ("mixer.gate").
inline LayerChoice choice_of(const std::string& kind, const std::map<std::string, Value>& changes = {}) {
  std::map<std::string, Value> set;
  for (const auto& [key, value] : mixer_info(kind).about.presets) set[key] = value;
  for (const auto& [key, value] : changes) set[key] = value;
  OptionValues own;
  LayerChoice out;
  for (const auto& [key, value] : set) {
    const std::size_t dot = key.find('.'), second = key.find('.', dot + 1);
    if (key.substr(0, dot) != "mixer") continue;
    if (second == std::string::npos) own[key.substr(dot + 1)] = value;
  }
  own["kind"] = kind;
  out.mixer = mixer_option_table().read(own);
  for (const auto& [key, value] : set) {
    const std::size_t second = key.find('.', 6);
    if (!key.starts_with("mixer.") || second == std::string::npos) continue;
    const std::string table = key.substr(6, second - 6), name = key.substr(second + 1);
    if (table == out.mixer.decay) out.decay_options[name] = value;
    if (table == out.mixer.feature) out.feature_options[name] = value;
  }
  return out;
}

/// All kinds of recurrence.
inline std::vector<std::string> recurrences() {
  std::vector<std::string> out;
  for (const MixerInfo* info : mixers())
    if (info->about.name != "attention") out.push_back(info->about.name);
  return out;
}

/// The mixer of one sequence in plain loops, in double, from its definition token by token: x [T, width] to [T, width].
/// `parameters`: those of the mixer, whose scope has no name.
class RecurrenceLoops {
public:
  RecurrenceLoops(const LayerChoice& choice, const MixerSizes& sizes, const Parameters& parameters)
      : choice_(choice), o_(choice.mixer), sizes_(sizes), widths_(recurrence_widths(choice.mixer, sizes)),
        parameters_(parameters) {}

  std::vector<std::vector<double>> operator()(const std::vector<std::vector<double>>& x) const {
    const bool has_keys = o_.keys == "projected";
    const std::int64_t queries = widths_.queries(), keys = has_keys ? widths_.keys() : 0, values = widths_.values(),
                       channels = queries + keys + values, steps = widths_.steps;
    std::vector<std::vector<double>> all;
    for (const auto& row : x) all.push_back(affine("qkv", row, channels));
    all = convolved(all, channels);
    const std::int64_t sharing = widths_.heads / widths_.key_heads,
                       features = feature_info(o_.feature).output_width(widths_.key_width), V = widths_.value_width;
    std::vector<std::vector<double>> out(x.size(), std::vector<double>(static_cast<std::size_t>(values / steps)));
    const std::vector<DecayRow> decays = decays_of(x, features);
    const std::vector<std::vector<double>> erase = strengths("erase", o_.erase, x, steps * widths_.heads * features),
                                           gate = strengths("write_gate", o_.write_gate, x, values);
    // Of one head; a strength of the head is that of each channel.
    const auto strength = [&](const std::vector<double>& of, const std::string& by, std::int64_t head,
                              std::int64_t channels, std::size_t channel) {
      return by == "none"   ? 1
             : by == "head" ? of[static_cast<std::size_t>(head)]
                            : of[static_cast<std::size_t>(head * channels) + channel];
    };
    for (std::int64_t h = 0; h < widths_.heads; ++h) {
      const std::int64_t shared = h / sharing;
      std::vector<std::vector<double>> state(static_cast<std::size_t>(features),
                                             std::vector<double>(static_cast<std::size_t>(V)));
      std::vector<double> total(static_cast<std::size_t>(features));
      for (std::size_t t = 0; t < x.size(); ++t) {
        const auto decay = [&](std::int64_t d) {
          return decays[t].log_decay[static_cast<std::size_t>(h * features + d)];
        };
        const auto head = [&](std::int64_t from, std::int64_t width) {
          return std::vector<double>(all[t].begin() + from, all[t].begin() + from + width);
        };
        std::vector<double> q = mapped("query_feature", head(shared * widths_.key_width, widths_.key_width), shared);
        q = rotated(q, static_cast<std::int64_t>(t), Rotated::queries);
        for (std::int64_t d = 0; d < features; ++d) {
          const auto row = static_cast<std::size_t>(d);
          total[row] *= std::exp(decay(d));
          for (double& number : state[row]) number *= std::exp(decay(d));
        }
        std::vector<double> v;
        for (std::int64_t s = 0; s < steps; ++s) {
          const std::int64_t of_keys = s * widths_.key_heads + shared, of_head = s * widths_.heads + h;
          std::vector<double> k;
          if (has_keys) {
            k = mapped("key_feature", head(queries + of_keys * widths_.key_width, widths_.key_width), of_keys);
          } else {
            for (std::int64_t d = 0; d < features; ++d) k.push_back(-std::expm1(decay(d)));
            k = normed(k);
          }
          k = rotated(k, static_cast<std::int64_t>(t), Rotated::keys);
          v = head(queries + keys + of_head * V, V);
          const double twice = o_.range == "-1..1" ? 2 : 1,
                       step = o_.write == "step"   ? decays[t].step[static_cast<std::size_t>(h)]
                              : o_.erase == "head" ? twice * erase[t][static_cast<std::size_t>(of_head)]
                                                   : 1,
                       head_gate = o_.write_gate == "head" ? gate[t][static_cast<std::size_t>(of_head)] : 1;
          for (std::size_t d = 0; d < k.size(); ++d) total[d] += k[d] * step * head_gate;
          for (std::size_t c = 0; c < v.size(); ++c) {
            double erased = 0;
            for (std::size_t d = 0; d < k.size() && o_.erase != "none"; ++d)
              erased += twice * strength(erase[t], o_.erase, of_head, features, d) * k[d] * state[d][c];
            for (std::size_t d = 0; d < k.size(); ++d)
              state[d][c] += k[d] * (step * strength(gate[t], o_.write_gate, of_head, V, c) * v[c] - erased);
          }
        }
        double weights = 0;
        for (std::size_t d = 0; d < q.size(); ++d) weights += factor() * q[d] * total[d];
        for (std::size_t c = 0; c < v.size(); ++c) {
          double sum = 0;
          for (std::size_t d = 0; d < q.size(); ++d) sum += factor() * q[d] * state[d][c];
          if (o_.normalizer == "sum") sum /= weights == 0 ? 1 : weights;
          if (o_.skip) sum += number("skip", h) * v[c];
          out[t][static_cast<std::size_t>(h * V) + c] = sum;
        }
      }
    }
    for (std::size_t t = 0; t < x.size(); ++t) out[t] = finished(x[t], out[t]);
    return out;
  }

private:
  bool has(const std::string& name) const { return parameters_.find(name) != nullptr; }
  double number(const std::string& name, std::int64_t i) const {
    const auto* e = parameters_.find(name);
    if (!e) throw Failed("there is no parameter " + name);
    return static_cast<double>(parameters_.values()[e->offset + i]);
  }
  std::vector<const Real*> of(const std::string& module) const {
    std::vector<const Real*> out;
    for (const auto& e : parameters_.entries())
      if (e.name.starts_with(module + ".")) out.push_back(parameters_.values() + e.offset);
    return out;
  }
  double factor() const {
    if (o_.scale.word == "none") return 1;
    return o_.scale.word == "sqrt" ? 1 / std::sqrt(static_cast<double>(widths_.key_width)) : o_.scale.number;
  }
  std::vector<double> affine(const std::string& name, const std::vector<double>& x, std::int64_t rows) const {
    std::vector<double> y;
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = has(name + ".bias") ? number(name + ".bias", i) : 0;
      for (std::size_t j = 0; j < x.size(); ++j)
        sum += number(name + ".weight", i * std::ssize(x) + static_cast<std::int64_t>(j)) * x[j];
      y.push_back(sum);
    }
    return y;
  }
  // sigmoid(W x) of each token, by head or by channel.
  std::vector<std::vector<double>> strengths(const std::string& name, const std::string& by,
                                             const std::vector<std::vector<double>>& x, std::int64_t channels) const {
    std::vector<std::vector<double>> out(x.size());
    for (std::size_t t = 0; t < x.size() && by != "none"; ++t) {
      out[t] = affine(name, x[t], by == "head" ? widths_.steps * widths_.heads : channels);
      for (double& number : out[t]) number = 1 / (1 + std::exp(-number));
    }
    return out;
  }
  static double silu_of(double x) { return x / (1 + std::exp(-x)); }
  std::vector<std::vector<double>> convolved(const std::vector<std::vector<double>>& x, std::int64_t channels) const {
    std::vector<std::vector<double>> y = x;
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::int64_t c = 0; c < channels; ++c) {
        double& to = y[t][static_cast<std::size_t>(c)];
        if (o_.convolution > 0) {
          to = has("convolution.bias") ? number("convolution.bias", c) : 0;
          for (std::int64_t s = 0; s < o_.convolution; ++s)
            if (const std::int64_t from = static_cast<std::int64_t>(t) - o_.convolution + 1 + s; from >= 0)
              to += number("convolution.weight", c * o_.convolution + s) *
                    x[static_cast<std::size_t>(from)][static_cast<std::size_t>(c)];
        }
        if (o_.convolution > 0 || o_.activation == "silu") to = silu_of(to);
      }
    return y;
  }
  std::vector<double> normed(std::vector<double> x) const {
    double sum = 0;
    if (o_.query_key_norm == "none") return x;
    for (const double value : x) sum += o_.query_key_norm == "l2" ? value * value : value;
    if (o_.query_key_norm == "l2") sum = std::sqrt(sum + 1e-6);
    for (double& value : x) value /= sum == 0 ? 1 : sum;
    return x;
  }
  std::vector<double> mapped(const std::string& name, const std::vector<double>& x, std::int64_t head) const {
    return normed(feature_info(o_.feature).row(x, head, of(name)));
  }
  std::vector<double> rotated(const std::vector<double>& x, std::int64_t position, Rotated what) const {
    if (o_.position == "none") return x;
    const std::vector<Real> given(x.begin(), x.end());
    std::vector<Real> y(x.size());
    const OptionValues none;
    position_info("rotary").rotate({given.data(), std::ssize(given), position, what, 0, &none}, y.data());
    return {y.begin(), y.end()};
  }
  std::vector<DecayRow> decays_of(const std::vector<std::vector<double>>& x, std::int64_t features) const {
    const DecaySizes sizes{.model_width = sizes_.width,
                           .heads = widths_.heads,
                           .width = features,
                           .value_width = widths_.value_width,
                           .layer = sizes_.layer,
                           .layers = sizes_.layers};
    std::vector<DecayRow> out;
    for (const auto& row : x) {
      const std::vector<Real> real(row.begin(), row.end());
      out.push_back(decay_info(o_.decay).row(real.data(), sizes, of("decay"), choice_.decay_options));
    }
    return out;
  }
  std::vector<double> finished(const std::vector<double>& x, std::vector<double> y) const {
    const std::int64_t values = widths_.values() / widths_.steps;
    const auto gate = [&] {
      if (o_.gate == "none") return;
      const bool is_low = o_.gate_rank == "head";
      const std::vector<double> g = affine("gate", is_low ? affine("gate_low_rank", x, widths_.value_width) : x,
                                           values);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] *= o_.gate == "silu" ? silu_of(g[i]) : 1 / (1 + std::exp(-g[i]));
    };
    const auto norm = [&] {
      if (o_.output_norm == "none") return;
      const std::size_t width = static_cast<std::size_t>(o_.output_norm == "rms" ? values : widths_.value_width);
      for (std::size_t i = 0; i < y.size(); i += width) {
        double squares = 0;
        for (std::size_t c = 0; c < width; ++c) squares += y[i + c] * y[i + c] / static_cast<double>(width);
        for (std::size_t c = 0; c < width; ++c)
          y[i + c] *= number("norm.weight", static_cast<std::int64_t>(c)) / std::sqrt(squares + 1e-5);
      }
    };
    if (o_.gate_first) gate();
    norm();
    if (!o_.gate_first) gate();
    return affine("output", y, sizes_.width);
  }

  LayerChoice choice_;
  MixerOptions o_;
  MixerSizes sizes_;
  RecurrenceWidths widths_;
  const Parameters& parameters_;
};

} // namespace heed::HEED_REAL
