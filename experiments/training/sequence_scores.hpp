// Puts the scores of a pass over one sequence together.
#pragma once

#include "autograd/ops.hpp"
#include "experiments/models/model.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace heed::HEED_REAL {

/// Gets the scores of each query, in the order of the sequence, by however many parts an attention reports them.
class SequenceScores : public Observer {
public:
  /// The scores of one query in the first map of each head, without the last keys if their part has none that is seen.
  struct Query {
    const Real* first;
    std::int64_t heads, stride, keys;
    std::span<const Real> head(std::int64_t of) const { return {first + of * stride, static_cast<std::size_t>(keys)}; }
  };

  bool wants_scores() const final { return true; }
  void scores(const AttentionPlace& place, const Tensor& part) final {
    std::int64_t& next = next_[place.module];
    const Tensor all = contiguous(part);
    const std::int64_t rows = all.shape[2], keys = all.shape[3];
    for (std::int64_t q = 0; q < rows / place.maps; ++q) // the first map's queries come first
      query(place, next++, {all.data + q * keys, all.shape[1], rows * keys, keys});
  }

protected:
  /// @param position  of the query in its sequence
  virtual void query(const AttentionPlace& place, std::int64_t position, const Query& scores) = 0;

private:
  std::unordered_map<std::string, std::int64_t> next_; // position of a module's next query
};

} // namespace heed::HEED_REAL
