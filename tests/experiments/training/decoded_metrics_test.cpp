// Tests of decoding from a model's own outputs: evaluation and `generate` are compared with each other and with a
// forward pass.
#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

using namespace heed;
using test::config;
using test::train;
using Catch::Contains;

namespace {

// A model that has learned to end its outputs, and learned the rest more or less.
Config half_trained(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"train.steps=150",     "train.batch=32",     "model.width=16",
                               "task.copy.symbols=4", "task.validation=36", "train.evaluate_every=0",
                               "train.log_every=150"};
  all.insert(all.end(), more.begin(), more.end());
  return config(test::tiny_encoder_decoder, all);
}

constexpr TaskFormat format = TaskFormat::sequence_to_sequence;

// A task whose validation sequences have other outputs: the model's own outputs, so these sequences are right; but
// every other sequence has a different first token, so it is wrong.
class Answered : public Task {
public:
  Answered(const Task& task, const std::vector<std::string>& answers) : task_(task), sizes_(task.sizes(format)) {
    for (const std::string& answer : answers) {
      std::vector<std::int32_t> tokens = task.encode_output(answer);
      // An output without an end is cut off and ended, and the sequence counts as wrong.
      const bool ended = std::ssize(tokens) < sizes_.output_length;
      if (!ended) tokens.resize(static_cast<std::size_t>(sizes_.output_length - 1));
      const bool right = ended && outputs_.size() % 2 == 0;
      if (!right && tokens.empty()) tokens.push_back(0);
      else if (!right) tokens[0] = tokens[0] == 0 ? 1 : 0;
      sequences_right += right;
      outputs_.push_back(std::move(tokens));
    }
  }
  void evaluation_sequence(TaskFormat, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    task_.evaluation_sequence(format, split, sequence, batch, at);
    const std::vector<std::int32_t>& tokens = outputs_[static_cast<std::size_t>(sequence)];
    const std::int64_t begin = at * batch.output_length;
    std::fill_n(batch.outputs.begin() + begin, batch.output_length, 0);
    std::fill_n(batch.targets.begin() + begin, batch.output_length, ignored);
    batch.outputs[static_cast<std::size_t>(begin)] = sizes_.begin;
    std::ranges::copy(tokens, batch.outputs.begin() + begin + 1);
    std::ranges::copy(tokens, batch.targets.begin() + begin);
    batch.targets[static_cast<std::size_t>(begin + std::ssize(tokens))] = sizes_.end;
    batch.output_lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(tokens.size() + 1);
  }
  std::string refuses(TaskFormat f) const override { return task_.refuses(f); }
  TaskSizes sizes(TaskFormat f) const override { return task_.sizes(f); }
  void training_sequence(TaskFormat f, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    task_.training_sequence(f, seed, step, sequence, batch, at);
  }
  std::int64_t evaluation_sequences(TaskFormat, Split) const override { return std::ssize(outputs_); }
  Chance chance(TaskFormat f) const override { return task_.chance(f); }
  std::string own_fingerprint() const override { return task_.fingerprint(); }
  std::string decode(std::span<const std::int32_t> tokens) const override { return task_.decode(tokens); }
  std::vector<std::int32_t> encode(std::string_view text) const override { return task_.encode(text); }
  std::string decode_output(TaskFormat f, std::span<const std::int32_t> tokens) const override {
    return task_.decode_output(f, tokens);
  }

  double sequences_right = 0;

private:
  const Task& task_;
  TaskSizes sizes_;
  std::vector<std::vector<std::int32_t>> outputs_;
};

