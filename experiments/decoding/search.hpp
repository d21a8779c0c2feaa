// Greedy search and beam search for a model's most probable outputs, and token-by-token decoding for models that have
// none of their own.
#pragma once

#include "experiments/models/model.hpp"

#include <vector>

namespace heed::HEED_REAL {

/// The base of the length penalty's power alpha, for an output of n tokens including the end token: gnmt is (5 + n) / 6
/// (Wu et al. 2016, arXiv 1609.08144, equation 14); fairseq is n.
enum class LengthPenalty { gnmt, fairseq };
/// The length penalty by its word in a configuration. Throws heed::Failed for any other word.
LengthPenalty length_penalty_kind(const std::string& word);

struct SearchOptions {
  std::int64_t beam = 1;     ///< number of outputs in the beam of each sequence; 1: greedy
  double length_penalty = 0; ///< alpha; 0: the best output is the most probable
  LengthPenalty kind = LengthPenalty::gnmt;
  std::int64_t longest = 0;          ///< maximum number of tokens of an output, including the end token
  std::int32_t begin = -1, end = -1; ///< the begin and end token of an output; `begin` never occurs inside an output
  /// the index of the batch's first sequence among all decoded sequences (`b` in formulas)
  std::int64_t first_sequence = 0;
};

/// The best output found for a sequence.
struct Hypothesis {
  std::vector<std::int32_t> tokens; ///< without begin and end
  double log_probability = 0;       ///< of the tokens, and of the end token if there is one
  double score = 0;                 ///< log_probability / length_factor
  bool ended = false;               ///< false: cut off at `longest`
};

/// The divisor of an output's log probability: ((5 + n) / 6)^alpha or n^alpha, for n tokens including the end token. It
/// is 1 if alpha is 0.
double length_factor(std::int64_t tokens, double alpha, LengthPenalty kind = LengthPenalty::gnmt);

/// The output with the best score for each sequence of the batch. Each step extends all open outputs of all sequences
/// together, and keeps the `beam` most probable open outputs of each sequence. An output that ends leaves the beam. A
/// sequence is finished when none of its open outputs can reach a better score. Equal scores are ordered by the
/// position of the extended output in the beam, then by the smaller token. So the result is a function of the logits.
/// If the beam is at least the number of possible prefixes, the result is the exact optimum. The tape is rewound after
/// every step.
std::vector<Hypothesis> search(Tape& tape, Parameters& parameters, const Model& model, const Batch& batch,
                               const SearchOptions& options);

/// The model's own decoding. If the model has none, a decoding that recomputes all logits of a sequence for every
/// token. The model must outlive the returned object. Throws heed::Failed for a format without an output to decode.
std::unique_ptr<Decoding> start_decoding(const Model& model, Pass& pass, const Batch& batch);

/// A decoding that recomputes all logits of a sequence for every token, even if the model has a decoding of its own.
std::unique_ptr<Decoding> reread(const Model& model, const Batch& batch);

} // namespace heed::HEED_REAL
