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
  double entropy = 0, distance = 0, first_key = 0;
  std::int64_t queries = 0, later_queries = 0; ///< later: but those at position 0

  void add(const HeadSums& other);
};

/// Adds the query at `position`, whose weights over n keys stand `stride` apart: with p_j the weights divided by their
/// sum, -sum_j p_j ln p_j to the entropy, sum_j p_j |position - j| to the distance, and p_0 to first_key, unless the
/// position is 0. Nothing where the sum is 0.
void add_query(HeadSums& sums, const Real* weights, std::int64_t stride, std::int64_t n, std::int64_t position);

/// How many numbers there were, their mean, and the sum of their squared distances from it (Chan et al. 1979).
struct Spread {
  std::int64_t count = 0;
  double mean = 0, squares = 0;

  void add(const Spread& other);
  /// The population's, of these numbers; 0 where there are none.
  double variance() const { return count > 0 ? squares / static_cast<double>(count) : 0; }
};

/// Of n numbers, those that are not -infinity.
Spread spread_of(const Real* numbers, std::int64_t n);

/// |X - 1 m^T| / |X| with m the mean of X's rows and |A| = sqrt(|A|_1 |A|_inf), the greatest sum of sizes in a column
/// and in a row; x [T, D]. None where X is 0. (Dong, Cordonnier and Loukas 2021, arXiv 2103.03404, take the vector in
/// place of m with which it is least: with the mean it is that or more.)
std::optional<double> rank_residual(const Real* x, std::int64_t rows, std::int64_t width);

/// What is looked at.
struct InspectionParts {
  bool attention = false;   ///< each head's entropy and distance
  bool importance = false;  ///< and what the loss is without it
  bool activations = false; ///< modules' outputs
  bool gradients = false;   ///< modules' gradients of the rows' mean loss; with `layers`, theirs, too
  bool scores = false;      ///< each head's scores, and what the first key gets
  bool layers = false;      ///< layers' outputs; weights of modules and of layers
};

/// All that there is.
constexpr InspectionParts all_parts{
    .attention = true, .importance = true, .activations = true, .gradients = true, .scores = true, .layers = true};

/// What [train] inspect looks at in the validation split.
InspectionParts inspected_parts(const TrainOptions& options);

/// InspectionParts at the model, with dropout off, on a split's first `rows` rows (0: all; heed::Failed where there are none).
///
/// A head's weights w_ij over keys j, divided by their sum, are p_ij. entropy is the mean over queries i of
/// -sum_j p_ij ln p_ij, and distance that of sum_j p_ij |i - j|; padding counts as no query, nor does one that attends
/// to nothing. Where an attention is called step by step, its i-th query is the i-th step's; in cross attention, i and
/// j are positions in two sequences. importance is the rise of the mean loss over targets when the head gives zeros
/// (Michel et al. 2019, arXiv 1905.10650). first_key is the mean of p_i0 over queries but the first (Xiao et al. 2023,
/// arXiv 2309.17453: attention sinks), and score_variance the variance of what the normaliser is given (positions and
/// formulas included) over all pairs of a query and a key that it attends to. activation is the root mean square of all
/// that a module gives, padding left out. A layer's rank_residual is the mean over rows of more than one token
/// (`rank_residual`).
///
/// Rows are looked at in pieces of fixed size whose sums are added in order: the same bits whatever the threads.
/// `tapes`, one for each thread, lend their memory; without them it takes its own. Of rows' outlines, there is what there
/// is of rows, with other values.
Inspection inspect_model(const Config& config, const Task& task, RunModel& run, Split split, std::int64_t rows,
                         const InspectionParts& looks, Workers& workers,
                         std::span<const std::unique_ptr<Tape>> tapes = {}, Content content = Content::whole);

/// Euclidean norms of a gradient, module by module, and of the inspection's layers. Modules' squares add up to the whole
/// gradient's. `gradient` is laid out as the parameters are.
void add_gradient_norms(Inspection& inspection, const Parameters& parameters, const Real* gradient);

/// By the names of inspected_metrics.hpp: those of heads, of modules, and of layers.
std::vector<std::pair<std::string, double>> as_metrics(const Inspection& inspection);

/// The names of what [train] inspect measures in the model as it starts, with summaries.
std::vector<std::string> inspected_names(const Config& config, const Task& task);

/// Throws heed::Refused where [train] inspect asks for attention heads, and the model has none.
void check_inspection(const Config& config, const Task& task, RunModel& run);

} // namespace heed::HEED_REAL
