// A sweep's plan: which runs answer the question of a configuration file. It is made before anything runs, and frozen
// in OUT/sweeps/NAME-HASH/plan.json, so that editing the file changes nothing of what is under way.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/runs/files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// An option that an arm has otherwise than the reference.
struct PlannedChange {
  std::string key;             ///< "attention.score"
  std::string value;           ///< as people read it: additive, 0.5, [1, 2]
  bool operator==(const PlannedChange&) const = default;
};

/// What is compared: one configuration, run once for each seed. Arm 0 is the reference, the file without its [sweep].
struct Arm {
  std::string label;           ///< short and unique: "reference", "score = additive", "without residual"
  std::vector<PlannedChange> changes;
  std::vector<std::size_t> runs;  ///< indices into Plan::runs, in the order of the seeds
};

struct PlannedRun {
  std::string id;
  std::size_t arm = 0;
  std::int64_t seed = 0;
  std::string config;          ///< resolved, as TOML
};

struct Plan {
  std::string name;            ///< the configuration's, or its file's; never empty
  std::string hash;            ///< `hash_of` it: an edited file that comes to other runs is a new sweep
  std::string metric;          ///< what decides
  bool sweep = false;          ///< the file has a [sweep]
  std::vector<std::int64_t> seeds;
  std::vector<Arm> arms;
  std::vector<PlannedRun> runs;   ///< by seed, then by arm: a sweep that is stopped has whole seeds to compare

  std::string folder_name() const;  ///< NAME-HASH, safe as the name of a folder
};

/// A configuration's data: `make_task(config)->fingerprint()`. Called once for each different [data] and [task].
using Fingerprint = std::function<std::string(const Config&)>;

/// Expands a configuration's [sweep]. Blocks add up; arms whose runs are equal are one. Throws heed::Refused, with the
/// place in the file, for what
/// can't be combined, and for a block that leaves out everything.
/// @param fallback_name  where the configuration has no `name`: the file's
Plan make_plan(const Settings& settings, const Fingerprint& fingerprint, const std::string& fallback_name);

/// 12 hexadecimal digits of the metric, the arms and their runs.
std::string hash_of(const Plan& plan);

/// The run's configuration. Throws heed::Refused where this version does not understand it.
Config config_of(const PlannedRun& run);

std::string to_json(const Plan& plan);
/// The error says what is wrong and where; it does not name the file.
Parsed<Plan> plan_from_json(std::string_view bytes);

/// OUT/sweeps/NAME-HASH: writes its plan.json, or marks it as the latest where it is there already.
/// Throws heed::Failed.
std::filesystem::path freeze(const Plan& plan, const std::filesystem::path& out);
/// Reads FOLDER/plan.json. Throws heed::Refused: which file, what is wrong, and how to mend it.
Plan load_plan(const std::filesystem::path& folder);

/// Folders of the sweeps in an output folder, the latest first.
std::vector<std::filesystem::path> sweep_folders(const std::filesystem::path& out);
/// The latest sweep, or the one called `name`: a folder's name or a unique beginning of it, the latest of those with
/// that NAME, or a path. Throws heed::Refused.
std::filesystem::path find_sweep(const std::filesystem::path& out, const std::optional<std::string>& name);

} // namespace heed
