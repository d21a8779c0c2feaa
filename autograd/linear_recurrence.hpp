// The linear recurrence of sequence mixers: a matrix of state that decays, is written to and is read at each token.
#pragma once

#include "autograd/mask.hpp"
#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// The operands of `linear_recurrence`. Where a tensor has no tape, it is absent.
struct LinearRecurrenceOperands {
  Tensor queries, keys; ///< [B, Hk, T, K]: H / Hk heads in succession share them
  Tensor values;        ///< [B, H, T, V]
  /// g [B, H, T, K or 1], the logarithm of the decay, at most 0: by channel of the key, or one for the head. Also
  /// [1, H, 1, 1] without a gradient: the same at every token. Absent: the state does not decay.
  Tensor log_decay{};
  Tensor state{}; ///< [B, H, K, V], or V + 1 if normalized: the state before the first token; absent: zeros
  Tensor write{}; ///< w [B, H, T, 1], the strength of the write: w k v^T is written; absent: 1
  /// b [B, H, T, K or 1], the strength of the erase (below); absent: nothing is erased. Not if normalized.
  Tensor erase{};
  /// Is o_t divided by the sum of its weights, z_t . q_t with z_t = exp(g_t) z_(t-1) + k_t, unless that is 0? Then z is
  /// the last column of the state.
  bool normalized = false;
  /// p [B, H, T, K]: what reads the state to erase it, in place of b k. Not beside `erase`, nor if normalized.
  Tensor erase_keys{};
};

/// Where sequences begin and end.
struct RecurrenceBounds {
  /// [B]: the length of each sequence. Tokens at and beyond it are padding: their outputs are 0, and the state stays.
  /// Null: there is no padding. Copied.
  const std::int32_t* lengths = nullptr;
  /// The state is zero before the first token of a segment. The numbers are read up to position `first` + T - 1.
  Segments segments{};
  std::int64_t first = 0; ///< the position of the first token
};

struct LinearRecurrenceResult {
  Tensor outputs; ///< [B, H, T, V]
  Tensor state;   ///< after the last token, as LinearRecurrenceOperands::state; only if it was asked for
};

/// For each head, a state S [K, V] is carried from token to token:
///   S_t = Diag(exp(g_t)) S_(t-1) + k_t v_t^T     o_t = S_t^T q_t
/// This is linear attention (Katharopoulos et al. 2020, arXiv 2006.16236) with decay, as in retention (Sun et al. 2023,
/// arXiv 2307.08621), gated linear attention (Yang et al. 2023, arXiv 2312.06635) and Mamba-2 (Dao and Gu 2024, arXiv
/// 2405.21060). Time and memory are linear in T. With an erase, the key first takes away what it reads of the decayed
/// state, as in the delta rule (Yang et al. 2024, arXiv 2406.06484) and its successors (arXiv 2412.06464, 2510.26692,
/// 2605.22791):
///   S_t = D S_(t-1) + k_t (w_t v_t - (b_t k_t)^T D S_(t-1))^T     with D = Diag(exp(g_t))
/// With erase keys p, p_t is in place of b_t k_t. Two tokens then make a step of the general form, S_t = D S_(t-1) +
/// u_t (p_t^T S_(t-1)) + k_t v_t^T (RWKV-7: Peng et al. 2025, arXiv 2503.14456): the first one erases by the key -u and
/// the erase key exp(-g) p, with the decay and a write of 0, the second one writes.
///
/// Blocks of 16 tokens are computed by matrix products: with G_i, the sum of g from the block's first token to token i,
/// and n, its last,
///   o_i = S^T (exp(G_i) q_i) + sum over j <= i of (sum over channels of q_i k_j exp(G_i - G_j)) v_j
///   S'  = Diag(exp(G_n)) S + sum over j of (exp(G_n - G_j) k_j) v_j^T
/// With an erase, v_j is what the block writes, w_j v_j - S^T (exp(G_j) b_j k_j) - sum over i < j of (sum over channels
/// of b_j k_j k_i exp(G_j - G_i)) v_i, computed row by row. With decays by channel, exp(G_i - G_j) is a quotient while
/// neither is below 2^-40, and beyond, a product of the decays between. No exponent is positive, so nothing overflows.
/// The backward pass stores the state once for 64 tokens. Results have the same bits for any number of threads, and for
/// a sequence alone or in a batch; a segment has the bits of a sequence.
/// @param wants_state  is the last state returned?
LinearRecurrenceResult linear_recurrence(const LinearRecurrenceOperands& operands, const RecurrenceBounds& bounds = {},
                                         bool wants_state = false);

} // namespace heed::HEED_REAL
