#include "autograd/linear_recurrence.hpp"

#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/recurrence_gradients.hpp"
#include "autograd/operation_count.hpp"

#include <array>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The backward pass stores the state before each chunk.
constexpr std::int64_t chunk_tokens = 4 * block_tokens;

struct Chunk {
  std::int64_t begin, end;
  bool is_fresh; // is the state before it zero, because a segment begins?
};
// The chunks of each sequence, one after the other.
struct Chunks {
  const Chunk* all;
  const std::int64_t* first; // [B + 1]

  std::int64_t of(std::int64_t b) const { return first[b + 1] - first[b]; }
};

Chunks chunks_of(Tape& tape, std::int64_t batch, std::int64_t tokens, const RecurrenceBounds& bounds) {
  std::vector<Chunk> all;
  std::vector<std::int64_t> first{0};
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = bounds.lengths ? std::clamp<std::int64_t>(bounds.lengths[b], 0, tokens) : tokens;
    const std::int32_t* const numbers = bounds.segments.numbers ? bounds.segments.of(b) + bounds.first : nullptr;
    const auto begins_segment = [&](std::int64_t t) {
      return numbers && (t > 0 || bounds.first > 0) && numbers[t] != numbers[t - 1];
    };
    for (std::int64_t t = 0; t < length;) {
      Chunk chunk{t, t + 1, begins_segment(t)};
      while (chunk.end < length && chunk.end - t < chunk_tokens && !begins_segment(chunk.end)) ++chunk.end;
      t = chunk.end;
      all.push_back(chunk);
    }
    first.push_back(static_cast<std::int64_t>(all.size()));
  }
  return {tape.keep_copy(all.data(), static_cast<std::int64_t>(all.size())), tape.keep_copy(first.data(), batch + 1)};
}

// The shape of the problem, and its operands with rows in one piece.
struct Problem {
  LinearRecurrenceOperands x;
  RecurrenceSizes sizes;
  std::int64_t batch, key_heads, heads, tokens;
  Chunks chunks;

  std::int64_t sharing() const { return heads / key_heads; }
  const Tensor& erasers() const { return sizes.own_erase_keys ? x.erase_keys : x.erase; }
  BlockRows block(std::int64_t b, std::int64_t h, std::int64_t begin, std::int64_t n) const {
    const auto rows = [&](const Tensor& of, std::int64_t head) { return head_of(of, of.data, b, head).from(begin); };
    BlockRows out{rows(x.queries, h / sharing()), rows(x.keys, h / sharing()), rows(x.values, h), {}, {}, {}, n};
    if (x.write.tape) out.write = rows(x.write, h);
    if (sizes.erases()) out.erase = rows(erasers(), h);
    if (!x.log_decay.tape) return out;
    const Tensor& g = x.log_decay;
    const auto stride = [&](int axis) { return g.shape[axis] == 1 ? 0 : g.stride[axis]; };
    out.log_decay = {g.data + b * stride(0) + h * stride(1) + begin * stride(2), stride(2), g.stride[3]};
    return out;
  }
  /// Calls f(first token, tokens) for the blocks of a chunk.
  template <class F> static void each_block(const Chunk& chunk, F&& f) {
    for (std::int64_t t = chunk.begin; t < chunk.end; t += block_tokens) f(t, std::min(block_tokens, chunk.end - t));
  }
  double operations() const {
    return (sizes.erases() ? 6 : 4) * static_cast<double>(batch * heads * tokens) *
           static_cast<double>(sizes.key_width * sizes.value_width);
  }
};

Tensor with_rows_in_one_piece(const Tensor& x) { return x.tape && x.stride[3] != 1 ? contiguous(x) : x; }

