#include "experiments/launch/slurm_launcher.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>

namespace heed {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// How often squeue is called; the controller also serves others. The end of a run is seen in its folder at once.
constexpr std::chrono::seconds between_looks{10};
/// Folders that are checked in one call of `ended`.
constexpr std::size_t folders_a_call = 20;

/// Safety margins for requests, because the plan's estimate is rough and was made on this machine.
constexpr double time_factor = 3, least_seconds = 600, memory_factor = 1.5, memory_more = 256e6;

std::string name_of_array(const std::string& label) {
  std::string name;
  for (const char c : label)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '-';
  constexpr std::size_t longest = 40, digits = 10;
  static std::size_t count = 0;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("heed-{}-{}", name.substr(0, longest),
                     content_hash(fmt::format("{} {} {} {}", host, ::getpid(), now, count++)).substr(0, digits));
}

/// Where tasks' logs are written (Submission::log). sbatch reads --output as a pattern: %a is the task's number, %% is
/// one %. If the path has a backslash, it is doubled and sbatch then expands no pattern, so that all tasks would share
/// one log. In this case the script redirects each task's output, and the shared log has only Slurm's own messages.
struct TaskLogs {
  std::string output, first_line;

  explicit TaskLogs(const fs::path& folder) {
    const std::string text = folder.string();
    const bool parted = text.find('\\') != std::string::npos;
    output = parted ? replaced(text, {{'\\', "\\\\"}}) + "/slurm.txt" : replaced(text, {{'%', "%%"}}) + "/%a.txt";
    if (parted) first_line = fmt::format("exec >>{}/\"$SLURM_ARRAY_TASK_ID\".txt 2>&1\n", in_shell_quotes(text));
  }
};

/// How many tasks an array may have, from `scontrol show config`.
std::size_t longest_array() {
  constexpr std::size_t usual = 1000;
  const ChildResult result = run_slurm({"scontrol", "show", "config"});
  for (const std::string& line : lines_of(result.out))
    if (line.starts_with("MaxArraySize")) {
      std::size_t size = 0;
      const std::size_t digit = line.find_first_of("0123456789");
      if (digit == std::string::npos) break;
      std::from_chars(line.data() + digit, line.data() + line.size(), size);
      return std::max<std::size_t>(size, 2) - 1; // one more than the highest index
    }
  return usual;
}

} // namespace

SlurmLauncher::SlurmLauncher(fs::path program, fs::path out, std::string label, SlurmSettings settings,
                             std::function<RunNeed(const RunFolder&)> need)
    : program_(std::move(program)), out_(fs::absolute(out).lexically_normal()), label_(std::move(label)),
      settings_(std::move(settings)), need_(std::move(need)) {}

std::vector<std::string> SlurmLauncher::words_for_all() const {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  };
  add("account", settings_.account);
  add("partition", settings_.partition);
  add("qos", settings_.qos);
  words.insert(words.end(), settings_.options.begin(), settings_.options.end());
  return words;
}

void SlurmLauncher::refuse(const ChildResult& result) const {
  const std::string said(trimmed(result.err.empty() ? result.out : result.err));
  std::string hint;
  if (!result.in_time || said.find("ontact slurm controller") != std::string::npos ||
      said.find("timed out") != std::string::npos) {
    hint = "\n      Slurm's controller does not answer; jobs that were submitted before continue. Try again later";
  } else if (said.find("configuration source") != std::string::npos ||
             said.find("process configuration file") != std::string::npos) {
    hint = "\n      Slurm is installed here, but knows of no cluster: log in to a node of one";
  } else if (said.find("artition") != std::string::npos) {
    const ChildResult partitions = run_slurm({"sinfo", "--noheader", "--format=%R"});
    const std::vector<std::string> names = lines_of(partitions.out);
    hint = fmt::format("{}\n      the cluster has {}; choose one with slurm.partition=NAME",
                       settings_.partition.empty() ? "" : did_you_mean(settings_.partition, names),
                       names.empty() ? "no visible partition" : fmt::format("{}", fmt::join(names, ", ")));
  } else if (said.find("ime limit") != std::string::npos) {
    hint = "\n      ask for another time limit with slurm.time=HH:MM:SS, or for shorter tasks with slurm.task_minutes";
  } else if (said.find("account") != std::string::npos) {
    hint = "\n      choose the account with slurm.account=NAME";
  } else if (said.find("emory") != std::string::npos) {
    hint = "\n      ask for another size with slurm.memory=SIZE";
  } else if (said.find("configuration is not available") != std::string::npos) {
    hint = "\n      no node has the requested resources; ask for other cores or memory with slurm.cpus=N, "
           "slurm.memory=SIZE";
  }
  throw Refused(fmt::format("Slurm refuses: {}{}", said.empty() ? "sbatch did not answer in time" : said, hint));
}

