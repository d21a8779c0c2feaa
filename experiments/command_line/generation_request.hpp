// What `heed generate` is asked for, checked against the kind of the run's model.
#pragma once

#include "experiments/command_line/option_names.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace heed {

/// The fields have the names of the options of `heed generate`. Empty: the option is not given.
struct GenerationRequest {
  std::string prompt;
  bool has_input = false, has_input_file = false;
  std::optional<std::int64_t> tokens, top_k, beam;
  std::optional<double> temperature, length_penalty;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> length_penalty_kind;

  OptionNames option = {};
  std::string input_options = "--input or --input-file"; ///< how messages name the options with inputs

  // The largest values of options. The smallest one is 1 for `tokens` and `beam`, and 0 for the others.
  static constexpr std::int64_t most_tokens = std::int64_t{1} << 40, most_top_k = most_tokens, most_beam = 1024;
  static constexpr double most_temperature = 1e6, most_length_penalty = 100;
};

/// The settings for Engine::generate, without `prompt`, `inputs` and functions. Throws heed::Refused if an option is
/// given that has no effect for this kind of model.
Sampling sampling_of(const GenerationRequest& question, TaskFormat form, const std::string& model_kind);

} // namespace heed
