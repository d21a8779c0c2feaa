// Tests of evaluation against a sequence-by-sequence computation, of generation, and of a run's cost.
#include "autograd/pages.hpp"
#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/run_model.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::f32;
using test::config;
using test::train;
using Catch::Contains;

namespace {

std::map<std::string, double> by_name(const MetricsRecord& m) { return {m.values.begin(), m.values.end()}; }

// The model's prediction at one target, in double precision.
struct AtTarget {
  double loss;
  bool right;
};

// Calls f(AtTarget) for each target of the batch that counts, after a forward pass without recording.
template <class F> void each_target(RunModel& run, const Batch& batch, const Pass::Options& options, F&& f) {
  Tape tape;
  tape.record(false);
  Pass pass(tape, run.parameters, nullptr, options);
  const Tensor logits = run.model->logits(pass, batch);
  const std::int64_t classes = run.sizes.classes;
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    if (batch.targets[i] == ignored) continue;
    const float* p = logits.data + static_cast<std::int64_t>(i) * classes;
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(p[k]));
    f(AtTarget{std::log(sum) - static_cast<double>(p[batch.targets[i]]),
               std::max_element(p, p + classes) == p + batch.targets[i]});
  }
}

// Evaluates one sequence at a time, with a softmax in double precision.
std::map<std::string, double> naive(const Config& c, const Checkpoint& checkpoint, Split split,
                                    const std::string& prefix, std::int64_t sequences = -1) {
  const auto task = make_task(c);
  RunModel run(c, *task);
  load_parameters(run.parameters, checkpoint);
  double loss = 0, count = 0, right = 0, whole = 0;
  if (sequences < 0) sequences = task->evaluation_sequences(run.format, split);
  for (std::int64_t r = 0; r < sequences; ++r) {
    Batch b;
    b.reset(1, run.sizes.length, run.format);
    task->evaluation_sequence(run.format, split, r, b, 0);
    bool all = true;
    each_target(run, b, {}, [&](const AtTarget& t) {
      loss += t.loss;
      right += t.right;
      all = all && t.right;
      ++count;
    });
    whole += all;
  }
  std::map<std::string, double> out{{prefix + "_loss", loss / count}, {prefix + "_accuracy", right / count}};
  if (has_sequence_accuracy(c)) out[prefix + "_sequence_accuracy"] = whole / static_cast<double>(sequences);
  if (run.format == TaskFormat::language_model) out[prefix + "_perplexity"] = std::exp(loss / count);
  if (c.task.kind == "text") out[prefix + "_bits_per_character"] = loss / count / std::log(2.0);
  return out;
}

void expect_close(const std::map<std::string, double>& found, const std::map<std::string, double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, value] : expected) {
    INFO(name);
    REQUIRE(found.contains(name));
    CHECK(found.at(name) == Approx(value).epsilon(1e-5));
  }
}

// A text of 65 different characters, and a decoder for it.
struct Reader {
  test::Folder folder;
  std::string path;

  Reader() {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += static_cast<char>(' ' + (i * (1 + i / 65)) % 65);
    path = folder.write("text.txt", text).string();
  }
  Config operator()(std::vector<std::string> assignments = {}) const {
    assignments.insert(assignments.begin(), "data.path=" + path);
    return config(R"(
[data]
train = 0.8
test = 0.1
[task]
kind = "text"
[task.text]
block = 16
[model]
layers = 1
width = 16
heads = 2
init_std = 0.2
[train]
steps = 20
batch = 4
learning_rate = 3e-3
)",
                  assignments);
  }
};

// A Sampling without its `write` callback.
struct Asked {
  std::string prompt = "ABC";
  std::int64_t tokens = 500;
  double temperature = 1;
  std::int64_t top_k = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> inputs = {};
};

