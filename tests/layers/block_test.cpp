// Compares the block, the feed-forward network and the norms with the formulas in their headers.
#include "layers/block.hpp"
#include "tests/layers/attention_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double block_tolerance = 50 * rounding;

// A block with its parameters and inputs, which is compared with its parts called one after the other.
struct Parts {
  Weights weights;
  LayerChoice choice;
  Block block;
  Operand x{{2, 5, 6}, 2};
  std::vector<std::int32_t> lengths{5, 3};

  explicit Parts(const LayerChoice& c) : choice(c), block(weights.scope(), c, {6, 2, Init::normal(1)}) {
    weights.fill(3, {-0.7, 0.9, 0});
  }

  std::vector<Real> found(const Pass::Options& options = {}) {
    Tape tape;
    Pass pass = weights.pass(tape, options);
    return read(block(pass, x.on(tape), {.lengths = lengths.data()}));
  }
  std::vector<Real> run(const std::function<Tensor(Pass&, const Tensor&)>& f) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read(f(pass, x.on(tape)));
  }
};

// The parts of a block, recomputed from the block's own parameters, which are found by name.
class Rebuilt {
public:
  explicit Rebuilt(Parts& parts) : parts_(parts) {}

  Tensor parameter(Pass& pass, const std::string& name) const {
    const auto* e = parts_.weights.parameters.find(name);
    REQUIRE(e);
    return pass.tape().constant(parts_.weights.parameters.values() + e->offset, e->shape);
  }
  Tensor norm(Pass& pass, const Tensor& x, const std::string& name) const {
    const Tensor gain = parameter(pass, name + ".weight");
    if (parts_.choice.block.norm_kind == "rms") return rms_norm(x, gain);
    const Tensor bias = parameter(pass, name + ".bias");
    if (parts_.choice.block.norm_kind == "dyt")
      return add(mul(tanh(mul(x, parameter(pass, name + ".alpha"))), gain), bias);
    return layer_norm(x, gain, &bias);
  }
  Tensor affine(Pass& pass, const Tensor& x, const std::string& name) const {
    return linear(x, parameter(pass, name + ".weight"), parameter(pass, name + ".bias"));
  }
  // Two heads of 3, scaled dot product and softmax.
  Tensor attention(Pass& pass, const Tensor& x) const {
    const Tensor all = affine(pass, x, "attention.qkv");
    const auto heads = [&](int part) { return transpose(reshape(slice(all, -1, 6 * part, 6), {2, 5, 2, 3}), 1, 2); };
    const Tensor scores = scale(matmul(heads(0), transpose(heads(1))), 1 / std::sqrt(Real{3}));
    const Mask mask{.causal = parts_.choice.attention.causal, .lengths = parts_.lengths.data()};
    const Tensor y = matmul(masked_softmax(scores, mask), heads(2));
    return affine(pass, reshape(transpose(y, 1, 2), {2, 5, 6}), "attention.output");
  }
  Tensor ffn(Pass& pass, const Tensor& x) const {
    return affine(pass, gelu(affine(pass, x, "ffn.expand")), "ffn.project");
  }

private:
  Parts& parts_;
};

} // namespace

TEST_CASE("the block is what its header states, with every norm and residual connection", "[block]") {
  for (const std::string norm : {"pre", "post", "output", "none"})
    for (const std::string residual : {"both", "attention", "ffn", "none"})
      for (const std::string kind : {"layer", "rms", "dyt"})
        for (bool causal : {true, false}) {
          INFO("norm " << norm << ", " << kind << ", residual " << residual << ", causal " << causal);
          LayerChoice choice;
          choice.attention.causal = causal;
          choice.block.norm = norm;
          choice.block.norm_kind = kind;
          choice.block.residual = residual;
          Parts parts(choice);
          const Rebuilt by_hand(parts);
          const bool around_attention = residual == "both" || residual == "attention";
          const bool around_ffn = residual == "both" || residual == "ffn";
          const auto expected = parts.run([&](Pass& pass, const Tensor& x) {
            const auto n = [&](const Tensor& t, const char* name) { return by_hand.norm(pass, t, name); };
            const auto plus = [](bool on, const Tensor& t, const Tensor& f) { return on ? add(t, f) : f; };
            const auto a = [&](const Tensor& t) { return by_hand.attention(pass, t); };
            const auto f = [&](const Tensor& t) { return by_hand.ffn(pass, t); };
            if (norm == "pre") {
              const Tensor h = plus(around_attention, x, a(n(x, "attention_norm")));
              return plus(around_ffn, h, f(n(h, "ffn_norm")));
            }
            if (norm == "output") {
              const Tensor h = plus(around_attention, x, n(a(x), "attention_norm"));
              return plus(around_ffn, h, n(f(h), "ffn_norm"));
            }
            if (norm == "post") {
              const Tensor h = n(plus(around_attention, x, a(x)), "attention_norm");
              return n(plus(around_ffn, h, f(h)), "ffn_norm");
            }
            const Tensor h = plus(around_attention, x, a(x));
            return plus(around_ffn, h, f(h));
          });
          CHECK(distance(parts.found(), expected) < block_tolerance);
          CHECK((parts.weights.parameters.find("ffn_norm.weight") != nullptr) == (norm != "none"));
        }
}

