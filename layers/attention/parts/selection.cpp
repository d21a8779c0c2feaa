#include "layers/attention/key_selection.hpp"
#include "layers/attention/part.hpp"
#include "layers/linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string selection = "none";
  std::int64_t selection_block = 0;
  std::int64_t selection_chosen = 4;
  std::int64_t selection_window = 16;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option(
          "selection", &Options::selection,
          "The keys that a query attends to: all (none); those of its own block of keys and of the earlier blocks "
          "whose mean key has the largest products with the query, chosen for each head (moba, arXiv 2502.13189); or "
          "the sum of three branches with gates: mean keys of blocks, chosen blocks, and a window (nsa, arXiv "
          "2502.11089). Only for causal self attention.")
          .one_of({"none", "moba", "nsa"}),
      option("selection_block", &Options::selection_block,
             "Number of keys in a block. With moba, blocks begin anew with each segment.")
          .between(0, 1048576)
          .unit("keys")
          .default_means("0: 16 with moba, 8 with nsa"),
      option("selection_chosen", &Options::selection_chosen,
             "Number of blocks that a query attends to, with its own. Fewer earlier blocks are all chosen.")
          .between(1, 1048576)
          .unit("blocks"),
      option("selection_window", &Options::selection_window,
             "Number of keys in the window of nsa, with the query's own.")
          .between(1, 1048576)
          .unit("keys"));
  return t;
}

const SelectionKind& kind_of(const Options& options) {
  return options.selection == "nsa" ? selection_nsa : selection_moba;
}

SelectionSizes sizes_of(const Options& options, const PartSizes& sizes) {
  const std::int64_t usual = options.selection == "nsa" ? 8 : 16;
  return {.block = options.selection_block > 0 ? options.selection_block : usual,
          .chosen = options.selection_chosen,
          .window = options.selection_window,
          .groups = sizes.value_heads};
}

class Selection final : public AttentionPart {
public:
  Selection(const Scope& scope, const PartSizes& sizes, const Options& options)
      : heads_(sizes.query_heads), selection_(kind_of(options).make(sizes_of(options, sizes))) {
    if (const std::int64_t gates = kind_of(options).gates; gates > 0)
      gates_.emplace(scope / "selection_gate", sizes.width, gates * sizes.query_heads, sizes.bias);
  }

  void inputs(Pass& pass, const Tensor& x, const PartTokens&, AttentionInputs& to) const override {
    to.selection = selection_.get();
    if (gates_) to.gates = split_heads(sigmoid((*gates_)(pass, x)), heads_);
  }

private:
  std::int64_t heads_;
  std::unique_ptr<KeySelection> selection_;
  std::optional<Linear> gates_;
};

std::vector<double> weights(const PartSequence& sequence, std::int64_t head, std::int64_t i,
                            const std::vector<std::vector<double>>& scores) {
  const Options options = table().read(sequence.choice->part_options);
  const SelectionKind& kind = kind_of(options);
  std::vector<double> gates;
  if (kind.gates > 0) {
    const std::vector<Real> all = affine_row(sequence.x[static_cast<std::size_t>(i)].data(), sequence.sizes.width,
                                             kind.gates * sequence.sizes.query_heads, sequence.parameters[0],
                                             sequence.sizes.bias ? sequence.parameters[1] : nullptr);
    for (std::int64_t n = 0; n < kind.gates; ++n)
      gates.push_back(1 / (1 + std::exp(-static_cast<double>(all[static_cast<std::size_t>(head * kind.gates + n)]))));
  }
  return kind.loops(sequence, sizes_of(options, sequence.sizes), head, i, scores, gates);
}

