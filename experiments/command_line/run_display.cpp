#include "experiments/command_line/run_display.hpp"

#include "experiments/command_line/console.hpp"
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

namespace heed {

namespace {
constexpr double redraw_seconds = 0.2;
constexpr double plain_seconds = 30;
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

double RunDisplay::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TerminalSize RunDisplay::error_terminal_size() { return terminal_size(STDERR_FILENO); }

RunDisplay::RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock,
                       std::function<TerminalSize()> size)
    : console_(console), clock_(std::move(clock)), board_(std::move(runs), clock_()), last_shown_(clock_()),
      size_(std::move(size)) {}

RunDisplay::~RunDisplay() { clear(); }

void RunDisplay::take(const RunEvent& event) {
  const double now = clock_();
  board_.take(event, now);
  changed_ = true;
  switch (event.kind) {
    case RunEvent::Kind::finished:
      if (!console_.live) say(fmt::format("finished {}; {}", board_.label(event.run), board_.headline(now)));
      break;
    case RunEvent::Kind::failed:
      say(fmt::format("{} {}: {}", console_.err_style.red("failed"), board_.label(event.run), event.reason));
      break;
    case RunEvent::Kind::elsewhere: say(board_.elsewhere_in_words(event)); break;
    case RunEvent::Kind::interrupted:
      if (!event.reason.empty()) say(fmt::format("interrupted {}: {}", board_.label(event.run), event.reason));
      break;
    case RunEvent::Kind::skipped:
    case RunEvent::Kind::queued:
    case RunEvent::Kind::started:
    case RunEvent::Kind::progress: break;
  }
  tick();
}

void RunDisplay::tick() {
  const double now = clock_();
  if (console_.live) {
    if (changed_ && (drawn_.empty() || now - last_shown_ >= redraw_seconds)) draw(now);
  } else if (now - last_shown_ >= plain_seconds) {
    say(board_.plain_line(now));
  }
}

void RunDisplay::say(const std::string& line) {
  clear();
  print(console_.err, "{}\n", fitted(line, console_.live ? size_now().columns : 0, console_.program));
  console_.err.flush();
  if (!console_.live) last_shown_ = clock_();
}

TerminalSize RunDisplay::size_now() const {
  const TerminalSize size = size_();
  return {size.columns > 0 ? size.columns : std::max<std::size_t>(console_.width, 1), size.rows};
}

// If a terminal becomes narrower, it wraps lines that are longer than its new width.
std::size_t RunDisplay::rows_drawn(std::size_t columns) const {
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  return rows;
}

std::string RunDisplay::upwards(std::size_t rows) const {
  return console_.err_style.command("\r") + console_.err_style.command(fmt::format("\033[{}A", rows));
}

void RunDisplay::clear() {
  if (drawn_.empty()) return;
  // Moves up to the first drawn line and erases everything from there.
  console_.err << upwards(rows_drawn(size_now().columns)) + console_.err_style.command("\033[J");
  console_.err.flush();
  drawn_.clear();
}

void RunDisplay::draw(double now) {
  const TerminalSize size = size_now();
  std::vector<std::string> lines = board_.lines(now, std::max<std::size_t>(size.columns, 2) - 1);
  // Lines that have scrolled off the top of the screen cannot be redrawn.
  if (size.rows > 1 && lines.size() >= size.rows) lines.resize(size.rows - 1);
  // Writes everything at once and erases each line as it is replaced, so that the display does not flicker.
  std::string text;
  if (!drawn_.empty()) text += upwards(rows_drawn(size.columns));
  for (const std::string& line : lines) text += line + console_.err_style.command("\033[K") + "\n";
  text += console_.err_style.command("\033[J");
  console_.err << text;
  console_.err.flush();
  drawn_.clear();
  for (const std::string& line : lines) drawn_.push_back(display_width(line));
  last_shown_ = now;
  changed_ = false;
}

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
