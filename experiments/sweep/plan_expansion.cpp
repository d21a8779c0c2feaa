// Expands a configuration's [sweep] into a plan: collects the arms of all blocks, removes duplicates, and creates their
// runs.
#include "experiments/config/block_keys.hpp"
#include "experiments/config/config.hpp"
#include "experiments/sweep/plan.hpp"

#include "experiments/config/sweep_blocks.hpp"
#include "experiments/config/values.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/arm_runs.hpp"
#include "experiments/sweep/groups.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/matching.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/sweep/refused_at.hpp"
#include "experiments/sweep/variation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace heed {
namespace {

/// The keys of single blocks that the arms of a sweep change, and those of its conditions.
using Keys = std::vector<std::string>;

/// Whether the option already has this value, so that the change has no effect.
bool holds(const Settings& arm, const FlatConfig& flat, const Keys& keys, const Change& change) {
  if (!flat.contains(change.key)) return false;
  try {
    return flat_config(arm.with({change}).resolve(), keys) == flat;
  } catch (const Refused&) {
    return false;
  }
}

/// The conditions of a block that some combination met.
using Met = std::set<const std::vector<Change>*>;

/// Whether all changes of any condition hold. Adds the conditions that are met to `met`.
bool any_holds(const std::vector<std::vector<Change>>& conditions, const Settings& arm, const FlatConfig& flat,
               const Keys& keys, Met& met) {
  bool any = false;
  for (const std::vector<Change>& all : conditions) {
    if (all.empty() || !std::ranges::all_of(all, [&](const Change& change) { return holds(arm, flat, keys, change); }))
      continue;
    any = true;
    met.insert(&all);
  }
  return any;
}

bool left_out(const Settings& arm, const FlatConfig& flat, const Keys& keys, const SweepBlock& block, Met& met) {
  const bool excluded = any_holds(block.exclude, arm, flat, keys, met);
  return (!block.require.empty() && !any_holds(block.require, arm, flat, keys, met)) || excluded;
}

std::vector<PlannedChange> planned(const std::vector<Change>& changes) {
  std::vector<PlannedChange> out;
  for (const Change& change : changes) out.push_back({change.key, plain_text(change.value)});
  return out;
}

/// Builds a plan step by step.
class PlanBuilder {
public:
  PlanBuilder(const Settings& settings, const Fingerprint& fingerprint, const CostOf& cost_of, const Groups& groups,
              const Keys& keys, Plan& plan)
      : settings_(settings), identities_(fingerprint), cost_of_(cost_of), groups_(groups), keys_(keys), plan_(plan),
        flat_(flat_config(settings.resolve(), keys)), first_seed_(seed_change(plan.seeds.front())) {
    if (plan.match != "none") matcher_.emplace(settings, cost_of);
    plan_.within = groups.options();
    add(settings, reference_name, {}, {});
    is_new(settings);
  }

  void add_block(const SweepBlock& block, const std::vector<Candidate>& candidates, const ArmNames& names) {
    std::size_t left = 0;
    for (const Candidate& candidate : candidates) {
      try {
        left += add_candidate(block, candidate, names);
      } catch (const Refused& error) {
        throw Refused(fmt::format("{} (in the sweep's arm {})", error.what(),
                                  candidate.label.empty() ? in_words(planned(candidate.changes)) : candidate.label));
      }
    }
    if (left == 0) refuse_at(block.origin, "this block of the sweep has no arm, or excludes them all");
    for (const auto& [name, conditions] : {std::pair("exclude", &block.exclude), std::pair("require", &block.require)})
      for (const std::vector<Change>& all : *conditions)
        if (!met_.contains(&all))
          plan_.notes.push_back(fmt::format("{}: {} matches no combination of this block: {}", block.origin.text(),
                                            name, in_words(planned(all))));
  }

