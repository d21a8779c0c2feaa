#include "layers/attention/part.hpp"
#include "layers/linear.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

struct Options {
  bool forget_gate = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("forget_gate", &Options::forget_gate,
             "Each token has a gate f = sigmoid(w . x + b) for each head, and log f of all tokens after a key, up to "
             "the query, is added to the key's score (Forgetting Transformer, arXiv 2503.02130). Only for causal self "
             "attention."));
  return t;
}

/// The forget gates of the Forgetting Transformer (Lin et al. 2025, arXiv 2503.02130). Each token has one gate for each
/// head: f = sigmoid(w_h . x + b_h). The score of query i and an earlier key j becomes
///   s_ij + sum over l = j + 1, ..., i of log f_l
/// so a token whose gate is near 0 hides all keys before it. b starts at 0. Positions are not needed, but may be used.
class ForgetGate final : public AttentionPart {
public:
  ForgetGate(const Scope& scope, const PartSizes& sizes)
      : gate_(scope / "forget_gate", sizes.width, sizes.query_heads, Init::zeros()) {}

  void inputs(Pass& pass, const Tensor& x, const PartTokens&, AttentionInputs& to) const override {
    to.forget = column_of_heads(log_sigmoid(gate_(pass, x)));
  }

private:
  Linear gate_;
};

double log_gates(const PartSequence& sequence, std::int64_t head, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t l = j + 1; l <= i; ++l) {
    const std::vector<Real> gates = affine_row(sequence.x[static_cast<std::size_t>(l)].data(), sequence.sizes.width,
                                               sequence.sizes.query_heads, sequence.parameters[0],
                                               sequence.parameters[1]);
    sum -= std::log1p(std::exp(-static_cast<double>(gates[static_cast<std::size_t>(head)])));
  }
  return sum;
}

} // namespace

extern const AttentionPartInfo attention_part_forget_gate{
    .about = {.name = "forget_gate",
              .summary = "log f of all tokens after a key, up to the query, is added to the key's score, with f = "
                         "sigmoid(w . x + b) for each token and head",
              .paper = "Lin et al. 2025, arXiv 2503.02130 (Forgetting Transformer)",
              .cost = "(d + 1) parameters for each head; one sum for each pair",
              .options = table().options(),
              .excludes = {{{{"", "attention.causal", {"false"}, false, {{"", "attention.prefix", {"0", "1"}, true}}}},
                            "forget_gate sums the gates between a key and a later query: it needs attention.causal = "
                            "true, and a prefix of at most 1 (in an encoder-decoder, choose it by [[block.override]] "
                            "with stack = \"decoder\")"}}},
    .place = AttentionPartInfo::Place::self_attention,
    .make = [](const Scope& scope, const PartSizes& sizes, const LayerChoice&) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<ForgetGate>(scope, sizes);
    },
    .loops = {.score = log_gates},
    .needs_positions = "forget_gate sums the gates of the positions between a key and the query"};

} // namespace heed::HEED_REAL
