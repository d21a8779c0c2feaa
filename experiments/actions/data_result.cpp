#include "experiments/actions/data_result.hpp"

#include "experiments/tasks/task_info.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace heed {

namespace {

std::optional<std::int64_t> size_or_none(std::int64_t size) { return size < 0 ? std::nullopt : std::optional(size); }

DataLengths lengths_of(const LengthSurvey& of) { return {of.shortest, of.median, of.longest}; }

} // namespace

DataResult data_result(const Config& config, const Task& task, const TaskSurvey& s) {
  DataResult out{.task = config.task.kind,
                 .summary = task_info(config.task.kind).about.summary,
                 .seen_as = view_in_words(s.format),
                 .unit = s.facts.unit,
                 .training = size_or_none(s.facts.sizes[0]),
                 .validation = size_or_none(s.facts.sizes[1]),
                 .test = size_or_none(s.facts.sizes[2]),
                 .vocabulary = s.sizes.vocabulary,
                 .classes = s.sizes.classes,
                 .surveyed = s.sequences,
                 .different = s.different,
                 .inputs = lengths_of(s.inputs),
                 .filled = s.filled};
  if (!s.facts.files[0].empty()) out.files.assign(s.facts.files.begin(), s.facts.files.end());
  if (s.format == TaskFormat::sequence_to_sequence) out.outputs = lengths_of(s.outputs);
  for (const auto& [token, count] : s.commonest) out.commonest.push_back({token, count});
  const Task::Chance chance = task.chance(s.format);
  out.chance = {.accuracy = chance.accuracy, .how = chance.how};
  if (chance.sequence) out.chance.sequence_accuracy = chance.sequence->value;
  if (chance.loss) out.chance.loss = chance.loss->value;
  out.notes = s.facts.notes;
  for (const Task::NamedSet& set : task.sets()) {
    const Task::Facts facts = set.task->facts();
    out.sets.push_back({set.name, facts.files[1], facts.sizes[1]});
    for (const std::string& note : facts.notes)
      if (std::ranges::find(out.notes, note) == out.notes.end()) out.notes.push_back(note);
  }
  for (const ExampleText& example : s.examples) out.examples.push_back({example.input, example.output});
  return out;
}

std::string view_in_words(TaskFormat format) {
  switch (format) {
    case TaskFormat::language_model: return "sequences of tokens; each token is predicted from the tokens before it";
    case TaskFormat::sequence_to_sequence: return "pairs of an input and an output";
    case TaskFormat::classification: return "sequences of tokens with a class";
    case TaskFormat::image_classification: return "images with a class";
  }
  return "";
}

} // namespace heed
