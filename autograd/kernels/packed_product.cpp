#include "autograd/kernels/packed_product.hpp"

#include "autograd/arena.hpp"
#include "autograd/kernels/packing.hpp"
#include "autograd/operation_count.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The depth of a product's blocks (packed_product.cpp). Gathering more rows would gain nothing.
constexpr std::int64_t enough_rows = 256;

void add_gathered(PackedWeight& s) {
  const Tensor& w = s.weight;
  const GradTarget d = s.gathered > 0 ? w.tape->grad_target(w) : GradTarget{};
  if (d)
    gemm(row_major(s.grad_outputs, s.gathered, w.shape[0]).transposed(), row_major(s.inputs, s.gathered, w.shape[1]),
         {d.p, w.shape[0], w.shape[1], w.stride[0], w.stride[1]}, 1, d.overwrite ? 0 : 1);
  s.gathered = 0;
}

PackedWeight* make(const Tensor& w, std::int64_t rows, PackedWeight* next) {
  const Op op("packed_weight", {&w}, Counts::yes);
  Tape& tape = op.tape();
  const Matrix m{w.data, w.shape[0], w.shape[1], w.stride[0], w.stride[1]};
  auto* s = new (tape.keep<PackedWeight>(1)) PackedWeight{};
  s->weight = w;
  s->next = next;
  const auto packed = [&](const Matrix& of) -> PackedMatrix {
    Real* to = tape.keep<Real>(packed_size(of.rows, of.columns));
    return op.computes() ? pack_matrix(of, to) : PackedMatrix{to, of.rows, of.columns};
  };
  s->forwards = packed(m.transposed());
  s->room = std::max(rows, enough_rows / rows * rows);
  s->node = op.output({1});
  s->node.data[0] = 0; // anomaly detection reads it
  if (!tape.recording()) return s;
  s->backwards = packed(m);
  if (!op.requires_grad()) return s;
  s->inputs = tape.keep<Real>(s->room * m.columns);
  s->grad_outputs = tape.keep<Real>(s->room * m.rows);
  op.record(s->node, [=] { add_gathered(*s); });
  return s;
}

// Extents of the blocks. A panel of b [depth_block, block_vectors lanes] fits the first-level cache. A block of a
// [row_block, depth_block] and a block of b [depth_block, column_block] fit the second-level cache.
constexpr std::int64_t depth_block = 256, column_block = 512 / sizeof(Real) * sizeof(float),
                       row_block = 40 * block_rows;

// Buffers for packed copies. Each thread keeps its own, so that a training step allocates nothing. They are
// uninitialised, so that small products touch only a part of the memory.
struct Rooms {
  Arena memory;
  Real* a = memory.take_array<Real>(row_block * depth_block);
  Real* b = memory.take_array<Real>(depth_block * (column_block + lanes));
};
Rooms& rooms() {
  thread_local Rooms kept;
  return kept;
}

// Divides the columns of a block into panels. The panels differ by at most one vector, so that the last panel is not
// much narrower than the others.
struct Cuts {
  std::int64_t vectors, count;
  explicit Cuts(std::int64_t columns)
      : vectors(whole_vectors(columns) / lanes), count((vectors + block_vectors - 1) / block_vectors) {}
  std::int64_t begin(std::int64_t panel) const { return panel * vectors / count * lanes; }
};

// Packs rows k .. k + depth - 1 and columns j0 .. j0 + columns - 1 of b, times alpha, panel by panel. Each panel is
// [depth, whole_vectors(its columns)]. Reads b along its contiguous axis.
void pack_block(const Matrix& b, std::int64_t k, std::int64_t depth, std::int64_t j0, std::int64_t columns, Real alpha,
                const Cuts& panels, Real* to) {
  const Real* from = b.p + k * b.row_stride + j0 * b.column_stride;
  if (b.column_stride == 1) {
    for (std::int64_t r = 0; r < depth; ++r)
      for (std::int64_t p = 0; p < panels.count; ++p) {
        const std::int64_t j = panels.begin(p), n = std::min(panels.begin(p + 1), columns) - j;
        Real* row = to + j * depth + r * whole_vectors(n);
        map(n, [&](std::int64_t i, int count) {
          (load(from + r * b.row_stride + j + i, count) * alpha).store_unaligned(row + i);
        });
      }
    return;
  }
  for (std::int64_t p = 0; p < panels.count; ++p) {
    const std::int64_t j = panels.begin(p), n = std::min(panels.begin(p + 1), columns) - j;
    pack_columns({from + j * b.column_stride, b.column_stride, b.row_stride}, n, depth, alpha, to + j * depth,
                 whole_vectors(n));
  }
}

