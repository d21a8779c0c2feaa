// A recurrent model that decodes token by token, with its states, and what it attends to, kept.
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
  /// From each row's next token to logits [rows, classes]; the state becomes that after it.
  using Step = std::function<Tensor(Pass&, std::span<const std::int32_t>, RecurrentDecoder::State&, const Source&)>;

  /// Copies the state before the first step and the source out of their tape.
  RecurrentDecoding(Step step, const RecurrentDecoder::State& start, const Source& source);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;

private:
  /// A tensor whose first axis is the rows, in memory of its own; of a tensor that is empty, nothing.
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
  std::vector<Rows> h_, c_; // of each layer
  Rows fed_;
  std::int64_t steps_ = 0;
  Rows states_, transformed_; // of the source
  std::int64_t key_width_ = 0;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> sources_; // which source a row has: those of one are equal
};

} // namespace heed::HEED_REAL
