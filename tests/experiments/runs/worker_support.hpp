// A worker with an engine of three lines, so that each test sees only the worker's own behaviour.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/worker.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed::test {

class PlainTask : public Task {
public:
  std::string refuses(TaskFormat) const override { return {}; }
  TaskSizes sizes(TaskFormat) const override { return {}; }
  void training_sequence(TaskFormat, std::uint64_t, std::int64_t, std::int64_t, Batch&, std::int64_t) const override {}
  std::int64_t evaluation_sequences(TaskFormat, Split) const override { return 0; }
  void evaluation_sequence(TaskFormat, Split, std::int64_t, Batch&, std::int64_t) const override {}
  Chance chance(TaskFormat) const override { return {}; }
  std::string own_fingerprint() const override { return "plain"; }
  std::string decode(std::span<const std::int32_t>) const override { return {}; }
  std::vector<std::int32_t> encode(std::string_view) const override { return {}; }
};

/// What happens at a step of the engine below.
struct Script {
  std::int64_t step = -1;
  std::function<void()> act;
};
inline Script script;

/// One parameter, w <- 1.5 w - step; a metrics record at every step, and a checkpoint at every third step and at the
/// end.
inline Outcome fake_train(const Config& config, const Task&, const std::optional<Checkpoint>& from,
                          const TrainingHooks& hooks) {
  double w = static_cast<double>(config.general.seed);
  std::int64_t step = 0;
  if (from) {
    std::memcpy(&w, from->tensors.at(0).bytes.data(), 8);
    step = std::stoll(from->metadata.at("step"));
  }
  const auto keep = [&] {
    Checkpoint c;
    c.metadata["step"] = std::to_string(step);
    c.tensors.push_back({"w", {}, true, std::vector<std::byte>(8)});
    std::memcpy(c.tensors[0].bytes.data(), &w, 8);
    hooks.checkpoint(c);
  };
  while (step < config.train.steps) {
    w = 1.5 * w - static_cast<double>(step++);
    if (step == script.step) script.act();
    hooks.measured({step, static_cast<double>(step), step, {{"train_loss", w}}});
    hooks.progress({step, config.train.steps, w, 1});
    const bool stop = hooks.stop_requested();
    if (step % 3 == 0 || step == config.train.steps || stop) keep();
    if (stop) return Outcome::interrupted;
  }
  return Outcome::finished;
}

inline void fake_check(const Config& config, const Task&) {
  if (config.train.batch == 7) throw Refused("[model] cannot take a batch of 7");
}

inline std::vector<ParameterShape> fake_parameters(const Config&, const Task&) { return {{"w", {}}}; }

inline const Engine fake_engine{.check = fake_check,
                                .cost = nullptr,
                                .parameters = fake_parameters,
                                .train = fake_train,
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

inline WorkerParts fake_parts() {
  return {[](const Config&, const std::string&) -> const Engine& { return fake_engine; },
          [](const Config&) -> std::unique_ptr<Task> { return std::make_unique<PlainTask>(); },
          [](const Config&) { return TaskFormat::language_model; },
          {"0.1.0", "gcc", "-O2", "blas"}};
}

inline RunFolder planned_run(const Scratch& out, const std::string& toml = "train.steps = 10\nseed = 1\n") {
  const Config config = Settings::parse(toml, "test").resolve();
  return prepare_run(out.path, run_id(config, "plain"), to_toml(config));
}

inline int work(const RunFolder& run) { return run_worker(run, 2, fake_parts()); }

/// The record of an undisturbed run, for comparison.
struct Record {
  std::string metrics, checkpoint;
  explicit Record(const RunFolder& run) : metrics(content(run.metrics())), checkpoint(content(run.checkpoint(10))) {}
  bool operator==(const Record&) const = default;
};

inline Record undisturbed() {
  const Scratch out;
  script = {};
  const RunFolder run = planned_run(out);
  REQUIRE(work(run) == 0);
  return Record(run);
}

/// Each file of a run's folder with its bytes, except files that are being written and files that only show progress.
inline std::map<std::string, std::string> all_of(const RunFolder& run) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(run.path))
    if (const std::string name = entry.path().filename(); name != "progress.json" && !name.starts_with('.'))
      out[entry.path().filename().string()] = content(entry.path());
  return out;
}

} // namespace heed::test
