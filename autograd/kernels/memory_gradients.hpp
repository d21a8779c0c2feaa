// Gradients of keys and values that one query after the other attends to.
#pragma once

#include "autograd/kernels/heads.hpp"

namespace heed::HEED_REAL {

/// What calls with one query each add to the gradients of a PackedMemory's keys and values: dk_j += factor ds_j q and
/// dv_j += w_j dy. It is gathered for some of them, and then added in one walk over the keys, with the bits of a walk for
/// each.
class MemoryGradients {
public:
  /// `keys` is empty where their gradient is not added here. Null where nothing is recorded. It stands in the tape.
  static MemoryGradients* make(const Tensor& keys, const Tensor& values, Real factor, std::int64_t most_heads);

  /// The memory's own for a call with one query: `share` for each head, and `end`, follow. Null for other calls, before
  /// which it adds what is gathered, and without a memory.
  static MemoryGradients* for_call(const PackedMemory* memory, std::int64_t queries);

  /// One head's ds and w, [Tk], zeros yet: the caller's to fill in. No grad_scores where keys' gradients are not added here.
  struct Share {
    Real *grad_scores, *weights;
  };
  /// query [D] and upstream [Dv], dy, of the head: copied. No query where there are no keys.
  Share share(const HeadProblem& head, const Real* query, const Real* upstream);
  void end() { ++gathered_; }

private:
  // Numbers of calls that were gathered for one side, keys or values.
  struct Side {
    std::int64_t width;
    Real factor;
    Real *of_keys, *rows; // [B, Hk, room, H / Hk, Tk] and [B, Hk, room, H / Hk, whole_vectors(width)]
  };
  void add();

  static constexpr std::int64_t room = 8; // calls

  Tensor node_; // [1]: the closure of its operation runs behind those of all calls
  Tensor keys_, values_;
  std::int64_t sharing_; // heads of queries for each of keys
  Side key_side_, value_side_;
  std::int64_t gathered_, first_, last_; // calls, and the keys that any of them sees
};

} // namespace heed::HEED_REAL
