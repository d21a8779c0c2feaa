#include "autograd/relative.hpp"

#include "autograd/kernels/packing.hpp"
#include "autograd/kernels/small_product.hpp"
#include "autograd/ops.hpp"

#include <algorithm>
#include <numeric>

namespace heed::HEED_REAL {

namespace {

// Rows of queries with clipped distances to their keys. Keys in [0, begin) are clipped to -clip, keys in [end, keys) to
// clip. In between, the distance grows by one per key.
struct Distances {
  std::int64_t rows, queries, keys, clip, offset;

  struct Row {
    std::int64_t begin, end, column; // the column of key `begin`
  };
  Row row(std::int64_t r) const {
    const std::int64_t at = r % queries + offset;
    const std::int64_t begin = std::clamp<std::int64_t>(at - clip, 0, keys);
    const std::int64_t end = std::clamp<std::int64_t>(at + clip + 1, begin, keys);
    return {begin, end, begin - at + clip};
  }
  std::int64_t columns() const { return 2 * clip + 1; }

  // y = p or y += p, where p [rows, columns] is indexed by distance and y [rows, keys] by key.
  void spread(const Real* p, Real* y, bool overwrite) const {
    for (std::int64_t r = 0; r < rows; ++r, p += columns(), y += keys) {
      const Row d = row(r);
      for (std::int64_t j = 0; j < d.begin; ++j) accumulate(y[j], p[0], overwrite);
      map(d.end - d.begin,
          [&](std::int64_t j, int n) { accumulate(y + d.begin + j, load(p + d.column + j, n), overwrite, n); });
      for (std::int64_t j = d.end; j < keys; ++j) accumulate(y[j], p[columns() - 1], overwrite);
    }
  }
  // y [rows, columns] = or += the sum of w [rows, keys] over the keys at each clipped distance.
  void gather(const Real* w, Real* y, bool overwrite) const {
    for (std::int64_t r = 0; r < rows; ++r, w += keys, y += columns()) {
      const Row d = row(r);
      if (overwrite) std::fill_n(y, columns(), Real{0});
      y[0] += std::accumulate(w, w + d.begin, Real{0});
      for (std::int64_t j = d.begin; j < d.end; ++j) y[d.column + j - d.begin] += w[j];
      y[columns() - 1] += std::accumulate(w + d.end, w + keys, Real{0});
    }
  }
};

// The largest tile of the bias.
constexpr std::int64_t most_queries = 48, most_keys = 128;

class NumbersByDistance final : public AttentionBias {
public:
  NumbersByDistance(const Tensor& numbers, std::int64_t offset)
      : numbers_(numbers), clip_(numbers.shape[-1] / 2), offset_(offset) {}

  bool requires_grad() const override { return numbers_.slot->requires_grad; }
  void open(Tape& tape) override { gradient_ = tape.grad_accumulator(numbers_); }

  void add(const ScoreTile& tile, Real* scores) const override {
    each_row(tile, [&](std::int64_t r, std::int64_t at, const Part& low, const Part& middle, const Part& high) {
      const Real* p = numbers_.data + at;
      Real* s = scores + r * tile.row;
      for (std::int64_t c = low.begin; c < low.end; ++c) s[c] += p[0];
      map(middle.end - middle.begin, [&](std::int64_t c, int n) {
        Real* to = s + middle.begin + c;
        store(to, load(to, n) + load(p + middle.column + c, n), n);
      });
      for (std::int64_t c = high.begin; c < high.end; ++c) s[c] += p[2 * clip_];
    });
  }
  void add_gradients(const ScoreTile& tile, const Real* grad_scores) override {
    if (!gradient_) return;
    each_row(tile, [&](std::int64_t r, std::int64_t at, const Part& low, const Part& middle, const Part& high) {
      Real* p = gradient_ + at;
      const Real* s = grad_scores + r * tile.row;
      p[0] += std::accumulate(s + low.begin, s + low.end, Real{0});
      map(middle.end - middle.begin, [&](std::int64_t c, int n) {
        Real* to = p + middle.column + c;
        store(to, load(to, n) + load(s + middle.begin + c, n), n);
      });
      p[2 * clip_] += std::accumulate(s + high.begin, s + high.end, Real{0});
    });
  }

private:
  // A range of columns of a tile, and the distance column of its first one.
  struct Part {
    std::int64_t begin, end, column;
  };
  template <class F> void each_row(const ScoreTile& tile, F&& f) const {
    const Shape& s = numbers_.shape;
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      const std::int64_t row = ((s[0] == 1 ? 0 : tile.b) * s[1] + (s[1] == 1 ? 0 : tile.h)) * s[2] +
                               (s[2] == 1 ? 0 : tile.i + r);
      const std::int64_t here = tile.i + r + offset_ - tile.j; // the query's own position among the tile's columns
      const std::int64_t begin = std::clamp<std::int64_t>(here - clip_, 0, tile.keys);
      const std::int64_t end = std::clamp<std::int64_t>(here + clip_ + 1, begin, tile.keys);
      f(r, row * s[3], Part{0, begin, 0}, Part{begin, end, begin - here + clip_}, Part{end, tile.keys, 2 * clip_});
    }
  }

