#include "experiments/config/config.hpp"
#include "experiments/models/block_stack.hpp"
#include "experiments/models/transformer.hpp"

#include <algorithm>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t decoder_layers = 0;
  bool shared_embeddings = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option(
          "decoder_layers", &Options::decoder_layers,
          "number of decoder blocks; unless [[block.override]] with a stack says otherwise, block i of the decoder is "
          "configured as block i of the encoder, and further blocks as the encoder's last block")
          .between(0, 1024)
          .unit("blocks")
          .default_means("0: model.layers"),
      option("shared_embeddings", &Options::shared_embeddings,
             "encoder and decoder use the same token embeddings; the task's input and output must share their "
             "vocabulary"));
  return t;
}

class EncoderDecoder : public Model {
public:
  EncoderDecoder(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : EncoderDecoder(scope, config, sizes, table().read(config.model_options)) {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    const Memory memory{
        .vectors = encoder_(pass, batch), .lengths = batch.lengths.data(), .segments = encoder_.segments(pass, batch)};
    const TokenSequences read{batch.outputs.data(), batch.sequences, batch.output_length, batch.output_lengths.data()};
    return head_(pass, decoder_(pass, read, memory));
  }

  std::unique_ptr<Decoding> decoding(Pass& pass, const Batch& batch) const override {
    if (!decoder_.serves_steps()) return nullptr;
    return std::make_unique<TransformerDecoding>(
        pass, decoder_, [this](Pass& p, const Tensor& x) { return head_(p, x); }, encoder_(pass, batch), batch.lengths,
        encoder_.segments(pass, batch));
  }

private:
  EncoderDecoder(const Scope& scope, const Config& config, const TaskSizes& sizes, const Options& options)
      : encoder_(scope / "encoder", encoder_config(config), sizes, reads_segments(config)),
        decoder_((scope / "decoder").reading_outputs(), decoder_config(config),
                 StackSizes{.vocabulary = sizes.classes,
                            .longest = sizes.output_length,
                            .trained = sizes.trained_output_length,
                            .memory_width = encoder_.width(),
                            .longest_memory = sizes.length,
                            .trained_memory = sizes.trained_length,
                            .segment_end = sizes.output_segment_end,
                            .segments = reads_segments(config),
                            .embedding = options.shared_embeddings ? std::optional(encoder_.embedding) : std::nullopt}),
        head_(scope, config, decoder_, sizes.classes) {
    if (options.shared_embeddings && !sizes.shared_vocabulary)
      throw Failed("[model] shared_embeddings = true needs a task whose input and output share their vocabulary; set "
                   "it to false (or, for translation, task.translation.shared_vocabulary = true)");
  }

  Transformer encoder_, decoder_;
  Head head_;
};

} // namespace

extern const ModelInfo model_encoder_decoder{
    .about = {.name = "encoder_decoder",
              .summary =
                  "a Transformer that reads the whole input and writes an output sequence, each token from the tokens "
                  "before it",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762",
              .equals = "torch.nn.Transformer, with [block] norm, activation and bias set to its values",
              .cost = "about 12 width^2 parameters for each block of the encoder, 16 width^2 for each of the decoder",
              .options = table().options(),
              .disables = {"attention.causal", "attention.prefix", "block.parallel"},
              .uses = {"model.tied_embeddings", "attention.cross_score", "attention.cross_normalizer",
                       "attention.cross_projection", "attention.cross_score_mod", "attention.cross_mask_mod"},
              .conditions = {{"init.head", "model.tied_embeddings", {"false"}}}},
    .format = TaskFormat::sequence_to_sequence,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<EncoderDecoder>(scope, config, sizes);
    },
    .stacks = {"encoder", "decoder"}};

} // namespace heed::HEED_REAL
