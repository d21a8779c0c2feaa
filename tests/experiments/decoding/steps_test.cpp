// Tests that step-by-step decoding gives the logits of a full pass, both with cached keys and values and with full
// recomputation.
#include "experiments/decoding/search.hpp"
#include "tests/experiments/models/model_support.hpp"

using namespace heed;
using namespace heed::f32;

namespace {

// Logits of all steps for the sequences' own next tokens, [steps][sequences, classes]. Before step `turn`, the
// sequences are replaced by `parents`.
std::vector<std::vector<Real>> step_through(TestModel& m, Decoding& decoding, const Batch& batch, std::int64_t turn,
                                            const std::vector<std::int64_t>& parents) {
  const bool has_outputs = m.format == TaskFormat::sequence_to_sequence;
  const std::vector<std::int32_t>& read_tokens = has_outputs ? batch.outputs : batch.tokens;
  const std::int64_t length = has_outputs ? batch.output_length : batch.length;
  std::vector<std::int64_t> sequences(static_cast<std::size_t>(batch.sequences));
  for (std::size_t r = 0; r < sequences.size(); ++r) sequences[r] = static_cast<std::int64_t>(r);
  std::vector<std::vector<Real>> out;
  Tape tape;
  tape.record(false);
  for (std::int64_t t = 0; t < length; ++t) {
    if (t == turn) {
      decoding.select(parents);
      sequences = parents;
    }
    std::vector<std::int32_t> tokens;
    for (const std::int64_t r : sequences) tokens.push_back(read_tokens[static_cast<std::size_t>(r * length + t)]);
    Pass pass = m.weights.pass(tape);
    const Tensor logits = decoding.step(pass, tokens);
    CHECK(logits.shape == Shape{std::ssize(sequences), m.sizes.classes});
    out.push_back(read(logits));
    tape.rewind();
  }
  return out;
}

void check_steps(const std::vector<std::string>& assignments, const std::string& overrides = "") {
  INFO(listed(assignments) << overrides);
  if (overrides.empty() && refused(assignments)) return;
  TestModel m(assignments, overrides);
  Batch batch = m.batch({4, 4, 4});
  if (m.format == TaskFormat::sequence_to_sequence)
    batch.lengths = {4, 2, 3}; // lengths of the inputs; outputs stay whole
  const std::vector<Real> whole = m.logits(batch);
  const std::vector<std::int64_t> parents{2, 0, 0, 1};
  Tape tape;
  Pass pass = m.weights.pass(tape);
  const std::unique_ptr<Decoding> own = m.model->decoding(pass, batch), anew = reread(*m.model, batch);
  CHECK(own);
  for (Decoding* decoding : {own.get(), anew.get()}) {
    if (!decoding) continue;
    const auto found = step_through(m, *decoding, batch, 2, parents);
    for (std::int64_t t = 0; t < 4; ++t) {
      std::vector<Real> expected;
      for (std::int64_t i = 0; i < (t < 2 ? 3 : 4); ++i) {
        const std::int64_t sequence = t < 2 ? i : parents[static_cast<std::size_t>(i)];
        const auto at = whole.begin() + (sequence * 4 + t) * 5;
        expected.insert(expected.end(), at, at + 5);
      }
      INFO("step " << t << (decoding == own.get() ? ", kept" : ", anew"));
      CHECK(distance(found[static_cast<std::size_t>(t)], expected) < 1e-5);
    }
  }

  // One token, then two at once; before the fourth token the sequences change places.
  const bool has_outputs = m.format == TaskFormat::sequence_to_sequence;
  const std::vector<std::int32_t>& tokens = has_outputs ? batch.outputs : batch.tokens;
  const auto of_sequences = [&](std::size_t first, std::size_t count, const std::vector<std::int64_t>& sequences) {
    std::vector<std::int32_t> out;
    for (const std::int64_t r : sequences)
      for (std::size_t t = first; t < first + count; ++t) out.push_back(tokens[static_cast<std::size_t>(r) * 4 + t]);
    return out;
  };
  const std::unique_ptr<Decoding> fresh = m.model->decoding(pass, batch), fresh_anew = reread(*m.model, batch);
  for (Decoding* decoding : {fresh.get(), fresh_anew.get()}) {
    Tape other;
    other.record(false);
    Pass on_other = m.weights.pass(other);
    decoding->step(on_other, of_sequences(0, 1, {0, 1, 2}));
    decoding->read(on_other, 3, of_sequences(1, 2, {0, 1, 2}));
    decoding->select(parents);
    const std::vector<Real> last = read(decoding->step(on_other, of_sequences(3, 1, parents)));
    std::vector<Real> expected;
    for (const std::int64_t sequence : parents) {
      const auto at = whole.begin() + (sequence * 4 + 3) * 5;
      expected.insert(expected.end(), at, at + 5);
    }
    INFO((decoding == fresh.get() ? "kept" : "anew"));
    CHECK(distance(last, expected) < 1e-5);
  }
}

} // namespace

