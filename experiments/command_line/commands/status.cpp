// heed status: shows the sweeps and runs in an output folder, and the progress of the runs that are running now.
#include "experiments/actions/progress_board.hpp"
#include "experiments/actions/status.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

namespace {

struct StatusArguments {
  std::string out = "runs";
  ResultOptions result;
};

/// The progress display of `heed run`: the bar, the finished part, the time left, and each running run.
std::string board_of(const SweepLook& look, std::size_t width) {
  ProgressBoard board(look.board, 0);
  for (const RunEvent& event : look.events) board.take(event, 0);
  if (look.status.seconds_left) board.know_left(*look.status.seconds_left);
  std::string text;
  for (const std::string& line : board.lines(0, width)) text += line + "\n";
  return text;
}

void print_status(const FolderLook& look, Console& console) {
  TextTable table{{"sweep", "runs", "finished", "running", "queued", "failed", "interrupted", "missing"}, {}, {}};
  table.alignment = {Align::left};
  table.alignment.resize(table.headings.size(), Align::right);
  const bool leaves_out = std::ranges::any_of(look.sweeps, [](const SweepLook& s) { return s.status.left_out > 0; });
  if (leaves_out) table.add_column("left out");
  std::string running;
  std::vector<std::string> failed, unreadable, excluded;
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const SweepLook& sweep : look.sweeps) {
    const SweepStatus& s = sweep.status;
    if (s.running > 0)
      running += fmt::format("\n{}\n{}", console.out_style.bold(cut(s.name)), board_of(sweep, console.width - 1));
    append(failed, s.failures);
    append(unreadable, s.unreadable);
    append(excluded, s.excluded);
    std::vector<std::string> row{s.sweep};
    for (const std::uint64_t n : {s.runs, s.finished, s.running, s.queued, s.failed, s.interrupted, s.missing})
      row.push_back(fmt::format("{}", n));
    if (leaves_out) row.push_back(fmt::format("{}", s.left_out));
    table.rows.push_back(std::move(row));
  }
  const StatusResult& status = look.status;
  print(console.out, "{}  {} run{}\n", status.folder, status.runs, plural(status.runs));
  if (!table.rows.empty()) console.out << "\n" << to_text(table);
  if (!running.empty()) console.out << running;
  if (!status.queue.empty())
    console.out << "\n"
                << console.out_style.bold("Slurm") << "\n"
                << fmt::format("{}\n", fmt::join(status.queue, "\n"));
  for (const auto& [heading, sentences] : {std::pair{"failed", &std::as_const(failed)},
                                           {"unreadable now", &std::as_const(unreadable)},
                                           {"excluded from reports", &std::as_const(excluded)},
                                           {"damaged", &status.damaged}})
    if (!sentences->empty())
      console.out << "\n" << console.out_style.red(heading) << "\n" << first_lines(*sentences, "  ");
}

int status(const StatusArguments& arguments, Console& console) {
  ResultOutput output("status", arguments.result);
  const FolderLook look = look_at(arguments.out);
  if (output.is("json")) output.write_result(look.result(), console);
  else print_status(look, console);
  return 0;
}

} // namespace

void add_status(Commands& commands) {
  add_command<StatusArguments>(
      commands, "status", "list the sweeps and runs of a folder, and their progress",
      "Example, from another terminal while a sweep runs:\n"
      "  heed status runs",
      [](Command& command, StatusArguments& arguments) {
        add_output_folder(command, arguments.out);
        add_result_options(command, arguments.result, {"terminal", "json"});
      },
      status);
}

} // namespace heed
