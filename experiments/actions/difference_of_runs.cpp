#include "experiments/actions/difference_of_runs.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/runs/run_comparison.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/sweep/preparation.hpp"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// One of the two runs or configurations that are compared.
struct Side {
  std::string title; ///< the run's ID, or the file's name
  Config config;
  std::optional<RunEntry> run; ///< empty if this side is a file
};

Side side_of(const std::string& word, const std::string& out) {
  if (word == "-") return {"standard input", load_settings(word, {}).resolve(), std::nullopt};
  std::error_code error;
  if (word.ends_with(".toml") && !std::filesystem::is_directory(word, error))
    return {word, load_settings(word, {}).resolve(), std::nullopt};
  const RunFolder run = find_run(out, word);
  auto entry = read_entry(run);
  if (!entry) throw Refused(fmt::format("run {} is unusable: {}", run.id(), entry.error));
  return {run.id(), read_config(run), std::move(*entry)};
}

DiffSide about(const Side& side) {
  if (!side.run) return {.file = side.title};
  return {.run = side.title,
          .name = side.config.general.name,
          .seed = side.config.general.seed,
          .state = std::string(name_of(side.run->state))};
}

/// The metrics of both runs: first the metrics of `a` in their order, then the metrics that only `b` has.
std::vector<DiffMetric> metrics_of(const RunEntry& a, const RunEntry& b) {
  std::vector<DiffMetric> out;
  std::map<std::string_view, std::size_t> places;
  for (const MetricEntry& m : a.metrics) {
    places.emplace(m.name, out.size());
    out.push_back({.name = m.name, .a = m.last, .a_step = m.step});
  }
  for (const MetricEntry& m : b.metrics) {
    const auto same = places.find(m.name);
    DiffMetric& metric = same == places.end() ? out.emplace_back(DiffMetric{.name = m.name}) : out[same->second];
    metric.b = m.last;
    metric.b_step = m.step;
    if (metric.a) metric.difference = *metric.b - *metric.a;
  }
  return out;
}

} // namespace

DiffResult difference_of(const std::string& first, const std::string& second, const std::string& out_folder) {
  const Side a = side_of(first, out_folder), b = side_of(second, out_folder);
  DiffResult out{.a = about(a), .b = about(b)};
  for (const Difference& d : difference(a.config, b.config))
    out.options.push_back({d.key, text_or_none(d.a), text_or_none(d.b)});
  if (!a.run || !b.run) return out;
  out.metrics = metrics_of(*a.run, *b.run);
  if (a.run->manifest && b.run->manifest)
    for (const MachineDifference& d : machine_differences(*a.run->manifest, *b.run->manifest))
      out.machine.push_back({d.what, d.a, d.b});
  return out;
}

} // namespace heed
