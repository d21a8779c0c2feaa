// Reverse-mode differentiation: operations append closures to a tape, `backward` runs them from the last to the first.
//
//   Tape tape;
//   Tensor w = tape.leaf(values, gradients, {3});
//   Tensor loss = sum(mul(w, w));
//   tape.backward(loss);          // gradients now holds 2 w
//   tape.rewind();                // everything but the leaves' own memory is gone
//
// Values, gradients and closures live in the tape's arena. A tape belongs to one thread.
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

  /// A tensor with memory of its own, uninitialised, that requires no gradient unless an operation says so.
  Tensor make(const Shape& shape);
  /// The same, filled with zeros.
  Tensor zeros(const Shape& shape);
  /// Numbers from outside that require no gradient; not copied, so they must outlive the step.
  Tensor constant(const Real* values, const Shape& shape);
  /// A copy of numbers from outside that requires no gradient.
  Tensor copy(const Real* values, const Shape& shape);
  /// Numbers from outside whose gradient is written to `gradient` (same shape, row-major) by `backward`. What stood
  /// there before is overwritten if the loss depends on the leaf, and left as it is if not: see `untouched`.
  Tensor leaf(const Real* values, Real* gradient, const Shape& shape);
  /// Has `backward` written nothing to this leaf's gradient?
  static bool untouched(const Tensor& leaf) { return !leaf.slot->written; }

  /// Memory of the step, for what closures keep.
  template <class T> T* keep(std::int64_t n) { return here().arena.take_array<T>(n); }
  template <class T> const T* keep_copy(const T* from, std::int64_t n) {
    T* to = keep<T>(n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    return to;
  }

  /// Runs all closures backwards from `loss`, which must have one element. The derivative of it by itself is `seed`.
  void backward(const Tensor& loss, Real seed = 1);

  /// The gradient of a view's slot, at the view: valid in the closure of the op that made it, with the value's strides.
  const Real* grad(const Tensor& y) const { return y.slot->grad + (y.data - y.slot->value); }
  /// Where to add x's gradient, with x's strides. Take it right before writing: two operands may share a slot. `overwrite`
  /// promises that all of x is written now. While operations are only counted, the memory is taken, and the answer to an
  /// operation that has no part in the count is that no gradient is required.
  GradTarget grad_target(const Tensor& x);
  /// The same for three operands whose gradients are written in any order, each element of each once; all three may
  /// share memory. Views that lie side by side and fill their slot together, as the parts of one projection do, are
  /// stored without clearing it first.
  std::array<GradTarget, 3> grad_targets(const std::array<Tensor, 3>& operands);
  /// Hands y's gradient memory on to x, if x has none yet and both cover their slots alike; y's is gone then.
  bool donate_gradient(const Tensor& y, const Tensor& x);

  /// Forgets the step. Tensors of it are no longer valid.
  void rewind();
  /// A number that goes up when x's memory is given up: by `rewind`, by the next NestedTape for what was made in one, and at
  /// the tape's end, which it outlives. So whoever keeps it knows whether x is still there (autograd/xtensor.hpp).
  std::shared_ptr<const std::uint64_t> generation(const Tensor& x);

  /// Anomaly detection: every result and gradient is looked at, and the first that is not finite throws heed::Failed,
  /// naming the operation: `[softmax] the result has a NaN at element 17 of 64`. It changes no bit.
  void detect_anomaly(bool on) { detects_anomalies_ = on; }
  /// Without recording, operations only compute: for evaluation.
  void record(bool on) { recording_ = on; }
  bool recording() const { return recording_; }

  Arena& arena() { return regions_[0].arena; }
  /// The most bytes that steps ever took, with their nested tapes and their scratch.
  std::size_t peak() const {
    return regions_[0].arena.peak() + regions_[1].arena.peak() + leaves_.peak() + scratch_.peak();
  }
  std::int64_t nodes() const { return nodes_; }

  class Scratch;
  class NestedTape;
  class ArenaScope;
  class PackedWeightCache;
  class FrozenWeights;
  /// The one that there is, outside of its nested tapes and arena scopes; null: none.
  PackedWeightCache* packed_weights() const { return packed_weights_; }
  /// Null: there are none.
  FrozenWeights* frozen_weights() const { return frozen_weights_; }
  /// Is there an NestedTape?
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

  // Gradients that are no longer needed, by size: later ones of the same size take their memory.
  struct FreeBlock {
    FreeBlock* next;
  };
  struct FreeList {
    std::int64_t size = 0;
    FreeBlock* top = nullptr;
  };
  static constexpr int free_list_count = 64;

  // Memory that is given back all at once.
  struct Region {
    Arena arena;
    FreeList free_lists[free_list_count];
    std::shared_ptr<std::uint64_t> generation; // made for the first who asks

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

  Region regions_[2]; // the step's, and the NestedTape's
  Arena leaves_;      // their slots: they are of the whole step, whoever asks for them first
  Arena scratch_;
  Node* last_ = nullptr;
  std::int64_t nodes_ = 0;
  PackedWeightCache* packed_weights_ = nullptr;
  FrozenWeights* frozen_weights_ = nullptr;
  bool nested_ = false;
  bool recording_ = true;
  bool detects_anomalies_ = false;
  bool skips_ = false;    // what the closure that runs would write: see CountingOnly
  Slot* touched_[8] = {}; // by the closure that runs, for anomaly detection
  int touched_count_ = 0;
};

/// Memory that an operation needs only while it computes, in one direction: the next one uses it again, so that it stays
/// in the cache, and a step holds that of one operation. There is one at a time.
class Tape::Scratch {
public:
  /// Throws heed::Failed where there is one already.
  explicit Scratch(Tape& tape);
  ~Scratch() { arena_.rewind(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Uninitialised, valid as long as the Scratch.
  template <class T> T* take(std::int64_t n) { return arena_.take_array<T>(n); }

private:
  Arena& arena_;
};

/// A part of a step that is computed and then forgotten, as the pieces of `recompute` are (autograd/recompute.hpp):
///
///   {
///     Tape::NestedTape nested(tape);
///     const Tensor z = tanh(x);    // x is of the step; z, its gradient and its closure are of the NestedTape
///     ...                          // z's gradient is given
///     nested.backward();           // runs the NestedTape's closures: x's gradient gets its share
///   }                              // z is no longer valid; the tape records on where it was before
///
/// What is made within it lies in an arena of its own, which the next NestedTape uses again. Two things stay all the same:
/// leaves, and gradients of tensors that were there before. There is one NestedTape at a time.
class Tape::NestedTape {
public:
  /// Throws heed::Failed where there is one already.
  explicit NestedTape(Tape& tape);
  ~NestedTape();
  NestedTape(const NestedTape&) = delete;
  NestedTape& operator=(const NestedTape&) = delete;

  /// Runs the closures that were recorded in it, from the last to the first.
  void backward() { tape_.run_back(); }

private:
  Tape& tape_;
  Node* last_;
  std::int64_t nodes_;
  PackedWeightCache* packed_weights_;
};

/// A part of a computation without recording, whose memory is given up at its end; what is wanted of it is copied before
/// to memory from outside (`put_into`, autograd/recompute.hpp). Leaves stay. There may be one within another.
class Tape::ArenaScope {
public:
  /// Throws heed::Failed where the tape records, since closures would outlive what they are about.
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

/// A part of a computation that goes step by step, each with the same weights and a few rows, as a recurrent decoder does:
/// products make of a weight what they need of it once for all steps (autograd/kernels/packed_weight.hpp). It changes no
/// bit. The weights must stay as they are.
class Tape::PackedWeightCache {
public:
  /// Throws heed::Failed where there is one already.
  explicit PackedWeightCache(Tape& tape);
  ~PackedWeightCache() { tape_.packed_weights_ = nullptr; }
  PackedWeightCache(const PackedWeightCache&) = delete;
  PackedWeightCache& operator=(const PackedWeightCache&) = delete;

  PackedWeight* weights = nullptr; ///< those that there are yet, the newest first

private:
  Tape& tape_;
};

struct FrozenWeight;

/// As long as this lives, a model's parameters stay as they are: products that are not recorded pack a weight among them
/// once, in memory of this, for all passes of the tape (autograd/kernels/frozen_weight.hpp), as is worth it where a model
/// puts out token after token. It changes no bit.
class Tape::FrozenWeights {
public:
  /// @param values  all parameters, n numbers
  /// Throws heed::Failed where the tape has some already.
  FrozenWeights(Tape& tape, const Real* values, std::int64_t n);
  ~FrozenWeights() { tape_.frozen_weights_ = nullptr; }
  FrozenWeights(const FrozenWeights&) = delete;
  FrozenWeights& operator=(const FrozenWeights&) = delete;

  bool has(const Real* p) const { return p >= values_ && p < values_ + n_; }
  Arena memory;
  FrozenWeight* weights = nullptr; ///< those that there are yet, the newest first

private:
  Tape& tape_;
  const Real* values_;
  std::int64_t n_;
};

/// Does an operation count itself, or have others within it that do? Its closure then runs as far as they are counted.
enum class Counts { no, yes };

/// One operation under way: names errors, makes the output, records the closure.
class Op {
public:
  /// Throws heed::Failed where an operand has no tape, or another one than the first.
  Op(const char* name, std::initializer_list<const Tensor*> operands, Counts counts = Counts::no);

  const char* name() const { return name_; }
  Tape& tape() const { return *tape_; }
  /// Does the result require a gradient? Where an operand does, and the tape records.
  bool requires_grad() const { return requires_grad_; }
  /// Likewise where something does that is no operand.
  void require_grad(bool more) { requires_grad_ = requires_grad_ || (more && tape_->recording_); }

  /// Throws heed::Failed with `[name] message`. The message is only formatted when the check fails.
  template <class... A> void check(bool holds, fmt::format_string<A...> message, A&&... arguments) const {
    if (!holds) [[unlikely]]
      fail(fmt::format(message, std::forward<A>(arguments)...));
  }
  [[noreturn]] void fail(const std::string& message) const;

  /// The result's tensor, uninitialised.
  Tensor output(const Shape& shape) const;
  /// Is the output to be worked out? Not while operations are only counted: see CountingOnly.
  bool computes() const { return !counting_only(); }
  /// The same of n parts: of all of them, or of none.
  std::int64_t computed(std::int64_t n) const { return computes() ? n : 0; }
  /// Another shape and stride over x's memory.
  static Tensor view(const Tensor& x, Real* data, const Shape& shape, const Shape& stride);

  /// Keeps the closure that adds to the operands' gradients, and, in anomaly detection, looks at the result.
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
