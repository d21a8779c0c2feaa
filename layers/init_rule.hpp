// What a model's parameters start with, by kind.
#pragma once

#include "autograd/parameters.hpp"

namespace heed::HEED_REAL {

/// Of a matrix of weights: over how many inputs each of its outputs is a sum, and how many outputs there are.
struct Fans {
  std::int64_t in = 1, out = 1;
  /// A parameter may hold two matrices with the same inputs, one after the other: the first has so many numbers, and
  /// the second so many outputs; 0: there is one.
  std::int64_t first_numbers = 0, second_out = 0;
};

/// What weights start with: numbers drawn from a given distribution, or by a rule from the fans.
///   xavier_uniform:  U(-b, b), b = sqrt(6 / (in + out))       (Glorot and Bengio 2010)
///   xavier_normal:   N(0, s^2), s = sqrt(2 / (in + out))
///   torch:           U(-b, b), b = 1 / sqrt(in), biases too: torch.nn.Linear and Conv2d without more said
///                    (kaiming_uniform_ with a = sqrt(5)); all other rules start biases at zero
struct InitRule {
  enum class Rule { given, xavier_uniform, xavier_normal, torch };
  Rule rule = Rule::given;
  Init init{}; ///< where it is given

  InitRule() = default;
  InitRule(const Init& given) : init(given) {}
  explicit InitRule(Rule chosen) : rule(chosen) {}

  Init weight(const Fans& fans) const;
  Init bias(std::int64_t fan_in) const;
};

/// The rules for all kinds of parameters.
struct InitRules {
  InitRule linear;               ///< affine maps and convolutions
  InitRule embedding, position;  ///< vectors of tokens; learned vectors of positions
  InitRule head;                 ///< the map to the logits
  bool linear_is_chosen = false; ///< does `linear` hold for layers, too, that have a start of their own?
  bool qkv_as_one = false;       ///< the fans of queries', keys' and values' matrices are those of all three together

  InitRules(const InitRule& all) : linear(all), embedding(all), position(all), head(all) {}
};

} // namespace heed::HEED_REAL