TEST_CASE("an encoder-decoder's steps give the logits of the whole sequence", "[decoding]") {
  for (const auto& assignments : spread_of("encoder_decoder")) check_steps(assignments);
  check_steps({"model.kind=encoder_decoder", "attention.window=1"});
  check_steps({"model.kind=encoder_decoder", "model.shared_layers=true"});
  check_steps({"model.kind=encoder_decoder", "attention.cross_score=additive", "attention.cross_normalizer=sparsemax"});
}

TEST_CASE("a decoder's steps give the logits of the whole sequence", "[decoding]") {
  for (const auto& assignments : spread_of("decoder")) check_steps(assignments);
  check_steps({"attention.window=1"});
  check_steps({"attention.window=1", "attention.prefix=1"});
  check_steps({"attention.dilation=2"});
  check_steps({"model.shared_layers=true"});
  check_steps({"attention.window=1", "attention.prefix=1", "attention.dilation=2"});
}

TEST_CASE("the steps of formulas with segments, positions and cross attention give the logits of the whole sequence",
          "[decoding][formula]") {
  const std::string documents = "attention.mask_mod=segment_i == segment_j", end = "model.segment_end=.";
  check_steps({documents, end});
  check_steps({documents, end, "attention.score=additive", "attention.normalizer=sparsemax"});
  check_steps({documents, end, "attention.talking_heads=both"});
  check_steps({"attention.score_mod=s / (1 + segment_i - segment_j) + x[i] * x[j]", end,
               "attention.parameters.x.per=head_and_position"});
  const std::string both = "model.kind=encoder_decoder";
  check_steps({both, documents, end});
  check_steps({both, "attention.cross_mask_mod=j <= i"});
  check_steps({both, "attention.cross_mask_mod=segment_j <= segment_i and (h == 0 or j != 1)", end});
  check_steps({both, "attention.cross_score_mod=s - x * abs(i - j) + segment_i * segment_j / keys", end,
               "model.registers=0", "attention.parameters.x.per=head_and_distance",
               "attention.parameters.x.start=i - j"});
  check_steps({both, "attention.cross_mask_mod=i != j + 1", "attention.persistent_keys=2"});
}

TEST_CASE("the steps of blocks with positions of their own give the logits of the whole sequence",
          "[decoding][position]") {
  const std::string positions = R"(
[[block.override]]
layers = [0, 1]
attention.window = 2
[[block.override]]
layers = [1]
position.kind = "alibi"
[[block.override]]
layers = [2]
position.kind = "none"
attention.window = 0
)";
  for (const std::string kind : {"rotary", "t5", "shaw", "skewed", "kerple", "path"})
    check_steps({"position.kind=" + kind, "model.layers=4"}, positions);
  check_steps({"model.kind=encoder_decoder", "position.kind=t5"},
              "[[block.override]]\nstack = \"encoder\"\nposition.t5.both_sides = true\n");
  check_steps({"model.kind=encoder_decoder", "model.encoder_decoder.decoder_layers=3", "position.kind=rotary"},
              "[[block.override]]\nstack = \"decoder\"\nlayers = [0, 2]\nposition.kind = \"skewed\"\n");
}

TEST_CASE("the steps of path, whose cached keys change, give the logits of the whole sequence",
          "[decoding][position]") {
  const std::string path = "position.kind=path";
  check_steps({path});
  for (const std::string more :
       {"position.path.rank=0", "position.path.convolution=0", "position.path.convolution=2",
        "attention.forget_gate=true", "attention.window=1", "attention.key_value_heads=1",
        "attention.projection=latent", "attention.projection=shared_key_value", "attention.value_residual=learned",
        "attention.differential=v1", "attention.differential=v2", "attention.talking_heads=both",
        "attention.normalizer=stick_breaking", "attention.score_mod=3 * tanh(s / 3) - abs(i - j)",
        "model.shared_layers=true"})
    check_steps({path, more});
  check_steps({path, "attention.mask_mod=segment_i == segment_j", "model.segment_end=."});
  check_steps({path, "attention.latent.rotary_width=2", "attention.projection=latent"});
  check_steps({"model.kind=encoder_decoder", "position.kind=rotary"},
              "[[block.override]]\nstack = \"decoder\"\nposition.kind = \"path\"\n");
}

