#include "experiments/actions/requests.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>
#include <utility>

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

namespace {

constexpr std::int64_t usual_classes = 5;

} // namespace

Sampling sampling_of(const GenerationRequest& q, TaskFormat format, const std::string& model_kind) {
  const OptionNames& option = q.option;
  const std::pair<std::string_view, bool> given[] = {{"prompt", !q.prompt.empty()},
                                                     {"input", q.has_input},
                                                     {"input-file", q.has_input_file},
                                                     {"tokens", q.tokens.has_value()},
                                                     {"top-k", q.top_k.has_value()},
                                                     {"temperature", q.temperature.has_value()},
                                                     {"seed", q.seed.has_value()},
                                                     {"beam", q.beam.has_value()},
                                                     {"length-penalty", q.length_penalty.has_value()},
                                                     {"length-penalty-kind", q.length_penalty_kind.has_value()}};
  const auto allow = [&](const std::vector<std::string_view>& allowed, const std::string& in_words) {
    for (const auto& [words, is_given] : given)
      if (is_given && std::ranges::find(allowed, words) == allowed.end())
        throw Refused(fmt::format("{} does nothing for a run of model.kind = \"{}\": it takes {}", option(words),
                                  model_kind, in_words));
  };
  if (gives_class(format))
    allow({"input", "input-file", "top-k"}, fmt::format("{}, and {}", q.input_options, option("top-k")));
  else if (format == TaskFormat::sequence_to_sequence)
    allow({"input", "input-file", "beam", "length-penalty", "length-penalty-kind"},
          fmt::format("{}, {}, {} and {}", q.input_options, option("beam"), option("length-penalty"),
                      option("length-penalty-kind")));
  else
    allow({"prompt", "tokens", "temperature", "top-k", "seed"},
          fmt::format("{}, {}, {}, {} and {}", option("prompt"), option("tokens"), option("temperature"),
                      option("top-k"), option("seed")));
  Sampling s;
  s.tokens = q.tokens.value_or(s.tokens);
  s.top_k = q.top_k.value_or(gives_class(format) ? usual_classes : s.top_k);
  s.temperature = q.temperature.value_or(s.temperature);
  s.seed = q.seed.value_or(s.seed);
  s.beam = q.beam.value_or(s.beam);
  s.length_penalty = q.length_penalty.value_or(s.length_penalty);
  s.length_penalty_kind = q.length_penalty_kind.value_or(s.length_penalty_kind);
  if (q.length_penalty_kind && s.length_penalty == 0)
    throw Refused(fmt::format("{} does nothing if the length penalty is 0: also give {}", option("length-penalty-kind"),
                              option("length-penalty")));
  if (s.length_penalty > 0 && s.beam < 2)
    throw Refused(fmt::format("{} does nothing if {} is 1: only a beam of at least 2 compares outputs",
                              option("length-penalty"), option("beam")));
  return s;
}

} // namespace heed
