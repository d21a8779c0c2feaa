#include "experiments/launch/slurm_queue.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace heed {

using namespace json_fields;

namespace {

namespace fs = std::filesystem;

/// If the array's job number is not known, the submission is in progress or its process has died. After this time, it
/// is considered dead.
constexpr std::chrono::minutes longest_submission{10};

/// The bytes at the end of a task's log that are read.
constexpr std::uint64_t end_of_log = std::uint64_t{1} << 20;

/// In seconds; longer than any task on a cluster.
constexpr double longest_task = 1e9;

/// The state that Slurm writes at the end of a task's log if it ended the task.
std::string ending_in_log(const std::string& log) {
  // If the task was started again, messages of its earlier ends are above this line.
  const std::size_t begin = log.rfind("heed slurm-task: begins");
  const std::string_view last = std::string_view(log).substr(begin == std::string::npos ? 0 : begin);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> endings{{
      {"DUE TO TIME LIMIT", "TIMEOUT"},
      {"DUE TO PREEMPTION", "PREEMPTED"},
      {"DUE TO NODE FAILURE", "NODE_FAIL"},
      {"DUE TO JOB REQUEUE", "REQUEUED"},
      {"oom-kill", "OUT_OF_MEMORY"},
      {"oom_kill", "OUT_OF_MEMORY"},
      {" CANCELLED AT ", "CANCELLED"},
  }};
  for (const auto& [words, state] : endings)
    if (last.find(words) != std::string_view::npos) return std::string(state);
  return "";
}

/// The state in the accounting database, if the cluster has one.
std::string state_in_accounting(const std::string& job) {
  if (job.empty() || !has_program("sacct")) return "";
  const ChildResult result = run_slurm({"sacct", "-n", "-X", "-P", "-o", "State", "-j", job});
  if (!result.well()) return "";
  const std::vector<std::string> lines = lines_of(result.out);
  return lines.empty() ? "" : parts_of(trimmed(lines.front()), ' ').front(); // "CANCELLED by 1000"
}

std::string last_words(const std::string& log) {
  const std::vector<std::string> lines = lines_of(log);
  return lines.empty() ? "none" : cut(trimmed(lines.back()), 1000);
}

/// Slurm's state of a task that has ended and is no longer in the queue.
std::string forgotten_state(const std::string& job, const std::string& log) {
  std::string state = state_in_accounting(job);
  if (state.empty()) state = ending_in_log(log);
  return state;
}

std::string advice_for(const std::string& state) {
  if (state == "OUT_OF_MEMORY") return "; ask for more with slurm.memory";
  if (state == "TIMEOUT") return "; it resumes from its last checkpoint; ask for more with slurm.time";
  return "";
}

bool may_be_coming(const fs::path& out, const std::string& name) {
  const auto asked = std::chrono::steady_clock::now();
  const OutputFile submission = Submission::file(out, name);
  const auto file = submission.identity();
  if (!file) return false;
  return time_unchanged(submission.path(), fmt::format("{} {}", file->written, file->size), asked, AgeClock::machine,
                        [&] {
                          const auto now = std::chrono::system_clock::now().time_since_epoch();
                          return std::chrono::duration<double>(now - std::chrono::nanoseconds(file->written)).count();
                        }) < longest_submission;
}

} // namespace

OutputFile Submission::folder(const fs::path& out, const std::string& name) { return {out, fs::path("slurm") / name}; }
OutputFile Submission::file(const fs::path& out, const std::string& name) {
  return folder(out, name) / "submission.json";
}
OutputFile Submission::log(const fs::path& out, const std::string& name, std::int64_t task) {
  return folder(out, name) / fmt::format("{}.txt", task);
}

std::string to_json(const Submission& submission) {
  const json::object fields{{"name", submission.name},       {"job", submission.job},
                            {"threads", submission.threads}, {"kernels", submission.kernels},
                            {"seconds", submission.seconds}, {"command", submission.command}};
  std::string out = "{\n";
  for (const auto& [key, value] : fields) out += fmt::format("  {}: {},\n", json_text(key), one_line(value));
  std::vector<std::string> tasks;
  for (const auto& runs : submission.tasks) tasks.push_back("    " + one_line(json::value_from(runs)));
  return out + fmt::format("  \"tasks\": [\n{}\n  ]\n}}\n", fmt::join(tasks, ",\n"));
}

