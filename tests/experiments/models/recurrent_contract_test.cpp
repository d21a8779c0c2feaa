// Tests of properties that every recurrent model, and the model on image patches, must have.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/small_model.hpp"

using namespace heed;
using namespace heed::f32;
using Catch::Contains;

namespace {

// Replaces tokens only where the input, or the output, is padding.
Batch with_other_padding(Batch b) {
  for (std::int64_t r = 0; r < b.sequences; ++r) {
    for (std::int64_t t = b.lengths[static_cast<std::size_t>(r)]; t < b.length; ++t)
      b.tokens[static_cast<std::size_t>(r * b.length + t)] = 3;
    for (std::int64_t t = b.outputs.empty() ? 0 : b.output_lengths[static_cast<std::size_t>(r)]; t < b.output_length;
         ++t)
      b.outputs[static_cast<std::size_t>(r * b.output_length + t)] = 2;
  }
  return b;
}

// Logits of the positions that count, sequence by sequence.
std::vector<Real> counted(const std::vector<Real>& logits, const Batch& b, std::int64_t classes) {
  std::vector<Real> out;
  const std::int64_t per_sequence = std::ssize(b.targets) / b.sequences;
  for (std::int64_t i = 0; i < b.sequences * per_sequence; ++i)
    if (b.targets[static_cast<std::size_t>(i)] != ignored)
      out.insert(out.end(), logits.begin() + i * classes, logits.begin() + (i + 1) * classes);
  return out;
}

// A batch of only sequence `at`, with the same padding.
Batch sequence_of(const Batch& b, const TaskSizes& sizes, std::int64_t at) {
  Batch one;
  one.reset(1, sizes, b.format);
  const auto copy = [&](const auto& from, auto& to) {
    std::copy_n(from.begin() + at * std::ssize(to), std::ssize(to), to.begin());
  };
  copy(b.tokens, one.tokens);
  copy(b.lengths, one.lengths);
  copy(b.outputs, one.outputs);
  copy(b.output_lengths, one.output_lengths);
  copy(b.targets, one.targets);
  copy(b.images, one.images);
  return one;
}

std::vector<std::vector<std::string>> all_choices() {
  auto out = recurrent_choices();
  for (const std::string& cell : find_option("recurrent.cell")->words) {
    out.push_back({"model.kind=recurrent_decoder", "recurrent.cell=" + cell, "recurrent.layers=2"});
    for (const std::string& pooling : find_option("model.recurrent_classifier.pooling")->words)
      out.push_back({"model.kind=recurrent_classifier", "recurrent.cell=" + cell,
                     "model.recurrent_classifier.pooling=" + pooling});
  }
  for (const std::string& score : find_option("attention.score")->words)
    for (const std::string& normalizer : find_option("attention.normalizer")->words)
      if (normalizer != "stick_breaking") // orders keys, so it is refused
        out.push_back({"model.kind=recurrent", "attention.score=" + score, "attention.normalizer=" + normalizer});
  return out;
}

} // namespace

TEST_CASE("padding changes nothing of what recurrent models say, bit for bit", "[model][contract]") {
  for (const auto& assignments : all_choices()) {
    INFO(in_words(assignments));
    SmallModel m(assignments);
    const Batch batch = m.batch(), other = with_other_padding(batch);
    REQUIRE(other.tokens != batch.tokens);
    CHECK(counted(m.logits(other), batch, m.sizes.classes) == counted(m.logits(batch), batch, m.sizes.classes));
  }
}

TEST_CASE("a sequence says the same to recurrent models whatever sequences are with it", "[model][contract]") {
  for (const auto& assignments : all_choices()) {
    INFO(in_words(assignments));
    SmallModel m(assignments);
    const Batch batch = m.batch();
    const std::vector<Real> all = m.logits(batch);
    for (std::int64_t r = 0; r < batch.sequences; ++r) {
      const std::vector<Real> alone = m.logits(sequence_of(batch, m.sizes, r));
      const auto at = all.begin() + r * std::ssize(alone);
      CHECK(distance(alone, std::vector<Real>(at, at + std::ssize(alone))) < 20 * rounding);
    }
  }
}

