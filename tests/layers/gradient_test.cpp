// Gradients of every layer in every variant, by inputs and parameters, compared with finite differences in double
// precision.
#include "layers/block.hpp"
#include "layers/linear.hpp"
#include "layers/position/position.hpp"
#include "layers/recurrent/recurrent.hpp"
#include "tests/autograd/gradients.hpp"
#include "tests/layers/attention_support.hpp"
#include "tests/layers/module_check.hpp"
#include "tests/layers/projection_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

std::vector<std::string> words_of(const std::vector<Option>& options, const std::string& name) {
  for (const Option& option : options)
    if (option.name == name) return option.words;
  throw Failed("there is no option " + name);
}

std::optional<NormalizerSetup> gradient_of(const LayerChoice& choice) {
  const NormalizerInfo& info = normalizer_info(choice.attention.normalizer);
  return info.gradient_of ? info.gradient_of(choice.normalizer_options) : std::nullopt;
}
Extents small_problem(const ScoreInfo& score) {
  return {
      .heads = 2, .queries = 3, .keys = 4, .query_width = 2, .key_width = score.equal_widths ? 2 : 3, .value_width = 2};
}

std::vector<Option> block_options() { return block_option_table().options(); }

// Multi-head attention of 4 heads, causal, or over an encoder output with padding.
void check_multi_head(const LayerChoice& choice, std::int64_t memory_width) {
  const std::vector<std::int32_t> lengths = {5, 3};
  Weights weights;
  const MultiHeadAttention attention(weights.scope(), choice,
                                     {.width = 4, .memory_width = memory_width, .heads = 4, .longest = 5},
                                     Init::normal(1));
  weights.fill(6);
  std::vector<Operand> inputs = {Operand({2, 3, 4}, 1, moderate)};
  if (memory_width > 0) inputs.emplace_back(Shape{2, 5, memory_width}, 2, moderate);
  check_module(weights, inputs, [&](Pass& pass, const std::vector<Tensor>& x) {
    return memory_width > 0 ? attention(pass, x[0], x[1], {.lengths = lengths.data()})
                            : attention(pass, x[0], {.causal = true});
  });
}

} // namespace

TEST_CASE("every attention has the right gradient under every mask", "[gradient][attention]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    if (gradient_of(choice)) return; // tested below
    const Extents e = small_problem(score);
    for (const MaskCase& mask : masks(e)) {
      if (!turns()) continue;
      INFO(mask.name);
      AttentionCase attention(choice, e);
      check_module(attention.weights, {attention.q, attention.k, attention.v},
                   [&](Pass& pass, const std::vector<Tensor>& x) {
                     return attention.attention(pass, {.queries = x[0], .values = x[2], .keys = x[1], .mask = mask()});
                   });
    }
  });
}

TEST_CASE("straight-through attention has, but for the values, the gradient of the one that it states",
          "[gradient][attention]") {
  // The result is linear in the weights, so the derivative by the weights is the same for both normalisers.
  for_each_attention([](const LayerChoice& choice, const ScoreInfo& score) {
    const auto other = gradient_of(choice);
    if (!other) return;
    LayerChoice smooth = choice;
    smooth.attention.normalizer = other->name;
    smooth.normalizer_options = other->options;
    const Extents e = small_problem(score);
    for (const MaskCase& mask : masks(e)) {
      INFO(mask.name);
      AttentionCase hard(choice, e), soft(smooth, e);
      const auto without_values = [&](AttentionCase& a) {
        std::vector<Real> out = a.gradients(mask(), true);
        const std::ptrdiff_t begin = e.q().size() + e.k().size();
        out.erase(out.begin() + begin, out.begin() + begin + e.v().size());
        return out;
      };
      CHECK(distance(without_values(hard), without_values(soft)) < attention_tolerance);
      check_gradient("the values'",
                     [&](const Tensors& x) {
                       Pass pass = hard.weights.pass(*x[0].tape, {.training = true, .seed = 3});
                       return hard.attention(pass, {.queries = hard.q.on(*x[0].tape),
                                                    .values = x[0],
                                                    .keys = hard.k.on(*x[0].tape),
                                                    .mask = mask()});
                     },
                     {input(e.v(), 3)});
    }
  });
}

