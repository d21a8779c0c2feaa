// Tests of runs that several processes train together: two threads take the places of the processes, and an engine of
// three lines that of training.
#include "experiments/config/config.hpp"
#include "experiments/launch/process_group_launcher.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/worker.hpp"
#include "tests/autograd/thread_ranks.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace heed;
using Catch::Contains;

namespace {

/// A batch of 7 is refused before the process group begins. With a batch of 6, the first process fails later.
void check_of_process_group(const Config& config, const Task&) {
  if (config.train.batch == 7) throw Refused("[model] cannot take a batch of 7");
}

Outcome train_in_process_group(const Config& config, const Task&, const std::optional<Checkpoint>&,
                               const TrainingHooks& hooks) {
  if (config.train.batch == 6 && hooks.ranks->rank() == 0) throw Failed("[train] the loss is NaN");
  return Outcome::finished;
}

const Engine engine_of_process_group{.check = check_of_process_group,
                                     .cost = nullptr,
                                     .parameters = nullptr,
                                     .train = train_in_process_group,
                                     .evaluate = nullptr,
                                     .example_scores = nullptr,
                                     .outputs = nullptr,
                                     .inspect = nullptr,
                                     .inspected = nullptr,
                                     .attend = nullptr,
                                     .generate = nullptr,
                                     .attention_cost = nullptr,
                                     .added_scores = nullptr,
                                     .queries_without_keys = nullptr,
                                     .attention_operator = nullptr,
                                     .recurrence = {},
                                     .products = [] { return std::string("an abacus"); }};

WorkerParts parts_of_process_group() {
  return {[](const Config&, const std::string&) -> const Engine& { return engine_of_process_group; },
          make_task,
          [](const Config&) { return TaskFormat::language_model; },
          {"0.1.0", "gcc", "-O2", "blas"}};
}

struct EndInProcessGroup {
  WorkerEnd end;
  bool broken = false; ///< the launcher, after this end
};

/// The ends of runs with these batches, one after the other in one process group.
std::vector<EndInProcessGroup> ends_in_process_group(const std::vector<int>& batches) {
  const Scratch out;
  std::vector<EndInProcessGroup> ends;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    if (ranks.rank() > 0) return follow(ranks, parts_of_process_group());
    ProcessGroupLauncher launcher(ranks, parts_of_process_group());
    for (const int batch : batches) {
      const Config config = Settings::parse("train.batch = " + std::to_string(batch), "test").resolve();
      const std::string fingerprint = make_task(config)->fingerprint();
      launcher.start(prepare_run(out.path, run_id(config, fingerprint), to_toml(config)), 1);
      std::vector<WorkerEnd> ended;
      while ((ended = launcher.ended()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ends.push_back({ended.front(), launcher.broken()});
    }
    announce_end(ranks);
  });
  return ends;
}

} // namespace

TEST_CASE("a process group is broken by a run that fails after it had begun it, and stays so", "[sweep][launcher]") {
  const auto ends = ends_in_process_group({8, 7, 6, 9});
  REQUIRE(ends.size() == 4);
  CHECK(ends[0].end.status == 0);
  CHECK_FALSE(ends[0].broken);
  CHECK_THAT(ends[1].end.failure, Contains("cannot take a batch of 7"));
  CHECK_FALSE(ends[1].broken); // the other process knows nothing of it
  CHECK_THAT(ends[2].end.failure, Contains("the loss is NaN"));
  CHECK(ends[2].broken);
  CHECK(ends[3].end.status == 0);
  CHECK(ends[3].broken);
}
