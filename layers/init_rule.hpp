// Rules for the initial values of a model's parameters, by the kind of parameter.
#pragma once

#include "autograd/parameters.hpp"

namespace heed::HEED_REAL {

/// Fan-in and fan-out of a weight matrix.
struct Fans {
  std::int64_t in = 1, out = 1;
  /// A parameter may hold two matrices with the same inputs, one after the other. `first_numbers`: the number of
  /// entries of the first matrix; `second_out`: the fan-out of the second. 0: there is only one matrix.
  std::int64_t first_numbers = 0, second_out = 0;
};

/// How weights are initialised: from a given distribution, or by a rule from the fans.
///   xavier_uniform:  U(-b, b), b = sqrt(6 / (in + out))       (Glorot and Bengio 2010)
///   xavier_normal:   N(0, s^2), s = sqrt(2 / (in + out))
///   torch:           U(-b, b), b = 1 / sqrt(in), also for biases: the default of torch.nn.Linear and Conv2d
///                    (kaiming_uniform_ with a = sqrt(5)); all other rules start biases at zero
struct InitRule {
  enum class Rule { given, xavier_uniform, xavier_normal, torch };
  Rule rule = Rule::given;
  Init init{}; ///< for Rule::given

  InitRule() = default;
  InitRule(const Init& given) : init(given) {}
  explicit InitRule(Rule chosen) : rule(chosen) {}

  Init weight(const Fans& fans) const;
  Init bias(std::int64_t fan_in) const;
};

/// The rules for all kinds of parameters.
struct InitRules {
  InitRule linear;               ///< affine maps and convolutions
  InitRule embedding, position;  ///< token embeddings; learned position embeddings
  InitRule head;                 ///< the linear map to the logits
  bool linear_is_chosen = false; ///< does `linear` also replace the layers' own initial distributions?
  bool qkv_as_one = false;       ///< use the fans of the stacked query, key and value matrices, not of each matrix

  InitRules(const InitRule& all) : linear(all), embedding(all), position(all), head(all) {}
};

} // namespace heed::HEED_REAL
