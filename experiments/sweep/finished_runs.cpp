#include "experiments/sweep/finished_runs.hpp"

#include "experiments/runs/names.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace heed {

namespace {

OutputFile file_in(const std::filesystem::path& folder) { return file_of_sweep(folder, "finished.txt"); }

} // namespace

std::set<std::string> recorded_as_finished(const std::filesystem::path& folder) {
  std::set<std::string> out;
  const auto bytes = file_in(folder).read();
  if (!bytes) return out;
  std::string_view rest = *bytes;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (is_run_id(rest.substr(0, end))) out.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder) {
  std::set<std::string> known = recorded_as_finished(folder);
  const std::size_t before = known.size();
  std::vector<RunFolder> runs;
  const auto add = [&](const std::vector<PlannedRun>& planned) {
    for (const PlannedRun& run : planned)
      if (!run.id.empty() && !known.contains(run.id)) runs.push_back({out / run.id});
  };
  add(plan.runs);
  if (plan.tuning) add(plan.tuning->runs);
  const std::vector<RunState> states = states_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (states[i] == RunState::finished) known.insert(runs[i].id());
  if (known.size() == before) return;
  std::string text;
  for (const std::string& id : known) text += id + "\n";
  file_in(folder).write(text);
}

} // namespace heed
