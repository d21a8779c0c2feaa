#include "experiments/training/evaluation.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

constexpr std::int64_t rows_per_piece = 16;

struct Score {
  double loss = 0;
  std::int64_t targets = 0, right = 0, rows = 0, rows_right = 0;

  void add(const Score& other) {
    loss += other.loss;
    targets += other.targets;
    right += other.right;
    rows += other.rows;
    rows_right += other.rows_right;
  }
};

// Loss and hits of the rows, from the logits and nothing else.
Score score(const Tensor& logits, const Batch& batch) {
  const std::int64_t classes = logits.shape[-1];
  const std::int64_t per_row = static_cast<std::int64_t>(batch.targets.size()) / std::max<std::int64_t>(batch.rows, 1);
  Score s;
  s.rows = batch.rows;
  for (std::int64_t r = 0; r < batch.rows; ++r) {
    bool all_right = true;
    for (std::int64_t i = 0; i < per_row; ++i) {
      const std::int32_t target = batch.targets[static_cast<std::size_t>(r * per_row + i)];
      if (target == ignored) continue;
      const Real* p = logits.data + (r * per_row + i) * classes;
      const Real* best = std::max_element(p, p + classes);
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(p[c]) - static_cast<double>(*best));
      s.loss += static_cast<double>(*best) + std::log(sum) - static_cast<double>(p[target]);
      const bool right = best - p == target;
      ++s.targets;
      s.right += right;
      all_right = all_right && right;
    }
    s.rows_right += all_right;
  }
  return s;
}

std::string prefix(Split split) {
  switch (split) {
  case Split::train: return "train_split";
  case Split::validation: return "val";
  case Split::test: return "test";
  }
  return "";
}

} // namespace

std::vector<std::pair<std::string, double>> evaluate_split(const Config& config, const Task& task, RunModel& run,
                                                           Split split, std::int64_t rows, Workers& workers) {
  const std::int64_t all = task.evaluation_rows(run.form, split);
  rows = rows > 0 ? std::min(rows, all) : all;
  if (rows == 0)
    throw Failed(fmt::format("[evaluate] the {} split has no rows",
                             split == Split::test ? "test" : split == Split::train ? "training" : "validation"));
  const auto pieces = static_cast<int>((rows + rows_per_piece - 1) / rows_per_piece);
  std::vector<Score> scores(static_cast<std::size_t>(pieces));
  const auto count = static_cast<std::size_t>(workers.threads());
  std::vector<std::unique_ptr<Tape>> tapes(count);
  for (auto& tape : tapes) {
    tape = std::make_unique<Tape>();
    tape->record(false);
  }
  std::vector<Batch> batches(count);
  workers.run(pieces, [&](int piece, int worker) {
    Tape& tape = *tapes[static_cast<std::size_t>(worker)];
    Batch& batch = batches[static_cast<std::size_t>(worker)];
    const std::int64_t first = piece * rows_per_piece, n = std::min(rows_per_piece, rows - first);
    batch.reset(n, run.shape, run.form);
    for (std::int64_t i = 0; i < n; ++i) task.evaluation_row(run.form, split, first + i, batch, i);
    if (run.shape.varied) batch.trim();
    Pass pass(tape, run.parameters, nullptr, {});
    scores[static_cast<std::size_t>(piece)] = score(run.model->logits(pass, batch), batch);
    tape.rewind();
  });
  Score total;
  for (const Score& s : scores) total.add(s);
  const std::string name = prefix(split);
  const auto share = [](std::int64_t part, std::int64_t of) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(of, 1));
  };
  std::vector<std::pair<std::string, double>> out{
      {name + "_loss", total.loss / static_cast<double>(std::max<std::int64_t>(total.targets, 1))},
      {name + "_accuracy", share(total.right, total.targets)}};
  if (has_sequence_accuracy(config)) out.emplace_back(name + "_sequence_accuracy", share(total.rows_right, total.rows));
  return out;
}

} // namespace heed::HEED_REAL