void SlurmLauncher::check() const {
  for (const char* program : {"sbatch", "squeue", "scontrol"})
    if (!has_program(program))
      throw Refused(
          fmt::format("Slurm is not installed here: there is no program '{}' in PATH. Log in to a node of the "
                      "cluster that has it, or leave out --on slurm to run here",
                      program));
  if (std::getenv("SBATCH_CLUSTERS"))
    throw Refused("SBATCH_CLUSTERS is set. Only sbatch reads it, so Heed would not find its jobs: set SLURM_CLUSTERS "
                  "instead, or unset it");
  // Heed's own arguments come first: a user's option without its value must not consume --test-only.
  std::vector<std::string> words{"sbatch", "--test-only",
                                 fmt::format("--cpus-per-task={}", std::max<std::int64_t>(settings_.cpus, 1))};
  if (!settings_.time.empty()) words.push_back("--time=" + settings_.time);
  if (!settings_.memory.empty()) words.push_back("--mem=" + settings_.memory);
  const std::vector<std::string> users = words_for_all();
  words.insert(words.end(), users.begin(), users.end());
  const ChildResult result = run_slurm(words, "#!/bin/sh\n");
  if (!result.well()) refuse(result);
}

void SlurmLauncher::look(bool newest) {
  if (!newest && Clock::now() - looked_ < between_looks) return;
  look_ = snapshot_of_queue(known_);
  looked_ = Clock::now();
}

/// The run's mark, if its task is in the queue.
std::optional<QueueMark> SlurmLauncher::live_mark(const RunFolder& run, bool newest) {
  const auto mark = read_queue_mark(run);
  if (!mark || !mark->ended.empty()) return std::nullopt;
  const bool is_new = known_.insert(mark->submission).second;
  look(newest || is_new);
  const QueueMark settled = settle_queue_mark(out_, {run, *mark}, look_);
  return settled.ended.empty() ? std::optional(settled) : std::nullopt;
}

bool SlurmLauncher::has(const RunFolder& run) try {
  return live_mark(run, false).has_value();
} catch (const Unreadable&) {
  return true; // it may be queued, and is checked again later
}

void SlurmLauncher::follow(std::size_t worker, const RunFolder& run, const QueueMark& mark) {
  known_.insert(mark.submission);
  followed_.push_back({worker, run, mark});
}

std::size_t SlurmLauncher::start(const RunFolder& run, int threads) {
  const std::size_t worker = ++started_;
  if (const auto mark = live_mark(run, false)) follow(worker, run, *mark);
  else wanted_.push_back({worker, run, threads, {}});
  return worker;
}

/// Packs runs into tasks: in order, runs with the same number of threads together, until a task takes its minutes.
std::vector<std::vector<SlurmLauncher::Wanted>> SlurmLauncher::packed(std::vector<Wanted> wanted) const {
  const double most = settings_.task_minutes * 60;
  std::vector<std::vector<Wanted>> tasks;
  double seconds = 0;
  for (Wanted& run : wanted) {
    const double takes = run.need.seconds;
    const bool fits = !tasks.empty() && tasks.back().front().threads == run.threads && takes > 0 && seconds > 0 &&
                      seconds + takes <= most;
    if (!fits) {
      tasks.emplace_back();
      seconds = 0;
    }
    seconds += takes;
    tasks.back().push_back(std::move(run));
  }
  return tasks;
}