Parsed<Submission> submission_from_json(std::string_view bytes) {
  return guarded<Submission>([&] {
    const json::value value = parsed(bytes);
    const json::object& object = as_object(value, "it");
    Submission submission;
    submission.name = text(object, "name");
    if (!is_submission_name(submission.name))
      throw Wrong{fmt::format("{} is not the name of a submission", json_text(cut(submission.name)))};
    submission.job = text(object, "job");
    if (!submission.job.empty() && !is_job_number(submission.job))
      throw Wrong{fmt::format("{} is not the number of a job", json_text(cut(submission.job)))};
    submission.threads = static_cast<int>(std::clamp<std::int64_t>(integer(object, "threads"), 1, 4096));
    if (object.contains("kernels")) submission.kernels = text(object, "kernels");
    if (!submission.kernels.empty() && !is_instruction_set_name(submission.kernels))
      throw Wrong{fmt::format("{} is not the name of kernels", json_text(cut(submission.kernels)))};
    submission.seconds = std::clamp(real(object, "seconds"), 0.0, longest_task);
    submission.command = text(object, "command");
    for (const json::value& task : list(object, "tasks")) {
      submission.tasks.emplace_back();
      for (const json::value& value : list(task, "tasks")) {
        const std::string id = text(value, "tasks");
        if (!is_run_id(id)) throw Wrong{fmt::format("{} is not the ID of a run", json_text(cut(id)))};
        submission.tasks.back().push_back(id);
      }
    }
    return submission;
  });
}

bool SlurmTask::alive() const {
  constexpr std::array alive{"PENDING",      "RUNNING",     "SUSPENDED",     "COMPLETING",  "CONFIGURING",
                             "REQUEUED",     "RESIZING",    "SIGNALING",     "STAGE_OUT",   "STOPPED",
                             "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"};
  return std::ranges::find(alive, state) != alive.end();
}

const SlurmTask* QueueSnapshot::find(const QueueMark& mark) const {
  const auto found = tasks.find({mark.submission, mark.task});
  return found == tasks.end() ? nullptr : &found->second;
}

QueueSnapshot snapshot_of_queue(const std::set<std::string>& submissions) {
  QueueSnapshot look;
  if (submissions.empty()) return look;
  // The number of names is unlimited, but the length of a command is not. Slurm sends the whole queue in any case.
  constexpr std::size_t most_names = 200;
  std::vector<std::string> words{"squeue", "--noheader", "--array", "--states=all", "--format=%j|%F|%K|%T|%r|%N"};
  if (submissions.size() <= most_names) words.push_back(fmt::format("--name={}", fmt::join(submissions, ",")));
  const ChildResult result = run_slurm(words);
  if (!result.well()) {
    look.complaint = !result.found     ? "there is no program 'squeue' in PATH"
                     : !result.in_time ? "squeue did not answer in time"
                                       : std::string(trimmed(parts_of(result.err, '\n').front()));
    if (look.complaint.empty()) look.complaint = fmt::format("squeue ended with status {}", result.status);
    return look;
  }
  for (const std::string& line : lines_of(result.out)) {
    constexpr std::size_t columns = 6;
    const std::vector<std::string> fields = parts_of(line, '|');
    if (fields.size() != columns || !submissions.contains(fields[0])) continue;
    std::int64_t task = 0;
    const auto [end, error] = std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), task);
    if (error != std::errc{}) continue;
    // A requeued task may be listed twice: with its old and its current state.
    SlurmTask found{fmt::format("{}_{}", fields[1], task), fields[3], fields[4] == "None" ? "" : fields[4], fields[5]};
    SlurmTask& known = look.tasks[{fields[0], task}];
    if (known.state.empty() || !known.alive()) known = std::move(found);
  }
  return look;
}

std::string ending_in_words(const std::string& state) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> words{{
      {"CANCELLED", "cancelled"},
      {"TIMEOUT", "out of time"},
      {"OUT_OF_MEMORY", "out of memory"},
      {"NODE_FAIL", "node failed"},
      {"PREEMPTED", "preempted"},
      {"BOOT_FAIL", "node did not start"},
      {"DEADLINE", "past its deadline"},
      {"", "lost"},
  }};
  for (const auto& [name, text] : words)
    if (name == state) return std::string(text);
  return "ended early";
}

