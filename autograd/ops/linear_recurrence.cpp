#include "autograd/linear_recurrence.hpp"

#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/recurrence_block.hpp"
#include "autograd/operation_count.hpp"

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
  BlockRows block(std::int64_t b, std::int64_t h, std::int64_t begin, std::int64_t n) const {
    const auto rows = [&](const Tensor& of, std::int64_t head) { return head_of(of, of.data, b, head).from(begin); };
    BlockRows out{rows(x.queries, h / sharing()), rows(x.keys, h / sharing()), rows(x.values, h), {}, {}, n};
    if (x.write.tape) out.write = rows(x.write, h);
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
    return 4 * static_cast<double>(batch * heads * tokens) * static_cast<double>(sizes.key_width * sizes.value_width);
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
  const Shape state{p.batch, p.heads, p.sizes.key_width, p.sizes.columns()};
  if (x.state.tape && !(x.state.shape == state))
    op.fail(fmt::format("the state must be {}, it is {}", state.text(), x.state.shape.text()));
  p.x = {with_rows_in_one_piece(q),
         with_rows_in_one_piece(k),
         with_rows_in_one_piece(v),
         with_rows_in_one_piece(g),
         x.state.tape ? contiguous(x.state) : Tensor{},
         x.write,
         x.normalized};
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

// What the backward pass needs of a head: the states before its chunks, and a divisor for each token if `normalized`.
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
      room.block.read_writes(p.block(b, h, t, n));
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
  RecurrenceBlock block;
  Real *states, *grad_state;  // [blocks of a chunk] before each block; of the state after the block
  Real *dy_rows, *dy_columns; // [tokens, V], [V, tokens]
  Real *value_columns, *dv;   // [V, tokens], [tokens, V]
  Real *grad_pairs, *columns; // [tokens, tokens], [K, tokens]
  Real *dq, *dk, *dg, *end;   // [tokens, K], [K]

  BackwardRoom(Tape::Scratch& scratch, const RecurrenceSizes& sizes) : block(scratch, sizes) {
    const std::int64_t of_values = block_tokens * sizes.padded_values(), of_keys = block_tokens * block.row();
    states = scratch.take<Real>(chunk_tokens / block_tokens * sizes.state_size());
    grad_state = scratch.take<Real>(sizes.state_size());
    for (Real** of : {&dy_rows, &dy_columns, &value_columns, &dv}) *of = scratch.take<Real>(of_values);
    for (Real** of : {&columns, &dq, &dk, &dg}) *of = scratch.take<Real>(of_keys);
    grad_pairs = scratch.take<Real>(block_tokens * block_tokens);
    end = scratch.take<Real>(block.row());
  }
};

// Where one head's gradients go.
struct HeadGradients {
  GradRows q, k, v, log_decay, write;
  Scattered dy, y;
};

// The gradients of a block's outputs before they were divided, as rows of whole vectors.
PackedRows output_gradients(const BackwardRoom& room, const HeadGradients& to, const Real* divisors, std::int64_t t0) {
  const RecurrenceSizes& sizes = room.block.sizes();
  const std::int64_t n = room.block.tokens(), width = sizes.value_width;
  if (!sizes.normalized) return pack_rows(to.dy.from(t0), n, width, room.dy_rows);
  for (std::int64_t t = 0; t < n; ++t) {
    const Real *dy = to.dy.p + (t0 + t) * to.dy.row, *y = to.y.p + (t0 + t) * to.y.row;
    Real* const row = room.dy_rows + t * sizes.padded_values();
    const Real divisor = divisors[t0 + t];
    std::fill(row + width, row + sizes.padded_values(), Real{0});
    map(width, [&](std::int64_t c, int m) { store(row + c, load(dy + c, m) / Simd(divisor), m); });
    row[width] = -sum_over(width, [&](std::int64_t c, int m) { return load(row + c, m) * load(y + c, m); });
  }
  return {room.dy_rows, sizes.padded_values()};
}

// sum over rows of x y, for each of the room's channels.
void add_products(const Real* x, const Real* y, std::int64_t row, Real* to) {
  map(row, [&](std::int64_t d, int n) { store(to + d, fused(load(x + d, n), load(y + d, n), load(to + d, n), n), n); });
}

