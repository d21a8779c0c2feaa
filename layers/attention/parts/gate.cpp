#include "layers/attention/part.hpp"
#include "layers/linear.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string gate = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("gate", &Options::gate,
             "The heads' outputs are multiplied by sigmoid(W x) before the output projection, with x the input of the "
             "attention: one number for each head, or one for each feature (arXiv 2505.06708).")
          .one_of({"none", "head", "elementwise"}));
  return t;
}

class Gate final : public AttentionPart {
public:
  Gate(const Scope& scope, const PartSizes& sizes, bool of_heads)
      : of_heads_(of_heads),
        map_(scope / "gate", sizes.width, of_heads ? sizes.heads : sizes.heads * sizes.value_width, sizes.bias) {}

  Tensor head_outputs(Pass& pass, const Tensor& x, const Tensor&, const Tensor& y) const override {
    return of_heads_ ? mul(y, column_of_heads(sigmoid(map_(pass, x)))) : y;
  }
  Tensor joined_outputs(Pass& pass, const Tensor& x, const Tensor& y) const override {
    return of_heads_ ? y : mul(y, sigmoid(map_(pass, x)));
  }

private:
  bool of_heads_;
  Linear map_;
};

void outputs(const PartSequence& sequence, std::int64_t i, std::vector<double>& y) {
  const bool of_heads = table().read(sequence.choice->part_options).gate == "head";
  const std::int64_t gates = of_heads ? sequence.sizes.heads : std::ssize(y);
  const std::vector<Real> x = affine_row(sequence.x[static_cast<std::size_t>(i)].data(), sequence.sizes.width, gates,
                                         sequence.parameters[0],
                                         sequence.sizes.bias ? sequence.parameters[1] : nullptr);
  for (std::size_t n = 0; n < y.size(); ++n) {
    const std::size_t gate = of_heads ? n / static_cast<std::size_t>(sequence.sizes.value_width) : n;
    y[n] /= 1 + std::exp(-static_cast<double>(x[gate]));
  }
}

std::vector<Sketch> picture(const char* of) {
  Sketch out{.title = std::string("factor of ") + (of[0] == 'h' ? "a head's output" : "a feature of a head's output"),
             .x = std::string("W x of the ") + of,
             .y = "sigmoid(W x)"};
  out.curves.push_back({"", sampled(-6, 6, 120, [](double x) { return 1 / (1 + std::exp(-x)); })});
  return {std::move(out)};
}

} // namespace

extern const AttentionPartInfo attention_part_gate{
    .about = {.name = "gate",
              .summary = "the heads' outputs are multiplied by sigmoid(W x), with x the attention's input",
              .paper = "Qiu et al. 2025, arXiv 2505.06708",
              .cost = "head: (d + 1) parameters for each head; elementwise: as many as the output projection",
              .options = table().options()},
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<Gate>(scope, sizes, table().read(choice.part_options).gate == "head");
    },
    .loops = {.outputs = outputs},
    .pictures = {
        {"head", "the gate of a head, from the attention's input x", [] { return picture("head"); }},
        {"elementwise", "the gate of a feature, from the attention's input x", [] { return picture("feature"); }}}};

} // namespace heed::HEED_REAL