TEST_CASE("what a recurrent translator says of a token depends on no later one, and on the whole input",
          "[model][contract]") {
  for (const auto& assignments : recurrent_choices()) {
    INFO(in_words(assignments));
    SmallModel m(assignments);
    const Batch batch = m.batch();
    const std::vector<Real> before = m.logits(batch);
    Batch later = batch;
    for (std::size_t sequence : {0U, 1U, 2U})
      later.outputs[sequence * 5 + 3] = (later.outputs[sequence * 5 + 3] + 1) % 6;
    const std::vector<Real> after = m.logits(later);
    for (std::ptrdiff_t sequence : {0, 1, 2}) {
      const std::ptrdiff_t begin = sequence * 5 * 6;
      CHECK(std::equal(before.begin() + begin, before.begin() + begin + 3 * 6, after.begin() + begin));
      CHECK_FALSE(std::equal(before.begin() + begin, before.begin() + begin + 5 * 6, after.begin() + begin));
    }
    for (std::size_t t = 0; t < 4; ++t) {
      Batch source = batch;
      source.tokens[t] = (source.tokens[t] + 1) % 5;
      CHECK_FALSE(std::equal(before.begin(), before.begin() + 6, m.logits(source).begin()));
    }
  }
}

TEST_CASE("a recurrent language model depends on no later token", "[model][contract]") {
  SmallModel m({"model.kind=recurrent_decoder"});
  const Batch batch = m.batch();
  Batch later = batch;
  later.tokens[3] = (later.tokens[3] + 1) % 5;
  const std::vector<Real> before = m.logits(batch), after = m.logits(later);
  CHECK(std::equal(before.begin(), before.begin() + 3 * 5, after.begin()));
  CHECK_FALSE(std::equal(before.begin(), before.begin() + 4 * 5, after.begin()));
}

TEST_CASE("the tape of a recurrent translator grows with its steps only where a step needs what the one before it saw",
          "[model]") {
  for (const auto& assignments : recurrent_choices()) {
    INFO(in_words(assignments));
    SmallModel m(assignments);
    const Batch batch = m.batch();
    Tape tape;
    std::int64_t nodes = 0;
    for (int step = 0; step < 2; ++step) {
      tape.rewind();
      m.logits(tape, batch, {.training = true});
      if (step == 1) CHECK(tape.nodes() == nodes);
      nodes = tape.nodes();
    }
    // Without attention and input feeding, the tape does not grow with the number of steps.
    const bool one_operation = m.config.recurrent.attention == "none" ||
                               (m.config.recurrent.attention == "luong" && !m.config.recurrent.input_feeding);
    Batch shorter = batch;
    shorter.output_lengths = {1, 2, 1};
    shorter.trim();
    REQUIRE(shorter.output_length == 2);
    tape.rewind();
    m.logits(tape, shorter, {.training = true});
    CHECK((tape.nodes() == nodes) == one_operation);
  }
}

