// Tests of positional schemes that act within attention: the contract of all schemes, and properties of single schemes.
#include "layers/block.hpp"
#include "layers/position/position.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/layers/attention_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

RelativeSizes sizes_of(const Extents& e, std::int64_t longest) {
  return {e.heads, e.query_width, e.value_width, longest};
}

// An attention with one score, one normaliser and one relative position scheme.
struct Placed {
  Extents e;
  LayerChoice choice;
  OptionValues options;
  const PositionInfo* info;
  std::int64_t longest;
  Weights own; // the parameters of the scheme, then those of the score
  std::unique_ptr<RelativePosition> position;
  std::size_t of_scheme;
  Attention attention;
  Operand q, k, v;

  Placed(const PositionInfo& scheme, const OptionValues& o, const Extents& extents, std::int64_t longest_sequence,
         const LayerChoice& c = choice_of(score_info("scaled_dot")))
      : e(extents), choice(c), options(o), info(&scheme), longest(longest_sequence),
        position(scheme.make_relative(own.scope(), sizes_of(e, longest), o)),
        of_scheme(own.parameters.entries().size()), attention(own.scope(), c, e.score()), q(e.q(), 1, {-1, 1, 0}),
        k(e.k(), 2, {-1, 1, 0}), v(e.v(), 3, {-1, 1, 0}) {
    own.fill(6);
  }

  std::vector<Real> operator()(const Mask& mask) {
    Tape tape;
    Pass pass = own.pass(tape);
    return read(attention(
        pass,
        {.queries = q.on(tape), .values = v.on(tape), .keys = k.on(tape), .mask = mask, .position = position.get()}));
  }

  // The result in plain loops, in double.
  std::vector<double> naive(const Mask& mask) {
    std::vector<const Real*> numbers, scored;
    for (const auto& entry : own.parameters.entries())
      if (!Weights::of_normalizer(entry))
        (numbers.size() < of_scheme ? numbers : scored).push_back(own.parameters.values() + entry.offset);
    const auto rotated = [&](const Real* x, std::int64_t at, Rotated of) {
      std::vector<Real> y(x, x + e.query_width);
      if (info->rotate) info->rotate({x, e.query_width, at, of, longest, &options}, y.data());
      return y;
    };
    const auto terms = [&](const Pair& p) {
      return info->pair ? info->pair({query_at(e, q.values, p), p.j - p.i - mask.offset, sizes_of(e, longest), p.h,
                                      numbers, &options})
                        : RelativeBias{};
    };
    return plain_attention(e, mask, choice,
                           {.score =
                                [&](const Pair& p, const RowKeys&) {
                                  const std::vector<Real> query = rotated(query_at(e, q.values, p), p.i + mask.offset,
                                                                          Rotated::queries),
                                                          key = rotated(key_at(e, k.values, p), p.j, Rotated::keys);
                                  return terms(p).score + plain_score(choice, e, query.data(), key.data(), p, scored);
                                },
                            .value =
                                [&](const Pair& p) {
                                  std::vector<double> value = value_at(e, v.values, p);
                                  const std::vector<Real> more = terms(p).value;
                                  for (std::size_t d = 0; d < more.size(); ++d)
                                    value[d] += static_cast<double>(more[d]);
                                  return value;
                                }})
        .result;
  }
};

void for_each_relative(const std::function<void(const PositionInfo&, const Setup&)>& use) {
  for (const PositionInfo* info : positions())
    if (info->make_relative)
      for (const Setup& setup : setups(info->about)) {
        INFO(setup.text);
        use(*info, setup);
      }
}

// The masks of whole sequences, without the masks that the scheme cannot serve because it is for causal attention.
std::vector<MaskCase> served_masks(const Placed& p) {
  std::vector<MaskCase> out;
  for (const MaskCase& mask : masks(p.e))
    if (serves(*p.info, p.options, sizes_of(p.e, p.longest), false) ||
        (mask.mask.causal && mask.mask.prefix == 0 && mask.mask.offset == 0))
      out.push_back(mask);
  return out;
}

} // namespace