// The gradient of the decays, from those of queries and keys: with G_t, the sum of decays up to token t,
// dG_t = q_t dq_t - k_t dk_t; the block's end gets what `end` holds. A decay is a summand of its own sum and of all
// later ones.
void put_decay_gradients(const BackwardRoom& room, const PackedRows& q, const PackedRows& k, const GradRows& to,
                         std::int64_t t0) {
  const std::int64_t row = room.block.row(), n = room.block.tokens(), width = room.block.sizes().key_width;
  const bool by_channel = room.block.sizes().decay == StateDecay::channel;
  double of_head = 0;
  for (std::int64_t t = n - 1; t >= 0; --t) {
    const Real *dq = room.dq + t * row, *dk = room.dk + t * row;
    map(row, [&](std::int64_t d, int m) {
      const Simd here = fused(load(q.p + t * q.row + d, m), load(dq + d, m),
                              load(room.end + d, m) - load(k.p + t * k.row + d, m) * load(dk + d, m), m);
      store(room.end + d, here, m);
    });
    if (by_channel) {
      std::copy_n(room.end, row, room.dg + t * row);
    } else {
      of_head += static_cast<double>(sum_over(row, [&](std::int64_t d, int m) { return load(room.end + d, m); }));
      std::fill_n(room.end, row, Real{0});
      room.dg[t * row] = static_cast<Real>(of_head);
    }
  }
  put_rows(room.dg, row, n, by_channel ? width : 1, 1, to, t0);
}

// Turns gradients of keys times the strength of the write into those of keys, and adds those of the strength.
void leave_write(const BackwardRoom& room, const GradRows& to, std::int64_t t0) {
  const BlockRows& rows = room.block.rows();
  for (std::int64_t t = 0; t < rows.tokens; ++t) {
    Real* const dk = room.dk + t * room.block.row();
    const std::int64_t width = room.block.sizes().key_width;
    if (to.p)
      accumulate(to.p[(t0 + t) * to.row],
                 sum_over(width, [&](std::int64_t d,
                                     int n) { return load(rows.k.p + t * rows.k.row + d, n) * load(dk + d, n); }),
                 to.overwrite);
    const Simd strength(rows.write.p[t * rows.write.row]);
    map(width, [&](std::int64_t d, int n) { store(dk + d, load(dk + d, n) * strength, n); });
  }
}

// The gradients of one block: room.grad_state is that of the state after it, and becomes that of the state before it.
void backward(BackwardRoom& room, const Real* state, const HeadGradients& to, const Real* divisors, std::int64_t t0) {
  RecurrenceBlock& block = room.block;
  const RecurrenceSizes& sizes = block.sizes();
  const std::int64_t n = block.tokens(), K = sizes.key_width, V = sizes.columns(), row = block.row(),
                     v_row = sizes.padded_values();
  const PackedRows &q = block.query_rows(), &k = block.key_rows();
  const PackedRows dy_rows = output_gradients(room, to, divisors, t0);
  const Scattered dy{dy_rows.p, dy_rows.row, 1};
  pack_columns(dy, n, V, 1, room.dy_columns, block_tokens);
  pack_columns({block.value_rows().p, block.value_rows().row, 1}, n, V, 1, room.value_columns, block_tokens);

  small_product(dy, room.value_columns, block_tokens, room.grad_pairs, block_tokens, n, block_tokens, V, false);
  block.weigh(room.grad_pairs);
  if (to.v.p) {
    small_product({block.pairs(), 1, block_tokens}, dy_rows.p, dy_rows.row, room.dv, v_row, n, v_row, n, false);
    small_product({block.decayed_keys(), 1, block_tokens}, room.grad_state, v_row, room.dv, v_row, n, v_row, K, true);
    put_rows(room.dv, v_row, n, sizes.value_width, 1, to.v, t0);
  }

  // Through the state.
  const auto rows_of_state = [&](const Real* of, const Real* right, Real* rows) {
    small_product({of, v_row, 1}, right, block_tokens, room.columns, block_tokens, K, block_tokens, V, false);
    pack_columns({room.columns, block_tokens, 1}, K, n, 1, rows, row);
  };
  rows_of_state(state, room.dy_columns, room.dq);
  block.decay_from_start(room.dq);
  rows_of_state(room.grad_state, room.value_columns, room.dk);
  block.decay_to_end(room.dk);
  if (to.log_decay.p) {
    std::fill_n(room.end, row, Real{0});
    for (std::int64_t t = 0; t < n; ++t) add_products(k.p + t * k.row, room.dk + t * row, row, room.end);
    for (std::int64_t d = 0; d < K; ++d)
      room.end[d] += block.whole(d) * sum_over(v_row, [&](std::int64_t c, int m) {
                       return load(room.grad_state + d * v_row + c, m) * load(state + d * v_row + c, m);
                     });
  }

  block.add_pair_gradients(room.grad_pairs, room.dq, room.dk);
  if (to.log_decay.p) put_decay_gradients(room, q, k, to.log_decay, t0);
  if (block.rows().write.p) leave_write(room, to.write, t0);
  if (to.q.p) put_rows(room.dq, row, n, K, 1, to.q, t0);
  if (to.k.p) put_rows(room.dk, row, n, K, 1, to.k, t0);

  block.decay(room.grad_state);
  small_product({block.decayed_queries(), block_tokens, 1}, dy_rows.p, dy_rows.row, room.grad_state, v_row, K, v_row, n,
                true);
}