  /// Assigns each arm its reference, and sorts the arms by group with the reference first.
  void form_groups() {
    if (groups_.none()) return;
    std::map<std::string, std::size_t> references;
    for (std::size_t a = 0; a < arms_.size(); ++a) references.emplace(arms_[a].first_id, a);
    std::vector<std::size_t> order(arms_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t a = 0; a < arms_.size(); ++a) {
      Arm& arm = plan_.arms[a];
      const auto found = references.find(arms_[a].group_id);
      if (found == references.end())
        throw Refused(fmt::format("{}: the group {} has no reference: no arm is the file's configuration with only "
                                  "these values (the arm \"{}\" "
                                  "is in the group); add one, such as [[sweep.block]] with arms = [{{ {} }}]",
                                  settings_.sweep().within.front().origin.text(), groups_.label(arm.group), arm.label,
                                  fmt::join(as_toml(groups_.shared(arms_[a].stated)), ", ")));
      arm.reference = found->second;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const std::size_t one = plan_.arms[a].reference, other = plan_.arms[b].reference;
      return one != other ? one < other : (a == one) > (b == other);
    });
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<BuiltArm> arms;
    std::vector<Arm> planned;
    for (const std::size_t from : order) {
      arms.push_back(std::move(arms_[from]));
      planned.push_back(std::move(plan_.arms[from]));
      planned.back().reference = place[planned.back().reference];
    }
    arms_ = std::move(arms);
    plan_.arms = std::move(planned);
  }

  /// Adds the runs of all arms. They are sorted by seed: a sweep that is stopped early has seeds that compare all arms.
  void add_runs() {
    std::vector<ArmRuns> runs;
    for (std::size_t a = 0; a < arms_.size(); ++a) {
      runs.emplace_back(arms_[a].settings, a, identities_);
      resolved_.push_back({runs.back().resolved(plan_.seeds.front())});
    }
    plan_.runs.reserve(plan_.seeds.size() * arms_.size());
    for (const std::int64_t seed : plan_.seeds)
      for (std::size_t a = 0; a < arms_.size(); ++a) {
        plan_.arms[a].runs.push_back(plan_.runs.size());
        plan_.runs.push_back(runs[a].of(seed));
      }
  }

  /// Adds the trials of all arms, with the replicates that each would lead to.
  void add_tuning(const TuneSpec& spec) {
    Tuning tuning;
    tuning.seeds = spec.seeds;
    for (const auto& [key, values] : spec.axes) {
      TunedOption option{key, {}, false};
      for (const Change& value : values) option.values.push_back(plain_text(value.value));
      const Value& first = values.front().value;
      option.ordered = std::holds_alternative<double>(first) || std::holds_alternative<std::int64_t>(first);
      tuning.options.push_back(std::move(option));
    }
    const auto points = combinations(spec.axes, spec.origin);
    std::vector<std::vector<ArmRuns>> tried(arms_.size());
    for (std::size_t a = 0; a < arms_.size(); ++a) {
      tuning.arms.emplace_back();
      resolved_.emplace_back();
      for (const auto& point : points) {
        try {
          const Settings settings = arms_[a].settings.with(point);
          if (matcher_) refuse_unmatched(a, point, settings);
          const ArmRuns& runs = tried[a].emplace_back(settings, a, identities_);
          Trial trial;
          trial.point = planned(point);
          resolved_.back().push_back(runs.resolved(plan_.seeds.front()));
          for (const std::int64_t seed : plan_.seeds) trial.replicates.push_back(runs.of(seed));
          tuning.arms[a].trials.push_back(std::move(trial));
        } catch (const Refused& error) {
          throw Refused(fmt::format("{} (in [sweep.tune], the arm \"{}\" with {})", error.what(), plan_.arms[a].label,
                                    in_words(planned(point))));
        }
      }
    }
    for (const std::int64_t seed : spec.seeds)
      for (std::size_t a = 0; a < arms_.size(); ++a)
        for (std::size_t t = 0; t < points.size(); ++t) {
          tuning.arms[a].trials[t].runs.push_back(tuning.runs.size());
          tuning.runs.push_back(tried[a][t].of(seed));
        }
    plan_.tuning = std::move(tuning);
    for (std::size_t a = 0; a < arms_.size(); ++a)
      for (std::size_t s = 0; s < plan_.seeds.size(); ++s) plan_.arms[a].runs.push_back(s * arms_.size() + a);
    apply_choices(plan_);
  }