TEST_CASE("every relative scheme equals the plain loops over pairs, under every mask it serves",
          "[position][contract]") {
  for_each_relative([](const PositionInfo& info, const Setup& setup) {
    if (!wanted(info.about.name)) return;
    for (const std::string normalizer : {"softmax", "sigmoid"})
      for (const auto& [heads, length] : {std::pair{1, 1}, {2, 5}, {3, 33}}) {
        Placed p(info, setup.options, {.heads = heads, .queries = length, .keys = length}, 40,
                 choice_of(score_info("dot"), {}, normalizer));
        REQUIRE_FALSE(served_masks(p).empty());
        for (const MaskCase& mask : served_masks(p)) {
          INFO(p.e.text() << ", " << mask.name << ", " << normalizer);
          CHECK(distance(p(mask()), p.naive(mask())) < attention_tolerance);
        }
      }
  });
}

TEST_CASE("every score and normaliser has every relative scheme, under every mask it serves", "[position][contract]") {
  const Extents e{.heads = 2, .queries = 5, .keys = 5};
  struct Scheme {
    const PositionInfo& info;
    Setup setup;
    std::vector<MaskCase> masks;
  };
  std::vector<Scheme> schemes;
  for_each_relative([&](const PositionInfo& info, const Setup& setup) {
    schemes.push_back({info, setup, served_masks(Placed(info, setup.options, e, 7))});
  });
  for_each_attention_in_turns([&](const LayerChoice& choice, const ScoreInfo&, Turns& turns) {
    for (const auto& [info, setup, served] : schemes) {
      std::optional<Placed> p; // made for the first mask whose turn it is
      for (const MaskCase& mask : served) {
        if (!turns()) continue;
        if (!p) p.emplace(info, setup.options, e, 7, choice);
        INFO(setup.text << ", " << mask.name);
        CHECK(distance((*p)(mask()), p->naive(mask())) < attention_tolerance);
      }
    }
  });
}

TEST_CASE("each value of each option of a relative scheme changes its parameters, their start or its terms",
          "[position][contract]") {
  for (const PositionInfo* info : positions()) {
    if (!info->make_relative) continue;
    const auto outcome = [&](const OptionValues& options) {
      Placed p(*info, options, {.batch = 1, .heads = 2, .queries = 150, .keys = 150},
               150); // beyond t5's `furthest`
      std::string names;
      for (const auto& entry : p.own.parameters.entries()) names += entry.name + entry.shape.text();
      const bool looks_ahead = serves(*p.info, p.options, sizes_of(p.e, p.longest), false);
      std::vector<Real> terms = p({.causal = !looks_ahead});
      p.own.parameters.initialise(1);
      const Real* start = p.own.parameters.values();
      return std::tuple(names, std::move(terms), std::vector<Real>(start, start + p.own.parameters.extent()));
    };
    std::vector<Setup> all = setups(info->about);
    std::erase_if(all, [&](const Setup& setup) { // an option without effect beside the others' defaults
      return std::ranges::any_of(info->about.conditions, [&](const OptionCondition& c) {
        return !setup.options.empty() && c.option.ends_with("." + setup.options.begin()->first);
      });
    });
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        INFO(all[i].text << ", against " << all[j].text);
        CHECK(outcome(all[i].options) != outcome(all[j].options));
      }
  }
}

TEST_CASE("t5's near distances have buckets of their own, whatever the furthest is", "[position]") {
  // In the authors' code (mesh_tensorflow, transformer_layers.py: _relative_position_bucket), near distances have one
  // bucket each, even beyond `furthest`. If `furthest` is one of the near distances, all distances that are not near
  // are in the last bucket.
  for (const bool both_sides : {false, true})
    for (const std::int64_t furthest : {2, 3, 7, 8, 9, 20}) {
      INFO("furthest " << furthest << ", both sides " << both_sides);
      const Extents e{.batch = 1, .heads = 2, .queries = 30, .keys = 30};
      Placed p(position_info("t5"), {{"buckets", std::int64_t{16}}, {"furthest", furthest}, {"both_sides", both_sides}},
               e, 30);
      const Mask mask{.causal = !both_sides};
      CHECK(distance(p(mask), p.naive(mask)) < attention_tolerance);
      // Each near distance has its own value, so each value changes the result by itself.
      const Real* bias = p.own.parameters.values() + p.own.parameters.find("bias")->offset;
      const std::int64_t exact = both_sides ? 4 : 8;
      const std::vector<const Real*> numbers{bias};
      const auto number_at = [&](std::int64_t j_minus_i) {
        const OptionValues& options = p.options;
        return p.info->pair({nullptr, j_minus_i, sizes_of(e, 30), 1, numbers, &options}).score;
      };
      for (std::int64_t d = 0; d < exact; ++d) CHECK(number_at(-d) == bias[d * 2 + 1]);
      for (std::int64_t d = std::max(exact, furthest); d < 30; ++d)
        CHECK(number_at(-d) == bias[((both_sides ? 8 : 16) - 1) * 2 + 1]);
    }
}

