#include "experiments/config/config.hpp"
#include "experiments/models/recurrent_parts.hpp"

namespace heed::HEED_REAL {

namespace {

class RecurrentTranslator : public Model {
public:
  RecurrentTranslator(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : encoder_(scope, config, sizes, config.recurrent.bidirectional),
        embedding_(scope / "output_embedding", sizes.classes, config.model.width),
        decoder_((scope / "decoder").reading_outputs(), config.layers.front(), config.recurrent,
                 config.recurrent_options,
                 {.width = config.model.width, .memory_width = config.model.width, .longest = sizes.length},
                 config.recurrent_attention_options),
        output_((scope / "output").output_layer(), config.model.width, sizes.classes, has_head_bias(config, true)),
        dropout_(config.model.dropout) {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    const RecurrentEncoder::Result source = encoder_(pass, batch);
    const Tensor e = embedding_(pass, batch.outputs.data(), {batch.sequences, batch.output_length});
    const auto memory = decoder_.read(pass, source.states, batch.lengths.data());
    return output_(pass, decoder_(pass, pass.dropout(e, dropout_), source.last, memory));
  }

  std::unique_ptr<Decoding> decoding(Pass& pass, const Batch& batch) const override {
    const RecurrentEncoder::Result source = encoder_(pass, batch);
    return std::make_unique<RecurrentDecoding>(
        [this](Pass& p, std::span<const std::int32_t> tokens, RecurrentDecoder::State& state,
               const RecurrentDecoding::Source& memory) {
          const Tensor e = embedding_(p, tokens.data(), {std::ssize(tokens)});
          return output_(p, decoder_.step(p, e, state, memory));
        },
        decoder_.begin(pass, source.last), decoder_.read(pass, source.states, batch.lengths.data()));
  }

private:
  RecurrentEncoder encoder_;
  Embedding embedding_;
  RecurrentDecoder decoder_;
  Linear output_;
  double dropout_;
};

} // namespace

extern const ModelInfo model_recurrent{
    .about = {.name = "recurrent",
              .summary = "recurrent encoder and decoder: the decoder starts from the encoder's last states and, with "
                         "attention, attends to all of the encoder's states at each step",
              .paper = "Sutskever et al. 2014, arXiv 1409.3215 (without attention); Bahdanau et al. 2015, arXiv "
                       "1409.0473; Luong et al. 2015, arXiv 1508.04025",
              .cost = "2 gates width^2 parameters for each layer of encoder and decoder, gates 1 (srn), 3 (gru) or 4 "
                      "(lstm); steps are computed one after the other if a step needs the previous step's attention",
              .presets = {{"attention.score", Value(std::string("additive"))}, {"model.init_std", Value(0.1)}},
              .uses = {"recurrent", "recurrent.bidirectional", "recurrent.attention"}},
    .format = TaskFormat::sequence_to_sequence,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<RecurrentTranslator>(scope, config, sizes);
    }};

} // namespace heed::HEED_REAL
