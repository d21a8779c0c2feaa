// The contract of parts of attention: multi-head attention with a part equals plain loops, for every part and every
// value of its options, with the part's own loops.
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t part_length = 5, part_width = 8, part_heads = 2;

// Attention with one part over one row, as the engine has it, and in plain loops.
class PartCase {
public:
  PartCase(const AttentionPartInfo& info, LayerChoice choice, std::int64_t key_value_heads)
      : info_(info), choice_(std::move(choice)) {
    choice_.attention.key_value_heads = key_value_heads;
    shape_ = {.width = part_width, .heads = part_heads, .longest = part_length, .layer = 2, .layers = 3};
    attention_.emplace(weights_.scope(), choice_, shape_, Init::normal(1));
    weights_.fill(3);
  }

  std::vector<double> by_engine() {
    Tape tape;
    Pass pass = weights_.pass(tape);
    Tensor first = first_.on(tape);
    const std::int64_t values = attention_->values_width();
    Tensor first_values = contiguous(slice(first, 2, 0, values));
    return doubles((*attention_)(pass, x_.on(tape), {.causal = true}, &first_values));
  }

  std::vector<double> in_plain_loops() {
    PartRow row = projected();
    if (info_.loops.vectors) info_.loops.vectors(row);
    std::vector<double> out;
    for (std::int64_t i = 0; i < part_length; ++i) {
      std::vector<double> y = heads_of(row, i);
      if (info_.loops.outputs) info_.loops.outputs(row, i, y);
      const std::vector<Real> merged(y.begin(), y.end());
      for (const Real number : affine_row(merged.data(), std::ssize(merged), part_width, parameter("output.weight"),
                                          parameter("output.bias")))
        out.push_back(static_cast<double>(number));
    }
    return out;
  }

private:
  static std::vector<double> doubles(const Tensor& y) {
    const std::vector<Real> numbers = read(y);
    return {numbers.begin(), numbers.end()};
  }
  const Real* parameter(const std::string& name) {
    return weights_.parameters.values() + weights_.parameters.find(name)->offset;
  }

  PartRow projected() {
    const RelativeShape sizes = MultiHeadAttention::relative_shape(choice_, shape_);
    const HeadMaps maps = info_.maps ? info_.maps(choice_.part_options) : HeadMaps{};
    const std::int64_t shared = choice_.attention.key_value_heads ? choice_.attention.key_value_heads : part_heads;
    PartRow row{.sizes = {.width = part_width,
                          .heads = part_heads,
                          .query_heads = sizes.heads,
                          .key_heads = shared * maps.of_keys,
                          .value_heads = shared,
                          .query_width = sizes.query_width,
                          .value_width = sizes.value_width,
                          .layer = shape_.layer,
                          .layers = shape_.layers},
                .choice = &choice_,
                .parameters = {},
                .x = {},
                .q = {},
                .k = {},
                .v = {},
                .first_values = {}};
    std::vector<const Real*> of_projection;
    for (const Parameters::Entry& entry : weights_.parameters.entries()) {
      const Real* const values = weights_.parameters.values() + entry.offset;
      const std::string top = entry.name.substr(0, entry.name.find('.'));
      if (top == "output") continue;
      if (top == "qkv" || top == "query" || top == "key_value") of_projection.push_back(values);
      else row.parameters.push_back(values);
    }
    for (std::int64_t t = 0; t < part_length; ++t) {
      const auto at = x_.values.begin() + t * part_width, first = first_.values.begin() + t * part_width;
      row.x.emplace_back(at, at + part_width);
      row.first_values.emplace_back(first, first + row.sizes.value_heads * row.sizes.value_width);
      ProjectedRow made = projection_info("dense").row({.x = row.x.back().data(),
                                                        .position = t,
                                                        .shape = {.width = part_width,
                                                                  .heads = part_heads,
                                                                  .query_heads = row.sizes.query_heads,
                                                                  .key_heads = row.sizes.key_heads,
                                                                  .value_heads = row.sizes.value_heads,
                                                                  .query_width = row.sizes.query_width,
                                                                  .value_width = row.sizes.value_width},
                                                        .parameters = of_projection,
                                                        .options = &choice_.projection_options});
      row.q.push_back(std::move(made.q));
      row.k.push_back(std::move(made.k));
      row.v.push_back(std::move(made.v));
    }
    return row;
  }

