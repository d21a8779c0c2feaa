#include "experiments/sweep/plan.hpp"

#include "experiments/runs/run_store.hpp"
#include "experiments/sweep/arm_labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace heed {
namespace {

constexpr std::size_t most_arms = 100'000;

/// One combination that a block asks for, before anyone looked at what it comes to.
struct Candidate {
  std::vector<Change> changes;
  std::string ablation;  ///< the name of a leave_one_out; else empty
  Origin origin;
};

[[noreturn]] void refuse(const Origin& origin, const std::string& what) { throw Refused(origin.text() + ": " + what); }

std::vector<Candidate> expand_grid(const SweepBlock& block) {
  std::size_t count = 1;
  for (const auto& [key, values] : block.axes)
    if (__builtin_mul_overflow(count, values.size(), &count) || count > most_arms)
      refuse(block.origin, fmt::format("this grid has more than {} combinations; make it several blocks", most_arms));
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < count; ++i) {
    Candidate candidate{{}, {}, block.origin};
    std::size_t rest = i;  // the last axis runs fastest
    for (auto axis = block.axes.rbegin(); axis != block.axes.rend(); ++axis) {
      candidate.changes.insert(candidate.changes.begin(), axis->second[rest % axis->second.size()]);
      rest /= axis->second.size();
    }
    out.push_back(std::move(candidate));
  }
  return out;
}

std::vector<Candidate> expand_zip(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const auto& [key, values] : block.axes) {
    out.resize(values.size(), Candidate{{}, {}, block.origin});
    for (std::size_t i = 0; i < values.size(); ++i) out[i].changes.push_back(values.at(i));
  }
  return out;
}

std::vector<Candidate> expand_leave_one_out(const SweepBlock& block) {
  std::vector<Candidate> out;
  for (const auto& [name, changes] : block.off)
    out.push_back({changes, name, changes.empty() ? block.origin : changes.front().origin});
  return out;
}

std::vector<Candidate> expand(const SweepBlock& block) {
  if (block.kind == "leave_one_out") return expand_leave_one_out(block);
  return block.kind == "zip" ? expand_zip(block) : expand_grid(block);
}

/// Whether setting the option so would change nothing: then it is so.
bool holds(const Settings& arm, const FlatConfig& flat, const Change& change) {
  if (!flat.contains(change.key)) return false;
  try {
    return flat_config(arm.with({change}).resolve()) == flat;
  } catch (const Refused&) {
    return false;
  }
}

bool excluded(const Settings& arm, const FlatConfig& flat, const SweepBlock& block) {
  return std::any_of(block.exclude.begin(), block.exclude.end(), [&](const std::vector<Change>& all) {
    return !all.empty() &&
           std::all_of(all.begin(), all.end(), [&](const Change& change) { return holds(arm, flat, change); });
  });
}

/// The identity of configurations, asking for each data only once.
class Identities {
public:
  explicit Identities(const Fingerprint& fingerprint) : fingerprint_(fingerprint) {}

  std::string of(const Config& config) {
    std::string data;
    for (const FlatOption& option : flatten(config))
      if (option.key.starts_with("data.") || option.key.starts_with("task."))
        data += fmt::format("{} = {}\n", option.key, option.value);
    auto it = known_.find(data);
    if (it == known_.end()) it = known_.emplace(std::move(data), fingerprint_(config)).first;
    return run_id(config, it->second);
  }

private:
  const Fingerprint& fingerprint_;
  std::map<std::string, std::string> known_;
};

Change seed_change(std::int64_t seed) { return {"seed", Value(seed), Origin{"sweep", 0, 0, 0}}; }

/// What a plan is made of while it grows.
struct Growing {
  struct ArmSettings {
    Settings settings;
    std::string label;
    std::vector<PlannedChange> changes;
  };
  std::vector<ArmSettings> arms;
  std::set<std::string> identities;  ///< of each arm's run with the first seed
  std::map<std::string, int> labels;

