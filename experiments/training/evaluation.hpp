// Evaluates a model on a split: loss, accuracy, perplexity and related metrics.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/training.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// Returns these metrics of at most `sequences` sequences (0: all sequences):
///
/// - PREFIX_loss: in nats per token, the mean over all counted targets.
/// - PREFIX_accuracy: of the same targets.
/// - PREFIX_sequence_accuracy: the fraction of sequences without an error. Only if the task's sequences are examples,
///   not windows of a text.
/// - PREFIX_perplexity = exp(PREFIX_loss): only if tokens are predicted.
/// - PREFIX_bits_per_character = PREFIX_loss / ln 2: only if the tokens are the characters of a text.
/// - With [train] evaluate_by_length: both accuracies again for the sequences of each length, as
///   PREFIX_accuracy_by_length.N and PREFIX_sequence_accuracy_by_length.N. N is the number of output tokens without the
///   end token (language_model, sequence_to_sequence), or of input tokens (classification).
/// - With [train] evaluate_beam: the metrics of decoded_metrics.
/// - With [train] evaluate_lengths: the first five metrics again for each length N, on sequences of length N that the
///   task makes: PREFIX_loss_at.N, PREFIX_accuracy_at.N and so on. If `sequences` limits the sequences of the split,
///   each length has at most as many sequences (for running text: windows that cover as much text).
///
/// Sequences are processed in pieces of fixed size and the sums of the pieces are added in order, so the results are
/// bit-identical for any number of threads. `tapes`, one for each thread, provide memory; without them, the function
/// allocates its own.
std::vector<std::pair<std::string, double>> evaluate_split(const Config& config, const Task& task, RunModel& run,
                                                           Split split, std::int64_t sequences, ThreadPool& workers,
                                                           std::span<const std::unique_ptr<Tape>> tapes = {});

/// The score of each sequence, of those that `evaluate_split` evaluates, in order.
std::vector<ExampleScore> example_scores(const Task& task, RunModel& run, Split split, std::int64_t sequences,
                                         ThreadPool& workers);

/// With [train] evaluate_random_batches = N, returns PREFIX_loss_estimate: the mean loss, in nats, over all targets of
/// N batches of [train] batch random sequences of the split (Task::random_sequence). nanoGPT estimates the loss in the
/// same way. Otherwise returns nothing.
std::vector<std::pair<std::string, double>> loss_estimate(const Config& config, const Task& task, RunModel& run,
                                                          Split split, std::int64_t step, ThreadPool& workers,
                                                          std::span<const std::unique_ptr<Tape>> tapes = {});

} // namespace heed::HEED_REAL
