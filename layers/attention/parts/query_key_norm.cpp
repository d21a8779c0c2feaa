#include "layers/attention/part.hpp"
#include "layers/norm.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string query_key_norm = "none";
  std::string query_key_norm_over = "head";
  double query_key_norm_eps = 1e-5;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("query_key_norm", &Options::query_key_norm,
             "Queries and keys are normalised before the score, with a learned gain for each feature (QK norm).")
          .one_of({"none", "layer", "rms"}),
      option("query_key_norm_over", &Options::query_key_norm_over,
             "What is normalised together: the queries (keys) of each head, or those of all heads (projection, as in "
             "OLMo 2).")
          .one_of({"head", "projection"}),
      option("query_key_norm_eps", &Options::query_key_norm_eps,
             "The small number that is added under the root of the norm of queries and keys (OLMo 2: 1e-6).")
          .above(0)
          .at_most(1));
  return t;
}

/// Norms `query_norm` and `key_norm`, of each head or of all heads together (Henry et al. 2020, arXiv 2010.04245).
class QueryKeyNorm final : public AttentionPart {
public:
  QueryKeyNorm(const Scope& scope, const PartSizes& sizes, const Options& options)
      : of_all_heads_(options.query_key_norm_over == "projection"), width_(sizes.query_width),
        queries_(norm(scope / "query_norm", sizes.query_heads, options)),
        keys_(norm(scope / "key_norm", sizes.key_heads, options)) {}

  Tensor queries(Pass& pass, const Tensor& q) const override { return normalised(pass, q, *queries_); }
  Tensor keys(Pass& pass, const Tensor& k) const override { return normalised(pass, k, *keys_); }

private:
  std::unique_ptr<Norm> norm(const Scope& scope, std::int64_t heads, const Options& options) const {
    return make_norm(scope, options.query_key_norm, {of_all_heads_ ? heads * width_ : width_, false},
                     {{"eps", options.query_key_norm_eps}});
  }
  Tensor normalised(Pass& pass, const Tensor& x, const Norm& norm) const {
    if (of_all_heads_) return norm(pass, contiguous(x));
    return reshape(norm(pass, reshape(contiguous(x), {x.shape[0], x.shape[1], x.shape[2] / width_, width_})), x.shape);
  }

  bool of_all_heads_;
  std::int64_t width_;
  std::unique_ptr<Norm> queries_, keys_;
};

void vectors(PartSequence& sequence) {
  const Options options = table().read(sequence.choice->part_options);
  const auto normalise = [&](std::vector<std::vector<Real>>& vectors, const Real* gain) {
    for (std::vector<Real>& x : vectors) {
      const std::int64_t width = options.query_key_norm_over == "head" ? sequence.sizes.query_width : std::ssize(x);
      const std::vector<Real> given = x;
      for (std::int64_t at = 0; at < std::ssize(x); at += width)
        norm_info(options.query_key_norm)
            .row(given.data() + at, x.data() + at, {width, false}, {gain}, {{"eps", options.query_key_norm_eps}});
    }
  };
  normalise(sequence.q, sequence.parameters[0]);
  normalise(sequence.k, sequence.parameters[1]);
}

} // namespace

extern const AttentionPartInfo attention_part_query_key_norm{
    .about = {.name = "query_key_norm",
              .summary = "queries and keys are normalised before the score, with a learned gain for each feature",
              .paper = "Henry et al. 2020, arXiv 2010.04245; OLMo team 2025, arXiv 2501.00656 (over all heads)",
              .cost = "two gains of the width of what is normalised together",
              .options = table().options(),
              .conditions = {{"attention.query_key_norm_over", "attention.query_key_norm", {"none"}, true},
                             {"attention.query_key_norm_eps", "attention.query_key_norm", {"none"}, true}}},
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<QueryKeyNorm>(scope, sizes, table().read(choice.part_options));
    },
    .loops = {.vectors = vectors}};

} // namespace heed::HEED_REAL
