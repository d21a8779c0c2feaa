#include "autograd/ops.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Looks at the scores of a pass over one row.
class KeylessQueries final : public Observer {
public:
  explicit KeylessQueries(const Batch& row) : row_(row) {}

  bool wants_scores() const override { return true; }

  void scores(const AttentionPlace& place, const Tensor& s) override {
    if (place.kind == AttentionPlace::Kind::pooling) return;
    Seen& seen = of(place);
    const std::int64_t heads = s.shape[1];
    const Tensor all = contiguous(s);
    // The maps of a head have one mask, so the first one is enough.
    for (std::int64_t q = 0; q < s.shape[2] / place.maps && seen.next < length_of(place); ++q, ++seen.next) {
      const auto sees_nothing = [&](std::int64_t head) {
        const Real* scores = all.data + (head * s.shape[2] + q) * s.shape[3];
        return std::all_of(scores, scores + s.shape[3], [](Real x) { return std::isinf(x) && x < 0; });
      };
      ++seen.found.queries;
      std::int64_t head = 0;
      while (head < heads && !sees_nothing(head)) ++head;
      if (head == heads) continue;
      if (seen.found.count++ == 0) std::tie(seen.found.query, seen.found.head) = std::pair(seen.next, head);
    }
  }

  std::vector<QueryWithoutKeys> found() const {
    std::vector<QueryWithoutKeys> out;
    for (const Seen& seen : seen_)
      if (seen.found.count > 0) out.push_back(seen.found);
    return out;
  }

private:
  struct Seen {
    QueryWithoutKeys found;
    std::int64_t next = 0; // position of the next call's first query
  };

  Seen& of(const AttentionPlace& place) {
    const auto found = std::ranges::find(seen_, place.module, [](const Seen& s) { return s.found.attention; });
    if (found != seen_.end()) return *found;
    return seen_.emplace_back(Seen{
        .found = {.attention = place.module, .cross = place.kind == AttentionPlace::Kind::cross}});
  }

  // The number of queries that are no padding.
  std::int64_t length_of(const AttentionPlace& place) const {
    const auto& lengths = place.reads == Reads::outputs ? row_.output_lengths : row_.lengths;
    return lengths.empty() ? std::numeric_limits<std::int64_t>::max() : lengths.front();
  }

  const Batch& row_;
  std::vector<Seen> seen_;
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
