#include "autograd/tape.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

bool Tensor::contiguous() const {
  std::int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    if (shape[i] != 1 && stride[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

Real Tensor::item() const {
  if (size() != 1) throw Failed(fmt::format("[item] the tensor has {} elements, not one: {}", size(), shape.text()));
  return data[0];
}

Tensor Tape::make(const Shape& shape) {
  Tensor t{this, nullptr, nullptr, shape, shape.row_major()};
  const std::int64_t n = shape.size();
  t.data = here().arena.take_array<Real>(n);
  t.slot = new (here().arena.take(sizeof(Slot))) Slot{};
  t.slot->value = t.data;
  t.slot->size = n;
  t.slot->nested = nested_;
  return t;
}

Tensor Tape::zeros(const Shape& shape) {
  Tensor t = make(shape);
  std::fill_n(t.data, t.size(), Real{0});
  return t;
}

namespace {

// A tensor on values that the caller owns, with a slot in the arena.
Tensor outside(Tape* tape, Arena& arena, const Real* values, const Shape& shape) {
  Tensor t{tape, const_cast<Real*>(values), nullptr, shape, shape.row_major()};
  t.slot = new (arena.take(sizeof(Slot))) Slot{};
  t.slot->value = t.data;
  t.slot->size = shape.size();
  return t;
}

// Do the tensors [B, H, T, D] together cover the rows of one [B, T, width] array, one after the other?
bool side_by_side(const std::array<Tensor, 3>& parts) {
  const Tensor& first = parts[0];
  std::int64_t row = 0;
  const Real* next = first.slot->value;
  for (const Tensor& x : parts) {
    if (x.rank() != 4 || x.slot != first.slot || x.data != next || x.shape[0] != first.shape[0] ||
        x.shape[2] != first.shape[2] || x.stride[0] != first.stride[0] || x.stride[2] != first.stride[2] ||
        x.stride[3] != 1 || x.stride[1] != x.shape[3])
      return false;
    row += x.shape[1] * x.shape[3];
    next += x.shape[1] * x.shape[3];
  }
  return first.stride[2] == row && first.stride[0] == first.shape[2] * row &&
         first.slot->size == first.shape[0] * first.shape[2] * row;
}

} // namespace

Tensor Tape::constant(const Real* values, const Shape& shape) {
  Tensor t = outside(this, here().arena, values, shape);
  t.slot->nested = nested_;
  return t;
}

Tensor Tape::copy(const Real* values, const Shape& shape) {
  Tensor t = make(shape);
  std::copy_n(values, t.size(), t.data);
  return t;
}

Tensor Tape::leaf(const Real* values, Real* gradient, const Shape& shape) {
  Tensor t = outside(this, leaves_, values, shape);
  t.slot->grad = gradient;
  t.slot->requires_grad = recording_ && gradient != nullptr;
  return t;
}

Real* Tape::Region::take_gradient(std::int64_t size) {
  for (FreeList& free_list : free_lists) {
    if (free_list.size == 0) break;
    if (free_list.size == size && free_list.top) {
      auto* p = reinterpret_cast<Real*>(free_list.top);
      free_list.top = free_list.top->next;
      return p;
    }
  }
  return static_cast<Real*>(arena.take(std::max(sizeof(FreeBlock), static_cast<std::size_t>(size) * sizeof(Real))));
}

void Tape::Region::recycle(Real* gradient, std::int64_t size) {
  if (size == 0) return; // size 0 marks an unused free list
  for (FreeList& free_list : free_lists) {
    if (free_list.size == 0) free_list.size = size;
    if (free_list.size == size) {
      free_list.top = new (gradient) FreeBlock{free_list.top};
      return;
    }
  }
}

void Tape::Region::rewind() {
  give_up();
  std::fill(std::begin(free_lists), std::end(free_lists), FreeList{});
  arena.rewind();
}

std::shared_ptr<const std::uint64_t> Tape::generation(const Tensor& x) {
  std::shared_ptr<std::uint64_t>& generation = region_of(*x.slot).generation;
  if (!generation) generation = std::make_shared<std::uint64_t>(0);
  return generation;
}

GradTarget Tape::grad_target(const Tensor& x) {
  Slot& s = *x.slot;
  if (!s.requires_grad) return {};
  if (detects_anomalies_ && touched_count_ < 8) touched_[touched_count_++] = &s;
  if (!s.grad) {
    s.grad = region_of(s).take_gradient(s.size);
    s.owned = true;
  }
  Real* p = s.grad + (x.data - s.value);
  const bool first = !std::exchange(s.written, true);
  if (skips_) return {};
  if (!first) return {p, false};
  if (x.size() == s.size) return {p, true};
  if (counting_only()) return {p, false};
  std::fill_n(s.grad, s.size, Real{0}); // x is a view of a part: the rest of the slot has no gradient yet
  return {p, false};
}

Real* Tape::grad_accumulator(const Tensor& x) {
  const GradTarget into = grad_target(x);
  if (into.overwrite) std::fill_n(x.slot->grad, x.slot->size, Real{0}); // x covers its slot
  return into.p;
}

std::array<GradTarget, 3> Tape::grad_targets(const std::array<Tensor, 3>& operands) {
  const Slot *a = operands[0].slot, *b = operands[1].slot, *c = operands[2].slot;
  std::array<GradTarget, 3> out;
  if (a != b && b != c && a != c) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = grad_target(operands[i]);
    return out;
  }
  const bool fill = side_by_side(operands);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Tensor& x = operands[i];
    const GradTarget whole = grad_target({this, x.slot->value, x.slot, {x.slot->size}, {1}});
    if (!whole) continue;
    // Operands that overlap, or that leave a part uncovered, add to zeros, in any order.
    if (whole.overwrite && !fill && !counting_only()) std::fill_n(whole.p, x.slot->size, Real{0});
    out[i] = {whole.p + (x.data - x.slot->value), fill && (whole.overwrite || (i > 0 && out[0].overwrite))};
  }
  return out;
}

bool Tape::donate_gradient(const Tensor& y, const Tensor& x) {
  Slot& from = *y.slot;
  Slot& to = *x.slot;
  if (!to.requires_grad || to.grad || !from.owned || &from == &to || from.nested != to.nested) return false;
  if (x.size() != to.size || y.size() != from.size || from.size != to.size) return false;
  if (!x.contiguous() || x.data != to.value || !y.contiguous()) return false;
  to.grad = std::exchange(from.grad, nullptr);
  to.owned = true;
  to.written = true;
  from.owned = false;
  if (detects_anomalies_ && touched_count_ < 8) touched_[touched_count_++] = &to;
  return true;
}

void Tape::backward(const Tensor& loss, Real seed) {
  if (loss.tape != this) throw Failed("[backward] the loss is of another tape");
  if (loss.size() != 1)
    throw Failed(fmt::format("[backward] the loss must have one element, it is {}", loss.shape.text()));
  if (!loss.slot->requires_grad) return;
  grad_target(loss).p[0] = seed;
  run_back();
}

void Tape::run_back() {
  // recompute's closure calls run_back again, so the flag is restored at the end
  const bool skipped = skips_, counting = counting_only();
  for (const Node* node = last_; node; node = node->previous) {
    Slot& s = *node->output.slot;
    if (!s.written) continue; // the loss does not depend on this result
    touched_count_ = 0;
    skips_ = counting && !node->counts;
    node->run(node->closure);
    for (int i = 0; i < touched_count_; ++i)
      check_finite(node->name, "a gradient", touched_[i]->grad, touched_[i]->size);
    if (s.owned && s.grad) {
      region_of(s).recycle(s.grad, s.size);
      s.grad = nullptr;
    }
  }
  skips_ = skipped;
  touched_count_ = 0;
  last_ = nullptr;
}

void Tape::rewind() {
  last_ = nullptr;
  nodes_ = 0;
  nested_ = false;
  for (Region& region : regions_) region.rewind();
  leaves_.rewind();
}

Tape::Scratch::Scratch(Tape& tape) : arena_(tape.scratch_) {
  if (arena_.used() > 0) throw Failed("[tape] an operation's scratch is in use: there is one at a time");
}

Tape::ArenaScope::ArenaScope(Tape& tape)
    : tape_(tape), arena_(tape.here().arena), mark_(arena_.mark()), packed_weights_(tape.packed_weights_) {
  if (tape.recording_) throw Failed("[tape] what is recorded can't be given up before the step's end");
  tape.packed_weights_ = nullptr;
}

Tape::ArenaScope::~ArenaScope() {
  arena_.release(mark_);
  tape_.packed_weights_ = packed_weights_;
}

Tape::PackedWeightCache::PackedWeightCache(Tape& tape) : tape_(tape) {
  if (tape.packed_weights_) throw Failed("[tape] there are steps already: there is one walk at a time");
  tape.packed_weights_ = this;
}

Tape::FrozenWeights::FrozenWeights(Tape& tape, const Real* values, std::int64_t n)
    : tape_(tape), values_(values), n_(n) {
  if (tape.frozen_weights_) throw Failed("[tape] there are fixed weights already: those of one model at a time");
  tape.frozen_weights_ = this;
}

Tape::NestedTape::NestedTape(Tape& tape)
    : tape_(tape), last_(tape.last_), nodes_(tape.nodes_), packed_weights_(tape.packed_weights_) {
  if (tape.nested_) throw Failed("[tape] a nested tape can't be nested again");
  tape.regions_[1].rewind();
  tape.last_ = nullptr;
  tape.packed_weights_ = nullptr;
  tape.nested_ = true;
}

Tape::NestedTape::~NestedTape() {
  tape_.last_ = last_;
  tape_.nodes_ = nodes_;
  tape_.packed_weights_ = packed_weights_;
  tape_.nested_ = false;
}

void Tape::check_finite(const char* name, const char* what, const Real* p, std::int64_t n) const {
  for (std::int64_t i = 0; i < n; ++i)
    if (!std::isfinite(p[i]))
      throw Failed(fmt::format("[{}] {} has {} at element {} of {}", name, what,
                               std::isnan(p[i]) ? "a NaN" : "an infinite value", i, n));
}

Op::Op(const char* name, std::initializer_list<const Tensor*> operands, Counts counts) : name_(name), counts_(counts) {
  for (const Tensor* x : operands) {
    if (!x->tape) fail("an operand is empty");
    if (tape_ && x->tape != tape_) fail("the operands are of different tapes");
    tape_ = x->tape;
    requires_grad_ = requires_grad_ || x->slot->requires_grad;
  }
  requires_grad_ = requires_grad_ && tape_->recording_;
}

void Op::fail(const std::string& message) const { throw Failed(fmt::format("[{}] {}", name_, message)); }

Tensor Op::output(const Shape& shape) const {
  Tensor y = tape_->make(shape);
  y.slot->requires_grad = requires_grad_;
  return y;
}

Tensor Op::view(const Tensor& x, Real* data, const Shape& shape, const Shape& stride) {
  return {x.tape, data, x.slot, shape, stride};
}

} // namespace heed::HEED_REAL
