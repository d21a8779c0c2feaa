// Test support for layers: random parameters, passes, and the settings of a variant.
#pragma once

#include "layers/module.hpp"
#include "options/variant.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// The parameters of the tested layers, with memory for their gradients.
struct Weights {
  Parameters parameters;
  std::vector<Real> gradients;

  Scope scope(double deviation = 0.5) { return {parameters, Init::normal(deviation)}; }
  /// Call it when all layers exist. Draws every value anew, also biases and gains, so that none stays at 0 or 1. The
  /// parameters of normalisers keep their initial values, because the plain loops of normalisers use the initial
  /// values.
  void fill(std::uint64_t seed, const Domain& domain = {-1, 1, 0}) {
    gradients.assign(static_cast<std::size_t>(parameters.extent()), Real{0});
    for (std::size_t i = 0; i < parameters.entries().size(); ++i) {
      const Parameters::Entry& e = parameters.entries()[i];
      std::vector<Real> drawn = draw(e.shape.size(), seed + i, domain);
      if (of_normalizer(e)) std::ranges::fill(drawn, static_cast<Real>(e.init.a));
      std::copy(drawn.begin(), drawn.end(), parameters.values(ParameterId{i}));
    }
  }
  static bool of_normalizer(const Parameters::Entry& e) {
    return e.module == "normalizer" || e.module.ends_with(".normalizer");
  }
  Pass pass(Tape& tape, const Pass::Options& options = {}) { return {tape, parameters, gradients.data(), options}; }

  std::vector<Real> gradient(const std::string& name) const {
    const Parameters::Entry* e = parameters.find(name);
    if (!e) throw Failed("there is no parameter " + name);
    return {gradients.begin() + e->offset, gradients.begin() + e->offset + e->shape.size()};
  }
  void set(const std::string& name, const std::vector<Real>& values) {
    const Parameters::Entry* e = parameters.find(name);
    if (!e) throw Failed("there is no parameter " + name);
    if (e->shape.size() != static_cast<std::int64_t>(values.size()))
      throw Failed(name + " is " + e->shape.text() + ", not of " + std::to_string(values.size()) + " numbers");
    std::copy(values.begin(), values.end(), parameters.values() + e->offset);
  }
};

/// Values of an option other than its default: every other word, and numbers below and above the default.
inline std::vector<Value> other_values(const Option& option) {
  std::vector<Value> candidates, out;
  for (const std::string& word : option.words) {
    if (option.type == OptionType::text) candidates.emplace_back(word);
    if (option.type == OptionType::word_or_number) candidates.emplace_back(WordOrNumber{word, 0});
  }
  if (option.type == OptionType::word_or_number) candidates.emplace_back(WordOrNumber{"", 0.7});
  if (const auto* b = std::get_if<bool>(&option.default_value)) candidates.emplace_back(!*b);
  if (const auto* n = std::get_if<std::int64_t>(&option.default_value))
    for (std::int64_t v : {*n - 1, *n + 1, *n + 3}) candidates.emplace_back(v);
  if (const auto* x = std::get_if<double>(&option.default_value))
    for (double v : {*x / 4, *x * 2, *x + 0.25}) candidates.emplace_back(v);
  for (Value& value : candidates) {
    const auto allowed = [&](double v) {
      if (option.minimum && (v < *option.minimum || (option.minimum_excluded && v == *option.minimum))) return false;
      return !(option.maximum && (v > *option.maximum || (option.maximum_excluded && v == *option.maximum)));
    };
    if (const auto* n = std::get_if<std::int64_t>(&value); n && !allowed(static_cast<double>(*n))) continue;
    if (const auto* x = std::get_if<double>(&value); x && !allowed(*x)) continue;
    if (value != option.default_value) out.push_back(std::move(value));
  }
  return out;
}

/// One combination of option values of a variant.
struct Setup {
  OptionValues options;
  std::string text; ///< "cosine", "cosine with learned #1"
};

/// Values of the variant's own options without which an option has no effect: `true`, or a number other than 0.
inline OptionValues needed_beside(const Variant& variant, const std::string& option) {
  OptionValues out;
  for (const OptionCondition& c : variant.conditions) {
    const auto name_in = [&](const std::string& full) { return full.substr(full.rfind('.') + 1); };
    const auto is_own = [&](const std::string& full) {
      return full.ends_with("." + variant.name + "." + name_in(full));
    };
    if (c.unless || name_in(c.option) != option || !is_own(c.option) || !is_own(c.on)) continue;
    if (c.words.front() == "true") out[name_in(c.on)] = true;
    if (c.words.front() == OptionCondition::anything) out[name_in(c.on)] = std::int64_t{2};
  }
  return out;
}

/// The variant with all defaults, then with each other value of each option.
inline std::vector<Setup> setups(const Variant& variant) {
  std::vector<Setup> out{{{}, variant.name}};
  for (const Option& option : variant.options) {
    int number = 0;
    for (const Value& value : other_values(option)) {
      OptionValues values = needed_beside(variant, option.name);
      values[option.name] = value;
      out.push_back({std::move(values), variant.name + " with " + option.name + " #" + std::to_string(++number)});
    }
  }
  return out;
}

/// sum_i c_i y_i with fixed, distinct c_i: a loss that depends on every element of y.
inline Tensor weighted_sum(const Tensor& y) {
  const std::vector<Real> c = draw(y.size(), 99, {0.5, 1.5, 0});
  return sum(mul(y, y.tape->copy(c.data(), y.shape)));
}

inline bool all_zero(const std::vector<Real>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](Real v) { return v == Real{0}; });
}

} // namespace heed::HEED_REAL
