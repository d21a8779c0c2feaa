#include "layers/attention/part.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string value_residual = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("value_residual", &Options::value_residual,
             "The values V of each later block become l1 V_1 + l2 V, with V_1 the values of the first block: l1 = l2 = "
             "1/2 (fixed); learned numbers of each block that start there (learned); or l1 = 5 and l2 = 1 in the last "
             "third of the blocks (sparse).")
          .one_of({"none", "fixed", "learned", "sparse"}));
  return t;
}

bool acts(const OptionValues& options, std::int64_t layer, std::int64_t layers) {
  const std::string word = table().read(options).value_residual;
  const bool is_last_third = layer >= layers - (layers + 2) / 3;
  return layer > 0 && word != "none" && (word != "sparse" || is_last_third);
}

/// V_1 are the projected values of the first block of the stack (Zhou et al. 2024, arXiv 2410.17897, section 3.2). A
/// block's own values V become first V_1 + own V. If the factors are learned, they are the parameter `value_residual`:
/// [first, own].
class ValueResidual final : public AttentionPart {
public:
  ValueResidual(const Scope& scope, const std::string& word, bool acts, bool is_shared)
      : acts_(acts), first_(word == "sparse" ? 5 : 0.5), own_(word == "sparse" ? 1 : 0.5) {
    if (word == "learned" && (acts || is_shared))
      factors_ = scope.no_decay("value_residual", {2}, Init::listed({first_, own_}));
  }

  bool uses_first_values() const override { return acts_; }
  Tensor values(Pass& pass, const Tensor& v, const Tensor* first_values) const override {
    if (!acts_) return v;
    if (!first_values) throw Failed("[attention] value_residual needs the values of the first block");
    if (factors_) {
      const Tensor factors = pass(*factors_);
      return add(mul(*first_values, slice(factors, 0, 0, 1)), mul(v, slice(factors, 0, 1, 1)));
    }
    return add(scale(*first_values, static_cast<Real>(first_)), own_ == 1 ? v : scale(v, static_cast<Real>(own_)));
  }

private:
  bool acts_;
  double first_, own_;
  std::optional<ParameterId> factors_;
};

void vectors(PartSequence& sequence) {
  const std::string word = table().read(sequence.choice->part_options).value_residual;
  if (!acts(sequence.choice->part_options, sequence.sizes.layer, sequence.sizes.layers)) return;
  const double first = word == "learned"  ? static_cast<double>(sequence.parameters[0][0])
                       : word == "sparse" ? 5
                                          : 0.5,
               own = word == "learned"  ? static_cast<double>(sequence.parameters[0][1])
                     : word == "sparse" ? 1
                                        : 0.5;
  for (std::size_t t = 0; t < sequence.v.size(); ++t)
    for (std::size_t d = 0; d < sequence.v[t].size(); ++d)
      sequence.v[t][d] = static_cast<Real>(first * static_cast<double>(sequence.first_values[t][d]) +
                                           own * static_cast<double>(sequence.v[t][d]));
}

} // namespace

extern const AttentionPartInfo attention_part_value_residual{
    .about = {.name = "value_residual",
              .summary = "the values of later blocks become l1 V_1 + l2 V, with V_1 the values of the first block",
              .paper = "Zhou et al. 2024, arXiv 2410.17897",
              .cost = "learned: two parameters for each block; two operations for each value",
              .options = table().options(),
              .conditions = {{"attention.value_residual",
                              "model.layers",
                              {"1"},
                              true,
                              {{"", "model.encoder_decoder.decoder_layers", {OptionCondition::anything}}}}}},
    .place = AttentionPartInfo::Place::self_attention,
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      // Shared blocks have the parameters of the first one.
      return std::make_unique<ValueResidual>(scope, table().read(choice.part_options).value_residual,
                                             acts(choice.part_options, sizes.layer, sizes.layers),
                                             sizes.shared_layers && sizes.layers > 1);
    },
    .loops = {.vectors = vectors},
    .uses_first_values = acts};

} // namespace heed::HEED_REAL