std::string generated(const Config& c, const Checkpoint& checkpoint, const Asked& asked,
                      std::vector<std::string>* notes = nullptr) {
  std::string out;
  Sampling s;
  s.prompt = asked.prompt;
  s.tokens = asked.tokens;
  s.temperature = asked.temperature;
  s.top_k = asked.top_k;
  s.seed = asked.seed;
  s.inputs = asked.inputs;
  s.write = [&](std::string_view text) { out += text; };
  if (notes) s.note = [&](const std::string& note) { notes->push_back(note); };
  engine(c).generate(c, *make_task(c), checkpoint, s);
  return out;
}

} // namespace

TEST_CASE("evaluation equals a computation sequence by sequence, on every split", "[evaluation]") {
  const Reader reader;
  for (const Config& c : {config(test::tiny_decoder), config(test::tiny_encoder), reader()}) {
    const test::History h = train(c);
    const auto task = make_task(c);
    for (const auto& [split, prefix] : {std::pair{Split::validation, "val"}, {Split::test, "test"}}) {
      INFO(c.task.kind << ", " << prefix);
      expect_close(by_name(engine(c).evaluate(c, *task, h.last(), split)), naive(c, h.last(), split, prefix));
    }
    std::map<std::string, double> during;
    for (const auto& [name, value] : naive(c, h.last(), Split::validation, "val")) during[name] = h.final(name);
    expect_close(during, naive(c, h.last(), Split::validation, "val"));
  }
}

TEST_CASE("long sequences are evaluated some at a time, to the same bits, by any number of threads", "[evaluation]") {
  const Reader reader;
  // 21 windows: pieces of 16 and 5, each divided into fives.
  std::string text;
  for (int i = 0; i < 16000; ++i) text += static_cast<char>(' ' + (i * (1 + i / 65)) % 65);
  const Config c = reader({"task.text.block=700", "data.train=0.05", "data.test=0", "model.layers=3",
                           "data.path=" + reader.folder.write("longer.txt", text).string()});
  const auto task = make_task(c);
  RunModel run(c, *task);
  run.parameters.initialise(3);
  const std::int64_t sequences = task->evaluation_sequences(run.format, Split::validation);
  REQUIRE(sequences > 16);

  // Whole pieces at once, with the memory of all blocks.
  double loss = 0, count = 0;
  for (std::int64_t first = 0; first < sequences; first += 16) {
    Batch batch;
    fill_evaluation_batch(*task, run, Split::validation, first, std::min<std::int64_t>(16, sequences - first), batch);
    Tape tape;
    Pass pass(tape, run.parameters, nullptr, {});
    const Tensor logits = run.model->logits(pass, batch);
    double piece = 0;
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
      if (batch.targets[i] == ignored) continue; // after the end of the text
      const float* p = logits.data + static_cast<std::int64_t>(i) * run.sizes.classes;
      const auto best = static_cast<double>(*std::max_element(p, p + run.sizes.classes));
      double sum = 0;
      for (std::int64_t k = 0; k < run.sizes.classes; ++k) sum += std::exp(static_cast<double>(p[k]) - best);
      piece += best + std::log(sum) - static_cast<double>(p[batch.targets[i]]);
      ++count;
    }
    loss += piece;
  }
  for (const int threads : {1, 2, 3}) {
    ThreadPool workers(threads);
    const auto found = evaluate_split(c, *task, run, Split::validation, 0, workers);
    REQUIRE(found[0].first == "val_loss");
    CHECK(found[0].second == loss / count);
  }
}

TEST_CASE("a formula's b is the sequence's number in the evaluation, however sequences are cut", "[evaluation]") {
  const Config c = config(test::tiny_decoder, {"attention.score_mod=s + 0.3 * (b % 5) * j", "task.validation=40"});
  const auto task = make_task(c);
  RunModel run(c, *task);
  run.parameters.initialise(3);
  const std::int64_t sequences = task->evaluation_sequences(run.format, Split::validation);
  REQUIRE(sequences > 16);
  double loss = 0, count = 0;
  for (std::int64_t r = 0; r < sequences; ++r) { // one sequence at a time
    Batch batch;
    fill_evaluation_batch(*task, run, Split::validation, r, 1, batch);
    each_target(run, batch, {.first_sequence = r}, [&](const AtTarget& t) {
      loss += t.loss;
      ++count;
    });
  }
  for (const int threads : {1, 3}) {
    ThreadPool workers(threads);
    CHECK(evaluate_split(c, *task, run, Split::validation, 0, workers)[0].second == Approx(loss / count).epsilon(1e-5));
  }
}

