#include "autograd/operation_count.hpp"
#include "autograd/row_rule.hpp"
#include "layers/attention/key_selection.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

Tensor KeySelection::weights(Pass& pass, const Normalizer& normalizer, const Tensor& scores, const Mask& mask,
                             const Tensor&) const {
  return normalizer(pass, scores, mask);
}

void keep_best(std::vector<std::int64_t>& blocks, const std::vector<Real>& scores, std::int64_t count) {
  if (std::ssize(blocks) <= count) return;
  const auto score = [&](std::int64_t block) {
    const Real s = scores[static_cast<std::size_t>(block)];
    return std::isnan(s) ? -std::numeric_limits<Real>::infinity() : s;
  };
  std::ranges::partial_sort(blocks, blocks.begin() + count, [&](std::int64_t a, std::int64_t b) {
    return score(a) > score(b) || (score(a) == score(b) && a < b);
  });
  blocks.resize(static_cast<std::size_t>(count));
}

namespace {

/// A block: the keys begin ... end - 1.
struct Block {
  std::int64_t begin, end;
};

/// The blocks of `keys` keys, and the block of each key.
struct Blocks {
  std::vector<Block> all;
  std::vector<std::int64_t> of_key;

  /// `segments`: the number of the segment of each key; null: there are none.
  Blocks(std::int64_t keys, std::int64_t most, const std::int32_t* segments) {
    for (std::int64_t j = 0; j < keys; ++j) {
      if (j == 0 || j - all.back().begin == most || (segments && segments[j] != segments[j - 1])) all.push_back({j, j});
      all.back().end = j + 1;
      of_key.push_back(std::ssize(all) - 1);
    }
  }
};

/// Mixture of block attention (MoBA, Lu et al. 2025, arXiv 2502.13189, section 2.2). Query i attends to the keys of its
/// own block up to its own, and to those of the n - 1 blocks before it with the largest scores
///   q_i . mean over j in block of k_j,
/// with queries and keys as the score sees them: after norms and rotations. The normaliser acts on the scores of these
/// keys. Each head chooses for itself. If the mask hides all keys of a block from the query, it is not chosen. Nothing
/// is learned, and no gradient flows through the choice.
class BlockChoice final : public KeySelection {
public:
  explicit BlockChoice(const SelectionSizes& sizes) : block_(sizes.block), count_(sizes.chosen) {}

  bool acts(std::int64_t keys, const Mask& mask) const override {
    return mask.key_segments.numbers || keys > block_ * count_;
  }

  Mask chosen(const Tensor& q, const Tensor& k, const Mask& mask) const override {
    const std::int64_t batch = q.shape[0], heads = q.shape[1], queries = q.shape[2], keys = k.shape[2];
    Mask out = mask;
    auto* const allowed = q.tape->keep<std::uint8_t>(batch * heads * queries * keys);
    out.allowed = allowed;
    out.allowed_shared = false;
    out.allowed_heads = heads;
    out.allowed_row = out.allowed_matrix = 0;
    count_operations(static_cast<double>(batch * heads) * operations(queries, keys, q.shape[3], mask.offset));
    if (counting_only()) return out;
    std::fill_n(allowed, batch * heads * queries * keys, std::uint8_t{0});
    for (std::int64_t b = 0; b < batch; ++b) {
      const Blocks blocks(keys, block_, mask.key_segments.numbers ? mask.key_segments.of(b) : nullptr);
      for (std::int64_t h = 0; h < heads; ++h)
        choose(Head{q, k, b, h}, blocks, mask, allowed + (b * heads + h) * queries * keys);
    }
    return out;
  }

private:
  /// The queries and keys of a head.
  struct Head {
    const Tensor &q, &k;
    std::int64_t b, h;

    static void read(const Tensor& x, std::int64_t b, std::int64_t h, std::int64_t t, std::vector<Real>& to) {
      const Real* from = x.data + b * x.stride[0] + h * x.stride[1] + t * x.stride[2];
      for (std::size_t d = 0; d < to.size(); ++d) to[d] = from[static_cast<std::int64_t>(d) * x.stride[3]];
    }
    void query(std::int64_t i, std::vector<Real>& to) const { read(q, b, h, i, to); }
    void key(std::int64_t j, std::vector<Real>& to) const { read(k, b, h, j, to); }
  };

  // The sums of the keys, and the products with the means that are compared.
  double operations(std::int64_t queries, std::int64_t keys, std::int64_t width, std::int64_t offset) const {
    double products = 0;
    for (std::int64_t i = 0; i < queries; ++i)
      if (const std::int64_t earlier = (i + offset) / block_; earlier >= count_)
        products += static_cast<double>(earlier);
    return static_cast<double>(width) * (static_cast<double>(keys) + 2 * products);
  }