  Tensor numbers_;
  std::int64_t clip_, offset_;
  Real* gradient_ = nullptr;
};

// Multiplies a tile's queries by the vectors of all distances that occur in the tile. In the product matrix, each row
// is shifted by one from the previous row: the tile's columns of row r start at column `queries - 1 - r` ("skewing" in
// Huang et al. 2018, arXiv 1809.04281).
class ProductsByDistance final : public AttentionBias {
public:
  ProductsByDistance(const Tensor& queries, const Tensor& vectors, std::int64_t lowest, std::int64_t offset)
      : queries_(queries), vectors_(vectors), lowest_(lowest), offset_(offset), width_(queries.shape[3]),
        padded_(whole_vectors(width_)) {
    Tape& tape = *queries.tape;
    rows_ = tape.keep<Real>(most_distances * padded_);
    columns_ = tape.keep<Real>(width_ * most_distances);
    products_ = tape.keep<Real>(most_queries * most_distances);
    some_queries_ = tape.keep<Real>(most_queries * padded_);
    sums_ = tape.keep<Real>(std::max(most_queries, most_distances) * padded_);
  }

  bool serves_several_threads() const override { return false; }
  bool requires_grad() const override { return queries_.slot->requires_grad || vectors_.slot->requires_grad; }
  void open(Tape& tape) override {
    d_vectors_ = tape.grad_accumulator(vectors_);
    d_queries_ = tape.grad_accumulator(queries_);
  }

  void add(const ScoreTile& whole, Real* all) const override {
    in_parts(whole, [&](const ScoreTile& tile, std::int64_t at) {
      Real* scores = all + at;
      const std::int64_t n = take_vectors(tile);
      pack_columns({rows_, padded_, 1}, n, width_, 1, columns_, most_distances);
      small_product(queries_of(tile), columns_, most_distances, products_, most_distances, tile.queries,
                    whole_vectors(n), width_, false);
      for (std::int64_t r = 0; r < tile.queries; ++r) {
        const Real* p = products_ + r * most_distances + tile.queries - 1 - r;
        Real* s = scores + r * tile.row;
        map(tile.keys, [&](std::int64_t c, int m) { store(s + c, load(s + c, m) + load(p + c, m), m); });
      }
    });
  }

  void add_gradients(const ScoreTile& whole, const Real* all) override {
    in_parts(whole, [&](const ScoreTile& tile, std::int64_t at) {
      const std::int64_t n = take_vectors(tile);
      for (std::int64_t r = 0; r < tile.queries; ++r) {
        Real* p = products_ + r * most_distances;
        std::fill_n(p, n, Real{0});
        std::copy_n(all + at + r * tile.row, tile.keys, p + tile.queries - 1 - r);
      }
      if (d_queries_) {
        small_product({products_, most_distances, 1}, rows_, padded_, sums_, padded_, tile.queries, padded_, n, false);
        for (std::int64_t r = 0; r < tile.queries; ++r)
          for (std::int64_t d = 0; d < width_; ++d)
            d_queries_[place(tile) + r * queries_.stride[2] + d * queries_.stride[3]] += sums_[r * padded_ + d];
      }
      if (!d_vectors_) return;
      const PackedRows q = pack_rows(queries_of(tile), tile.queries, width_, some_queries_);
      small_product({products_, 1, most_distances}, q.p, q.row, sums_, padded_, n, padded_, tile.queries, false);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t d = 0; d < width_; ++d) d_vectors_[vector_at(tile, k) + d] += sums_[k * padded_ + d];
    });
  }

private:
  static constexpr std::int64_t most_distances = (most_queries + most_keys - 1 + lanes - 1) / lanes * lanes;