TEST_CASE("shaw's distances beyond the clip are those at the clip", "[position]") {
  const Extents e{.heads = 2, .queries = 9, .keys = 9};
  Placed clipped(position_info("shaw"), {{"clip", std::int64_t{2}}, {"values", true}}, e, 9);
  // longer than the sequences, as if there were earlier keys
  Placed whole(position_info("shaw"), {{"clip", std::int64_t{0}}, {"values", true}}, e, 11);
  for (const auto& [name, width] : {std::pair{"keys", 4}, {"values", 3}}) {
    const auto* entry = clipped.own.parameters.find(name);
    const Real* p = clipped.own.parameters.values() + entry->offset;
    std::vector<Real> rows;
    for (int d = -10; d <= 10; ++d) {
      const Real* row = p + (std::clamp(d, -2, 2) + 2) * width;
      rows.insert(rows.end(), row, row + width);
    }
    whole.own.set(name, rows);
  }
  for (const MaskCase& mask : masks(e)) {
    INFO(mask.name);
    CHECK(distance(clipped(mask()), whole(mask())) < attention_tolerance);
  }
}

TEST_CASE("shaw without a clip serves every sequence that training had, whatever the heads' width", "[position]") {
  const Extents e{.heads = 2, .queries = 3, .keys = 3, .query_width = 8, .key_width = 8};
  Placed whole(position_info("shaw"), {{"clip", std::int64_t{0}}}, e, 3);
  CHECK(distance(whole({.causal = true}), whole.naive({.causal = true})) < attention_tolerance);
}

TEST_CASE("the skewing procedure gives shaw's numbers without a clip", "[position][equals]") {
  for (std::int64_t length : {1, 2, 7, 12}) {
    const Extents e{.heads = 3, .queries = length, .keys = length};
    Placed skewed(position_info("skewed"), {}, e, 12), shaw(position_info("shaw"), {{"clip", std::int64_t{0}}}, e, 12);
    // Shaw's rows are for distances -11 to 11, shared by all heads. Skewed has distances -11 to 0 for each head.
    const Real* p = shaw.own.parameters.values();
    std::vector<Real> rows;
    for (int h = 0; h < 3; ++h) rows.insert(rows.end(), p, p + 12 * 4);
    skewed.own.set("weight", rows);
    for (const Mask& mask : {Mask{.causal = true}, Mask{.causal = true, .window = 2}})
      CHECK(distance(skewed(mask), shaw(mask)) < attention_tolerance);
  }
}

TEST_CASE("a clip extrapolates, and what has a vector for each distance refuses longer sequences", "[position]") {
  using Catch::Contains;
  const Extents longer{.heads = 1, .queries = 9, .keys = 9};
  CHECK_NOTHROW(Placed(position_info("shaw"), {}, longer, 4)({.causal = true}));
  CHECK_THROWS_WITH(Placed(position_info("shaw"), {{"clip", std::int64_t{0}}}, longer, 8)({.causal = true}),
                    Contains("8 positions") && Contains("9") && Contains("position.shaw.clip"));
  CHECK_THROWS_WITH(Placed(position_info("skewed"), {}, longer, 8)({.causal = true}), Contains("8") && Contains("9"));
  CHECK_NOTHROW(Placed(position_info("skewed"), {}, longer, 9)({.causal = true}));
}

TEST_CASE("skewed positions are refused where attention sees what comes after", "[position]") {
  using Catch::Contains;
  Placed p(position_info("skewed"), {}, {.heads = 1}, 5);
  CHECK_THROWS_WITH(p({}), Contains("causal"));
  CHECK_THROWS_WITH(p({.causal = true, .prefix = 2}), Contains("prefix"));
  LayerChoice choice;
  choice.attention.causal = false;
  choice.position.kind = "skewed";
  Weights w;
  const std::shared_ptr<const RelativePosition> position = position_info("skewed").make_relative(w.scope(),
                                                                                                 {2, 2, 2, 5}, {});
  CHECK_THROWS_WITH(MultiHeadAttention(w.scope(), choice, {.width = 4, .heads = 2, .position = position},
                                       Init::zeros()),
                    Contains("attention.causal = true"));
  choice.attention.causal = true;
  CHECK_THROWS_WITH(MultiHeadAttention(w.scope() / "cross", choice,
                                       {.width = 4, .memory_width = 4, .heads = 2, .position = position},
                                       Init::zeros()),
                    Contains("self attention"));
}