std::map<std::string, double> evaluated(const Config& c, const Task& task, const Checkpoint& checkpoint) {
  const MetricsRecord m = engine(c).evaluate(c, task, checkpoint, Split::validation);
  return {m.values.begin(), m.values.end()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// The outputs of `generate` for the validation inputs.
std::vector<std::string> generated(const Config& c, const Task& task, const Checkpoint& checkpoint) {
  Sampling sampling;
  sampling.beam = c.train.evaluate_beam;
  sampling.length_penalty = c.train.evaluate_length_penalty;
  for (std::int64_t i = 0; i < task.evaluation_sequences(format, Split::validation); ++i) {
    Batch sequence;
    sequence.reset(1, task.sizes(format), format);
    task.evaluation_sequence(format, Split::validation, i, sequence, 0);
    sampling.inputs.push_back(task.decode({sequence.tokens.data(), static_cast<std::size_t>(sequence.lengths[0])}));
  }
  std::string text;
  sampling.write = [&](std::string_view part) { text += part; };
  engine(c).generate(c, task, checkpoint, sampling);
  return lines_of(text);
}

std::vector<std::string> references_of(const Task& task) {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < task.evaluation_sequences(format, Split::validation); ++i) {
    Batch sequence;
    sequence.reset(1, task.sizes(format), format);
    task.evaluation_sequence(format, Split::validation, i, sequence, 0);
    const auto length = static_cast<std::size_t>(sequence.output_lengths[0] - 1);
    out.push_back(task.decode_output(format, {sequence.outputs.data() + 1, length}));
  }
  return out;
}

/// Sets a matrix in a float32 checkpoint.
void set_matrix(Checkpoint& checkpoint, const std::string& name, const std::vector<std::vector<float>>& rows) {
  for (StoredTensor& t : checkpoint.tensors) {
    if (t.name != name) continue;
    REQUIRE(t.shape == std::vector<std::int64_t>{std::ssize(rows), std::ssize(rows.front())});
    std::byte* to = t.bytes.data();
    for (const auto& row : rows) {
      std::memcpy(to, row.data(), row.size() * sizeof(float));
      to += row.size() * sizeof(float);
    }
    return;
  }
  FAIL("the checkpoint has no " << name);
}

/// A translator that produces the same output for every input: its weights are 0 and 1, and each word determines the
/// next.
struct Parrot {
  test::Folder folder;
  Config c;
  Checkpoint checkpoint;

  Parrot(const std::string& said, const std::vector<std::string>& validation) {
    std::string training, held_out;
    for (int i = 0; i < 4; ++i) training += "x\ta man rides near the old bridge .\n";
    for (const std::string& text : validation) held_out += "x\t" + text + "\n";
    c = config(R"(
[data]
shuffle = false
min_count = 2
[task]
kind = "translation"
[task.translation]
shared_vocabulary = false
[model]
kind = "encoder_decoder"
layers = 1
width = 16
heads = 2
tied_embeddings = false
[position]
kind = "none"
[train]
steps = 1
batch = 2
threads = 1
evaluate_beam = 1
)",
               {"data.path=" + folder.write("train.tsv", training).string(),
                "data.validation_path=" + folder.write("validation.tsv", held_out).string()});
    const auto task = make_task(c);
    const TaskSizes sizes = task->sizes(TaskFormat::sequence_to_sequence);
    checkpoint = train(c).last();
    for (StoredTensor& t : checkpoint.tensors)
      if (t.name.find("norm") == std::string::npos) std::fill(t.bytes.begin(), t.bytes.end(), std::byte{0});
    std::vector<std::vector<float>> embedding(static_cast<std::size_t>(sizes.classes), std::vector<float>(16)),
        output = embedding;
    for (std::size_t i = 0; i < embedding.size(); ++i) embedding[i][i] = 1;
    std::vector<std::int32_t> chain = task->encode_output(said);
    chain.insert(chain.begin(), sizes.begin);
    chain.push_back(sizes.end);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
      output[static_cast<std::size_t>(chain[i + 1])][static_cast<std::size_t>(chain[i])] = 1;
    set_matrix(checkpoint, "decoder.embedding.weight", embedding);
    set_matrix(checkpoint, "output.weight", output);
  }

  std::map<std::string, double> scores() const { return evaluated(c, *make_task(c), checkpoint); }
};

} // namespace

