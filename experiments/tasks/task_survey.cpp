#include "experiments/tasks/task_survey.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heed {

namespace {

LengthSurvey survey_lengths(std::vector<std::int32_t> lengths) {
  if (lengths.empty()) return {};
  std::ranges::sort(lengths);
  return {lengths.front(), lengths[lengths.size() / 2], lengths.back()};
}

/// The target of each position, or _ if it has none.
std::string text_by_place(const Task& task, std::span<const std::int32_t> targets) {
  std::string text;
  for (const std::int32_t target : targets)
    text += (text.empty() ? "" : " ") + (target == ignored ? "_" : task.token_text(target));
  return text;
}

std::int64_t sequences_of_step(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t step,
                               std::int64_t batch) {
  const std::int64_t by_task = task.training_sequences(format, seed, step);
  return by_task > 0 ? by_task : batch;
}

/// Counts tokens by their text, because input and output may use different token numbers.
class Counter {
public:
  Counter(const Task& task, TaskFormat format) : task_(task), form_(format) {}

  /// Counts the tokens of the batch's first sequences.
  void add(const Batch& batch, std::int64_t sequences) {
    const bool classes = gives_class(form_);
    for (std::int64_t r = 0; r < sequences; ++r) {
      const auto index = static_cast<std::size_t>(r);
      if (classes) {
        ++outputs_[batch.targets[index]];
        continue;
      }
      for (std::int64_t i = 0; i < batch.lengths[index]; ++i)
        ++inputs_[batch.tokens[static_cast<std::size_t>(r * batch.length + i)]];
      if (form_ == TaskFormat::sequence_to_sequence) // without begin and end tokens
        for (std::int64_t i = 1; i < batch.output_lengths[index]; ++i)
          ++outputs_[batch.outputs[static_cast<std::size_t>(r * batch.output_length + i)]];
    }
  }

  std::vector<std::pair<std::string, std::int64_t>> commonest() const {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [token, count] : inputs_) counts[task_.decode({&token, 1})] += count;
    for (const auto& [token, count] : outputs_) counts[task_.decode_output(form_, {&token, 1})] += count;
    std::vector<std::pair<std::string, std::int64_t>> out(counts.begin(), counts.end());
    std::ranges::stable_sort(out, std::ranges::greater{}, [](const auto& entry) { return entry.second; });
    return out;
  }

private:
  const Task& task_;
  TaskFormat form_;
  std::map<std::int32_t, std::int64_t> inputs_, outputs_;
};

} // namespace

ExampleText example_text(const Task& task, const Batch& batch, std::int64_t at) {
  return example_text(task, batch, at, batch.targets);
}

ExampleText example_text(const Task& task, const Batch& batch, std::int64_t at,
                         std::span<const std::int32_t> predictions) {
  const auto sequence = [&](std::span<const std::int32_t> all, std::int64_t length, std::int64_t used) {
    return all.subspan(static_cast<std::size_t>(at * length), static_cast<std::size_t>(used));
  };
  const auto index = static_cast<std::size_t>(at);
  switch (batch.format) {
    case TaskFormat::image_classification: return {"", task.decode_output(batch.format, sequence(predictions, 1, 1))};
    case TaskFormat::classification:
      return {task.decode(sequence(batch.tokens, batch.length, batch.lengths[index])),
              task.decode_output(batch.format, sequence(predictions, 1, 1))};
    case TaskFormat::sequence_to_sequence:
      return {
          task.decode(sequence(batch.tokens, batch.length, batch.lengths[index])),
          task.decode_output(batch.format, sequence(batch.outputs, batch.output_length, batch.output_lengths[index]))};
    case TaskFormat::language_model: break;
  }
  const auto tokens = sequence(batch.tokens, batch.length, batch.lengths[index]);
  const auto targets = sequence(batch.targets, batch.length, batch.lengths[index]);
  const auto outputs = sequence(predictions, batch.length, batch.lengths[index]);
  const auto first = std::ranges::find_if(targets, [](std::int32_t t) { return t != ignored; }) - targets.begin();
  const auto after = std::min(first + 1, std::ssize(targets)); // the position that reads the first target
  if (!std::equal(tokens.begin() + after, tokens.end(), targets.begin() + first))
    return {task.decode(tokens), text_by_place(task, outputs)};
  return {task.decode(tokens.first(std::min(tokens.size(), static_cast<std::size_t>(first) + 1))),
          task.decode(outputs.subspan(static_cast<std::size_t>(first)))};
}

