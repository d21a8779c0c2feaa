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

/// The lines that are run IDs.
std::set<std::string> ids_in(std::string_view rest) {
  std::set<std::string> out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (is_run_id(rest.substr(0, end))) out.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

} // namespace

std::set<std::string> recorded_as_finished(const std::filesystem::path& folder) {
  const auto bytes = file_in(folder).read();
  return bytes ? ids_in(*bytes) : std::set<std::string>();
}

void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder) {
  const std::set<std::string> known = recorded_as_finished(folder);
  std::vector<RunFolder> runs;
  const auto add = [&](const std::vector<PlannedRun>& planned) {
    for (const PlannedRun& run : planned)
      if (!run.id.empty() && !known.contains(run.id)) runs.push_back({out / run.id});
  };
  add(plan.runs);
  if (plan.tuning) add(plan.tuning->runs);
  const std::vector<RunState> states = states_of(runs);
  std::set<std::string> finished;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (states[i] == RunState::finished) finished.insert(runs[i].id());
  if (finished.empty()) return;

  const auto bytes = file_in(folder).read(); // another process may have added some
  if (bytes.is_unreadable()) return;         // it may contain runs that are recorded nowhere else
  if (bytes) finished.merge(ids_in(*bytes));
  std::string text;
  for (const std::string& id : finished) text += id + "\n";
  file_in(folder).write(text);
}

} // namespace heed