// Copies a block of a whose column elements are contiguous (row stride 1) and whose columns are far apart. The copy is
// compact and avoids strides of a power of two, which would map all columns to the same cache sets.
Scattered gather_block(const Scattered& a, std::int64_t rows, std::int64_t depth, Real* to) {
  for (std::int64_t k = 0; k < depth; ++k)
    map(rows, [&](std::int64_t i, int n) { store(to + k * row_block + i, load(a.p + k * a.column + i, n), n); });
  return {to, 1, row_block};
}

// The end of a panel whose last vector extends beyond c: computed in a local tile, then copied.
template <int Vectors>
void edge_block(std::int64_t rows, const Scattered& a, const Real* b, std::int64_t n, Real* c, std::int64_t c_row,
                std::int64_t depth, Start start, const Real* start_row) {
  constexpr std::int64_t width = Vectors * lanes;
  alignas(64) Real tile[block_rows * width], row[width];
  if (start == Start::there)
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(c + i * c_row, n, tile + i * width);
  if (start == Start::row) std::copy_n(start_row, n, row);
  product_block_of<block_rows, Vectors>(rows, a, b, width, tile, width, depth, start, row);
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(tile + i * width, n, c + i * c_row);
}

// Computes c [rows, n] from a block of a and one packed panel of b; n is at most Vectors lanes.
template <int Vectors>
void times_panel(std::int64_t rows, const Scattered& a, const Real* b, std::int64_t n, Real* c, std::int64_t c_row,
                 std::int64_t depth, Start start, const Real* start_row, const Finish* finish) {
  constexpr std::int64_t width = Vectors * lanes;
  if (whole_vectors(n) != width) {
    if constexpr (Vectors > 1) times_panel<Vectors - 1>(rows, a, b, n, c, c_row, depth, start, start_row, finish);
    return;
  }
  for (std::int64_t i = 0; i < rows; i += block_rows) {
    const std::int64_t together = std::min<std::int64_t>(block_rows, rows - i);
    if (n == width)
      product_block_of<block_rows, Vectors>(together, a.from(i), b, width, c + i * c_row, c_row, depth, start,
                                            start_row);
    else edge_block<Vectors>(together, a.from(i), b, n, c + i * c_row, c_row, depth, start, start_row);
    if (finish)
      for (std::int64_t r = i; r < i + together; ++r) finish->run(finish->context, c + r * c_row, n);
  }
}

// c = start + a b. block(k0, depth, j0, columns, panels) returns this block of b, packed.
template <class Block>
void blocked_product(const Matrix& a, const Matrix& c, Start start, const Real* start_row, const Finish* finish,
                     const Block& block_of_b) {
  Rooms& room = rooms();
  const std::int64_t m = c.rows, n = c.columns, depth = a.columns;
  const bool gathered = gathers(a);
  for (std::int64_t j0 = 0; j0 < n; j0 += column_block) {
    const std::int64_t columns = std::min(column_block, n - j0);
    const Cuts panels(columns);
    for (std::int64_t k0 = 0; k0 < depth; k0 += depth_block) {
      const std::int64_t k = std::min(depth_block, depth - k0);
      const Start from = k0 > 0 ? Start::there : start;
      const Real* b = block_of_b(k0, k, j0, columns, panels);
      for (std::int64_t i0 = 0; i0 < m; i0 += row_block) {
        const std::int64_t rows = std::min(row_block, m - i0);
        const Scattered there{a.p + i0 * a.row_stride + k0 * a.column_stride, a.row_stride, a.column_stride};
        const Scattered block = gathered ? gather_block(there, rows, k, room.a) : there;
        for (std::int64_t p = 0; p < panels.count; ++p) {
          const std::int64_t j = panels.begin(p), end = std::min(panels.begin(p + 1), columns);
          times_panel<block_vectors>(rows, block, b + j * k, end - j, c.p + i0 * c.row_stride + j0 + j, c.row_stride, k,
                                     from, start_row ? start_row + j0 + j : nullptr,
                                     k0 + k == depth ? finish : nullptr);
        }
      }
    }
  }
}