TEST_CASE("attention has the right gradient where queries, keys and values are one tensor", "[gradient][attention]") {
  for (const ScoreInfo* score : scores()) {
    INFO(score->about.name);
    const Extents e{.batch = 1, .heads = 2, .queries = 4, .keys = 4, .query_width = 3, .key_width = 3};
    AttentionCase attention(choice_of(*score), e);
    check_module(attention.weights, {attention.q}, [&](Pass& pass, const std::vector<Tensor>& x) {
      return attention.attention(pass, {.queries = x[0], .values = x[0], .mask = {.causal = true}});
    });
  }
}

TEST_CASE("attention has the right gradient through its weights as well", "[gradient][attention]") {
  for (const ScoreInfo* score : scores()) {
    INFO(score->about.name);
    const Extents e{.batch = 1, .heads = 2, .queries = 3, .keys = 4, .query_width = 3, .key_width = 3};
    AttentionCase attention(choice_of(*score), e);
    check_module(attention.weights, {attention.q, attention.k, attention.v},
                 [&](Pass& pass, const std::vector<Tensor>& x) {
                   Tensor w;
                   const Mask mask{.causal = true, .offset = 1};
                   const Tensor y = attention.attention(pass,
                                                        {.queries = x[0], .values = x[2], .keys = x[1], .mask = mask},
                                                        &w);
                   return add(weighted_sum(y), weighted_sum(mul(w, w)));
                 });
  }
}

TEST_CASE("heads that talk have the right gradient, with masks and formulas by head", "[gradient][attention]") {
  for (const std::string word : {"scores", "weights", "both"})
    for (const std::string normalizer : {"softmax", "entmax15", "sigmoid"})
      for (const std::int64_t rows : {0, 2}) {
        const Extents e{
            .batch = 2, .heads = 3, .queries = 3, .keys = 4, .query_width = 2, .key_width = 2, .value_width = 2};
        LayerChoice choice = choice_of(score_info("dot"), {}, normalizer);
        choice.part_options["talking_heads"] = word;
        choice.attention.score_mod = "3 * tanh(s / 3) - h * abs(i - j) / 5";
        choice.attention.mask_mod = "i - j < 2 or h == 1";
        INFO(word << ", " << normalizer << ", " << rows << " rows");
        AttentionCase attention(choice, e);
        check_module(attention.weights, {attention.q, attention.k, attention.v},
                     [&](Pass& pass, const std::vector<Tensor>& x) {
                       return attention.attention(pass, {.queries = x[0],
                                                         .values = x[2],
                                                         .keys = x[1],
                                                         .mask = {.causal = true, .offset = 1},
                                                         .rows = rows});
                     });
      }
}

TEST_CASE("multi-head attention has the right gradient with shared keys, other widths and normalised queries",
          "[gradient][attention]") {
  for (const std::string norm : {"none", "layer", "rms"})
    for (const std::int64_t key_heads : {1, 2, 4})
      for (const std::int64_t memory_width : {0, 3}) {
        INFO(norm << ", " << key_heads << " heads of keys, memory " << memory_width);
        LayerChoice choice;
        choice.attention.head_width = 3;
        choice.attention.value_width = 2;
        choice.attention.key_value_heads = key_heads;
        choice.part_options["query_key_norm"] = norm;
        check_multi_head(choice, memory_width);
      }
}

TEST_CASE("multi-head attention has the right gradient with gates, without the part along the own value, and with "
          "normalised projections",
          "[gradient][attention]") {
  for (const std::string gate : {"none", "head", "elementwise"})
    for (const bool exclusive : {false, true})
      for (const std::int64_t key_heads : {1, 4})
        for (const std::int64_t memory_width : {0, 3}) {
          if (exclusive && memory_width > 0) continue;
          INFO(gate << ", exclusive " << exclusive << ", " << key_heads << " heads of keys, memory " << memory_width);
          LayerChoice choice;
          choice.attention.value_width = 2;
          choice.attention.head_width = 3;
          choice.attention.key_value_heads = key_heads;
          choice.part_options["query_key_norm"] = "rms";
          choice.part_options["query_key_norm_over"] = "projection";
          choice.part_options["gate"] = gate;
          choice.part_options["exclusive"] = exclusive;
          check_multi_head(choice, memory_width);
        }
}

