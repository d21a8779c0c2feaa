// The interface of normalisers, which turn scores into attention weights. Each normaliser is one file in normalizers/,
// registered like scores.
#pragma once

#include "autograd/normalize.hpp"
#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace heed::HEED_REAL {

/// Turns scores into attention weights. A normaliser that is the softmax, or has a rule per row, can stream. Any other
/// normaliser computes the weights of all rows itself.
class Normalizer {
public:
  virtual ~Normalizer() = default;
  /// Is it the softmax? A kernel for the softmax reads a row in pieces.
  virtual bool is_softmax() const { return false; }
  /// Does it divide each score by the row's sum, as `sum` does? Linear attention needs this.
  virtual bool is_sum() const { return false; }
  /// The rule; it lives as long as this object. Null: there is none, or it has learned parameters.
  virtual const RowRule* row_rule() const { return nullptr; }
  /// The rules for one attention of a pass. With learned parameters they are in the tape's memory; otherwise this is
  /// the rule.
  virtual const RowRules* rules(Pass&) const { return row_rule(); }
  virtual bool has_rules() const { return row_rule() != nullptr; }
  /// Do the weights depend on the keys' order and on the query's own position? Then only causal self attention can use
  /// the normaliser.
  bool is_ordered() const { return row_rule() && row_rule()->is_ordered(); }
  /// Is Gumbel noise added to the scores in training, before the rules are applied?
  virtual bool has_noise() const { return false; }
  /// scores [B, H, Tq, Tk] to weights of the same shape. The default applies the rules and the noise. Masked entries
  /// are 0. A row with only masked entries is all 0 and has a zero gradient.
  virtual Tensor operator()(Pass& pass, const Tensor& scores, const Mask& mask) const;
};

/// A normaliser that only applies a rule to each row.
template <class Rule> class RowNormalizer final : public Normalizer {
public:
  template <class... Arguments>
  explicit RowNormalizer(Arguments&&... arguments) : rule_(std::forward<Arguments>(arguments)...) {}
  const RowRule* row_rule() const override { return &rule_; }

private:
  Rule rule_;
};

/// A normaliser's name and its options.
struct NormalizerSetup {
  std::string name;
  OptionValues options;
};

struct NormalizerInfo {
  Variant about;
  /// Adds the normaliser's parameters, if it has any, to the scope.
  RequiredFunction<std::unique_ptr<Normalizer>(const Scope& scope, std::int64_t heads, const OptionValues& options)>
      make;
  /// The weights of one row in plain loops, for tests: `scores` of the unmasked entries, in order. Parameters have
  /// their initial values.
  RequiredFunction<void(const Real* scores, Real* weights, RowKeys keys, const OptionValues& options)> row;
  /// As Normalizer::is_ordered.
  bool is_ordered = false;
  /// For a normaliser whose own gradient is zero almost everywhere: the normaliser whose gradient it uses by definition
  /// (the straight-through estimator), or nothing if these options select its own gradient. Null: always its own
  /// gradient.
  std::optional<NormalizerSetup> (*gradient_of)(const OptionValues& options) = nullptr;
};

/// All registered normalisers, in Meson's order (generated).
std::span<const NormalizerInfo* const> normalizers();
const NormalizerInfo& normalizer_info(const std::string& name);

} // namespace heed::HEED_REAL
