// Initial values of parameters: compares bounds, standard deviations and fans with the formulas of Glorot and Bengio
// 2010 and of PyTorch, on matrices that are large enough to distinguish the rules.
#include "layers/attention/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/linear.hpp"
#include "layers/pooling.hpp"
#include "layers/recurrent/recurrent.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

using Rule = InitRule::Rule;

// Summary statistics of random values, by which a distribution is recognised.
struct Spread {
  double deviation = 0, most = 0, mean = 0, count = 0;
};

// The statistics of the values first ... first + count - 1 of a parameter; count 0: up to the last value.
Spread spread(Parameters& parameters, const std::string& name, std::int64_t first = 0, std::int64_t count = 0) {
  INFO(name);
  const Parameters::Entry* e = parameters.find(name);
  REQUIRE(e);
  if (count == 0) count = e->shape.size() - first;
  Spread s{.count = static_cast<double>(count)};
  for (std::int64_t i = first; i < first + count; ++i) {
    const double x = static_cast<double>(parameters.values()[e->offset + i]);
    s.mean += x / s.count;
    s.deviation += x * x / s.count;
    s.most = std::max(s.most, std::abs(x));
  }
  s.deviation = std::sqrt(s.deviation);
  return s;
}

// 6 standard errors. The standard deviation of the square is 0.9 of its mean for a uniform value, and 1.42 for a normal
// value.
void check_uniform(const Spread& s, double bound) {
  CHECK(s.most <= bound);
  CHECK(s.most > bound * (1 - 20 / s.count));
  CHECK(s.deviation == Approx(bound / std::sqrt(3.0)).epsilon(6 * 0.45 / std::sqrt(s.count)));
  CHECK(std::abs(s.mean) < 6 * bound / std::sqrt(3 * s.count));
}
void check_normal(const Spread& s, double deviation) {
  CHECK(s.deviation == Approx(deviation).epsilon(6 * 0.71 / std::sqrt(s.count)));
  CHECK(s.most > 3 * deviation);
  CHECK(std::abs(s.mean) < 6 * deviation / std::sqrt(s.count));
}
void check_zeros(const Spread& s) { CHECK(s.most == 0); }

InitRules with(Rule rule) { return InitRules(InitRule(rule)); }

} // namespace

TEST_CASE("a linear map starts by the rule that is chosen, over its own fans", "[layers][init]") {
  for (const Rule rule : {Rule::given, Rule::xavier_uniform, Rule::xavier_normal, Rule::torch}) {
    Parameters parameters;
    const InitRules starts = rule == Rule::given ? InitRules(Init::normal(0.07)) : with(rule);
    const Linear map(Scope(parameters, starts) / "map", 300, 500, true);
    parameters.initialise(1);
    const Spread weights = spread(parameters, "map.weight"), biases = spread(parameters, "map.bias");
    if (rule == Rule::given) check_normal(weights, 0.07);
    if (rule == Rule::xavier_uniform) check_uniform(weights, std::sqrt(6.0 / 800));
    if (rule == Rule::xavier_normal) check_normal(weights, std::sqrt(2.0 / 800));
    if (rule == Rule::torch) check_uniform(weights, 1 / std::sqrt(300.0)); // = sqrt(6 / ((1 + 5) 300))
    if (rule == Rule::torch) check_uniform(biases, 1 / std::sqrt(300.0));
    else check_zeros(biases);
  }
}

TEST_CASE("a convolution's fans count its kernel, as torch.nn.init counts them", "[layers][init]") {
  for (const Rule rule : {Rule::xavier_uniform, Rule::torch}) {
    Parameters parameters;
    const Convolution stem(Scope(parameters, with(rule)) / "stem", {.in = 24, .out = 40, .kernel = 5});
    parameters.initialise(1);
    check_uniform(spread(parameters, "stem.weight"),
                  rule == Rule::torch ? 1 / std::sqrt(600.0) : std::sqrt(6.0 / (600 + 1000)));
    if (rule == Rule::torch) check_uniform(spread(parameters, "stem.bias"), 1 / std::sqrt(600.0));
    else check_zeros(spread(parameters, "stem.bias"));
  }
}

TEST_CASE("vectors of tokens and positions have the fans of a table's row, with a table for each head, too",
          "[layers][init]") {
  for (const Rule rule : {Rule::xavier_uniform, Rule::torch}) {
    Parameters parameters;
    const Scope scope(parameters, with(rule));
    scope.embedding("tokens", {50, 300});
    scope.embedding("tokens of heads", {3, 50, 90});
    scope.position("positions", {80, 300});
    scope.position("distances", {4, 40, 90});
    parameters.initialise(1);
    const auto bound = [&](double width, double count) {
      return rule == Rule::torch ? 1 / std::sqrt(width) : std::sqrt(6 / (width + count));
    };
    check_uniform(spread(parameters, "tokens"), bound(300, 50));
    check_uniform(spread(parameters, "tokens of heads"), bound(90, 50));
    check_uniform(spread(parameters, "positions"), bound(300, 80));
    check_uniform(spread(parameters, "distances"), bound(90, 40));
  }
}

