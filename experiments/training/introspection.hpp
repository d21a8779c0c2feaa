// Measures a model's internals on a split: entropy, distance and importance of attention heads, and the sizes of
// activations, gradients and weights.
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

/// Sums over the queries of a head. A query that attends to nothing is not counted.
struct HeadSums {
  double entropy = 0, distance = 0, first_key = 0;
  std::int64_t queries = 0, later_queries = 0; ///< later: without the queries at position 0

  void add(const HeadSums& other);
};

/// Adds the query at `position`. Its weights over n keys are `stride` apart. p_j is the size of a weight, which may be
/// negative, divided by the sum of the sizes. Adds -sum_j p_j ln p_j to the entropy and sum_j p_j |position - j| to the
/// distance. Adds p_0 to first_key unless the position is 0. Adds nothing if the sum is 0.
void add_query(HeadSums& sums, const Real* weights, std::int64_t stride, std::int64_t n, std::int64_t position);

/// The count of some values, their mean, and the sum of their squared deviations from the mean (Chan et al. 1979).
struct Spread {
  std::int64_t count = 0;
  double mean = 0, squares = 0;

  void add(const Spread& other);
  /// The population variance of the values; 0 if there are none.
  double variance() const { return count > 0 ? squares / static_cast<double>(count) : 0; }
};

/// The Spread of n values without those that are -infinity.
Spread spread_of(const Real* numbers, std::int64_t n);

/// X - 1 m^T| / |X|. m is the mean of the rows of X, and |A| = sqrt(|A|_1 |A|_inf), where |A|_1 is the largest absolute
/// column sum and |A|_inf the largest absolute row sum. x is [T, D]. None if X is 0. Dong, Cordonnier and Loukas 2021
/// (arXiv 2103.03404) use the vector that minimises the expression in place of m; the mean gives the same value or a
/// larger one.
std::optional<double> rank_residual(const Real* x, std::int64_t rows, std::int64_t width);

/// Selects the quantities that are measured.
struct InspectionParts {
  bool attention = false;   ///< entropy and distance of each head
  bool importance = false;  ///< importance of each head: the loss without it
  bool activations = false; ///< outputs of modules
  bool gradients = false;   ///< gradients of the sequences' mean loss, by module; with `layers`, also by layer
  bool scores = false;      ///< score variance and first-key weight of each head
  bool states = false;      ///< decay and state of each head of a recurrence
  bool layers = false;      ///< outputs of layers; weights of modules and of layers
};

/// Everything.
constexpr InspectionParts all_parts{.attention = true,
                                    .importance = true,
                                    .activations = true,
                                    .gradients = true,
                                    .scores = true,
                                    .states = true,
                                    .layers = true};

/// The parts that [train] inspect measures on the validation split.
InspectionParts inspected_parts(const TrainOptions& options);

/// Measures the selected parts of the model, without dropout, on a split's first `sequences` sequences (0: all
/// sequences). Throws heed::Failed if there are no sequences.
///
/// The sizes of a head's weights w_ij over keys j, divided by their sum, are p_ij.
///
/// - entropy is the mean over queries i of -sum_j p_ij ln p_ij, and distance is the mean over i of sum_j p_ij |i - j|.
///   Padding, and queries that attend to nothing, are not counted. If an attention is called once per step, its i-th
///   query is the query of the i-th step. In cross attention, i and j are positions in two sequences.
/// - importance is the increase of the mean loss over targets when the head's output is replaced by zeros (Michel et
///   al. 2019, arXiv 1905.10650).
/// - first_key is the mean of p_i0 over all queries except the first (attention sinks: Xiao et al. 2023, arXiv
///   2309.17453).
/// - score_variance is the variance of the normaliser's input (including positions and score formulas) over all pairs
///   of a query and a key that it attends to. A recurrence has none.
/// - half_life, of a recurrence, is ln 2 / the mean of -g over tokens and channels, with g the logarithm of the decay.
/// - state_norm and state_rank are means over sequences of |S| and |S|^4 / |S^T S|^2, with S the state after the last
///   token and |A|^2 the sum of squares. The latter is n if S has n equal singular values and otherwise zeros (the
///   participation ratio of the squared singular values).
/// - activation is the root mean square of a module's output without padding.
/// - A layer's rank_residual is the mean over sequences with more than one token (see `rank_residual`).
///
/// Sequences are processed in pieces of fixed size and the sums of the pieces are added in order, so the results are
/// bit-identical for any number of threads. `tapes`, one for each thread, provide memory; without them, the function
/// allocates its own. With Content::outline, the result has the same entries as with Content::whole, with different
/// values.
Inspection inspect_model(const Config& config, const Task& task, RunModel& run, Split split, std::int64_t sequences,
                         const InspectionParts& looks, ThreadPool& workers,
                         std::span<const std::unique_ptr<Tape>> tapes = {}, Content content = Content::whole);

/// Adds Euclidean norms of a gradient: one for each module, and one for each layer in the inspection. The squares of
/// the modules' norms add up to the square of the whole gradient's norm. `gradient` has the layout of the parameters.
void add_gradient_norms(Inspection& inspection, const Parameters& parameters, const Real* gradient);

/// The inspection as metrics of heads, modules and layers, with the names of metrics/catalogue.hpp.
std::vector<std::pair<std::string, double>> as_metrics(const Inspection& inspection);

/// The names of the metrics, with summaries, that [train] inspect measures in the untrained model.
std::vector<std::string> inspected_names(const Config& config, const Task& task);

/// Throws heed::Refused if [train] inspect asks for attention heads and the model has none.
void check_inspection(const Config& config, const Task& task, RunModel& run);

} // namespace heed::HEED_REAL
