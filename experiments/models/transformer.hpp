// The common parts of Transformers over tokens: embedded tokens through a stack of blocks, the output layer for logits,
// and token-by-token decoding, which caches the keys and values of the tokens read so far.
#pragma once

#include "experiments/models/block_stack.hpp"
#include "layers/linear.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// Sequences of tokens, padded to one length.
struct TokenSequences {
  const std::int32_t* tokens; ///< [sequences, length]
  std::int64_t count, length;
  const std::int32_t* lengths = nullptr; ///< [count]; null: no padding

  static TokenSequences of(const Batch& batch) {
    return {batch.tokens.data(), batch.sequences, batch.length, batch.lengths.data()};
  }
};

/// The encoder output that a decoder's blocks attend to.
struct Memory {
  Tensor vectors;                        ///< [sequences, length, width]
  const std::int32_t* lengths = nullptr; ///< [count]; null: no padding
  Segments segments{};                   ///< of the encoder's tokens, if formulas use segments
};

/// True if a formula of some block uses the segments of tokens.
bool reads_segments(const Config& config);

/// The sizes for which a stack of blocks is built.
struct StackSizes {
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;      ///< maximum number of tokens of a sequence
  std::int64_t trained = 0;      ///< the same in training; 0: `longest`
  std::int64_t memory_width = 0; ///< width of the encoder output; 0: no cross attention
  std::int64_t longest_memory = 0;
  std::int64_t trained_memory = 0;         ///< maximum length of the encoder output in training; 0: `longest_memory`
  std::vector<std::int32_t> segment_end{}; ///< the tokens that end a segment
  bool segments = false;                   ///< are the segments of tokens needed?
  std::optional<Embedding> embedding{};    ///< an existing embedding to share; empty: the stack gets its own
};

/// A stack of blocks over embedded tokens.
struct Transformer {
  Embedding embedding; ///< named `embedding`
  BlockStack stack;
  Real embedding_factor;                 ///< token embeddings are multiplied by it
  std::vector<std::int32_t> segment_end; ///< the tokens that end a segment; empty: segments are not needed

  /// For the tokens of the task's input. `segments`: are their segments needed?
  Transformer(const Scope& scope, const Config& config, const TaskSizes& sizes, bool segments);
  Transformer(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : Transformer(scope, config, sizes, reads_segments(config)) {}
  /// Throws heed::Failed if segments are needed and no tokens end one.
  Transformer(const Scope& scope, const Config& config, const StackSizes& sizes);

  /// The last block's output: [sequences, length, width()].
  Tensor operator()(Pass& pass, const Batch& batch) const;
  Tensor operator()(Pass& pass, const TokenSequences& sequences) const;
  Tensor operator()(Pass& pass, const TokenSequences& sequences, const Memory& memory) const;
  /// The segments of the sequences' tokens, in the tape's memory; none if they are not needed.
  Segments segments(Pass& pass, const TokenSequences& sequences) const;
  Segments segments(Pass& pass, const Batch& batch) const { return segments(pass, TokenSequences::of(batch)); }

  /// The state of step-by-step decoding of some sequences.
  struct Past {
    std::int64_t length = 0;
    std::vector<Block::Past> blocks;
    std::vector<std::vector<std::int32_t>> tokens{}; ///< of each sequence, if segments are needed
  };
  /// The state before the first step. It includes the blocks' projections of the encoder output, if there is one.
  Past start(Pass& pass, const Memory* memory) const;
  /// Processes the next tokens of each sequence, the same number for all sequences. Returns [sequences, length,
  /// width()]. `of_memory` has the lengths and the segments of the encoder output, if there is one.
  Tensor step(Pass& pass, const TokenSequences& next, Past& past, const Mask& of_memory) const;
  /// True if step-by-step decoding gives the same result as the whole sequence.
  bool serves_steps() const;

  std::int64_t width() const { return stack.width(); }

private:
  Tensor embed(Pass& pass, const TokenSequences& sequences) const;
};

/// The output layer: maps a decoder's vectors [..., width] to logits [..., classes]. It is a linear layer of its own,
/// or, with [model] tied_embeddings, uses the token embeddings. By default it has no bias.
class Head {
public:
  /// Parameters are named `output`. Throws heed::Failed if tied embeddings do not have the width of the vectors.
  Head(const Scope& scope, const Config& config, const Transformer& decoder, std::int64_t classes);

  Tensor operator()(Pass& pass, const Tensor& x) const;

private:
  ParameterId embedding_;
  std::optional<Linear> own_;
  std::optional<ParameterId> bias_; // the bias of tied embeddings
};

class TransformerDecoding : public Decoding {
public:
  /// @param output  maps a block's vectors to logits. It and the decoder must outlive this object
  TransformerDecoding(const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output)
      : decoder_(decoder),
        output_(std::move(output)), past_{.blocks = std::vector<Block::Past>(decoder.stack.blocks.size())} {}
  /// With an encoder output for each sequence, of the given lengths and segments.
  TransformerDecoding(Pass& pass, const Transformer& decoder, std::function<Tensor(Pass&, const Tensor&)> output,
                      const Tensor& memory, std::span<const std::int32_t> lengths, const Segments& segments);

  Tensor step(Pass& pass, std::span<const std::int32_t> tokens) override;
  void read(Pass& pass, std::int64_t sequences, std::span<const std::int32_t> tokens) override;
  void select(std::span<const std::int64_t> parents) override;
  std::int64_t state_size(std::int64_t more) const override;

private:
  Tensor next(Pass& pass, const TokenSequences& tokens);

  const Transformer& decoder_;
  std::function<Tensor(Pass&, const Tensor&)> output_;
  Transformer::Past past_;
  std::vector<std::int32_t> memory_lengths_;               // per sequence
  std::vector<std::vector<std::int32_t>> memory_segments_; // per sequence; empty without segments
  // The encoder output of each sequence; sequences with equal numbers have equal encoder outputs
  std::vector<std::int64_t> sources_;
};

} // namespace heed::HEED_REAL
