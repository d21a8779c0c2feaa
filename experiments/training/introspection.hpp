// What goes on inside a model at work: what attention heads look at and are worth, how large outputs and gradients are.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/run_model.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// Sums over a head's queries that attend to anything.
struct HeadSums {
  double entropy = 0, distance = 0;
  std::int64_t queries = 0;
};

/// Adds the query at `position`, whose weights over n keys stand `stride` apart: with p_j the weights divided by their
/// sum, -sum_j p_j ln p_j to the entropy and sum_j p_j |position - j| to the distance. Nothing where the sum is 0.
void add_query(HeadSums& sums, const Real* weights, std::int64_t stride, std::int64_t n, std::int64_t position);

/// What is looked at.
struct Looks {
  bool attention = false;   ///< each head's entropy and distance
  bool importance = false;  ///< and what the loss is without it
  bool activations = false; ///< modules' outputs
  bool gradients = false;   ///< modules' gradients of the rows' mean loss
};

/// What [train] inspect looks at in the validation split. Gradients are not among it: a step in training has its own.
Looks looks_of(const TrainOptions& options);

/// Looks at the model, with dropout off, on a split's first `rows` rows (0: all; heed::Failed where there are none).
///
/// A head's weights w_ij over keys j, divided by their sum, are p_ij. entropy is the mean over queries i of
/// -sum_j p_ij ln p_ij, and distance that of sum_j p_ij |i - j|; padding counts as no query, nor does one that attends
/// to nothing. Where an attention is called step by step, its i-th query is the i-th step's; in cross attention, i and
/// j are positions in two sequences. importance is the rise of the mean loss over targets when the head gives zeros
/// (Michel et al. 2019, arXiv 1905.10650). activation is the root mean square of all that a module gives, padding left
/// out.
///
/// Rows are looked at in pieces of fixed size whose sums are added in order: the same bits whatever the threads.
/// `tapes`, one for each thread, lend their memory; without them it takes its own.
Inspection inspect_model(const Config& config, const Task& task, RunModel& run, Split split, std::int64_t rows,
                         const Looks& looks, Workers& workers, std::span<const std::unique_ptr<Tape>> tapes = {});

/// Euclidean norms of a gradient, module by module. Their squares add up to the whole gradient's. `gradient` is laid
/// out as the parameters are.
void add_gradient_norms(Inspection& inspection, const Parameters& parameters, const Real* gradient);

/// As metrics: attention_entropy.LAYER.HEAD, attention_distance., head_importance., activation_norm.MODULE,
/// gradient_norm.MODULE.
std::vector<std::pair<std::string, double>> as_metrics(const Inspection& inspection);

/// Throws heed::Refused where [train] inspect asks for attention heads, and the model has none.
void check_inspection(const Config& config, const Task& task, RunModel& run);

} // namespace heed::HEED_REAL
