#include "experiments/training/evaluation.hpp"

#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/training/decoded_metrics.hpp"
#include "experiments/training/process_group.hpp"
#include "experiments/training/worker_passes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace heed::HEED_REAL {

namespace {

// Counts of targets and sequences, and of correct ones. Targets are those that count for the accuracy.
struct Hits {
  std::int64_t targets = 0, right = 0, sequences = 0, sequences_right = 0;

  void add(const Hits& other) {
    targets += other.targets;
    right += other.right;
    sequences += other.sequences;
    sequences_right += other.sequences_right;
  }
};

// What is scored beside the sums of all sequences.
enum class Detail { none, by_length, by_example };

struct SequencesScore {
  double loss = 0;
  std::int64_t loss_targets = 0;
  Hits hits;
  std::map<std::int64_t, Hits> by_length; // only if requested
  std::vector<ExampleScore> examples;     // likewise

  void pack(Packed& packed) const {
    packed.add(loss).add(loss_targets).add(hits).add(static_cast<std::uint64_t>(by_length.size()));
    for (const auto& [length, part] : by_length) packed.add(length).add(part);
    packed.add(static_cast<std::uint64_t>(examples.size()));
    for (const ExampleScore& example : examples) packed.add(example);
  }
  void unpack(Unpacked& packed) {
    loss = packed.get<double>();
    loss_targets = packed.get<std::int64_t>();
    hits = packed.get<Hits>();
    for (auto n = packed.get<std::uint64_t>(); n > 0; --n) {
      const auto length = packed.get<std::int64_t>();
      by_length[length] = packed.get<Hits>();
    }
    for (auto n = packed.get<std::uint64_t>(); n > 0; --n) examples.push_back(packed.get<ExampleScore>());
  }

  void add(const SequencesScore& other) {
    loss += other.loss;
    loss_targets += other.loss_targets;
    hits.add(other.hits);
    for (const auto& [length, part] : other.by_length) by_length[length].add(part);
    examples.insert(examples.end(), other.examples.begin(), other.examples.end());
  }
};

// Computes loss and hits of the sequences from the logits only; `losses` gets each target's loss.
SequencesScore score(const Tensor& logits, const Batch& batch, const TaskSizes& sizes, Detail detail,
                     std::vector<double>& losses) {
  const std::int64_t classes = logits.shape[-1];
  const std::int64_t per_sequence = static_cast<std::int64_t>(batch.targets.size()) /
                                    std::max<std::int64_t>(batch.sequences, 1);
  // The end token after an output of one token is always correct, and would be half of all targets.
  const bool leave_end_out = sizes.one_token_outputs && sizes.end >= 0;
  SequencesScore s;
  for (std::int64_t r = 0; r < batch.sequences; ++r) {
    Hits sequence{.sequences = 1};
    std::int64_t targets = 0, right = 0;
    double loss = 0;
    for (std::int64_t i = 0; i < per_sequence; ++i) {
      const std::int32_t target = batch.targets[static_cast<std::size_t>(r * per_sequence + i)];
      if (target == ignored) continue;
      const Real* p = logits.data + (r * per_sequence + i) * classes;
      const Real* best = std::max_element(p, p + classes);
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c)
        sum += std::exp(static_cast<double>(p[c]) - static_cast<double>(*best));
      losses.push_back(static_cast<double>(*best) + std::log(sum) - static_cast<double>(p[target]));
      loss += losses.back();
      const bool hit = best - p == target;
      ++targets;
      right += hit;
      if (leave_end_out && target == sizes.end) continue;
      ++sequence.targets;
      sequence.right += hit;
    }
    sequence.sequences_right = right == targets;
    s.loss_targets += targets;
    s.hits.add(sequence);
    if (detail == Detail::by_length) s.by_length[batch.evaluated_length(r, sizes)].add(sequence);
    if (detail == Detail::by_example)
      s.examples.push_back({loss, targets, sequence.targets, sequence.right, right == targets});
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

const char* in_words(Split split) {
  return split == Split::test ? "test" : split == Split::train ? "training" : "validation";
}

// The score of all sequences, piece by piece; a piece is processed some sequences at a time. `fill` writes `n`
// sequences, starting at `first`, into a batch. A piece's loss is the sum of its targets' losses in order, so it does
// not depend on how its sequences are divided.
template <class Fill>
SequencesScore score_sequences(RunModel& run, const TaskSizes& sizes, const EvaluationPieces& pieces,
                               const Pass::Options& of_sequences, Detail detail, ThreadPool& workers,
                               std::span<const std::unique_ptr<Tape>> tapes, const Fill& fill) {
  std::vector<SequencesScore> scores(static_cast<std::size_t>(pieces.count()));
  struct Part {
    SequencesScore score;
    std::vector<double> losses;
  };
  const std::int64_t at_once = pieces.sequences_at_once(sizes);
  const auto parts_each = static_cast<int>((pieces.sequences_each + at_once - 1) / at_once);
  std::vector<Part> parts(scores.size() * static_cast<std::size_t>(parts_each));
  // finished parts of each piece; the thread that finishes the last part adds them up
  std::vector<std::atomic<int>> done(scores.size());
  const auto add_up = [&](int piece) {
    SequencesScore& whole = scores[static_cast<std::size_t>(piece)];
    for (int number = piece * parts_each; number < (piece + 1) * parts_each; ++number) {
      const Part part = std::exchange(parts[static_cast<std::size_t>(number)], {});
      whole.add(part.score);
      for (double loss : part.losses) whole.loss += loss;
    }
  };
  const auto [first_piece, last_piece] = share_of(pieces.count(), workers);
  WorkerPasses passes(run, workers, tapes);
  workers.run(std::pair(first_piece * parts_each, last_piece * parts_each), [&](int number, int worker) {
    const int piece = number / parts_each;
    const std::int64_t before = number % parts_each * at_once,
                       sequences = std::min(at_once, pieces.size(piece) - before);
    if (sequences > 0) {
      Part& part = parts[static_cast<std::size_t>(number)];
      Batch& batch = passes.batch(worker);
      const std::int64_t first = pieces.first(piece) + before;
      fill(first, sequences, batch);
      if (sizes.varied) batch.trim();
      Pass::Options options = of_sequences;
      options.first_sequence = first;
      passes.evaluate(worker, batch, options,
                      [&](const Tensor& logits) { part.score = score(logits, batch, sizes, detail, part.losses); });
    }
    if (++done[static_cast<std::size_t>(piece)] == parts_each) add_up(piece);
  });
  exchange(
      workers, pieces.count(), even_share,
      [&](int piece, Packed& packed) { scores[static_cast<std::size_t>(piece)].pack(packed); },
      [&](int piece, Unpacked& packed) { scores[static_cast<std::size_t>(piece)].unpack(packed); });
  SequencesScore total;
  for (const SequencesScore& s : scores) total.add(s);
  return total;
}

using Values = std::vector<std::pair<std::string, double>>;

double share(std::int64_t part, std::int64_t of) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(of, 1));
}

