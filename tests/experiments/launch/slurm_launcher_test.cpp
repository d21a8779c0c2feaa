// Tests of how runs are submitted to Slurm, with shell scripts in place of Slurm. tests/cluster tests a real Slurm.
#include "autograd/error.hpp"
#include "experiments/launch/slurm_launcher.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/child.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/launch/fake_slurm.hpp"

#include <fmt/format.h>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

using namespace heed;
using heed::test::Environment;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
namespace fs = std::filesystem;
using Sizes = std::vector<std::size_t>;

namespace {

bool never() { return false; }

struct Cluster {
  FakeSlurm slurm;
  Scratch out;
  SlurmSettings settings;
  RunNeed need{60, 100e6};
  std::vector<RunFolder> runs;

  explicit Cluster(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) runs.push_back(prepare_run(out.path, fmt::format("{:016x}", i), ""));
  }

  std::unique_ptr<SlurmLauncher> launcher() {
    return std::make_unique<SlurmLauncher>("/opt/it's/heed", out.path, "a sweep", settings,
                                           [this](const RunFolder&) { return need; });
  }
  void hand_over() {
    const auto it = launcher();
    for (const RunFolder& run : runs) it->start(run, 2);
    it->submit(never);
  }
  std::vector<Submission> submissions() const {
    std::vector<Submission> all;
    for (const auto& entry : fs::directory_iterator(out.path / "slurm"))
      if (fs::exists(entry.path() / "submission.json"))
        all.push_back(*submission_from_json(content(entry.path() / "submission.json")));
    std::ranges::sort(all, {}, &Submission::job);
    return all;
  }
  Sizes sizes(const Submission& submission) const {
    Sizes sizes;
    for (const auto& task : submission.tasks) sizes.push_back(task.size());
    return sizes;
  }
  /// Puts everything that was submitted into the queue.
  void queue(const std::string& state) {
    std::string lines;
    for (const Submission& submission : submissions())
      for (std::size_t t = 0; t < submission.tasks.size(); ++t)
        lines += submission.name + "|" + submission.job + "|" + std::to_string(t) + "|" + state + "|None|\n";
    put(slurm.folder / "squeue.out", lines);
  }
};

} // namespace

TEST_CASE("short runs are packed until a task takes its minutes", "[sweep][slurm]") {
  Cluster cluster(25);
  cluster.hand_over(); // a minute for each run, ten minutes for each task
  REQUIRE(cluster.submissions().size() == 1);
  const Submission submission = cluster.submissions().front();
  CHECK(cluster.sizes(submission) == Sizes{10, 10, 5});
  CHECK(submission.job == "1");
  CHECK(submission.threads == 2);
  const std::string words = cluster.slurm.words();
  CHECK_THAT(words, Contains("--array=0-2\n") && Contains("--cpus-per-task=2\n") && Contains("--requeue\n"));
  CHECK_THAT(words, Contains("--time=00:40:00\n")); // three times 600 s, and 600 s
  CHECK_THAT(words, Contains("--mem=406M\n"));      // 1.5 times 100 MB, and 256 MB
  CHECK(submission.seconds == 2400);
  CHECK_THAT(content(cluster.slurm.folder / "sbatch.script"), Contains("exec '/opt/it'\\''s/heed' slurm-task '"));
  for (std::size_t i = 0; i < cluster.runs.size(); ++i) {
    const auto mark = read_queue_mark(cluster.runs[i]);
    REQUIRE(mark);
    CHECK(mark->submission == submission.name);
    CHECK(mark->task == static_cast<std::int64_t>(i / 10));
    CHECK(state_of(cluster.runs[i]) == RunState::queued);
  }
}

TEST_CASE("runs of less than a second are packed, too", "[sweep][slurm]") {
  Cluster cluster(3);
  cluster.need.seconds = 0.25;
  cluster.hand_over();
  CHECK(cluster.sizes(cluster.submissions().front()) == Sizes{3});
}

TEST_CASE("long runs, and those whose time nobody knows, are tasks of their own", "[sweep][slurm]") {
  Cluster cluster(3);
  SECTION("long") { cluster.need.seconds = 3600; }
  SECTION("not known") { cluster.need.seconds = 0; }
  cluster.hand_over();
  CHECK(cluster.sizes(cluster.submissions().front()) == Sizes{1, 1, 1});
  if (cluster.need.seconds == 0) CHECK_THAT(cluster.slurm.words(), !Contains("--time"));
  else CHECK_THAT(cluster.slurm.words(), Contains("--time=03:10:00"));
}

TEST_CASE("arrays are no longer than the cluster allows", "[sweep][slurm]") {
  Cluster cluster(5);
  cluster.need.seconds = 3600;
  put(cluster.slurm.folder / "scontrol.out", "Configuration data\nMaxArraySize            = 3\nMaxJobCount = 7\n");
  cluster.hand_over();
  const auto submissions = cluster.submissions();
  REQUIRE(submissions.size() == 3);
  CHECK(cluster.sizes(submissions[0]) == Sizes{1, 1});
  CHECK(cluster.sizes(submissions[2]) == Sizes{1});
}

