#include "experiments/command_line/messages.hpp"

#include "experiments/actions/found_runs.hpp"
#include "experiments/actions/sweep_start.hpp"
#include "experiments/runs/run_folder.hpp"

namespace heed {

TrainedRun trained_run(const std::string& out, const std::string& name, std::int64_t average, Console& console) {
  std::vector<std::string> damaged;
  const auto say_damaged = [&] {
    for (const std::string& what : damaged) say(console, what);
  };
  try {
    TrainedRun run = trained_run(find_run(out, name), average, damaged, console.program);
    say_damaged();
    return run;
  } catch (...) {
    say_damaged();
    throw;
  }
}

void say_left_out(const std::vector<LeftOut>& left_out, const RunIndex& index, Console& console) {
  for (const std::string& sentence : left_out_in_words(left_out, index)) say(console, sentence);
}

void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console) {
  for (const std::string& note : checked_notes(prepared, out)) say(console, "note: " + note);
  console.err.flush();
}

} // namespace heed