TEST_CASE("multi-head attention has the right gradient with two maps for each head, and with forget gates",
          "[gradient][attention]") {
  for (const std::string maps : {"none", "v1", "v2"})
    for (const bool forgets : {false, true})
      for (const std::string score : {"scaled_dot", "additive", "l1"})
        for (const std::string normalizer : {"softmax", "sigmoid"})
          for (const std::int64_t key_heads : {1, 4})
            for (const std::int64_t memory_width : {0, 3}) {
              if ((forgets && memory_width > 0) || (maps == "none" && !forgets)) continue;
              INFO(maps << ", forgets " << forgets << ", " << score << ", " << normalizer << ", " << key_heads
                        << " heads of keys, memory " << memory_width);
              LayerChoice choice = choice_of(score_info(score), {}, normalizer);
              choice.part_options["differential"] = maps;
              choice.part_options["forget_gate"] = forgets;
              choice.attention.head_width = 3;
              choice.attention.value_width = 2;
              choice.attention.key_value_heads = key_heads;
              check_multi_head(choice, memory_width);
            }
}

TEST_CASE("multi-head attention has the right gradient with a convolution, in segments, too", "[gradient][attention]") {
  const std::int32_t segments[] = {0, 0, 0, 1, 1, 0, 1, 1, 1, 1};
  for (const std::string on : {"qkv", "qk", "v"})
    for (const std::int64_t taps : {1, 2, 4})
      for (const std::int64_t key_heads : {1, 2})
        for (const bool is_segmented : {false, true}) {
          INFO(on << ", " << taps << " taps, " << key_heads << " heads of keys, segments " << is_segmented);
          LayerChoice choice;
          choice.part_options["convolution"] = taps;
          choice.part_options["convolution_on"] = on;
          choice.part_options["query_key_norm"] = "rms";
          choice.attention.key_value_heads = key_heads;
          Weights weights;
          const MultiHeadAttention attention(weights.scope(), choice, {.width = 4, .heads = 2}, Init::normal(1));
          weights.fill(4);
          const Segments given{is_segmented ? segments : nullptr, 5};
          check_module(weights, {Operand({2, 5, 4}, 5, {-1, 1, 0})}, [&](Pass& pass, const std::vector<Tensor>& x) {
            return attention(pass, x[0], {.causal = true, .query_segments = given, .key_segments = given});
          });
        }
}

TEST_CASE("multi-head attention has the right gradient with path, in segments, too", "[gradient][attention]") {
  const std::int32_t segments[] = {0, 0, 0, 1, 1, 0, 1, 1, 1, 1};
  for (const std::string score : {"dot", "scaled_dot"})
    for (const std::string normalizer : {"softmax", "stick_breaking", "entmax15"})
      for (const auto& [rank, taps] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {0, 1}, {0, 0}})
        for (const std::int64_t key_heads : {1, 2})
          for (const bool more : {false, true}) {
            INFO(score << ", " << normalizer << ", rank " << rank << ", " << taps << " taps, " << key_heads
                       << " heads of keys, " << more);
            LayerChoice choice;
            choice.attention.score = score;
            choice.attention.normalizer = normalizer;
            choice.attention.key_value_heads = key_heads;
            choice.position.kind = "path";
            choice.position_options = {{"rank", rank}, {"convolution", taps}};
            if (more) choice.part_options = {{"forget_gate", true}, {"differential", "v1"}, {"query_key_norm", "rms"}};
            Weights weights;
            const MultiHeadAttention attention(weights.scope(), choice, {.width = 4, .heads = 2}, Init::normal(1));
            weights.fill(4);
            const Segments given{more ? segments : nullptr, 5};
            check_module(weights, {Operand({2, 5, 4}, 5, {-1, 1, 0})}, [&](Pass& pass, const std::vector<Tensor>& x) {
              return attention(pass, x[0], {.causal = true, .query_segments = given, .key_segments = given});
            });
          }
}

