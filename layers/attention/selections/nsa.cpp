#include "autograd/operation_count.hpp"
#include "autograd/ops.hpp"
#include "layers/attention/key_selection.hpp"
#include "layers/attention/normalizer.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

// The memory of a mask for each head.
std::uint8_t* begin_of(Mask& mask, Tape& tape, std::int64_t batch, std::int64_t heads, std::int64_t queries,
                       std::int64_t keys) {
  auto* const allowed = tape.keep<std::uint8_t>(batch * heads * queries * keys);
  mask.allowed = allowed;
  mask.allowed_shared = false;
  mask.allowed_heads = heads;
  mask.allowed_row = mask.allowed_matrix = 0;
  if (!counting_only()) std::fill_n(allowed, batch * heads * queries * keys, std::uint8_t{0});
  return allowed;
}

/// Native sparse attention (NSA, Yuan et al. 2025, arXiv 2502.11089). A query has three branches, each with a gate
/// sigmoid(W x) for each token and head, and its weights are the sum of
///
/// | gate | branch | weights |
/// |---|---|---|
/// | 0 | compressed | the normaliser's of blocks, evenly divided among the keys of each block |
/// | 1 | selected | the normaliser's of the keys of the chosen blocks |
/// | 2 | window | the normaliser's of the last `window` keys |
///
/// The score of a block is the mean of the scores of its keys. If scores are products, it is that of the query and the
/// mean key, so the compressed branch is attention to mean keys and mean values, as in flash-linear-attention. (The
/// paper learns how to compress, and has keys and values of its own for each branch.) The compressed branch sees the
/// blocks before the query's own of which the mask hides no key. The selected branch sees the query's own block, and of
/// those blocks the n - 1 with the largest sums of compressed weights over the heads that share values. A branch
/// without keys gives 0.
class Branches final : public KeySelection {
public:
  explicit Branches(const SelectionSizes& sizes) : sizes_(sizes) {}

  bool acts(std::int64_t, const Mask&) const override { return true; }
  // The blocks before a query's own are in the compressed branch, and its own is chosen.
  Mask chosen(const Tensor&, const Tensor&, const Mask& mask) const override { return mask; }

  Tensor weights(Pass& pass, const Normalizer& normalizer, const Tensor& scores, const Mask& mask,
                 const Tensor& gates) const override {
    const auto gated = [&](std::int64_t branch, const Tensor& w) { return mul(w, slice(gates, 3, branch, 1)); };
    const std::int64_t blocks = scores.shape[3] / sizes_.block;
    Mask near = mask;
    near.window = sizes_.window - 1;
    near.prefix = 0;
    const Tensor in_window = gated(2, normalizer(pass, scores, near));
    Mask open{.offset = mask.offset};
    std::uint8_t* const is_open = begin_of(open, *scores.tape, scores.shape[0], scores.shape[1], scores.shape[2],
                                           blocks);
    if (!counting_only()) find_open(mask, scores.shape, blocks, is_open);
    const Tensor compressed = blocks > 0 ? normalizer(pass, of_blocks(scores, blocks), open) : Tensor{};
    Mask selected = mask;
    std::uint8_t* const allowed = begin_of(selected, *scores.tape, scores.shape[0], scores.shape[1], scores.shape[2],
                                           scores.shape[3]);
    if (!counting_only()) choose(mask, scores.shape, compressed, is_open, allowed);
    const Tensor out = add(in_window, gated(1, normalizer(pass, scores, selected)));
    return blocks > 0 ? add(out, gated(0, divided(compressed, scores.shape[3]))) : out;
  }

private:
  // The means of the scores of each whole block, [B, H, Tq, blocks].
  Tensor of_blocks(const Tensor& scores, std::int64_t blocks) const {
    const Shape& s = scores.shape;
    const Tensor whole = slice(scores, 3, 0, blocks * sizes_.block);
    return mean(reshape(whole, {s[0], s[1], s[2], blocks, sizes_.block}), -1);
  }
  // The weight of each block, evenly divided among its keys.
  Tensor divided(const Tensor& w, std::int64_t keys) const {
    const Shape& s = w.shape;
    const Tensor part = w.tape->make({1, sizes_.block});
    std::fill_n(part.data, sizes_.block, 1 / static_cast<Real>(sizes_.block));
    const Tensor of_keys = reshape(mul(unsqueeze(w, 4), part), {s[0], s[1], s[2], s[3] * sizes_.block});
    const std::int64_t rest = keys - s[3] * sizes_.block;
    return rest == 0 ? of_keys : concat({of_keys, w.tape->zeros({s[0], s[1], s[2], rest})}, 3);
  }

  // Which blocks before a query's own have only keys that the mask shows, [B, H, Tq, blocks].
  void find_open(const Mask& mask, const Shape& s, std::int64_t blocks, std::uint8_t* is_open) const {
    for (std::int64_t b = 0; b < s[0]; ++b)
      for (std::int64_t h = 0; h < s[1]; ++h)
        for (std::int64_t i = 0; i < s[2]; ++i, is_open += blocks) {
          const Mask::Range range = mask.range(b, i, s[3]);
          const std::uint8_t* const shown = mask.row(b, h, i, s[2], s[3]);
          const std::int64_t earlier = std::min((i + mask.offset) / sizes_.block, blocks);
          for (std::int64_t block = 0; block < earlier; ++block) {
            std::int64_t j = block * sizes_.block;
            const std::int64_t end = j + sizes_.block;
            while (j < end && range.has(j) && (!shown || shown[j])) ++j;
            is_open[block] = j == end ? 1 : 0;
          }
        }
  }

