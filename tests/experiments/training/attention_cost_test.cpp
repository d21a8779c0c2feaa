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
  // The memory is that of one row, and attention streams.
  const double once = cost({"position.kind=none"}, 256).bytes, twice = cost({"position.kind=none"}, 512).bytes;
  CHECK(twice < 2.5 * once);
}

TEST_CASE("what is added to the scores of zero vectors is the bias of positions and formulas, where a key is seen",
          "[training][attention]") {
  const Config c = config("[model]\nwidth = 8\nheads = 2\n[position]\nkind = \"alibi\"\n",
                          {"attention.window=2", "attention.prefix=1", "attention.score_mod=s + h"});
  const std::vector<std::vector<double>> heads = engine(c).added_scores(c, 5);
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
