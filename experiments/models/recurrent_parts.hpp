// The common parts of the recurrent models: a recurrent encoder, the options that only Transformer blocks use, and
// token-by-token decoding, which stores the recurrent states and the encoder output between steps.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/linear.hpp"
#include "layers/recurrent/decoder.hpp"
#include "layers/recurrent/recurrent.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// Why two directions can't share the model's width; empty: they can.
std::string wrong_recurrent_width(const Config& config);

/// Recurrent layers over the embedded input tokens, in one direction, or in both directions with half the width each.
/// The states have model.width in both cases. The modules are named `embedding` and `encoder`.
struct RecurrentEncoder {
  Embedding embedding;
  Recurrent layers;
  bool both_directions;
  double embedding_dropout, dropout;

  /// Throws heed::Failed if both directions would need half of an odd width.
  RecurrentEncoder(const Scope& scope, const Config& config, const TaskSizes& sizes, bool both_directions);

  struct Result {
    Tensor states;        ///< [sequences, length, width]
    RecurrentStates last; ///< per layer, [sequences, width], with the directions concatenated
  };
  Result operator()(Pass& pass, const Batch& batch) const;
};

class RecurrentDecoding : public Decoding {
public:
  using Source = std::optional<SourceAttention::Source>;
  /// Maps the next token of each sequence to logits [sequences, classes], and updates the state.
  using Step = std::function<Tensor(Pass&, std::span<const std::int32_t>, RecurrentDecoder::State&, const Source&)>;

  /// Copies the initial state and the source from their tape.
  RecurrentDecoding(Step step, const RecurrentDecoder::State& start, const Source& source);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;
  std::int64_t state_size(std::int64_t more) const override;

private:
  /// A copy of a tensor whose first axis is the sequences, in memory of its own. The copy of an empty tensor is empty.
  struct PerSequence {
    Shape shape;
    std::vector<Real> numbers;

    void keep(const Tensor& x);
    Tensor on(Tape& tape) const; // valid until the next change
    void select(std::span<const std::int64_t> parents);
    std::int64_t numbers_each() const { return numbers.empty() ? 0 : shape.size() / shape[0]; }
  };
  void keep(const RecurrentDecoder::State& state);
  Source source_on(Tape& tape) const;

  Step step_;
  std::vector<PerSequence> h_, c_; // per layer
  PerSequence fed_;
  std::int64_t steps_ = 0;
  PerSequence states_, transformed_; // of the source's AttentionMemory
  std::int64_t key_width_ = 0;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> sources_; // the source of each sequence; sequences with equal numbers have equal sources
};

} // namespace heed::HEED_REAL