std::vector<std::size_t> SlurmLauncher::submit(const std::function<bool()>& stop_requested) {
  if (wanted_.empty()) return {};
  std::vector<Wanted> wanted = std::exchange(wanted_, {});
  OutputFile(out_, "slurm").make_folder();
  // One process at a time: two processes that follow the same sweep would both submit all of it.
  auto lease = Lease::wait(OutputFile(out_, "slurm/claim"), stop_requested);
  if (!lease) {
    std::vector<std::size_t> given_up;
    for (const Wanted& run : wanted) given_up.push_back(run.worker);
    return given_up;
  }
  std::vector<Wanted> missing;
  bool newest = true;
  for (Wanted& run : wanted) {
    if (const auto mark = live_mark(run.run, newest)) {
      follow(run.worker, run.run, *mark);
    } else if (state_of(run.run) == RunState::finished) {
      follow(run.worker, run.run, {}); // finished by another process in the meantime
    } else {
      run.need = need_(run.run);
      missing.push_back(std::move(run));
    }
    newest = false;
  }
  if (missing.empty()) return {};
  std::vector<std::vector<Wanted>> tasks = packed(std::move(missing));
  const std::size_t most = longest_array();
  while (!tasks.empty()) {
    if (!lease->confirm())
      throw Failed(fmt::format("this process was halted, and another process took over the jobs of '{}' meanwhile; run "
                               "the same command again to follow them",
                               out_.string()));
    const std::size_t n = std::min(most, tasks.size());
    submit({tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(n)});
    tasks.erase(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return {};
}

void SlurmLauncher::submit(const std::vector<std::vector<Wanted>>& tasks) {
  Submission submission;
  submission.name = name_of_array(label_);
  submission.threads = tasks.front().front().threads;
  submission.kernels = kernels_;
  double seconds = 0, bytes = 0;
  bool known = true;
  for (const auto& task : tasks) {
    submission.tasks.emplace_back();
    double takes = 0;
    for (const Wanted& run : task) {
      submission.tasks.back().push_back(run.run.id());
      takes += run.need.seconds;
      known = known && run.need.seconds > 0;
      bytes = std::max(bytes, run.need.bytes);
    }
    seconds = std::max(seconds, takes);
  }
  std::string time = settings_.time, memory = settings_.memory;
  if (time.empty() && known) time = slurm_time(time_factor * seconds + least_seconds);
  constexpr double megabyte = 1e6;
  if (memory.empty() && bytes > 0)
    memory = fmt::format("{}M", static_cast<std::int64_t>(std::ceil((memory_factor * bytes + memory_more) / megabyte)));
  submission.seconds = seconds_of_slurm_time(time).value_or(0);

  const OutputFile folder = Submission::folder(out_, submission.name), file = Submission::file(out_, submission.name);
  std::vector<std::string> words = words_for_all();
  words.insert(words.begin(), "sbatch");
  const std::size_t last = tasks.size() - 1;
  const TaskLogs logs(folder.path());
  words.insert(words.end(),
               {"--parsable", "--requeue", "--open-mode=append", "--job-name=" + submission.name,
                "--output=" + logs.output, fmt::format("--cpus-per-task={}", submission.threads),
                fmt::format("--array=0-{}{}", last,
                            settings_.at_once > 0 ? fmt::format("%{}", settings_.at_once) : std::string())});
  if (!time.empty()) words.push_back("--time=" + time);
  if (!memory.empty()) words.push_back("--mem=" + memory);
  submission.command = fmt::format("{}", fmt::join(words, " "));

  // The marks are written first. If this process is killed after this, no process submits these runs a second time.
  folder.make_folder(); // Slurm ends a job at once if it can't write its log
  file.write(to_json(submission));
  std::vector<Followed> followed;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (const Wanted& run : tasks[t]) {
      const QueueMark mark{submission.name, static_cast<std::int64_t>(t)};
      write_queue_mark(run.run, mark);
      followed.push_back({run.worker, run.run, mark});
    }
  // While the program is being rebuilt, it can't be executed for some seconds.
  constexpr int longest_link = 600;
  const std::string script = fmt::format("#!/bin/sh\n{0}n=0\nuntil [ -x {1} ] || [ $n -ge {3} ]; do sleep 1; "
                                         "n=$((n + 1)); done\nexec {1} slurm-task {2}\n",
                                         logs.first_line, in_shell_quotes(program_.string()),
                                         in_shell_quotes(file.string()), longest_link);
  const ChildResult result = run_slurm(words, script);
  if (!result.well() && result.in_time) {
    for (const Followed& run : followed) leave_queue(run.run);
    file.remove();
    refuse(result);
  }
  const std::string_view job = trimmed(std::string_view(result.out).substr(0, result.out.find_first_of(";\n")));
  if (is_job_number(job)) submission.job = job; // JOB;CLUSTER; without a number, it is found by its name
  file.write(to_json(submission));
  for (Followed& run : followed) follow(run.worker, run.run, run.mark);
  looked_ = Clock::now(); // new submissions are not checked at once
}

/// How a run ended, according to its folder; none while it waits or runs.
std::optional<WorkerEnd> SlurmLauncher::end_of(Followed& followed) {
  std::optional<QueueMark> mark;
  try {
    mark = read_queue_mark(followed.run);
  } catch (const Unreadable&) {
    return std::nullopt; // checked again later
  }
  WorkerEnd end;
  end.worker = followed.worker;
  if (mark && !mark->ended.empty()) {
    end.interruption = fmt::format("{} ({})", mark->ended, mark->details);
    return end;
  }
  if (mark) {
    followed.mark = *mark;
    return std::nullopt;
  }
  if (Lease::held(followed.run.claim())) return std::nullopt; // about to be released, or taken over by another process
  end.status = state_of(followed.run) == RunState::finished ? 0 : 1;
  return end;
}

std::vector<WorkerEnd> SlurmLauncher::ended() {
  std::vector<WorkerEnd> ends;
  if (followed_.empty()) return ends;
  if (Clock::now() - looked_ >= between_looks) {
    look(true);
    for (const Followed& followed : followed_)
      if (!followed.mark.submission.empty()) settle_queue_mark(out_, {followed.run, followed.mark}, look_);
  }
  for (std::size_t i = 0; i < folders_a_call && !followed_.empty(); ++i) {
    next_ = next_ < followed_.size() ? next_ : 0;
    if (auto end = end_of(followed_[next_])) {
      ends.push_back(std::move(*end));
      followed_.erase(followed_.begin() + static_cast<std::ptrdiff_t>(next_));
    } else {
      ++next_;
    }
    if (i + 1 >= followed_.size()) break;
  }
  return ends;
}

std::set<std::string> SlurmLauncher::obstacles() const {
  // Reasons that end without any action.
  constexpr std::array passing{"",           "None",        "Priority",          "Resources",       "BeginTime",
                               "Dependency", "Prolog",      "JobArrayTaskLimit", "NodeDown",        "Cleaning",
                               "Licenses",   "Reservation", "PartitionDown",     "ReqNodeNotAvail,"};
  std::set<std::string> found;
  for (const auto& [at, task] : look_.tasks)
    if (task.state == "PENDING" && std::ranges::find(passing, task.reason) == passing.end())
      found.insert(fmt::format("job {} waits: {}", task.job.substr(0, task.job.find('_')), task.reason));
  return found;
}

std::set<std::string> SlurmLauncher::jobs() const {
  std::set<std::string> jobs, names;
  for (const Followed& followed : followed_) names.insert(followed.mark.submission);
  for (const std::string& name : names)
    if (const auto bytes = Submission::file(out_, name).read(largest_manifest))
      if (const auto submission = submission_from_json(*bytes); submission && !submission->job.empty())
        jobs.insert(submission->job);
  return jobs;
}

} // namespace heed