TEST_CASE("a highway connection is T(x) f(x) + (1 - T(x)) x, whatever stands around it", "[block]") {
  for (const std::string norm : {"pre", "post", "sandwich", "none"})
    for (const std::string residual : {"both", "attention", "ffn"})
      for (const bool parallel : {false, true}) {
        if (parallel && residual != "both") continue;
        INFO("norm " << norm << ", residual " << residual << ", parallel " << parallel);
        LayerChoice choice;
        choice.block = {.residual = residual, .norm = norm, .parallel = parallel, .connection = "highway"};
        Parts parts(choice);
        const Rebuilt by_hand(parts);
        const auto expected = parts.run([&](Pass& pass, const Tensor& x) {
          const auto sublayer = [&](const Tensor& in, const std::string& name, const auto& f) {
            const bool gated = residual == "both" || residual == name;
            const bool before = norm == "pre" || norm == "sandwich";
            Tensor y = f(before ? by_hand.norm(pass, in, name + "_norm") : in);
            if (norm == "sandwich") y = by_hand.norm(pass, y, name + "_norm_behind");
            if (gated) {
              const Tensor open = sigmoid(by_hand.affine(pass, in, name + "_gate")), shut = scale(open, -1, 1); // 1 - T
              y = add(mul(open, y), mul(shut, in));
            }
            return norm == "post" ? by_hand.norm(pass, y, name + "_norm") : y;
          };
          const auto attention = [&](const Tensor& t) { return by_hand.attention(pass, t); };
          const auto ffn = [&](const Tensor& t) { return by_hand.ffn(pass, t); };
          if (parallel) return sublayer(x, "attention", [&](const Tensor& t) { return add(attention(t), ffn(t)); });
          return sublayer(sublayer(x, "attention", attention), "ffn", ffn);
        });
        CHECK(distance(parts.found(), expected) < block_tolerance);
      }
}

TEST_CASE("a highway connection's gates start with biases of their own, and there are none without a connection",
          "[block]") {
  LayerChoice choice;
  choice.block = {.residual = "ffn", .bias = false, .connection = "highway", .gate_bias = -3};
  Parts parts(choice);
  parts.weights.parameters.initialise(1);
  const auto* bias = parts.weights.parameters.find("ffn_gate.bias");
  REQUIRE(bias);
  for (std::int64_t i = 0; i < 6; ++i) CHECK(parts.weights.parameters.values()[bias->offset + i] == Real(-3));
  CHECK_FALSE(parts.weights.parameters.find("attention_gate.weight"));
}

TEST_CASE("without biases a block has none, in maps or norms", "[block]") {
  for (const std::string kind : {"layer", "rms"}) {
    LayerChoice choice;
    choice.block.bias = false;
    choice.block.norm_kind = kind;
    Parts parts(choice);
    for (const auto& e : parts.weights.parameters.entries()) {
      INFO(e.name);
      CHECK(e.name.find("bias") == std::string::npos);
    }
    // qkv, output, expand, project, two gains.
    CHECK(parts.weights.parameters.count() == 3 * 36 + 36 + 2 * 4 * 36 + 2 * 6);
  }
}

TEST_CASE("the feed-forward network's hidden width is four times the model's, or as stated", "[feed_forward]") {
  const auto hidden = [](std::int64_t stated, const std::string& activation) {
    LayerChoice choice;
    choice.block.ffn_width = stated;
    choice.block.activation = activation;
    return Parts(choice).weights.parameters.find("ffn.expand.weight")->shape;
  };
  CHECK(hidden(0, "gelu") == Shape{24, 6});
  CHECK(hidden(5, "relu") == Shape{5, 6});
  CHECK(hidden(5, "swiglu") == Shape{10, 6});
}

