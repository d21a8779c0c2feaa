#include "experiments/report/report_data.hpp"

namespace heed {

namespace {

template <class Which> std::size_t count_runs(const ReportData& report, Which which) {
  std::ptrdiff_t n = 0;
  for (const ReportArm& arm : report.arms) n += std::ranges::count_if(arm.runs, which);
  if (report.variation) n += std::ranges::count_if(report.variation->runs, which);
  return static_cast<std::size_t>(n);
}

/// Whether every arm's run of the seed (by its index) is finished, failed or excluded.
bool seed_is_done(const ReportData& report, std::size_t seed) {
  return std::ranges::all_of(report.arms, [&](const ReportArm& arm) {
    if (seed >= arm.runs.size()) return false;
    const ReportRun& run = arm.runs[seed];
    return run.is_left_out() || has_ended(run.state);
  });
}

} // namespace

std::size_t ReportData::total() const {
  std::size_t n = variation ? variation->runs.size() : 0;
  for (const ReportArm& arm : arms) n += arm.runs.size();
  return n;
}

std::size_t ReportData::count(RunState state) const {
  return count_runs(*this,
                    [&](const ReportRun& run) { return run.exclusion == RunExclusion::none && run.state == state; });
}

std::size_t ReportData::seeds_done() const {
  std::size_t done = 0;
  for (std::size_t s = 0; s < seeds.size(); ++s) done += seed_is_done(*this, s);
  return done;
}

std::size_t ReportData::seeds_looked_at() const {
  if (looks.empty()) return seeds.size();
  std::size_t whole = 0;
  while (whole < seeds.size() && seed_is_done(*this, whole)) ++whole;
  std::size_t last = 0;
  for (const std::size_t look : looks)
    if (look <= whole) last = look;
  return last;
}

std::span<const ReportRun> ReportData::counted_runs(const ReportArm& arm) const {
  const std::size_t seeds = looks.empty() ? 0 : seeds_looked_at();
  return std::span(arm.runs).first(seeds == 0 ? arm.runs.size() : std::min(seeds, arm.runs.size()));
}

std::string ReportData::group_label(const ReportArm& arm) const {
  if (is_overall) return "all";
  std::vector<PlannedChange> values;
  for (std::size_t i = 0; i < arm.group.size(); ++i) values.push_back({within[i].name, arm.group[i]});
  return in_words(values);
}

const std::string& ReportData::shown_metric(const std::string& name) const {
  const auto label = labels.find(name);
  return label == labels.end() ? name : label->second;
}

bool sees_alike(const ReportData& report, const ReportArm& arm) {
  return arm.leakage.empty() == report.arms.at(arm.reference).leakage.empty();
}

std::size_t ReportData::left_out() const { return count_runs(*this, &ReportRun::is_left_out); }
std::size_t ReportData::no_row() const { return count_runs(*this, &ReportRun::has_no_row); }
std::size_t ReportData::gone() const { return count_runs(*this, &ReportRun::is_gone); }

} // namespace heed
