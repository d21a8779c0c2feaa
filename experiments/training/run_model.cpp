#include "experiments/training/run_model.hpp"

#include "autograd/error.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/models/segments.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

std::vector<RunModel::OtherSequences> evaluated_lengths(const Config& config, const Task& task, TaskFormat format) {
  const std::vector<std::int64_t>& lengths = config.train.evaluate_lengths;
  const std::string shown = "[train] evaluate_lengths = " + value_text(Value(lengths));
  if (std::ranges::adjacent_find(lengths, std::ranges::greater_equal()) != lengths.end())
    throw Refused(shown + " must go up, with no length twice");
  std::vector<RunModel::OtherSequences> out;
  for (const std::int64_t length : lengths) {
    const Task* of_length = nullptr;
    try {
      of_length = task.of_length(length);
    } catch (const Refused& e) {
      throw Refused(fmt::format("{}: length {} can't be measured: {}", shown, length, e.what()));
    }
    if (!of_length)
      throw Refused(fmt::format("{} needs a task that generates sequences of any length, but task.kind = \"{}\" has "
                                "fixed lengths; leave it out",
                                shown, config.task.kind));
    out.push_back({of_length, of_length->sizes(format), length});
  }
  return out;
}

std::unique_ptr<Model> make_model(const Config& config, const TaskSizes& sizes, Parameters& parameters) {
  return model_info(config.model.kind).make(Scope(parameters, init_rules(config)), config, sizes);
}

// The first parameter with more values for longer sequences; empty if there is none.
std::string first_that_grows(const Parameters& shorter, const Parameters& longer) {
  for (std::size_t i = 0; i < longer.entries().size(); ++i)
    if (i >= shorter.entries().size() || !(shorter.entries()[i].shape == longer.entries()[i].shape))
      return longer.entries()[i].name;
  return "";
}

// The words of an option with which no parameter grows with the sequence length.
template <class Choose>
std::vector<std::string> words_that_serve(const Config& config, const TaskSizes& sizes, const TaskSizes& longest,
                                          const char* option, const Choose& choose) {
  std::vector<std::string> out;
  for (const std::string& word : find_option(option)->words) {
    Config other = config;
    choose(other, word);
    Parameters shorter, longer;
    try {
      make_model(other, sizes, shorter);
      make_model(other, longest, longer);
    } catch (const Failed&) {
      continue;
    }
    if (first_that_grows(shorter, longer).empty()) out.push_back(word);
  }
  return out;
}

TaskSizes longer_of(TaskSizes one, const TaskSizes& other) {
  one.length = std::max(one.length, other.length);
  one.output_length = std::max(one.output_length, other.output_length);
  return one;
}

[[noreturn]] void refuse_growing(const Config& config, const TaskSizes& sizes, const TaskSizes& longest,
                                 const std::string& parameter) {
  std::string mend;
  const auto suggest = [&](const char* option, const auto& choose) {
    const std::vector<std::string> words = words_that_serve(config, sizes, longest, option, choose);
    if (mend.empty() && !words.empty())
      mend = fmt::format(", or choose another value of {}, without a largest length: {}", option, list_in_words(words));
  };
  const auto in_all_blocks = [](Config& other, const auto& change) {
    for (auto* stack : {&other.layers, &other.decoder_layers})
      for (LayerChoice& block : *stack) change(block);
  };
  suggest("position.kind", [&](Config& other, const std::string& word) {
    in_all_blocks(other, [&](LayerChoice& block) {
      block.position.kind = word;
      block.position_options = {};
    });
  });
  suggest("attention.score", [&](Config& other, const std::string& word) {
    in_all_blocks(other, [&](LayerChoice& block) {
      block.attention.score = word;
      block.score_options = {};
    });
  });
  throw Refused(
      fmt::format("[train] evaluate_lengths = {} has sequences of {} tokens, and training's have {} at most: the "
                  "parameter '{}' has values for each position, and values beyond training's length would "
                  "never be trained. Leave the longer lengths out{}",
                  value_text(Value(config.train.evaluate_lengths)), std::max(longest.length, longest.output_length),
                  std::max(sizes.length, sizes.output_length), parameter, mend));
}

// Refuses an evaluation_scaling of rotary positions that no sequence uses.
void refuse_idle_scaling(const Config& config, const TaskSizes& trained, const TaskSizes& evaluated) {
  const auto scales = [](const LayerChoice& block) {
    const auto found = block.position_options.find("evaluation_scaling");
    return found != block.position_options.end() && found->second != Value(std::string("none"));
  };
  if (!config.any_block(scales) || evaluated.length > trained.length || evaluated.output_length > trained.output_length)
    return;
  throw Refused(
      fmt::format("[position] rotary.evaluation_scaling does nothing: it is for sequences that are longer than "
                  "training's, which have up to {} tokens, and train.evaluate_lengths = {} has no such sequences; "
                  "add a greater length",
                  std::max(trained.length, trained.output_length), value_text(Value(config.train.evaluate_lengths))));
}

} // namespace

std::string RunModel::OtherSequences::name(std::string_view metric) const {
  return set.empty() ? name_at_length(metric, length) : name_on_set(metric, set);
}