  template <class F> static void in_parts(const ScoreTile& tile, F&& f) {
    for (std::int64_t i = 0; i < tile.queries; i += most_queries)
      for (std::int64_t j = 0; j < tile.keys; j += most_keys)
        f(ScoreTile{tile.b, tile.h, tile.i + i, std::min(most_queries, tile.queries - i), tile.j + j,
                    std::min(most_keys, tile.keys - j), tile.row},
          i * tile.row + j);
  }
  std::int64_t place(const ScoreTile& tile) const {
    const Shape& s = queries_.stride;
    return tile.b * s[0] + tile.h * s[1] + tile.i * s[2];
  }
  Scattered queries_of(const ScoreTile& tile) const {
    return {queries_.data + place(tile), queries_.stride[2], queries_.stride[3]};
  }
  // The offset of the vector for the tile's k-th distance. Distance 0 of the tile is that of its last query and first
  // key.
  std::int64_t vector_at(const ScoreTile& tile, std::int64_t k) const {
    const std::int64_t distance = tile.j - (tile.i + offset_ + tile.queries - 1) + k;
    const std::int64_t head = vectors_.shape[0] == 1 ? 0 : tile.h;
    return (head * vectors_.shape[1] + std::clamp<std::int64_t>(distance - lowest_, 0, vectors_.shape[1] - 1)) * width_;
  }
  std::int64_t take_vectors(const ScoreTile& tile) const {
    const std::int64_t n = tile.queries + tile.keys - 1;
    for (std::int64_t k = 0; k < n; ++k) {
      std::copy_n(vectors_.data + vector_at(tile, k), width_, rows_ + k * padded_);
      std::fill_n(rows_ + k * padded_ + width_, padded_ - width_, Real{0});
    }
    return n;
  }

  Tensor queries_, vectors_;
  std::int64_t lowest_, offset_, width_, padded_;
  Real *rows_, *columns_, *products_, *some_queries_, *sums_; // buffers of the current tile
  Real *d_queries_ = nullptr, *d_vectors_ = nullptr;
};

} // namespace

AttentionBias* bias_by_distance(const Tensor& numbers, std::int64_t offset) {
  const Op op("bias_by_distance", {&numbers});
  op.check(numbers.rank() == 4 && numbers.shape[-1] % 2 == 1,
           "the numbers must be [B or 1, H or 1, Tq or 1, 2 clip + 1], they are {}", numbers.shape.text());
  return keep_bias(op.tape(), NumbersByDistance(contiguous(numbers), offset));
}

AttentionBias* bias_by_vector(const Tensor& queries, const Tensor& vectors, std::int64_t lowest, std::int64_t offset) {
  const Op op("bias_by_vector", {&queries, &vectors});
  op.check(queries.rank() == 4 && vectors.rank() == 3 && vectors.shape[1] > 0 && vectors.shape[2] == queries.shape[3] &&
               (vectors.shape[0] == 1 || vectors.shape[0] == queries.shape[1]),
           "the queries must be [B, H, Tq, D] and the vectors [H or 1, n, D], they are {} and {}", queries.shape.text(),
           vectors.shape.text());
  return keep_bias(op.tape(), ProductsByDistance(queries, contiguous(vectors), lowest, offset));
}

Tensor add_bias(const Tensor& scores, AttentionBias* bias) {
  if (!bias) return scores;
  Op op("add_bias", {&scores});
  op.require_grad(bias->requires_grad());
  op.check(scores.rank() == 4, "scores must be [B, H, Tq, Tk], they are {}", scores.shape.text());
  const Tensor x = contiguous(scores), y = op.output(x.shape);
  const std::int64_t heads = x.shape[1], queries = x.shape[2], keys = x.shape[3];
  std::copy_n(x.data, x.size(), y.data);
  const auto each_tile = [=](auto&& f) {
    for (std::int64_t b = 0; b < x.shape[0]; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < queries; i += most_queries)
          for (std::int64_t j = 0; j < keys; j += most_keys)
            f(ScoreTile{b, h, i, std::min(most_queries, queries - i), j, std::min(most_keys, keys - j), keys},
              ((b * heads + h) * queries + i) * keys + j);
  };
  each_tile([&](const ScoreTile& tile, std::int64_t at) { bias->add(tile, y.data + at); });
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    bias->open(tape);
    each_tile([&](const ScoreTile& tile, std::int64_t at) { bias->add_gradients(tile, dy + at); });
    bias->close(tape);
    if (tape.donate_gradient(y, x)) return;
    if (const GradTarget dx = tape.grad_target(x))
      map(x.size(), [&](std::int64_t at, int n) { accumulate(dx.p + at, load(dy + at, n), dx.overwrite, n); });
  });
  return y;
}

Tensor sum_by_distance(const Tensor& input, std::int64_t clip, std::int64_t offset) {
  const Op op("sum_by_distance", {&input});
  op.check(input.rank() >= 2, "w must be [..., Tq, Tk], it is {}", input.shape.text());
  op.check(clip >= 0, "the clip is {}", clip);
  const Tensor w = contiguous(input);
  std::int64_t rows = 1;
  for (int i = 0; i < w.rank() - 1; ++i) rows *= w.shape[i];
  Shape shape = w.shape;
  shape[-1] = 2 * clip + 1;
  const Distances d{rows, w.shape[-2], w.shape[-1], clip, offset};
  const Tensor y = op.output(shape);
  d.gather(w.data, y.data, true);
  op.record(y, [=] {
    if (const GradTarget into = y.tape->grad_target(w)) d.spread(y.tape->grad(y), into.p, into.overwrite);
  });
  return y;
}

} // namespace heed::HEED_REAL