TEST_CASE("recurrent models give token by token the logits of the whole sequence", "[model][decoding]") {
  for (const auto& assignments : all_choices()) {
    SmallModel m(assignments);
    if (m.format == TaskFormat::classification) continue;
    INFO(in_words(assignments));
    Batch batch = m.batch();
    if (m.format == TaskFormat::language_model)
      batch.lengths = {4, 4, 4}; // a step does not know where a sequence ends and its state stays fixed
    const std::vector<Real> whole = m.logits(batch);
    const bool translates = m.format == TaskFormat::sequence_to_sequence;
    const std::vector<std::int32_t>& given = translates ? batch.outputs : batch.tokens;
    const std::int64_t length = translates ? batch.output_length : batch.length, classes = m.sizes.classes;
    Tape tape;
    tape.record(false);
    Pass start = m.weights.pass(tape);
    const std::unique_ptr<Decoding> decoding = m.model->decoding(start, batch);
    REQUIRE(decoding);
    std::vector<std::int64_t> sequences = {0, 1, 2};
    for (std::int64_t t = 0; t < length; ++t) {
      tape.rewind();
      if (t == 1) sequences = {2, 0, 0, 1};
      if (t == 1) decoding->select(sequences);
      if (t == 2) { // two sequences that continue from the same sequence change places
        const std::vector<std::int64_t> turned = {0, 2, 1, 3};
        decoding->select(turned);
      }
      if (t == 3) {
        const std::vector<std::int64_t> fewer = {3, 0};
        decoding->select(fewer);
        sequences = {1, 2};
      }
      std::vector<std::int32_t> tokens;
      std::vector<Real> expected;
      for (const std::int64_t sequence : sequences) {
        tokens.push_back(given[static_cast<std::size_t>(sequence * length + t)]);
        const auto at = whole.begin() + (sequence * length + t) * classes;
        expected.insert(expected.end(), at, at + classes);
      }
      Pass pass = m.weights.pass(tape);
      const Tensor logits = decoding->step(pass, tokens);
      CHECK(logits.shape == Shape{std::ssize(sequences), classes});
      CHECK(distance(read(logits), expected) < 20 * rounding);
    }
  }
}

TEST_CASE("recurrent models refuse what does nothing in them, with the reason", "[model][config]") {
  const auto refusal = [](const std::string& toml) { return test::refusal_of(toml); };
  for (const std::string line : {"heads = 2", "layers = 3", "scaled_init = false", "embedding_scale = \"sqrt\""})
    CHECK_THAT(refusal("[model]\nkind = \"recurrent\"\n" + line + "\n"),
               Contains("does nothing") && Contains("model.kind is 'recurrent'"));
  for (const std::string line : {"[position]\nkind = \"learned\"", "[position.sinusoidal]\nbase = 100.0",
                                 "[block]\nnorm = \"post\"", "[attention]\ncausal = false"})
    CHECK_THAT(refusal("[model]\nkind = \"recurrent\"\n" + line + "\n"), Contains("model.kind is 'recurrent'"));
  const std::string model = "[model]\nkind = \"recurrent\"\n[recurrent]\n";
  CHECK_THAT(refusal(model + "attention = \"none\"\n[attention]\nscore = \"dot\"\n"),
             Contains("attention.score does nothing") && Contains("recurrent.attention is 'none'"));
  CHECK_THAT(refusal(model + "attention = \"none\"\n[attention.cosine]\ntemperature = 2.0\n"),
             Contains("does nothing"));
  CHECK_THAT(refusal(model + "input_feeding = false\n"), Contains("recurrent.attention is 'bahdanau'"));
  CHECK_THAT(refusal(model + "window = 3\n"), Contains("recurrent.reach is 'global'"));
  CHECK_THAT(refusal("[recurrent]\ncell = \"lstm\"\n"),
             Contains("recurrent.cell does nothing") && Contains("model.kind is 'decoder'"));
  CHECK_THAT(refusal("[model]\nkind = \"recurrent_decoder\"\n[attention]\nscore = \"dot\"\n"),
             Contains("does nothing"));
  CHECK_THAT(refusal("[model]\nkind = \"recurrent_classifier\"\n[model.recurrent_classifier]\npooling = \"mean\"\n"
                     "[attention]\nscore = \"dot\"\n"),
             Contains("model.recurrent_classifier.pooling is 'mean'"));
  CHECK(refusal("[model]\nkind = \"recurrent\"\nwidth = 10\n[attention]\nscore = \"dot\"\n") == "");
  CHECK(refusal("[recurrent]\n[attention]\nscore = \"dot\"\n") == "");
  CHECK_THROWS_WITH(SmallModel({"model.kind=recurrent", "model.width=5"}), Contains("bidirectional"));
}