TEST_CASE("multi-head attention has the right gradient with a selection of blocks of keys, given the choice",
          "[gradient][attention]") {
  for (const std::string selection : {"moba", "nsa"})
    for (const std::string score : {"scaled_dot", "additive", "l1"})
      for (const std::string normalizer : {"softmax", "sparsemax", "stick_breaking", "softmax_sink"})
        for (const std::int64_t key_heads : {1, 2}) {
          INFO(selection << ", " << score << ", " << normalizer << ", " << key_heads << " heads of keys");
          LayerChoice choice;
          choice.attention.score = score;
          choice.attention.normalizer = normalizer;
          choice.attention.key_value_heads = key_heads;
          choice.part_options = {{"selection", selection},
                                 {"selection_block", std::int64_t{2}},
                                 {"selection_chosen", std::int64_t{2}},
                                 {"selection_window", std::int64_t{3}}};
          Weights weights;
          const MultiHeadAttention attention(weights.scope(), choice, {.width = 4, .heads = 2}, Init::normal(1));
          weights.fill(4);
          check_module(weights, {Operand({2, 7, 4}, 5, {-1, 1, 0})}, [&](Pass& pass, const std::vector<Tensor>& x) {
            return attention(pass, x[0], {.causal = true});
          });
        }
}

TEST_CASE("forget gates have the right gradient beside a position, in blocks, and after earlier keys",
          "[gradient][attention]") {
  for (const std::string position : {"none", "alibi", "kerple"})
    for (const std::int64_t rows : {0, 2}) {
      INFO(position << ", " << rows << " rows");
      const Extents e{
          .batch = 2, .heads = 2, .queries = 4, .keys = 5, .query_width = 2, .key_width = 2, .value_width = 2};
      AttentionCase attention(choice_of(score_info("scaled_dot")), e);
      const PositionInfo& info = position_info(position);
      const std::unique_ptr<RelativePosition> scheme = info.make_relative
                                                           ? info.make_relative(attention.weights.scope() / "position",
                                                                                {2, 2, 2, 5}, {})
                                                           : nullptr;
      attention.weights.fill(4);
      check_module(attention.weights, {attention.q, attention.k, attention.v, Operand({2, 2, 5, 1}, 5, {-2, 0, 0})},
                   [&](Pass& pass, const std::vector<Tensor>& x) {
                     return attention.attention(pass, {.queries = x[0],
                                                       .values = x[2],
                                                       .keys = x[1],
                                                       .mask = {.causal = true, .offset = 1},
                                                       .position = scheme.get(),
                                                       .forget = x[3],
                                                       .rows = rows});
                   });
    }
}

TEST_CASE("multi-head attention has the right gradient: self, cross, and with a head width of its own",
          "[gradient][attention]") {
  const std::vector<std::int32_t> lengths = {5, 3};
  for (const ScoreInfo* score : scores())
    for (std::int64_t head_width : {0, 3})
      for (bool bias : {true, false}) {
        INFO(score->about.name << ", head_width " << head_width << ", bias " << bias);
        LayerChoice choice = choice_of(*score);
        choice.attention.head_width = head_width;
        Weights own;
        const MultiHeadAttention self(own.scope(), choice,
                                      {.width = 4, .memory_width = 0, .heads = 2, .bias = bias, .longest = 4},
                                      Init::normal(1));
        own.fill(6);
        check_module(own, {Operand({1, 4, 4}, 1, moderate)},
                     [&](Pass& pass, const std::vector<Tensor>& x) { return self(pass, x[0], {.causal = true}); });
        Weights other;
        const MultiHeadAttention cross(other.scope(), choice,
                                       {.width = 4, .memory_width = 3, .heads = 2, .bias = bias, .longest = 5},
                                       Init::normal(1));
        other.fill(7);
        check_module(other, {Operand({2, 2, 4}, 1, moderate), Operand({2, 5, 3}, 2, moderate)},
                     [&](Pass& pass, const std::vector<Tensor>& x) {
                       return cross(pass, x[0], x[1], {.lengths = lengths.data()});
                     });
      }
}