  void add_variation() { plan_.variation = make_variation(settings_, plan_, identities_); }

  ResolvedArms take_resolved() { return std::move(resolved_); }

private:
  /// Throws heed::Refused if a tuned point changes an arm's matched budget. The arm must stay matched whichever point
  /// it chooses.
  void refuse_unmatched(std::size_t a, const std::vector<Change>& point, const Settings& tried) const {
    const double even = matcher_->amount_of(arms_[a].settings, plan_.match),
                 now = matcher_->amount_of(tried, plan_.match);
    if (now == even) return;
    const auto unevens = [&](const Change& change) {
      try {
        return matcher_->amount_of(arms_[a].settings.with({change}), plan_.match) != even;
      } catch (const Refused&) { // valid only together with another option
        return true;
      }
    };
    const auto found = std::find_if(point.begin(), point.end(), unevens);
    const Change& change = found != point.end() ? *found : point.front();
    refuse_at(
        change.origin,
        fmt::format("[sweep.tune] tries {} = {}, which changes what sweep.match = \"{}\" makes equal ({:.12g} {}, "
                    "and {:.12g} without it); remove it from the grid, or set sweep.match = \"none\"",
                    change.key, plain_text(change.value), plan_.match, now, matched_unit(plan_.match), even));
  }

  /// An arm under construction, with data that the plan does not contain.
  struct BuiltArm {
    Settings settings;
    std::vector<Change> stated; ///< the changes of its block
    /// Only with groups: the identity of its first run, and of its reference's first run.
    std::string first_id, group_id;
  };

  static constexpr const char* reference_name = "reference";

  std::string first_id(const Settings& arm) { return identities_.of(arm.with({first_seed_}).resolve()); }

  /// Registers the arm; whether it is new.
  bool is_new(const Settings& arm) { return known_.insert(first_id(arm)).second; }

  static std::vector<std::string> as_toml(const std::vector<Change>& changes) {
    std::vector<std::string> out;
    for (const Change& change : changes)
      out.push_back(fmt::format("\"{}\" = {}", change.key, value_text(change.value)));
    return out;
  }

  /// The reference of the group that an arm with these changes belongs to.
  Settings reference_of(const std::vector<Change>& changes) const {
    return groups_.none() ? settings_ : settings_.with(groups_.shared(changes));
  }

  /// The matcher for the arms of a group.
  const Matcher& matcher_of(const Settings& reference) {
    if (groups_.none()) return *matcher_;
    const std::string id = first_id(reference);
    auto found = group_matchers_.find(id);
    if (found == group_matchers_.end()) found = group_matchers_.emplace(id, Matcher(reference, cost_of_)).first;
    return found->second;
  }

