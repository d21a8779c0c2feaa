#include "experiments/actions/progress_board.hpp"

#include "experiments/config/values.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/sweep/variation.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {

/// @param labels  of the arms
std::string label_of(const std::vector<std::string>& labels, const PlannedRun& run) {
  const std::string seed = fmt::format("seed {}", run.seed);
  return labels.size() == 1 ? seed : fmt::format("{}, {}", labels.at(run.arm), seed);
}

} // namespace

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
