#include "autograd/ops.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/row_scores.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Looks at the scores of a pass over one row.
class KeylessQueries final : public RowScores {
public:
  explicit KeylessQueries(const Batch& row) : row_(row) {}

  std::vector<QueryWithoutKeys> found() const {
    std::vector<QueryWithoutKeys> out;
    std::ranges::copy_if(seen_, std::back_inserter(out), [](const QueryWithoutKeys& seen) { return seen.count > 0; });
    return out;
  }

private:
  void query(const AttentionPlace& place, std::int64_t position, const Query& scores) override {
    if (place.kind == AttentionPlace::Kind::pooling || position >= length_of(place)) return;
    QueryWithoutKeys& seen = of(place);
    ++seen.queries;
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      if (!std::ranges::all_of(scores.head(head), [](Real x) { return std::isinf(x) && x < 0; })) continue;
      if (seen.count++ == 0) std::tie(seen.query, seen.head) = std::pair(position, head);
      return;
    }
  }

  QueryWithoutKeys& of(const AttentionPlace& place) {
    const auto found = std::ranges::find(seen_, place.module, &QueryWithoutKeys::attention);
    if (found != seen_.end()) return *found;
    return seen_.emplace_back(QueryWithoutKeys{.attention = place.module,
                                               .cross = place.kind == AttentionPlace::Kind::cross});
  }

  // The number of queries that are no padding.
  std::int64_t length_of(const AttentionPlace& place) const {
    const auto& lengths = place.reads == Reads::outputs ? row_.output_lengths : row_.lengths;
    return lengths.empty() ? std::numeric_limits<std::int64_t>::max() : lengths.front();
  }

  const Batch& row_;
  std::vector<QueryWithoutKeys> seen_;
};

} // namespace

std::vector<QueryWithoutKeys> queries_without_keys(const Config& config, const Task& task) {
  RunModel run(config, task);
  if (task.evaluation_rows(run.form, Split::validation) == 0) return {};
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  Batch row;
  fill_evaluation_batch(task, run, Split::validation, 0, 1, row);
  if (run.shape.varied) row.trim(); // as in training
  KeylessQueries observer(row);
  Tape tape;
  tape.record(false);
  Pass pass(tape, run.parameters, nullptr, {.observer = &observer});
  run.model->logits(pass, row);
  return observer.found();
}

} // namespace heed::HEED_REAL
