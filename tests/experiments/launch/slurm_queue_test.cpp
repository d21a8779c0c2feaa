// Tests of what Slurm reports about runs and what Heed writes into their folders. tests/cluster tests a real Slurm.
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/launch/fake_slurm.hpp"

#include <chrono>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string ids[] = {"00000000000000a0", "00000000000000b0", "00000000000000c0"};

/// A run in task 2 of a job array, and Slurm's answer about it.
struct Waiting {
  FakeSlurm slurm;
  Scratch out;
  QueuedRun queued{prepare_run(out.path, ids[2], ""), {"heed-s-1", 2}};

  Waiting() {
    write_queue_mark(queued.run, queued.mark);
    submit("7");
  }

  void submit(const std::string& job) {
    fs::create_directories(Submission::folder(out.path, "heed-s-1"));
    put(Submission::file(out.path, "heed-s-1"),
        to_json({"heed-s-1", job, 1, "", 60, "sbatch", {{ids[0]}, {ids[1]}, {ids[2]}}}));
  }
  void says(const std::string& lines) { put(slurm.folder / "squeue.out", lines); }
  void logged(const std::string& text) { put(Submission::log(out.path, "heed-s-1", 2), text); }
  QueueMark settle() { return settle_queue_mark(out.path, queued, snapshot_of_queue({"heed-s-1"})); }
};

} // namespace

TEST_CASE("a submission is read as it was written", "[sweep][slurm]") {
  const Submission written{"heed-a.b_c-1", "17", 3, "avx2", 7200.5, "sbatch '--x' \"y\"", {{ids[0], ids[1]}, {ids[2]}}};
  const auto read = submission_from_json(to_json(written));
  REQUIRE(read);
  CHECK(read->name == written.name);
  CHECK(read->job == written.job);
  CHECK(read->threads == written.threads);
  CHECK(read->kernels == written.kernels);
  CHECK(read->seconds == written.seconds);
  CHECK(read->command == written.command);
  CHECK(read->tasks == written.tasks);
  for (const int threads : {1, 4096})
    CHECK(submission_from_json(to_json({"heed-a", "", threads, "", 0, "", {}}))->threads == threads);
  for (const char* wrong : {"", "{", "[]", "{\"name\": 3}", R"({"name": "heed-a", "job": "", "threads": 1, "seconds": 1,
       "command": "", "tasks": [["00000000000000a0"], [2]]})"})
    CHECK_FALSE(submission_from_json(wrong));
}

TEST_CASE("names that a submission has are no paths and no options of programs", "[sweep][slurm]") {
  const Submission right{"heed-a-1", "17", 1, "avx2", 60, "sbatch", {{ids[0]}}};
  REQUIRE(submission_from_json(to_json(right)));
  const auto error_of = [&](const auto& change) {
    Submission submission = right;
    change(submission);
    return submission_from_json(to_json(submission)).error;
  };
  for (const char* id :
       {"/etc", "../../etc", "", "00000000000000a", "00000000000000a00", "00000000000000A0", "00000000000/../a"})
    CHECK_THAT(error_of([&](Submission& s) { s.tasks = {{ids[1], id}}; }), Contains("is not the ID of a run"));
  for (const char* name : {"", "../../x", "heed-/x", "--help", "heed-a b", "x"})
    CHECK_THAT(error_of([&](Submission& s) { s.name = name; }), Contains("is not the name of a submission"));
  for (const char* job : {"--help", "1_2", "12 ", "x"})
    CHECK_THAT(error_of([&](Submission& s) { s.job = job; }), Contains("is not the number of a job"));
  for (const char* kernels : {"--tell", "a b", "../x"})
    CHECK_THAT(error_of([&](Submission& s) { s.kernels = kernels; }), Contains("is not the name of kernels"));
  CHECK(submission_from_json(to_json({"heed-a-1", "", 1, "", 1e300, "", {}}))->seconds == 1e9);
}

TEST_CASE("a mark that names no submission is a damaged one", "[sweep][slurm]") {
  Waiting run;
  REQUIRE(read_queue_mark(run.queued.run));
  for (const QueueMark& mark :
       {QueueMark{"../../x", 2}, QueueMark{"", 2}, QueueMark{"--help", 2}, QueueMark{"heed-s-1", -1}}) {
    write_queue_mark(run.queued.run, mark);
    CHECK_FALSE(read_queue_mark(run.queued.run));
    CHECK_FALSE(waits_in_queue(run.queued.run));
  }
}

TEST_CASE("the queue's lines are read, and those of others passed over", "[sweep][slurm]") {
  FakeSlurm slurm;
  put(slurm.folder / "squeue.out", "heed-a-1|12|0|RUNNING|None|n1\n"
                                   "heed-a-1|12|1|PENDING|QOSMaxJobsPerUserLimit|\n"
                                   "heed-a-1|12|2|CANCELLED|None|\n"
                                   "heed-a-1|12|2|PENDING|BeginTime|\n"
                                   "heed-b-1|13|0|RUNNING|None|n2\n"
                                   "someone's|14|N/A|RUNNING|None|n2\n\nodd\n");
  const QueueSnapshot look = snapshot_of_queue({"heed-a-1"});
  CHECK(look.complaint.empty());
  CHECK(look.tasks.size() == 3);
  const SlurmTask* running = look.find({"heed-a-1", 0});
  REQUIRE(running);
  CHECK(running->job == "12_0");
  CHECK(running->nodes == "n1");
  CHECK(running->reason.empty());
  CHECK(running->alive());
  CHECK(look.find({"heed-a-1", 1})->reason == "QOSMaxJobsPerUserLimit");
  CHECK(look.find({"heed-a-1", 2})->state == "PENDING"); // it was requeued
  CHECK_FALSE(look.find({"heed-a-1", 3}));
  CHECK(snapshot_of_queue({}).tasks.empty());

  put(slurm.folder / "squeue.refusal", "slurm_load_jobs error: Unable to contact slurm controller\nmore\n");
  CHECK(snapshot_of_queue({"heed-a-1"}).complaint == "slurm_load_jobs error: Unable to contact slurm controller");
}

