// Normalisers: from scores to weights. One file each in normalizers/, registered like scores.
#pragma once

#include "autograd/normalize.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace heed::HEED_REAL {

/// Attention weights from scores. It is the softmax or gives a rule for one row, and then streams; or it computes the
/// weights of all rows itself.
class Normalizer {
public:
  virtual ~Normalizer() = default;
  /// Is it the softmax? There is a kernel for that which sees a row piece by piece.
  virtual bool is_softmax() const { return false; }
  /// The rule, which lives as long as this; null: there is none, or it has learned numbers.
  virtual const RowPolicy* row_policy() const { return nullptr; }
  /// Rules that have learned numbers, as they are in one attention of a pass, in the tape's memory; otherwise the rule.
  virtual const RowRules* rules(Pass&) const { return row_policy(); }
  virtual bool has_rules() const { return row_policy() != nullptr; }
  /// Is Gumbel noise added to scores before the rules see them, in training?
  virtual bool has_noise() const { return false; }
  /// scores [B, H, Tq, Tk] to weights of the same shape, by the rules, with the noise, if not said otherwise. Masked
  /// entries are 0; a row without any other is all 0, with a zero gradient.
  virtual Tensor operator()(Pass& pass, const Tensor& scores, const Mask& mask) const;
};

/// A normaliser that is the rule for one row.
template <class Rule> class RowNormalizer final : public Normalizer {
public:
  template <class... Arguments>
  explicit RowNormalizer(Arguments&&... arguments) : rule_(std::forward<Arguments>(arguments)...) {}
  const RowPolicy* row_policy() const override { return &rule_; }

private:
  Rule rule_;
};

/// A normaliser by name, with options of its own.
struct NormalizerSetup {
  std::string name;
  OptionValues options;
};

struct NormalizerInfo {
  Variant about;
  /// Adds its parameters, if it has any, to the scope.
  std::unique_ptr<Normalizer> (*make)(const Scope& scope, std::int64_t heads, const OptionValues& options);
  /// The weights of one row in plain loops, for tests: `scores` of the n entries that may be attended to, in order.
  /// Parameters are what they start with.
  void (*row)(const Real* scores, Real* weights, std::int64_t n, const OptionValues& options);
  /// For one whose gradient is by definition another's, since its own is zero almost everywhere: that other one (the
  /// straight-through estimator), or nothing where these options make the gradient its own. Null: always its own.
  std::optional<NormalizerSetup> (*gradient_of)(const OptionValues& options) = nullptr;
};

/// All registered normalisers, in Meson's order (generated).
std::span<const NormalizerInfo* const> normalizers();
const NormalizerInfo& normalizer_info(const std::string& name);

} // namespace heed::HEED_REAL
