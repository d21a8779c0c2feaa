// Normalisers whose row rule has a learned number for each head, such as a logit.
#pragma once

#include "autograd/attention_bias.hpp"
#include "layers/attention/normalizer.hpp"

#include <functional>
#include <new>
#include <type_traits>

namespace heed::HEED_REAL {

/// The rule of one head with its number. `Rule` is a RowRule with one more function:
///   double derivative(const Real* s, const Real* w, const Real* dw, const Real* ds, RowKeys keys) const
/// returns the derivative of sum_j dw_j w_j with respect to the number; ds is the derivative with respect to s. This
/// class sums it over the head's rows.
template <class Rule> class HeadRule final : public RowRule {
public:
  explicit HeadRule(const Rule& rule) : rule_(rule) {}

  bool is_ordered() const override { return rule_.is_ordered(); }
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override {
    rule_.weights(s, w, keys, scratch, value);
  }
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    rule_.backward(value, s, w, dw, ds, keys, scratch);
    sum_ += rule_.derivative(s, w, dw, ds, keys);
  }
  void weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override {
    rule_.weights_and_backward(value, s, w, dw, ds, keys, scratch);
    sum_ += rule_.derivative(s, w, dw, ds, keys);
  }
  void begin_backward() const override { sum_ = 0; }
  double sum() const { return sum_; }

private:
  Rule rule_;
  mutable double sum_ = 0; // used by one thread: the rules belong to one pass
};

/// The rules of all heads, in the tape's memory.
template <class Rule> class LearnedRows final : public RowRules {
public:
  /// `numbers` [heads]: `make` gives the rule for each.
  LearnedRows(const Tensor& numbers, const std::function<Rule(Real)>& make)
      : numbers_(contiguous(numbers)), heads_(numbers.tape->keep<HeadRule<Rule>>(numbers.shape[0])) {
    for (std::int64_t h = 0; h < numbers_.shape[0]; ++h) new (heads_ + h) HeadRule<Rule>(make(numbers_.data[h]));
  }

  const RowRule& of_head(std::int64_t h) const override { return heads_[h]; }
  bool requires_grad() const override { return numbers_.slot->requires_grad; }
  void begin_backward() const override {
    for (std::int64_t h = 0; h < numbers_.shape[0]; ++h) heads_[h].begin_backward();
  }
  void end_backward(Tape& tape) const override {
    if (Real* d = tape.grad_accumulator(numbers_))
      for (std::int64_t h = 0; h < numbers_.shape[0]; ++h) d[h] += static_cast<Real>(heads_[h].sum());
  }

private:
  Tensor numbers_;
  HeadRule<Rule>* heads_;
};

/// A normaliser with such rules. Its parameter `name` [heads] starts at `start`. `make` gives the rule of a number, and
/// `numbers_of`, if given, the numbers from the parameter.
template <class Rule> class LearnedNormalizer final : public Normalizer {
public:
  LearnedNormalizer(const Scope& scope, const char* name, std::int64_t heads, double start,
                    std::function<Rule(Real)> make, Tensor (*numbers_of)(const Tensor&) = nullptr)
      : parameter_(scope.no_decay(name, {heads}, Init::constant(start))), make_(std::move(make)),
        numbers_of_(numbers_of) {}

  const RowRules* rules(Pass& pass) const override {
    static_assert(std::is_trivially_destructible_v<LearnedRows<Rule>> &&
                  std::is_trivially_destructible_v<HeadRule<Rule>>);
    const Tensor parameter = pass(parameter_), numbers = numbers_of_ ? numbers_of_(parameter) : parameter;
    return new (pass.tape().keep<LearnedRows<Rule>>(1)) LearnedRows<Rule>(numbers, make_);
  }
  bool has_rules() const override { return true; }

private:
  ParameterId parameter_;
  std::function<Rule(Real)> make_;
  Tensor (*numbers_of_)(const Tensor&);
};

} // namespace heed::HEED_REAL