TEST_CASE("states that end a task, and Heed's words for them", "[sweep][slurm]") {
  for (const char* state : {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUED"})
    CHECK(SlurmTask{"1_0", state, "", ""}.alive());
  for (const char* state : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED"})
    CHECK_FALSE(SlurmTask{"1_0", state, "", ""}.alive());
  CHECK(ending_in_words("CANCELLED") == "cancelled");
  CHECK(ending_in_words("TIMEOUT") == "out of time");
  CHECK(ending_in_words("OUT_OF_MEMORY") == "out of memory");
  CHECK(ending_in_words("NODE_FAIL") == "node failed");
  CHECK(ending_in_words("PREEMPTED") == "preempted");
  CHECK(ending_in_words("") == "lost");
  CHECK(ending_in_words("FAILED") == "ended early");
}

TEST_CASE("a run that waits or runs keeps its mark; one that Slurm ended is told why", "[sweep][slurm]") {
  Waiting run;
  run.says("heed-s-1|7|2|PENDING|Priority|\n");
  CHECK(run.settle().ended.empty());
  CHECK(waits_in_queue(run.queued.run));

  run.says("heed-s-1|7|2|TIMEOUT|None|n1\n");
  QueueMark mark = run.settle();
  CHECK(mark.ended == "out of time");
  CHECK_THAT(mark.details, Contains("7_2") && Contains("TIMEOUT") && Contains("slurm.time"));
  CHECK_FALSE(waits_in_queue(run.queued.run));
  CHECK(read_queue_mark(run.queued.run)->ended == "out of time");
}

TEST_CASE("Slurm that doesn't answer ends nothing", "[sweep][slurm]") {
  Waiting run;
  put(run.slurm.folder / "squeue.refusal", "no answer\n");
  CHECK(run.settle().ended.empty());
}

TEST_CASE("a task that Slurm forgot is told of by its log, and else by the accounting", "[sweep][slurm]") {
  Waiting run;
  SECTION("nothing is known") {
    const QueueMark mark = run.settle();
    CHECK(mark.ended == "lost");
    CHECK_THAT(mark.details, Contains("7_2"));
  }
  SECTION("the log") {
    run.logged("heed slurm-task: begins\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO "
               "TIME LIMIT ***\n");
    CHECK(run.settle().ended == "out of time");
  }
  SECTION("the log's last start alone") {
    run.logged("heed slurm-task: begins\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026 DUE TO TIME LIMIT ***\n"
               "heed slurm-task: begins\nslurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-02T03:04:05 ***\n");
    CHECK(run.settle().ended == "cancelled");
  }
  SECTION("the accounting, which is asked for the task") {
    run.slurm.script("sacct", "case \"$*\" in *7_2*) echo 'OUT_OF_MEMORY';; esac");
    CHECK(run.settle().ended == "out of memory");
  }
  SECTION("the accounting of one who cancelled") {
    run.slurm.script("sacct", "echo 'CANCELLED by 1000'");
    CHECK(run.settle().ended == "cancelled");
  }
}

TEST_CASE("a task that failed by itself has its log's last words", "[sweep][slurm]") {
  Waiting run;
  run.says("heed-s-1|7|2|FAILED|NonZeroExitCode|n1\n");
  run.logged("heed slurm-task: begins\nexec: /gone/heed: not found\n");
  const QueueMark mark = run.settle();
  CHECK(mark.ended == "ended early");
  CHECK_THAT(mark.details, Contains("FAILED") && Contains("/gone/heed: not found"));
}

TEST_CASE("what is just being submitted is not lost yet", "[sweep][slurm]") {
  Waiting run;
  run.submit("");
  CHECK(run.settle().ended.empty());
  // The process that made it died long ago.
  fs::last_write_time(Submission::file(run.out.path, "heed-s-1"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(run.settle().ended == "lost");
}

TEST_CASE("what somebody has, or another has dealt with, is left alone", "[sweep][slurm]") {
  Waiting run;
  SECTION("it runs") {
    const auto claim = Lease::attempt(run.queued.run.claim());
    REQUIRE(claim);
    CHECK(run.settle().ended.empty());
  }
  SECTION("it has come to its end meanwhile") {
    leave_queue(run.queued.run);
    run.settle();
    CHECK_FALSE(read_queue_mark(run.queued.run));
  }
  SECTION("it was submitted again meanwhile") {
    write_queue_mark(run.queued.run, {"heed-s-2", 0});
    CHECK(run.settle().submission == "heed-s-2");
    CHECK(waits_in_queue(run.queued.run));
  }
}
