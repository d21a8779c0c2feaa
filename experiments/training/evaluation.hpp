// How well a model does on a split.
#pragma once

#include "autograd/shards.hpp"
#include "experiments/training/run_model.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// PREFIX_loss (nats a token, the mean over all targets that count), PREFIX_accuracy (of the same targets), and, where
/// a task's rows are examples rather than windows of a text, PREFIX_sequence_accuracy (rows without an error); where
/// tokens are predicted, PREFIX_perplexity = exp(PREFIX_loss), and where they are the characters of a text,
/// PREFIX_bits_per_character = PREFIX_loss / ln 2. With [train] evaluate_by_length, both accuracies again for the rows
/// of each length, as PREFIX_accuracy_by_length.N: N tokens of output (language_model, sequence_to_sequence; the token
/// that ends it not counted) or of input (classification). With [train] evaluate_beam, also what decoded_metrics gives.
/// With [train] evaluate_lengths, all but that again for rows of each length N that the task makes, PREFIX_loss_at.N,
/// PREFIX_accuracy_at.N and so on: as many rows as of the split, or all that there are.
/// At most `rows` rows; 0: all. Works through pieces of fixed size whose sums are added in order: the same bits
/// whatever the threads. `tapes`, one for each thread, lend their memory; without them it takes its own.
std::vector<std::pair<std::string, double>> evaluate_split(const Config& config, const Task& task, RunModel& run,
                                                           Split split, std::int64_t rows, Workers& workers,
                                                           std::span<const std::unique_ptr<Tape>> tapes = {});

/// With [train] evaluate_random_batches, PREFIX_loss_estimate: the mean loss, in nats, over all targets of so many
/// batches of [train] batch random rows of the split (Task::random_row), as nanoGPT estimates it. Else nothing.
std::vector<std::pair<std::string, double>> loss_estimate(const Config& config, const Task& task, RunModel& run,
                                                          Split split, std::int64_t step, Workers& workers,
                                                          std::span<const std::unique_ptr<Tape>> tapes = {});

} // namespace heed::HEED_REAL
