// Small models for tests, made from configuration assignments, with random parameters and batches of random tokens; and
// lists of configurations that cover all variants.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/models/model.hpp"
#include "layers/position/position.hpp"
#include "tests/experiments/config/config_support.hpp"
#include "tests/layers/layer_support.hpp"

namespace heed::HEED_REAL {

/// A small model without a task: a vocabulary of 5 tokens, sequences of up to 4 tokens, and 3 classes for a classifier.
/// A sequence-to-sequence model has outputs from the same 5 tokens: token 3 begins an output and token 4 ends it.
struct TestModel {
  static TaskSizes sizes_for(TaskFormat format) {
    if (format == TaskFormat::sequence_to_sequence)
      return {.vocabulary = 5,
              .length = 4,
              .classes = 5,
              .output_length = 4,
              .begin = 3,
              .end = 4,
              .shared_vocabulary = true};
    return {5, 4, format == TaskFormat::language_model ? 5 : 3};
  }

  /// Whatever text [model] segment_end is, it stands for the token 2.
  static TaskSizes sizes_of(const Config& config, TaskFormat format) {
    TaskSizes out = sizes_for(format);
    if (!config.model.segment_end.empty()) out.segment_end = out.output_segment_end = {2};
    return out;
  }

  Config config;
  TaskFormat format;
  TaskSizes sizes;
  Weights weights;
  std::unique_ptr<Model> model;

  /// @param overrides  tables [[block.override]]
  explicit TestModel(const std::vector<std::string>& assignments, const std::string& overrides = "")
      : config(test::config("[model]\nlayers = 2\nwidth = 4\nheads = 2\n[block]\nffn_width = 6\n" + overrides,
                            assignments)),
        format(model_info(config.model.kind).format), sizes(sizes_of(config, format)),
        model(model_info(config.model.kind).make(weights.scope(), config, sizes)) {
    weights.fill(11, {-0.7, 0.9, 0});
  }

  /// A batch of sequences with the given lengths. Tokens and targets are random; some targets are `ignored`.
  Batch batch(const std::vector<std::int32_t>& lengths, std::uint64_t seed = 1) const {
    Batch b;
    b.reset(static_cast<std::int64_t>(lengths.size()), sizes, format);
    b.lengths = lengths;
    RandomSource random({seed, Stream::test, 0});
    const auto drawn = [&](std::int64_t n) {
      return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
    };
    for (std::size_t sequence = 0; sequence < lengths.size(); ++sequence)
      for (std::int32_t t = 0; t < lengths[sequence]; ++t) {
        const std::size_t at = sequence * static_cast<std::size_t>(sizes.length) + static_cast<std::size_t>(t);
        b.tokens[at] = drawn(sizes.vocabulary);
        if (format == TaskFormat::language_model) b.targets[at] = t == 1 ? ignored : drawn(sizes.classes);
        else if (format == TaskFormat::classification) b.targets[sequence] = drawn(sizes.classes);
      }
    // Output sequences have the lengths of the input sequences, in reverse order.
    if (format == TaskFormat::sequence_to_sequence) b.output_lengths.assign(lengths.rbegin(), lengths.rend());
    for (std::size_t sequence = 0; sequence < b.output_lengths.size(); ++sequence)
      for (std::int32_t t = 0; t < b.output_lengths[sequence]; ++t) {
        const std::size_t at = sequence * static_cast<std::size_t>(sizes.output_length) + static_cast<std::size_t>(t);
        b.outputs[at] = t == 0 ? sizes.begin : drawn(sizes.classes);
        b.targets[at] = t == 1 ? ignored : drawn(sizes.classes);
      }
    return b;
  }

  std::vector<Real> logits(const Batch& b) {
    Tape tape;
    Pass pass = weights.pass(tape);
    const Tensor y = model->logits(pass, b);
    if (format == TaskFormat::language_model) CHECK(y.shape == Shape{b.sequences, b.length, sizes.classes});
    else if (format == TaskFormat::sequence_to_sequence)
      CHECK(y.shape == Shape{b.sequences, b.output_length, sizes.classes});
    else CHECK(y.shape == Shape{b.sequences, sizes.classes});
    return read(y);
  }
};

/// Configurations that together contain every score, normaliser, projection, positional scheme with every way to
/// combine it, residual connection, norm and activation. Each one is a list of assignments to TestModel's
/// configuration.
inline std::vector<std::vector<std::string>> spread() {
  std::vector<std::vector<std::string>> out = {{}};
  const auto each = [&](const std::string& key, const std::vector<std::string>& others = {}) {
    for (const std::string& word : find_option(key)->words) {
      out.push_back(others);
      out.back().push_back(key + "=" + word);
    }
  };
  each("attention.score");
  each("attention.normalizer");
  each("attention.projection");
  out.push_back({"attention.projection=latent", "attention.latent.query_width=3", "attention.latent.rotary_width=2"});
  each("position.kind");
  each("block.activation");
  each("model.embedding_scale");
  for (const PositionInfo* info : positions()) {
    const auto& disables = info->about.disables; // no parameters: sharing has no effect
    if (info->make_relative && std::count(disables.begin(), disables.end(), "position.shared") == 0)
      out.push_back({"position.kind=" + info->about.name, "position.shared=true"});
    if (info->has_vectors)
      each("position.concat", {"position.kind=" + info->about.name, "position.combine=concat", "position.width=2"});
  }
  for (const std::string& residual : find_option("block.residual")->words)
    for (const std::string norm : {"pre", "post"})
      each("block.norm_kind", {"block.residual=" + residual, "block.norm=" + norm});
  each("block.residual", {"block.norm=none"});
  out.push_back({"block.bias=false"});
  out.push_back({"attention.head_width=3"});
  out.push_back({"attention.value_residual=fixed"});
  out.push_back({"attention.persistent_keys=2"});
  out.push_back({"model.registers=2"});
  out.push_back({"attention.dropout=0.2", "block.dropout=0.2", "model.dropout=0.2"});
  // If positions widen the model, its output layer cannot be tied to the token embeddings.
  for (auto& assignments : out)
    if (std::count(assignments.begin(), assignments.end(), "position.concat=widen"))
      assignments.push_back("model.tied_embeddings=false");
  return out;
}

/// Whether the model is refused. Only positional schemes and normalisers that need causal self attention may refuse a
/// model that has other attention; the function checks the message.
inline bool refused(const std::vector<std::string>& assignments) {
  try {
    TestModel m(assignments);
    return false;
  } catch (const Refused& e) {
    CHECK_THAT(e.what(), Catch::Contains("attention.causal = true") || Catch::Contains("only self attention"));
    return true;
  }
}

/// The configurations of `spread` for one kind of model. An encoder has no tied embeddings, so that option is dropped.
inline std::vector<std::vector<std::string>> spread_of(const std::string& kind) {
  auto out = spread();
  for (auto& assignments : out) {
    if (kind == "encoder") std::erase(assignments, "model.tied_embeddings=false");
    assignments.push_back("model.kind=" + kind);
  }
  return out;
}

inline std::string listed(const std::vector<std::string>& assignments) {
  std::string out = "defaults";
  for (const std::string& a : assignments) out += ", " + a;
  return out;
}

} // namespace heed::HEED_REAL