TaskSurvey survey_task(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t batch_sequences,
                       std::int64_t sequences, std::int64_t examples, std::size_t commonest) {
  TaskSurvey survey;
  survey.format = format;
  survey.sizes = task.sizes(format);
  survey.facts = task.facts();
  for (std::string& warning : task.warnings()) {
    const auto begins = [&](const std::string& note) { return note.starts_with(warning); };
    if (std::ranges::none_of(survey.facts.notes, begins)) survey.facts.notes.push_back(std::move(warning));
  }
  Counter counter(task, format);
  std::vector<std::int32_t> inputs, outputs;
  const auto training = static_cast<std::size_t>(Split::train);
  // The sizes of running text are those of tokens, and its sequences are drawn.
  if (const auto listed = task.listed_sequences(format, Split::train); listed == survey.facts.sizes[training])
    survey.listed = listed;
  sequences = std::min(sequences, survey.listed.value_or(sequences));
  std::int64_t real = 0, room = 0, all = 0, step = 0;
  Batch batch;
  for (; survey.sequences < sequences; ++step) {
    const std::int64_t now = sequences_of_step(task, format, seed, step, batch_sequences);
    batch.reset(now, survey.sizes, format);
    for (std::int64_t r = 0; r < now; ++r) task.training_sequence(format, seed, step, r, batch, r);
    task.require_whole();
    if (survey.sizes.varied) batch.trim();
    const std::int64_t counted = std::min(now, sequences - survey.sequences);
    survey.sequences += counted;
    all += now;
    const auto add_first = [&](const std::vector<std::int32_t>& lengths, std::vector<std::int32_t>& to) {
      to.insert(to.end(), lengths.begin(), lengths.begin() + std::min(counted, std::ssize(lengths)));
    };
    add_first(batch.lengths, inputs);
    add_first(batch.output_lengths, outputs);
    real += batch.real_tokens();
    room += now * (batch.length + batch.output_length);
    counter.add(batch, counted);
    for (std::int64_t r = 0; r < counted && std::ssize(survey.examples) < examples; ++r)
      survey.examples.push_back(example_text(task, batch, r));
  }
  survey.inputs = survey_lengths(std::move(inputs));
  survey.outputs = survey_lengths(std::move(outputs));
  if (step > 0) survey.sequences_per_step = static_cast<double>(all) / static_cast<double>(step);
  if (room > 0) survey.filled = static_cast<double>(real) / static_cast<double>(room);
  survey.commonest = counter.commonest();
  survey.different = std::ssize(survey.commonest);
  survey.commonest.resize(std::min(survey.commonest.size(), commonest));
  return survey;
}

void each_training_sequence(const Task& task, TaskFormat format, std::uint64_t seed, std::int64_t batch,
                            std::int64_t steps, const std::function<void(const TrainingSequence&)>& use) {
  if (format == TaskFormat::image_classification)
    throw Refused("the task has images, and sequences of a training step are written as tokens; take a task of tokens");
  const TaskSizes sizes = task.sizes(format);
  Batch one;
  TrainingSequence out;
  for (out.step = 0; out.step < steps; ++out.step)
    for (out.sequence = 0; out.sequence < sequences_of_step(task, format, seed, out.step, batch); ++out.sequence) {
      one.reset(1, sizes, format);
      task.training_sequence(format, seed, out.step, out.sequence, one, 0);
      task.require_whole();
      one.trim();
      out.tokens.assign(one.tokens.begin(), one.tokens.begin() + one.lengths[0]);
      out.outputs = one.outputs;
      out.targets = one.targets;
      out.text = example_text(task, one, 0);
      use(out);
    }
}

void each_example(const Task& task, TaskFormat format, Split split, std::optional<std::int64_t> count,
                  const std::function<void(const ExampleText&)>& use) {
  const std::optional<std::int64_t> sequences = task.listed_sequences(format, split);
  if (!sequences)
    throw Refused("the task makes its training examples anew for every step, without end, so they can't be listed; "
                  "take --split validation or --split test");
  if (*sequences == 0)
    throw Refused(fmt::format("the {} split has no example", split == Split::train        ? "training"
                                                             : split == Split::validation ? "validation"
                                                                                          : "test"));
  const TaskSizes sizes = task.sizes(format);
  Batch batch;
  for (std::int64_t i = 0; i < std::min(*sequences, count.value_or(*sequences)); ++i) {
    batch.reset(1, sizes, format);
    task.listed_sequence(format, split, i, batch, 0);
    task.require_whole();
    use(example_text(task, batch, 0));
  }
}

} // namespace heed