TEST_CASE("a matched width gives a gated network about as many parameters as the ungated one", "[feed_forward]") {
  const auto parameters = [](const std::string& activation, const std::string& width) {
    LayerChoice choice;
    choice.block.activation = activation;
    choice.block.ffn_width = 240;
    choice.block.gated_width = width;
    choice.block.bias = false;
    return Parts(choice).weights.parameters.count();
  };
  CHECK(parameters("geglu", "matched") == parameters("gelu", "stated"));
  CHECK(parameters("gelu", "matched") == parameters("gelu", "stated"));
  CHECK(parameters("geglu", "stated") == parameters("gelu", "stated") + 240 * 6);
}

TEST_CASE("every norm is its plain loop, for vectors of any size and for zeros", "[norm][contract]") {
  for (const NormInfo* info : norms())
    for (const Setup& setup : setups(info->about))
      for (const bool bias : {true, false})
        for (const std::int64_t width : {1, 5, 16, 67})
          for (const double size : {0.0, 1e-3, 1.0, 100.0}) {
            INFO(setup.text << ", bias " << bias << ", width " << width << ", numbers up to " << size);
            Weights weights;
            const NormSizes sizes{width, bias};
            const auto norm = info->make(weights.scope() / "norm", sizes, setup.options);
            weights.fill(4);
            std::vector<const Real*> parameters;
            for (std::size_t p = 0; p < weights.parameters.entries().size(); ++p)
              parameters.push_back(weights.parameters.values(ParameterId{p}));
            Operand x({3, width}, 2, {-size, size, 0});
            std::vector<Real> expected(x.values.size());
            for (std::int64_t row = 0; row < 3; ++row)
              info->row(x.values.data() + row * width, expected.data() + row * width, sizes, parameters, setup.options);
            Tape tape;
            Pass pass = weights.pass(tape);
            CHECK(distance(read((*norm)(pass, x.on(tape))), expected) < 200 * rounding);
          }
}

TEST_CASE("norms start as their papers have it", "[norm]") {
  const auto started = [](const std::string& kind, const std::string& name, const OptionValues& options = {}) {
    Weights weights;
    const auto norm = make_norm(weights.scope() / "norm", kind, {9, true}, options);
    weights.parameters.initialise(1);
    const auto* entry = weights.parameters.find("norm." + name);
    return entry ? std::vector<Real>(weights.parameters.values() + entry->offset,
                                     weights.parameters.values() + entry->offset + entry->shape.size())
                 : std::vector<Real>{};
  };
  CHECK(started("scale", "weight") == std::vector<Real>{3}); // the root of the width
  CHECK(started("scale", "bias").empty());
  CHECK(started("rms", "bias").empty());
  CHECK(started("dyt", "alpha") == std::vector<Real>{Real(0.5)});
  CHECK(started("dyt", "alpha", {{"alpha", 0.8}}) == std::vector<Real>{Real(0.8)});
  for (const char* kind : {"layer", "rms", "dyt"}) CHECK(started(kind, "weight") == std::vector<Real>(9, 1));
  for (const char* kind : {"layer", "dyt"}) CHECK(started(kind, "bias") == std::vector<Real>(9, 0));
  CHECK_THROWS_WITH(started("batch", "weight"), Catch::Contains("no norm 'batch'") && Catch::Contains("dyt"));
}

