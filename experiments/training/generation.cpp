#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/decoding/search.hpp"
#include "experiments/system/text.hpp"
#include "experiments/training/attending.hpp"
#include "experiments/training/decoded_metrics.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <string>

namespace heed::HEED_REAL {

namespace {

// Samples a class from softmax(logits / temperature) among the `top_k` most probable classes. Ties go to the lower
// class.
std::int32_t sample(const Real* logits, std::int64_t classes, const Sampling& sampling, std::uint64_t position) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return logits[a] > logits[b]; });
  if (sampling.temperature == 0) return order[0];
  if (sampling.top_k > 0 && sampling.top_k < classes) order.resize(static_cast<std::size_t>(sampling.top_k));
  std::vector<double> weight;
  double total = 0;
  for (std::int32_t c : order) {
    weight.push_back(std::exp(static_cast<double>(logits[c] - logits[order[0]]) / sampling.temperature));
    total += weight.back();
  }
  double left = uniform({sampling.seed, Stream::sampling, 0}, position) * total;
  for (std::size_t i = 0; i < order.size(); ++i) {
    left -= weight[i];
    if (left < 0) return order[i];
  }
  return order.back();
}

// Reports the words of texts that the model reads as the unknown token.
void note_unknown(const Task& task, std::span<const std::string> texts, const Sampling& sampling) {
  const std::int32_t unknown = task.unknown_input();
  if (unknown < 0 || !sampling.note) return;
  constexpr std::size_t most = 8;
  std::set<std::string> words;
  for (const std::string& text : texts) {
    std::istringstream all(text);
    for (std::string word; all >> word;)
      if (const std::vector<std::int32_t> tokens = task.encode(word); std::ranges::count(tokens, unknown) > 0)
        words.insert(word);
  }
  if (words.empty()) return;
  std::vector<std::string> named(words.begin(), words.end());
  named.resize(std::min(named.size(), most));
  sampling.note(fmt::format("{} word{} {} not in the run's vocabulary, and the model reads {} as unknown: {}{}",
                            words.size(), plural(words.size()), words.size() == 1 ? "is" : "are",
                            words.size() == 1 ? "it" : "them", fmt::join(named, ", "),
                            words.size() > most ? ", ..." : ""));
}

// The tokens of the inputs.
std::vector<std::vector<std::int32_t>> read_inputs(const Task& task, const RunModel& run, const Sampling& sampling) {
  std::vector<std::vector<std::int32_t>> inputs;
  for (const std::string& text : sampling.inputs) {
    inputs.push_back(task.encode(text));
    if (inputs.back().empty()) throw Refused(fmt::format("input {} is empty: give at least one token", inputs.size()));
    if (std::ssize(inputs.back()) > run.sizes.length)
      throw Refused(fmt::format("input {} has {} tokens, and the longest of the run's data has {}", inputs.size(),
                                inputs.back().size(), run.sizes.length));
  }
  note_unknown(task, sampling.inputs, sampling);
  return inputs;
}

// Inputs are processed so many at a time.
constexpr std::size_t sequences_at_once = 16;

void fill_batch(const RunModel& run, std::span<const std::vector<std::int32_t>> inputs, Batch& batch) {
  batch.reset(std::ssize(inputs), run.sizes, run.format);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i], batch.tokens.begin() + static_cast<std::int64_t>(i) * batch.length);
    batch.lengths[i] = static_cast<std::int32_t>(inputs[i].size());
  }
}

// Writes the most probable classes of each sequence of the batch. `first` is the index of the batch's first sequence.
void write_classes(const Task& task, RunModel& run, const Sampling& sampling, Tape& tape, const Batch& batch,
                   std::int64_t first) {
  tape.rewind();
  Pass pass(tape, run.parameters, nullptr, {.first_sequence = first});
  const Tensor logits = run.model->logits(pass, batch);
  const std::int64_t classes = logits.shape[-1];
  const std::int64_t shown = sampling.top_k > 0 ? std::min(sampling.top_k, classes) : classes;
  for (std::int64_t sequence = 0; sequence < batch.sequences; ++sequence) {
    const std::vector<double> probabilities = class_probabilities(logits.data + sequence * classes, classes);
    std::vector<std::int32_t> order(probabilities.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::int32_t c) { return probabilities[static_cast<std::size_t>(c)]; });
    std::string text = first + sequence > 0 ? "\n" : "";
    for (const std::int32_t& c : std::span(order).first(static_cast<std::size_t>(shown)))
      text += fmt::format("{:.6f}\t{}\n", probabilities[static_cast<std::size_t>(c)],
                          task.decode_output(run.format, {&c, 1}));
    if (sampling.write) sampling.write(text);
  }
}

