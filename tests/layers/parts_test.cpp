// The contract of parts of attention: multi-head attention with parts equals plain loops, for every part and every
// value of its options, and for some parts together, with the parts' own loops.
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numeric>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t part_width = 8, part_heads = 2;

// A selection of blocks hides nothing from the first queries.
std::int64_t length_for(const LayerChoice& choice) { return has_part(choice, "selection") ? 120 : 5; }

bool is_of_projections(const std::string& parameter) {
  const std::string top = parameter.substr(0, parameter.find('.'));
  return top == "qkv" || top == "query" || top == "key_value";
}

std::vector<double> softmax(const std::vector<double>& scores) {
  std::vector<double> out;
  for (const double s : scores) out.push_back(std::exp(s));
  const double total = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& w : out) w /= total;
  return out;
}

// Attention with parts over one sequence, as the engine has it, and in plain loops.
class PartCase {
public:
  PartCase(LayerChoice choice, std::int64_t key_value_heads, std::int64_t length)
      : choice_(std::move(choice)), length_(length) {
    choice_.attention.key_value_heads = key_value_heads;
    sizes_ = {.width = part_width, .heads = part_heads, .longest = length, .layer = 2, .layers = 3};
    attention_.emplace(weights_.scope(), choice_, sizes_, Init::normal(1));
    weights_.fill(3);
    // Equal parameters have equal values, whichever parts stand beside them.
    for (const Parameters::Entry& entry : weights_.parameters.entries()) {
      std::uint64_t seed = 0;
      for (const char c : entry.name) seed = 31 * seed + static_cast<std::uint64_t>(c);
      weights_.set(entry.name, draw(entry.shape.size(), seed, {-1, 1, 0}));
    }
    for (const AttentionPartInfo* info : attention_parts())
      if (has_part(choice_, *info)) parts_.push_back({info, names_of(*info)});
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
    PartSequence sequence = projected();
    for (const bool adds_keys : {false, true}) // those of the sequence come first
      each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
        if (!loops.vectors) return;
        const std::size_t keys = own.k.size();
        PartSequence changed = own;
        loops.vectors(changed);
        if ((changed.k.size() > keys) == adds_keys) own = std::move(changed);
      });
    std::vector<double> out;
    for (std::int64_t i = 0; i < length_; ++i) {
      std::vector<double> y = heads_of(sequence, i);
      each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
        if (loops.outputs) loops.outputs(own, i, y);
      });
      const std::vector<Real> merged(y.begin(), y.end());
      for (const Real number : affine_row(merged.data(), std::ssize(merged), part_width, parameter("output.weight"),
                                          parameter("output.bias")))
        out.push_back(static_cast<double>(number));
    }
    return out;
  }