TEST_CASE("every projection has the right gradient within multi-head attention", "[gradient][attention]") {
  const std::vector<std::int32_t> lengths = {5, 3};
  for (const ProjectionInfo* info : projections())
    for (const Setup& setup : projection_setups(*info))
      for (const std::string maps : {"none", "v1", "v2"})
        for (const bool more : {false, true}) {
          INFO(setup.text << ", " << maps << ", " << more);
          LayerChoice choice;
          choice.attention.projection = info->about.name;
          choice.projection_options = setup.options;
          choice.part_options["differential"] = maps;
          if (more) {
            choice.part_options["gate"] = "elementwise";
            choice.part_options["exclusive"] = true;
            choice.part_options["persistent_keys"] = 1;
            if (!setup.options.contains("rotary_width")) choice.part_options["query_key_norm"] = "rms";
          }
          const std::int64_t registers = more ? 2 : 0;
          Weights own;
          const MultiHeadAttention self(own.scope(), choice,
                                        {.width = 8, .heads = 2, .bias = more, .longest = 4, .registers = registers},
                                        Init::normal(1));
          own.fill(6);
          check_module(own, {Operand({1, 3 + registers, 8}, 1, moderate)},
                       [&](Pass& pass, const std::vector<Tensor>& x) { return self(pass, x[0], {.causal = true}); });
          Weights other;
          const MultiHeadAttention cross(other.scope(), choice.for_cross_attention(),
                                         {.width = 8, .memory_width = 8, .heads = 2, .bias = more, .longest = 5},
                                         Init::normal(1));
          other.fill(7);
          check_module(other, {Operand({2, 2, 8}, 1, moderate), Operand({2, 5, 8}, 2, moderate)},
                       [&](Pass& pass, const std::vector<Tensor>& x) {
                         return cross(pass, x[0], x[1], {.lengths = lengths.data()});
                       });
        }
}

TEST_CASE("every positional scheme has the right gradient, added and concatenated", "[gradient][position]") {
  for (const PositionInfo* info : positions())
    for (const Setup& setup : setups(info->about))
      for (const std::string& combine : words_of(position_option_table().options(), "combine"))
        for (const std::string& concat : words_of(position_option_table().options(), "concat"))
          for (std::int64_t width : {0, 2}) {
            INFO(setup.text << ", " << combine << ", " << concat << ", width " << width);
            Weights weights;
            const PositionalEmbedding position(
                weights.scope(), {.kind = info->about.name, .combine = combine, .width = width, .concat = concat},
                setup.options, 4, 6);
            weights.fill(8);
            check_module(weights, {Operand({2, 3, 4}, 1, moderate)},
                         [&](Pass& pass, const std::vector<Tensor>& x) { return position(pass, x[0], 2); });
          }
}

TEST_CASE("every relative position has the right gradient within multi-head attention", "[gradient][position]") {
  for (const PositionInfo* info : positions())
    for (const Setup& setup : setups(info->about))
      for (const std::string normalizer : {"softmax", "sigmoid"}) {
        if (!info->make_relative) continue;
        INFO(setup.text << ", " << normalizer);
        Weights weights;
        const std::shared_ptr<const RelativePosition> position = info->make_relative(weights.scope() / "position",
                                                                                     {2, 4, 2, 5}, setup.options);
        LayerChoice choice = choice_of(score_info("scaled_dot"), {}, normalizer);
        choice.attention.head_width = 4; // two pairs
        const MultiHeadAttention attention(weights.scope(), choice,
                                           {.width = 4, .heads = 2, .position = position, .longest = 5},
                                           Init::normal(1));
        weights.fill(8);
        check_module(weights, {Operand({2, 4, 4}, 1, moderate)},
                     [&](Pass& pass, const std::vector<Tensor>& x) { return attention(pass, x[0], {.causal = true}); });
      }
}