  // The weights of query i, a vector for each map of each head.
  std::vector<std::vector<double>> weights_of(const PartRow& row, std::int64_t i) const {
    const PartSizes& s = row.sizes;
    const std::int64_t maps = s.query_heads / s.heads, keys = i + 1 + row.before();
    const std::int64_t key_maps = s.key_heads / s.value_heads, sharing = s.heads / s.value_heads;
    std::vector<std::vector<double>> out(static_cast<std::size_t>(s.query_heads));
    for (std::int64_t j = 0; j < keys; ++j) {
      std::vector<double> scores;
      for (std::int64_t h = 0; h < s.query_heads; ++h) {
        const std::int64_t head = h / maps, map = h % maps, of_key = head / sharing * key_maps + map % key_maps;
        double product = 0;
        for (std::int64_t d = 0; d < s.query_width; ++d)
          product +=
              static_cast<double>(row.q[static_cast<std::size_t>(i)][static_cast<std::size_t>(h * s.query_width + d)]) *
              static_cast<double>(
                  row.k[static_cast<std::size_t>(j)][static_cast<std::size_t>(of_key * s.query_width + d)]);
        scores.push_back(product / std::sqrt(static_cast<double>(s.query_width)) +
                         (info_.loops.score ? info_.loops.score(row, h, i, j) : 0));
      }
      if (info_.loops.pair_scores) info_.loops.pair_scores(row, scores);
      for (std::size_t h = 0; h < scores.size(); ++h) out[h].push_back(std::exp(scores[h]));
    }
    for (std::vector<double>& weights : out) {
      double total = 0;
      for (const double weight : weights) total += weight;
      for (double& weight : weights) weight /= total;
    }
    if (info_.loops.pair_weights)
      for (std::size_t j = 0; j < out.front().size(); ++j) {
        std::vector<double> pair;
        for (const std::vector<double>& weights : out) pair.push_back(weights[j]);
        info_.loops.pair_weights(row, pair);
        for (std::size_t h = 0; h < out.size(); ++h) out[h][j] = pair[h];
      }
    return out;
  }

  std::vector<double> heads_of(const PartRow& row, std::int64_t i) const {
    const PartSizes& s = row.sizes;
    const std::int64_t maps = s.query_heads / s.heads, sharing = s.heads / s.value_heads;
    const std::vector<std::vector<double>> weights = weights_of(row, i);
    std::vector<double> y(static_cast<std::size_t>(s.heads * s.value_width), 0.0);
    for (std::int64_t h = 0; h < s.query_heads; ++h) {
      const std::int64_t head = h / maps;
      const double factor = h % maps == 0 ? 1 : -info_.loops.lambda(row, head, i);
      const std::vector<double>& w = weights[static_cast<std::size_t>(h)];
      for (std::size_t j = 0; j < w.size(); ++j)
        for (std::int64_t d = 0; d < s.value_width; ++d)
          y[static_cast<std::size_t>(head * s.value_width + d)] +=
              factor * w[j] *
              static_cast<double>(row.v[j][static_cast<std::size_t>(head / sharing * s.value_width + d)]);
    }
    return y;
  }

  const AttentionPartInfo& info_;
  LayerChoice choice_;
  MultiHeadAttention::Shape shape_;
  Weights weights_;
  std::optional<MultiHeadAttention> attention_;
  Operand x_{{1, part_length, part_width}, 1, {-1, 1, 0}}, first_{{1, part_length, part_width}, 2, {-1, 1, 0}};
};

// The part with each value of its options: other options are tried with each value of the first one.
std::vector<Setup> setups_of_part(const Variant& about) {
  std::vector<Setup> out;
  for (const Value& on : other_values(about.options.front())) {
    const OptionValues first{{about.name, on}};
    out.push_back({first, about.name});
    for (std::size_t n = 1; n < about.options.size(); ++n)
      for (const Value& value : other_values(about.options[n])) {
        OptionValues values = first;
        values[about.options[n].name] = value;
        out.push_back({values, about.name + " with " + about.options[n].name});
      }
  }
  return out;
}

} // namespace

TEST_CASE("attention with a part equals plain loops", "[attention][contract]") {
  for (const AttentionPartInfo* info : attention_parts())
    for (const Setup& setup : setups_of_part(info->about))
      for (const std::int64_t key_value_heads : {0, 1}) {
        INFO(setup.text << ", heads of keys " << key_value_heads);
        LayerChoice choice;
        choice.part_options = setup.options;
        PartCase c(*info, choice, key_value_heads);
        const std::vector<double> found = c.by_engine(), expected = c.in_plain_loops();
        REQUIRE(found.size() == expected.size());
        double distance = 0, without = 0;
        for (std::size_t n = 0; n < found.size(); ++n) distance = std::max(distance, std::abs(found[n] - expected[n]));
        CHECK(distance < attention_tolerance);
        // With the part, the result is another one than without it.
        PartCase plain(*info, {}, key_value_heads);
        const std::vector<double> other = plain.by_engine();
        for (std::size_t n = 0; n < found.size(); ++n) without = std::max(without, std::abs(found[n] - other[n]));
        CHECK(without > 1000 * attention_tolerance);
      }
}

TEST_CASE("a part says what it is: options, a summary, and loops", "[attention][contract]") {
  for (const AttentionPartInfo* info : attention_parts()) {
    INFO(info->about.name);
    CHECK(info->about.options.front().name == info->about.name);
    CHECK_FALSE(info->about.summary.empty());
    CHECK_FALSE(info->about.cost.empty());
    for (const Option& option : info->about.options) CHECK(option.neutral == option.default_value);
    const PartLoops& l = info->loops;
    CHECK((l.vectors || l.score || l.lambda || l.pair_scores || l.pair_weights || l.outputs));
  }
}
