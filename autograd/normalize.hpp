// What turns rows of scores into attention weights, besides masked_softmax.
//
// x is [B, H, Tq, Tk]; a row's scores are those of the keys that the query may attend to, and all other weights
// are 0. A row that may attend to nothing gives zeros and a zero gradient. A row with a NaN gives NaN.
#pragma once

#include "autograd/ops.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// The point of the simplex nearest to the scores (Martins and Astudillo 2016, arXiv 1602.02068):
///   w_j = max(x_j - t, 0) with t such that the weights sum to 1
/// exactly, by Michelot's algorithm (1986). The gradient is dx_j = dw_j - mean of dw over the weights that are not 0.
Tensor sparsemax(const Tensor& x, const Mask& mask);

/// w_j = 1 / (1 + exp(-(x_j + bias))), each key by itself (Ramapuram et al. 2024, arXiv 2409.04431). Without a bias it
/// is that paper's -log n, n the keys that the row may attend to, so that weights start with a sum near 1.
Tensor masked_sigmoid(const Tensor& x, const Mask& mask, std::optional<Real> bias);

/// 1 for the largest score (the first of those), 0 elsewhere. Its gradient is, by definition, that of masked_softmax at
/// the same scores: the straight-through estimator (Bengio, Leonard and Courville 2013, arXiv 1308.3432).
Tensor hardmax(const Tensor& x, const Mask& mask);

/// Independent numbers -log(-log u) of the standard Gumbel distribution, without a gradient: an element is decided by
/// the key and its number alone. The largest of x + gumbel_noise is a sample of softmax(x) (Gumbel 1954).
Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers);

} // namespace heed::HEED_REAL