TEST_CASE("multi-head attention with persistent keys and registers has the right gradient with every relative position",
          "[gradient][position]") {
  const std::vector<std::int32_t> lengths = {3, 2};
  for (const PositionInfo* info : positions())
    for (const Setup& setup : setups(info->about))
      for (const auto& [persistent, registers] : {std::pair{2, 0}, {0, 2}, {1, 2}}) {
        INFO(setup.text << ", " << persistent << " persistent keys, " << registers << " registers");
        Weights weights;
        std::shared_ptr<const RelativePosition> position;
        if (info->make_relative)
          position = info->make_relative(weights.scope() / "position", {2, 4, 2, 5}, setup.options);
        LayerChoice choice;
        choice.attention.head_width = 4; // two pairs
        choice.part_options["persistent_keys"] = persistent;
        const MultiHeadAttention attention(
            weights.scope(), choice,
            {.width = 4, .heads = 2, .position = position, .longest = 3, .registers = registers}, Init::normal(1));
        weights.fill(8);
        check_module(weights, {Operand({2, 3 + registers, 4}, 1, moderate)},
                     [&](Pass& pass, const std::vector<Tensor>& x) {
                       return attention(pass, x[0], {.causal = true, .lengths = lengths.data()});
                     });
      }
}

TEST_CASE("attention in blocks of queries has the right gradient", "[gradient][attention]") {
  for (const NormalizerInfo* normalizer : normalizers()) {
    const LayerChoice choice = choice_of(score_info("additive"), {}, normalizer->about.name);
    if (gradient_of(choice)) continue;
    for (const std::string kind : {"none", "shaw", "skewed"}) {
      const Extents e{
          .batch = 1, .heads = 2, .queries = 5, .keys = 5, .query_width = 2, .key_width = 2, .value_width = 2};
      AttentionCase attention(choice, e);
      const PositionInfo& info = position_info(kind);
      const std::unique_ptr<RelativePosition> position =
          info.make_relative ? info.make_relative(attention.weights.scope() / "position", {2, 2, 2, 5},
                                                  kind == "shaw" ? OptionValues{{"values", true}} : OptionValues{})
                             : nullptr;
      attention.weights.fill(4);
      INFO(normalizer->about.name << ", " << kind);
      check_module(attention.weights, {attention.q, attention.k, attention.v},
                   [&](Pass& pass, const std::vector<Tensor>& x) {
                     return attention.attention(pass, {.queries = x[0],
                                                       .values = x[2],
                                                       .keys = x[1],
                                                       .mask = {.causal = true},
                                                       .position = position.get(),
                                                       .rows = 2});
                   });
    }
  }
}

TEST_CASE("linear and embedding have the right gradient", "[gradient]") {
  for (bool bias : {true, false}) {
    Weights weights;
    const Linear map(weights.scope() / "map", 3, 5, bias);
    weights.fill(1);
    check_module(weights, {Operand({2, 3, 3}, 1)},
                 [&](Pass& pass, const std::vector<Tensor>& x) { return map(pass, x[0]); });
  }
  Weights weights;
  const Embedding embed(weights.scope() / "embedding", 5, 3);
  weights.fill(3);
  const std::vector<std::int32_t> tokens = {4, 0, 4, 4, 1, 0};
  check_module(weights, {}, [&](Pass& pass, const std::vector<Tensor>&) { return embed(pass, tokens.data(), {2, 3}); });
}

TEST_CASE("convolution and group norm have the right gradient", "[gradient]") {
  for (bool bias : {true, false}) {
    Weights weights;
    const Convolution map(weights.scope() / "map", {.in = 2, .out = 4, .kernel = 3, .options = {2, 1}, .bias = bias});
    const GroupNorm norm(weights.scope() / "norm", 2, 4);
    weights.fill(1);
    check_module(weights, {Operand({2, 2, 5, 4}, 1)},
                 [&](Pass& pass, const std::vector<Tensor>& x) { return norm(pass, map(pass, x[0])); });
  }
}

TEST_CASE("the feed-forward network has the right gradient with every activation", "[gradient]") {
  for (const FeedForwardInfo* info : feed_forwards())
    for (bool bias : {true, false}) {
      const std::string& activation = info->about.name;
      INFO(activation << ", bias " << bias);
      Weights weights;
      const FeedForward ffn(weights.scope(), activation, 3, 5, bias, Init::normal(1));
      weights.fill(4);
      check_module(weights, {Operand({2, 3, 3}, 1)},
                   [&](Pass& pass, const std::vector<Tensor>& x) { return ffn(pass, x[0]); });
    }
}

