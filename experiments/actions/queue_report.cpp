#include "experiments/actions/queue_report.hpp"

#include "experiments/launch/slurm_queue.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// Runs that are reported in one sentence.
struct Group {
  std::size_t runs = 0;
  std::set<std::string> nodes;
};

std::vector<QueuedRun> marked_runs(const std::filesystem::path& out) {
  std::vector<QueuedRun> runs;
  for (const std::string& id : run_ids(out)) {
    const RunFolder run{out / id};
    try {
      if (auto mark = read_queue_mark(run)) runs.push_back({run, std::move(*mark)});
    } catch (const Unreadable&) {
      // Whether it is queued cannot be determined now.
    }
  }
  return runs;
}

std::string array_of(const SlurmTask& task) { return task.job.substr(0, task.job.find('_')); }

} // namespace

std::string queue_report(const std::filesystem::path& out,
                         const std::function<std::string(const std::string& id)>& name_of) {
  if (!OutputFile(out, "slurm").is_folder()) return "";
  std::vector<QueuedRun> runs = marked_runs(out);
  std::set<std::string> submissions;
  for (const QueuedRun& run : runs)
    if (run.mark.ended.empty()) submissions.insert(run.mark.submission);
  const QueueSnapshot look = snapshot_of_queue(submissions);

  std::map<std::string, Group> waiting; // by sentence
  std::string gone;
  for (QueuedRun& run : runs) {
    run.mark = settle_queue_mark(out, run, look);
    const RunState state = state_of(run.run);
    if (state == RunState::finished) continue;
    const SlurmTask* task = look.find(run.mark);
    if (!run.mark.ended.empty()) {
      gone += fmt::format("  {}: {}{}\n", name_of(run.run.id()), run.mark.ended,
                          run.mark.details.empty() ? "" : fmt::format(" ({})", run.mark.details));
    } else if (!task) {
      ++waiting[fmt::format("queued as {}", run.mark.submission)].runs;
    } else if (state == RunState::running) {
      Group& group =
          waiting[fmt::format("running in job {}{}", array_of(*task), run.mark.begun > 1 ? ", requeued before" : "")];
      ++group.runs;
      if (!task->nodes.empty()) group.nodes.insert(task->nodes);
    } else if (task->state == "RUNNING" || task->state == "COMPLETING") {
      ++waiting[fmt::format("waiting in a running task of job {}", array_of(*task))].runs;
    } else {
      const std::string again = run.mark.begun > 0 ? "requeued, waiting again" : "waiting";
      ++waiting[fmt::format("{} in job {}{}", again, array_of(*task),
                            task->reason.empty() ? "" : fmt::format(" ({})", task->reason))]
            .runs;
    }
  }
  std::string text;
  if (!look.complaint.empty())
    text += fmt::format("  Slurm does not answer ({}); this is what the folders say\n", look.complaint);
  for (const auto& [sentence, group] : waiting)
    text += fmt::format("  {} {}{}\n", counted(group.runs, "run"), sentence,
                        group.nodes.empty() ? "" : fmt::format(" on {}", fmt::join(group.nodes, ", ")));
  return text + gone;
}

} // namespace heed
