// The measurements of bench_engine. Each function serves rounds (benchmarks/rounds.hpp) until standard input ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::bench {

/// The reference for "percent of the peak", on `threads` threads at once, each for itself. It is the faster of two:
/// sgemm of [384, 128] by [128, 384] with OpenBLAS's best kernels for this CPU, and fused multiply-adds in registers.
/// `about` has the `flops` of a repetition, the name of the `peak`, and one thread's `sgemm_gflops` and `fma_gflops`.
void measure_peak(int threads);

/// Complete training steps of a configuration: batch, forward, backward, sum over shards, clipping, update. `about` has
/// the `flops` of a step (as heed::counted_operations counts), `parameters` and `vocabulary`.
void measure_steps(const std::string& config_file, const std::vector<std::string>& overrides, int threads);

/// Evaluation of the whole validation split, as in a run. `about` has its `rows`.
void measure_evaluation(const std::string& config_file, const std::vector<std::string>& overrides, int threads);

/// Greedy generation of `tokens` tokens after a prompt of `prompt` tokens, by the configuration's untrained model, on
/// one thread. `about` has the `tokens`.
void measure_generation(const std::string& config_file, const std::vector<std::string>& overrides, int prompt,
                        int tokens);

/// Only a recurrent GRU decoder, over a whole sequence, with a source of the same length: forward and backward to the
/// parameters, the token embeddings and the source states, on one thread.
struct DecoderCase {
  std::string attention; ///< a registered name, or none
  int width = 1, batch = 1, length = 1;
  int source = 1;                       ///< number of states that it attends to
  std::vector<std::string> overrides{}; ///< "attention.score=dot"
};
void measure_decoder(const DecoderCase& about);

/// Only a GRU or an LSTM with its input projection, over a whole sequence: forward and backward to parameters and
/// inputs, on one thread.
struct RecurrentCase {
  std::string cell;     ///< gru, lstm
  std::string stepping; ///< once, steps, together: heed::HEED_REAL::bench::Stepping
  int rows = 1, steps = 1, width = 1;
};

void measure_recurrent(const RecurrentCase& about);

/// Only a sequence mixer with its maps: forward and backward to inputs and parameters. With several threads, each takes
/// an equal part of the batch or, if there are too few sequences, they share the work within operations.
struct MixerCase {
  std::string kind; ///< a word of mixer.kind
  int batch = 1, length = 1, width = 1, heads = 1;
  std::vector<std::string> overrides{}; ///< "mixer.gate=none"
};
void measure_mixer(const MixerCase& about, int threads);

/// Only a linear recurrence: forward and backward to all operands. Threads as for a mixer.
struct RecurrenceCase {
  int decays = 0, erases = 0; ///< of a token and head: 0, 1, or as many as keys
  int batch = 1, heads = 1, length = 1;
  int keys = 1, values = 1; ///< widths of a head
};
void measure_recurrence(const RecurrenceCase& about, int threads);

/// Only attention: forward and backward to queries, keys, values and the parameters of score and relative position.
struct AttentionCase {
  std::string score;
  int batch = 1, heads = 1, length = 1, width = 1;
  bool causal = false;
  std::int64_t rows = 0; ///< number of queries at a time, composed of single operations; 0: as in training
  std::vector<std::string> overrides{}; ///< "attention.normalizer=sparsemax", "position.kind=shaw"
};
/// With several threads, each takes an equal part of the batch or, if the batch cannot be divided equally, of the
/// heads.
void measure_attention(const AttentionCase& about, int threads);

} // namespace heed::bench
