// What heed inspect measures of the state of a recurrence.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/squares.hpp"
#include "experiments/training/training.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

/// Sums over sequences, for each head: of the decays of their tokens, and of the norms and ranks of their last states.
class StateSums {
public:
  /// As Observer::state has them.
  void add(const Tensor& log_decay, const Tensor& state) {
    heads_.resize(static_cast<std::size_t>(state.shape[1]));
    const Tensor all = contiguous(state);
    const std::int64_t keys = state.shape[2], values = state.shape[3];
    for (std::int64_t row = 0; row < state.shape[0] * state.shape[1]; ++row)
      heads_[static_cast<std::size_t>(row % state.shape[1])].add_state(all.data + row * keys * values, keys, values);
    if (!log_decay.tape) return;
    const Tensor g = contiguous(log_decay);
    const std::int64_t each = g.shape[2] * g.shape[3];
    for (std::int64_t i = 0; i < g.size(); ++i) {
      Head& head = heads_[static_cast<std::size_t>(i / each % g.shape[1])];
      head.log_decay += static_cast<double>(g.data[i]);
      ++head.decays;
    }
  }
  void add(const StateSums& other) {
    heads_.resize(std::max(heads_.size(), other.heads_.size()));
    for (std::size_t h = 0; h < other.heads_.size(); ++h) heads_[h].add(other.heads_[h]);
  }

  /// The means of one head; nothing, if it is of attention.
  void put(HeadInspection& to, std::size_t h) const {
    if (h >= heads_.size()) return;
    const Head& head = heads_[h];
    if (head.log_decay < 0) to.half_life = std::log(2) * static_cast<double>(head.decays) / -head.log_decay;
    if (head.states == 0) return;
    to.state_norm = head.norm / static_cast<double>(head.states);
    to.state_rank = head.rank / static_cast<double>(head.states);
  }

private:
  struct Head {
    double log_decay = 0, norm = 0, rank = 0;
    std::int64_t decays = 0, states = 0; // states: that are not 0

    void add(const Head& other) {
      log_decay += other.log_decay;
      norm += other.norm;
      rank += other.rank;
      decays += other.decays;
      states += other.states;
    }
    // The state [K, V], with rows one after the other.
    void add_state(const Real* s, std::int64_t keys, std::int64_t values) {
      const double squares = sum_of_squares(s, keys * values);
      if (squares == 0) return;
      double of_products = 0;
      for (std::int64_t a = 0; a < values; ++a)
        for (std::int64_t b = 0; b < values; ++b) {
          double product = 0;
          for (std::int64_t k = 0; k < keys; ++k)
            product += static_cast<double>(s[k * values + a]) * static_cast<double>(s[k * values + b]);
          of_products += product * product;
        }
      norm += std::sqrt(squares);
      rank += squares * squares / of_products;
      ++states;
    }
  };

  std::vector<Head> heads_;
};

} // namespace heed::HEED_REAL