TEST_CASE("the steps of xPos and of scaled rotary positions give the logits of the whole sequence",
          "[decoding][position]") {
  const std::vector<std::string> rotary = {"position.kind=rotary", "attention.head_width=4"};
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"position.rotary.xpos=true"},
           {"position.rotary.scaling=linear", "position.rotary.factor=3"},
           {"position.rotary.scaling=ntk"},
           {"position.rotary.scaling=yarn", "position.rotary.original_length=30", "position.rotary.xpos=true"}}) {
    std::vector<std::string> assignments = rotary;
    assignments.insert(assignments.end(), more.begin(), more.end());
    check_steps(assignments);
    check_steps(assignments, "[[block.override]]\nlayers = [1]\nposition.rotary.base = 30.0\n");
  }
  check_steps({"model.kind=encoder_decoder", "position.kind=rotary"},
              "[[block.override]]\nstack = \"decoder\"\nposition.rotary.xpos = true\n");
}

TEST_CASE("steps in an evaluation at a length use the same scaling as the whole sequence", "[decoding][position]") {
  for (const std::string kind : {"linear", "ntk", "yarn"}) {
    TestModel m({"position.kind=rotary", "attention.head_width=4", "train.evaluate_lengths=[9]",
                 "position.rotary.evaluation_scaling=" + kind});
    const Batch batch = m.batch({4, 4});
    Tape tape, of_steps;
    Pass pass = m.weights.pass(tape, {.evaluated_length = 20});
    const std::vector<Real> whole = read(m.model->logits(pass, batch));
    CHECK(whole != m.logits(batch));
    const std::unique_ptr<Decoding> decoding = m.model->decoding(pass, batch);
    REQUIRE(decoding);
    of_steps.record(false);
    for (std::ptrdiff_t t = 0; t < 4; ++t) {
      Pass step = m.weights.pass(of_steps, {.evaluated_length = 20});
      const std::vector<std::int32_t> tokens{batch.tokens[static_cast<std::size_t>(t)],
                                             batch.tokens[static_cast<std::size_t>(4 + t)]};
      const std::vector<Real> found = read(decoding->step(step, tokens));
      std::vector<Real> expected(whole.begin() + 5 * t, whole.begin() + 5 * (t + 1));
      expected.insert(expected.end(), whole.begin() + 5 * (4 + t), whole.begin() + 5 * (5 + t));
      CHECK(distance(found, expected) < 1e-5);
      of_steps.rewind();
    }
  }
}

TEST_CASE("formulas' steps give the logits of the whole sequence", "[decoding][formula]") {
  const std::vector<std::string> formulas = {"attention.score_mod=3 * tanh(s / 3) - slope * abs(i - j) + bias",
                                             "attention.mask_mod=i - j < 2 or j == 0 and h == 1",
                                             "attention.parameters.slope.per=head",
                                             "attention.parameters.slope.start=1 / (h + 1)",
                                             "attention.parameters.bias.per=head_and_distance",
                                             "attention.parameters.bias.start=sin(i - j)"};
  for (const std::string kind : {"decoder", "encoder_decoder"})
    for (const std::string more :
         {"", "position.kind=rotary", "attention.score=additive", "attention.normalizer=sigmoid"}) {
      std::vector<std::string> assignments = formulas;
      assignments.push_back("model.kind=" + kind);
      if (!more.empty()) assignments.push_back(more);
      check_steps(assignments);
    }
}

TEST_CASE("shared keys', other widths' and normalised queries' steps give the logits of the whole sequence",
          "[decoding]") {
  for (const std::string kind : {"decoder", "encoder_decoder"})
    for (const std::string norm : {"none", "layer", "rms"})
      for (const std::string more : {"", "position.kind=rotary", "attention.score=additive"}) {
        std::vector<std::string> assignments = {"model.kind=" + kind, "attention.key_value_heads=1",
                                                "attention.value_width=3", "attention.query_key_norm=" + norm};
        if (!more.empty()) assignments.push_back(more);
        check_steps(assignments);
      }
}