// All blocks of one head, from the last to the first. room.grad_state is the gradient of the last state, and becomes
// that of the first.
void backward(const Problem& p, BackwardRoom& room, std::int64_t b, std::int64_t h, const HeadGradients& to,
              const Kept& kept) {
  const std::int64_t size = p.sizes.state_size(), first = p.chunks.first[b];
  for (std::int64_t c = p.chunks.first[b + 1] - 1; c >= first; --c) {
    const Chunk& chunk = p.chunks.all[c];
    const std::int64_t blocks = (chunk.end - chunk.begin + block_tokens - 1) / block_tokens;
    std::copy_n(kept.states + (c - first) * size, size, room.states);
    Problem::each_block(chunk, [&](std::int64_t t, std::int64_t n) {
      const std::int64_t next = (t - chunk.begin) / block_tokens + 1;
      if (next == blocks) return;
      room.block.read_writes(p.block(b, h, t, n));
      room.block.write(std::copy_n(room.states + (next - 1) * size, size, room.states + next * size) - size);
    });
    for (std::int64_t i = blocks - 1; i >= 0; --i) {
      const std::int64_t t = chunk.begin + i * block_tokens;
      room.block.read_writes(p.block(b, h, t, std::min(block_tokens, chunk.end - t)));
      room.block.read_queries();
      backward(room, room.states + i * size, to, kept.divisors, t);
    }
    if (chunk.is_fresh) std::fill_n(room.grad_state, size, Real{0});
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
               or_queries(operands.state), or_queries(operands.write)},
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
    // Decays and strengths that share memory with another operand are added to zeros, as the others are then.
    const auto shares = [](const Tensor& of, std::initializer_list<Tensor> others) {
      return std::ranges::any_of(others, [&](const Tensor& other) { return of.tape && of.slot == other.slot; });
    };
    const auto zeros_if = [&](bool shared, const Tensor& of) {
      return shared ? GradTarget{t.grad_accumulator(of), false} : GradTarget{};
    };
    const bool write_shares = shares(x.write, {x.queries, x.keys, x.values, x.log_decay}),
               decay_shares = shares(x.log_decay, {x.queries, x.keys, x.values});
    const GradTarget of_write = zeros_if(write_shares, x.write), of_decay = zeros_if(decay_shares, x.log_decay);
    const auto [dq, dk, dv] = t.grad_targets({x.queries, x.keys, x.values});
    const GradTarget dg = decay_shares || !x.log_decay.tape ? of_decay : t.grad_target(x.log_decay);
    const GradTarget dw = write_shares || !x.write.tape ? of_write : t.grad_target(x.write);
    const GradTarget d_state = x.state.tape ? t.grad_target(x.state) : GradTarget{};
    Tape::Scratch scratch(t);
    const int threads = each_written_once({dq, dk, dv, dg, dw}) ? threads_of(p, 3 * p.operations()) : 1;
    BackwardRoom* const rooms = rooms_of<BackwardRoom>(threads, scratch, scratch, sizes);
    each_head(p, threads, [&, dq = dq, dk = dk, dv = dv](int thread, std::int64_t b, std::int64_t h) {
      BackwardRoom& room = rooms[thread];
      HeadGradients to{head_of(x.queries, dq, b, h / p.sharing()),
                       head_of(x.keys, dk, b, h / p.sharing()),
                       head_of(x.values, dv, b, h),
                       head_of(x.log_decay, dg, b, h),
                       head_of(x.write, dw, b, h),
                       {dy + b * strides[0] + h * strides[1], strides[2], 1},
                       {y.data + b * strides[0] + h * strides[1], strides[2], 1}};
      if (h % p.sharing() != 0) to.q.overwrite = to.k.overwrite = false;
      if (wants_state) widen(sizes, dy + of_outputs + (b * p.heads + h) * of_state, room.grad_state);
      else std::fill_n(room.grad_state, sizes.state_size(), Real{0});
      backward(p, room, b, h, to, kept_of(b, h));
      const std::int64_t end = p.chunks.of(b) == 0 ? 0 : p.chunks.all[p.chunks.first[b + 1] - 1].end;
      clear_rows(to.q, end, p.tokens, sizes.key_width);
      clear_rows(to.k, end, p.tokens, sizes.key_width);
      clear_rows(to.v, end, p.tokens, sizes.value_width);
      clear_rows(to.write, end, p.tokens, 1);
      clear_rows(to.log_decay, end, p.tokens, sizes.decay == StateDecay::channel ? sizes.key_width : 1);
      if (!d_state) return;
      Real* const of_start = d_state.p + (b * p.heads + h) * of_state;
      for (std::int64_t d = 0; d < sizes.key_width; ++d)
        map(sizes.columns(), [&](std::int64_t c, int n) {
          accumulate(of_start + d * sizes.columns() + c, load(room.grad_state + d * sizes.padded_values() + c, n),
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
