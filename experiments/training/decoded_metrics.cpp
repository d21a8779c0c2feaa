#include "experiments/training/decoded_metrics.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/decoding/search.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/task_survey.hpp"
#include "experiments/training/process_group.hpp"
#include "experiments/training/worker_passes.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

// The correct output tokens of a sequence, counted targets or not: the decoder's input without its first token, which
// marks the beginning.
std::vector<std::int32_t> reference_of(const Batch& batch, std::int64_t sequence) {
  const auto begin = batch.outputs.begin() + sequence * batch.output_length;
  return {begin + 1, begin + batch.output_lengths[static_cast<std::size_t>(sequence)]};
}

// The search of [train] evaluate_beam.
SearchOptions search_options(const Config& config, const RunModel& run) {
  return {.beam = config.train.evaluate_beam,
          .length_penalty = config.train.evaluate_length_penalty,
          .kind = length_penalty_kind(config.train.evaluate_length_penalty_kind),
          .longest = run.sizes.output_length,
          .begin = run.sizes.begin,
          .end = run.sizes.end};
}

} // namespace

std::vector<std::pair<std::string, double>> decoded_metrics(const Config& config, const Task& task, RunModel& run,
                                                            Split split, const std::string& prefix,
                                                            std::int64_t sequences, ThreadPool& workers) {
  const auto count = static_cast<std::size_t>(sequences);
  std::vector<std::string> outputs(count), references(count);
  std::vector<char> right(count);
  const SearchOptions all = search_options(config, run);
  std::vector<std::unique_ptr<Tape>> tapes(static_cast<std::size_t>(workers.most_threads()));
  for (auto& tape : tapes) {
    tape = std::make_unique<Tape>();
    tape->record(false);
  }
  const EvaluationPieces pieces{sequences};
  workers.run(share_of(pieces.count(), workers), [&](int piece, int worker) {
    const std::int64_t first = pieces.first(piece), n = pieces.size(piece);
    Batch batch;
    fill_evaluation_batch(task, run, split, first, n, batch);
    if (run.sizes.varied) batch.trim();
    SearchOptions options = all;
    options.first_sequence = first;
    const auto found = search(*tapes[static_cast<std::size_t>(worker)], run.parameters, *run.model, batch, options);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const Hypothesis& h = found[static_cast<std::size_t>(i)];
      const std::vector<std::int32_t> reference = reference_of(batch, i);
      const std::string text = task.decode_output(run.format, reference);
      const auto given = task.reference(split, first + i);
      const bool known = std::ranges::none_of(h.tokens, [&](std::int32_t t) { return task.is_unknown_output(t); });
      outputs[at] = task.decode_output(run.format, h.tokens);
      right[at] = known && outputs[at] == text && (!given || given->in_vocabulary);
      references[at] = given ? given->text : text;
    }
  });
  const auto sequences_of = [&](int piece, const auto& visit) {
    for (std::int64_t i = 0; i < pieces.size(piece); ++i) visit(static_cast<std::size_t>(pieces.first(piece) + i));
  };
  exchange(
      workers, pieces.count(), even_share,
      [&](int piece, Packed& packed) {
        sequences_of(piece,
                     [&](std::size_t at) { packed.add_text(outputs[at]).add_text(references[at]).add(right[at]); });
      },
      [&](int piece, Unpacked& packed) {
        sequences_of(piece, [&](std::size_t at) {
          outputs[at] = packed.text();
          references[at] = packed.text();
          right[at] = packed.get<char>();
        });
      });
  const auto all_right = static_cast<double>(std::ranges::count(right, char{1}));
  return {{prefix + "_decoded_accuracy", all_right / static_cast<double>(std::max<std::int64_t>(sequences, 1))},
          {prefix + "_bleu", corpus_bleu(outputs, references, config.train.evaluate_bleu_tokenization)},
          {prefix + "_chrf", corpus_chrf(outputs, references)}};
}

