// Tape: reverse-mode automatic differentiation. Operations append closures to a tape, and `backward` runs them from the
// last to the first.
//
//   Tape tape;
//   Tensor w = tape.leaf(values, gradients, {3});
//   Tensor loss = sum(mul(w, w));
//   tape.backward(loss);          // gradients now contains 2 w
//   tape.rewind();                // everything except the leaves' own memory is freed
//
// Values, gradients and closures are stored in the tape's arena. A tape belongs to one thread.
#pragma once

#include "autograd/arena.hpp"
#include "autograd/error.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/tensor.hpp"

#include <array>
#include <fmt/core.h>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace heed::HEED_REAL {

class Tape {
public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A tensor with its own uninitialised memory. It requires no gradient unless an operation sets this.
  Tensor make(const Shape& shape);
  /// The same, filled with zeros.
  Tensor zeros(const Shape& shape);
  /// Values in the caller's memory that require no gradient. They are not copied, so they must outlive the step.
  Tensor constant(const Real* values, const Shape& shape);
  /// A copy of the caller's values that requires no gradient.
  Tensor copy(const Real* values, const Shape& shape);
  /// Values in the caller's memory. `backward` writes their gradient to `gradient` (same shape, row-major). It
  /// overwrites the previous contents if the loss depends on the leaf; otherwise it leaves them unchanged: see
  /// `untouched`.
  Tensor leaf(const Real* values, Real* gradient, const Shape& shape);
  /// True if `backward` has written nothing to this leaf's gradient.
  static bool untouched(const Tensor& leaf) { return !leaf.slot->written; }

