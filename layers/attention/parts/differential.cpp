#include "layers/attention/normalizer.hpp"
#include "layers/attention/part.hpp"
#include "layers/linear.hpp"
#include "layers/norm.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string differential = "none";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("differential", &Options::differential,
             "The weights of each head are the difference of two maps, A_1 - lambda A_2: v1 (arXiv 2410.05258), with "
             "queries and keys of half the width, a learned lambda for each block, and an RMS norm of the heads (with "
             "key_value_heads, the two maps have different keys, as in the authors' multihead_flashdiff_1); or v2, "
             "with twice as many queries, and lambda = sigmoid(W x) for each token and head.")
          .one_of({"none", "v1", "v2"}));
  return t;
}

double start_of(const PartSizes& sizes) { return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(sizes.layer)); }

/// Differential attention computes two maps of weights for each head, A_1 and A_2, from queries and keys of their own.
/// The head's result is (A_1 - lambda A_2) V, so that what both maps attend to is cancelled. There are two versions.
///
/// v1 (Ye et al. 2024, arXiv 2410.05258): lambda = exp(q_1 . k_1) - exp(q_2 . k_2) + start, with learned vectors
/// (`lambda_query`, `lambda_key`: [2, query width]) that start at N(0, 0.1^2) and that all heads share. For layers 0,
/// 1, ..., start = 0.8 - 0.6 exp(-0.3 layer). An RMS norm (`norm`), whose gain all heads share, and the factor 1 -
/// start follow. By default, queries and keys are half as wide as values, so that the number of weights is that of
/// attention with one map. With fewer heads of keys than of queries (`key_value_heads`), the two maps of a head still
/// have different keys: map m of head h uses head 2 (h / heads per group) + m of the keys, as in the authors' code.
class LearnedLambda final : public AttentionPart {
public:
  LearnedLambda(const Scope& scope, const PartSizes& sizes)
      : start_(start_of(sizes)), queries_(scope.no_decay("lambda_query", {2, sizes.query_width}, Init::normal(0.1))),
        keys_(scope.no_decay("lambda_key", {2, sizes.query_width}, Init::normal(0.1))),
        norm_(make_norm(scope / "norm", "rms", {sizes.value_width, false})) {}

  void inputs(Pass& pass, const Tensor&, const PartTokens&, AttentionInputs& to) const override {
    const Tensor products = exp(sum(mul(pass(queries_), pass(keys_)), -1, true)); // [2, 1]
    const Tensor difference = sub(slice(products, 0, 0, 1), slice(products, 0, 1, 1));
    to.lambda = reshape(scale(difference, 1, static_cast<Real>(start_)), {1, 1, 1, 1});
  }
  Tensor head_outputs(Pass& pass, const Tensor&, const Tensor&, const Tensor& y) const override {
    return scale((*norm_)(pass, y), static_cast<Real>(1 - start_));
  }

private:
  double start_;
  ParameterId queries_, keys_;
  std::unique_ptr<Norm> norm_;
};

/// v2 (Ye et al. 2026): lambda = sigmoid(W x) for each token and head (`lambda`), without a norm. There are twice as
/// many queries as in attention with one map; the two maps of a head share its keys.
class LambdaByToken final : public AttentionPart {
public:
  LambdaByToken(const Scope& scope, const PartSizes& sizes) : map_(scope / "lambda", sizes.width, sizes.heads, false) {}

  void inputs(Pass& pass, const Tensor& x, const PartTokens&, AttentionInputs& to) const override {
    to.lambda = column_of_heads(sigmoid(map_(pass, x)));
  }

private:
  Linear map_;
};

Options options_of(const PartSequence& sequence) { return table().read(sequence.choice->part_options); }

double lambda_of(const PartSequence& sequence, std::int64_t head, std::int64_t i) {
  if (options_of(sequence).differential == "v2") {
    const std::vector<Real> x = affine_row(sequence.x[static_cast<std::size_t>(i)].data(), sequence.sizes.width,
                                           sequence.sizes.heads, sequence.parameters[0], nullptr);
    return 1 / (1 + std::exp(-static_cast<double>(x[static_cast<std::size_t>(head)])));
  }
  double products[2] = {0, 0};
  for (std::int64_t n = 0; n < 2 * sequence.sizes.query_width; ++n)
    products[n / sequence.sizes.query_width] += static_cast<double>(sequence.parameters[0][n]) *
                                                static_cast<double>(sequence.parameters[1][n]);
  return std::exp(products[0]) - std::exp(products[1]) + start_of(sequence.sizes);
}

// The RMS norm of each head, and the factor.
void outputs(const PartSequence& sequence, std::int64_t, std::vector<double>& y) {
  if (options_of(sequence).differential == "v2") return;
  const std::int64_t width = sequence.sizes.value_width;
  for (std::int64_t head = 0; head < sequence.sizes.heads; ++head) {
    const auto begin = y.begin() + head * width;
    const std::vector<Real> x(begin, begin + width);
    std::vector<Real> z(x.size());
    norm_info("rms").row(x.data(), z.data(), {width, false}, {sequence.parameters[2]}, {});
    for (std::int64_t d = 0; d < width; ++d)
      begin[d] = (1 - start_of(sequence.sizes)) * static_cast<double>(z[static_cast<std::size_t>(d)]);
  }
}

std::vector<Sketch> picture() {
  const auto softmax = [](const std::vector<Real>& scores) {
    std::vector<Real> out(scores.size());
    normalizer_info("softmax").row(scores.data(), out.data(), {.n = std::ssize(scores)}, {});
    return out;
  };
  constexpr Real lambda{0.8F};
  const std::vector<Real> first = softmax({0, 1, Real{0.5F}, 3, Real{0.2F}, Real{1.5F}, 0, 1}),
                          second = softmax({Real{0.2F}, Real{1.2F}, Real{0.4F}, 1, Real{0.3F}, Real{1.8F}, Real{0.1F},
                                            1});
  Sketch one{.title = "weights of the first map, A1", .x = "key", .y = "weight"},
      both{.title = "A1 - 0.8 A2", .x = "key", .y = "weight"};
  for (std::size_t j = 0; j < first.size(); ++j) {
    one.bars.emplace_back(fmt::format("{}", j), static_cast<double>(first[j]));
    both.bars.emplace_back(fmt::format("{}", j), static_cast<double>(first[j] - lambda * second[j]));
  }
  return {std::move(one), std::move(both)};
}

} // namespace

extern const AttentionPartInfo attention_part_differential{
    .about = {.name = "differential",
              .summary = "the weights of each head are the difference of two maps, A_1 - lambda A_2",
              .paper = "Ye et al. 2024, arXiv 2410.05258 (v1); Ye et al. 2026 (v2)",
              .cost = "twice the maps; v1: 4 d + the head's width parameters, v2: more queries and a map to lambda",
              .options = table().options()},
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      const Scope own = scope / "differential";
      if (table().read(choice.part_options).differential == "v2") return std::make_unique<LambdaByToken>(own, sizes);
      return std::make_unique<LearnedLambda>(own, sizes);
    },
    .loops = {.lambda = lambda_of, .outputs = outputs},
    .maps = [](const OptionValues& options) -> HeadMaps {
      if (table().read(options).differential == "v2") return {.of_queries = 2};
      return {.of_queries = 2, .of_keys = 2, .share_width = true};
    },
    .pictures = {{"v1", "the weights of eight keys by one map, and by the difference of two", picture}}};

} // namespace heed::HEED_REAL