TEST_CASE("alibi's slopes are the paper's, and for other numbers of heads its authors'", "[position]") {
  const auto slopes = [](std::int64_t heads) {
    std::vector<double> out;
    for (std::int64_t h = 0; h < heads; ++h)
      out.push_back(
          -static_cast<double>(position_info("alibi").pair({nullptr, -1, {heads, 2, 2, 5}, h, {}, nullptr}).score));
    return out;
  };
  // Section 3: for 8 heads, the slopes are 1/2, 1/4, ..., 1/256.
  CHECK(distance(slopes(8), std::vector<double>{0.5, 0.25, 0.125, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8}) < rounding);
  // For 12 heads: the slopes of 8 heads, then every second slope of 16 heads.
  const std::vector<double> twelve = slopes(12);
  for (std::size_t h = 0; h < 4; ++h)
    CHECK(twelve[8 + h] == Approx(std::exp2(-0.5 - static_cast<double>(h))).epsilon(10 * rounding));
}

TEST_CASE("attention with alibi and with t5 is PyTorch's by the authors' formulas, with all gradients", "[position]") {
  const auto compare = [](const std::string& name, const std::string& scheme, const OptionValues& options,
                          bool causal) {
    INFO(name);
    const Fixture fixture("positions", name);
    const Shape shape = fixture["query"].shape;
    Placed p(position_info(scheme), options,
             {.batch = 1,
              .heads = shape[1],
              .queries = shape[2],
              .keys = shape[2],
              .query_width = shape[3],
              .key_width = shape[3],
              .value_width = fixture["value"].shape[3]},
             shape[2]);
    p.q.values = fixture["query"].as<Real>();
    p.k.values = fixture["key"].as<Real>();
    p.v.values = fixture["value"].as<Real>();
    if (fixture.has("bias")) p.own.set("bias", fixture["bias"].as<Real>());
    Tape tape;
    Pass pass = p.own.pass(tape);
    const Tensor y = p.attention(pass, {.queries = p.q.on(tape),
                                        .values = p.v.on(tape),
                                        .keys = p.k.on(tape),
                                        .mask = {.causal = causal},
                                        .position = p.position.get()});
    CHECK(distance(read(y), fixture["y"].values) < 10 * rounding);
    const std::vector<Real> dy = fixture["dy"].as<Real>();
    tape.backward(sum(mul(y, tape.constant(dy.data(), y.shape))));
    CHECK(distance(p.q.gradient, fixture["d.query"].values) < 20 * rounding);
    CHECK(distance(p.k.gradient, fixture["d.key"].values) < 20 * rounding);
    CHECK(distance(p.v.gradient, fixture["d.value"].values) < 20 * rounding);
    if (fixture.has("bias")) CHECK(distance(p.own.gradient("bias"), fixture["d.bias"].values) < 20 * rounding);
  };
  for (const std::string heads : {"3", "6", "12"}) compare("alibi_" + heads, "alibi", {}, true);
  for (const bool both_sides : {false, true})
    for (const std::int64_t furthest : {2, 3, 6})
      compare((both_sides ? "t5_both_" : "t5_causal_") + std::to_string(furthest), "t5",
              {{"buckets", std::int64_t{8}}, {"furthest", furthest}, {"both_sides", both_sides}}, !both_sides);
}

TEST_CASE("rotary turns queries and keys as RoFormer's formula and GPT-NeoX's halves do", "[position]") {
  for (const auto& [name, options, first] :
       {std::tuple{"rotary_halves", OptionValues{}, 0},
        {"rotary_part", OptionValues{{"base", 500.0}, {"fraction", 0.4}}, 3},
        {"rotary_neighbours", OptionValues{{"pairs", std::string("neighbours")}}, 0}}) {
    INFO(name);
    const Fixture fixture("variants", name);
    const Shape shape = fixture["x"].shape;
    Weights none;
    const auto position = position_info("rotary").make_relative(none.scope(), {3, shape[-1], shape[-1], 8}, options);
    Operand x(shape, 1);
    x.values = fixture["x"].as<Real>();
    Tape tape;
    none.fill(1);
    Pass pass = none.pass(tape);
    const Tensor y = position->rotate(pass, x.on(tape), first, Rotated::queries);
    CHECK(distance(read(y), fixture["y"].values) < 10 * rounding);
    const std::vector<Real> dy = fixture["dy"].as<Real>();
    tape.backward(sum(mul(y, tape.constant(dy.data(), y.shape))));
    CHECK(distance(x.gradient, fixture["d.x"].values) < 10 * rounding);
  }
}