RunModel::RunModel(const Config& config, const Task& task) : format(model_info(config.model.kind).format) {
  if (const std::string why = task.refuses(format); !why.empty())
    throw Refused(fmt::format("[model] kind = \"{}\" does not go with [task] kind = \"{}\": {}", config.model.kind,
                              config.task.kind, why));
  if (format == TaskFormat::image_classification && config.train.evaluate_by_length)
    throw Refused("[train] evaluate_by_length = true does nothing for a model of images: they have no length; set it "
                  "to false");
  if (format != TaskFormat::sequence_to_sequence && config.train.evaluate_beam > 0)
    throw Refused(fmt::format("[train] evaluate_beam = {} needs a sequence-to-sequence model, and model.kind is "
                              "\"{}\"; set it to 0",
                              config.train.evaluate_beam, config.model.kind));
  if (config.train.evaluate_length_penalty > 0 && config.train.evaluate_beam < 2)
    throw Refused(fmt::format("[train] evaluate_length_penalty = {} does nothing if train.evaluate_beam is {}: only a "
                              "beam of at least 2 compares outputs; set it to 0",
                              config.train.evaluate_length_penalty, config.train.evaluate_beam));
  sizes = task.sizes(format);
  set_segment_ends(config, task, format, sizes);
  if (const std::int64_t longest = std::max(sizes.length, sizes.output_length), room = config.train.batch_tokens;
      room > 0 && longest > room)
    throw Refused(fmt::format("[train] batch_tokens = {} is too small for the longest sequence, which has {} tokens; "
                              "raise it to at least {}, or lower data.max_length",
                              room, longest, longest));
  at_lengths = evaluated_lengths(config, task, format);
  TaskSizes all_sequences = sizes;
  for (const Task::NamedSet& set : task.sets()) {
    on_sets.push_back({set.task.get(), set.task->sizes(format), 0, set.name});
    all_sequences = longer_of(all_sequences, on_sets.back().sizes);
  }
  TaskSizes trained = task.training_sizes(format);
  trained.segment_end = sizes.segment_end;
  trained.output_segment_end = sizes.output_segment_end;
  TaskSizes evaluated = trained;
  for (const OtherSequences& at : at_lengths) evaluated = longer_of(evaluated, at.sizes);
  refuse_idle_scaling(config, trained, evaluated);
  TaskSizes built = longer_of(all_sequences, evaluated);
  built.trained_length = trained.length;
  built.trained_output_length = trained.output_length;
  try {
    model = make_model(config, built, parameters);
    if (evaluated.length == trained.length && evaluated.output_length == trained.output_length) return;
    Parameters of_training, of_evaluation;
    make_model(config, trained, of_training);
    make_model(config, evaluated, of_evaluation);
    if (const std::string name = first_that_grows(of_training, of_evaluation); !name.empty())
      refuse_growing(config, trained, evaluated, name);
  } catch (const Failed& e) {
    throw Refused(e.what());
  }
}

EvaluationPieces EvaluationPieces::of_length(const RunModel& run, const TaskSizes& sizes, std::int64_t sequences) {
  const auto tokens = [](const TaskSizes& s) { return std::max<std::int64_t>(s.length + s.output_length, 1); };
  return {sequences, std::clamp<std::int64_t>(most_sequences * tokens(run.sizes) / tokens(sizes), 1, most_sequences)};
}

std::int64_t training_sequences(const Config& config, const Task& task, const RunModel& run, std::int64_t step) {
  const std::int64_t by_tokens = task.training_sequences(run.format, config.order_seed(), step);
  return by_tokens > 0 ? by_tokens : config.train.batch;
}

void fill_training_batch(const Config& config, const Task& task, const RunModel& run, std::int64_t step,
                         std::int64_t first, std::int64_t sequences, Batch& batch, Content content) {
  batch.reset(sequences, run.sizes, run.format);
  const auto write = content == Content::whole ? &Task::training_sequence : &Task::training_sequence_lengths;
  for (std::int64_t i = 0; i < sequences; ++i)
    (task.*write)(run.format, config.order_seed(), step, first + i, batch, i);
  task.require_whole();
  if (run.sizes.varied) batch.trim();
}

void fill_evaluation_batch(const Task& task, const RunModel& run, Split split, std::int64_t first,
                           std::int64_t sequences, Batch& batch, Content content) {
  fill_evaluation_batch({&task, run.sizes}, run, split, first, sequences, batch, content);
}

void fill_evaluation_batch(const RunModel::OtherSequences& at, const RunModel& run, Split split, std::int64_t first,
                           std::int64_t sequences, Batch& batch, Content content) {
  if (run.poll) (*run.poll)();
  batch.reset(sequences, at.sizes, run.format);
  const auto write = content == Content::whole ? &Task::evaluation_sequence : &Task::evaluation_sequence_lengths;
  for (std::int64_t i = 0; i < sequences; ++i) (at.task->*write)(run.format, split, first + i, batch, i);
  at.task->require_whole();
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

void load_some_parameters(Parameters& parameters, const Checkpoint& checkpoint) {
  std::size_t read = 0;
  for (const Parameters::Entry& e : parameters.entries())
    if (std::ranges::find(checkpoint.tensors, e.name, &StoredTensor::name) != checkpoint.tensors.end()) {
      read_stored(checkpoint, e.name, e.shape, parameters.values() + e.offset);
      ++read;
    }
  if (read != checkpoint.tensors.size())
    throw Failed(fmt::format("[checkpoint] {} of its {} tensors are no parameters of the model",
                             checkpoint.tensors.size() - read, checkpoint.tensors.size()));
}

} // namespace heed::HEED_REAL
