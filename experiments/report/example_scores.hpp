// Reads and writes a run's examples.json, the score of each validation example, as the last checkpoint has it:
//
//   {"step": 500, "loss": [one per example], "loss_targets": [...], "targets": [...], "right": [...],
//    "whole_right": [...]}
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct ExampleScores {
  std::int64_t step = 0; ///< of the checkpoint
  std::vector<ExampleScore> examples;
};

/// The metric of each example, so that the mean over examples is the metric. Where the metric is a mean over tokens, of
/// which an example e has w_e, its own mean y_e counts by its part of them:
///     M + (w_e / mean(w)) (y_e - M),   M = sum of w_e y_e / sum of w_e.
/// Empty for a metric that is no mean over examples (`is_mean_over_examples`), and if no example has a target.
std::vector<double> values_of_examples(const std::vector<ExampleScore>& examples, const std::string& metric);

/// A run's examples.json; no examples if there is none. The error contains the file's name.
Parsed<ExampleScores> read_example_scores(const RunFolder& run);

/// Throws heed::Failed.
void write_example_scores(const RunFolder& run, const ExampleScores& scores);

} // namespace heed
