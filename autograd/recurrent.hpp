// Recurrent steps: many steps of one cell are one operation, whose tape has one node, however long the sequence is.
//
// All of them take the projected inputs x W_x + b of every step, since one product can compute these for all steps at
// once, and hold the product with the previous state inside. Arrays are time-major ([T, B, ...]): a step's rows stand
// together.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Which steps are taken, and by which rows.
struct RecurrentSteps {
  /// [B]: step t is not for rows of at most t steps: they carry their state over unchanged, and its gradient passes
  /// through. Null: every row takes every step. Copied.
  const std::int32_t* lengths = nullptr;
  /// The number of step 0, where a sequence is walked piece by piece.
  std::int64_t first = 0;
  /// From the last step to the first.
  bool reverse = false;
};

/// What a cell leaves behind.
struct Recurrence {
  Tensor states; ///< [T, B, H]: the state after each step; beyond a row's length, the one that was carried over
  Tensor last;   ///< [B, H]: the state after the last step taken
  Tensor cell;   ///< [B, H]: an LSTM's memory after the last step taken; empty for the others
};

/// Elman's network, the plain recurrent cell (Elman 1990, "Finding structure in time"), as torch.nn.RNN:
///   h' = tanh(x + W h)
/// x [T, B, H], h [B, H] (the state before the first step), w [H, H].
Recurrence elman(const Tensor& x, const Tensor& h, const Tensor& w, const RecurrentSteps& steps = {});

/// The gated recurrent unit (Cho et al. 2014, arXiv 1406.1078) in the form of torch.nn.GRU, whose gate r acts on the
/// product:
///   r = sigmoid(x_r + W_r h)    z = sigmoid(x_z + W_z h)    n = tanh(x_n + r (W_n h + b))    h' = (1 - z) n + z h
/// x [T, B, 3 H] and w [3 H, H] hold r, z and n one after the other; h [B, H], bias (b) [H].
Recurrence gru(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& bias, const RecurrentSteps& steps = {});

/// Long short-term memory (Hochreiter and Schmidhuber 1997; with the forget gate of Gers et al.
/// 2000), as torch.nn.LSTM:
///   i, f, o = sigmoid(x_i + W_i h), ...    g = tanh(x_g + W_g h)    c' = f c + i g    h' = o tanh(c')
/// x [T, B, 4 H] and w [4 H, H] hold i, f, g and o one after the other; h and c [B, H].
Recurrence lstm(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& w, const RecurrentSteps& steps = {});

} // namespace heed::HEED_REAL
