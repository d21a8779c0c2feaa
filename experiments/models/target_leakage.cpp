#include "experiments/models/target_leakage.hpp"

#include "experiments/models/model.hpp"
#include "experiments/models/segments.hpp"
#include "experiments/models/transformer.hpp"
#include "layers/attention/attention.hpp"
#include "layers/attention/formula/formula.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

namespace heed::HEED_REAL {

namespace {

constexpr std::int64_t longest_looked_at = 1024, longest_of_formulas = 256, sequences_looked_at = 64,
                       sequences_with_segments = 16;

/// A set of positions for each position.
class Relation {
public:
  explicit Relation(std::int64_t length)
      : length_(length), words_((length + 63) / 64), bits_(static_cast<std::size_t>(length * words_)) {}

  std::int64_t length() const { return length_; }
  bool has(std::int64_t i, std::int64_t j) const { return row(i)[j / 64] >> (j % 64) & 1; }
  void add(std::int64_t i, std::int64_t j) { row(i)[j / 64] |= std::uint64_t{1} << (j % 64); }
  /// Adds the set of j in another relation to the set of i.
  void add_all(std::int64_t i, const Relation& from, std::int64_t j) {
    for (std::int64_t w = 0; w < words_; ++w) row(i)[w] |= from.row(j)[w];
  }

private:
  std::uint64_t* row(std::int64_t i) { return bits_.data() + i * words_; }
  const std::uint64_t* row(std::int64_t i) const { return bits_.data() + i * words_; }

  std::int64_t length_, words_;
  std::vector<std::uint64_t> bits_;
};

/// A mask_mod formula with the initial values of its parameters.
class MaskFormula {
public:
  MaskFormula(const AttentionOptions& options, std::int64_t layer, std::int64_t heads, std::int64_t width,
              std::int64_t length)
      : layer_(layer), heads_(heads), width_(width), parameters_(formula_parameters(options.parameters)),
        read_(read_formula(options.mask_mod, FormulaKind::mask, parameters_)) {
    for (const FormulaParameter& p : parameters_) numbers_.push_back(starting_numbers(p, heads, width, length));
  }

  /// True if any head lets query i attend to key j in sequences of this length and with these segments; empty: none.
  bool any(std::int64_t i, std::int64_t j, std::int64_t length, std::span<const std::int32_t> segments) const {
    if (!read_.formula) return true;
    const auto segment = [&](std::int64_t at) {
      return segments.empty() ? 0.0 : static_cast<double>(segments[static_cast<std::size_t>(at)]);
    };
    for (std::int64_t h = 0; h < heads_; ++h) {
      FormulaPair pair{.i = static_cast<double>(i),
                       .j = static_cast<double>(j),
                       .h = static_cast<double>(h),
                       .heads = static_cast<double>(heads_),
                       .width = static_cast<double>(width_),
                       .queries = static_cast<double>(length),
                       .keys = static_cast<double>(length),
                       .layer = static_cast<double>(layer_),
                       .segment_i = segment(i),
                       .segment_j = segment(j)};
      for (std::size_t p = 0; p < parameters_.size(); ++p) {
        const std::size_t each = numbers_[p].size() / (parameters_[p].by_head() ? static_cast<std::size_t>(heads_) : 1);
        pair.parameters.push_back(std::span<const double>(numbers_[p])
                                      .subspan(parameters_[p].by_head() ? each * static_cast<std::size_t>(h) : 0,
                                               each));
      }
      if (evaluate(*read_.formula, pair) != 0) return true;
    }
    return false;
  }

private:
  std::int64_t layer_, heads_, width_;
  std::vector<FormulaParameter> parameters_;
  ReadFormula read_;
  std::vector<std::vector<double>> numbers_;
};

/// The keys that each query of a block may attend to in a sequence with these segments; empty: none.
Relation attended(const Config& config, std::size_t layer, std::int64_t length,
                  std::span<const std::int32_t> segments) {
  const AttentionOptions& options = config.layers[layer].attention;
  const Mask mask = self_attention_mask(options, {});
  std::optional<MaskFormula> formula;
  if (!options.mask_mod.empty())
    formula.emplace(options, static_cast<std::int64_t>(layer), config.model.heads,
                    config.model.width / std::max<std::int64_t>(config.model.heads, 1), length);
  Relation out(length);
  for (std::int64_t i = 0; i < length; ++i) {
    const Mask::Range range = mask.range(0, i, length);
    for (std::int64_t j = 0; j < length; ++j)
      if (range.has(j) && (!formula || formula->any(i, j, length, segments))) out.add(i, j);
  }
  return out;
}

bool looks_ahead(const Relation& attended) {
  for (std::int64_t i = 0; i < attended.length(); ++i)
    for (std::int64_t j = i + 1; j < attended.length(); ++j)
      if (attended.has(i, j)) return true;
  return false;
}

/// The positions whose tokens each position of a sequence of `length` tokens sees through all blocks.
Relation reached(const std::vector<const Relation*>& blocks, std::int64_t length) {
  Relation reach(length);
  for (std::int64_t i = 0; i < length; ++i) reach.add(i, i);
  for (const Relation* block : blocks) {
    Relation next = reach;
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j < length; ++j)
        if (block->has(i, j)) next.add_all(i, reach, j);
    reach = std::move(next);
  }
  return reach;
}

bool masks_alike(const AttentionOptions& a, const AttentionOptions& b) {
  return a.causal == b.causal && a.prefix == b.prefix && a.window == b.window && a.dilation == b.dilation &&
         a.mask_mod == b.mask_mod && a.parameters == b.parameters;
}

/// True if the mask may differ between blocks with the same options.
bool uses_layer(const AttentionOptions& options) {
  const ReadFormula read = read_formula(options.mask_mod, FormulaKind::mask, formula_parameters(options.parameters));
  return read.formula && std::ranges::any_of(read.formula->nodes,
                                             [](const FormulaNode& node) { return node.name == FormulaName::layer; });
}

/// The option that lets the block attend to later positions.
std::string option_of(const AttentionOptions& options) {
  if (options.causal) return fmt::format("attention.prefix = {}", options.prefix);
  return options.mask_mod.empty() ? "attention.causal = false" : "attention.causal = false with its mask_mod";
}

} // namespace

