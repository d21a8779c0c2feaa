// What `heed evaluate` and `heed generate` are asked for, checked against the run. Other programs that ask the same
// name their options differently, so messages take the names from OptionNames.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct OptionNames {
  std::string mark = "--"; ///< before an option's name
  char between = '-';      ///< between the words of an option's name

  /// "--top-k" for the words "top-k".
  std::string operator()(std::string_view words) const {
    std::string name = mark + std::string(words);
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(mark.size()), name.end(), '-', between);
    return name;
  }
};

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
Sampling sampling_of(const GenerationRequest& question, TaskFormat format, const std::string& model_kind);

} // namespace heed
