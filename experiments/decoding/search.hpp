// Greedy and beam search for a model's most probable outputs.
#pragma once

#include "experiments/models/model.hpp"

#include <vector>

namespace heed::HEED_REAL {

/// What alpha is the power of, for an output of n tokens, its end included: (5 + n) / 6 (Wu et al. 2016, arXiv
/// 1609.08144, equation 14), or n, as fairseq has it.
enum class LengthPenalty { gnmt, fairseq };
/// By its word in a configuration; heed::Failed for any other.
LengthPenalty length_penalty_kind(const std::string& word);

struct SearchOptions {
  std::int64_t beam = 1;     ///< outputs that are followed at a time, for each row; 1: greedy
  double length_penalty = 0; ///< alpha; 0: the most probable output is the best
  LengthPenalty kind = LengthPenalty::gnmt;
  std::int64_t longest = 0;          ///< tokens of an output, the one that ends it included
  std::int32_t begin = -1, end = -1; ///< the tokens that begin and end an output; within one, `begin` never stands
  std::int64_t first_row = 0;        ///< the number of the batch's first row among all that are decoded (formulas' b)
};

/// What was found for a row.
struct Hypothesis {
  std::vector<std::int32_t> tokens; ///< without begin and end
  double log_probability = 0;       ///< of the tokens, and of the end where it has one
  double score = 0;                 ///< log_probability / length_factor
  bool ended = false;               ///< false: cut off at `longest`
};

/// What an output's log probability is divided by: ((5 + n) / 6)^alpha, or n^alpha; n tokens, the end included. 1 where
/// alpha is 0.
double length_factor(std::int64_t tokens, double alpha, LengthPenalty kind = LengthPenalty::gnmt);

/// The best output of each of the batch's rows by score. Each step follows all that are open, of all rows together, and
/// keeps the `beam` most probable of each row; an output that ends leaves the beam. A row is done when nothing that is
/// open can still come to a better score. At equal scores the one goes first whose beginning stood first, and then the
/// lower token; so the result is a function of the logits. With a beam of all beginnings there are, it is the exact
/// best.
/// The tape is rewound after every step.
std::vector<Hypothesis> search(Tape& tape, Parameters& parameters, const Model& model, const Batch& batch,
                               const SearchOptions& options);

} // namespace heed::HEED_REAL