TEST_CASE("with rotary, scores know distances alone", "[position]") {
  const Extents e{.heads = 2, .queries = 6, .keys = 6};
  Placed p(position_info("rotary"), {}, e, 6);
  Weights none;
  none.fill(1);
  Tape tape;
  Pass pass = none.pass(tape);
  const auto products = [&](std::int64_t first) {
    return read(matmul(p.position->rotate(pass, p.q.on(tape), first, Rotated::queries),
                       transpose(p.position->rotate(pass, p.k.on(tape), first, Rotated::keys))));
  };
  CHECK(distance(products(0), products(1000)) < 1000 * rounding);
  CHECK(distance(products(0), read(matmul(p.q.on(tape), transpose(p.k.on(tape))))) > 0.01);
}

TEST_CASE("blocks have relative positions of their own, or share them", "[position]") {
  const RelativeSizes sizes{2, 3, 3, 5};
  for (const PositionInfo* info : positions())
    for (bool shared : {false, true}) {
      INFO(info->about.name << ", shared " << shared);
      Weights w;
      RelativePositions positions(w.scope());
      const PositionOptions options{.kind = info->about.name, .shared = shared};
      const auto first = positions.for_block(w.scope() / "blocks" / "0", options, {}, sizes);
      const auto second = positions.for_block(w.scope() / "blocks" / "1", options, {}, sizes);
      CHECK((first == nullptr) == (info->make_relative == nullptr));
      if (!first) continue;
      CHECK((first == second) == shared);
      for (const auto& entry : w.parameters.entries()) CHECK(entry.name.starts_with(shared ? "position." : "blocks."));
    }
}

TEST_CASE("the block and its multi-head attention use the position that they are given", "[position]") {
  for_each_relative([](const PositionInfo& info, const Setup& setup) {
    Weights weights;
    LayerChoice choice;
    choice.block.norm = "none";
    choice.block.residual = "none";
    const std::shared_ptr<const RelativePosition> position = info.make_relative(weights.scope() / "position",
                                                                                {2, 4, 4, 5}, setup.options);
    const Block block(weights.scope() / "block", choice,
                      {.width = 8, .heads = 2, .residual_init = Init::normal(1), .position = position, .longest = 5});
    weights.fill(3);
    Operand x({2, 5, 8}, 1);
    Tape tape;
    Pass pass = weights.pass(tape);
    const std::vector<Real> found = read(block(pass, x.on(tape), {}));

    // The same computed from the block's parameters: attention between two linear maps, and the feed-forward network.
    const auto affine = [&](const Tensor& t, const std::string& name) {
      const auto parameter = [&](const std::string& part) {
        const auto* e = weights.parameters.find("block." + name + part);
        REQUIRE(e);
        return tape.constant(weights.parameters.values() + e->offset, e->shape);
      };
      return linear(t, parameter(".weight"), parameter(".bias"));
    };
    const Tensor qkv = affine(x.on(tape), "attention.qkv");
    const auto heads = [&](int part) { return transpose(reshape(slice(qkv, -1, 8 * part, 8), {2, 5, 2, 4}), 1, 2); };
    Weights of_score;
    const Attention attention(of_score.scope(), choice, {2, 4, 4, 5});
    REQUIRE(of_score.parameters.entries().empty());
    const auto by_hand = [&](const RelativePosition* with) {
      const Mask mask{.causal = choice.attention.causal};
      const Tensor y =
          attention(pass, {.queries = heads(0), .values = heads(2), .keys = heads(1), .mask = mask, .position = with});
      const Tensor z = affine(reshape(contiguous(transpose(y, 1, 2)), {2, 5, 8}), "attention.output");
      return read(affine(gelu(affine(z, "ffn.expand")), "ffn.project"));
    };
    CHECK(distance(found, by_hand(position.get())) < 50 * rounding);
    CHECK(distance(found, by_hand(nullptr)) > 1e-3);
  });
}
