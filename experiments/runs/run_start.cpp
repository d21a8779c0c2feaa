#include "experiments/runs/run_start.hpp"

#include "autograd/error.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/runs/worker.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <utility>

namespace heed {

namespace {

/// A checksum of a step, and of the names, shapes, types and values of weights. It does not depend on the times in the
/// checkpoint's metadata, so a run that is trained again to the same bits has the same checksum.
std::string weights_checksum(std::int64_t step, const Checkpoint& weights) {
  ContentHash hash;
  hash.add(fmt::format("step {}\n", step));
  for (const StoredTensor& tensor : weights.tensors) {
    hash.add(fmt::format("{} {} {} [{}] {}\n", tensor.name.size(), tensor.name, tensor.float64 ? "F64" : "F32",
                         fmt::join(tensor.shape, ", "), tensor.bytes.size()));
    hash.add({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  }
  return hash.text();
}

/// "[train] start = "ID": ": the beginning of all refusals.
std::string option_text(const std::string& id) { return fmt::format("[train] start = \"{}\": ", id); }

/// The first token that differs between two lists of the same length; empty if there is none.
std::string first_difference(const boost::json::array& there, const boost::json::array& here, std::string_view what) {
  if (there.size() != here.size()) return "";
  for (std::size_t i = 0; i < here.size(); ++i)
    if (there[i] != here[i])
      return fmt::format("of {} {}, number {} is {} there and {} here", here.size(), what, i,
                         json_fields::one_line(there[i]), json_fields::one_line(here[i]));
  return "";
}

/// How the meaning of tokens or classes differs between two vocabularies. Lists of different lengths are not compared:
/// the shapes of their parameters differ. Empty if there is no difference.
std::string vocabulary_difference(const std::string& there, const std::string& here) {
  using namespace json_fields;
  if (there.empty()) return "";
  const auto differences = guarded<std::string>([&] {
    const json::object of_start = parse_object(there), own = parse_object(here);
    for (const auto& [key, what] : {std::pair("tokens", "tokens"), std::pair("output_tokens", "output tokens"),
                                    std::pair("classes", "classes")}) {
      if (!given(of_start, key) || !given(own, key)) continue;
      if (std::string found = first_difference(list(of_start, key), list(own, key), what); !found.empty()) return found;
    }
    return std::string();
  });
  return differences ? *differences : fmt::format("its vocabulary.json is damaged: {}", differences.error);
}

void check_vocabulary(const Config& config, const StartRun& start, const std::string& vocabulary,
                      const DataOf& data_of) {
  if (vocabulary.empty()) return; // images
  std::string there = start.vocabulary;
  try {
    if (there.empty()) {
      DataNow now = data_of(start.config);
      if (!start.config.data.path.empty() && now.fingerprint != start.data)
        throw Refused(fmt::format("'{}' has changed since", start.config.data.path));
      there = std::move(now.vocabulary);
    }
  } catch (const Refused& error) {
    throw Refused(fmt::format("{}its vocabulary is not known, because it has no vocabulary.json and its data can't be "
                              "used: {}",
                              option_text(start.id), error.what()));
  }
  const std::string why = vocabulary_difference(there, vocabulary);
  if (why.empty()) return;
  throw Refused(fmt::format("{}it has another vocabulary ({}), so tokens would get the embeddings of other tokens; "
                            "take a start with the vocabulary of this data ([task] kind = \"{}\", and [data])",
                            option_text(start.id), why, config.task.kind));
}

/// "attention.score" for "block[2].attention.score".
std::string_view without_block(std::string_view key) {
  if (!key.starts_with("block[")) return key;
  return key.substr(std::min(key.find("].") + 2, key.size()));
}

bool is_of_the_function(std::string_view key) {
  constexpr std::array tables{"model.", "block.", "attention.", "position.", "recurrent."};
  key = without_block(key);
  return !key.ends_with("dropout") && std::ranges::any_of(tables, [&](const char* t) { return key.starts_with(t); });
}

/// The differences from the start. Options of initial values are not among them.
std::vector<Difference> differences_from(const Config& start, Config config) {
  config.train.start_weights = "all"; // with it, options of initial values have no effect, so they have no value
  std::vector<Difference> out = difference(start, config);
  // An option that has no effect here is without a value because of another option that differs.
  std::erase_if(out, [](const Difference& d) { return d.b.empty() || !is_of_the_function(d.key); });
  return out;
}

} // namespace

StartRun read_start(const std::filesystem::path& out, const std::string& id) {
  if (!is_run_id(id))
    throw Refused(option_text(id) + "this is not the ID of a run, which has 16 digits from 0 to 9 and a to f");
  const RunFolder run{out / id};
  const RunSnapshot snapshot = snapshot_of(run);
  if (!snapshot.unreadable.empty()) throw Unreadable(snapshot.unreadable);
  if (snapshot.state != RunState::finished || !snapshot.manifest)
    throw Refused(fmt::format("{}{}; finish it with its own configuration, or choose a finished run (heed runs)",
                              option_text(id),
                              snapshot.state == RunState::missing && !run.folder().exists()
                                  ? fmt::format("there is no such run in '{}'", out.string())
                                  : fmt::format("the run is not finished ({})", name_of(snapshot.state))));
  StartRun start{id, snapshot.manifest->step, {}, {}, read_config(run), {}, snapshot.manifest->data};
  const Manifest& manifest = *snapshot.manifest;
  const std::vector<FlatOption> options = flatten(start.config);
  if (manifest.numerics == numerics_of(options) && run_id(options, manifest.data) != id)
    throw Refused(option_text(id) + "the config.toml of this run no longer hashes to its ID: it was edited");
  if (manifest.data.empty())
    throw Refused(option_text(id) +
                  "its manifest.json has no fingerprint of the data that it was trained with, so it is "
                  "not known what its weights are");
  auto checkpoint = read_checkpoint(run, start.step, CheckpointPart::weights);
  require_readable(checkpoint);
  if (!checkpoint)
    throw Refused(fmt::format("{}its last weights can't be used: {}; remove the folder of the run, and train it again",
                              option_text(id), checkpoint.error));
  start.weights = std::move(*checkpoint);
  start.checksum = weights_checksum(start.step, start.weights);
  if (!start.config.data.path.empty()) {
    auto vocabulary = run.vocabulary().read();
    require_readable(vocabulary);
    if (vocabulary) start.vocabulary = std::move(*vocabulary);
  }
  return start;
}

StartRecord check_start(const Config& config, const StartRun& start, const std::vector<ParameterShape>& parameters,
                        const std::string& vocabulary, const DataOf& data_of) {
  const TrainOptions& train = config.train;
  if (!train.start_checksum.empty() && train.start_checksum != start.checksum)
    throw Refused(
        fmt::format("{}its weights are not those that were planned: [train] start_checksum is {}, and that of "
                    "its step {} is {}. It was trained again, or its checkpoint was replaced. Restore "
                    "this run, or run your configuration again without start_checksum, which makes another "
                    "run",
                    option_text(start.id), train.start_checksum, start.step, start.checksum));
  StartRecord out{start.id, start.step, start.checksum, {}, match_weights(parameters, start.weights)};
  if (train.start_weights == "all" && !out.match.all())
    throw Refused(fmt::format("{}its weights differ from the parameters of this model: {}. To take only the {} that "
                              "agree, set train.start_weights = \"matching\"",
                              option_text(start.id), differences_in_words(out.match), out.match.taken.size()));
  if (out.match.taken.empty())
    throw Refused(
        fmt::format("{}no parameter of this model has the name and the shape of one of its weights: {}. Leave "
                    "train.start out, or choose another run",
                    option_text(start.id), differences_in_words(out.match)));
  check_vocabulary(config, start, vocabulary, data_of);
  if (const std::string why = why_not_meant(start.config, config); !why.empty())
    throw Refused(fmt::format("{}the shapes of its weights fit, but {}; set the option as the start has it",
                              option_text(start.id), why));
  out.changes = start_changes(start.config, config);
  if (start.config.float64() != config.float64())
    out.converted = fmt::format("{} to {}", start.config.general.precision, config.general.precision);
  return out;
}

TakenStart take_start(const RunFolder& run, const Config& config, const Task& task, const Engine& engine,
                      const WorkerParts& parts) {
  StartRun start = read_start(parts.starts.empty() ? run.path.parent_path() : parts.starts, config.train.start);
  StartRecord record =
      check_start(config, start, engine.parameters(config, task), vocabulary_json(task, parts.task_format_of(config)),
                  [&](const Config& of) {
                    const std::unique_ptr<Task> its = parts.make_task(of);
                    return DataNow{its->fingerprint(), vocabulary_json(*its, parts.task_format_of(of))};
                  });
  Checkpoint weights = taken_weights(record.match, std::move(start.weights), config.float64());
  return {std::move(weights), std::move(record)};
}

std::string start_in_words(const StartRecord& start) {
  const std::size_t taken = start.match.taken.size();
  std::string text = fmt::format("starts from run {} (step {}): {} {} taken", start.run, start.step,
                                 counted(taken, "parameter"), taken == 1 ? "is" : "are");
  if (!start.converted.empty())
    text += fmt::format(", converted from {}{}", start.converted,
                        start.converted.starts_with("float64") ? " (rounded)" : " (exactly)");
  if (!start.match.all()) text += "; " + differences_in_words(start.match);
  if (!start.changes.empty())
    text += fmt::format("; the same weights compute something else here: {}", fmt::join(start.changes, ", "));
  return text;
}

std::vector<std::string> start_changes(const Config& start, const Config& config) {
  std::vector<std::string> out;
  for (const Difference& d : differences_from(start, config))
    out.push_back(fmt::format("{} {} -> {}", d.key, d.a.empty() ? "(none)" : d.a, d.b));
  return out;
}

std::string why_not_meant(const Config& start, const Config& config) {
  for (const Difference& d : differences_from(start, config)) {
    if (d.a.empty()) continue;
    const std::string_view option = without_block(d.key);
    if (option == "model.heads")
      return fmt::format("it has {} heads and this model {}, so each head would get the rows of others", d.a, d.b);
    if (option == "position.rotary.pairs")
      return fmt::format("its rotary pairs ({} = {}) are other features than here ({})", d.key, d.a, d.b);
  }
  return "";
}

} // namespace heed