  void add(const Settings& settings, std::string label, const std::vector<Change>& changes) {
    if (const int before = labels[label]++; before > 0) label += fmt::format(" ({})", before + 1);
    std::vector<PlannedChange> planned;
    for (const Change& change : changes) planned.push_back({change.key, plain_text(change.value)});
    arms.push_back({settings, std::move(label), std::move(planned)});
  }
};

} // namespace

Plan make_plan(const Settings& settings, const Fingerprint& fingerprint, const std::string& fallback_name) {
  const Config reference = settings.resolve();
  const FlatConfig reference_flat = flat_config(reference);
  Identities identities(fingerprint);

  Plan plan;
  plan.name = !reference.general.name.empty() ? reference.general.name : fallback_name;
  if (plan.name.empty()) plan.name = "sweep";
  plan.metric = reference.report.metric;
  plan.sweep = settings.sweep().present;
  plan.seeds = settings.sweep().seeds;
  if (plan.seeds.empty()) plan.seeds = {reference.general.seed};
  const Change first_seed = seed_change(plan.seeds.front());

  std::vector<std::vector<Candidate>> blocks;
  std::vector<std::string> keys;
  for (const SweepBlock& block : settings.sweep().blocks) {
    blocks.push_back(expand(block));
    for (const Candidate& candidate : blocks.back())
      for (const Change& change : candidate.changes) keys.push_back(change.key);
  }
  const ArmNames names(keys);

  Growing growing;
  growing.add(settings, "reference", {});
  growing.identities.insert(identities.of(settings.with({first_seed}).resolve()));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::size_t left = 0;
    for (const Candidate& candidate : blocks[b]) {
      try {
        const Settings arm = settings.with(candidate.changes);
        const FlatConfig flat = flat_config(arm.resolve());
        if (excluded(arm, flat, settings.sweep().blocks[b])) continue;
        ++left;
        if (!growing.identities.insert(identities.of(arm.with({first_seed}).resolve())).second) continue;
        const std::vector<Change> changes = differing(candidate.changes, flat, reference_flat);
        std::string label = !candidate.ablation.empty() ? ablation_label(candidate.ablation)
                                                        : names.label(candidate.changes, flat, reference_flat);
        growing.add(arm, std::move(label), changes);
      } catch (const Refused& error) {
        std::vector<std::string> what;
        for (const Change& change : candidate.changes)
          what.push_back(fmt::format("{} = {}", change.key, plain_text(change.value)));
        throw Refused(fmt::format("{} (in the sweep's arm {})", error.what(), fmt::join(what, ", ")));
      }
    }
    if (left == 0)
      refuse(settings.sweep().blocks[b].origin, "this block of the sweep has no arm, or excludes them all");
  }

  for (const auto& arm : growing.arms) plan.arms.push_back({arm.label, arm.changes, {}});
  // Whole replicates come first: a sweep that is stopped early has seeds that compare all arms.
  for (const std::int64_t seed : plan.seeds)
    for (std::size_t a = 0; a < growing.arms.size(); ++a) {
      const Config config = growing.arms[a].settings.with({seed_change(seed)}).resolve();
      plan.arms[a].runs.push_back(plan.runs.size());
      plan.runs.push_back({identities.of(config), a, seed, to_toml(config)});
    }
  plan.hash = hash_of(plan);
  return plan;
}

std::string hash_of(const Plan& plan) {
  std::string text = fmt::format("metric {}\n", plan.metric);
  for (const Arm& arm : plan.arms) {
    text += fmt::format("arm {}\n", arm.label);
    for (const PlannedChange& change : arm.changes) text += fmt::format("change {} = {}\n", change.key, change.value);
    for (const std::size_t run : arm.runs) text += fmt::format("run {} {}\n", plan.runs[run].seed, plan.runs[run].id);
  }
  return content_hash(text).substr(0, 12);
}

std::string Plan::folder_name() const {
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) safe += c;
    else if (!safe.empty() && safe.back() != '-') safe += '-';
  }
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  constexpr std::size_t longest = 80;
  return fmt::format("{}-{}", safe.empty() ? "sweep" : safe.substr(0, longest), hash);
}

Config config_of(const PlannedRun& run) { return Settings::parse(run.config, "run " + run.id).resolve(); }

} // namespace heed