TEST_CASE("the user's settings go to sbatch, and win over the estimate", "[sweep][slurm]") {
  Cluster cluster(1);
  cluster.settings.account = "lab";
  cluster.settings.partition = "night";
  cluster.settings.qos = "low";
  cluster.settings.time = "2-0";
  cluster.settings.memory = "9G";
  cluster.settings.at_once = 4;
  cluster.settings.options = {"--comment=two words"};
  cluster.hand_over();
  CHECK_THAT(cluster.slurm.words(), Contains("--account=lab\n") && Contains("--partition=night\n") &&
                                        Contains("--qos=low\n") && Contains("--time=2-0\n") && Contains("--mem=9G\n") &&
                                        Contains("--array=0-0%4\n") && Contains("--comment=two words\n"));
  CHECK(cluster.submissions().front().seconds == 2 * 86400);
}

TEST_CASE("what waits or runs is followed, and not submitted again", "[sweep][slurm]") {
  Cluster cluster(2);
  cluster.hand_over();
  cluster.queue("PENDING");
  const auto again = cluster.launcher();
  CHECK(again->has(cluster.runs[0]));
  const std::size_t first = again->start(cluster.runs[0], 2), second = again->start(cluster.runs[1], 2);
  again->submit(never);
  CHECK(cluster.slurm.submitted() == 1);
  CHECK(again->jobs() == std::set<std::string>{"1"});
  CHECK(again->ended().empty());
  // One run finishes; its folder records this.
  put(cluster.runs[0].manifest(), R"({"format": 1, "run": "0000000000000000", "outcome": "finished"})");
  leave_queue(cluster.runs[0]);
  const auto ends = again->ended();
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].worker == first);
  CHECK(ends[0].status == 0);
  CHECK(second != first);
}

TEST_CASE("of all runs of a submission, the queue is asked once", "[sweep][slurm]") {
  Cluster cluster(20);
  cluster.hand_over();
  cluster.queue("PENDING");
  cluster.slurm.script("squeue", "printf x >> $here/looks; cat $here/squeue.out");
  const auto again = cluster.launcher();
  for (const RunFolder& run : cluster.runs) again->start(run, 2);
  CHECK(content(cluster.slurm.folder / "looks") == "x");
}

TEST_CASE("what Slurm ended is submitted again", "[sweep][slurm]") {
  Cluster cluster(2);
  cluster.hand_over();
  cluster.queue("NODE_FAIL");
  CHECK_FALSE(cluster.launcher()->has(cluster.runs[0]));
  cluster.hand_over();
  CHECK(cluster.slurm.submitted() == 2);
  CHECK(waits_in_queue(cluster.runs[0]));
}

TEST_CASE("logs go to the submission's folder, whatever its name holds", "[sweep][slurm]") {
  for (const auto& [name, output, line] :
       {std::tuple{"a%ab %% c", "/a%%ab %%%% c/slurm/NAME/%a.txt", ""},
        {"it's \"here\"", "/it's \"here\"/slurm/NAME/%a.txt", ""},
        {"a%a\\b'", "/a%a\\\\b'/slurm/NAME/slurm.txt",
         "\nexec >>'ROOT/a%a\\b'\\''/slurm/NAME'/\"$SLURM_ARRAY_TASK_ID\".txt 2>&1\n"}}) {
    INFO(name);
    Cluster cluster(1);
    const std::string root = cluster.out.path.string();
    const RunFolder run = prepare_run(cluster.out / name, "00000000000000f0", "");
    SlurmLauncher launcher("/opt/heed", cluster.out / name, "s", cluster.settings,
                           [&](const RunFolder&) { return cluster.need; });
    launcher.start(run, 1);
    launcher.submit(never);
    const std::string submission = read_queue_mark(run)->submission;
    const auto filled = [&](std::string text) {
      for (const auto& [what, with] : {std::pair{std::string("NAME"), submission}, {"ROOT", root}})
        for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
      return text;
    };
    CHECK_THAT(cluster.slurm.words(), Contains("--output=" + filled(root + output) + "\n"));
    CHECK_THAT(content(cluster.slurm.folder / "sbatch.script"), Contains(filled(line)) && Contains("exec '/opt/heed'"));
    CHECK(fs::is_directory(Submission::folder(cluster.out / name, submission)));
  }
}

