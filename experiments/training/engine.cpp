#include "experiments/models/model.hpp"
#include "experiments/training/engine_table.hpp"

namespace heed {

const Engine& engine(const Config& config) { return config.float64() ? f64::engine_table() : f32::engine_table(); }

bool has_sequence_accuracy(const Config& config) {
  const Form form = f32::model_info(config.model.kind).form;
  return form == Form::sequence_to_sequence || (form == Form::language_model && config.data.path.empty());
}

std::vector<MetricInfo> metrics_of(const Config& config) {
  std::vector<MetricInfo> out{
      {"val_loss", false, "nats", "cross-entropy on the validation split, the mean over targets, without smoothing"},
      {"val_accuracy", true, "", "fraction of the validation split's targets that are the most probable class"}};
  if (has_sequence_accuracy(config))
    out.push_back({"val_sequence_accuracy", true, "", "fraction of the validation rows without a wrong target"});
  out.push_back({"train_loss", false, "nats", "cross-entropy of the last training batch, with smoothing where it is set"});
  return out;
}

} // namespace heed