TEST_CASE("every norm has the right gradient", "[gradient][norm]") {
  for (const NormInfo* info : norms())
    for (const Setup& setup : setups(info->about))
      for (const bool bias : {true, false}) {
        INFO(setup.text << ", bias " << bias);
        Weights weights;
        const auto norm = info->make(weights.scope() / "norm", {5, bias}, setup.options);
        weights.fill(4);
        check_module(weights, {Operand({2, 3, 5}, 1)},
                     [&](Pass& pass, const std::vector<Tensor>& x) { return (*norm)(pass, x[0]); });
      }
}

TEST_CASE("the block has the right gradient with every residual connection and norm", "[gradient]") {
  const std::vector<std::int32_t> lengths = {4, 2};
  for (const std::string& residual : words_of(block_options(), "residual"))
    for (const std::string& norm : words_of(block_options(), "norm"))
      for (const NormInfo* kind : norms())
        for (bool causal : {true, false}) {
          INFO("residual " << residual << ", norm " << norm << ", " << kind->about.name << ", causal " << causal);
          LayerChoice choice;
          choice.attention.causal = causal;
          choice.block = {
              .residual = residual, .norm = norm, .norm_kind = kind->about.name, .ffn_width = 5, .bias = causal};
          Weights weights;
          const Block block(weights.scope(), choice, {4, 2, Init::normal(1)});
          weights.fill(5);
          check_module(weights, {Operand({2, 4, 4}, 1)}, [&](Pass& pass, const std::vector<Tensor>& x) {
            return block(pass, x[0], {.lengths = lengths.data()});
          });
        }
}

TEST_CASE("the block has the right gradient with highway connections", "[gradient]") {
  const std::vector<std::int32_t> lengths = {4, 2};
  for (const std::string& norm : words_of(block_options(), "norm"))
    for (const bool parallel : {false, true}) {
      INFO("norm " << norm << ", parallel " << parallel);
      LayerChoice choice;
      choice.block = {.norm = norm, .ffn_width = 5, .parallel = parallel, .connection = "highway"};
      Weights weights;
      const Block block(weights.scope(), choice, {4, 2, Init::normal(1)});
      weights.fill(5);
      check_module(weights, {Operand({2, 4, 4}, 1)}, [&](Pass& pass, const std::vector<Tensor>& x) {
        return block(pass, x[0], {.lengths = lengths.data()});
      });
    }
}

TEST_CASE("recurrent layers have the right gradient with every cell, stacked and both ways", "[gradient][recurrent]") {
  const std::vector<std::int32_t> lengths = {4, 2};
  for (const RecurrentCellInfo* info : recurrent_cells())
    for (const Setup& setup : setups(info->about))
      for (bool both : {false, true})
        for (bool bias : {false, true}) {
          INFO(setup.text << ", both ways " << both << ", bias " << bias);
          Weights weights;
          const Recurrent layers(weights.scope(), info->about.name, setup.options,
                                 {.input_width = 3, .width = 3, .layers = 2, .both_directions = both, .bias = bias});
          weights.fill(9);
          check_module(weights, {Operand({2, 4, 3}, 1)}, [&](Pass& pass, const std::vector<Tensor>& x) {
            const Recurrent::Result r = layers(pass, x[0], lengths.data());
            return add(weighted_sum(r.states), weighted_sum(r.last[1].h));
          });
        }
}

TEST_CASE("dropout within attention and block has the right gradient", "[gradient]") {
  LayerChoice choice;
  choice.attention.dropout = 0.3;
  choice.block.ffn_dropout = 0.2;
  choice.block.dropout = 0.4;
  Weights weights;
  const Block block(weights.scope(), choice, {4, 2, Init::normal(1)});
  weights.fill(5);
  check_module(weights, {Operand({2, 4, 4}, 1)},
               [&](Pass& pass, const std::vector<Tensor>& x) { return block(pass, x[0], {}); });
}