TEST_CASE("outputs are scored against the file's text, in which no word is unknown", "[decoding]") {
  // sacrebleu 2.6.0's corpus_bleu and corpus_chrf of three copies of the sentence, against these references.
  const std::string said = "a man <unknown> rides near the old bridge .";
  const std::vector<std::string> file = {"a man slowly rides near the old bridge .",
                                         "a man quickly walks near the old bridge .",
                                         "the old man rides near a bridge ."};
  auto found = Parrot(said, file).scores();
  CHECK(found.at("val_bleu") == Approx(36.40645805052651)); // against the text made from tokens, it would be 64.29
  CHECK(found.at("val_chrf") == Approx(63.16374636304645));
  CHECK(found.at("val_decoded_accuracy") == 0); // the first differs only by <unknown>, which is never right

  const std::vector<std::string> other = {"a man slowly rides near the old bridge .",
                                          "a man rides near the old bridge .", "the old man walks near a bridge ."};
  found = Parrot("a man rides near the old bridge .", other).scores();
  CHECK(found.at("val_bleu") == Approx(64.36993816722314));
  CHECK(found.at("val_chrf") == Approx(74.13471434400488));
  CHECK(found.at("val_decoded_accuracy") == Approx(1.0 / 3));
}

TEST_CASE("a greedy output is right where every token is the most probable after the right ones", "[decoding]") {
  const Config c = half_trained({"train.evaluate_beam=1"});
  const Checkpoint checkpoint = train(c).last();
  const auto copies = make_task(c);
  const Answered task(*copies, generated(c, *copies, checkpoint));
  REQUIRE(task.sequences_right > 0);
  auto found = evaluated(c, task, checkpoint);
  CHECK(found.at("val_decoded_accuracy") == Approx(task.sequences_right / 36));
  CHECK(found.at("val_sequence_accuracy") == Approx(task.sequences_right / 36));
}

TEST_CASE("evaluation decodes what generate puts out, and scores its text", "[decoding]") {
  const Config c = half_trained({"train.evaluate_beam=3", "train.evaluate_length_penalty=0.6"});
  const Checkpoint checkpoint = train(c).last();
  const auto copies = make_task(c);
  const std::vector<std::string> outputs = generated(c, *copies, checkpoint);
  REQUIRE(outputs.size() == 36);
  const Answered task(*copies, outputs);
  REQUIRE(task.sequences_right > 0);
  const std::vector<std::string> references = references_of(task);
  auto found = evaluated(c, task, checkpoint);
  CHECK(found.at("val_decoded_accuracy") == Approx(task.sequences_right / 36));
  CHECK(found.at("val_bleu") == Approx(corpus_bleu(outputs, references)).epsilon(1e-12));
  CHECK(found.at("val_chrf") == Approx(corpus_chrf(outputs, references)).epsilon(1e-12));
}

TEST_CASE("decoded metrics are announced, and measured, where they are asked for", "[decoding]") {
  const auto names = [](const Config& c) {
    std::string out;
    for (const Metric& m : metrics_of(c)) out += m.name + " ";
    return out;
  };
  const std::string asked = names(config(test::tiny_encoder_decoder));
  CHECK_THAT(asked, Contains("val_decoded_accuracy") && Contains("val_bleu") && Contains("val_chrf"));
  CHECK_THAT(names(config(test::tiny_encoder_decoder, {"train.evaluate_beam=0"})), !Contains("bleu"));
}

TEST_CASE("decoding that can do nothing is refused", "[decoding]") {
  const auto refused = [](const std::string& base, const std::vector<std::string>& more) {
    const Config c = config(base, more);
    return test::refusal([&] { engine(c).check(c, *make_task(c)); });
  };
  CHECK_THAT(refused(test::tiny_decoder, {"train.evaluate_beam=2"}), Contains("evaluate_beam") && Contains("decoder"));
  CHECK_THAT(refused(test::tiny_encoder_decoder, {"train.evaluate_beam=1", "train.evaluate_length_penalty=0.5"}),
             Contains("evaluate_length_penalty") && Contains("does nothing"));
  const Config c = config(test::tiny_encoder_decoder, {"train.steps=1"});
  const Checkpoint checkpoint = train(c).last();
  Sampling sampling;
  const auto task = make_task(c);
  sampling.inputs = {"1 2", ""};
  const auto put_out = [&] { engine(c).generate(c, *task, checkpoint, sampling); };
  CHECK_THAT(test::refusal(put_out), Contains("input 2 is empty"));
  sampling.inputs = {"1 2 3 1 2 3 1 2 3"};
  CHECK_THAT(test::refusal(put_out), Contains("has 9 tokens"));
}
