// Training, evaluation and generation of one run, whatever its precision. The implementations are compiled twice
// (heed::f32, heed::f64, and once for each kind of kernels); `engine()` picks one (engines/engine.hpp).
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/training/attention_example.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

struct Config;
class Task;
enum class Split;
class Ranks;

/// A named array as it stands in a checkpoint.
struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool float64 = false;
  std::vector<std::byte> bytes; ///< little-endian, row-major
};

/// What the names of the optimiser's own tensors begin with; the others are the model's weights.
inline constexpr std::string_view optimizer_prefix = "optimizer.";

/// A checkpoint's content (experiments/runs/safetensors reads and writes it). Metadata holds "step" and whatever else
/// the trainer needs to go on; the trainer alone reads it.
struct Checkpoint {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;
};

/// The step in a checkpoint's metadata ("step").
Parsed<std::int64_t> step_of(const Checkpoint& checkpoint);

/// For a live line: cheap, after every step.
struct Progress {
  std::int64_t step = 0, steps = 0;
  double loss = 0;
  double steps_per_second = 0;
};

struct TrainingHooks {
  std::function<void(const MetricsRecord&)> measured; ///< may throw; the run then fails with that message
  std::function<void(Checkpoint)> checkpoint;         ///< to be kept; may throw
  std::function<void(const Progress&)> progress;
  std::function<bool()> stop_requested; ///< true: keep a checkpoint and return
  std::function<double()> now;          ///< a clock, in seconds; none: the machine's
  /// The processes that train together, each of which calls `train` with the same configuration and checkpoint: the
  /// same bits as one. The other hooks are asked of the first alone. None: this one is alone.
  Ranks* ranks = nullptr;
};

enum class Outcome { finished, interrupted };

/// What a run needs, known before it runs.
struct Cost {
  std::int64_t parameters = 0;
  double flops_per_step = 0; ///< multiplications and additions of forward and backward
  double shared_bytes = 0;   ///< memory of the process whatever the threads: program, parameters
  double thread_bytes = 0;   ///< what each thread adds: the values and gradients of its shard's step
  std::int64_t shards = 1;   ///< more threads than these have nothing to do

  /// Peak memory of the process that trains with so many threads.
  double bytes(std::int64_t threads) const {
    return shared_bytes + thread_bytes * static_cast<double>(std::min(threads, shards));
  }
};

/// How `Engine::generate` goes about it: a language model goes on from the prompt by drawing tokens; a
/// sequence-to-sequence model puts out a line for each input, the most probable that it finds.
struct Sampling {
  std::string prompt;
  std::vector<std::string> inputs; ///< sequence-to-sequence: what outputs are wanted for
  std::int64_t tokens = 500;
  double temperature = 1.0; ///< 0: the most probable token
  std::int64_t top_k = 0;   ///< 0: all
  std::uint64_t seed = 0;
  std::int64_t beam = 1;                       ///< sequence-to-sequence: outputs that are followed at a time; 1: greedy
  double length_penalty = 0;                   ///< likewise: log probabilities are divided by ((5 + tokens) / 6)^this
  std::string length_penalty_kind = "gnmt";    ///< fairseq: by tokens^this
  std::function<void(std::string_view)> write; ///< called with the text as it comes
  /// Called with what the model is given otherwise than it was said: a prompt that is cut, words that are unknown.
  std::function<void(const std::string&)> note;
};

/// What one head of an attention does: means over the queries that attend to anything.
struct HeadInspection {
  std::string attention; ///< its layer: "blocks.0.attention"
  std::int64_t head = 0;
  double entropy = 0;               ///< of its weights, in nats: 0 where all is on one key, ln n where n share alike
  std::optional<double> distance;   ///< positions between query and key, by weight; none where there is one query
  std::optional<double> importance; ///< how much the loss rises without it, in nats a target; where it was asked for
  std::optional<double> first_key;  ///< weight of key 0, of queries after the first; likewise, and where there are any
  std::optional<double> score_variance; ///< of what the normaliser is given; likewise
};

/// The size of what a module gives, of its parameters and of their gradient.
struct ModuleInspection {
  std::string module;               ///< "blocks.0.ffn.expand"; "blocks.0" for what the whole block gives
  std::optional<double> activation; ///< root mean square of its output; none where it was not seen
  std::optional<double> gradient;   ///< Euclidean norm; none where it has no parameters of its own
  std::optional<double> weight;     ///< Euclidean norm of these
};

/// A Transformer's block with all that is in it.
struct LayerInspection {
  std::string layer;                   ///< "blocks.0"
  std::optional<double> rank_residual; ///< how far its rows' tokens are from one vector; none: single tokens alone
  std::optional<double> gradient;      ///< Euclidean norm, by all of its modules' parameters
  std::optional<double> weight;        ///< Euclidean norm of these
};

struct Inspection {
  std::int64_t step = 0, rows = 0; ///< optimiser steps done; rows that were looked at
  std::vector<HeadInspection> heads;
  std::vector<ModuleInspection> modules;
  std::vector<LayerInspection> layers;
};

/// What one block's attention costs, with its projections and its position, for one row forward and backward.
struct AttentionCost {
  std::int64_t parameters = 0;
  double flops = 0;   ///< multiplications and additions
  double seconds = 0; ///< on one thread: the median of some repetitions
  double bytes = 0;   ///< of values and gradients, parameters' left out
};

} // namespace heed
