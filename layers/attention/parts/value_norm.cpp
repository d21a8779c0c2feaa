#include "layers/attention/part.hpp"
#include "layers/norm.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string value_norm = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("value_norm", &Options::value_norm,
             "The values of each head are normalised before the weighted sum, with a learned gain for each feature.")
          .one_of({"none", "layer", "rms"}));
  return t;
}

/// The norm `value_norm` of each head's values.
class ValueNorm final : public AttentionPart {
public:
  ValueNorm(const Scope& scope, const PartSizes& sizes, const std::string& kind)
      : width_(sizes.value_width), norm_(make_norm(scope / "value_norm", kind, {width_, false})) {}

  Tensor values(Pass& pass, const Tensor& v, const Tensor*) const override {
    const Tensor heads = reshape(contiguous(v), {v.shape[0], v.shape[1], v.shape[2] / width_, width_});
    return reshape((*norm_)(pass, heads), v.shape);
  }

private:
  std::int64_t width_;
  std::unique_ptr<Norm> norm_;
};

void vectors(PartSequence& sequence) {
  const NormInfo& norm = norm_info(table().read(sequence.choice->part_options).value_norm);
  const std::int64_t width = sequence.sizes.value_width;
  for (std::vector<Real>& v : sequence.v) {
    const std::vector<Real> given = v;
    for (std::int64_t at = 0; at < std::ssize(v); at += width)
      norm.row(given.data() + at, v.data() + at, {width, false}, {sequence.parameters[0]}, {});
  }
}

} // namespace

extern const AttentionPartInfo attention_part_value_norm{
    .about = {.name = "value_norm",
              .summary = "the values of each head are normalised, with a learned gain for each feature",
              .cost = "a gain of the width of a head's values",
              .options = table().options()},
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<ValueNorm>(scope, sizes, table().read(choice.part_options).value_norm);
    },
    .loops = {.vectors = vectors}};

} // namespace heed::HEED_REAL
