#include "layers/attention/projections/query_and_key.hpp"

#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

class SharedKeyValue final : public Projection {
public:
  SharedKeyValue(const Scope& scope, const ProjectionSizes& sizes) : maps_(scope, sizes) {}

  Tensor queries(Pass& pass, const Tensor& x, std::int64_t) const override { return maps_.query(pass, x); }
  Projected keys_and_values(Pass& pass, const Tensor& source, std::int64_t) const override {
    return of_stored(pass, {.vectors = maps_.key(pass, source)});
  }
  bool stores_vectors() const override { return true; }
  Projected of_stored(Pass&, const StoredVectors& stored) const override {
    return {.k = stored.vectors, .v = stored.vectors, .stored = stored};
  }

private:
  QueryAndKey maps_;
};

ProjectedRow row(const ProjectionArguments& a) {
  ProjectedRow out = QueryAndKey::row(a);
  out.v = out.k;
  return out;
}

std::string wrong_sizes(const ProjectionSizes& sizes, const OptionValues&) {
  if (sizes.keys() == sizes.values()) return "";
  return fmt::format("the projection 'shared_key_value' makes keys and values one, and they have the widths {} and {} "
                     "(of all heads): set one attention.head_width and attention.value_width",
                     sizes.keys(), sizes.values());
}

} // namespace

extern const ProjectionInfo projection_shared_key_value{
    .about = {.name = "shared_key_value",
              .summary = "v = k: one projection gives keys and values. Norms and positions act on the keys only",
              .paper = "Kayyam, Gopal and Lewis 2026, arXiv 2606.04032 (Q-K=V)",
              .cost = "three matrices; in decoding, one vector is stored in place of a key and a value"},
    .make = [](const Scope& scope, const ProjectionSizes& sizes, const OptionValues&) -> std::unique_ptr<Projection> {
      return std::make_unique<SharedKeyValue>(scope, sizes);
    },
    .row = row,
    .wrong_sizes = wrong_sizes};

} // namespace heed::HEED_REAL
