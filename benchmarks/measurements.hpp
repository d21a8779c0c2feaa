// What bench_engine can measure. Each serves rounds (benchmarks/rounds.hpp) until standard input ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::bench {

/// The reference for "percent of the peak": single-threaded sgemm of [384, 128] by [128, 384], called from `threads`
/// threads at once. A repetition is 200 calls on each; `about` has `flops` of a repetition.
void measure_peak(int threads);

/// Whole training steps (batch, forward, backward, sum over shards, clipping, update) of a configuration.
/// `about` has `flops` of a step, as heed::counted_operations counts, `parameters` and `vocabulary`.
void measure_steps(const std::string& config_file, const std::vector<std::string>& overrides, int threads);

/// The whole validation split, as a run evaluates it. `about` has its `rows`.
void measure_evaluation(const std::string& config_file, const std::vector<std::string>& overrides, int threads);

/// A prompt of so many tokens, and so many tokens after it, each the most probable, by the configuration's untrained
/// model, on one thread. `about` has its `tokens`.
void measure_generation(const std::string& config_file, const std::vector<std::string>& overrides, int prompt,
                        int tokens);

/// A recurrent decoder of GRUs by itself, over a whole sequence of a source as long, forward and backward to the
/// parameters, the tokens' vectors and the source's states, on one thread.
struct DecoderCase {
  std::string attention; ///< a registered word, or none
  int width = 1, batch = 1, length = 1;
  std::vector<std::string> overrides{}; ///< "attention.score=dot"
};
void measure_decoder(const DecoderCase& about);

/// A GRU or an LSTM by itself, with its inputs' projection, over a whole sequence, forward and backward to parameters
/// and inputs, on one thread.
struct RecurrentCase {
  std::string cell;     ///< gru, lstm
  std::string stepping; ///< once, steps, together: heed::HEED_REAL::bench::Stepping
  int rows = 1, steps = 1, width = 1;
};

void measure_recurrent(const RecurrentCase& about);

/// Attention by itself, forward and backward to queries, keys, values and the parameters of score and relative
/// position.
struct AttentionCase {
  std::string score;
  int batch = 1, heads = 1, length = 1, width = 1;
  bool causal = false;
  std::int64_t rows = 0;                ///< composed of operations, so many queries at a time; 0: as training does
  std::vector<std::string> overrides{}; ///< "attention.normalizer=sparsemax", "position.kind=shaw"
};
/// With several threads each takes an equal part of the batch or, where that cannot be divided, of the heads.
void measure_attention(const AttentionCase& about, int threads);

} // namespace heed::bench