TEST_CASE("evaluate_batches bounds the sequences that are looked at", "[evaluation]") {
  for (std::int64_t batches : {1, 2, 1000}) {
    const Config c = config(test::tiny_decoder, {"train.evaluate_batches=" + std::to_string(batches)});
    const test::History h = train(c);
    const auto sequences = std::min<std::int64_t>(batches * 7, 40);
    const auto expected = naive(c, h.last(), Split::validation, "val", sequences);
    CHECK(h.final("val_loss") == Approx(expected.at("val_loss")).epsilon(1e-5));
    CHECK(h.final("val_sequence_accuracy") == Approx(expected.at("val_sequence_accuracy")));
  }
}

TEST_CASE("accuracies by length are those of the sequences of that length", "[evaluation]") {
  for (const std::string& base : {test::tiny_decoder, test::tiny_encoder}) {
    const Config c = config(base, {"task.kind=parity", "task.parity.length=9", "task.parity.min_length=5",
                                   "train.evaluate_by_length=true"});
    const test::History h = train(c);
    const auto found = by_name(engine(c).evaluate(c, *make_task(c), h.last(), Split::validation));
    const auto task = make_task(c);
    RunModel run(c, *task);
    load_parameters(run.parameters, h.last());
    std::map<std::string, std::pair<double, double>> sequences; // by length: number correct, number in total
    for (std::int64_t r = 0; r < task->evaluation_sequences(run.format, Split::validation); ++r) {
      Batch b;
      b.reset(1, run.sizes, run.format);
      task->evaluation_sequence(run.format, Split::validation, r, b, 0);
      each_target(run, b, {}, [&](const AtTarget& t) {
        // The output of `parity` is one token; a classifier's length is the length of its input.
        auto& [right, all] = sequences[std::to_string(run.format == TaskFormat::classification ? b.lengths[0] : 1)];
        right += t.right;
        ++all;
      });
    }
    CHECK(sequences.size() == (run.format == TaskFormat::classification ? 5 : 1));
    for (const auto& [length, hits] : sequences) {
      CHECK(found.at("val_accuracy_by_length." + length) == Approx(hits.first / hits.second));
      if (run.format == TaskFormat::language_model)
        CHECK(found.at("val_sequence_accuracy_by_length." + length) == Approx(hits.first / hits.second));
    }
    const auto lines = std::count_if(found.begin(), found.end(), [](const auto& value) {
      return value.first.starts_with("val_accuracy_by_length.");
    });
    CHECK(static_cast<std::size_t>(lines) == sequences.size());
  }
}

TEST_CASE("the accuracy of an answer of one token does not count the end after it", "[evaluation]") {
  const std::string one_token = R"(
kind = "parity"
validation = 40
test = 40
[task.parity]
length = 9
min_length = 5
)";
  const Config c = config(test::tiny(one_token, "kind = \"encoder_decoder\"", "evaluate_by_length = true\n"));
  const test::History h = train(c);
  const auto task = make_task(c);
  RunModel run(c, *task);
  load_parameters(run.parameters, h.last());
  double right = 0, both = 0, loss = 0;
  const std::int64_t sequences = task->evaluation_sequences(run.format, Split::validation);
  for (std::int64_t r = 0; r < sequences; ++r) {
    Batch b;
    b.reset(1, run.sizes, run.format);
    task->evaluation_sequence(run.format, Split::validation, r, b, 0);
    REQUIRE(b.output_lengths[0] == 2);
    std::vector<bool> hits;
    each_target(run, b, {}, [&](const AtTarget& t) {
      loss += t.loss;
      hits.push_back(t.right);
    });
    REQUIRE(hits.size() == 2);
    right += hits[0];
    both += hits[0] && hits[1];
  }
  const auto n = static_cast<double>(sequences);
  const auto found = by_name(engine(c).evaluate(c, *task, h.last(), Split::validation));
  CHECK(found.at("val_accuracy") == Approx(right / n));
  CHECK(found.at("val_accuracy_by_length.1") == Approx(right / n));
  CHECK(found.at("val_sequence_accuracy") == Approx(both / n));
  CHECK(found.at("val_loss") == Approx(loss / (2 * n)).epsilon(1e-5)); // the end token is a target of the loss
}

