// Types for training, evaluating and sampling from one run, independent of precision. The implementations are compiled
// twice (heed::f32 and heed::f64) and once for each instruction set; `engine()` chooses one (engines/engine.hpp).
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
#include <vector>

namespace heed {

struct Config;
class Task;
enum class Split;
class Ranks;

/// A named array as stored in a checkpoint.
struct StoredTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool float64 = false;
  std::vector<std::byte> bytes; ///< little-endian, row-major
};

/// Prefix of the names of the optimiser's tensors. All other tensors are the model's weights.
inline constexpr std::string_view optimizer_prefix = "optimizer.";

/// The content of a checkpoint (experiments/runs/safetensors reads and writes it). The metadata holds "step" and
/// everything else that the trainer needs to continue. Only the trainer reads it.
struct Checkpoint {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;
};

/// A parameter of a model.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// The step in a checkpoint's metadata ("step").
Parsed<std::int64_t> step_of(const Checkpoint& checkpoint);

/// For a live progress line. Cheap; reported after every step.
struct Progress {
  std::int64_t step = 0, steps = 0;
  double loss = 0;
  double steps_per_second = 0;
};

struct TrainingHooks {
  std::function<void(const MetricsRecord&)> measured; ///< may throw; the run then fails with this message
  std::function<void(Checkpoint)> checkpoint;         ///< saves the checkpoint; may throw
  std::function<void(const Progress&)> progress;
  /// The weights of [train] start, with the names, shapes and type of some or all parameters. They replace the initial
  /// values. Called by each process of a process group, once, if training begins without a checkpoint; may throw.
  std::function<Checkpoint()> start;
  std::function<bool()> stop_requested; ///< true: save a checkpoint and return
  std::function<double()> now;          ///< a clock, in seconds; if empty: the machine's clock
  /// The number of threads that the run may use from now on, asked after each step; it only grows. If empty: the
  /// configuration's.
  std::function<int()> threads;
  /// The processes that train together. Each calls `train` with the same configuration and checkpoint, and the result
  /// is bit-identical to training in one process. Only the first process calls the other hooks, except `start`. Null:
  /// this process trains alone.
  Ranks* ranks = nullptr;
};

enum class Outcome { finished, interrupted };

/// The number of threads that a run uses at most, unless more are requested.
inline constexpr int most_useful_threads = 16;

/// What a run needs in parameters, FLOPs and memory, estimated before it starts.
struct Cost {
  std::int64_t parameters = 0;
  double flops_per_step = 0; ///< multiplications and additions, forward and backward
  /// Numbers that are stored while one sequence is decoded, once the longest one is read (Decoding::state_size); empty:
  /// the model does not decode token by token.
  std::optional<std::int64_t> state_size{};
  double shared_bytes = 0; ///< memory that does not depend on threads: program, parameters
  double thread_bytes = 0; ///< memory of each thread with a shard: its values and gradients, or an evaluation's
  double helper_bytes = 0; ///< memory of each thread beyond the shards, for evaluations
  std::int64_t shards = 1; ///< threads beyond this number help the others within operations
  int useful_threads = 1;  ///< more threads would not make the run faster

  /// Peak memory of the training process with this number of threads.
  double bytes(std::int64_t threads) const {
    return shared_bytes + thread_bytes * static_cast<double>(std::min(threads, shards)) +
           helper_bytes * static_cast<double>(std::max<std::int64_t>(threads - shards, 0));
  }
};

/// An example of a split with the model's output, as text.
struct ExampleOutput {
  std::string input, reference, output;
  std::optional<double> probability; ///< classifiers: of the output
};

/// What a model got right in one sequence of a split. Over all sequences, the sum of `loss` over that of `loss_targets`
/// is the loss, and the sum of `right` over that of `targets` the accuracy.
struct ExampleScore {
  double loss = 0; ///< in nats, the sum over its targets
  std::int64_t loss_targets = 0;
  std::int64_t targets = 0, right = 0; ///< those that count for the accuracy
  bool whole_right = false;            ///< without an error
};

