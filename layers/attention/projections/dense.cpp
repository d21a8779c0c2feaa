#include "layers/attention/projection.hpp"

#include <optional>

namespace heed::HEED_REAL {

namespace {

class Dense final : public Projection {
public:
  Dense(const Scope& scope, const ProjectionSizes& sizes) : sizes_(sizes) {
    const std::int64_t queries = sizes.queries(), keys = sizes.keys(), values = sizes.values(),
                       all = queries + keys + values;
    const auto map = [&](const char* name, std::int64_t in, std::int64_t out) {
      return projection_map(scope, name, in, out, sizes.bias, all);
    };
    // The fans of a parameter that stacks matrices of two sizes: the first matrices have `first` rows in total and
    // `out` outputs each, the second matrix has `second_out` outputs.
    const auto stacked = [&](const char* name, std::int64_t rows, std::int64_t first, std::int64_t out,
                             std::int64_t second_out) {
      const Fans fans = scope.qkv_as_one() ? Fans{.in = sizes.width, .out = all}
                                           : Fans{.in = sizes.width,
                                                  .out = out,
                                                  .first_numbers = first * sizes.width,
                                                  .second_out = second_out};
      return Linear(scope / name, sizes.width, rows, sizes.bias, fans);
    };
    if (sizes.memory_width > 0) {
      query_.emplace(map("query", sizes.width, queries));
      key_.emplace(map("key", sizes.memory_width, keys));
      value_.emplace(map("value", sizes.memory_width, values));
    } else if (sizes.value_heads == sizes.heads) {
      all_.emplace(stacked("qkv", all, queries + keys, queries, values));
      scope.set_parts(all_->weight, {queries, keys, values});
    } else {
      query_.emplace(map("query", sizes.width, queries));
      key_value_.emplace(stacked("key_value", keys + values, keys, keys, values));
      scope.set_parts(key_value_->weight, {keys, values});
    }
  }

  Tensor queries(Pass& pass, const Tensor& x, std::int64_t first) const override {
    return query_ ? (*query_)(pass, x) : of_self(pass, x, first).q;
  }
  Projected keys_and_values(Pass& pass, const Tensor& source, std::int64_t first) const override {
    if (all_) return of_self(pass, source, first);
    if (key_value_) {
      const Tensor both = (*key_value_)(pass, source);
      return {.k = slice(both, 2, 0, sizes_.keys()), .v = slice(both, 2, sizes_.keys(), sizes_.values())};
    }
    const Tensor v = (*value_)(pass, source);
    return {.k = (*key_)(pass, source), .v = v};
  }
  Projected of_self(Pass& pass, const Tensor& x, std::int64_t first) const override {
    if (!all_) return Projection::of_self(pass, x, first);
    const std::int64_t queries = sizes_.queries(), keys = sizes_.keys();
    const Tensor all = (*all_)(pass, x);
    return {.q = slice(all, 2, 0, queries),
            .k = slice(all, 2, queries, keys),
            .v = slice(all, 2, queries + keys, sizes_.values())};
  }

private:
  ProjectionSizes sizes_;
  std::optional<Linear> all_, key_value_, query_, key_, value_;
};

ProjectedRow row(const ProjectionArguments& a) {
  const ProjectionSizes& s = a.sizes;
  const std::int64_t queries = s.queries(), keys = s.keys(), all = queries + keys + s.values();
  const auto& p = a.parameters;
  std::vector<Real> y;
  if (s.value_heads == s.heads) {
    y = affine_row(a.x, s.width, all, p[0], s.bias ? p[1] : nullptr);
  } else {
    y = affine_row(a.x, s.width, queries, p[0], s.bias ? p[1] : nullptr);
    const std::vector<Real> both = affine_row(a.x, s.width, all - queries, p[s.bias ? 2 : 1], s.bias ? p[3] : nullptr);
    y.insert(y.end(), both.begin(), both.end());
  }
  const auto of_keys = y.begin() + queries, of_values = of_keys + keys;
  return {{y.begin(), of_keys}, {of_keys, of_values}, {of_values, y.end()}};
}

} // namespace

extern const ProjectionInfo projection_dense{
    .about = {.name = "dense",
              .summary = "q = W_q x, k = W_k x, v = W_v x in each head, and a linear map of all heads' results",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762",
              .cost = "four matrices; in decoding, keys and values are stored"},
    .make = [](const Scope& scope, const ProjectionSizes& sizes, const OptionValues&) -> std::unique_ptr<Projection> {
      return std::make_unique<Dense>(scope, sizes);
    },
    .row = row};

} // namespace heed::HEED_REAL