TEST_CASE("descriptions say which accuracies count the end", "[evaluation]") {
  const auto meaning = [](const Config& c, const std::string& name) {
    for (const Metric& m : metrics_of(c))
      if (m.name == name) return m.description;
    return std::string();
  };
  CHECK_THAT(meaning(config(test::tiny_decoder), "val_accuracy"), Contains("the token that ends an output is one"));
  CHECK_THAT(meaning(config(test::tiny_decoder), "val_sequence_accuracy"), Contains("that which ends an output"));
  CHECK_THAT(meaning(config(test::tiny_encoder), "val_accuracy"), !Contains("ends an output"));
}

TEST_CASE("a run measures what metrics_of says, at the last step at least", "[evaluation]") {
  const Reader reader;
  for (const Config& c : {config(test::tiny_decoder), config(test::tiny_encoder), reader()}) {
    const test::History h = train(c);
    std::set<std::string> promised, found;
    for (const Metric& m : metrics_of(c)) promised.insert(m.name);
    for (const MetricsRecord& m : h.metrics)
      if (m.step == c.train.steps)
        for (const auto& [name, value] : values_of(m)) found.insert(name);
    found.erase("learning_rate");
    found.erase("grad_norm");
    CHECK(found == promised);
  }
}

TEST_CASE("logging and evaluation are done as often as asked, and at the end", "[training]") {
  const test::History h = train(config(test::tiny_decoder, {"train.steps=7", "train.log_every=2",
                                                            "train.evaluate_every=3", "train.checkpoint_every=4"}));
  std::vector<std::int64_t> losses, evaluations, checkpoints;
  for (const MetricsRecord& m : h.metrics) (m.values[0].first == "train_loss" ? losses : evaluations).push_back(m.step);
  for (const Checkpoint& c : h.checkpoints) checkpoints.push_back(std::stoll(c.metadata.at("step")));
  CHECK(losses == std::vector<std::int64_t>{2, 4, 6, 7});
  CHECK(evaluations == std::vector<std::int64_t>{3, 6, 7});
  CHECK(checkpoints == std::vector<std::int64_t>{4, 7});
}

namespace {

/// A task that advances a clock: one second for each training sequence, 1000 seconds for each evaluation sequence.
class Ticking : public Task {
public:
  Ticking(std::unique_ptr<Task> task) : task_(std::move(task)) {}

  std::string refuses(TaskFormat format) const override { return task_->refuses(format); }
  TaskSizes sizes(TaskFormat format) const override { return task_->sizes(format); }
  void training_sequence(TaskFormat format, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    ++trained;
    task_->training_sequence(format, seed, step, sequence, batch, at);
  }
  std::int64_t evaluation_sequences(TaskFormat format, Split split) const override {
    return task_->evaluation_sequences(format, split);
  }
  void evaluation_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    ++evaluated;
    task_->evaluation_sequence(format, split, sequence, batch, at);
  }
  Chance chance(TaskFormat format) const override { return task_->chance(format); }
  std::string own_fingerprint() const override { return task_->fingerprint(); }
  std::string decode(std::span<const std::int32_t> tokens) const override { return task_->decode(tokens); }
  std::vector<std::int32_t> encode(std::string_view text) const override { return task_->encode(text); }

  double seconds() const { return static_cast<double>(trained + 1000 * evaluated); }

  mutable std::int64_t trained = 0, evaluated = 0; // only one thread works here

private:
  std::unique_ptr<Task> task_;
};

} // namespace

