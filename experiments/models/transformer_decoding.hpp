// Token-by-token decoding with a Transformer. It caches the keys and values of the tokens read so far.
#pragma once

#include "experiments/models/transformer.hpp"

#include <functional>
#include <vector>

namespace heed::HEED_REAL {

class TransformerDecoding : public Decoding {
public:
  /// @param output  maps a block's vectors to logits. It and the decoder must outlive this object
  TransformerDecoding(const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output)
      : decoder_(decoder),
        output_(std::move(output)), past_{.blocks = std::vector<Block::Past>(decoder.stack.blocks.size())} {}
  /// With an encoder output for each row, of the given lengths and segments.
  TransformerDecoding(Pass& pass, const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output,
                      const Tensor& memory, std::span<const std::int32_t> lengths, const Segments& segments);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void read(Pass& pass, std::int64_t rows, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;

private:
  Tensor next(Pass& pass, const TokenRows& tokens);

  const Transformer& decoder_;
  std::function<Tensor(Pass&, const Tensor&)> output_;
  Transformer::Past past_;
  std::vector<std::int32_t> memory_lengths_;               // per row
  std::vector<std::vector<std::int32_t>> memory_segments_; // per row; empty without segments
  // The encoder output of each row; rows with equal numbers have equal encoder outputs
  std::vector<std::int64_t> sources_;
};

} // namespace heed::HEED_REAL