std::string target_leakage(const Config& config, const Task& task) {
  if (model_info(config.model.kind).format != TaskFormat::language_model || config.train.steps == 0) return "";
  // With a causal mask without a prefix, no position can attend to later positions, independent of any formula.
  const auto may_look_ahead = [](const LayerChoice& layer) {
    return !layer.attention.causal || layer.attention.prefix > 1;
  };
  if (config.model.kind.starts_with("recurrent") || std::ranges::none_of(config.layers, may_look_ahead)) return "";

  TaskSizes sizes = task.sizes(TaskFormat::language_model);
  const bool segments = reads_segments(config);
  if (segments) set_segment_ends(config, task, TaskFormat::language_model, sizes);
  const bool formulas = std::ranges::any_of(config.layers,
                                            [](const LayerChoice& layer) { return !layer.attention.mask_mod.empty(); });
  const std::int64_t longest = std::min(sizes.length, formulas ? longest_of_formulas : longest_looked_at);
  std::vector<std::size_t> like;  // for each block, the first block with the same options
  std::vector<std::size_t> which; // for each block, the index of its options in `like`
  for (std::size_t l = 0; l < config.layers.size(); ++l) {
    const auto same = std::ranges::find_if(like, [&](std::size_t other) {
      return masks_alike(config.layers[other].attention, config.layers[l].attention) &&
             !uses_layer(config.layers[l].attention);
    });
    which.push_back(static_cast<std::size_t>(same - like.begin()));
    if (same == like.end()) like.push_back(l);
  }

  // What sequences with the same segments see: the relation of each block in `like`, and what is reached, by sequence
  // length.
  struct Leakage {
    std::vector<Relation> different;
    std::vector<Relation>::iterator ahead;
    std::map<std::int64_t, Relation> reach;
  };
  std::map<std::vector<std::int32_t>, Leakage> sights;
  const std::int64_t most = segments ? sequences_with_segments : sequences_looked_at,
                     sequences = std::min(task.evaluation_sequences(TaskFormat::language_model, Split::validation),
                                          most);
  for (std::int64_t r = 0; r < sequences; ++r) {
    Batch batch;
    batch.reset(1, sizes, TaskFormat::language_model);
    task.evaluation_sequence(TaskFormat::language_model, Split::validation, r, batch, 0);
    const std::int64_t length = std::min<std::int64_t>(batch.lengths[0], longest);
    std::vector<std::int32_t> of_sequence(segments ? static_cast<std::size_t>(longest) : 0);
    write_segments(std::span(batch.tokens).first(of_sequence.size()), sizes.segment_end, of_sequence.data());
    const auto [found, is_new] = sights.try_emplace(of_sequence);
    Leakage& leakage = found->second;
    if (is_new) {
      for (const std::size_t l : like) leakage.different.push_back(attended(config, l, longest, of_sequence));
      leakage.ahead = std::ranges::find_if(leakage.different, looks_ahead);
    }
    if (leakage.ahead == leakage.different.end()) {
      if (segments) continue;
      return "";
    }
    std::vector<const Relation*> blocks;
    for (const std::size_t w : which) blocks.push_back(&leakage.different[w]);
    auto reach = leakage.reach.find(length);
    if (reach == leakage.reach.end()) reach = leakage.reach.emplace(length, reached(blocks, length)).first;
    for (std::int64_t i = 0; i + 1 < length; ++i) {
      if (batch.targets[static_cast<std::size_t>(i)] == ignored || !reach->second.has(i, i + 1)) continue;
      const std::size_t block = like[static_cast<std::size_t>(leakage.ahead - leakage.different.begin())];
      const std::string option = option_of(config.layers[block].attention);
      return like.size() == 1 ? option : fmt::format("{} in block {}", option, block);
    }
  }
  return "";
}

} // namespace heed::HEED_REAL