TEST_CASE("the time for each token is that of the steps alone, also of a run that goes on", "[training]") {
  const Config c = config(test::tiny_decoder, {"train.inspect=norms", "train.inspect_every=2"});
  std::vector<double> at_the_end;
  for (const bool broken : {false, true}) {
    const Ticking task(make_task(c));
    double kept = 0, stop_at = broken ? 4 : 0;
    std::vector<MetricsRecord> lines;
    std::optional<Checkpoint> checkpoint;
    TrainingHooks hooks;
    hooks.now = [&] { return task.seconds() + kept; };
    hooks.measured = [&](const MetricsRecord& m) { lines.push_back(m); };
    hooks.checkpoint = [&](const Checkpoint& k) { checkpoint = k, kept += 1e6; };
    double steps = 0;
    hooks.progress = [&](const Progress& p) { steps = static_cast<double>(p.step); };
    hooks.stop_requested = [&] { return steps == stop_at; };
    while (engine(c).train(c, task, checkpoint, hooks) == Outcome::interrupted) stop_at = 0;
    REQUIRE(task.evaluated > 0);
    const MetricsRecord& last = lines.back();
    REQUIRE(last.step_seconds);
    CHECK(*last.step_seconds == static_cast<double>(task.trained));
    CHECK(last.seconds > *last.step_seconds + 1000);
    CHECK(*value_of(last, "time_per_token") == Approx(1e6 * *last.step_seconds / static_cast<double>(last.tokens)));
    at_the_end.push_back(*last.step_seconds);
  }
  CHECK(at_the_end[0] == at_the_end[1]);
}

TEST_CASE("text is generated from the prompt on, the same for the same seed", "[generation]") {
  const Reader reader;
  const Config c = reader();
  const Checkpoint checkpoint = train(c).last();
  const Asked once{.tokens = 40, .seed = 5};
  const std::string text = generated(c, checkpoint, once);
  CHECK(text.size() == 43);
  CHECK(text.substr(0, 3) == "ABC");
  CHECK(text == generated(c, checkpoint, once));
  CHECK(text != generated(c, checkpoint, {.tokens = 40, .seed = 6}));
  CHECK(generated(c, checkpoint, {.tokens = 0}) == "ABC");
  // The first 10 tokens are the same for any number of further tokens.
  CHECK(generated(c, checkpoint, {.tokens = 10, .seed = 5}) == text.substr(0, 13));
}

TEST_CASE("temperature 0 takes the most probable token, as does the best one alone", "[generation]") {
  const Reader reader;
  const Config c = reader();
  const Checkpoint checkpoint = train(c).last();
  const std::string greedy = generated(c, checkpoint, {.tokens = 30, .temperature = 0, .seed = 1});
  CHECK(greedy == generated(c, checkpoint, {.tokens = 30, .temperature = 0, .seed = 2}));
  CHECK(greedy == generated(c, checkpoint, {.tokens = 30, .temperature = 2, .top_k = 1, .seed = 3}));
  // By hand: the last 16 tokens are the input, and the token with the highest logit is the output.
  const auto task = make_task(c);
  RunModel run(c, *task);
  load_parameters(run.parameters, checkpoint);
  std::vector<std::int32_t> tokens = task->encode("ABC");
  for (int i = 0; i < 30; ++i) {
    const auto n = std::min<std::int64_t>(16, static_cast<std::int64_t>(tokens.size()));
    Batch b;
    b.reset(1, n, TaskFormat::language_model);
    b.tokens.assign(tokens.end() - n, tokens.end());
    b.lengths = {static_cast<std::int32_t>(n)};
    Tape tape;
    Pass pass(tape, run.parameters, nullptr, {});
    const Tensor logits = run.model->logits(pass, b);
    const float* p = logits.data + (n - 1) * run.sizes.classes;
    tokens.push_back(static_cast<std::int32_t>(std::max_element(p, p + run.sizes.classes) - p));
  }
  CHECK(greedy == task->decode(tokens));
}