Problem problem_of(const Op& op, const LinearRecurrenceOperands& x, const RecurrenceBounds& bounds) {
  const Tensor &q = x.queries, &k = x.keys, &v = x.values, &g = x.log_decay;
  op.check(q.rank() == 4 && v.rank() == 4, "q and v need four axes, they have {} and {}", q.rank(), v.rank());
  Problem p{};
  p.batch = q.shape[0];
  p.key_heads = q.shape[1];
  p.tokens = q.shape[2];
  p.heads = v.shape[1];
  p.sizes = {q.shape[3], v.shape[3], StateDecay::none, x.normalized};
  if (!(k.shape == q.shape) || !(v.shape == Shape{p.batch, p.heads, p.tokens, v.shape[3]}) || p.key_heads < 1 ||
      p.heads % p.key_heads != 0)
    op.fail(
        fmt::format("q, k and v must be [B, Hk, T, K], [B, Hk, T, K] and [B, H, T, V] with H a multiple of Hk: q is "
                    "{}, k is {}, v is {}",
                    q.shape.text(), k.shape.text(), v.shape.text()));
  if (g.tape) {
    p.sizes.decay = g.rank() == 4 && g.shape[3] != 1 ? StateDecay::channel : StateDecay::head;
    const bool by_token = g.shape == Shape{p.batch, p.heads, p.tokens, 1} ||
                          g.shape == Shape{p.batch, p.heads, p.tokens, p.sizes.key_width};
    if (!by_token && (!(g.shape == Shape{1, p.heads, 1, 1}) || g.slot->requires_grad))
      op.fail(fmt::format("the decay must be [{}, {}, {}, {} or 1], or [1, {}, 1, 1] without a gradient, it is {}",
                          p.batch, p.heads, p.tokens, p.sizes.key_width, p.heads, g.shape.text()));
  }
  if (x.write.tape && !(x.write.shape == Shape{p.batch, p.heads, p.tokens, 1}))
    op.fail(fmt::format("the strength of the write must be [{}, {}, {}, 1], it is {}", p.batch, p.heads, p.tokens,
                        x.write.shape.text()));
  if (const Tensor& e = x.erase; e.tape) {
    p.sizes.erase_width = e.rank() == 4 ? e.shape[3] : 0;
    if (!(e.shape == Shape{p.batch, p.heads, p.tokens, 1}) &&
        !(e.shape == Shape{p.batch, p.heads, p.tokens, p.sizes.key_width}))
      op.fail(fmt::format("the strength of the erase must be [{}, {}, {}, {} or 1], it is {}", p.batch, p.heads,
                          p.tokens, p.sizes.key_width, e.shape.text()));
  }
  if (const Tensor& e = x.erase_keys; e.tape) {
    op.check(!x.erase.tape, "erase keys have no strength of the erase");
    p.sizes.erase_width = p.sizes.key_width;
    p.sizes.own_erase_keys = true;
    if (!(e.shape == Shape{p.batch, p.heads, p.tokens, p.sizes.key_width}))
      op.fail(fmt::format("the erase keys must be [{}, {}, {}, {}], they are {}", p.batch, p.heads, p.tokens,
                          p.sizes.key_width, e.shape.text()));
  }
  if (p.sizes.erases())
    op.check(!x.normalized, "outputs can't be divided by the sum of their weights where the state is erased");
  const Shape state{p.batch, p.heads, p.sizes.key_width, p.sizes.columns()};
  if (x.state.tape && !(x.state.shape == state))
    op.fail(fmt::format("the state must be {}, it is {}", state.text(), x.state.shape.text()));
  p.x = {with_rows_in_one_piece(q),
         with_rows_in_one_piece(k),
         with_rows_in_one_piece(v),
         with_rows_in_one_piece(g),
         x.state.tape ? contiguous(x.state) : Tensor{},
         x.write,
         p.sizes.erase_width == 1 ? x.erase : with_rows_in_one_piece(x.erase),
         x.normalized,
         with_rows_in_one_piece(x.erase_keys)};
  p.chunks = chunks_of(op.tape(), p.batch, p.tokens, bounds);
  return p;
}

// A state to rows of whole vectors.
void widen(const RecurrenceSizes& sizes, const Real* from, Real* to) {
  const std::int64_t width = sizes.columns(), row = sizes.padded_values();
  for (std::int64_t d = 0; d < sizes.key_width; ++d) {
    std::copy_n(from + d * width, width, to + d * row);
    std::fill(to + d * row + width, to + (d + 1) * row, Real{0});
  }
}

int threads_of(const Problem& p, double operations) {
  constexpr double per_nanosecond = 30;
  return static_cast<int>(std::min<std::int64_t>(threads_for(operations / per_nanosecond),
                                                 std::max<std::int64_t>(p.batch * p.key_heads, 1)));
}

