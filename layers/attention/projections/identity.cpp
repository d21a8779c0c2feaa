#include "layers/attention/projections/query_and_key.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

class Identity final : public Projection {
public:
  Identity(const Scope& scope, const ProjectionSizes& sizes) : maps_(scope, sizes) {}

  Tensor queries(Pass& pass, const Tensor& x, std::int64_t) const override { return maps_.query(pass, x); }
  Projected keys_and_values(Pass& pass, const Tensor& source, std::int64_t) const override {
    return {.k = maps_.key(pass, source), .v = source};
  }

private:
  QueryAndKey maps_;
};

ProjectedRow row(const ProjectionArguments& a) {
  ProjectedRow out = QueryAndKey::row(a);
  out.v.assign(a.x, a.x + a.sizes.width);
  return out;
}

std::string wrong_sizes(const ProjectionSizes& sizes, const OptionValues&) {
  if (sizes.values() == sizes.source_width() && sizes.heads * sizes.value_width == sizes.width) return "";
  return fmt::format(
      "the projection 'identity' cuts vectors of width {} into the values of {} heads of width {}, and the results of "
      "{} heads must have the width {} together: set model.width to a multiple of model.heads, and leave "
      "attention.value_width and attention.key_value_heads out",
      sizes.source_width(), sizes.value_heads, sizes.value_width, sizes.heads, sizes.width);
}

} // namespace

extern const ProjectionInfo projection_identity{
    .about = {.name = "identity",
              .summary = "v = x, cut into heads, and no linear map of the heads' results; q = W_q x, k = W_k x",
              .paper = "He and Hofmann 2023, arXiv 2311.01906 (simplified blocks)",
              .equals = "dense with identity matrices for values and results",
              .cost = "two matrices; in decoding, keys and values are stored",
              .conditions = {{"attention.output_bias",
                              "attention.cross_projection",
                              {"dense", "latent", "shared_key_value"}}}},
    .make = [](const Scope& scope, const ProjectionSizes& sizes, const OptionValues&) -> std::unique_ptr<Projection> {
      return std::make_unique<Identity>(scope, sizes);
    },
    .row = row,
    .has_output = false,
    .wrong_sizes = wrong_sizes};

} // namespace heed::HEED_REAL
