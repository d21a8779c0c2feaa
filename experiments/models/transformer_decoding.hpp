// A Transformer that decodes token by token, with the keys and values of what came before kept.
#pragma once

#include "experiments/models/transformer.hpp"

#include <functional>
#include <vector>

namespace heed::HEED_REAL {

class TransformerDecoding : public Decoding {
public:
  /// `output`: from a block's vectors to logits. Both must outlive this.
  TransformerDecoding(const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output)
      : decoder_(decoder), output_(std::move(output)), past_{0, std::vector<Block::Past>(decoder.stack.blocks.size())} {
  }
  /// With a memory of each row, of the given lengths.
  TransformerDecoding(Pass& pass, const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output,
                      const Tensor& memory, std::span<const std::int32_t> lengths);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void read(Pass& pass, std::int64_t rows, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;

private:
  Tensor next(Pass& pass, const TokenRows& tokens);

  const Transformer& decoder_;
  std::function<Tensor(Pass&, const Tensor&)> output_;
  Transformer::Past past_;
  std::vector<std::int32_t> memory_lengths_; // of each row
  std::vector<std::int64_t> sources_;        // which memory a row has: those of one source are equal
};

} // namespace heed::HEED_REAL