namespace {

// Decodes the sequences of the batch. `found` has one element for each sequence.
void decode_sequences(const Config& config, const Task& task, RunModel& run, Tape& tape, Split split,
                      std::int64_t first, const Batch& batch, std::span<ExampleOutput> found) {
  tape.record(false);
  SearchOptions options = search_options(config, run);
  options.beam = std::max<std::int64_t>(options.beam, 1);
  options.first_sequence = first;
  const auto outputs = search(tape, run.parameters, *run.model, batch, options);
  tape.record(true);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto sequence = static_cast<std::int64_t>(i);
    const ExampleText text = example_text(task, batch, sequence);
    const auto given = task.reference(split, first + sequence);
    found[i] = {text.input, given ? given->text : text.output, task.decode_output(run.format, outputs[i].tokens), {}};
  }
}

// Predicts each target of the sequences of the batch.
void predict_sequences(const Task& task, std::int64_t first, const Batch& batch, const Tensor& logits,
                       std::span<ExampleOutput> found) {
  const std::int64_t classes = logits.shape[-1];
  std::vector<std::int32_t> predicted = batch.targets;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (predicted[i] == ignored) continue;
    const Real* p = logits.data + static_cast<std::int64_t>(i) * classes;
    predicted[i] = static_cast<std::int32_t>(std::max_element(p, p + classes) - p);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto sequence = static_cast<std::int64_t>(i);
    ExampleText text = example_text(task, batch, sequence);
    if (batch.format == TaskFormat::image_classification) text.input = fmt::format("row {}", first + sequence);
    found[i] = {text.input, text.output, example_text(task, batch, sequence, predicted).output, {}};
    if (!gives_class(batch.format)) continue;
    const auto probabilities = class_probabilities(logits.data + sequence * classes, classes);
    found[i].probability = probabilities[static_cast<std::size_t>(predicted[i])];
  }
}

} // namespace

std::vector<double> class_probabilities(const Real* logits, std::int64_t classes) {
  std::vector<double> p(logits, logits + classes);
  if (!std::ranges::all_of(p, [](double logit) { return std::isfinite(logit); }))
    throw Failed("the model's output is not a finite number for some of this data");
  const double most = std::ranges::max(p);
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - most);
  for (double& value : p) value /= sum;
  return p;
}

void example_outputs(const Config& config, const Task& task, RunModel& run, Split split, ThreadPool& workers,
                     const std::function<void(const ExampleOutput&)>& use) {
  if (task_info(config.task.kind).running_text)
    throw Refused(fmt::format("the task {} has windows of running text, and no examples with an output to write",
                              config.task.kind));
  const std::int64_t sequences = task.evaluation_sequences(run.format, split);
  if (sequences == 0) throw Failed("[evaluate] the split has no sequences");
  const EvaluationPieces pieces{sequences};
  WorkerPasses passes(run, workers);
  // Only the outputs of some pieces are in memory at a time.
  constexpr int most_at_once = 64;
  std::vector<std::vector<ExampleOutput>> found(most_at_once);
  for (int begin = 0; begin < pieces.count(); begin += most_at_once) {
    const int count = std::min(most_at_once, pieces.count() - begin);
    workers.run(count, [&](int number, int worker) {
      const std::int64_t first = pieces.first(begin + number), n = pieces.size(begin + number);
      std::vector<ExampleOutput>& to = found[static_cast<std::size_t>(number)];
      to.assign(static_cast<std::size_t>(n), {});
      Batch& batch = passes.batch(worker);
      fill_evaluation_batch(task, run, split, first, n, batch);
      if (run.sizes.varied) batch.trim();
      if (run.format == TaskFormat::sequence_to_sequence)
        return decode_sequences(config, task, run, passes.tape(worker), split, first, batch, to);
      passes.evaluate(worker, batch, {.first_sequence = first},
                      [&](const Tensor& logits) { predict_sequences(task, first, batch, logits, to); });
    });
    for (int number = 0; number < count; ++number)
      for (const ExampleOutput& output : found[static_cast<std::size_t>(number)]) use(output);
  }
}

} // namespace heed::HEED_REAL
