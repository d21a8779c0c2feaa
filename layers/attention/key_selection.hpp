// The interface of selections of keys: rules by which each query attends to some of the keys, chosen by the queries and
// keys themselves. The part `selection` of attention has them (parts/selection.cpp).
#pragma once

#include "autograd/mask.hpp"
#include "autograd/tape.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace heed::HEED_REAL {

class Normalizer;
class Pass;
struct PartSequence;

/// Chooses keys for each query of causal self attention. The choice has no gradient. Queries may be some of a sequence,
/// and later keys may be missing: the choice for a query depends on neither.
class KeySelection {
public:
  virtual ~KeySelection() = default;
  /// Can the weights differ from the normaliser's with the mask alone, where there are so many keys?
  virtual bool acts(std::int64_t keys, const Mask& mask) const = 0;
  /// The mask without the pairs that have no weight. q [B, H, Tq, D] and k [B, H, Tk, D] are the queries and keys as
  /// the score sees them.
  virtual Mask chosen(const Tensor& q, const Tensor& k, const Mask& mask) const = 0;
  /// The weights, [B, H, Tq, Tk], from the scores and the mask that is the result of `chosen`. `gates`:
  /// AttentionInputs::gates.
  virtual Tensor weights(Pass& pass, const Normalizer& normalizer, const Tensor& scores, const Mask& mask,
                         const Tensor& gates) const;
};

/// The numbers of a selection.
struct SelectionSizes {
  std::int64_t block = 1;  ///< keys in a block
  std::int64_t chosen = 1; ///< blocks that a query attends to, with its own
  std::int64_t window = 1; ///< nsa: keys that a query attends to in any case, with its own
  std::int64_t groups = 1; ///< heads of values: equal numbers of adjacent heads share each of them
};

/// A kind of selection.
struct SelectionKind {
  std::unique_ptr<KeySelection> (*make)(const SelectionSizes& sizes);
  std::int64_t gates; ///< numbers for each token and head that are multiplied with weights
  /// The weights of query i in a head by the softmax, in plain loops, from the scores of all heads with keys 0 ... i
  /// and from the gates of this head. Heads count maps.
  std::vector<double> (*loops)(const PartSequence& sequence, const SelectionSizes& sizes, std::int64_t head,
                               std::int64_t i, const std::vector<std::vector<double>>& scores,
                               const std::vector<double>& gates);
};
extern const SelectionKind selection_moba, selection_nsa;

/// Leaves only the best `count` of the blocks: those with the largest scores, and of equal scores the earlier blocks.
/// NaN counts as the smallest score. scores: of all blocks.
void keep_best(std::vector<std::int64_t>& blocks, const std::vector<Real>& scores, std::int64_t count);

} // namespace heed::HEED_REAL