TEST_CASE("the feed-forward network computes W2 f(W1 x + b1) + b2, and swiglu's gate", "[feed_forward]") {
  for (const FeedForwardInfo* info : feed_forwards()) {
    const std::string& name = info->about.name;
    INFO(name);
    Weights weights;
    const std::int64_t in = 3, hidden = 4;
    const FeedForward ffn(weights.scope(), name, in, hidden, true, Init::normal(1));
    weights.fill(9);
    Operand x({1, 2, in}, 1);
    Tape tape;
    Pass pass = weights.pass(tape);
    const std::vector<Real> found = read(ffn(pass, x.on(tape)));
    const auto number = [&](const char* parameter, std::int64_t i) {
      return static_cast<double>(weights.parameters.values()[weights.parameters.find(parameter)->offset + i]);
    };
    std::vector<double> expected;
    for (std::int64_t row = 0; row < 2; ++row)
      for (std::int64_t o = 0; o < in; ++o) {
        double y = number("project.bias", o);
        for (std::int64_t h = 0; h < hidden; ++h) {
          const auto inner = [&](std::int64_t unit) {
            double sum = number("expand.bias", unit);
            for (std::int64_t i = 0; i < in; ++i)
              sum += number("expand.weight", unit * in + i) *
                     static_cast<double>(x.values[static_cast<std::size_t>(row * in + i)]);
            return sum;
          };
          const double gate = name.ends_with("glu") ? inner(hidden + h) : 1.0;
          y += number("project.weight", o * hidden + h) * info->function(inner(h)) * gate;
        }
        expected.push_back(y);
      }
    CHECK(distance(found, expected) < block_tolerance);
  }
  Weights weights;
  CHECK_THROWS_WITH(FeedForward(weights.scope(), "sine", 3, 4, true, Init::normal(1)), Catch::Contains("sine"));
}

TEST_CASE("dropout acts in training only, and the sequences of a shard see what they see in the whole batch",
          "[dropout]") {
  for (auto [attention, hidden, sublayer] :
       {std::tuple{0.5, 0.0, 0.0}, {0.0, 0.5, 0.0}, {0.0, 0.0, 0.5}, {0.3, 0.3, 0.3}}) {
    LayerChoice choice;
    Parts plain(choice);
    choice.attention.dropout = attention;
    choice.block.ffn_dropout = hidden;
    choice.block.dropout = sublayer;
    Parts parts(choice);
    INFO("attention " << attention << ", ffn " << hidden << ", block " << sublayer);
    CHECK(parts.found() == plain.found());
    const Pass::Options training{.training = true, .seed = 5, .step = 7};
    const auto whole = parts.found(training);
    CHECK(whole != plain.found());
    CHECK(whole == parts.found(training));
    CHECK(whole != parts.found({.training = true, .seed = 6, .step = 7}));
    CHECK(whole != parts.found({.training = true, .seed = 5, .step = 8}));
    Tape tape;
    Pass pass = parts.weights.pass(tape, {.training = true, .seed = 5, .step = 7, .first_sequence = 1});
    const Tensor one = slice(parts.x.on(tape), 0, 1, 1);
    const auto second = read(parts.block(pass, one, {.lengths = parts.lengths.data() + 1}));
    // Not bit-identical: in portable builds, BLAS sums a single sequence in another order than two sequences.
    CHECK(distance(second, std::vector<Real>(whole.begin() + 30, whole.end())) < block_tolerance);
  }
}

TEST_CASE("dropout within the feed-forward zeroes hidden numbers, and scales those that are left", "[dropout]") {
  // W2 is the identity and there are no biases, so the output is the hidden vector after dropout.
  constexpr double probability = 0.25;
  for (const std::string activation : {"silu", "swiglu"}) {
    INFO(activation);
    Weights weights;
    const std::int64_t width = 8, rows = 1000;
    const FeedForward ffn(weights.scope(), activation, width, width, false, Init::normal(1), probability);
    weights.fill(9);
    Real* out = weights.parameters.values() + weights.parameters.find("project.weight")->offset;
    for (std::int64_t i = 0; i < width * width; ++i) out[i] = i / width == i % width ? Real{1} : Real{0};
    Operand x({rows, 1, width}, 1);
    const auto run = [&](const Pass::Options& options) {
      Tape tape;
      Pass pass = weights.pass(tape, options);
      return read(ffn(pass, x.on(tape)));
    };
    const auto hidden = run({}), dropped = run({.training = true, .seed = 5, .step = 7});
    CHECK(dropped == run({.training = true, .seed = 5, .step = 7}));
    CHECK(dropped != run({.training = true, .seed = 5, .step = 8}));
    double zeros = 0, most = 0;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      if (dropped[i] == 0) ++zeros;
      else most = std::max(most, std::abs(static_cast<double>(dropped[i] - hidden[i] / Real(1 - probability))));
    }
    CHECK(most < block_tolerance);
    // Five standard errors of the fraction of zeros.
    const auto draws = static_cast<double>(hidden.size());
    CHECK(std::abs(zeros / draws - probability) < 5 * std::sqrt(probability * (1 - probability) / draws));
  }
}