  /// Adds the candidate as an arm unless the conditions of the block exclude it; returns whether it was not excluded.
  bool add_candidate(const SweepBlock& block, const Candidate& candidate, const ArmNames& names) {
    Settings arm = settings_.with(candidate.changes);
    FlatConfig flat = flat_config(arm.resolve(), keys_);
    if (left_out(arm, flat, keys_, block, met_)) return false;
    if (!is_new(arm)) return true;
    std::vector<Change> changes = candidate.changes;
    const Settings reference = reference_of(changes);
    const bool is_reference = !groups_.none() && first_id(reference) == first_id(arm);
    std::string label = is_reference               ? reference_name
                        : !candidate.label.empty() ? candidate.label
                                                   : names.label(groups_.own(changes), flat, flat_);
    std::optional<BudgetMatch> matched;
    if (matcher_ && !is_reference) {
      MatchedChanges found = matcher_of(reference).match(settings_, changes, plan_.match);
      matched = found.matched;
      if (found.changes.size() > changes.size()) {
        changes = std::move(found.changes);
        arm = settings_.with(changes);
        flat = flat_config(arm.resolve(), keys_);
        label += fmt::format(", {} {}", plan_.match == "state" ? "width" : "ffn width", matched->width);
        if (!is_new(arm)) return true;
      }
    }
    add(arm, std::move(label), candidate.changes, differing(changes, flat, flat_), matched);
    return true;
  }

  /// @param stated   the changes of the sweep's block
  /// @param changes  the block's and the matching's changes that have an effect
  void add(const Settings& settings, std::string label, const std::vector<Change>& stated,
           const std::vector<Change>& changes, std::optional<BudgetMatch> matched = {}) {
    Arm arm;
    BuiltArm built{settings, stated, {}, {}};
    if (!groups_.none()) {
      arm.group = groups_.of(flat_config(settings.resolve(), keys_));
      arm.name = label;
      label = fmt::format("{}: {}", groups_.label(arm.group), label);
      built.first_id = first_id(settings);
      built.group_id = first_id(reference_of(stated));
    }
    if (const int before = labels_[label]++; before > 0) label += fmt::format(" ({})", before + 1);
    arm.label = std::move(label);
    arm.changes = planned(changes);
    arm.matched = matched;
    arms_.push_back(std::move(built));
    plan_.arms.push_back(std::move(arm));
  }

  const Settings& settings_;
  Identities identities_;
  const CostOf& cost_of_;
  const Groups& groups_;
  const Keys& keys_;
  Plan& plan_;
  FlatConfig flat_; ///< of the reference
  Change first_seed_;
  Met met_;
  std::optional<Matcher> matcher_;
  std::map<std::string, Matcher> group_matchers_; ///< key: the identity of the first run of the group's reference
  std::vector<BuiltArm> arms_;                    ///< in the order of plan_.arms
  ResolvedArms resolved_;
  std::set<std::string> known_; ///< identity of each arm's first run
  std::map<std::string, int> labels_;
};

/// Those of the keys that name options of single blocks, and "block.override", each once.
Keys single_blocks(const Keys& keys) {
  std::set<std::string> out;
  std::ranges::copy_if(keys, std::inserter(out, out.end()),
                       [](const std::string& key) { return names_block(key) || key == override_key; });
  return {out.begin(), out.end()};
}

/// Whether a change of "block.override" sets the option of a single block, in that block or in another.
bool sets_in_block(const Change& change, const std::string& key) {
  if (!names_block(key)) return false;
  const std::string option = std::get<BlockKey>(read_block_key(key)).option;
  return std::ranges::any_of(change.overrides, [&](const BlockOverride& o) { return o.values.contains(option); });
}

/// Checks that tuning shares no option and no seed with the comparison: a tuned option cannot be compared, and a seed
/// that is used for a choice cannot be used to judge it.
void check_tuning(const TuneSpec& spec, const Plan& plan, const std::vector<std::vector<Candidate>>& blocks,
                  const std::string& match) {
  if (spec.axes.empty())
    refuse_at(spec.origin,
              "[sweep.tune] has no values to try: give it a grid, such as grid = { \"train.learning_rate\" = "
              "[1e-3, 3e-3] }");
  if (spec.seeds.empty())
    refuse_at(spec.origin, "[sweep.tune] has no seeds for its trials: give it seeds, such as seeds = [100, 101]");
  for (const std::int64_t seed : spec.seeds)
    if (std::find(plan.seeds.begin(), plan.seeds.end(), seed) != plan.seeds.end())
      refuse_at(spec.origin,
                fmt::format("[sweep.tune] seeds has {}, which is also one of the replicates' (sweep.seeds): "
                            "the final runs must not use seeds that also chose the values; take other seeds, "
                            "such as seeds = [100, 101]",
                            seed));
  for (const auto& [key, values] : spec.axes) {
    if (match != "none" && key == matched_option(match))
      refuse_at(values.front().origin,
                fmt::format("[sweep.tune] tries {}, which sweep.match sets; remove one of the two", key));
    for (const auto& candidates : blocks)
      for (const Candidate& candidate : candidates)
        for (const Change& change : candidate.changes)
          if (change.key == key || sets_in_block(change, key))
            refuse_at(values.front().origin,
                      fmt::format("[sweep.tune] tries {}, which an arm of the sweep also changes "
                                  "({}): an option is either compared or tuned",
                                  key, change.origin.text()));
  }
}

} // namespace