TEST_CASE("top_k leaves the k most probable tokens, and a high temperature spreads the choice", "[generation]") {
  const Reader reader;
  const Config c = reader();
  const Checkpoint checkpoint = train(c).last();
  const auto first_tokens = [&](double temperature, std::int64_t top_k) {
    std::set<std::string> out;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      out.insert(generated(c, checkpoint, {.tokens = 1, .temperature = temperature, .top_k = top_k, .seed = seed}));
    return out.size();
  };
  CHECK(first_tokens(100, 3) == 3);
  CHECK(first_tokens(100, 0) > 40);
  CHECK(first_tokens(1e-6, 0) == 1);
}

TEST_CASE("a prompt beyond the model's sequences is cut from its beginning, and said to be", "[generation]") {
  const Reader reader;
  const Config c = reader();
  const Checkpoint checkpoint = train(c).last();
  const auto length = static_cast<std::size_t>(make_task(c)->sizes(TaskFormat::language_model).length);
  const std::string end(length, 'A');
  std::vector<std::string> notes;
  const std::string cut = generated(c, checkpoint, {.prompt = "BC" + end, .tokens = 5, .temperature = 0}, &notes);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == fmt::format("the prompt has {} tokens, and the model's context is {}: the first 2 are ignored",
                                length + 2, length));
  CHECK(cut.substr(2) == generated(c, checkpoint, {.prompt = end, .tokens = 5, .temperature = 0}, &notes));
  CHECK(notes.size() == 1);
}

TEST_CASE("generation refuses what it cannot do", "[generation]") {
  const Reader reader;
  const Config c = reader();
  const Checkpoint checkpoint = train(c).last();
  CHECK_THROWS_AS(generated(c, checkpoint, {.prompt = ""}), Refused);
  CHECK_THROWS_AS(generated(c, checkpoint, {.prompt = "\xc3\xa9"}), Refused);
}

TEST_CASE("an encoder gives each class of an input with its probability", "[generation]") {
  const Config encoder = config(test::tiny_encoder);
  std::istringstream lines(generated(encoder, train(encoder).last(), {.inputs = {"0 1 1"}}));
  std::vector<double> probabilities;
  for (std::string line; std::getline(lines, line);) probabilities.push_back(std::stod(line));
  REQUIRE(probabilities.size() == 2); // parity: odd or not
  CHECK(probabilities[0] >= probabilities[1]);
  CHECK(probabilities[0] + probabilities[1] == Approx(1).margin(1e-3));
}

TEST_CASE("the nanoGPT recipe has nanoGPT's 804,096 parameters", "[cost]") {
  // nanoGPT reports 0.80M parameters without the 8,192 of its position table (github.com/karpathy/nanoGPT): 65 tokens,
  // block size 64, 4 layers of width 128, no biases, tied embeddings. By hand: 65 * 128 + 64 * 128 + 4 (3 * 128^2 +
  // 128^2 + 8 * 128^2 + 2 * 128) + 128.
  const Reader reader;
  const Config c = reader({"task.text.block=64", "model.layers=4", "model.width=128", "model.heads=4",
                           "position.kind=learned", "block.bias=false", "train.batch=12"});
  const auto task = make_task(c);
  REQUIRE(task->sizes(TaskFormat::language_model).vocabulary == 65);
  const Cost cost = engine(c).cost(c, *task);
  CHECK(cost.parameters == 804096);
  // A multiplication and an addition for each weight, token and direction: 2 forward, 4 backward. Attention adds 2 *
  // 128 for each score that a token sees and as much for the weighted value, and twice that backward; the causal mask
  // leaves 65 / 2 of 64 keys on average.
  const double tokens = 12 * 64, weights = 65 * 128 + 4 * 12 * 128 * 128;
  const double products = 6 * tokens * weights + 12 * tokens * 4 * 128 * 65 / 2;
  CHECK(cost.flops_per_step == Approx(products).epsilon(1e-9));
  CHECK(cost.bytes(1) > 4.0 * 804096);
}

