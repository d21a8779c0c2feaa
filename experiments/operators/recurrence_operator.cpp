#include "experiments/operators/recurrence_operator.hpp"

#include "autograd/error.hpp"
#include "autograd/linear_recurrence.hpp"
#include "autograd/recompute.hpp"
#include "experiments/operators/operator_checks.hpp"
#include "experiments/operators/operator_memory.hpp"
#include "experiments/operators/operator_table.hpp"
#include "experiments/operators/pool.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

bool is_given(const StridedArray& array) { return array.shape.rank > 0; }

void check(const RecurrenceCall& call, const RecurrenceArrays& results) {
  constexpr std::array names = {"q", "k", "v", "the decay", "the initial state", "the strength"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const StridedArray& x = *call.inputs()[i]; i < 3 || is_given(x)) check_array(names[i], x, 4);
  const Shape &q = call.queries.shape, &v = call.values.shape;
  const std::int64_t batch = q[0], heads = v[1], tokens = q[2], keys = q[3], values = v[3];
  if (!(call.keys.shape == q) || v[0] != batch || v[2] != tokens || q[1] < 1 || heads % q[1] != 0 || keys < 1 ||
      values < 1)
    throw Refused(fmt::format("q {}, k {} and v {} do not fit together: they must be [B, Hk, T, K], [B, Hk, T, K] and "
                              "[B, H, T, V], with H a multiple of Hk",
                              q.text(), call.keys.shape.text(), v.text()));
  for (const std::size_t i : {3, 5})
    if (const StridedArray& x = *call.inputs()[i]; is_given(x))
      check_shape(names[i], x.shape, {batch, heads, tokens, x.shape[3] == 1 ? 1 : keys});
  const Shape state{batch, heads, keys, values};
  if (is_given(call.initial_state)) check_shape("the initial state", call.initial_state.shape, state);
  for (std::size_t i = 3; i < names.size(); ++i)
    if (call.differentiable[i] && !is_given(*call.inputs()[i]))
      throw Refused(fmt::format("{} is absent, so it has no gradient", names[i]));
  check_array("the result", results.outputs, 4);
  check_shape("the result's shape", results.outputs.shape, v);
  if (is_given(results.final_state)) {
    check_array("the final state", results.final_state, 4);
    check_shape("the final state's shape", results.final_state.shape, state);
  }
  if (!call.lengths || batch == 0) return;
  const auto [least, greatest] = std::minmax_element(call.lengths, call.lengths + batch);
  if (*least < 0 || *greatest > tokens)
    throw Refused(fmt::format("lengths has values from {} to {}; there are {} tokens", *least, *greatest, tokens));
}

// A part of the batch on one tape.
struct Part {
  TapeLease tape;
  std::int64_t first = 0, count = 0;
  std::vector<Tensor> leaves;        // of the arguments that require a gradient, in order
  std::vector<std::int64_t> entries; // of each, the distance of a gradient's entries
  LinearRecurrenceResult result;
};

class State final : public OperatorState {
public:
  State(const RecurrenceCall& c, bool wants) : call(c), wants_state(wants) {}
  RecurrenceCall call;
  bool wants_state;
  std::vector<Part> parts;
};

// Do two calls have the same arguments, those that are arrays in the same memory?
bool same_memory(const RecurrenceCall& a, const RecurrenceCall& b) {
  const auto same = [](const StridedArray* x, const StridedArray* y) {
    return x->data == y->data && x->shape == y->shape && x->stride == y->stride;
  };
  return std::ranges::equal(a.inputs(), b.inputs(), same) && a.differentiable == b.differentiable &&
         a.lengths == b.lengths && a.segments == b.segments;
}

