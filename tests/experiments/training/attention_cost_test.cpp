// Tests of the cost of attention alone, against counts by hand.
#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <limits>

using namespace heed;
using test::config;

namespace {

AttentionCost cost(const std::vector<std::string>& assignments, std::int64_t length) {
  std::vector<std::string> all{"model.width=8", "model.heads=2", "model.layers=3", "block.bias=true"};
  all.insert(all.end(), assignments.begin(), assignments.end());
  const Config c = config("", all);
  return engine(c).attention_cost(c, length, 0);
}

} // namespace

TEST_CASE("one block's attention costs its projections, and the pairs that may attend", "[cost]") {
  for (const std::int64_t length : {5, 40}) {
    const auto causal = cost({"position.kind=none"}, length),
               whole = cost({"position.kind=none", "attention.causal=false"}, length);
    const auto n = static_cast<double>(length);
    CHECK(causal.parameters == 4 * 8 * 8 + 4 * 8);
    // Forward, and twice that backward: four products with matrices of 8 by 8, and for each pair two products of 8 in
    // total.
    CHECK(whole.flops == 3 * (4 * 2 * n * 8 * 8 + 2 * 2 * 8 * n * n));
    CHECK(causal.flops == 3 * (4 * 2 * n * 8 * 8 + 2 * 2 * 8 * n * (n + 1) / 2));
    CHECK(causal.seconds > 0);
    CHECK(causal.bytes > 0);
  }
}

TEST_CASE("scores and positions cost what they add", "[cost]") {
  const AttentionCost plain = cost({"position.kind=none"}, 16);
  CHECK(cost({"position.kind=learned"}, 16).parameters == plain.parameters + 16 * 8);
  CHECK(cost({"position.kind=none", "attention.score=additive"}, 16).parameters > plain.parameters);
  // The memory is that of one sequence, and attention streams.
  const double once = cost({"position.kind=none"}, 256).bytes, twice = cost({"position.kind=none"}, 512).bytes;
  CHECK(twice < 2.5 * once);
}

TEST_CASE("what is added to the scores of zero vectors is the bias of positions and formulas, where a key is seen",
          "[training][attention]") {
  const Config c = config("[model]\nwidth = 8\nheads = 2\n[position]\nkind = \"alibi\"\n",
                          {"attention.window=2", "attention.prefix=1", "attention.score_mod=s + h"});
  const std::vector<AddedScores> all = engine(c).added_scores(c, 5, 0);
  REQUIRE(all.size() == 1);
  CHECK(all[0].place == "block 0");
  const std::vector<std::vector<double>>& heads = all[0].heads;
  REQUIRE(heads.size() == 2);
  for (int head = 0; head < 2; ++head)
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 5; ++j) {
        const double found = heads[static_cast<std::size_t>(head)][static_cast<std::size_t>(5 * i + j)];
        const bool is_seen = j == 0 || (j <= i && i - j <= 2);
        if (!is_seen) CHECK(found == -std::numeric_limits<double>::infinity());
        else CHECK(found == Approx(head - (head == 0 ? 1.0 / 16 : 1.0 / 256) * std::abs(i - j)).margin(1e-6));
      }
}

TEST_CASE("added scores of both stacks, of cross attention and of patches are those of the formulas",
          "[training][attention]") {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const Config c = config("[model]\nkind = \"encoder_decoder\"\nwidth = 8\nheads = 2\nlayers = 2\n",
                          {"attention.score_mod=s + h", "attention.cross_mask_mod=j < i + h",
                           "attention.cross_score_mod=where(segment_i == segment_j, s, s - 2)", "model.segment_end=a"});
  const std::vector<AddedScores> all = engine(c).added_scores(c, 6, 0);
  REQUIRE(all.size() == 3);
  CHECK(all[0].place == "encoder, block 0");
  CHECK(all[1].place == "decoder, block 0");
  CHECK(all[2].place == "cross attention, block 0");
  for (std::size_t of = 0; of < 3; ++of) {
    REQUIRE(all[of].heads.size() == 2);
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          const double expected = of == 0   ? h
                                  : of == 1 ? (j <= i ? h : hidden)
                                            : (j < i + h ? ((i < 3) == (j < 3) ? 0 : -2) : hidden);
          INFO(all[of].place << ", head " << h << ", query " << i << ", key " << j);
          CHECK(all[of].heads.at(static_cast<std::size_t>(h)).at(static_cast<std::size_t>(6 * i + j)) == expected);
        }
  }
  const Config patches = config("[model]\nkind = \"patches\"\nwidth = 8\nheads = 1\n",
                                {"attention.score_mod=s + 10 * (row_i - row_j) + column_i - column_j"});
  const std::vector<AddedScores> of_patches = engine(patches).added_scores(patches, 6, 3);
  REQUIRE(of_patches.size() == 1);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      CHECK(of_patches[0].heads.at(0).at(static_cast<std::size_t>(6 * i + j)) ==
            10 * (i / 3 - j / 3) + (i % 3 - j % 3));
}

TEST_CASE("a block whose values later blocks add has added scores and a cost of its own", "[training][attention]") {
  const Config c = config("[model]\nwidth = 8\nheads = 2\nlayers = 2\n", {"attention.value_residual=learned"});
  CHECK(engine(c).added_scores(c, 3, 0).size() == 1);
  CHECK(engine(c).attention_cost(c, 3, 0).parameters > 0);
}

TEST_CASE("added scores of a differential attention are those of one map", "[training][attention]") {
  const Config c = config("[model]\nwidth = 16\nheads = 2\n",
                          {"attention.differential=v1", "attention.score_mod=s + i"});
  const std::vector<AddedScores> all = engine(c).added_scores(c, 4, 0);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].heads.size() == 2);
  CHECK(all[0].heads[1] == std::vector<double>{0, -INFINITY, -INFINITY, -INFINITY, 1, 1, -INFINITY, -INFINITY, 2, 2, 2,
                                               -INFINITY, 3, 3, 3, 3});
}
