#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <string>

namespace heed::HEED_REAL {

namespace {

// A class drawn from softmax(logits / temperature), among the `top_k` most probable ones; ties go to the lower class.
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

} // namespace

void generate(const Config& config, const Task& task, const Checkpoint& checkpoint, const Sampling& sampling) {
  RunModel run(config, task);
  if (run.form != Form::language_model)
    throw Refused(fmt::format("[model] kind = \"{}\" gives a class, not text: only a decoder generates",
                              config.model.kind));
  load_parameters(run.parameters, checkpoint);
  std::vector<std::int32_t> tokens = task.encode(sampling.prompt);
  if (tokens.empty()) throw Refused("--prompt is empty: give at least one token to go on from");
  if (sampling.write) sampling.write(sampling.prompt);
  Tape tape;
  tape.record(false);
  Batch batch;
  for (std::int64_t i = 0; i < sampling.tokens; ++i) {
    const std::int64_t n = std::min<std::int64_t>(static_cast<std::int64_t>(tokens.size()), run.shape.length);
    batch.reset(1, n, Form::language_model);
    std::copy(tokens.end() - n, tokens.end(), batch.tokens.begin());
    batch.lengths[0] = static_cast<std::int32_t>(n);
    tape.rewind();
    Pass pass(tape, run.parameters, nullptr, {});
    const Tensor logits = run.model->logits(pass, batch);
    const std::int64_t classes = logits.shape[-1];
    tokens.push_back(sample(logits.data + (n - 1) * classes, classes, sampling, static_cast<std::uint64_t>(i)));
    // What the token adds to the one before it: a word brings the space in front of it.
    const std::span<const std::int32_t> last(tokens.data() + tokens.size() - 2, 2);
    const std::string both = task.decode(last);
    if (sampling.write) sampling.write(both.substr(std::min(both.size(), task.decode(last.first(1)).size())));
  }
}

} // namespace heed::HEED_REAL
