#include "experiments/training/run_model.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace heed::HEED_REAL {

RunModel::RunModel(const Config& config, const Task& task) : form(model_info(config.model.kind).form) {
  if (const std::string why = task.refuses(form); !why.empty())
    throw Refused(fmt::format("[model] kind = \"{}\" does not go with [task] kind = \"{}\": {}", config.model.kind,
                              config.task.kind, why));
  if (form == Form::image_classification && config.train.evaluate_by_length)
    throw Refused("[train] evaluate_by_length = true does nothing where the model looks at images: they have no "
                  "length; set it to false");
  if (form != Form::sequence_to_sequence && config.train.evaluate_beam > 0)
    throw Refused(fmt::format("[train] evaluate_beam = {} needs a sequence-to-sequence model, and model.kind is "
                              "\"{}\"; set it to 0",
                              config.train.evaluate_beam, config.model.kind));
  if (config.train.evaluate_length_penalty > 0 && config.train.evaluate_beam < 2)
    throw Refused(fmt::format("[train] evaluate_length_penalty = {} does nothing where train.evaluate_beam is {}: a "
                              "beam of 2 at least has outputs to choose from; set it to 0",
                              config.train.evaluate_length_penalty, config.train.evaluate_beam));
  shape = task.shape(form);
  if (const std::int64_t longest = std::max(shape.length, shape.output_length), room = config.train.batch_tokens;
      room > 0 && longest > room)
    throw Refused(fmt::format("[train] batch_tokens = {} leaves no room for the longest row, which has {} tokens; "
                              "raise it to {} at least, or lower data.max_length",
                              room, longest, longest));
  try {
    model = model_info(config.model.kind).make(Scope(parameters, init_rules(config)), config, shape);
  } catch (const Failed& e) {
    throw Refused(e.what());
  }
}

std::int64_t training_rows(const Config& config, const Task& task, const RunModel& run, std::int64_t step) {
  const std::int64_t by_tokens = task.training_rows(run.form, static_cast<std::uint64_t>(config.general.seed), step);
  return by_tokens > 0 ? by_tokens : config.train.batch;
}

void fill_training_batch(const Config& config, const Task& task, const RunModel& run, std::int64_t step,
                         std::int64_t first, std::int64_t rows, Batch& batch) {
  batch.reset(rows, run.shape, run.form);
  for (std::int64_t i = 0; i < rows; ++i)
    task.training_row(run.form, static_cast<std::uint64_t>(config.general.seed), step, first + i, batch, i);
  if (run.shape.varied) batch.trim();
}

void fill_evaluation_batch(const Task& task, const RunModel& run, Split split, std::int64_t first, std::int64_t rows,
                           Batch& batch) {
  batch.reset(rows, run.shape, run.form);
  for (std::int64_t i = 0; i < rows; ++i) task.evaluation_row(run.form, split, first + i, batch, i);
}

std::int64_t counted_targets(const Batch& batch) {
  return std::count_if(batch.targets.begin(), batch.targets.end(), [](std::int32_t t) { return t != ignored; });
}

void read_stored(const Checkpoint& checkpoint, const std::string& name, const Shape& shape, Real* to) {
  for (const StoredTensor& t : checkpoint.tensors) {
    if (t.name != name) continue;
    const auto n = static_cast<std::size_t>(shape.size());
    const bool same = t.shape.size() == static_cast<std::size_t>(shape.rank) &&
                      std::equal(t.shape.begin(), t.shape.end(), shape.extent.begin());
    if (!same || t.float64 != (sizeof(Real) == 8) || t.bytes.size() != n * sizeof(Real))
      throw Failed(fmt::format("[checkpoint] '{}' should be {} of {}: the checkpoint is of another configuration", name,
                               shape.text(), sizeof(Real) == 8 ? "float64" : "float32"));
    std::memcpy(to, t.bytes.data(), t.bytes.size());
    return;
  }
  throw Failed(fmt::format("[checkpoint] there is no '{}': the checkpoint is of another configuration", name));
}

StoredTensor stored(const std::string& name, const Shape& shape, const Real* from) {
  StoredTensor t{name, {shape.extent.begin(), shape.extent.begin() + shape.rank}, sizeof(Real) == 8, {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  t.bytes.assign(bytes, bytes + static_cast<std::size_t>(shape.size()) * sizeof(Real));
  return t;
}

void load_parameters(Parameters& parameters, const Checkpoint& checkpoint) {
  for (const Parameters::Entry& e : parameters.entries())
    read_stored(checkpoint, e.name, e.shape, parameters.values() + e.offset);
}

} // namespace heed::HEED_REAL