QueueMark settle_queue_mark(const fs::path& out, const QueuedRun& queued, const QueueSnapshot& look) {
  QueueMark mark = queued.mark;
  if (!mark.ended.empty() || !look.complaint.empty()) return mark;
  const SlurmTask* task = look.find(mark);
  if (task && task->alive()) return mark;
  const auto bytes = Submission::file(out, mark.submission).read(largest_manifest);
  if (bytes.is_unreadable()) return mark; // its end is determined another time
  const auto submission = bytes ? submission_from_json(*bytes) : Parsed<Submission>::wrong("");
  if (!task && submission && submission->job.empty() && may_be_coming(out, mark.submission)) return mark;
  // The task itself, or another process, may have changed it since the snapshot.
  if (Lease::held(queued.run.claim())) return mark;
  std::optional<QueueMark> now;
  try {
    now = read_queue_mark(queued.run);
  } catch (const Unreadable&) {
    return mark;
  }
  if (!now || now->submission != mark.submission || now->task != mark.task || !now->ended.empty())
    return now.value_or(mark);

  const std::string log = Submission::log(out, mark.submission, mark.task).read_end(end_of_log).value.value_or("");
  const std::string job = task                                     ? task->job
                          : submission && !submission->job.empty() ? fmt::format("{}_{}", submission->job, mark.task)
                                                                   : "";
  std::string state = task ? task->state : forgotten_state(job, log);
  // For a task that failed or ended by itself, the reason is in its log.
  if (state == "FAILED" || state == "COMPLETED")
    if (const std::string said = ending_in_log(log); !said.empty()) state = said;
  mark.ended = ending_in_words(state);
  const std::string who = job.empty() ? fmt::format("'{}'", mark.submission) : fmt::format("job {}", job);
  if (mark.ended == "lost") mark.details = fmt::format("Slurm does not know {} any more", who);
  else if (mark.ended == "ended early")
    mark.details = fmt::format("{} ended as {} before the run did; the last lines of its log: {}", who, state,
                               last_words(log));
  else mark.details = fmt::format("{}, Slurm's {}{}", who, state, advice_for(state));
  try {
    write_queue_mark(queued.run, mark);
  } catch (const Failed&) {
    // A caller that can only read still gets the result.
  }
  return mark;
}

bool is_for_slurm(std::string_view variable) {
  // All variables of these programs are removed, because Heed passes all options that they need.
  constexpr std::string_view programs[] = {"SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_"};
  constexpr std::string_view others[] = {
      // Variables that conflict with Heed's own arguments or its tasks: the array's tasks and names, outputs,
      // requeuing, signals, environment, and waiting.
      "SBATCH_ARRAY_INX", "SBATCH_BATCH", "SBATCH_CLUSTERS", "SBATCH_CPUS_PER_TASK", "SBATCH_DEBUG", "SBATCH_ERROR",
      "SBATCH_EXPORT", "SBATCH_IGNORE_PBS", "SBATCH_INPUT", "SBATCH_JOB_NAME", "SBATCH_NO_REQUEUE", "SBATCH_OPEN_MODE",
      "SBATCH_OUTPUT", "SBATCH_REQUEUE", "SBATCH_SIGNAL", "SBATCH_WAIT", "SLURM_EXPORT_ENV", "SLURM_OPEN_MODE",
      // Variables that change how Slurm's programs print and exit.
      "SLURM_BITSTR_LEN", "SLURM_CONF_OUT", "SLURM_DEBUG_FLAGS", "SLURM_EXIT_ERROR", "SLURM_TIME_FORMAT",
      "SLURM_TOPO_LEN"};
  return std::ranges::none_of(programs, [&](std::string_view prefix) { return variable.starts_with(prefix); }) &&
         std::ranges::find(others, variable) == std::end(others);
}

ChildResult run_slurm(const std::vector<std::string>& words, std::string_view input) {
  return run_child(words, input, std::chrono::seconds(60), is_for_slurm);
}

} // namespace heed