// The offset within a packed matrix of the block that begins at row k0 and column j0.
std::int64_t place_of_block(std::int64_t rows, std::int64_t k0, std::int64_t j0, std::int64_t columns) {
  return j0 * rows + k0 * whole_vectors(columns);
}

} // namespace

Real* PackedWeight::gather(const Matrix& x) {
  const GradTarget mark = weight.tape->grad_target(node);
  if (!mark) return nullptr;
  *mark.p = 0;
  if (gathered + x.rows > room) add_gathered(*this);
  Real* to = inputs + gathered * x.columns;
  for (std::int64_t i = 0, some = counting_only() ? 0 : x.rows; i < some; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) to[i * x.columns + j] = x.p[i * x.row_stride + j * x.column_stride];
  Real* dy = grad_outputs + gathered * weight.shape[0];
  gathered += x.rows;
  return dy;
}

PackedWeight* packed_weight(const Tensor& w, std::int64_t rows) {
  if (!own_product) return nullptr;
  Tape::PackedWeightCache* steps = w.tape->packed_weights();
  if (!steps || rows == 0 || w.size() == 0) return nullptr;
  for (PackedWeight* s = steps->weights; s; s = s->next)
    if (s->weight.slot == w.slot && s->weight.data == w.data && s->weight.shape == w.shape)
      return rows <= s->room ? s : nullptr;
  return steps->weights = make(w, rows, steps->weights);
}

const PackedMatrix* frozen_weight(const Tensor& w) {
  if (!own_product || counting_only() || w.size() == 0) return nullptr;
  Tape::FrozenWeights* fixed = w.tape->frozen_weights();
  if (!fixed || w.tape->recording() || !fixed->has(w.data)) return nullptr;
  for (FrozenWeight* f = fixed->weights; f; f = f->next)
    if (f->data == w.data && f->shape == w.shape && f->stride == w.stride) return &f->packed;
  const Matrix m{w.data, w.shape[0], w.shape[1], w.stride[0], w.stride[1]};
  Real* to = fixed->memory.take_array<Real>(packed_size(m.columns, m.rows));
  auto* made = new (fixed->memory.take_array<FrozenWeight>(1))
      FrozenWeight{w.data, w.shape, w.stride, pack_matrix(m.transposed(), to), fixed->weights};
  fixed->weights = made;
  return &made->packed;
}

bool gathers(const Matrix& a) { return a.row_stride == 1 && a.column_stride > 512; }

void packed_product(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Start start, const Real* start_row,
                    const Finish* finish) {
  Real* room = rooms().b;
  blocked_product(a, c, start, start_row, finish,
                  [&](std::int64_t k0, std::int64_t k, std::int64_t j0, std::int64_t columns, const Cuts& panels) {
                    pack_block(b, k0, k, j0, columns, alpha, panels, room);
                    return room;
                  });
}

void packed_product(const Matrix& a, const PackedMatrix& b, const Matrix& c, Start start, const Real* start_row,
                    const Finish* finish) {
  blocked_product(a, c, start, start_row, finish,
                  [&](std::int64_t k0, std::int64_t, std::int64_t j0, std::int64_t columns, const Cuts&) {
                    return b.p + place_of_block(b.rows, k0, j0, columns);
                  });
}

std::int64_t packed_size(std::int64_t rows, std::int64_t columns) { return rows * whole_vectors(columns); }

PackedMatrix pack_matrix(const Matrix& b, Real* to) {
  for (std::int64_t j0 = 0; j0 < b.columns; j0 += column_block) {
    const std::int64_t columns = std::min(column_block, b.columns - j0);
    for (std::int64_t k0 = 0; k0 < b.rows; k0 += depth_block)
      pack_block(b, k0, std::min(depth_block, b.rows - k0), j0, columns, 1, Cuts(columns),
                 to + place_of_block(b.rows, k0, j0, columns));
  }
  return {to, b.rows, b.columns};
}

} // namespace heed::HEED_REAL
