// Recurrent cells (Elman, GRU, LSTM) over a whole sequence. All steps are one operation with one node on the tape,
// however long the sequence is.
//
// All cells take the projected inputs x W_x + b of every step, because one product can compute them for all steps at
// once. The operation computes only the product with the previous state. Arrays are time-major ([T, B, ...]), so the
// vectors of a step are contiguous.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Which steps are executed, and for which sequences of the batch.
struct RecurrentSteps {
  /// [B]: the length of each sequence. Sequences of length <= t skip step t: their state is carried over unchanged, and
  /// its gradient passes through. Null: every sequence takes every step. Copied.
  const std::int32_t* lengths = nullptr;
  /// The index of step 0, if a sequence is processed in pieces.
  std::int64_t first = 0;
  /// Process the last step first.
  bool reverse = false;
};

/// The results of a cell.
struct Recurrence {
  Tensor states; ///< [T, B, H]: the state after each step; beyond a sequence's length, the state carried over
  Tensor last;   ///< [B, H]: the state after the last step taken
  Tensor cell;   ///< [B, H]: an LSTM's cell state after the last step taken; empty for other cells
};

/// Elman's network, the plain recurrent cell (Elman 1990, "Finding structure in time"), as in torch.nn.RNN:
///   h' = tanh(x + W h)
/// x [T, B, H], h [B, H] (the state before the first step), w [H, H].
Recurrence elman(const Tensor& x, const Tensor& h, const Tensor& w, const RecurrentSteps& steps = {});

/// The gated recurrent unit (Cho et al. 2014, arXiv 1406.1078) in the form of torch.nn.GRU, where the gate r multiplies
/// the product W_n h + b:
///   r = sigmoid(x_r + W_r h)    z = sigmoid(x_z + W_z h)    n = tanh(x_n + r (W_n h + b))    h' = (1 - z) n + z h
/// x [T, B, 3 H] and w [3 H, H] contain r, z and n in this order; h [B, H], bias (b) [H].
Recurrence gru(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& bias, const RecurrentSteps& steps = {});

/// Long short-term memory (Hochreiter and Schmidhuber 1997; with the forget gate of Gers et al. 2000), as in
/// torch.nn.LSTM:
///   i, f, o = sigmoid(x_i + W_i h), ...    g = tanh(x_g + W_g h)    c' = f c + i g    h' = o tanh(c')
/// x [T, B, 4 H] and w [4 H, H] contain i, f, g and o in this order; h and c [B, H].
Recurrence lstm(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& w, const RecurrentSteps& steps = {});

} // namespace heed::HEED_REAL
