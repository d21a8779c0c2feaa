// The start of a run from the weights of a finished run in the same output folder ([train] start): reads these weights,
// and checks that they agree with the new model and which options make it another function of them. Plans and workers
// make the same checks.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace heed {

struct WorkerParts;

/// A finished run from which others start.
struct StartRun {
  std::string id;
  std::int64_t step = 0; ///< its last
  Checkpoint weights;    ///< after this step, without the optimiser's state
  std::string checksum;  ///< of the step and the weights
  Config config;
  std::string vocabulary; ///< vocabulary.json, if its task reads data of the user; may be empty
  std::string data;       ///< the fingerprint of the data that it was trained with
};

/// Reads the run with this full ID in an output folder. Throws heed::Refused if it is missing or not finished, if its
/// configuration was edited, or if its last checkpoint is missing or damaged; heed::Unreadable if a file can't be read
/// at the moment.
StartRun read_start(const std::filesystem::path& out, const std::string& id);

/// A configuration's data as it is now.
struct DataNow {
  std::string fingerprint, vocabulary; ///< Task::fingerprint, and vocabulary_json as the model sees it
};
using DataOf = std::function<DataNow(const Config&)>;

/// What a run of the configuration takes from its start. Only the names and shapes of the start's weights are used.
/// Throws heed::Refused if its checksum differs from [train] start_checksum, if [train] start_weights is "all" and a
/// name or a shape differs, if no weight agrees, or if the vocabularies have as many tokens, but other ones.
/// @param vocabulary  of the configuration's own task
/// Without its vocabulary.json, a start's vocabulary is that of its data, if the data has not changed since.
/// @param data_of  of the start's task, if the start has no vocabulary.json
StartRecord check_start(const Config& config, const StartRun& start, const std::vector<ParameterShape>& parameters,
                        const std::string& vocabulary, const DataOf& data_of);

/// The weights that a run begins with, and what they are.
struct TakenStart {
  Checkpoint weights;
  StartRecord record;
};
/// Reads and checks the start of a run, which is in `parts.starts` or beside the run. Throws as the functions above.
TakenStart take_start(const RunFolder& run, const Config& config, const Task& task, const Engine& engine,
                      const WorkerParts& parts);

/// "starts from run ID (step 500): 30 parameters are taken; 1 parameter has another shape: ..."
std::string start_in_words(const StartRecord& start);

/// "attention.window 0 -> 8": the options of the model that differ from those of its start and change what the same
/// weights compute. Options of training only (dropout) and of initial values are not among them, nor are options that
/// have no effect in the new model. "(none)": the option has no effect in the start.
std::vector<std::string> start_changes(const Config& start, const Config& config);

/// Why these weights cannot be meant for the model, although their shapes fit: other heads, or other pairs of rotary
/// features. Empty if they may be.
std::string why_not_meant(const Config& start, const Config& config);

} // namespace heed