TEST_CASE("the steps of gates, of norms at other places, and without the own value's part give the logits of the whole "
          "sequence",
          "[decoding]") {
  for (const std::string kind : {"decoder", "encoder_decoder"})
    for (const std::string more :
         {"attention.gate=head", "attention.gate=elementwise", "attention.exclusive=true", "block.norm=output",
          "block.norm_kind=dyt", "model.embedding_norm=true", "attention.query_key_norm_over=projection",
          "attention.score=linear", "attention.normalizer=softpick"})
      check_steps({"model.kind=" + kind, "attention.key_value_heads=1", "attention.query_key_norm=rms",
                   "attention.exclusive=true", "attention.gate=elementwise", more});
  for (const std::string maps : {"none", "v1", "v2"})
    for (const std::string more : {"attention.forget_gate=true", "position.kind=alibi", "attention.score=additive",
                                   "attention.score=linear", "attention.exclusive=true"})
      check_steps({"attention.differential=" + maps, "attention.forget_gate=true", "attention.key_value_heads=1",
                   more});
  check_steps({"model.kind=encoder_decoder", "attention.differential=v1"});
  check_steps({"model.kind=encoder_decoder", "attention.differential=v2", "attention.key_value_heads=1"});
  for (const std::string own_key : {"none", "remainder", "attended"})
    check_steps({"attention.normalizer=stick_breaking", "attention.stick_breaking.own_key=" + own_key,
                 "attention.window=3", "position.kind=none"});
  check_steps({"attention.normalizer=none", "attention.score_mod=relu(s) / seen", "attention.window=3"});
  check_steps({"attention.normalizer=none", "attention.score_mod=relu(s) / seen",
               "attention.mask_mod=i - j < 4 and j % 2 == h % 2"});
}

TEST_CASE("the steps of blocks that add the first one's values, of persistent keys and of registers give the logits of "
          "the whole sequence",
          "[decoding]") {
  const std::string persistent = "attention.persistent_keys=2", registers = "model.registers=3";
  for (const std::string kind : {"model.kind=decoder", "model.kind=encoder_decoder"}) {
    for (const std::string more : {"model.layers=3", "attention.key_value_heads=1", "model.shared_layers=true",
                                   "attention.score=linear", "attention.exclusive=true"})
      for (const std::string& word : find_option("attention.value_residual")->words)
        check_steps({kind, "attention.value_residual=" + word, more});
    for (const std::string more :
         {"attention.window=1", "attention.dilation=2", "attention.key_value_heads=1", "attention.score=linear",
          "attention.score=additive", "attention.normalizer=sparsemax", "position.kind=rotary", "position.kind=alibi",
          "position.kind=none", "attention.talking_heads=both", "attention.query_key_norm=rms",
          "attention.score_mod=3 * tanh(s / 3)"}) {
      check_steps({kind, persistent, more});
      check_steps({kind, registers, more});
      check_steps({kind, persistent, registers, more});
    }
  }
  for (const std::string position : {"shaw", "t5", "kerple", "skewed"})
    check_steps({persistent, registers, "position.kind=" + position, "attention.value_residual=learned"});
  check_steps({persistent, registers, "position.kind=shaw", "position.shaw.values=true"});
  check_steps({"attention.score=location", registers});
}

TEST_CASE("the steps of a convolution of queries, keys and values give the logits of the whole sequence",
          "[decoding]") {
  for (const std::string taps : {"1", "2", "4"}) {
    const std::string convolution = "attention.convolution=" + taps;
    for (const std::string more : {"attention.convolution_on=qk",
                                   "attention.convolution_on=kv",
                                   "attention.key_value_heads=1",
                                   "attention.score=linear",
                                   "attention.score=additive",
                                   "attention.window=1",
                                   "attention.forget_gate=true",
                                   "attention.differential=v1",
                                   "attention.query_key_norm=rms",
                                   "attention.persistent_keys=2",
                                   "model.registers=3",
                                   "model.segment_end=.",
                                   "position.kind=rotary",
                                   "position.kind=alibi",
                                   "attention.projection=latent",
                                   "attention.projection=shared_key_value",
                                   "attention.projection=identity",
                                   "model.shared_layers=true",
                                   "attention.exclusive=true",
                                   "attention.talking_heads=both"})
      check_steps({convolution, more});
    check_steps({convolution, "attention.persistent_keys=2", "model.registers=1", "attention.projection=latent"});
    check_steps({convolution, "model.segment_end=.", "attention.mask_mod=segment_i == segment_j"});
    check_steps({convolution, "attention.value_residual=learned", "model.layers=3"});
    check_steps({"model.kind=encoder_decoder"},
                "[[block.override]]\nstack = \"decoder\"\nattention.convolution = " + taps + "\n");
    check_steps({"model.layers=3"}, "[[block.override]]\nlayers = [1]\nattention.convolution = " + taps + "\n");
  }
}

