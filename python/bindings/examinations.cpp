// What a run's model does: evaluation, outputs, generation, attention and measurements.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/inspection_json.hpp"
#include "experiments/actions/requests.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/sweep/preparation.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/open_run.hpp"

#include <boost/json/serialize.hpp>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <fmt/format.h>

namespace nb = nanobind;

namespace heed {
BOOST_DESCRIBE_STRUCT(EvaluationRequest, (), (beam, length_penalty, length_penalty_kind, bleu_tokenization, lengths))
BOOST_DESCRIBE_STRUCT(GenerationRequest, (),
                      (prompt, tokens, temperature, top_k, seed, beam, length_penalty, length_penalty_kind))
} // namespace heed

namespace heed::python {
namespace {

const OptionNames names{.mark = "", .between = '_'};

void require_within(const char* words, std::optional<double> value, double low, double high) {
  if (value && !(*value >= low && *value <= high))
    throw Refused(fmt::format("{} = {}: it can be {} to {}", names(words), *value, low, high));
}
void require_within(const char* words, std::optional<std::int64_t> value, std::int64_t low, std::int64_t high) {
  if (value && (*value < low || *value > high))
    throw Refused(fmt::format("{} = {}: it can be {} to {}", names(words), *value, low, high));
}

/// (values, messages about damaged checkpoints)
nb::tuple evaluate(OpenRun& run, const std::string& split, EvaluationRequest question, std::int64_t average) {
  question.option = names;
  require_within("beam", question.beam, 0, EvaluationRequest::most_beam);
  require_within("length-penalty", question.length_penalty, 0, EvaluationRequest::most_length_penalty);
  for (const std::int64_t length : question.lengths) require_within("lengths", length, 1, EvaluationRequest::longest);
  std::vector<std::string> notes;
  const MetricsRecord found = without_lock([&](SignalCheck&) {
    RunWeights weights = run.weights(average);
    notes = std::move(weights.damaged);
    const Config config = evaluated_config(run.config(), question);
    return run.engine(config).evaluate(config, run.task(), *weights.checkpoint, split_named(split));
  });
  nb::dict values;
  for (const auto& [name, value] : found.values) values[safe_text(name)] = value;
  return nb::make_tuple(values, safe_texts(notes));
}

/// (a list of tuples (input, reference, output, probability or None), messages)
nb::tuple outputs(OpenRun& run, const std::string& split, EvaluationRequest question, std::optional<std::int64_t> count,
                  std::int64_t average) {
  question.option = names;
  require_within("beam", question.beam, 0, EvaluationRequest::most_beam);
  require_within("length-penalty", question.length_penalty, 0, EvaluationRequest::most_length_penalty);
  struct Enough {};
  std::vector<ExampleOutput> found;
  std::vector<std::string> notes;
  without_lock([&](SignalCheck& signals) {
    RunWeights weights = run.weights(average);
    notes = std::move(weights.damaged);
    const Config config = evaluated_config(run.config(), question);
    const auto add = [&](const ExampleOutput& example) {
      if (count && std::ssize(found) >= *count) throw Enough();
      signals.poll();
      found.push_back(example);
    };
    try {
      run.engine(config).outputs(config, run.task(), *weights.checkpoint, split_named(split), add);
    } catch (const Enough&) { // NOLINT(bugprone-empty-catch): the caller wants no more
    }
    return 0;
  });
  nb::list rows;
  for (const ExampleOutput& e : found)
    rows.append(nb::make_tuple(text_of(e.input), text_of(e.reference), text_of(e.output), e.probability));
  return nb::make_tuple(rows, safe_texts(notes));
}

/// (a list of texts, messages): the prompt with its continuation, or a text for each input.
nb::tuple generate(OpenRun& run, GenerationRequest question, const std::optional<std::vector<std::string>>& inputs,
                   std::int64_t average) {
  question.option = names;
  question.input_options = "input";
  question.has_input = inputs.has_value();
  require_within("tokens", question.tokens, 1, GenerationRequest::most_tokens);
  require_within("top-k", question.top_k, 0, GenerationRequest::most_top_k);
  require_within("temperature", question.temperature, 0, GenerationRequest::most_temperature);
  require_within("beam", question.beam, 1, GenerationRequest::most_beam);
  require_within("length-penalty", question.length_penalty, 0, GenerationRequest::most_length_penalty);
  std::vector<std::string> texts, notes;
  without_lock([&](SignalCheck& signals) {
    RunWeights weights = run.weights(average);
    notes = std::move(weights.damaged);
    const TaskFormat format = task_format_of(run.config());
    const bool continues = format == TaskFormat::language_model;
    Sampling sampling = sampling_of(question, format, run.config().model.kind);
    if (continues && question.prompt.empty()) throw Refused("prompt is empty: give at least one token to continue");
    if (!continues && !inputs)
      throw Refused(format == TaskFormat::image_classification
                        ? "give the image whose class is wanted, an example of the validation split: input=\"row 0\""
                        : "give the input text, or a list of texts: input=TEXT");
    sampling.prompt = question.prompt;
    if (inputs) sampling.inputs = *inputs;
    if (continues) texts.emplace_back();
    sampling.write = [&](std::string_view text) {
      signals.poll();
      if (continues) texts.front() += text;
      else texts.emplace_back(text);
    };
    sampling.note = [&](const std::string& note) { notes.push_back(note); };
    run.engine(run.config()).generate(run.config(), run.task(), *weights.checkpoint, sampling);
    return 0;
  });
  nb::list out;
  for (const std::string& text : texts) out.append(text_of(text));
  return nb::make_tuple(out, safe_texts(notes));
}

/// A read-only array [heads, queries, keys] of the maps.
nb::object weights_of(std::span<const AttentionMap> maps) {
  auto* values = new std::vector<double>();
  const nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  for (const AttentionMap& map : maps) values->insert(values->end(), map.weights.begin(), map.weights.end());
  const std::size_t shape[] = {maps.size(), maps.front().queries.size(), maps.front().keys.size()};
  if (values->size() != shape[0] * shape[1] * shape[2])
    throw Failed("[attend] the heads of " + maps.front().module + " differ in their shapes");
  return nb::cast(nb::ndarray<nb::numpy, nb::ro, double>(values->data(), 3, shape, owner));
}

nb::list labels(const std::vector<std::string>& tokens) {
  nb::list out;
  for (const std::string& token : tokens) out.append(text_of(token));
  return out;
}

/// (input, output, forced, step, modules, messages); a module is (name, queries, keys, weights, entropies, distances).
nb::tuple attend(OpenRun& run, const std::optional<std::string>& input, std::optional<std::int64_t> row,
                 const std::optional<std::string>& output, std::int64_t average, bool save) {
  if (input.has_value() == row.has_value())
    throw Refused("give either an input text, or the number of an example of the validation split: row=0");
  std::vector<std::string> notes;
  const AttentionExample example = without_lock([&](SignalCheck&) {
    RunWeights weights = run.weights(average);
    notes = std::move(weights.damaged);
    const Config& config = run.config();
    const AttentionRequest request{input ? *input : example_as_input(config, run.task(), *row, names("row")), output};
    std::vector<AttentionExample> examples = run.engine(config).attend(config, run.task(), *weights.checkpoint,
                                                                       {request});
    for (AttentionExample& e : examples) e.average = average;
    if (!save) return std::move(examples.front());
    const std::string damage = update_attention(run.folder(), [&](std::vector<AttentionExample>& kept) {
      kept = merged(std::move(kept), examples);
    });
    if (!damage.empty()) notes.push_back(damage + "; it was written anew");
    return std::move(examples.front());
  });
  nb::list modules;
  const std::vector<AttentionMap>& maps = example.heads;
  for (auto first = maps.begin(); first != maps.end();) {
    const auto end = std::find_if(first, maps.end(), [&](const AttentionMap& m) { return m.module != first->module; });
    nb::list entropies, distances;
    for (auto map = first; map != end; ++map) {
      entropies.append(map->entropy);
      distances.append(map->distance);
    }
    modules.append(nb::make_tuple(first->module, labels(first->queries), labels(first->keys), weights_of({first, end}),
                                  entropies, distances));
    first = end;
  }
  return nb::make_tuple(text_of(example.input), example.output ? nb::object(text_of(*example.output)) : nb::none(),
                        example.forced, example.step.value_or(0), modules, safe_texts(notes));
}

/// (step, examples, JSON of inspection_json, messages)
nb::tuple inspect(OpenRun& run, const std::string& split, std::int64_t examples, std::int64_t average) {
  if (examples < 0) throw Refused(fmt::format("rows = {}: it can be 0 (all examples) or more", examples));
  std::vector<std::string> notes;
  Inspection found;
  const std::string document = without_lock([&](SignalCheck&) {
    RunWeights weights = run.weights(average);
    notes = std::move(weights.damaged);
    found = run.engine(run.config())
                .inspect(run.config(), run.task(), weights.checkpoint.get(), split_named(split), examples);
    return boost::json::serialize(inspection_json(found));
  });
  return nb::make_tuple(found.step, found.sequences, document, safe_texts(notes));
}

} // namespace

void add_examinations(nb::class_<OpenRun>& run) {
  with_members(nb::class_<EvaluationRequest>(run, "EvaluationRequest")).def("__init__", [](EvaluationRequest* at) {
    new (at) EvaluationRequest();
  });
  with_members(nb::class_<GenerationRequest>(run, "GenerationRequest")).def("__init__", [](GenerationRequest* at) {
    new (at) GenerationRequest();
  });
  run.def("evaluate", evaluate, nb::arg("split"), nb::arg("question"), nb::arg("average"))
      .def("outputs", outputs, nb::arg("split"), nb::arg("question"), nb::arg("count").none(), nb::arg("average"))
      .def("generate", generate, nb::arg("question"), nb::arg("inputs").none(), nb::arg("average"))
      .def("attend", attend, nb::arg("input").none(), nb::arg("row").none(), nb::arg("output").none(),
           nb::arg("average"), nb::arg("save"))
      .def("inspect", inspect, nb::arg("split"), nb::arg("rows"), nb::arg("average"));
}

} // namespace heed::python