  static std::vector<Real> means(const Head& head, const Blocks& blocks) {
    const std::int64_t width = head.k.shape[3];
    std::vector<Real> out, key(static_cast<std::size_t>(width));
    std::vector<double> total(key.size());
    for (const Block& block : blocks.all) {
      std::ranges::fill(total, 0);
      for (std::int64_t j = block.begin; j < block.end; ++j) {
        head.key(j, key);
        for (std::size_t d = 0; d < key.size(); ++d) total[d] += static_cast<double>(key[d]);
      }
      for (const double sum : total)
        out.push_back(static_cast<Real>(sum / static_cast<double>(block.end - block.begin)));
    }
    return out;
  }

  // Sets what a head's queries may attend to, [Tq, Tk].
  void choose(const Head& head, const Blocks& blocks, const Mask& mask, std::uint8_t* allowed) const {
    const std::int64_t queries = head.q.shape[2], keys = head.k.shape[2], width = head.q.shape[3];
    const std::vector<Real> of_blocks = means(head, blocks);
    std::vector<Real> query(static_cast<std::size_t>(width)), scores(blocks.all.size());
    std::vector<std::int64_t> best;
    for (std::int64_t i = 0; i < queries; ++i, allowed += keys) {
      const Mask::Range range = mask.range(head.b, i, keys);
      const std::uint8_t* const shown = mask.row(head.b, head.h, i, queries, keys);
      const auto sees = [&](std::int64_t j) { return range.has(j) && (!shown || shown[j]); };
      const std::int64_t own = blocks.of_key[static_cast<std::size_t>(std::min(i + mask.offset, keys - 1))];
      best.clear();
      for (std::int64_t block = 0; block < own; ++block) {
        std::int64_t j = blocks.all[static_cast<std::size_t>(block)].begin;
        const std::int64_t end = blocks.all[static_cast<std::size_t>(block)].end;
        while (j < end && !sees(j)) ++j;
        if (j < end) best.push_back(block);
      }
      if (std::ssize(best) >= count_) {
        head.query(i, query);
        for (const std::int64_t block : best)
          scores[static_cast<std::size_t>(block)] = row_dot(query.data(), of_blocks.data() + block * width, width);
        keep_best(best, scores, count_ - 1);
      }
      best.push_back(own);
      for (const std::int64_t block : best)
        for (std::int64_t j = blocks.all[static_cast<std::size_t>(block)].begin;
             j < blocks.all[static_cast<std::size_t>(block)].end; ++j)
          allowed[j] = sees(j) ? 1 : 0;
    }
  }

  std::int64_t block_, count_;
};

// Are the keys of `block` chosen by query i? All keys of all heads are in the sequence.
bool is_chosen(const PartSequence& sequence, const SelectionSizes& sizes, std::int64_t head, std::int64_t i,
               std::int64_t block) {
  const PartSizes& s = sequence.sizes;
  const std::int64_t maps = s.query_heads / s.heads, key_maps = s.key_heads / s.value_heads,
                     of_key = head / maps / (s.heads / s.value_heads) * key_maps + head % maps % key_maps;
  const auto score = [&](std::int64_t of) {
    double sum = 0;
    for (std::int64_t j = of * sizes.block; j < (of + 1) * sizes.block; ++j)
      for (std::int64_t d = 0; d < s.query_width; ++d)
        sum += static_cast<double>(
                   sequence.q[static_cast<std::size_t>(i)][static_cast<std::size_t>(head * s.query_width + d)]) *
               static_cast<double>(
                   sequence.k[static_cast<std::size_t>(j)][static_cast<std::size_t>(of_key * s.query_width + d)]);
    return sum / static_cast<double>(sizes.block);
  };
  const double own = score(block);
  std::int64_t better = 0;
  for (std::int64_t other = 0; other < i / sizes.block; ++other)
    better += other != block && (score(other) > own || (score(other) == own && other < block)) ? 1 : 0;
  return better < sizes.chosen - 1;
}

std::vector<double> loops(const PartSequence& sequence, const SelectionSizes& sizes, std::int64_t head, std::int64_t i,
                          const std::vector<std::vector<double>>& scores, const std::vector<double>&) {
  std::vector<double> out;
  double total = 0;
  bool sees = false;
  for (std::int64_t j = 0; j <= i; ++j) {
    const std::int64_t block = j / sizes.block;
    if (j % sizes.block == 0) sees = block == i / sizes.block || is_chosen(sequence, sizes, head, i, block);
    out.push_back(sees ? std::exp(scores[static_cast<std::size_t>(head)][static_cast<std::size_t>(j)]) : 0);
    total += out.back();
  }
  for (double& w : out) w /= total;
  return out;
}

} // namespace

extern const SelectionKind selection_moba{.make = [](const SelectionSizes& sizes) -> std::unique_ptr<KeySelection> {
                                            return std::make_unique<BlockChoice>(sizes);
                                          },
                                          .gates = 0,
                                          .loops = loops};

} // namespace heed::HEED_REAL