TEST_CASE("what a later choice of a recurrent model leaves without effect is dropped, blocks' own options too",
          "[model][config]") {
  Settings settings = Settings::parse(R"(
[model]
layers = 3
heads = 3
width = 12
[position]
kind = "shaw"
[position.shaw]
clip = 2
[[block.override]]
layers = [0]
attention.score = "cosine"
[[block.override]]
layers = [2]
attention.score = "dot"
)",
                                      "x.toml");
  settings.override_with({"model.kind=recurrent"});
  const Config config = settings.resolve();
  CHECK(config.layers.size() == 1);
  CHECK(config.layers[0].attention.score == "cosine");
  CHECK(config.layers.front().position.kind == "sinusoidal");
  CHECK(config.layers.front().position_options.count("clip") == 0);
  const std::string dropped = in_words(settings.dropped());
  for (const char* key : {"model.layers", "model.heads", "position.kind", "position.shaw.clip", "block 2"})
    CHECK_THAT(dropped, Contains(key));
  const Config again = test::config(to_toml(config));
  CHECK(to_toml(again) == to_toml(config));
  CHECK(again.layers.size() == 1);
}

TEST_CASE("the model that looks at patches sees every pixel, tells patches apart, and refuses sizes that don't fit",
          "[model]") {
  for (const std::string stem : {"linear", "convolution"}) {
    INFO(stem);
    std::vector<std::string> assignments = {"model.kind=patches", "model.heads=2", "model.patches.patch=2",
                                            "model.patches.stem=" + stem};
    SmallModel m(assignments);
    const Batch batch = m.batch();
    const std::vector<Real> before = m.logits(batch);
    for (std::size_t pixel = 0; pixel < 32; ++pixel) {
      Batch other = batch;
      other.images[pixel] += 1;
      const std::vector<Real> after = m.logits(other);
      CHECK_FALSE(std::equal(before.begin(), before.begin() + 3, after.begin()));
      CHECK(std::equal(before.begin() + 3, before.end(), after.begin() + 3)); // sequences do not affect each other
    }
    for (std::int64_t r = 0; r < 3; ++r)
      CHECK(distance(m.logits(sequence_of(batch, m.sizes, r)),
                     std::vector<Real>(before.begin() + 3 * r, before.begin() + 3 * r + 3)) < 20 * rounding);
    Batch moved = batch; // the upper half of a channel swapped with its lower half
    for (std::size_t c = 0; c < 2; ++c)
      std::swap_ranges(moved.images.begin() + static_cast<std::ptrdiff_t>(16 * c),
                       moved.images.begin() + static_cast<std::ptrdiff_t>(16 * c + 8),
                       moved.images.begin() + static_cast<std::ptrdiff_t>(16 * c + 8));
    CHECK(distance(m.logits(moved), before) > 1e-3);
  }
  CHECK_THROWS_WITH(SmallModel({"model.kind=patches", "model.patches.patch=3"}),
                    Contains("patch = 3") && Contains("4 x 4"));
  CHECK_THROWS_WITH(SmallModel({"model.kind=patches", "model.patches.patch=2", "model.patches.stem=convolution",
                                "model.patches.groups=3"}),
                    Contains("3 groups"));
}

TEST_CASE("a linear stem is a linear map of each patch's pixels", "[model]") {
  SmallModel m({"model.kind=patches", "model.heads=1", "model.patches.patch=2", "position.kind=none",
                "block.residual=none", "block.norm=none", "model.layers=1"});
  // Without positions, an image of one patch that is moved to another place gives the same mean over patches.
  Batch batch = m.batch();
  std::fill(batch.images.begin(), batch.images.end(), 0.0F);
  Batch moved = batch;
  batch.images[0] = 1.5F;         // sequence 0, channel 0, pixel (0, 0)
  moved.images[2 * 4 + 2] = 1.5F; // pixel (2, 2): the same place in another patch
  CHECK(distance(m.logits(batch), m.logits(moved)) < 20 * rounding);
  moved.images[2 * 4 + 2] = 0;
  moved.images[2 * 4 + 3] = 1.5F; // another place within the patch
  CHECK(distance(m.logits(batch), m.logits(moved)) > 1e-4);
}