TEST_CASE("a model that no machine has the memory for is refused by its shapes alone", "[cost]") {
  const auto refused = [](const std::vector<std::string>& changes, std::int64_t bytes) {
    const Config c = config(test::tiny_decoder, changes);
    const auto task = make_task(c);
    const std::int64_t before = resident_bytes();
    std::string why = test::refusal([&] { engine(c).cost(c, *task); });
    CHECK(resident_bytes() - before < bytes);
    return why;
  };
  const std::string wide = refused({"model.width=65536", "model.heads=1", "model.layers=4"}, 50'000'000);
  // The blocks alone have 12 matrices of width by width. AdamW's two moments, a gradient, and two copies of a
  // checkpoint with the three stored tensors make at least ten values for each parameter.
  CHECK_THAT(wide, Contains("needs at least ") && Contains("parameters (values, gradients of") &&
                       Contains("model.width = ") && Contains("would fit"));
  const double gigabytes = std::stod(wide.substr(wide.find("at least ") + 9));
  CHECK(gigabytes > 10 * 4 * 12 * 4 * 65536.0 * 65536.0 / 1e9);
  CHECK(gigabytes < 1.5 * 10 * 4 * 12 * 4 * 65536.0 * 65536.0 / 1e9);
  // A few sequences of this model would fit into memory, but a million sequences fit nowhere.
  const std::string many = refused({"model.width=512", "train.batch=1000000", "train.shards=1"}, 1'000'000'000);
  CHECK_THAT(many, Contains("for a shard's step of 1000000 sequences") && Contains("train.batch = "));
}

TEST_CASE("what model and task cannot do together is refused before anything runs", "[training]") {
  const Reader reader;
  const auto check = [](const Config& c) { return test::refusal([&] { engine(c).check(c, *make_task(c)); }); };
  CHECK(check(reader()).empty());
  CHECK_THAT(check(reader({"model.kind=encoder"})), Contains("encoder") && Contains("text"));
  CHECK_THAT(check(reader({"model.kind=encoder_decoder"})), Contains("encoder_decoder") && Contains("text"));
}

TEST_CASE("an estimate of the loss is the mean over random sequences of the step, and changes nothing else",
          "[evaluation]") {
  const Reader reader;
  const std::vector<std::string> estimates = {"train.evaluate_random_batches=3", "train.evaluate_every=10"};
  const Config with_text = reader(estimates), plain_text = reader({"train.evaluate_every=10"});
  const Config with_examples = config(test::tiny_decoder, {"train.evaluate_random_batches=3"});
  // For outputs of one token and an end, accuracy counts only the token; the loss counts both.
  const Config with_answers = config(test::tiny_encoder_decoder,
                                     {"task.kind=parity", "train.evaluate_random_batches=3"});
  const std::pair<Config, Config> pairs[] = {{with_text, plain_text},
                                             {with_examples, config(test::tiny_decoder)},
                                             {with_answers, config(test::tiny_encoder_decoder, {"task.kind=parity"})}};
  for (const auto& [c, plain] : pairs) {
    INFO(c.task.kind);
    const test::History h = train(c), without = train(plain);
    CHECK((test::text_of(h.last()) == test::text_of(without.last())));
    CHECK(h.all("val_loss") == without.all("val_loss"));
    CHECK(without.all("val_loss_estimate").empty());
    const std::vector<double> found = h.all("val_loss_estimate");
    CHECK(found.size() == h.all("val_loss").size());
    const auto task = make_task(c);
    RunModel run(c, *task);
    load_parameters(run.parameters, h.last());
    for (const auto& [split, name] :
         {std::pair{Split::validation, "val_loss_estimate"}, {Split::test, "test_loss_estimate"}}) {
      // Sequence by sequence, in double precision.
      double loss = 0, count = 0;
      for (std::int64_t r = 0; r < 3 * c.train.batch; ++r) {
        Batch b;
        b.reset(1, run.sizes, run.format);
        task->random_sequence(run.format, split, static_cast<std::uint64_t>(c.general.seed), c.train.steps, r, b, 0);
        each_target(run, b, {}, [&](const AtTarget& t) {
          loss += t.loss;
          ++count;
        });
      }
      INFO(name);
      CHECK(by_name(engine(c).evaluate(c, *task, h.last(), split)).at(name) == Approx(loss / count).epsilon(1e-5));
      if (split == Split::validation) CHECK(found.back() == Approx(loss / count).epsilon(1e-5));
    }
    const auto metrics = metrics_of(c);
    CHECK(std::ranges::count(metrics, std::string("val_loss_estimate"), &Metric::name) == 1);
  }
}

TEST_CASE("a step by tokens takes the sequences that fit, and its loss is the mean over their targets", "[training]") {
  const std::string scan = test::tiny("kind = \"scan\"\n[task.scan]\nsplit = \"length\"", "kind = \"encoder_decoder\"",
                                      "batch_tokens = 130\nevaluate_batches = 2\n");
  for (const std::string kind : {"encoder_decoder", "decoder"}) {
    const Config c = config(scan, {"model.kind=" + kind, "train.label_smoothing=0"});
    const auto task = make_task(c);
    RunModel run(c, *task);
    run.parameters.initialise(static_cast<std::uint64_t>(c.general.seed));
    std::set<std::int64_t> counts;
    std::int64_t tokens = 0;
    double first_loss = 0;
    for (std::int64_t step = 0; step < c.train.steps; ++step) {
      const std::int64_t sequences = training_sequences(c, *task, run, step);
      counts.insert(sequences);
      Batch batch;
      fill_training_batch(c, *task, run, step, 0, sequences, batch);
      CHECK(sequences * std::max(batch.length, batch.output_length) <= 130);
      tokens += batch.real_tokens();
      if (step > 0) continue;
      double loss = 0, count = 0;
      each_target(run, batch, {}, [&](const AtTarget& t) {
        loss += t.loss;
        ++count;
      });
      first_loss = loss / count;
    }
    CHECK(counts.size() > 1);
    const test::History h = train(c);
    CHECK(h.all("train_loss").front() == Approx(first_loss).epsilon(1e-5));
    CHECK(h.metrics.back().tokens == tokens);
  }
  const Config narrow = config(scan, {"train.batch_tokens=20"});
  CHECK_THAT(test::refusal([&] { engine(narrow).check(narrow, *make_task(narrow)); }),
             Contains("batch_tokens = 20 is too small for the longest sequence") && Contains("raise"));
}

TEST_CASE("the scores of examples add up to the metrics of the split", "[training]") {
  for (const char* kind : {"copy", "parity"}) {
    const Config c = config(fmt::format(R"(
[task]
kind = "{}"
validation = 50
[model]
layers = 1
width = 16
heads = 2
init_std = 0.2
[train]
steps = 10
batch = 8
)",
                                        kind));
    const Checkpoint checkpoint = train(c).checkpoints.back();
    const auto task = make_task(c);
    RunModel run(c, *task);
    load_parameters(run.parameters, checkpoint);
    ThreadPool two(2);
    const std::vector<ExampleScore> scores = example_scores(*task, run, Split::validation, 0, two);
    REQUIRE(scores.size() == 50);
    double loss = 0, losses = 0, right = 0, targets = 0, whole = 0;
    for (const ExampleScore& score : scores) {
      loss += score.loss;
      losses += static_cast<double>(score.loss_targets);
      right += static_cast<double>(score.right);
      targets += static_cast<double>(score.targets);
      whole += score.whole_right;
    }
    const std::map<std::string, double> wanted = naive(c, checkpoint, Split::validation, "val");
    CHECK(loss / losses == Approx(wanted.at("val_loss")).epsilon(1e-5));
    CHECK(right / targets == Approx(wanted.at("val_accuracy")).epsilon(1e-9));
    if (wanted.contains("val_sequence_accuracy"))
      CHECK(whole / 50 == Approx(wanted.at("val_sequence_accuracy")).epsilon(1e-9));
    // In the order of the split, and each from its own sequence.
    const std::vector<ExampleScore> first = example_scores(*task, run, Split::validation, 9, two);
    REQUIRE(first.size() == 9);
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].loss == Approx(scores[i].loss).epsilon(1e-5));
  }
}