// The metrics that follow from the score of a split's sequences.
Values values_of(const SequencesScore& score, const Config& config, const std::string& name) {
  const Hits& hits = score.hits;
  const double loss = score.loss / static_cast<double>(std::max<std::int64_t>(score.loss_targets, 1));
  Values out{{name + "_loss", loss}, {name + "_accuracy", share(hits.right, hits.targets)}};
  if (has_sequence_accuracy(config))
    out.emplace_back(name + "_sequence_accuracy", share(hits.sequences_right, hits.sequences));
  constexpr double most = 700; // limit, because e^710 overflows double
  if (has_perplexity(config)) out.emplace_back(name + "_perplexity", std::exp(std::min(loss, most)));
  if (has_bits_per_character(config)) out.emplace_back(name + "_bits_per_character", loss / std::numbers::ln2);
  return out;
}

// The same metrics for other sequences: for each of [train] evaluate_lengths, or of [data] validation_sets. If only
// some of the split's sequences are evaluated, the same number of sequences is used here; for running text, windows
// that cover as much text.
Values values_of_others(const Config& config, const Task& task, RunModel& run,
                        const std::vector<RunModel::OtherSequences>& others, Split split, std::int64_t sequences,
                        ThreadPool& workers, std::span<const std::unique_ptr<Tape>> tapes) {
  const bool all = sequences == task.evaluation_sequences(run.format, split),
             text = task_info(config.task.kind).running_text;
  std::vector<Values> of_each;
  for (const RunModel::OtherSequences& at : others) {
    std::int64_t some = at.task->evaluation_sequences(run.format, split);
    if (some == 0)
      throw Failed(fmt::format("[evaluate] the {} split has no sequences for {}", in_words(split),
                               at.name("the metrics")));
    const std::int64_t length = std::max<std::int64_t>(at.sizes.length, 1);
    if (!all) some = std::min(some, text ? (sequences * run.sizes.length + length - 1) / length : sequences);
    Pass::Options of_sequences;
    if (at.set.empty()) {
      of_sequences.evaluated_length = at.sizes.length;
      of_sequences.evaluated_output_length = at.sizes.output_length;
    }
    const SequencesScore score = score_sequences(run, at.sizes, EvaluationPieces::of_length(run, at.sizes, some),
                                                 of_sequences, Detail::none, workers, tapes,
                                                 [&](std::int64_t first, std::int64_t n, Batch& batch) {
                                                   fill_evaluation_batch(at, run, split, first, n, batch);
                                                 });
    of_each.push_back(values_of(score, config, prefix(split)));
  }
  Values out;
  for (std::size_t i = 0; !of_each.empty() && i < of_each.front().size(); ++i)
    for (std::size_t o = 0; o < of_each.size(); ++o)
      out.emplace_back(others[o].name(of_each[o][i].first), of_each[o][i].second);
  return out;
}

