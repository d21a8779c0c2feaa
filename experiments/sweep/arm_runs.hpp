// The runs of a plan's arms: their identities and configurations for every seed; and the arm of each run of an output
// folder, for readers: runs themselves do not know sweeps.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Computes the identity of configurations. Requests the fingerprint of each data only once.
class Identities {
public:
  explicit Identities(const Fingerprint& fingerprint) : fingerprint_(fingerprint) {}

  std::string of(const Config& config) {
    const std::vector<FlatOption> options = flatten(config);
    return run_id(options, data_of(config, options));
  }

  /// The text whose hash is the identity.
  std::string text_of(const Config& config) {
    const std::vector<FlatOption> options = flatten(config);
    return identity_text(options, data_of(config, options));
  }

private:
  const std::string& data_of(const Config& config, const std::vector<FlatOption>& options) {
    std::string data;
    for (const FlatOption& option : options)
      if (decides_data(option.key)) data += fmt::format("{} = {}\n", option.key, option.value);
    auto it = known_.find(data);
    if (it == known_.end()) it = known_.emplace(std::move(data), fingerprint_(config)).first;
    return it->second;
  }

  const Fingerprint& fingerprint_;
  std::map<std::string, std::string> known_;
};

/// The change that sets the seed.
inline Change seed_change(std::int64_t seed) { return {"seed", Value(seed), Origin{"sweep", 0, 0, 0}}; }

/// The runs of an arm. It is resolved, written and flattened once for all seeds.
class ArmRuns {
public:
  ArmRuns(const Settings& arm, std::size_t index, Identities& identities)
      : ArmRuns(arm.with({seed_change(0)}).resolve(), arm.with({seed_change(1)}).resolve(), index, identities) {}

  PlannedRun of(std::int64_t seed) const { return {run_id_of(identity_.with(seed)), index_, seed, config_.with(seed)}; }

  Config resolved(std::int64_t seed) const {
    Config out = resolved_;
    out.general.seed = seed;
    return out;
  }

private:
  ArmRuns(const Config& with_0, const Config& with_1, std::size_t index, Identities& identities)
      : identity_(SeedText::between(identities.text_of(with_0), identities.text_of(with_1))),
        config_(SeedText::between(to_toml(with_0), to_toml(with_1))), resolved_(with_0), index_(index) {}

  SeedText identity_, config_;
  Config resolved_;
  std::size_t index_;
};

/// The labels of the arms by run ID, and why plans could not be read.
struct ArmsOfRuns {
  std::map<std::string, std::string> labels;
  std::vector<std::string> problems; ///< one message for each unreadable plan
};

/// Reads all plans in OUT/sweeps. If several sweeps contain a run, the most recent sweep decides. Trials of a tuned arm
/// have the arm's label. A plan of a single arm gives no label. Unreadable plans are skipped.
ArmsOfRuns arms_of_runs(const std::filesystem::path& out);

} // namespace heed
