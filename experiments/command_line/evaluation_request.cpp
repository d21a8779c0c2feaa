#include "experiments/command_line/evaluation_request.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>

namespace heed {

Config evaluated_config(Config config, const EvaluationRequest& q) {
  TrainOptions& options = config.train;
  if (q.beam) options.evaluate_beam = *q.beam;
  if (q.length_penalty) options.evaluate_length_penalty = *q.length_penalty;
  else if (options.evaluate_beam < 2) options.evaluate_length_penalty = 0;
  if (q.length_penalty_kind && options.evaluate_length_penalty == 0)
    throw Refused(fmt::format("{} does nothing if the length penalty is 0: also give {}",
                              q.option("length-penalty-kind"), q.option("length-penalty")));
  if (q.bleu_tokenization && options.evaluate_beam == 0)
    throw Refused(fmt::format("{} does nothing without decoding: also give {}", q.option("bleu-tokenization"),
                              q.option("beam")));
  options.evaluate_length_penalty_kind = q.length_penalty_kind.value_or(options.evaluate_length_penalty_kind);
  options.evaluate_bleu_tokenization = q.bleu_tokenization.value_or(options.evaluate_bleu_tokenization);
  if (!q.lengths.empty()) options.evaluate_lengths = q.lengths;
  return config;
}

Split split_named(std::string_view name) {
  return name == "test" ? Split::test : name == "validation" ? Split::validation : Split::train;
}

} // namespace heed
