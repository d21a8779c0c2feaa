#include "layers/attention/part.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string talking_heads = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("talking_heads", &Options::talking_heads,
             "What heads mix by learned linear maps (talking heads): their scores, their weights after the normaliser, "
             "or both.")
          .one_of({"none", "scores", "weights", "both"}));
  return t;
}

/// Talking heads (Shazeer et al. 2020, arXiv 2003.02436). Learned matrices P and Q, [heads, heads], mix the scores and
/// the weights of all heads at each pair (i, j):
///   s'_h = sum_g P_hg s_g,  w'_h = sum_g Q_hg w_g,
/// s are the scores with the position's bias, before formula and mask; w are the normaliser's weights. P and Q start as
/// the identity, which mixes nothing. Their names are `scores` and `weights`.
class TalkingHeads final : public AttentionPart {
public:
  TalkingHeads(const Scope& scope, const std::string& word, std::int64_t heads) {
    const auto matrix = [&](const char* name) {
      std::vector<double> identity(static_cast<std::size_t>(heads * heads), 0.0);
      for (std::int64_t h = 0; h < heads; ++h) identity[static_cast<std::size_t>(h * (heads + 1))] = 1;
      return scope.no_decay(name, {heads, heads}, Init::listed(std::move(identity)));
    };
    if (word == "scores" || word == "both") of_scores_ = matrix("scores");
    if (word == "weights" || word == "both") of_weights_ = matrix("weights");
  }

  Tensor pair_scores(Pass& pass, const Tensor& s) const override { return mixed(pass, s, of_scores_); }
  Tensor pair_weights(Pass& pass, const Tensor& w) const override { return mixed(pass, w, of_weights_); }

private:
  static Tensor mixed(Pass& pass, const Tensor& x, const std::optional<ParameterId>& matrix) {
    if (!matrix) return x;
    const Shape& s = x.shape;
    return reshape(matmul(pass(*matrix), reshape(contiguous(x), {s[0], s[1], s[2] * s[3]})), s);
  }

  std::optional<ParameterId> of_scores_, of_weights_;
};

void mix(std::vector<double>& x, const Real* matrix) {
  const std::vector<double> given = x;
  for (std::size_t h = 0; h < x.size(); ++h) {
    x[h] = 0;
    for (std::size_t g = 0; g < x.size(); ++g) x[h] += static_cast<double>(matrix[h * x.size() + g]) * given[g];
  }
}
void mix_scores(const PartSequence& sequence, std::vector<double>& s) {
  if (table().read(sequence.choice->part_options).talking_heads != "weights") mix(s, sequence.parameters.front());
}
void mix_weights(const PartSequence& sequence, std::vector<double>& w) {
  if (table().read(sequence.choice->part_options).talking_heads != "scores") mix(w, sequence.parameters.back());
}

} // namespace

extern const AttentionPartInfo attention_part_talking_heads{
    .about = {.name = "talking_heads",
              .summary = "learned matrices mix the scores of all heads, their weights, or both",
              .paper = "Shazeer et al. 2020, arXiv 2003.02436",
              .cost = "heads^2 parameters and heads operations for each pair and matrix; nothing streams",
              .options = table().options()},
    .place = AttentionPartInfo::Place::every_attention,
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<TalkingHeads>(scope / "talking_heads", table().read(choice.part_options).talking_heads,
                                            sizes.query_heads);
    },
    .loops = {.pair_scores = mix_scores, .pair_weights = mix_weights}};

} // namespace heed::HEED_REAL