TEST_CASE("the steps of a selection of blocks of keys give the logits of the whole sequence", "[decoding]") {
  const std::string block = "attention.selection_block=2", chosen = "attention.selection_chosen=2",
                    window = "attention.selection_window=2";
  for (const std::string more :
       {"attention.key_value_heads=1", "attention.score=linear", "attention.score=additive",
        "attention.normalizer=sparsemax", "attention.normalizer=stick_breaking", "attention.forget_gate=true",
        "attention.differential=v1", "attention.convolution=2", "position.kind=rotary", "position.kind=alibi",
        "attention.projection=latent", "attention.projection=identity", "attention.talking_heads=both"}) {
    check_steps({"attention.selection=moba", block, chosen, more});
    check_steps({"attention.selection=nsa", block, chosen, window, more});
  }
  check_steps({"attention.selection=moba", block, chosen, "model.segment_end=."});
  check_steps({"attention.selection=moba", block, chosen, "model.segment_end=.",
               "attention.mask_mod=segment_i == segment_j"});
  check_steps({"model.kind=encoder_decoder"},
              "[[block.override]]\nstack = \"decoder\"\nattention.selection = \"moba\"\n"
              "attention.selection_block = 2\nattention.selection_chosen = 2\n");
}

TEST_CASE("the steps of every projection give the logits of the whole sequence", "[decoding]") {
  const std::vector<std::vector<std::string>> projections = {{"attention.projection=latent"},
                                                             {"attention.projection=latent", "attention.latent.width=3",
                                                              "attention.latent.query_width=5",
                                                              "attention.latent.rotary_width=2", "position.kind=none"},
                                                             {"attention.projection=shared_key_value"},
                                                             {"attention.projection=identity"}};
  const std::vector<std::vector<std::string>> others = {
      {},
      {"attention.differential=v1"},
      {"attention.differential=v2"},
      {"attention.persistent_keys=2"},
      {"model.registers=3"},
      {"attention.persistent_keys=2", "model.registers=1", "attention.window=2"},
      {"attention.value_residual=learned", "model.layers=3"},
      {"attention.exclusive=true", "attention.gate=elementwise"},
      {"attention.score=linear"},
      {"attention.score=additive"},
      {"attention.talking_heads=both"},
      {"position.kind=alibi"},
      {"position.kind=shaw", "position.shaw.values=true"},
      {"position.kind=t5", "attention.persistent_keys=1"}};
  for (const auto& projection : projections) {
    for (const auto& other : others)
      for (const std::string kind : {"decoder", "encoder_decoder"}) {
        std::vector<std::string> assignments = projection;
        assignments.insert(assignments.end(), other.begin(), other.end());
        assignments.push_back("model.kind=" + kind);
        check_steps(assignments);
      }
    std::vector<std::string> gated = projection;
    gated.push_back("attention.forget_gate=true");
    check_steps(gated);
    for (const std::string word : {"dense", "latent", "shared_key_value", "identity"}) {
      std::vector<std::string> crossed = projection;
      crossed.insert(crossed.end(), {"model.kind=encoder_decoder", "attention.cross_projection=" + word});
      check_steps(crossed);
    }
  }
  for (const std::string more : {"position.kind=rotary", "attention.query_key_norm=rms", "attention.key_value_heads=1"})
    for (const std::string persistent : {"0", "2"})
      check_steps({"attention.projection=shared_key_value", "attention.head_width=4", "attention.value_width=4",
                   "attention.persistent_keys=" + persistent, more});
  check_steps({"attention.projection=latent", "attention.query_key_norm=layer"});
  check_steps({"attention.projection=latent", "attention.latent.rotary_width=2", "model.layers=3"},
              "[[block.override]]\nlayers = [1]\nattention.projection = \"identity\"\n");
}

TEST_CASE("the steps of heads that talk give the logits of the whole sequence", "[decoding]") {
  for (const std::string kind : {"decoder", "encoder_decoder"})
    for (const std::string more : {"", "attention.key_value_heads=1", "position.kind=alibi", "attention.score=linear",
                                   "attention.mask_mod=i - j < 2 or h == 1"}) {
      std::vector<std::string> assignments = {"model.kind=" + kind, "attention.talking_heads=both"};
      if (!more.empty()) assignments.push_back(more);
      check_steps(assignments);
    }
}

TEST_CASE("a decoder that sees what is behind a position has no steps of its own", "[decoding]") {
  for (const std::string seeing : {"attention.causal=false", "attention.prefix=2"}) {
    TestModel m({seeing});
    Tape tape;
    Pass pass = m.weights.pass(tape);
    CHECK_FALSE(m.model->decoding(pass, m.batch({4})));
  }
}

TEST_CASE("a model that gives a class has nothing to decode", "[decoding]") {
  TestModel m({"model.kind=encoder"});
  CHECK_THROWS_WITH(reread(*m.model, m.batch({4})), Catch::Contains("class"));
}
