// Token-by-token decoding with a recurrent model. It stores the recurrent states and the encoder output between steps.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/recurrent/decoder.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace heed::HEED_REAL {

class RecurrentDecoding : public Decoding {
public:
  using Source = std::optional<SourceAttention::Source>;
  /// Maps the next token of each row to logits [rows, classes], and updates the state.
  using Step = std::function<Tensor(Pass&, std::span<const std::int32_t>, RecurrentDecoder::State&, const Source&)>;

  /// Copies the initial state and the source from their tape.
  RecurrentDecoding(Step step, const RecurrentDecoder::State& start, const Source& source);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;

private:
  /// A copy of a tensor whose first axis is the rows, in memory of its own. The copy of an empty tensor is empty.
  struct Rows {
    Shape shape;
    std::vector<Real> numbers;

    void keep(const Tensor& x);
    Tensor on(Tape& tape) const; // valid until the next change
    void select(std::span<const std::int64_t> parents);
  };
  void keep(const RecurrentDecoder::State& state);
  Source source_on(Tape& tape) const;

  Step step_;
  std::vector<Rows> h_, c_; // per layer
  Rows fed_;
  std::int64_t steps_ = 0;
  Rows states_, transformed_; // of the source's AttentionMemory
  std::int64_t key_width_ = 0;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> sources_; // the source of each row; rows with equal numbers have equal sources
};

} // namespace heed::HEED_REAL