  // Sets what queries attend to in the selected branch, [B, H, Tq, Tk]. The weights of blocks are empty if there are no
  // blocks.
  void choose(const Mask& mask, const Shape& s, const Tensor& of_blocks, const std::uint8_t* is_open,
              std::uint8_t* allowed) const {
    const Tensor w = of_blocks.tape ? contiguous(of_blocks) : Tensor{};
    const std::int64_t heads = s[1], queries = s[2], keys = s[3], blocks = keys / sizes_.block,
                       sharing = heads / sizes_.groups;
    std::vector<Real> sums(static_cast<std::size_t>(blocks));
    std::vector<std::int64_t> best;
    for (std::int64_t b = 0; b < s[0]; ++b)
      for (std::int64_t first = 0; first < heads; first += sharing)
        for (std::int64_t i = 0; i < queries; ++i) {
          best.clear();
          for (std::int64_t block = 0; block < blocks; ++block) {
            bool is_candidate = false;
            Real sum = 0;
            for (std::int64_t h = first; h < first + sharing; ++h) {
              const std::int64_t at = ((b * heads + h) * queries + i) * blocks + block;
              is_candidate = is_candidate || is_open[at];
              sum += w.data[at];
            }
            sums[static_cast<std::size_t>(block)] = sum;
            if (is_candidate) best.push_back(block);
          }
          keep_best(best, sums, sizes_.chosen - 1);
          best.push_back(std::min(i + mask.offset, keys - 1) / sizes_.block);
          for (std::int64_t h = first; h < first + sharing; ++h) {
            const std::uint8_t* const shown = mask.row(b, h, i, queries, keys);
            std::uint8_t* const to = allowed + ((b * heads + h) * queries + i) * keys;
            for (const std::int64_t block : best)
              for (std::int64_t j = block * sizes_.block; j < std::min((block + 1) * sizes_.block, keys); ++j)
                to[j] = shown ? shown[j] : 1;
          }
        }
  }

  SelectionSizes sizes_;
};

// softmax over the scores with `counts`; others get 0.
std::vector<double> softmax_of(const std::vector<double>& scores, const std::vector<bool>& counts) {
  std::vector<double> out(scores.size());
  double total = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) total += out[j] = counts[j] ? std::exp(scores[j]) : 0;
  if (total > 0)
    for (double& w : out) w /= total;
  return out;
}

std::vector<double> loops(const PartSequence&, const SelectionSizes& sizes, std::int64_t head, std::int64_t i,
                          const std::vector<std::vector<double>>& scores, const std::vector<double>& gates) {
  const std::int64_t own = i / sizes.block, heads = std::ssize(scores), sharing = heads / sizes.groups;
  const auto compressed = [&](std::int64_t h) {
    std::vector<double> of_blocks(static_cast<std::size_t>(own));
    for (std::int64_t j = 0; j < own * sizes.block; ++j)
      of_blocks[static_cast<std::size_t>(j / sizes.block)] +=
          scores[static_cast<std::size_t>(h)][static_cast<std::size_t>(j)] / static_cast<double>(sizes.block);
    return softmax_of(of_blocks, std::vector<bool>(of_blocks.size(), true));
  };
  std::vector<double> sums(static_cast<std::size_t>(own));
  for (std::int64_t h = head / sharing * sharing; h < (head / sharing + 1) * sharing; ++h) {
    const std::vector<double> w = compressed(h);
    for (std::size_t block = 0; block < w.size(); ++block) sums[block] += w[block];
  }
  const std::vector<double>& own_scores = scores[static_cast<std::size_t>(head)];
  std::vector<bool> is_selected, is_near;
  for (std::int64_t j = 0; j <= i; ++j) {
    const std::int64_t block = j / sizes.block;
    std::int64_t better = 0;
    for (std::int64_t other = 0; block < own && other < own; ++other)
      better += sums[static_cast<std::size_t>(other)] > sums[static_cast<std::size_t>(block)] ||
                        (sums[static_cast<std::size_t>(other)] == sums[static_cast<std::size_t>(block)] &&
                         other < block)
                    ? 1
                    : 0;
    is_selected.push_back(block == own || better < sizes.chosen - 1);
    is_near.push_back(j > i - sizes.window);
  }
  const std::vector<double> of_blocks = compressed(head), selected = softmax_of(own_scores, is_selected),
                            near = softmax_of(own_scores, is_near);
  std::vector<double> out;
  for (std::size_t j = 0; j < own_scores.size(); ++j) {
    const std::size_t block = j / static_cast<std::size_t>(sizes.block);
    out.push_back(gates[1] * selected[j] + gates[2] * near[j]);
    if (block < of_blocks.size()) out.back() += gates[0] * of_blocks[block] / static_cast<double>(sizes.block);
  }
  return out;
}

} // namespace

extern const SelectionKind selection_nsa{.make = [](const SelectionSizes& sizes) -> std::unique_ptr<KeySelection> {
                                           return std::make_unique<Branches>(sizes);
                                         },
                                         .gates = 3,
                                         .loops = loops};

} // namespace heed::HEED_REAL
