// What `heed evaluate` is asked for, as a change of the run's configuration.
#pragma once

#include "experiments/command_line/option_names.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The fields have the names of the options of `heed evaluate`. Empty: as the run's configuration has it.
struct EvaluationRequest {
  std::optional<std::int64_t> beam;
  std::optional<double> length_penalty;
  std::optional<std::string> length_penalty_kind, bleu_tokenization;
  std::vector<std::int64_t> lengths;

  OptionNames option = {};

  // The largest values of options. The smallest length is 1.
  static constexpr std::int64_t most_beam = 1024, longest = 1 << 20;
  static constexpr double most_length_penalty = 100;
};

/// The configuration with which the run is evaluated. Throws heed::Refused if an option has no effect.
Config evaluated_config(Config config, const EvaluationRequest& question);

/// The names of the splits, with the usual one first.
inline constexpr std::string_view split_names[] = {"validation", "test", "train"};
Split split_named(std::string_view name);

} // namespace heed