TEST_CASE("a user's variables neither override Heed's words nor change what Slurm's programs print", "[sweep][slurm]") {
  Cluster cluster(1);
  for (const char* program : {"sbatch", "squeue", "scontrol", "sinfo"}) {
    const auto file = cluster.slurm.folder / "bin" / program;
    std::string script = content(file);
    script.insert(script.find('\n', script.find("here=")) + 1, "env > $here/" + std::string(program) + ".env\n");
    put(file, script);
  }
  std::vector<std::unique_ptr<Environment>> set;
  for (const char* name : {"SQUEUE_FORMAT", "SQUEUE_USERS", "SCONTROL_ALL", "SINFO_FORMAT", "SACCT_FORMAT",
                           "SBATCH_ARRAY_INX", "SBATCH_ERROR", "SBATCH_WAIT", "SBATCH_SIGNAL", "SBATCH_EXPORT",
                           "SBATCH_NO_REQUEUE", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_EXIT_ERROR",
                           "SBATCH_ACCOUNT", "SBATCH_PARTITION", "SLURM_CONF", "SLURM_CLUSTERS", "SQUEUED"})
    set.push_back(std::make_unique<Environment>(name, "of-the-user"));
  cluster.launcher()->check();
  cluster.hand_over();
  cluster.queue("PENDING");
  CHECK(cluster.launcher()->has(cluster.runs[0]));
  for (const char* program : {"sbatch", "squeue", "scontrol"}) {
    INFO(program);
    std::set<std::string> names;
    std::istringstream lines(content(cluster.slurm.folder / (std::string(program) + ".env")));
    for (std::string line; std::getline(lines, line);)
      if (line.ends_with("=of-the-user")) names.insert(line.substr(0, line.find('=')));
    CHECK(names ==
          std::set<std::string>{"SBATCH_ACCOUNT", "SBATCH_PARTITION", "SLURM_CONF", "SLURM_CLUSTERS", "SQUEUED"});
  }
  const Environment clusters("SBATCH_CLUSTERS", "b");
  CHECK_THROWS_WITH(cluster.launcher()->check(), Contains("SBATCH_CLUSTERS is set") && Contains("SLURM_CLUSTERS"));
}

TEST_CASE("a task waits for a program that is being built anew", "[sweep][slurm]") {
  Cluster cluster(1);
  const fs::path program = cluster.out / "it's heed";
  SlurmLauncher launcher(program, cluster.out.path, "s", cluster.settings,
                         [&](const RunFolder&) { return cluster.need; });
  launcher.start(cluster.runs[0], 1);
  launcher.submit(never);
  std::thread builder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    put(cluster.out / "aside", "#!/bin/sh\necho \"$@\"\n");
    fs::permissions(cluster.out / "aside", fs::perms::owner_all);
    fs::rename(cluster.out / "aside", program);
  });
  const ChildResult task = run_child({"sh"}, content(cluster.slurm.folder / "sbatch.script"));
  builder.join();
  CHECK(task.well());
  CHECK(task.out ==
        "slurm-task " + Submission::file(cluster.out.path, cluster.submissions().front().name).string() + "\n");
}

TEST_CASE("a test of the settings can't be taken for a job", "[sweep][slurm]") {
  Cluster cluster(1);
  cluster.settings.options = {"--comment"}; // without a value, sbatch takes the next argument as the value
  cluster.launcher()->check();
  CHECK_THAT(cluster.slurm.words(), StartsWith("--test-only\n") && EndsWith("--comment\n"));
}

TEST_CASE("a stop ends the wait for another process that submits", "[sweep][slurm]") {
  Cluster cluster(2);
  const OutputFile claim(cluster.out.path, "slurm/claim");
  OutputFile(cluster.out.path, "slurm").make_folder();
  put(claim, "");
  fs::last_write_time(claim.path(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  const auto it = cluster.launcher();
  const std::vector<std::size_t> workers{it->start(cluster.runs[0], 2), it->start(cluster.runs[1], 2)};
  int asked = 0;
  CHECK(it->submit([&] { return ++asked == 2; }) == workers);
  CHECK(it->ended().empty());
  CHECK(cluster.submissions().empty());
  CHECK_FALSE(read_queue_mark(cluster.runs[0]));
}

TEST_CASE("a refusal has Slurm's words and leaves no marks", "[sweep][slurm]") {
  Cluster cluster(2);
  cluster.settings.partition = "nihgt";
  put(cluster.slurm.folder / "sbatch.refusal", "sbatch: error: invalid partition specified: nihgt\n");
  try {
    cluster.hand_over();
    FAIL("it was not refused");
  } catch (const Refused& error) {
    CHECK_THAT(error.what(),
               Contains("invalid partition specified") && Contains("did you mean 'night'") && Contains("main, night"));
  }
  CHECK_FALSE(read_queue_mark(cluster.runs[0]));
  CHECK(cluster.submissions().empty());
}

TEST_CASE("reasons for which runs may wait for ever are told", "[sweep][slurm]") {
  Cluster cluster(1);
  cluster.hand_over();
  const std::string name = cluster.submissions().front().name;
  for (const auto& [reason, told] :
       {std::pair{"Priority", false}, {"Resources", false}, {"PartitionTimeLimit", true}}) {
    put(cluster.slurm.folder / "squeue.out", name + "|1|0|PENDING|" + reason + "|\n");
    const auto it = cluster.launcher();
    it->start(cluster.runs[0], 2);
    CHECK(it->obstacles().size() == (told ? 1 : 0));
  }
}
