// Small models of every format for tests, made from configuration assignments, with random parameters and batches; and
// all configurations of the recurrent translator.
#pragma once

#include "experiments/models/model.hpp"
#include "tests/experiments/config/config_support.hpp"
#include "tests/layers/layer_support.hpp"

namespace heed::HEED_REAL {

/// Input sequences of up to 4 tokens from a vocabulary of 5; outputs of up to 5 tokens from a vocabulary of 6; 3
/// classes; images of shape [2, 4, 4].
struct SmallModel {
  Config config;
  TaskFormat format;
  TaskSizes sizes;
  Weights weights;
  std::unique_ptr<Model> model;

  explicit SmallModel(const std::vector<std::string>& assignments)
      : config(test::config("[model]\nwidth = 4\n", assignments)), format(model_info(config.model.kind).format),
        sizes(sizes_of(format)), model(model_info(config.model.kind).make(weights.scope(), config, sizes)) {
    weights.fill(11, {-0.9, 0.9, 0});
  }

  static TaskSizes sizes_of(TaskFormat format) {
    if (format == TaskFormat::image_classification) return {.classes = 3, .image = {2, 4, 4}};
    if (format == TaskFormat::sequence_to_sequence)
      return {.vocabulary = 5, .length = 4, .classes = 6, .output_length = 5, .begin = 4, .end = 5};
    return {.vocabulary = 5, .length = 4, .classes = format == TaskFormat::language_model ? 5 : 3};
  }

  /// A batch of three examples with 4, 2 and 1 input tokens, and 2, 5 and 3 output tokens.
  Batch batch(std::uint64_t seed = 1) const {
    Batch b;
    b.reset(3, sizes, format);
    RandomSource random({seed, Stream::test, 0});
    const auto drawn = [&](std::int64_t n) {
      return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
    };
    const auto fill = [&](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& lengths, std::int64_t length,
                          std::int64_t count) {
      for (std::size_t sequence = 0; sequence < lengths.size(); ++sequence)
        for (std::int32_t t = 0; t < lengths[sequence]; ++t)
          to[sequence * static_cast<std::size_t>(length) + static_cast<std::size_t>(t)] = drawn(count);
    };
    if (!b.lengths.empty()) {
      b.lengths = {4, 2, 1};
      fill(b.tokens, b.lengths, b.length, sizes.vocabulary);
    }
    if (format == TaskFormat::sequence_to_sequence) {
      b.output_lengths = {2, 5, 3};
      fill(b.outputs, b.output_lengths, b.output_length, sizes.classes);
      fill(b.targets, b.output_lengths, b.output_length, sizes.classes);
    } else if (format == TaskFormat::language_model) {
      fill(b.targets, b.lengths, b.length, sizes.classes);
    } else {
      for (std::int32_t& t : b.targets) t = drawn(sizes.classes);
    }
    for (float& x : b.images) x = static_cast<float>(random.normal());
    return b;
  }

  Tensor logits(Tape& tape, const Batch& b, const Pass::Options& options = {}) {
    Pass pass = weights.pass(tape, options);
    return model->logits(pass, b);
  }
  std::vector<Real> logits(const Batch& b) {
    Tape tape;
    return read(logits(tape, b));
  }
};

/// Every combination of the recurrent translator's own options in which each option has an effect, as assignments.
inline std::vector<std::vector<std::string>> recurrent_choices() {
  std::vector<std::vector<std::string>> out;
  for (const std::string& cell : find_option("recurrent.cell")->words)
    for (const std::string both : {"true", "false"})
      for (const std::string& attention : find_option("recurrent.attention")->words)
        for (const std::string& reach : find_option("recurrent.reach")->words)
          for (const std::string feeding : {"true", "false"}) {
            if (attention == "none" && reach != "global") continue;
            if (attention != "luong" && feeding == "false") continue;
            std::vector<std::string> a = {"model.kind=recurrent", "recurrent.cell=" + cell,
                                          "recurrent.bidirectional=" + both, "recurrent.attention=" + attention};
            if (attention != "none") a.push_back("recurrent.reach=" + reach);
            if (attention != "none" && reach != "global") a.emplace_back("recurrent.window=1");
            if (attention == "luong") a.push_back("recurrent.input_feeding=" + feeding);
            out.push_back(a);
          }
  return out;
}

inline std::string in_words(const std::vector<std::string>& assignments) {
  std::string out;
  for (const std::string& a : assignments) out += (out.empty() ? "" : ", ") + a;
  return out;
}

} // namespace heed::HEED_REAL
