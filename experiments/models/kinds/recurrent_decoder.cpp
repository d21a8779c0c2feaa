#include "experiments/config/config.hpp"
#include "experiments/models/recurrent_parts.hpp"

namespace heed::HEED_REAL {

namespace {

class RecurrentLanguageModel : public Model {
public:
  RecurrentLanguageModel(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : layers_(scope, config, sizes, false),
        output_((scope / "output").output_layer(), config.model.width, sizes.classes, has_head_bias(config, true)) {}

  Tensor logits(Pass& pass, const Batch& batch) const override { return output_(pass, layers_(pass, batch).states); }

  std::unique_ptr<Decoding> decoding(Pass& pass, const Batch& batch) const override {
    return std::make_unique<RecurrentDecoding>(
        [this](Pass& p, std::span<const std::int32_t> tokens, RecurrentDecoder::State& state,
               const RecurrentDecoding::Source&) {
          const Tensor e = layers_.embedding(p, tokens.data(), {std::ssize(tokens)});
          const Recurrent::Step step = layers_.layers.step(p, e, state.cells);
          state.cells = step.state;
          return output_(p, step.output);
        },
        RecurrentDecoder::State{layers_.layers.start(pass, batch.sequences), {}, 0}, std::nullopt);
  }

private:
  RecurrentEncoder layers_;
  Linear output_;
};

} // namespace

extern const ModelInfo model_recurrent_decoder{
    .about = {.name = "recurrent_decoder",
              .summary = "recurrent layers that predict each next token from the tokens before it (language model)",
              .paper = "Mikolov et al. 2010; Graves 2013, arXiv 1308.0850",
              .cost = "2 gates width^2 parameters for each layer, gates 1 (srn), 3 (gru) or 4 (lstm)",
              .presets = {{"model.init_std", Value(0.1)}},
              .disables = {"attention", "init.linear"}, // all of its linear layers are in its cells
              .uses = {"recurrent"}},
    .format = TaskFormat::language_model,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<RecurrentLanguageModel>(scope, config, sizes);
    }};

} // namespace heed::HEED_REAL
