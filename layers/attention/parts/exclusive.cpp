#include "layers/attention/part.hpp"

#include <cmath>
#include <numbers>

namespace heed::HEED_REAL {

namespace {

struct Options {
  bool exclusive = false;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("exclusive", &Options::exclusive,
             "Self attention removes from each head's output y the part along the value v of the query's own position: "
             "y - (y . v) v / |v|^2 (exclusive self attention)."));
  return t;
}

class Exclusive final : public AttentionPart {
public:
  explicit Exclusive(const PartSizes& sizes) : heads_(sizes.heads), value_heads_(sizes.value_heads) {}

  Tensor head_outputs(Pass&, const Tensor&, const Tensor& v, const Tensor& y) const override {
    const Tensor along = l2_normalize(repeat_heads(split_heads(v, value_heads_), heads_));
    return sub(y, mul(sum(mul(y, along), -1, true), along));
  }

private:
  std::int64_t heads_, value_heads_;
};

void outputs(const PartSequence& sequence, std::int64_t i, std::vector<double>& y) {
  const std::vector<Real>& v = sequence.v[static_cast<std::size_t>(i + sequence.before())];
  const std::int64_t width = sequence.sizes.value_width, sharing = sequence.sizes.heads / sequence.sizes.value_heads;
  for (std::int64_t head = 0; head < sequence.sizes.heads; ++head) {
    const Real* const own = v.data() + head / sharing * width;
    double* const of_head = y.data() + head * width;
    double product = 0, square = 0;
    for (std::int64_t d = 0; d < width; ++d) {
      product += of_head[d] * static_cast<double>(own[d]);
      square += static_cast<double>(own[d]) * static_cast<double>(own[d]);
    }
    for (std::int64_t d = 0; d < width; ++d) of_head[d] -= product / square * static_cast<double>(own[d]);
  }
}

// y - (y . v) v / |v|^2 of vectors of length 1.
std::vector<Sketch> picture() {
  Sketch out{.title = "y and the query's own v have length 1",
             .x = "angle between y and v (degrees)",
             .y = "length of the output"};
  out.curves.push_back({"", sampled(0, 180, 90, [](double degrees) {
                          const double angle = degrees / 180 * std::numbers::pi;
                          return std::abs(std::sin(angle)); // v is (1, 0), so y - (y . v) v is (0, sin)
                        })});
  return {std::move(out)};
}

} // namespace

extern const AttentionPartInfo attention_part_exclusive{
    .about = {.name = "exclusive",
              .summary = "each head's output y becomes y - (y . v) v / |v|^2, with v the value of the query's position",
              .paper = "arXiv 2603.09078",
              .cost = "no parameters; 4 d operations for each query",
              .options = table().options()},
    .place = AttentionPartInfo::Place::self_attention, // a query has no value of its own among an encoder's
    .make = [](const Scope&, const PartSizes& sizes, const LayerChoice&) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<Exclusive>(sizes);
    },
    .loops = {.outputs = outputs},
    .pictures = {
        {"true", "what is left of a head's output y without its part along the query's own value v", picture}}};

} // namespace heed::HEED_REAL
