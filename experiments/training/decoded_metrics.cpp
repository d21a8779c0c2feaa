#include "experiments/training/decoded_metrics.hpp"

#include "experiments/config/config.hpp"
#include "experiments/decoding/search.hpp"
#include "experiments/metrics/text/bleu.hpp"
#include "experiments/metrics/text/chrf.hpp"
#include "experiments/training/process_group.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The correct output tokens of a row, counted targets or not: the decoder's input without its first token, which marks
// the beginning.
std::vector<std::int32_t> reference_of(const Batch& batch, std::int64_t row) {
  const auto begin = batch.outputs.begin() + row * batch.output_length;
  return {begin + 1, begin + batch.output_lengths[static_cast<std::size_t>(row)]};
}

} // namespace

std::vector<std::pair<std::string, double>> decoded_metrics(const Config& config, const Task& task, RunModel& run,
                                                            Split split, const std::string& prefix, std::int64_t rows,
                                                            ThreadPool& workers) {
  const auto count = static_cast<std::size_t>(rows);
  std::vector<std::string> outputs(count), references(count);
  std::vector<char> right(count);
  const SearchOptions all{.beam = config.train.evaluate_beam,
                          .length_penalty = config.train.evaluate_length_penalty,
                          .kind = length_penalty_kind(config.train.evaluate_length_penalty_kind),
                          .longest = run.shape.output_length,
                          .begin = run.shape.begin,
                          .end = run.shape.end};
  std::vector<std::unique_ptr<Tape>> tapes(static_cast<std::size_t>(workers.most_threads()));
  for (auto& tape : tapes) {
    tape = std::make_unique<Tape>();
    tape->record(false);
  }
  const EvaluationPieces pieces{rows};
  workers.run(share_of(pieces.count(), workers), [&](int piece, int worker) {
    const std::int64_t first = pieces.first(piece), n = pieces.size(piece);
    Batch batch;
    fill_evaluation_batch(task, run, split, first, n, batch);
    if (run.shape.varied) batch.trim();
    SearchOptions options = all;
    options.first_row = first;
    const auto found = search(*tapes[static_cast<std::size_t>(worker)], run.parameters, *run.model, batch, options);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const Hypothesis& h = found[static_cast<std::size_t>(i)];
      const std::vector<std::int32_t> reference = reference_of(batch, i);
      const std::string text = task.decode_output(run.form, reference);
      const auto given = task.reference(split, first + i);
      const bool known = std::ranges::none_of(h.tokens, [&](std::int32_t t) { return task.is_unknown_output(t); });
      outputs[at] = task.decode_output(run.form, h.tokens);
      right[at] = known && outputs[at] == text && (!given || given->in_vocabulary);
      references[at] = given ? given->text : text;
    }
  });
  const auto rows_of = [&](int piece, const auto& visit) {
    for (std::int64_t i = 0; i < pieces.size(piece); ++i) visit(static_cast<std::size_t>(pieces.first(piece) + i));
  };
  exchange(
      workers, pieces.count(), even_share,
      [&](int piece, Packed& packed) {
        rows_of(piece, [&](std::size_t at) { packed.add_text(outputs[at]).add_text(references[at]).add(right[at]); });
      },
      [&](int piece, Unpacked& packed) {
        rows_of(piece, [&](std::size_t at) {
          outputs[at] = packed.text();
          references[at] = packed.text();
          right[at] = packed.get<char>();
        });
      });
  const auto all_right = static_cast<double>(std::ranges::count(right, char{1}));
  return {{prefix + "_decoded_accuracy", all_right / static_cast<double>(std::max<std::int64_t>(rows, 1))},
          {prefix + "_bleu", corpus_bleu(outputs, references, config.train.evaluate_bleu_tokenization)},
          {prefix + "_chrf", corpus_chrf(outputs, references)}};
}

} // namespace heed::HEED_REAL
