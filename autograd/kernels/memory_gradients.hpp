// Gradients of keys and values to which calls with one query each attend, accumulated over several calls (such as a
// recurrent decoder's steps).
#pragma once

#include "autograd/kernels/heads.hpp"

namespace heed::HEED_REAL {

/// Accumulates the contributions of calls with one query each to the gradients of a PackedMemory's keys and values:
/// dk_j += factor ds_j q and dv_j += w_j dy. It gathers several calls and then adds them in one pass over the keys. The
/// result is bit-identical to one pass for each call.
class MemoryGradients {
public:
  /// `keys` is empty if their gradient is not added here. Returns null if nothing is recorded. The object lives on the
  /// tape.
  static MemoryGradients* make(const Tensor& keys, const Tensor& values, Real factor, std::int64_t most_heads);

  /// The object of `memory`, for a call with one query. The caller then calls `share` for each head, and `end`. Other
  /// calls get null; before they do, the gathered contributions are added. Without a memory, returns null.
  static MemoryGradients* for_call(const PackedMemory* memory, std::int64_t queries);

  /// One head's ds and w, [Tk], initially zero; the caller fills them. grad_scores is null if key gradients are not
  /// added here.
  struct Share {
    Real *grad_scores, *weights;
  };
  /// Copies the head's query [D] and upstream gradient dy [Dv]. `query` is not read if `keys` is empty.
  Share share(const HeadProblem& head, const Real* query, const Real* upstream);
  void end() { ++gathered_; }

private:
  // The gathered contributions to one gradient: of keys or of values.
  struct Side {
    std::int64_t width;
    Real factor;
    Real *of_keys, *rows; // [B, Hk, room, H / Hk, Tk] and [B, Hk, room, H / Hk, whole_vectors(width)]
  };
  void add();

  static constexpr std::int64_t room = 8; // calls

  Tensor node_; // [1]: the closure of this node's operation runs after the closures of all calls
  Tensor keys_, values_;
  std::int64_t sharing_; // query heads per key head
  Side key_side_, value_side_;
  std::int64_t gathered_, first_, last_; // number of gathered calls, and the range of keys that any of them sees
};

} // namespace heed::HEED_REAL