/// Options of `Engine::generate`. A language model continues the prompt by sampling tokens. A sequence-to-sequence
/// model writes one line for each input: the most probable output that it finds. A classifier writes one line for each
/// class of an input, the most probable first: the probability, a tab, and the class; then an empty line before the
/// next input.
struct Sampling {
  std::string prompt;
  /// sequence-to-sequence and classifiers: the inputs; for images "row 3" of the validation split
  std::vector<std::string> inputs;
  std::int64_t tokens = 500;
  double temperature = 1.0; ///< 0: the most probable token
  /// among so many most probable tokens; classifiers: the number of classes for each input; 0: all
  std::int64_t top_k = 0;
  std::uint64_t seed = 0;
  std::int64_t beam = 1; ///< sequence-to-sequence: beam width; 1: greedy
  /// sequence-to-sequence: log probabilities are divided by ((5 + tokens) / 6)^length_penalty
  double length_penalty = 0;
  std::string length_penalty_kind = "gnmt";    ///< "fairseq": divided by tokens^length_penalty
  std::function<void(std::string_view)> write; ///< called with each part of the text when it is ready
  /// Called if the model's input differs from the given one: the prompt was cut, or words are unknown.
  std::function<void(const std::string&)> note;
};

/// Statistics of one attention head: means over the queries that attend to at least one key.
struct HeadInspection {
  std::string attention; ///< the attention's module: "blocks.0.attention"
  std::int64_t head = 0;
  /// of the weights, in nats: 0 if all weight is on one key, ln n if it is uniform on n keys
  double entropy = 0;
  /// weighted mean of positions between query and key; none if there is only one query
  std::optional<double> distance;
  /// increase of the loss without the head, in nats per target; none if not requested
  std::optional<double> importance;
  /// weight of key 0, over queries after the first; none if not requested or no such query
  std::optional<double> first_key;
  std::optional<double> score_variance; ///< variance of the normaliser's input; none if not requested
  /// Of a recurrence, if requested: the tokens in which the state halves by its decay (none if it has no decay), and
  /// the norm and the number of directions of the state after a sequence's last token (none if all states are 0).
  std::optional<double> half_life{}, state_norm{}, state_rank{};
};

/// The sizes of a module's output, of its parameters and of their gradient.
struct ModuleInspection {
  std::string module;               ///< "blocks.0.ffn.expand"; "blocks.0" for the output of the whole block
  std::optional<double> activation; ///< root mean square of its output; none if not measured
  std::optional<double> gradient;   ///< Euclidean norm; none if it has no parameters of its own
  std::optional<double> weight;     ///< Euclidean norm of its own parameters
};

/// A Transformer block with all its modules.
struct LayerInspection {
  std::string layer; ///< "blocks.0"
  /// distance of a sequence's tokens from one common vector; none if all sequences have one token
  std::optional<double> rank_residual;
  std::optional<double> gradient; ///< Euclidean norm over the parameters of all its modules
  std::optional<double> weight;   ///< Euclidean norm of these parameters
};

struct Inspection {
  std::int64_t step = 0, sequences = 0; ///< optimiser steps done; sequences that were measured
  std::vector<HeadInspection> heads;
  std::vector<ModuleInspection> modules;
  std::vector<LayerInspection> layers;
};

/// What an attention adds to the scores of zero vectors, by masks, positions and formulas.
struct AddedScores {
  std::string place; ///< "block 0", "encoder, block 0", "cross attention, block 0"
  std::int64_t queries = 0, keys = 0;
  std::vector<std::vector<double>> heads; ///< [queries * keys] each; -infinity: the mask hides this key
};

/// The first query of an attention that may attend to no key, in the first sequence of validation.
struct QueryWithoutKeys {
  std::string attention; ///< its module: "blocks.0.attention"
  bool cross = false;
  std::int64_t query = 0, head = 0;
  std::int64_t count = 0, queries = 0; ///< how many of so many queries have no key in this or another head
};

/// The cost of one block's attention, including projections and position, for one sequence forward and backward.
struct AttentionCost {
  std::int64_t parameters = 0;
  double flops = 0;   ///< multiplications and additions
  double seconds = 0; ///< on one thread: the median of several repetitions
  double bytes = 0;   ///< memory of values and gradients, without those of parameters
};

} // namespace heed