void run_part(const RecurrenceCall& call, Part& part, bool wants_state) {
  std::array<Tensor, 6> on;
  for (std::size_t i = 0; i < on.size(); ++i) {
    const StridedArray& array = *call.inputs()[i];
    if (!is_given(array)) continue;
    const Shape stride = gradient_strides(array.shape, array.stride);
    const OperatorOperand x = operand(*part.tape, entries_of(array, part.first, part.count), call.differentiable[i],
                                      stride);
    on[i] = x.value;
    if (!x.leaf.tape) continue;
    part.leaves.push_back(x.leaf);
    part.entries.push_back(stride[0]);
  }
  const std::int64_t tokens = call.queries.shape[2];
  const RecurrenceBounds bounds{.lengths = call.lengths ? call.lengths + part.first : nullptr,
                                .segments = {call.segments ? call.segments + part.first * tokens : nullptr, tokens}};
  const Tensor write = is_given(call.erase) && call.erase.shape[3] == 1 ? on[5] : Tensor{};
  part.result = linear_recurrence({on[0], on[1], on[2], on[3], on[4], write, on[5]}, bounds, wants_state);
}

// Writes the results, if `to` is not null. Null if no argument requires a gradient.
std::unique_ptr<State> run(const RecurrenceCall& call, const RecurrenceArrays* to, bool wants_state) {
  const std::int64_t batch = call.queries.shape[0];
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(batch, std::max(call.threads, 1)));
  const bool records = std::ranges::count(call.differentiable, true) > 0;
  auto state = std::make_unique<State>(call, wants_state);
  for (std::size_t n = 0; n < count; ++n) {
    Part& part = state->parts.emplace_back();
    const int all = static_cast<int>(count), number = static_cast<int>(n);
    part.first = begin_of_part(batch, number, all);
    part.count = begin_of_part(batch, number + 1, all) - part.first;
  }
  const ThreadPoolLease threads(call.threads);
  threads->run(static_cast<int>(count), [&](int number, int) {
    Part& part = state->parts[static_cast<std::size_t>(number)];
    part.tape->record(records);
    run_part(call, part, wants_state);
    const auto put = [&](const StridedArray& array, const Tensor& x) {
      const StridedArray some = entries_of(array, part.first, part.count);
      put_into(constant_view(*part.tape, static_cast<Real*>(some.data), some.shape, some.stride), x);
    };
    if (!to) return;
    put(to->outputs, part.result.outputs);
    if (wants_state) put(to->final_state, part.result.state);
  });
  if (!records) return nullptr;
  return state;
}

} // namespace

std::unique_ptr<OperatorState> recurrence_forward(const RecurrenceCall& call, const RecurrenceArrays& to) {
  check(call, to);
  return run(call, &to, is_given(to.final_state));
}

void recurrence_backward(const RecurrenceCall& call, std::unique_ptr<OperatorState> given, const RecurrenceArrays& of,
                         const std::vector<void*>& gradients) {
  check(call, of);
  std::unique_ptr<State> state(dynamic_cast<State*>(given.get()));
  if (state) static_cast<void>(given.release());
  const bool wants_state = is_given(of.final_state);
  if (state && (state->wants_state != wants_state || !same_memory(state->call, call))) state.reset();
  if (!state) state = run(call, nullptr, wants_state);
  if (!state) return;
  const ThreadPoolLease threads(call.threads);
  threads->run(static_cast<int>(state->parts.size()), [&](int number, int) {
    Part& part = state->parts[static_cast<std::size_t>(number)];
    for (std::size_t i = 0; i < part.leaves.size(); ++i)
      part.leaves[i].slot->grad = static_cast<Real*>(gradients.at(i)) + part.first * part.entries[i];
    std::vector<std::pair<Tensor, StridedArray>> ends;
    ends.emplace_back(part.result.outputs, entries_of(of.outputs, part.first, part.count));
    if (wants_state) ends.emplace_back(part.result.state, entries_of(of.final_state, part.first, part.count));
    part.tape->backward(with_gradients(ends));
    for (const Tensor& leaf : part.leaves)
      if (Tape::untouched(leaf)) std::fill_n(leaf.slot->grad, leaf.size(), Real{0});
  });
}

} // namespace heed::HEED_REAL