private:
  struct Part {
    const AttentionPartInfo* info;
    std::vector<std::string> names; // of its parameters
  };

  // Calls f with the loops of each part, and with the sequence as this part sees it: with its own parameters.
  void each_part(PartSequence& sequence, const std::function<void(const PartLoops&, PartSequence&)>& f) {
    for (const Part& part : parts_) {
      sequence.parameters.clear();
      for (const std::string& name : part.names) sequence.parameters.push_back(parameter(name));
      f(part.info->loops, sequence);
    }
  }
  // Those that attention with this part alone has in addition.
  std::vector<std::string> names_of(const AttentionPartInfo& info) const {
    LayerChoice alone = choice_;
    alone.position = {};
    alone.part_options.clear();
    for (const Option& option : info.about.options)
      if (const auto found = choice_.part_options.find(option.name); found != choice_.part_options.end())
        alone.part_options.insert(*found);
    Weights weights;
    const MultiHeadAttention made(weights.scope(), alone, sizes_, Init::normal(1));
    std::vector<std::string> out;
    for (const Parameters::Entry& entry : weights.parameters.entries())
      if (!is_of_projections(entry.name) && !entry.name.starts_with("output.")) out.push_back(entry.name);
    return out;
  }
  HeadMaps maps() const {
    for (const Part& part : parts_)
      if (part.info->maps) return part.info->maps(choice_.part_options);
    return {};
  }
  static std::vector<double> doubles(const Tensor& y) {
    const std::vector<Real> numbers = read(y);
    return {numbers.begin(), numbers.end()};
  }
  const Real* parameter(const std::string& name) {
    return weights_.parameters.values() + weights_.parameters.find(name)->offset;
  }

  PartSequence projected() {
    const RelativeSizes sizes = MultiHeadAttention::relative_sizes(choice_, sizes_);
    const HeadMaps maps = this->maps();
    const std::int64_t shared = choice_.attention.key_value_heads ? choice_.attention.key_value_heads : part_heads;
    PartSequence sequence{.sizes = {.width = part_width,
                                    .heads = part_heads,
                                    .query_heads = sizes.heads,
                                    .key_heads = shared * maps.of_keys,
                                    .value_heads = shared,
                                    .query_width = sizes.query_width,
                                    .value_width = sizes.value_width,
                                    .layer = sizes_.layer,
                                    .layers = sizes_.layers},
                          .choice = &choice_,
                          .parameters = {},
                          .x = {},
                          .q = {},
                          .k = {},
                          .v = {},
                          .first_values = {}};
    std::vector<const Real*> of_projection;
    for (const Parameters::Entry& entry : weights_.parameters.entries())
      if (is_of_projections(entry.name)) of_projection.push_back(parameter(entry.name));
    for (std::int64_t t = 0; t < length_; ++t) {
      const auto at = x_.values.begin() + t * part_width, first = first_.values.begin() + t * part_width;
      sequence.x.emplace_back(at, at + part_width);
      sequence.first_values.emplace_back(first, first + sequence.sizes.value_heads * sequence.sizes.value_width);
      ProjectedRow made = projection_info("dense").row({.x = sequence.x.back().data(),
                                                        .position = t,
                                                        .sizes = {.width = part_width,
                                                                  .heads = part_heads,
                                                                  .query_heads = sequence.sizes.query_heads,
                                                                  .key_heads = sequence.sizes.key_heads,
                                                                  .value_heads = sequence.sizes.value_heads,
                                                                  .query_width = sequence.sizes.query_width,
                                                                  .value_width = sequence.sizes.value_width},
                                                        .parameters = of_projection,
                                                        .options = &choice_.projection_options});
      sequence.q.push_back(std::move(made.q));
      sequence.k.push_back(std::move(made.k));
      sequence.v.push_back(std::move(made.v));
    }
    return sequence;
  }

  // The product of query i and key j.
  double product_of(PartSequence& sequence, std::int64_t head, std::int64_t key_head, std::int64_t i, std::int64_t j) {
    if (const auto by_scheme = position_info(choice_.position.kind).product) {
      sequence.parameters.clear();
      for (const Parameters::Entry& entry : weights_.parameters.entries())
        if (entry.name.starts_with("position.")) sequence.parameters.push_back(parameter(entry.name));
      return by_scheme(sequence, head, i, j);
    }
    const std::int64_t width = sequence.sizes.query_width;
    double product = 0;
    for (std::int64_t d = 0; d < width; ++d)
      product +=
          static_cast<double>(sequence.q[static_cast<std::size_t>(i)][static_cast<std::size_t>(head * width + d)]) *
          static_cast<double>(sequence.k[static_cast<std::size_t>(j)][static_cast<std::size_t>(key_head * width + d)]);
    return product;
  }

  // The weights of query i, a vector for each map of each head.
  std::vector<std::vector<double>> weights_of(PartSequence& sequence, std::int64_t i) {
    const PartSizes& s = sequence.sizes;
    const std::int64_t maps = s.query_heads / s.heads, keys = i + 1 + sequence.before();
    const std::int64_t key_maps = s.key_heads / s.value_heads, sharing = s.heads / s.value_heads;
    std::vector<std::vector<double>> out(static_cast<std::size_t>(s.query_heads)), of_heads(out.size());
    for (std::int64_t j = 0; j < keys; ++j) {
      std::vector<double> scores;
      for (std::int64_t h = 0; h < s.query_heads; ++h) {
        const std::int64_t head = h / maps, map = h % maps, of_key = head / sharing * key_maps + map % key_maps;
        const double product = product_of(sequence, h, of_key, i, j);
        scores.push_back(product / std::sqrt(static_cast<double>(s.query_width)));
        each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
          if (loops.score) scores.back() += loops.score(own, h, i, j);
        });
      }
      each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
        if (loops.pair_scores) loops.pair_scores(own, scores);
      });
      for (std::size_t h = 0; h < scores.size(); ++h) of_heads[h].push_back(scores[h]);
    }
    for (std::size_t h = 0; h < out.size(); ++h) out[h] = softmax(of_heads[h]);
    each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
      if (!loops.weights) return;
      for (std::size_t h = 0; h < out.size(); ++h)
        out[h] = loops.weights(own, static_cast<std::int64_t>(h), i, of_heads);
    });
    each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
      if (!loops.pair_weights) return;
      for (std::size_t j = 0; j < out.front().size(); ++j) {
        std::vector<double> pair;
        for (const std::vector<double>& weights : out) pair.push_back(weights[j]);
        loops.pair_weights(own, pair);
        for (std::size_t h = 0; h < out.size(); ++h) out[h][j] = pair[h];
      }
    });
    return out;
  }

  std::vector<double> heads_of(PartSequence& sequence, std::int64_t i) {
    const PartSizes& s = sequence.sizes;
    const std::int64_t maps = s.query_heads / s.heads, sharing = s.heads / s.value_heads;
    const std::vector<std::vector<double>> weights = weights_of(sequence, i);
    std::vector<double> y(static_cast<std::size_t>(s.heads * s.value_width), 0.0);
    for (std::int64_t h = 0; h < s.query_heads; ++h) {
      const std::int64_t head = h / maps;
      double factor = 1;
      if (h % maps > 0)
        each_part(sequence, [&](const PartLoops& loops, PartSequence& own) {
          if (loops.lambda) factor = -loops.lambda(own, head, i);
        });
      const std::vector<double>& w = weights[static_cast<std::size_t>(h)];
      for (std::size_t j = 0; j < w.size(); ++j)
        for (std::int64_t d = 0; d < s.value_width; ++d)
          y[static_cast<std::size_t>(head * s.value_width + d)] +=
              factor * w[j] *
              static_cast<double>(sequence.v[j][static_cast<std::size_t>(head / sharing * s.value_width + d)]);
    }
    return y;
  }

  LayerChoice choice_;
  std::int64_t length_;
  MultiHeadAttention::Sizes sizes_;
  Weights weights_;
  std::optional<MultiHeadAttention> attention_;
  std::vector<Part> parts_;
  Operand x_{{1, length_, part_width}, 1, {-1, 1, 0}}, first_{{1, length_, part_width}, 2, {-1, 1, 0}};
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