// Calls f(thread, b, h) for every head. One thread has all heads that share queries and keys.
template <class F> void each_head(const Problem& p, int threads, F&& f) {
  if (counting_only()) return;
  run_parts(threads, [&](int thread, int) {
    const std::int64_t groups = p.batch * p.key_heads, end = begin_of_part(groups, thread + 1, threads);
    for (std::int64_t group = begin_of_part(groups, thread, threads); group < end; ++group)
      for (std::int64_t h = 0; h < p.sharing(); ++h)
        f(thread, group / p.key_heads, group % p.key_heads * p.sharing() + h);
  });
}

struct ForwardRoom {
  RecurrenceBlock block;
  Real *state, *outputs;

  ForwardRoom(Tape::Scratch& scratch, const RecurrenceSizes& sizes)
      : block(scratch, sizes), state(scratch.take<Real>(sizes.state_size())),
        outputs(scratch.take<Real>(block_tokens * sizes.padded_values())) {}
};

// Divides rows of outputs by the sums of their weights, which become `divisors`.
void divide(const RecurrenceSizes& sizes, Real* rows, std::int64_t tokens, Real* divisors) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    Real* const row = rows + t * sizes.padded_values();
    divisors[t] = row[sizes.value_width] == 0 ? 1 : row[sizes.value_width];
    map(sizes.padded_values(), [&](std::int64_t c, int) { store(row + c, load(row + c) / Simd(divisors[t])); });
  }
}

// What the backward pass needs of a head: states before its chunks, and a divisor for each token if `normalized`.
struct Kept {
  Real *states = nullptr, *divisors = nullptr;
};

// The outputs of one head to rows of y. Leaves the last state in the room. `kept` is written to, unless it is empty.
void forward(const Problem& p, ForwardRoom& room, std::int64_t b, std::int64_t h, const GradRows& y, Kept kept) {
  const RecurrenceSizes& sizes = p.sizes;
  if (p.x.state.tape) widen(sizes, p.x.state.data + (b * p.heads + h) * sizes.key_width * sizes.columns(), room.state);
  else std::fill_n(room.state, sizes.state_size(), Real{0});
  std::int64_t done = 0;
  for (std::int64_t c = p.chunks.first[b]; c < p.chunks.first[b + 1]; ++c) {
    const Chunk& chunk = p.chunks.all[c];
    if (chunk.is_fresh) std::fill_n(room.state, sizes.state_size(), Real{0});
    if (kept.states) kept.states = std::copy_n(room.state, sizes.state_size(), kept.states);
    Problem::each_block(chunk, [&](std::int64_t t, std::int64_t n) {
      room.block.read_writes(p.block(b, h, t, n), room.state);
      room.block.read_queries();
      room.block.outputs(room.state, room.outputs, sizes.padded_values());
      if (sizes.normalized) {
        Real divisors[block_tokens];
        divide(sizes, room.outputs, n, kept.divisors ? kept.divisors + t : divisors);
      }
      put_rows(room.outputs, sizes.padded_values(), n, sizes.value_width, 1, y, t);
      room.block.write(room.state);
    });
    done = chunk.end;
  }
  for (std::int64_t t = done; t < p.tokens; ++t) std::fill_n(y.p + t * y.row, sizes.value_width, Real{0});
}

struct BackwardRoom {
  RecurrenceGradients gradients;
  Real* states; // before each block of a chunk

  BackwardRoom(Tape::Scratch& scratch, const RecurrenceSizes& sizes)
      : gradients(scratch, sizes), states(scratch.take<Real>(chunk_tokens / block_tokens * sizes.state_size())) {}
};