TEST_CASE("maps are matrices and convolutions within the model: no vectors, biases or the map to the logits",
          "[layers]") {
  Parameters parameters;
  const Scope scope(parameters, with(Rule::torch));
  const Linear inner(scope / "inner", 4, 8, true), head((scope / "head").output_layer(), 4, 8, true);
  const Convolution stem(scope / "stem", {.in = 3, .out = 4, .kernel = 2});
  scope.weight("of its own", {4, 4}, Init::normal(1));
  scope.weight("vector", {4}, Init::normal(1));
  scope.embedding("tokens", {5, 4});
  scope.position("positions", {6, 4});
  scope.no_decay("gains", {2, 4}, Init::normal(1));
  std::vector<std::string> maps;
  for (const Parameters::Entry& e : parameters.entries())
    if (e.is_map) maps.push_back(e.name);
  CHECK(maps == std::vector<std::string>{"inner.weight", "stem.weight", "of its own"});
}

TEST_CASE("queries, keys and values have fans of their own, or those of all three", "[layers][init]") {
  const std::int64_t width = 96, heads = 4, head_width = 40, inner = heads * head_width;
  LayerChoice choice;
  choice.attention.head_width = head_width;
  for (const bool as_one : {false, true})
    for (const Rule rule : {Rule::xavier_uniform, Rule::xavier_normal}) {
      INFO((as_one ? "as one" : "by itself"));
      Parameters parameters;
      InitRules starts = with(rule);
      starts.qkv_as_one = as_one;
      const Scope scope(parameters, starts);
      const MultiHeadAttention own(scope / "own", choice, {.width = width, .heads = heads}, starts.linear);
      const MultiHeadAttention cross(scope / "cross", choice, {.width = width, .memory_width = 64, .heads = heads},
                                     starts.linear);
      parameters.initialise(2);
      const auto check = [&](const Spread& s, std::int64_t in, std::int64_t out) {
        const auto both = static_cast<double>(in + (as_one ? 2 * inner + width : out));
        if (rule == Rule::xavier_uniform) check_uniform(s, std::sqrt(6 / both));
        else check_normal(s, std::sqrt(2 / both));
      };
      check(spread(parameters, "own.qkv.weight", 0, inner * width), width, inner);
      check(spread(parameters, "own.qkv.weight", inner * width, inner * width), width, inner);
      check(spread(parameters, "own.qkv.weight", 2 * inner * width), width, width);
      check(spread(parameters, "cross.query.weight"), width, inner);
      check(spread(parameters, "cross.key.weight"), 64, inner);
      check(spread(parameters, "cross.value.weight"), 64, width);
      const Spread output = spread(parameters, "own.output.weight");
      if (rule == Rule::xavier_uniform) check_uniform(output, std::sqrt(6.0 / (96 + 96)));
      else check_normal(output, std::sqrt(2.0 / (96 + 96)));
    }
}

TEST_CASE("the two matrices of a gated network each have fans of their own", "[layers][init]") {
  for (const char* activation : {"relu", "swiglu"}) {
    Parameters parameters;
    const InitRules starts = with(Rule::xavier_uniform);
    const FeedForward network(Scope(parameters, starts), activation, 80, 240, true, starts.linear);
    parameters.initialise(3);
    check_uniform(spread(parameters, "expand.weight"), std::sqrt(6.0 / (80 + 240)));
    check_uniform(spread(parameters, "project.weight"), std::sqrt(6.0 / (80 + 240)));
  }
}

TEST_CASE("embeddings start by a rule of their own, and layers with a start of theirs keep it unless one was chosen",
          "[layers][init]") {
  for (const bool chosen : {false, true}) {
    Parameters parameters;
    InitRules starts(chosen ? InitRule(Rule::xavier_normal) : InitRule(Init::normal(0.3)));
    starts.linear_is_chosen = chosen;
    starts.embedding = Init::normal(1);
    starts.head = InitRule(Rule::torch);
    const Scope scope(parameters, starts);
    const Embedding embedding(scope / "embedding", 500, 64);
    const Linear head((scope / "head").output_layer(), 64, 500, true);
    const Pooling pooling(scope / "pooling", "context", {}, {.width = 100, .longest = 5});
    const Recurrent layers(scope / "layers", "gru", {}, {.input_width = 48, .width = 64});
    parameters.initialise(4);
    check_normal(spread(parameters, "embedding.weight"), 1);
    check_uniform(spread(parameters, "head.weight"), 1 / 8.0);
    check_uniform(spread(parameters, "head.bias"), 1 / 8.0);
    const Spread keys = spread(parameters, "pooling.keys.weight");
    if (chosen) check_normal(keys, std::sqrt(2.0 / 200));
    else check_uniform(keys, 0.1);
    // A recurrent cell is initialised as torch.nn.GRU under both rules.
    check_uniform(spread(parameters, "layers.layers.0.forward.input.weight"), 1 / 8.0);
    check_uniform(spread(parameters, "layers.layers.0.forward.recurrent.weight"), 1 / 8.0);
    check_zeros(spread(parameters, "layers.layers.0.forward.input.bias"));
  }
}

TEST_CASE("projections have a bias each where their options say so", "[layers][init]") {
  for (const bool inner : {false, true})
    for (const bool output : {false, true}) {
      Parameters parameters;
      const Scope scope(parameters, Init::normal(1));
      const MultiHeadAttention own(scope / "own", {}, {.width = 8, .heads = 2, .bias = inner, .output_bias = output},
                                   Init::normal(1));
      const MultiHeadAttention cross(scope / "cross", {},
                                     {.width = 8, .memory_width = 6, .heads = 2, .bias = inner, .output_bias = output},
                                     Init::normal(1));
      for (const char* name : {"own.qkv.bias", "cross.query.bias", "cross.key.bias", "cross.value.bias"})
        CHECK((parameters.find(name) != nullptr) == inner);
      for (const char* name : {"own.output.bias", "cross.output.bias"})
        CHECK((parameters.find(name) != nullptr) == output);
    }
}