// How many sequences of a split are evaluated, if at most `most` are (0: all).
std::int64_t evaluated_sequences(const Task& task, const RunModel& run, Split split, std::int64_t most) {
  const std::int64_t all = task.evaluation_sequences(run.format, split);
  if (all == 0) throw Failed(fmt::format("[evaluate] the {} split has no sequences", in_words(split)));
  return most > 0 ? std::min(most, all) : all;
}

SequencesScore score_split(const Task& task, RunModel& run, Split split, std::int64_t sequences, Detail detail,
                           ThreadPool& workers, std::span<const std::unique_ptr<Tape>> tapes) {
  return score_sequences(run, run.sizes, {sequences}, {}, detail, workers, tapes,
                         [&](std::int64_t first, std::int64_t n, Batch& batch) {
                           fill_evaluation_batch(task, run, split, first, n, batch);
                         });
}

} // namespace

std::vector<ExampleScore> example_scores(const Task& task, RunModel& run, Split split, std::int64_t sequences,
                                         ThreadPool& workers) {
  return score_split(task, run, split, evaluated_sequences(task, run, split, sequences), Detail::by_example, workers,
                     {})
      .examples;
}

Values evaluate_split(const Config& config, const Task& task, RunModel& run, Split split, std::int64_t sequences,
                      ThreadPool& workers, std::span<const std::unique_ptr<Tape>> tapes) {
  sequences = evaluated_sequences(task, run, split, sequences);
  const SequencesScore total = score_split(task, run, split, sequences,
                                           config.train.evaluate_by_length ? Detail::by_length : Detail::none, workers,
                                           tapes);
  const std::string name = prefix(split);
  Values out = values_of(total, config, name);
  if (config.train.evaluate_beam > 0)
    for (auto& metric : decoded_metrics(config, task, run, split, name, sequences, workers))
      out.push_back(std::move(metric));
  for (const auto& [length, part] : total.by_length)
    out.emplace_back(name_by_length(name + "_accuracy", length), share(part.right, part.targets));
  if (has_sequence_accuracy(config))
    for (const auto& [length, part] : total.by_length)
      out.emplace_back(name_by_length(name + "_sequence_accuracy", length),
                       share(part.sequences_right, part.sequences));
  const auto add_others = [&](const std::vector<RunModel::OtherSequences>& others) {
    for (auto& value : values_of_others(config, task, run, others, split, sequences, workers, tapes))
      out.push_back(std::move(value));
  };
  add_others(run.at_lengths);
  if (split == Split::validation) add_others(run.on_sets);
  return out;
}

std::vector<std::pair<std::string, double>> loss_estimate(const Config& config, const Task& task, RunModel& run,
                                                          Split split, std::int64_t step, ThreadPool& workers,
                                                          std::span<const std::unique_ptr<Tape>> tapes) {
  const auto seed = static_cast<std::uint64_t>(config.general.seed);
  const std::int64_t sequences = config.train.evaluate_random_batches * config.train.batch;
  if (sequences == 0) return {};
  const SequencesScore total = score_sequences(run, run.sizes, {sequences}, {}, Detail::none, workers, tapes,
                                               [&](std::int64_t first, std::int64_t n, Batch& batch) {
                                                 batch.reset(n, run.sizes, run.format);
                                                 for (std::int64_t i = 0; i < n; ++i)
                                                   task.random_sequence(run.format, split, seed, step, first + i, batch,
                                                                        i);
                                                 task.require_whole();
                                               });
  return {{prefix(split) + "_loss_estimate",
           total.loss / static_cast<double>(std::max<std::int64_t>(total.loss_targets, 1))}};
}

} // namespace heed::HEED_REAL