// All blocks of one head, from the last to the first. The gradient of the last state becomes that of the first. `kept`
// are the states before the chunks.
void backward(const Problem& p, BackwardRoom& room, std::int64_t b, std::int64_t h, const HeadGradients& to,
              const Real* kept) {
  RecurrenceBlock& block = room.gradients.block;
  const std::int64_t size = p.sizes.state_size(), first = p.chunks.first[b];
  for (std::int64_t c = p.chunks.first[b + 1] - 1; c >= first; --c) {
    const Chunk& chunk = p.chunks.all[c];
    const std::int64_t blocks = (chunk.end - chunk.begin + block_tokens - 1) / block_tokens;
    std::copy_n(kept + (c - first) * size, size, room.states);
    Problem::each_block(chunk, [&](std::int64_t t, std::int64_t n) {
      const std::int64_t next = (t - chunk.begin) / block_tokens + 1;
      if (next == blocks) return;
      const Real* const state = room.states + (next - 1) * size;
      block.read_writes(p.block(b, h, t, n), state);
      block.write(std::copy_n(state, size, room.states + next * size) - size);
    });
    for (std::int64_t i = blocks - 1; i >= 0; --i) {
      const std::int64_t t = chunk.begin + i * block_tokens;
      block.read_writes(p.block(b, h, t, std::min(block_tokens, chunk.end - t)), room.states + i * size);
      block.read_queries();
      room.gradients.put(room.states + i * size, to, t);
    }
    if (chunk.is_fresh) std::fill_n(room.gradients.grad_state, size, Real{0});
  }
}

// Gradients of padding are zero.
void clear_rows(const GradRows& to, std::int64_t begin, std::int64_t end, std::int64_t width) {
  if (!to.p || !to.overwrite) return;
  for (std::int64_t t = begin; t < end; ++t)
    for (std::int64_t d = 0; d < width; ++d) to.p[t * to.row + d * to.column] = 0;
}

} // namespace