// The weights of queries and keys on a circle, with blocks of 4 keys.
std::vector<Sketch> picture(const std::string& word) {
  constexpr std::int64_t tokens = 24, block = 4;
  const bool has_window = word == "nsa";
  const PartSequence sequence = [] {
    PartSequence out{.sizes = {.query_width = 2, .value_width = 2},
                     .choice = nullptr,
                     .parameters = {},
                     .x = {},
                     .q = {},
                     .k = {},
                     .v = {},
                     .first_values = {}};
    for (std::int64_t t = 0; t < tokens; ++t) {
      const auto at = static_cast<double>(t);
      out.q.push_back({static_cast<Real>(std::cos(0.45 * at)), static_cast<Real>(std::sin(0.45 * at))});
      out.k.push_back({static_cast<Real>(std::cos(0.3 * at)), static_cast<Real>(std::sin(0.3 * at))});
    }
    return out;
  }();
  const SelectionSizes sizes{.block = block, .chosen = 3, .window = 3};
  Sketch out{.title = has_window ? "weights, if all gates are 1/3" : "weights", .x = "key", .y = "query"};
  out.heatmap = {.rows = tokens, .columns = tokens, .values = {}, .grid = block};
  out.x_range = out.y_range = {0, tokens - 1};
  for (std::int64_t i = 0; i < tokens; ++i) {
    std::vector<std::vector<double>> scores(1);
    for (std::int64_t j = 0; j <= i; ++j) {
      const auto query = static_cast<std::size_t>(i), key = static_cast<std::size_t>(j);
      scores[0].push_back(static_cast<double>(sequence.q[query][0] * sequence.k[key][0] +
                                              sequence.q[query][1] * sequence.k[key][1]));
    }
    std::vector<double> w = (has_window ? selection_nsa : selection_moba)
                                .loops(sequence, sizes, 0, i, scores, std::vector<double>(3, 1.0 / 3));
    w.resize(tokens);
    for (const double each : w)
      out.heatmap.values.push_back(each > 0 ? each : -std::numeric_limits<double>::infinity());
  }
  return {std::move(out)};
}

} // namespace

extern const AttentionPartInfo attention_part_selection{
    .about =
        {.name = "selection",
         .summary =
             "a query attends to the keys of its own block and of the earlier blocks that fit it best (moba); or "
             "to mean keys of blocks, chosen blocks, and a window, with a gate for each (nsa)",
         .paper = "Lu et al. 2025, arXiv 2502.13189 (MoBA); Yuan et al. 2025, arXiv 2502.11089 (NSA)",
         .cost = "moba: no parameters; nsa: 3 (d + 1) for each head; all scores are computed, and those of keys that "
                 "are not chosen are hidden: as many operations as without a selection, and with moba 2 d for each "
                 "query and earlier block; nothing streams, unless moba chooses all blocks",
         .options = table().options(),
         .conditions = {{"attention.selection_block", "attention.selection", {"none"}, true},
                        {"attention.selection_chosen", "attention.selection", {"none"}, true},
                        {"attention.selection_window", "attention.selection", {"nsa"}}},
         .excludes =
             {{{{"", "attention.causal", {"false"}, false, {{"", "attention.prefix", {"0", "1"}, true}}}},
               "a selection chooses among the blocks before a query: it needs attention.causal = true, and a prefix of "
               "at most 1 (in an encoder-decoder, choose it by [[block.override]] with stack = \"decoder\")"},
              {{{"",
                 "attention.window",
                 {OptionCondition::anything},
                 false,
                 {{"", "attention.dilation", {"1"}, true}}}},
               "a window or a dilation hides keys of the blocks that a selection chooses: set attention.window = 0 and "
               "attention.dilation = 1"},
              {{{"", "attention.selection", {"nsa"}}, {"", "model.segment_end", {OptionCondition::anything}}},
               "the blocks of the selection 'nsa' do not begin anew with each segment: choose 'moba', or leave out "
               "model.segment_end"},
              {{{"", "attention.selection", {"nsa"}}, {"", "attention.normalizer", {"gumbel"}}},
               "the noise of the normaliser 'gumbel' is that of keys, and the selection 'nsa' also has scores of "
               "blocks: choose another normaliser, or attention.selection = \"moba\""}}},
    .place = AttentionPartInfo::Place::self_attention,
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<Selection>(scope, sizes, table().read(choice.part_options));
    },
    .loops = {.weights = weights},
    .needs_positions = "a selection counts blocks from the first position",
    .pictures = {
        {"moba", "the weights of some queries and keys, in blocks of 4 keys, of which 3 are chosen",
         [] { return picture("moba"); }},
        {"nsa", "the same, with the mean keys of blocks and a window of 3 keys", [] { return picture("nsa"); }}}};

} // namespace heed::HEED_REAL
