#include "experiments/sweep/variation.hpp"

#include "experiments/config/chance_sources.hpp"
#include "experiments/config/config.hpp"
#include "experiments/sweep/refused_at.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

namespace heed {

namespace {

constexpr std::int64_t of_a_fixing = 10'000; ///< numbers for values, of each fixing
constexpr std::size_t most_runs = 10'000;

void check(const VarySpec& spec, const SweepSpec& sweep) {
  if (spec.sources.empty()) {
    for (const auto& [name, origin] : {std::pair("vary_values", spec.of_values), {"vary_fixings", spec.of_fixings}})
      if (origin)
        refuse_at(*origin, fmt::format("sweep.{} does nothing: sweep.vary names no source of chance; add one, such as "
                                       "vary = [\"init\"]",
                                       name));
    return;
  }
  if (sweep.tune)
    refuse_at(spec.origin,
              "sweep.vary measures runs of the reference, whose values [sweep.tune] chooses later; use it in a "
              "file without [sweep.tune] that has the chosen values");
  const std::size_t runs = spec.sources.size() * static_cast<std::size_t>((spec.values - 1) * spec.fixings);
  if (runs > most_runs)
    refuse_at(spec.origin, fmt::format("sweep.vary asks for {} further runs; {} are the most: lower vary_values or "
                                       "vary_fixings",
                                       runs, most_runs));
}

/// Makes the runs of one variation.
class VariationBuilder {
public:
  VariationBuilder(const Settings& reference, const Plan& plan, Identities& identities)
      : reference_(reference), spec_(reference.sweep().vary), plan_(plan), identities_(identities) {
    for (const PlannedRun& run : plan.runs) known_.insert(run.id);
  }

  Variation make() {
    Variation out;
    out.sources = spec_.sources;
    out.values = static_cast<std::size_t>(spec_.values);
    choose_bases();
    for (std::size_t f = 0; f < seeds_.size(); ++f) {
      const std::string name = fmt::format("fixing {}", f + 1);
      Variation::Fixing fixing{add(f, {}, name, out), {}};
      for (std::size_t s = 0; s < sources_.size(); ++s) {
        std::vector<std::string>& ids = fixing.varied.emplace_back();
        for (std::int64_t v = 1; v < spec_.values; ++v) {
          const std::int64_t value = further(f, s, v);
          ids.push_back(add(f, {change(*sources_[s], value)}, fmt::format("{}, {} {}", name, sources_[s]->name, value),
                            out));
        }
      }
      out.fixings.push_back(std::move(fixing));
    }
    return out;
  }

private:
  static std::int64_t first_number(std::size_t fixing) { return of_a_fixing * static_cast<std::int64_t>(fixing + 1); }

  Change change(const ChanceSource& source, std::int64_t value) const {
    return {std::string(source.option), Value(value), spec_.origin};
  }

  /// The seeds of the fixings, and the values of the sources that do not follow them.
  void choose_bases() {
    seeds_ = plan_.seeds;
    const auto fixings = static_cast<std::size_t>(spec_.fixings);
    for (std::int64_t seed = 0; seeds_.size() < fixings; ++seed)
      if (std::ranges::find(plan_.seeds, seed) == plan_.seeds.end()) seeds_.push_back(seed);
    seeds_.resize(fixings);
    own_.resize(fixings);
    const Config first = reference_.with({seed_change(0)}).resolve(),
                 other = reference_.with({seed_change(1)}).resolve();
    for (const std::string& name : spec_.sources) {
      const ChanceSource& source = *find_chance_source(name);
      sources_.push_back(&source);
      const bool follows = (first.*source.seed)() != (other.*source.seed)();
      std::set<std::int64_t>& taken = taken_.emplace_back();
      if (follows) taken.insert(seeds_.begin(), seeds_.end());
      else taken.insert(static_cast<std::int64_t>((first.*source.seed)()));
      for (std::size_t f = 1; f < fixings && !follows; ++f)
        own_[f].push_back(change(source, further(f, sources_.size() - 1, 0)));
    }
  }

  /// The number of a value of a source; it is none of those that the fixings have.
  std::int64_t further(std::size_t fixing, std::size_t source, std::int64_t value) const {
    std::int64_t out = first_number(fixing) + value;
    while (taken_[source].contains(out)) out += 1'000'000'000;
    return out;
  }

  /// Adds the run with these changes of the fixing, unless the plan has it already. Returns its ID.
  std::string add(std::size_t fixing, const std::vector<Change>& changes, const std::string& label, Variation& out) {
    std::vector<Change> all{seed_change(seeds_[fixing])};
    for (const Change& own : own_[fixing])
      if (std::ranges::find(changes, own.key, &Change::key) == changes.end()) all.push_back(own);
    all.insert(all.end(), changes.begin(), changes.end());
    try {
      const Config config = reference_.with(all).resolve();
      std::string id = identities_.of(config);
      if (known_.insert(id).second) {
        out.runs.push_back({id, 0, seeds_[fixing], to_toml(config)});
        out.labels.push_back(label);
      }
      return id;
    } catch (const Refused& error) {
      if (changes.empty()) throw;
      const auto source = std::ranges::find(chance_sources(), changes.front().key, &ChanceSource::option);
      throw Refused(
          fmt::format("{} (sweep.vary names \"{}\": {} is to vary; remove it from the list, or change what it "
                      "needs)",
                      error.what(), source->name, source->in_words));
    }
  }

  const Settings& reference_;
  const VarySpec& spec_;
  const Plan& plan_;
  Identities& identities_;
  std::vector<const ChanceSource*> sources_;
  std::vector<std::int64_t> seeds_;           ///< of each fixing
  std::vector<std::vector<Change>> own_;      ///< of each fixing: its values of sources that do not follow `seed`
  std::vector<std::set<std::int64_t>> taken_; ///< of each source: numbers that are no further values
  std::set<std::string> known_;               ///< IDs of the plan's runs and of those added
};

} // namespace

std::optional<Variation> make_variation(const Settings& reference, const Plan& plan, Identities& identities) {
  const SweepSpec& sweep = reference.sweep();
  check(sweep.vary, sweep);
  if (sweep.vary.sources.empty()) return std::nullopt;
  return VariationBuilder(reference, plan, identities).make();
}

VariationLabels::VariationLabels(const Plan& plan) {
  if (!plan.variation) return;
  for (std::size_t i = 0; i < plan.variation->runs.size(); ++i)
    labels_[plan.variation->runs[i].id] = plan.variation->labels.at(i) + ": ";
}

std::string VariationLabels::before(const PlannedRun& run) const {
  const auto found = labels_.find(run.id);
  return found == labels_.end() ? "" : found->second;
}

} // namespace heed