LinearRecurrenceResult linear_recurrence(const LinearRecurrenceOperands& operands, const RecurrenceBounds& bounds,
                                         bool wants_state) {
  const auto or_queries = [&](const Tensor& x) { return x.tape ? &x : &operands.queries; };
  const Op op("linear_recurrence",
              {&operands.queries, &operands.keys, &operands.values, or_queries(operands.log_decay),
               or_queries(operands.state), or_queries(operands.write), or_queries(operands.erase),
               or_queries(operands.erase_keys)},
              Counts::yes);
  const Problem p = problem_of(op, operands, bounds);
  const RecurrenceSizes& sizes = p.sizes;
  Tape& tape = op.tape();
  // The outputs, followed by the states if they are wanted.
  const std::int64_t of_outputs = p.batch * p.tokens * p.heads * sizes.value_width,
                     of_state = sizes.key_width * sizes.columns();
  const Tensor y = op.output({of_outputs + (wants_state ? p.batch * p.heads * of_state : 0)});
  const Shape outputs{p.batch, p.heads, p.tokens, sizes.value_width},
      strides{p.tokens * p.heads * sizes.value_width, sizes.value_width, p.heads * sizes.value_width, 1};
  Kept all;
  if (op.requires_grad()) {
    all.states = tape.keep<Real>(p.chunks.first[p.batch] * p.heads * sizes.state_size());
    if (sizes.normalized) all.divisors = tape.keep<Real>(p.batch * p.heads * p.tokens);
  }
  const auto kept_of = [=](std::int64_t b, std::int64_t h) {
    Kept of = all;
    if (of.states) of.states += (p.chunks.first[b] * p.heads + h * p.chunks.of(b)) * sizes.state_size();
    if (of.divisors) of.divisors += (b * p.heads + h) * p.tokens;
    return of;
  };
  count_operations(p.operations());
  {
    Tape::Scratch scratch(tape);
    const int threads = threads_of(p, p.operations());
    ForwardRoom* const rooms = rooms_of<ForwardRoom>(threads, scratch, scratch, sizes);
    each_head(p, threads, [&](int thread, std::int64_t b, std::int64_t h) {
      forward(p, rooms[thread], b, h, {y.data + b * strides[0] + h * strides[1], strides[2], 1, true}, kept_of(b, h));
      if (!wants_state) return;
      for (std::int64_t d = 0; d < sizes.key_width; ++d)
        std::copy_n(rooms[thread].state + d * sizes.padded_values(), sizes.columns(),
                    y.data + of_outputs + (b * p.heads + h) * of_state + d * sizes.columns());
    });
  }

  op.record(y, [=] {
    Tape& t = *y.tape;
    const LinearRecurrenceOperands& x = p.x;
    count_operations(2 * p.operations());
    const Real* dy = t.grad(y);
    // One tensor may be the strength of write and erase: each of its numbers belongs to one head.
    const bool one_strength = x.erase.tape && x.erase.data == x.write.data && x.erase.shape == x.write.shape &&
                              x.erase.stride == x.write.stride;
    // Decays and strengths that share memory with another operand are added to zeros, as the others are then.
    const std::array<Tensor, 3> more{x.log_decay, x.write, one_strength ? Tensor{} : p.erasers()};
    std::array<GradTarget, 3> of_more;
    const auto targets_of = [&](bool shared, const auto& target) {
      for (std::size_t i = 0; i < more.size(); ++i) {
        const auto has_slot = [&](const Tensor& other) { return other.slot == more[i].slot; };
        const auto sharing = std::ranges::count_if(more, has_slot) +
                             std::ranges::count_if(std::array{x.queries, x.keys, x.values}, has_slot);
        if (more[i].tape && (sharing > 1) == shared) of_more[i] = target(more[i]);
      }
    };
    targets_of(true, [&](const Tensor& of) { return GradTarget{t.grad_accumulator(of), false}; });
    const auto [dq, dk, dv] = t.grad_targets({x.queries, x.keys, x.values});
    targets_of(false, [&](const Tensor& of) { return t.grad_target(of); });
    const GradTarget dg = of_more[0], dw = of_more[1], de = one_strength ? GradTarget{dw.p, false} : of_more[2];
    const GradTarget d_state = x.state.tape ? t.grad_target(x.state) : GradTarget{};
    Tape::Scratch scratch(t);
    const int threads = each_written_once({dq, dk, dv, dg, dw, of_more[2]}) ? threads_of(p, 3 * p.operations()) : 1;
    BackwardRoom* const rooms = rooms_of<BackwardRoom>(threads, scratch, scratch, sizes);
    each_head(p, threads, [&, dq = dq, dk = dk, dv = dv](int thread, std::int64_t b, std::int64_t h) {
      BackwardRoom& room = rooms[thread];
      Real* const grad_state = room.gradients.grad_state;
      const Kept kept = kept_of(b, h);
      HeadGradients to{head_of(x.queries, dq, b, h / p.sharing()),
                       head_of(x.keys, dk, b, h / p.sharing()),
                       head_of(x.values, dv, b, h),
                       head_of(x.log_decay, dg, b, h),
                       head_of(x.write, dw, b, h),
                       head_of(p.erasers(), de, b, h),
                       {dy + b * strides[0] + h * strides[1], strides[2], 1},
                       {y.data + b * strides[0] + h * strides[1], strides[2], 1},
                       kept.divisors};
      if (h % p.sharing() != 0) to.q.overwrite = to.k.overwrite = false;
      if (wants_state) widen(sizes, dy + of_outputs + (b * p.heads + h) * of_state, grad_state);
      else std::fill_n(grad_state, sizes.state_size(), Real{0});
      backward(p, room, b, h, to, kept.states);
      const std::int64_t end = p.chunks.of(b) == 0 ? 0 : p.chunks.all[p.chunks.first[b + 1] - 1].end;
      clear_rows(to.q, end, p.tokens, sizes.key_width);
      clear_rows(to.k, end, p.tokens, sizes.key_width);
      clear_rows(to.v, end, p.tokens, sizes.value_width);
      clear_rows(to.write, end, p.tokens, 1);
      clear_rows(to.erase, end, p.tokens, sizes.erase_width);
      clear_rows(to.log_decay, end, p.tokens, sizes.decay == StateDecay::channel ? sizes.key_width : 1);
      if (!d_state) return;
      Real* const of_start = d_state.p + (b * p.heads + h) * of_state;
      for (std::int64_t d = 0; d < sizes.key_width; ++d)
        map(sizes.columns(), [&](std::int64_t c, int n) {
          accumulate(of_start + d * sizes.columns() + c, load(grad_state + d * sizes.padded_values() + c, n),
                     d_state.overwrite, n);
        });
    });
  });

  LinearRecurrenceResult result{Op::view(y, y.data, outputs, strides), {}};
  if (wants_state)
    result.state = Op::view(y, y.data + of_outputs, {p.batch, p.heads, sizes.key_width, sizes.columns()},
                            {p.heads * of_state, of_state, sizes.columns(), 1});
  return result;
}

} // namespace heed::HEED_REAL