double furthest(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double out = 0;
  for (std::size_t n = 0; n < a.size(); ++n) out = std::max(out, std::abs(a[n] - b[n]));
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
        const std::int64_t length = length_for(choice);
        PartCase c(choice, key_value_heads, length), plain({}, key_value_heads, length);
        const std::vector<double> found = c.by_engine();
        CHECK(furthest(found, c.in_plain_loops()) < attention_tolerance);
        CHECK(furthest(found, plain.by_engine()) > 1000 * attention_tolerance); // the part does something
      }
}

TEST_CASE("parts together act in the order of their list", "[attention][contract]") {
  const std::vector<OptionValues> together{
      {{"differential", "v1"}, {"exclusive", true}, {"gate", "head"}},
      {{"differential", "v2"}, {"gate", "elementwise"}, {"forget_gate", true}, {"query_key_norm", "rms"}},
      {{"value_norm", "rms"}, {"value_residual", "learned"}},
      {{"value_norm", "layer"}, {"value_residual", "sparse"}, {"persistent_keys", 2}, {"query_key_norm", "layer"}},
      {{"talking_heads", "both"}, {"persistent_keys", 1}, {"exclusive", true}},
      {{"selection", "moba"}, {"differential", "v1"}, {"talking_heads", "both"}, {"forget_gate", true}},
      {{"selection", "moba"}, {"selection_block", 7}, {"differential", "v2"}, {"convolution", 3}},
      {{"selection", "nsa"}, {"forget_gate", true}, {"talking_heads", "both"}},
      {{"selection", "nsa"}, {"selection_window", 3}, {"differential", "v1"}, {"gate", "head"}}};
  for (const OptionValues& options : together)
    for (const std::int64_t key_value_heads : {0, 1}) {
      INFO(options.begin()->first << ", heads of keys " << key_value_heads);
      LayerChoice choice;
      choice.part_options = options;
      PartCase c(choice, key_value_heads, length_for(choice));
      CHECK(furthest(c.by_engine(), c.in_plain_loops()) < attention_tolerance);
    }
}

TEST_CASE("a positional scheme that is a part equals plain loops, also with other parts", "[attention][position]") {
  const std::vector<OptionValues> together{{},
                                           {{"differential", "v1"}, {"exclusive", true}},
                                           {{"differential", "v2"}, {"forget_gate", true}},
                                           {{"query_key_norm", "rms"}, {"convolution", 3}, {"value_norm", "rms"}},
                                           {{"talking_heads", "both"}, {"forget_gate", true}}};
  for (const PositionInfo* info : positions()) {
    if (!info->make_part) continue;
    for (const Setup& setup : setups(info->about))
      for (const OptionValues& options : together)
        for (const std::int64_t key_value_heads : {0, 1}) {
          INFO(setup.text << ", " << (options.empty() ? "" : options.begin()->first) << ", heads of keys "
                          << key_value_heads);
          LayerChoice choice;
          choice.position.kind = info->about.name;
          choice.position_options = setup.options;
          choice.part_options = options;
          LayerChoice without = choice;
          without.position = {};
          without.position_options = {};
          PartCase c(choice, key_value_heads, 9), plain(without, key_value_heads, 9);
          const std::vector<double> found = c.by_engine();
          CHECK(furthest(found, c.in_plain_loops()) < attention_tolerance);
          CHECK(furthest(found, plain.by_engine()) > 1000 * attention_tolerance);
        }
  }
}

TEST_CASE("a part says what it is: options, a summary, and loops", "[attention][contract]") {
  for (const AttentionPartInfo* info : attention_parts()) {
    INFO(info->about.name);
    CHECK(info->about.options.front().name == info->about.name);
    CHECK_FALSE(info->about.summary.empty());
    CHECK_FALSE(info->about.cost.empty());
    const PartLoops& l = info->loops;
    CHECK((l.vectors || l.score || l.lambda || l.weights || l.pair_scores || l.pair_weights || l.outputs));
  }
}
