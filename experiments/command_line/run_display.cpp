#include "experiments/command_line/run_display.hpp"

#include "experiments/command_line/preparation.hpp"
#include "experiments/config/values.hpp"
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/sweep/variation.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <unistd.h>
#include <utility>

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

/// @param labels  of the arms
std::string label_of(const std::vector<std::string>& labels, const PlannedRun& run) {
  const std::string seed = fmt::format("seed {}", run.seed);
  return labels.size() == 1 ? seed : fmt::format("{}, {}", labels.at(run.arm), seed);
}

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

ProgressBoard::ProgressBoard(std::vector<BoardRun> runs, double now) : start_(now) {
  for (BoardRun& run : runs) {
    Entry entry;
    entry.about = std::move(run);
    // Labels are converted to their displayed form first, because lines are measured and cut by it.
    entry.about.label = in_one_line(without_controls(entry.about.label));
    entry.progress.steps = entry.about.steps;
    runs_.push_back(std::move(entry));
  }
}

void ProgressBoard::take(const RunEvent& event, double) {
  Entry& entry = runs_.at(event.run);
  switch (event.kind) {
    case RunEvent::Kind::skipped:
      entry.state = State::done;
      entry.before = true;
      break;
    case RunEvent::Kind::elsewhere: entry.state = State::elsewhere; break;
    case RunEvent::Kind::queued: entry.state = State::queued; break;
    case RunEvent::Kind::started: entry.state = State::running; break;
    case RunEvent::Kind::progress:
      entry.state = State::running;
      entry.progress = event.progress;
      // Work that a checkpoint already contained does not count for the speed of this start.
      if (!entry.base) entry.base = event.progress.step > entry.about.steps / 10 ? fraction(entry) : 0.0;
      break;
    case RunEvent::Kind::finished: entry.state = State::done; break;
    case RunEvent::Kind::failed: entry.state = State::failed; break;
    case RunEvent::Kind::interrupted: entry.state = State::stopped; break;
  }
}

double ProgressBoard::fraction(const Entry& entry) const {
  const std::int64_t steps = std::max<std::int64_t>(entry.progress.steps, 1);
  return std::clamp(static_cast<double>(entry.progress.step) / static_cast<double>(steps), 0.0, 1.0);
}

std::size_t ProgressBoard::count(State state) const {
  return static_cast<std::size_t>(std::ranges::count(runs_, state, &Entry::state));
}

std::optional<double> ProgressBoard::seconds_left(double now) const {
  if (known_left_) return known_left_;
  double worked = 0, left = 0;
  for (const Entry& entry : runs_) {
    const double base = entry.base.value_or(0);
    switch (entry.state) {
      case State::done:
        if (!entry.before) worked += entry.about.work * (1 - base);
        break;
      case State::running:
        worked += entry.about.work * (fraction(entry) - (entry.base ? base : fraction(entry)));
        left += entry.about.work * (1 - fraction(entry));
        break;
      case State::waiting:
      case State::elsewhere:
      case State::queued:
      case State::stopped: left += entry.about.work * (1 - fraction(entry)); break;
      case State::failed: break;
    }
  }
  const double elapsed = now - start_;
  if (worked <= 0 || elapsed <= 0.5) return std::nullopt;
  return left * elapsed / worked;
}

std::string ProgressBoard::elsewhere_in_words(const RunEvent& event) const {
  return fmt::format("another process is executing {}; heed checks it again later{}", label(event.run),
                     event.reason.empty() ? "" : fmt::format(" ({})", event.reason));
}

std::string ProgressBoard::headline(double now) const {
  std::string text = fmt::format("{} of {} run{}", done(), total(), plural(total()));
  if (queued() > 0) text += fmt::format(", {} queued", queued());
  if (failed() > 0) text += fmt::format(", {} failed", failed());
  if (const auto left = seconds_left(now); left && done() + failed() < total())
    text += fmt::format(", {} left", duration(*left));
  return text;
}

std::string ProgressBoard::at(const Entry& entry) const {
  const Progress& p = entry.progress;
  if (!entry.base) return "starting";
  return fmt::format("step {} of {}  loss {:.4f}  {:.{}f} steps/s", p.step, p.steps, p.loss, p.steps_per_second,
                     p.steps_per_second < 10 ? 1 : 0);
}

std::vector<std::string> ProgressBoard::lines(double now, std::size_t width) const {
  constexpr std::size_t bar_width = 24, most_runs = 16;
  double all = 0, finished = 0;
  for (const Entry& entry : runs_) {
    all += entry.about.work;
    if (entry.state == State::done || entry.state == State::failed) finished += entry.about.work;
    else finished += entry.about.work * fraction(entry);
  }
  const auto filled = static_cast<std::size_t>(all > 0 ? finished / all * static_cast<double>(bar_width) : 0);
  std::string bar;
  for (std::size_t i = 0; i < bar_width; ++i) bar += i < filled ? "━" : "─";

  std::vector<std::string> out{cut_to(fmt::format("{}  {}", bar, headline(now)), width)};
  std::size_t longest = 0, running = 0;
  for (const Entry& entry : runs_)
    if (entry.state == State::running) longest = std::max(longest, display_width(entry.about.label));
  longest = std::min(longest, width / 2);
  for (const Entry& entry : runs_) {
    if (entry.state != State::running || ++running > most_runs) continue;
    const std::string name = cut_to(entry.about.label, longest);
    out.push_back(cut_to("  " + name + std::string(longest - display_width(name) + 2, ' ') + at(entry), width));
  }
  if (running > most_runs) out.push_back(fmt::format("  and {} more", running - most_runs));
  return out;
}

std::string ProgressBoard::plain_line(double now) const {
  std::string text = headline(now);
  for (const Entry& entry : runs_)
    if (entry.state == State::running) text += fmt::format("; {}: {}", entry.about.label, at(entry));
  return text;
}

std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan) {
  std::vector<BoardRun> runs;
  const std::vector<std::string> labels = named_labels(plan, prepared.arms.front().config);
  const VariationLabels variation(plan);
  each_run(plan, [&](const PlannedRun& run, const Trial* trial) {
    const Load load = load_of(prepared, plan, run.arm, trial);
    const std::string stage = trial ? fmt::format("tuning {}: ", short_words(*trial)) : "";
    runs.push_back({stage + variation.before(run) + label_of(labels, run), load.steps, load.flops()});
  });
  return runs;
}

std::string start_in_words(const SweepStart& start) {
  const std::size_t before = start.runs - start.to_do;
  return size_in_words(start.plan) + (start.to_do == 0 ? "; all had been trained by an earlier command"
                                      : before > 0     ? fmt::format("; {} done before", before)
                                                       : "");
}

} // namespace heed