TEST_CASE("weights returned are before dropout", "[dropout]") {
  LayerChoice choice = choice_of(score_info("scaled_dot"));
  AttentionCase plain(choice, {});
  choice.attention.dropout = 0.5;
  AttentionCase dropped(choice, {});
  Tape tape;
  Pass pass = dropped.weights.pass(tape, {.training = true});
  Tensor w;
  const Tensor y = dropped.attention(
      pass, {.queries = dropped.q.on(tape), .values = dropped.v.on(tape), .keys = dropped.k.on(tape)}, &w);
  const Attended expected = plain({});
  CHECK(read(w) == expected.weights);
  CHECK(read(y) != expected.result);
}

TEST_CASE("multi-head attention refuses heads that do not divide the width", "[attention]") {
  Weights weights;
  CHECK_THROWS_WITH(MultiHeadAttention(weights.scope(), {}, {.width = 10, .heads = 4}, Init::normal(1)),
                    Catch::Contains("model.heads is 4") && Catch::Contains("10"));
}

TEST_CASE("parameters that a pass does not use have zero gradients", "[module]") {
  Weights weights;
  const Linear used(weights.scope() / "used", 3, 2, true), unused(weights.scope() / "unused", 3, 2, true);
  weights.fill(1);
  std::fill(weights.gradients.begin(), weights.gradients.end(), Real(7));
  Operand x({2, 3}, 1);
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true});
  tape.backward(weighted_sum(used(pass, x.on(tape))));
  pass.finish_gradients();
  CHECK(all_zero(weights.gradient("unused.weight")));
  CHECK(all_zero(weights.gradient("unused.bias")));
  CHECK_FALSE(all_zero(weights.gradient("used.weight")));
}

TEST_CASE("a block's positions see what causal, prefix, window and dilation let them see", "[block]") {
  // sees[i][j]: whether a change of position j changes the result at position i.
  const auto sees = [](const AttentionOptions& options) {
    LayerChoice choice;
    choice.attention = options;
    Parts p(choice);
    p.lengths = {5, 5};
    const std::vector<Real> before = p.found();
    std::vector<std::string> out(5);
    for (std::ptrdiff_t j = 0; j < 5; ++j) {
      p.x.values[static_cast<std::size_t>(j * 6 + 1)] += Real(0.5);
      const std::vector<Real> after = p.found();
      p.x = Operand({2, 5, 6}, 2);
      for (std::ptrdiff_t i = 0; i < 5; ++i)
        out[static_cast<std::size_t>(i)] += std::equal(after.begin() + i * 6, after.begin() + (i + 1) * 6,
                                                       before.begin() + i * 6)
                                                ? '.'
                                                : 'x';
    }
    return out;
  };
  using Rows = std::vector<std::string>;
  CHECK(sees({.causal = true}) == Rows{"x....", "xx...", "xxx..", "xxxx.", "xxxxx"});
  CHECK(sees({.causal = true, .prefix = 3}) == Rows{"xxx..", "xxx..", "xxx..", "xxxx.", "xxxxx"});
  CHECK(sees({.causal = true, .window = 2}) == Rows{"x....", "xx...", "xxx..", ".xxx.", "..xxx"});
  CHECK(sees({.causal = false, .window = 1}) == Rows{"xx...", "xxx..", ".xxx.", "..xxx", "...xx"});
  CHECK(sees({.causal = true, .prefix = 4, .window = 1}) == Rows{"xxxx.", "xxxx.", "xxxx.", "xxxx.", "xxxxx"});
  CHECK(sees({.causal = true, .prefix = 2, .window = 1}) == Rows{"xx...", "xx...", "xxx..", "xxxx.", "xx.xx"});
  CHECK(sees({.causal = true, .prefix = 1, .window = 1}) == Rows{"x....", "xx...", "xxx..", "x.xx.", "x..xx"});
  CHECK(sees({.causal = true, .dilation = 2}) == Rows{"x....", ".x...", "x.x..", ".x.x.", "x.x.x"});
  CHECK(sees({.causal = false, .window = 1, .dilation = 2}) == Rows{"x.x..", ".x.x.", "x.x.x", ".x.x.", "..x.x"});
  CHECK(sees({.causal = true, .prefix = 2, .window = 1, .dilation = 2}) ==
        Rows{"xx...", "xx...", "xxx..", "xx.x.", "xxx.x"});
  CHECK(sees({.causal = false}) == Rows(5, "xxxxx"));
}