  /// Memory that lasts for the step, for data that closures need.
  template <class T> T* keep(std::int64_t n) { return here().arena.take_array<T>(n); }
  template <class T> const T* keep_copy(const T* from, std::int64_t n) {
    T* to = keep<T>(n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    return to;
  }

  /// Runs all closures in reverse order from `loss`, which must have one element. `seed` is the derivative of the loss
  /// with respect to itself.
  void backward(const Tensor& loss, Real seed = 1);

  /// The gradient of y, with the strides of its value. It is valid only in the closure of the operation that made y.
  const Real* grad(const Tensor& y) const { return y.slot->grad + (y.data - y.slot->value); }
  /// The memory to add x's gradient to, with x's strides. Call it directly before writing, because two operands may
  /// share a slot. If it returns `overwrite`, the caller must write all of x now. While operations are only counted, it
  /// still takes the memory, but for an operation that is not counted it returns that no gradient is required.
  GradTarget grad_target(const Tensor& x);
  /// The memory to add x's gradient to in any order, with x's strides: zeros where x had no gradient yet. Null if x
  /// requires none.
  Real* grad_accumulator(const Tensor& x);
  /// The same for three operands. Their gradients may be written in any order, each element of each exactly once, and
  /// all three may share memory. Views that are adjacent and together fill their slot, like the parts of one projection
  /// (queries, keys and values), are stored without clearing the slot first.
  std::array<GradTarget, 3> grad_targets(const std::array<Tensor, 3>& operands);
  /// Gives y's gradient memory to x, if x has none yet and both cover their slots in the same way. Returns whether it
  /// did; then y has no gradient any more.
  bool donate_gradient(const Tensor& y, const Tensor& x);

  /// Ends the step and frees its memory. Its tensors are no longer valid.
  void rewind();
  /// A counter that increases when x's memory is freed: by `rewind`, by the next NestedTape for tensors of a
  /// NestedTape, and when the tape is destroyed. The counter outlives the tape. Its holder can therefore check whether
  /// x still exists (autograd/xtensor.hpp).
  std::shared_ptr<const std::uint64_t> generation(const Tensor& x);

  /// Anomaly detection: checks every result and every gradient, and throws heed::Failed at the first value that is not
  /// finite. The message names the operation: `[softmax] the result has a NaN at element 17 of 64`. It does not change
  /// any bit of the results.
  void detect_anomaly(bool on) { detects_anomalies_ = on; }
  /// Without recording, operations only compute values: for evaluation.
  void record(bool on) { recording_ = on; }
  bool recording() const { return recording_; }

  Arena& arena() { return regions_[0].arena; }
  /// The most bytes that steps ever used, including nested tapes and scratch memory.
  std::size_t peak() const {
    return regions_[0].arena.peak() + regions_[1].arena.peak() + leaves_.peak() + scratch_.peak();
  }
  std::int64_t nodes() const { return nodes_; }

  class Scratch;
  class NestedTape;
  class ArenaScope;
  class PackedWeightCache;
  class FrozenWeights;
  /// The current PackedWeightCache; null: none. Nested tapes and arena scopes do not see a cache from outside of them.
  PackedWeightCache* packed_weights() const { return packed_weights_; }
  /// The current FrozenWeights; null: none.
  FrozenWeights* frozen_weights() const { return frozen_weights_; }
  /// Is there a NestedTape?
  bool nested() const { return nested_; }

private:
  friend class Op;
  struct Node {
    Node* previous;
    const char* name;
    Tensor output;
    void (*run)(const void*);
    const void* closure;
    bool counts;
  };

  template <class F> void append(const char* name, const Tensor& y, const F& f, bool counts) {
    static_assert(std::is_trivially_destructible_v<F> && std::is_trivially_copyable_v<F>,
                  "a closure lives in the arena, which destroys nothing: capture by value, and only trivial values");
    void* where = here().arena.take(sizeof(F));
    auto* node = new (here().arena.take(sizeof(Node)))
        Node{last_, name, y, [](const void* c) { (*static_cast<const F*>(c))(); }, new (where) F(f), counts};
    last_ = node;
    ++nodes_;
  }

  void run_back();
  void check_finite(const char* name, const char* what, const Real* p, std::int64_t n) const;

  // Gradient buffers that are no longer needed, grouped by size. Later gradients of the same size reuse them.
  struct FreeBlock {
    FreeBlock* next;
  };
  struct FreeList {
    std::int64_t size = 0;
    FreeBlock* top = nullptr;
  };
  static constexpr int free_list_count = 64;

  // Memory that is freed all at once.
  struct Region {
    Arena arena;
    FreeList free_lists[free_list_count];
    std::shared_ptr<std::uint64_t> generation; // made at the first request

    ~Region() { give_up(); }
    void give_up() {
      if (generation) ++*generation;
    }
    Real* take_gradient(std::int64_t size);
    void recycle(Real* gradient, std::int64_t size);
    void rewind();
  };
  Region& here() { return regions_[nested_]; }
  Region& region_of(const Slot& slot) { return regions_[slot.nested]; }

  Region regions_[2]; // of the step, and of the NestedTape
  Arena leaves_;      // the slots of leaves: they last for the whole step, even if a NestedTape asks for them first
  Arena scratch_;
  Node* last_ = nullptr;
  std::int64_t nodes_ = 0;
  PackedWeightCache* packed_weights_ = nullptr;
  FrozenWeights* frozen_weights_ = nullptr;
  bool nested_ = false;
  bool recording_ = true;
  bool detects_anomalies_ = false;
  bool skips_ = false;    // is the running closure told that no gradient is required? See CountingOnly
  Slot* touched_[8] = {}; // the slots that the running closure writes to, for anomaly detection
  int touched_count_ = 0;
};

/// Memory that an operation needs only during its own forward or backward computation. The next operation reuses it, so
/// it stays in the CPU cache, and a step needs the scratch memory of only one operation at a time. Only one Scratch may
/// exist at a time.
class Tape::Scratch {
public:
  /// Throws heed::Failed if a Scratch exists already.
  explicit Scratch(Tape& tape);
  ~Scratch() { arena_.rewind(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Uninitialised memory, valid as long as the Scratch.
  template <class T> T* take(std::int64_t n) { return arena_.take_array<T>(n); }

private:
  Arena& arena_;
};

/// A part of a step that is computed and then discarded, such as a piece of `recompute` (autograd/recompute.hpp):
///
///   {
///     Tape::NestedTape nested(tape);
///     const Tensor z = tanh(x);    // x belongs to the step; z, its gradient and its closure belong to the NestedTape
///     ...                          // z's gradient is set
///     nested.backward();           // runs the NestedTape's closures: adds to x's gradient
///   }                              // z is no longer valid; the tape continues to record where it was before
///
/// Tensors made inside are stored in a separate arena, which the next NestedTape reuses. Leaves, and gradients of
/// tensors from before, stay valid nevertheless. Only one NestedTape may exist at a time.
class Tape::NestedTape {
public:
  /// Throws heed::Failed if a NestedTape exists already.
  explicit NestedTape(Tape& tape);
  ~NestedTape();
  NestedTape(const NestedTape&) = delete;
  NestedTape& operator=(const NestedTape&) = delete;

  /// Runs the closures that were recorded in it, in reverse order.
  void backward() { tape_.run_back(); }

private:
  Tape& tape_;
  Node* last_;
  std::int64_t nodes_;
  PackedWeightCache* packed_weights_;
};

/// A part of a computation without recording. Its memory is freed at its end; before that, the caller copies the
/// results that it needs to memory from outside (`put_into`, autograd/recompute.hpp). Leaves stay valid. ArenaScopes
/// may be nested.
class Tape::ArenaScope {
public:
  /// Throws heed::Failed if the tape records, because closures would outlive their tensors.
  explicit ArenaScope(Tape& tape);
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

private:
  Tape& tape_;
  Arena& arena_;
  Arena::Mark mark_;
  PackedWeightCache* packed_weights_;
};

struct PackedWeight;

/// A cache for a computation in steps that all use the same weights with a few rows each, such as a recurrent decoder.
/// Matrix products pack a weight once for all steps (autograd/kernels/packed_product.hpp). It does not change any bit
/// of the results. The weights must not change while it exists.
class Tape::PackedWeightCache {
public:
  /// Throws heed::Failed if a PackedWeightCache exists already.
  explicit PackedWeightCache(Tape& tape);
  ~PackedWeightCache() { tape_.packed_weights_ = nullptr; }
  PackedWeightCache(const PackedWeightCache&) = delete;
  PackedWeightCache& operator=(const PackedWeightCache&) = delete;

  PackedWeight* weights = nullptr; ///< the weights packed so far, the newest first

private:
  Tape& tape_;
};

struct FrozenWeight;

/// A cache for a model whose parameters do not change while it exists. Products that are not recorded pack each of
/// these weights once, in memory of this object, for all passes of the tape (autograd/kernels/packed_product.hpp). This
/// pays off when a model generates token after token. It does not change any bit of the results.
class Tape::FrozenWeights {
public:
  /// @param values  all parameters, n values
  /// Throws heed::Failed if the tape has FrozenWeights already.
  FrozenWeights(Tape& tape, const Real* values, std::int64_t n);
  ~FrozenWeights() { tape_.frozen_weights_ = nullptr; }
  FrozenWeights(const FrozenWeights&) = delete;
  FrozenWeights& operator=(const FrozenWeights&) = delete;

  bool has(const Real* p) const { return p >= values_ && p < values_ + n_; }
  Arena memory;
  FrozenWeight* weights = nullptr; ///< the weights packed so far, the newest first

private:
  Tape& tape_;
  const Real* values_;
  std::int64_t n_;
};

/// Does an operation count its own multiplications and additions, or contain operations that do? If so, its closure
/// also does the counting while operations are only counted (CountingOnly).
enum class Counts { no, yes };

/// Helper of an operation while it runs: it names the operation in errors, makes the output, and records the closure.
class Op {
public:
  /// Throws heed::Failed if an operand has no tape, or if the operands belong to different tapes.
  Op(const char* name, std::initializer_list<const Tensor*> operands, Counts counts = Counts::no);

  const char* name() const { return name_; }
  Tape& tape() const { return *tape_; }
  /// Does the result require a gradient? Yes if an operand does and the tape records.
  bool requires_grad() const { return requires_grad_; }
  /// The result also requires a gradient if `more` is true and the tape records: for tensors that are not operands.
  void require_grad(bool more) { requires_grad_ = requires_grad_ || (more && tape_->recording_); }

  /// Throws heed::Failed with `[name] message`. The message is only formatted when the check fails.
  template <class... A> void check(bool holds, fmt::format_string<A...> message, A&&... arguments) const {
    if (!holds) [[unlikely]]
      fail(fmt::format(message, std::forward<A>(arguments)...));
  }
  [[noreturn]] void fail(const std::string& message) const;

  /// The uninitialised tensor for the result.
  Tensor output(const Shape& shape) const;
  /// Must the output be computed? Not while operations are only counted: see CountingOnly.
  bool computes() const { return !counting_only(); }
  /// The same for n parts: n if they must be computed, otherwise 0.
  std::int64_t computed(std::int64_t n) const { return computes() ? n : 0; }
  /// A view of x's memory with another shape and other strides.
  static Tensor view(const Tensor& x, Real* data, const Shape& shape, const Shape& stride);

  /// Records the closure that adds to the operands' gradients. With anomaly detection, it also checks the result.
  template <class F> void record(const Tensor& y, const F& backward) const {
    if (tape_->detects_anomalies_) tape_->check_finite(name_, "the result", y.data, y.size());
    if (requires_grad_) tape_->append(name_, y, backward, counts_ == Counts::yes);
  }

private:
  const char* name_;
  Tape* tape_ = nullptr;
  bool requires_grad_ = false;
  Counts counts_;
};

} // namespace heed::HEED_REAL
