// Helpers that train a whole run in a test and store its metrics and checkpoints; and tiny configurations to train.
#pragma once

#include "experiments/engines/engine.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"
#include "tests/autograd/thread_ranks.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace heed::test {

/// The outcome, metrics and checkpoints of a run.
struct History {
  Outcome outcome = Outcome::finished;
  std::vector<MetricsRecord> metrics;
  std::vector<Checkpoint> checkpoints;

  const Checkpoint& last() const { return checkpoints.at(checkpoints.size() - 1); }
  /// All values of one metric, in order.
  std::vector<double> all(const std::string& name) const {
    std::vector<double> out;
    for (const MetricsRecord& m : metrics)
      for (const auto& [key, value] : m.values)
        if (key == name) out.push_back(value);
    return out;
  }
  double final(const std::string& name) const {
    const std::vector<double> values = all(name);
    if (values.empty()) throw Failed("the run has no " + name);
    return values.back();
  }
};

/// Trains a configuration and requests a stop after `stop_at` steps (0: never).
/// @param ranks  if not null, trains as one process of this group; only rank 0 receives metrics and checkpoints
inline History train(const Config& config, const std::optional<Checkpoint>& from = {}, std::int64_t stop_at = 0,
                     Ranks* ranks = nullptr) {
  const auto task = make_task(config);
  History h;
  std::int64_t done = 0;
  TrainingHooks hooks;
  hooks.ranks = ranks;
  if (!ranks || ranks->rank() == 0) {
    hooks.measured = [&](const MetricsRecord& m) { h.metrics.push_back(m); };
    hooks.checkpoint = [&](const Checkpoint& c) { h.checkpoints.push_back(c); };
    hooks.progress = [&](const Progress& p) { done = p.step; };
    hooks.stop_requested = [&] { return stop_at > 0 && done >= stop_at; };
  }
  h.outcome = engine(config).train(config, *task, from, hooks);
  return h;
}

/// Trains with `count` ranks, each in a thread of its own. Returns what rank 0 received; throws heed::Failed if
/// another rank received metrics or checkpoints.
inline History train_together(int count, const Config& config, const std::optional<Checkpoint>& from = {},
                              std::int64_t stop_at = 0) {
  History first;
  ThreadRanks::run(count, [&](Ranks& ranks) {
    History h = train(config, from, stop_at, &ranks);
    if (ranks.rank() == 0) first = std::move(h);
    else if (!h.metrics.empty() || !h.checkpoints.empty()) throw Failed("another rank than the first was heard");
  });
  return first;
}

/// Metrics as text that is exact to the last bit. It leaves out the seconds, because they differ in every run.
inline std::string text_of(const std::vector<MetricsRecord>& metrics) {
  std::string out;
  for (const MetricsRecord& m : metrics) {
    out += fmt::format("step {} tokens {}", m.step, m.tokens);
    for (const auto& [name, value] : m.values) out += fmt::format(" {} {:a}", name, value);
    out += '\n';
  }
  return out;
}

/// All tensors of a checkpoint, exact to the last bit: names, shapes and values.
inline std::string text_of(const Checkpoint& checkpoint) {
  std::string out;
  for (const StoredTensor& t : checkpoint.tensors) {
    out += t.name + (t.float64 ? " float64" : " float32");
    for (std::int64_t extent : t.shape) out += fmt::format(" {}", extent);
    out += ' ';
    const std::size_t at = out.size();
    out.resize(at + t.bytes.size());
    std::memcpy(out.data() + at, t.bytes.data(), t.bytes.size());
    out += '\n';
  }
  return out;
}

/// The values of one tensor of a checkpoint.
inline std::vector<double> numbers_of(const Checkpoint& checkpoint, const std::string& name) {
  for (const StoredTensor& t : checkpoint.tensors) {
    if (t.name != name) continue;
    std::vector<double> out;
    const std::size_t width = t.float64 ? 8 : 4;
    for (std::size_t at = 0; at < t.bytes.size(); at += width) {
      float single = 0;
      double value = 0;
      std::memcpy(t.float64 ? static_cast<void*>(&value) : &single, t.bytes.data() + at, width);
      out.push_back(t.float64 ? value : static_cast<double>(single));
    }
    return out;
  }
  throw Failed("the checkpoint has no " + name);
}

/// The message of the heed::Failed that `work` throws; empty if it throws none.
template <class Work> std::string failure(Work work) {
  try {
    work();
  } catch (const Failed& failed) {
    return failed.what();
  }
  return "";
}

/// The configuration of a model that trains in a few milliseconds. `task` is the content of the table [task] and of the
/// task's own table; `model` and `train` are appended to the tables [model] and [train].
inline std::string tiny(const std::string& task, const std::string& model, const std::string& train = "") {
  return "seed = 1\n[task]\n" + task + R"(
[model]
layers = 2
width = 8
heads = 2
init_std = 0.3
)" + model +
         R"(
[train]
steps = 6
batch = 7
shards = 3
threads = 1
learning_rate = 0.01
log_every = 1
evaluate_every = 3
)" + train;
}

/// The task `copy` with 2 to 4 symbols out of 5, and `examples` examples each for validation and test.
inline std::string tiny_copies(int examples) {
  return fmt::format(R"(
kind = "copy"
validation = {0}
test = {0}
[task.copy]
length = 4
min_length = 2
symbols = 5
)",
                     examples);
}

/// A decoder for the task `copy`.
inline const std::string tiny_decoder = tiny(tiny_copies(40), "");

/// An encoder-decoder for the task `copy`. It also measures decoded metrics, by beam search with 2 beams.
inline const std::string tiny_encoder_decoder = tiny(tiny_copies(24), "kind = \"encoder_decoder\"",
                                                     "evaluate_beam = 2\n");

/// An encoder that classifies whether the sum of 3 to 8 bits is odd.
inline const std::string tiny_encoder = tiny(R"(
kind = "parity"
validation = 20
test = 20
[task.parity]
length = 8
min_length = 3
)",
                                             "kind = \"encoder\"");

/// A model on patches of 2 x 2 pixels that classifies which of 4 shapes an image shows.
inline const std::string tiny_patches = tiny(R"(
kind = "shapes"
validation = 20
test = 20
[task.shapes]
size = 8
)",
                                             "kind = \"patches\"\n[model.patches]\npatch = 2");

} // namespace heed::test