void classify(const Task& task, RunModel& run, const Sampling& sampling) {
  Tape tape;
  tape.record(false);
  Batch batch;
  if (run.format == TaskFormat::image_classification) {
    const std::int64_t images = task.evaluation_sequences(run.format, Split::validation);
    for (const std::string& input : sampling.inputs) image_index(input, images);
    for (std::size_t i = 0; i < sampling.inputs.size(); ++i) {
      batch.reset(1, run.sizes, run.format);
      task.evaluation_sequence(run.format, Split::validation, image_index(sampling.inputs[i], images), batch, 0);
      task.require_whole();
      write_classes(task, run, sampling, tape, batch, static_cast<std::int64_t>(i));
    }
    return;
  }
  const std::vector<std::vector<std::int32_t>> inputs = read_inputs(task, run, sampling);
  for (std::size_t first = 0; first < inputs.size(); first += sequences_at_once) {
    fill_batch(run, std::span(inputs).subspan(first, std::min(sequences_at_once, inputs.size() - first)), batch);
    if (run.sizes.varied) batch.trim();
    write_classes(task, run, sampling, tape, batch, static_cast<std::int64_t>(first));
  }
}

// Writes one line for each input: the most probable output that beam search finds.
void put_out(const Task& task, RunModel& run, const Sampling& sampling) {
  const std::vector<std::vector<std::int32_t>> inputs = read_inputs(task, run, sampling);
  Tape tape;
  tape.record(false);
  Batch batch;
  for (std::size_t first = 0; first < inputs.size(); first += sequences_at_once) {
    fill_batch(run, std::span(inputs).subspan(first, std::min(sequences_at_once, inputs.size() - first)), batch);
    batch.trim();
    const auto found = search(tape, run.parameters, *run.model, batch,
                              {.beam = sampling.beam,
                               .length_penalty = sampling.length_penalty,
                               .kind = length_penalty_kind(sampling.length_penalty_kind),
                               .longest = run.sizes.output_length,
                               .begin = run.sizes.begin,
                               .end = run.sizes.end,
                               .first_sequence = static_cast<std::int64_t>(first)});
    for (const Hypothesis& h : found)
      if (sampling.write) sampling.write(task.decode_output(run.format, h.tokens) + "\n");
  }
}

// Computes a language model's logits after a sequence of tokens. While the sequence is not longer than the model's
// longest sequence, it decodes step by step. After that, every step shifts the window, and the window is computed anew.
class Continuation {
public:
  Continuation(RunModel& run) : run_(run), fixed_(tape_, run.parameters.values(), run.parameters.extent()) {
    tape_.record(false);
    batch_.reset(1, 1, TaskFormat::language_model);
    Pass pass(tape_, run_.parameters, nullptr, {});
    decoding_ = run_.model->decoding(pass, batch_);
  }

  /// Returns [classes], valid until the next call. `tokens` are those of the last call and one more, or the first
  /// tokens.
  const Real* after(const std::vector<std::int32_t>& tokens) {
    tape_.rewind();
    Pass pass(tape_, run_.parameters, nullptr, {});
    if (decoding_ && std::ssize(tokens) <= run_.sizes.length) {
      const std::size_t unread = tokens.size() - 1 - read_;
      if (unread > 0) decoding_->read(pass, 1, {&tokens[read_], unread});
      read_ += unread;
      return decoding_->step(pass, {&tokens[read_++], 1}).data;
    }
    const std::int64_t n = std::min<std::int64_t>(std::ssize(tokens), run_.sizes.length);
    batch_.reset(1, n, TaskFormat::language_model);
    std::copy(tokens.end() - n, tokens.end(), batch_.tokens.begin());
    batch_.lengths[0] = static_cast<std::int32_t>(n);
    const Tensor logits = run_.model->logits(pass, batch_);
    return logits.data + (n - 1) * logits.shape[-1];
  }

private:
  RunModel& run_;
  Tape tape_;
  Tape::FrozenWeights fixed_;
  Batch batch_;
  std::unique_ptr<Decoding> decoding_;
  std::size_t read_ = 0;
};

} // namespace

void generate(const Config& config, const Task& task, const Checkpoint& checkpoint, const Sampling& sampling) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  if (gives_class(run.format)) return classify(task, run, sampling);
  if (run.format == TaskFormat::sequence_to_sequence) return put_out(task, run, sampling);
  std::vector<std::int32_t> tokens = task.encode(sampling.prompt);
  if (tokens.empty()) throw Refused("--prompt is empty: give at least one token to continue");
  note_unknown(task, {&sampling.prompt, 1}, sampling);
  if (std::ssize(tokens) > run.sizes.length && sampling.note)
    sampling.note(fmt::format("the prompt has {} tokens, and the model's context is {}: the first {} are ignored",
                              tokens.size(), run.sizes.length, std::ssize(tokens) - run.sizes.length));
  if (sampling.write) sampling.write(sampling.prompt);
  Continuation continuation(run);
  for (std::int64_t i = 0; i < sampling.tokens; ++i) {
    tokens.push_back(sample(continuation.after(tokens), run.sizes.classes, sampling, static_cast<std::uint64_t>(i)));
    // The text that the token adds: a word also brings the space before it.
    const std::span<const std::int32_t> last(tokens.data() + tokens.size() - 2, 2);
    const std::string both = task.decode(last);
    if (sampling.write) sampling.write(both.substr(std::min(both.size(), task.decode(last.first(1)).size())));
  }
}

} // namespace heed::HEED_REAL
