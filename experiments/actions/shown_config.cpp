#include "experiments/actions/shown_config.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/sweep/preparation.hpp"

#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {

/// The outcome of the run; a note if its files can't be read.
std::optional<RunOutcome> outcome_of(const RunFolder& run, std::vector<std::string>& notes) {
  const auto entry = read_entry(run);
  if (!entry) {
    notes.push_back(fmt::format("run {}: {}", run.id(), entry.error));
    return std::nullopt;
  }
  RunOutcome out{.run = run.id(), .state = std::string(name_of(entry->state)), .parameters = entry->parameters};
  if (const auto& m = entry->manifest) {
    out.started = m->started;
    out.ended = m->ended;
    out.heed = m->build.version;
    out.compiler = m->build.compiler + " " + m->build.flags;
    out.kernels = m->build.kernels;
    out.blas = m->build.blas;
    out.cpu = m->cpu;
    out.failure = m->failure;
    out.seconds = m->seconds;
    out.threads = m->threads;
  }
  for (const MetricEntry& m : entry->metrics) out.metrics.push_back({m.name, m.last, m.step, m.best, m.best_step});
  return out;
}

std::vector<OptionDifference> differences_of(const std::string& arm, const Config& from, const Config& to) {
  std::vector<OptionDifference> out;
  for (const Difference& d : difference(from, to))
    out.push_back({.arm = arm, .option = d.key, .from = text_or_none(d.a), .to = text_or_none(d.b)});
  return out;
}

} // namespace

ShownConfig shown_config(const std::string& file, const std::vector<std::string>& overrides,
                         const std::optional<RunFolder>& run, const std::string& diff_from,
                         const std::string& out_folder) {
  ShownConfig shown;
  ShowResult& out = shown.result;
  out.subject = run ? run->id() : file;
  if (run) out.run = outcome_of(*run, shown.notes);
  const Settings settings = load_settings(file, overrides);
  const Config config = settings.resolve();
  for (const std::string& sentence : settings.dropped()) shown.notes.push_back(sentence);
  for (const FlatOption& option : flatten(config)) out.options[option.key] = option.value;
  out.toml = to_toml(config);
  if (diff_from == "defaults") out.differences = differences_of("", default_config(), config);
  if (diff_from == "reference") {
    Tasks tasks;
    const Preparation prepared = prepare(file, overrides, tasks, out_folder);
    for (std::size_t i = 1; i < prepared.arms.size(); ++i)
      for (OptionDifference& d :
           differences_of(prepared.plan.arms[i].label, prepared.arms.front().config, prepared.arms[i].config))
        out.differences.push_back(std::move(d));
  }
  return shown;
}

} // namespace heed