Plan make_plan(const Settings& settings, const Fingerprint& fingerprint, const std::string& fallback_name,
               const CostOf& cost_of, ResolvedArms* resolved) {
  const Config reference = settings.resolve();
  const SweepSpec& sweep = settings.sweep();
  Plan plan;
  plan.name = !reference.general.name.empty() ? reference.general.name : fallback_name;
  if (plan.name.empty()) plan.name = "sweep";
  plan.metric = reference.report.metric;
  plan.also = reference.report.also;
  if (const WordOrNumber& margin = reference.report.margin; margin.word.empty()) plan.margin = margin.number;
  plan.answer = reference.report.answer;
  plan.test = reference.report.test;
  plan.over = reference.report.over;
  plan.scale = reference.report.scale;
  if (const WordOrNumber& learned = reference.report.learned; learned.word.empty()) plan.learned = learned.number;
  plan.question = reference.report.question;
  plan.examples = reference.report.examples;
  plan.match = sweep.match;
  plan.reference_name = sweep.reference;
  plan.sweep = sweep.present;
  plan.seeds = sweep.seeds;
  if (plan.seeds.empty()) plan.seeds = {reference.general.seed};
  for (const std::int64_t look : sweep.looks.seeds) plan.looks.push_back(static_cast<std::size_t>(look));

  std::vector<std::vector<Candidate>> blocks;
  Keys keys, conditions;
  for (const SweepBlock& block : sweep.blocks) {
    blocks.push_back(expand(block));
    for (const auto* all : {&block.exclude, &block.require})
      for (const std::vector<Change>& changes : *all)
        for (const Change& change : changes) conditions.push_back(change.key);
    for (const Candidate& candidate : blocks.back())
      for (const Change& change : candidate.changes) keys.push_back(change.key);
  }
  if (sweep.tune && plan.metric.starts_with("steps_to"))
    throw Refused(
        fmt::format("report.metric: [sweep.tune] chooses by a metric's value at the end of training, and {} counts "
                    "steps; tune by the metric itself, or name {} in report.also",
                    plan.metric, plan.metric));
  if (sweep.tune) check_tuning(*sweep.tune, plan, blocks, sweep.match);

  const ArmNames names(keys);
  const Groups groups(sweep.within, keys, names);
  keys.insert(keys.end(), conditions.begin(), conditions.end());
  const Keys of_blocks = single_blocks(keys);
  PlanBuilder builder(settings, fingerprint, cost_of, groups, of_blocks, plan);
  for (std::size_t b = 0; b < blocks.size(); ++b) builder.add_block(sweep.blocks[b], blocks[b], names);
  builder.form_groups();
  if (sweep.tune) builder.add_tuning(*sweep.tune);
  else builder.add_runs();
  builder.add_variation();
  if (resolved) *resolved = builder.take_resolved();
  check_looks(sweep.looks, plan);
  plan.labels = checked_labels(settings, reference, plan);
  plan.hash = hash_of(plan);
  return plan;
}

} // namespace heed
