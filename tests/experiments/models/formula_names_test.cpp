// Formulas that see the tokens' segments, the rows and columns of patches, the encoder's positions and the block, in
// models.
#include "autograd/error.hpp"
#include "experiments/models/segments.hpp"
#include "tests/experiments/models/model_support.hpp"

#include <algorithm>

using namespace heed;
using namespace heed::f32;
using Catch::Contains;

namespace {

using Tokens = std::vector<std::int32_t>;

Tokens segments(const Tokens& tokens, const Tokens& end) {
  Tokens out(tokens.size(), -1);
  write_segments(tokens, end, out.data());
  return out;
}

Batch one_sequence(const TestModel& m, const Tokens& tokens) {
  Batch batch = m.batch({static_cast<std::int32_t>(tokens.size())});
  std::copy(tokens.begin(), tokens.end(), batch.tokens.begin());
  return batch;
}

std::vector<Real> part(const std::vector<Real>& all, std::int64_t first, std::int64_t count) {
  return {all.begin() + first, all.begin() + first + count};
}

} // namespace

TEST_CASE("a segment ends with its last token", "[model][formula]") {
  CHECK(segments({1, 2, 3, 2, 2, 1}, {2}) == Tokens{0, 0, 1, 1, 2, 3});
  CHECK(segments({5, 5, 5, 1, 5, 5, 1}, {5, 5}) == Tokens{0, 0, 1, 1, 1, 1, 2}); // the third 5 begins a segment
  CHECK(segments({1, 2}, {3}) == Tokens{0, 0});
  CHECK(segments({1, 2}, {1, 2, 3}) == Tokens{0, 0});
  CHECK(segments({}, {1}).empty());
}

TEST_CASE("a segment is a text of its own under a mask by segments", "[model][formula]") {
  // Without positions, only the mask tells a sequence's second segment from a sequence that has only this segment.
  for (const std::string score : {"scaled_dot", "additive"})
    for (const std::string kind : {"decoder", "encoder"}) {
      INFO(score << ", " << kind);
      TestModel m({"model.kind=" + kind, "position.kind=none", "model.segment_end=.", "attention.score=" + score,
                   "attention.mask_mod=segment_i == segment_j"}),
          open({"model.kind=" + kind, "position.kind=none", "attention.score=" + score});
      if (kind == "encoder") { // the mean of the last sequence's vectors does not tell which vector changed
        CHECK(distance(m.logits(one_sequence(m, {1, 2, 0, 3})), open.logits(one_sequence(open, {1, 2, 0, 3}))) > 1e-3);
        continue;
      }
      const std::vector<Real> both = m.logits(one_sequence(m, {1, 2, 0, 3})),
                              own = open.logits(one_sequence(open, {0, 3}));
      CHECK(distance(part(both, 2 * 5, 2 * 5), part(own, 0, 2 * 5)) < 1e-6);
      CHECK(distance(part(both, 2 * 5, 2 * 5), part(open.logits(one_sequence(open, {1, 2, 0, 3})), 2 * 5, 2 * 5)) >
            1e-3);
    }
}

TEST_CASE("each sequence of a batch has segments of its own", "[model][formula]") {
  TestModel m({"model.segment_end=.", "attention.mask_mod=segment_i == segment_j or segment_j == 2"});
  Batch batch = m.batch({4, 4, 3});
  const Tokens tokens = {1, 2, 0, 3, 2, 2, 1, 0, 0, 1, 2, 0};
  std::copy(tokens.begin(), tokens.end(), batch.tokens.begin());
  const std::vector<Real> all = m.logits(batch);
  for (std::int64_t r = 0; r < 3; ++r) {
    const std::vector<Real> own = m.logits(
        one_sequence(m, {tokens.begin() + r * 4, tokens.begin() + r * 4 + batch.lengths[static_cast<std::size_t>(r)]}));
    const std::int64_t count = batch.lengths[static_cast<std::size_t>(r)] * 5;
    CHECK(distance(part(all, r * 20, count), part(own, 0, count)) < 1e-6);
  }
}

TEST_CASE("a formula by blocks is the formula of each block", "[model][formula]") {
  TestModel by_layer({"attention.mask_mod=i - j < 3 - layer"}),
      stated({}, "[[block.override]]\nlayers = [0]\nattention.mask_mod = \"i - j < 3\"\n[[block.override]]\nlayers = "
                 "[1]\nattention.mask_mod = \"i - j < 2\"\n"),
      alike({"attention.mask_mod=i - j < 3"});
  const Batch batch = by_layer.batch({4, 4});
  CHECK(by_layer.logits(batch) == stated.logits(batch));
  CHECK(by_layer.logits(batch) != alike.logits(batch));
}

TEST_CASE("rows and columns of patches are those of the image", "[model][formula]") {
  // Images of 4 x 6 pixels in patches of 2 x 2: two rows of three. The class is read from the first patch.
  const auto changes = [](const std::string& mask, std::int64_t row, std::int64_t column) {
    const Config config = test::config("[model]\nkind = \"patches\"\nlayers = 1\nwidth = 4\nheads = 2\n[task]\nkind = "
                                       "\"shapes\"\n",
                                       {"model.patches.patch=2", "model.patches.pooling=first",
                                        "attention.mask_mod=" + mask});
    const TaskSizes sizes{.classes = 3, .image = {1, 4, 6}};
    Weights weights;
    const auto model = model_info("patches").make(weights.scope(), config, sizes);
    weights.fill(11, {-0.7, 0.9, 0});
    Batch batch;
    batch.reset(1, sizes, TaskFormat::image_classification);
    for (std::size_t i = 0; i < batch.images.size(); ++i) batch.images[i] = static_cast<float>(i % 5) / 5 - 0.4F;
    const auto logits = [&] {
      Tape tape;
      Pass pass = weights.pass(tape);
      return read(model->logits(pass, batch));
    };
    const std::vector<Real> before = logits();
    batch.images[static_cast<std::size_t>((2 * row + 1) * 6 + 2 * column)] += 1;
    return before != logits();
  };
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t column = 0; column < 3; ++column) {
      INFO("row " << row << ", column " << column);
      CHECK(changes("row_i == row_j", row, column) == (row == 0));
      CHECK(changes("column_i == column_j", row, column) == (column == 0));
      CHECK(changes("abs(row_i - row_j) + abs(column_i - column_j) <= 1", row, column) == (row + column <= 1));
    }
}

TEST_CASE("the tokens that end a segment are those of the task", "[model][formula]") {
  const auto ends = [](const std::string& text, const std::string& kind = "decoder") {
    const Config config = test::config("[task]\nkind = \"copy\"\n", {"model.kind=" + kind, "model.segment_end=" + text,
                                                                     "attention.mask_mod=segment_i == segment_j"});
    const auto task = make_task(config);
    const TaskFormat format = model_info(kind).format;
    TaskSizes sizes = task->sizes(format);
    set_segment_ends(config, *task, format, sizes);
    return std::pair{sizes.segment_end, sizes.output_segment_end};
  };
  const auto task = make_task(test::config("[task]\nkind = \"copy\"\n"));
  CHECK(ends("|").first == task->encode("|"));
  CHECK(ends("|").second.empty());
  CHECK(ends("1 2").first == task->encode("1 2"));
  CHECK(ends("3", "encoder_decoder") == std::pair{task->encode("3"), task->encode_output("3")});
  CHECK_THROWS_WITH(ends("word"), Contains("[model] segment_end = \"word\" is not in the vocabulary"));
  CHECK_THROWS_WITH(ends(" "), Contains("has no tokens"));
}
