#include "autograd/error.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/pages.hpp"
#include "autograd/products.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/block_stack.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/text.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/step.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Makes attention compute its weights and scores, as introspection does.
struct CountingObserver : Observer {
  explicit CountingObserver(const InspectionParts& looks) : looks(looks) {}
  bool wants_weights() const override { return looks.attention; }
  bool wants_scores() const override { return looks.scores; }
  InspectionParts looks;
};

// The number of values in the optimiser's state. Each array is padded to a multiple of 64 bytes, like parameters.
double optimizer_numbers(const Config& config, const Parameters& parameters) {
  constexpr std::size_t boundary = 64 / sizeof(Real);
  std::size_t numbers = 0;
  const auto optimizer = make_optimizer(config, parameters);
  for (const Optimizer::StateArray& array : optimizer->state(parameters))
    numbers += (array.numbers.size() + boundary - 1) / boundary * boundary;
  return static_cast<double>(numbers);
}

// Optimiser state values per trained value, estimated with a small matrix, so that the model's memory is not needed.
double optimizer_share(const Config& config) {
  constexpr std::int64_t side = 64;
  Parameters matrix;
  matrix.add("weight", {side, side}, Init::constant(0), WeightDecay::yes);
  return optimizer_numbers(config, matrix) / (side * side);
}

// Tape memory of a step, in bytes: for one sequence, and for each further sequence.
struct StepBytes {
  double one_sequence = 0, each_further = 0;
  double of(std::int64_t sequences) const { return one_sequence + each_further * static_cast<double>(sequences - 1); }
};

// Estimates a run's memory before anything is executed: the parameters' memory follows from their shapes.
class Size {
public:
  Size(const Config& config, const RunModel& run, std::int64_t shards)
      : config_(config), run_(run), shards_(shards), memory_(memory_there_is()) {}

  // Infinity if the system does not say.
  double memory() const { return memory_ > 0 ? memory_ : std::numeric_limits<double>::infinity(); }

  // Bytes of the parameters' values, the optimiser's state, the gradients of each shard, and a checkpoint, which exists
  // twice: as tensors and as the bytes of a file. `kept` is the number of parameter and optimiser values.
  double parameters(double kept) const {
    return sizeof(Real) * (kept + extent() * static_cast<double>(shards_) + 2 * kept);
  }
  double extent() const { return static_cast<double>(run_.parameters.extent()); }

  // Whether a step with this number of sequences could exceed the memory, so that one sequence should be tried first.
  bool is_large(std::int64_t sequences) const {
    // Approximate number of arrays that a block stores for each token: sublayer inputs, products, a wide layer.
    constexpr double arrays = 16;
    const double tokens = static_cast<double>(sequences) *
                          static_cast<double>(run_.sizes.length + run_.sizes.output_length);
    return arrays * sizeof(Real) * tokens * static_cast<double>(config_.model.width * config_.model.layers) >
           memory() / 16;
  }

  // @param kept  number of parameter values and optimiser values
  void check_parameters(double kept) const {
    if (const double bytes = parameters(kept); bytes > memory()) refuse(bytes, {}, 0);
  }
  // @param sequences  sequences of one shard's step
  void check_step(double shared, const StepBytes& step, std::int64_t sequences) const {
    if (shared + step.of(sequences) > memory()) refuse(shared, step, sequences);
  }
  [[noreturn]] void refuse_sequence() const {
    throw Refused(
        fmt::format("[model] a step of a single sequence needs more than the machine's {} of memory; use shorter "
                    "sequences, or a smaller model.width ({}) or model.layers ({})",
                    in_words(memory_), config_.model.width, config_.model.layers));
  }

private:
  static double memory_there_is() {
    static const double bytes = usable_memory(); // only once, because a sweep calls it for each of its arms
    return bytes;
  }
  static std::string in_words(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
  }

  [[noreturn]] void refuse(double shared, const StepBytes& step, std::int64_t sequences) const {
    std::string text = fmt::format("[model] a run needs at least {} of memory, but the machine has {}: {} for {} "
                                   "parameters (values, gradients of {} shard{}, the optimiser, a checkpoint)",
                                   in_words(shared + (sequences > 0 ? step.of(sequences) : 0)), in_words(memory_),
                                   in_words(shared), run_.parameters.count(), shards_, plural(shards_));
    if (sequences > 0)
      text += fmt::format(", {} for a shard's step of {} sequences", in_words(step.of(sequences)), sequences);
    const double left = memory_ - shared;
    if (sequences > 0 && left > step.one_sequence) {
      const auto fit = 1 + static_cast<std::int64_t>((left - step.one_sequence) / std::max(step.each_further, 1.0));
      text += config_.train.batch_tokens > 0
                  ? fmt::format("; lower train.batch_tokens ({}), or raise train.shards", config_.train.batch_tokens)
              : config_.train.full_batch
                  ? "; set train.full_batch = false and a train.batch, or raise train.shards"
                  : fmt::format("; train.batch = {} would fit; or raise train.shards", fit * shards_);
    } else {
      // The number of parameters grows mostly with the square of the width.
      const double width = static_cast<double>(config_.model.width) * std::sqrt(memory_ / (1.5 * shared));
      const std::int64_t heads = config_.model.heads;
      text += fmt::format("; model.width = {} would fit, about",
                          std::max(heads, static_cast<std::int64_t>(width) / heads * heads));
    }
    throw Refused(text);
  }

  const Config& config_;
  const RunModel& run_;
  std::int64_t shards_;
  double memory_;
};

// The operations and the tape memory of some sequences.
struct OfSequences {
  double operations = 0, bytes = 0;
};

// @param pass  runs its sequences on the given tape
template <class F> OfSequences of_sequences(std::int64_t sequences, F&& pass) {
  Tape tape;
  const double before = counted_operations();
  pass(tape, sequences);
  return {counted_operations() - before, static_cast<double>(tape.peak())};
}

// Extrapolates the cost of identical sequences from one and two sequences.
class OfLikeSequences {
public:
  template <class F>
  OfLikeSequences(std::int64_t sequences, F&& pass)
      : one_(of_sequences(1, pass)), two_(sequences > 1 ? of_sequences(2, pass) : one_) {}

  OfSequences of(std::int64_t sequences) const {
    const auto further = static_cast<double>(sequences - 1);
    return {one_.operations + further * (two_.operations - one_.operations), bytes().of(sequences)};
  }
  StepBytes bytes() const { return {one_.bytes, std::max(0.0, two_.bytes - one_.bytes)}; }

private:
  OfSequences one_, two_;
};

// Whether every sequence of the batch costs the same as the first. With a mask formula, sequences may differ.
bool sequences_are_alike(const Config& config, const Batch& batch) {
  const auto equal = [](const std::vector<std::int32_t>& lengths) {
    return std::ranges::all_of(lengths, [&](std::int32_t n) { return n == lengths[0]; });
  };
  return equal(batch.lengths) && equal(batch.output_lengths) && !config.any_block([](const LayerChoice& block) {
    return !block.attention.mask_mod.empty() || !block.attention.cross_mask_mod.empty();
  });
}

// Memory of a worker process with its libraries and without a model; and the memory of BLAS after loading.
constexpr double process_bytes = 14'000'000, blas_bytes = 2'100'000;

// The values do not matter, because no results are computed. Exceptions are values that the code inspects first, such
// as a learned exponent; they are in small parameters. Only small parameters are filled, because filling matrices would
// take longer than everything else.
void fill_small_ones(Parameters& parameters) {
  constexpr std::int64_t most = 1024;
  for (const Parameters::Entry& entry : parameters.entries())
    if (entry.shape.size() <= most) std::fill_n(parameters.values() + entry.offset, entry.shape.size(), Real{0.5});
}

// As Cost::state_size. One step is done, and the state says how it grows.
std::optional<std::int64_t> state_size(RunModel& run) {
  if (gives_class(run.format)) return std::nullopt;
  const bool has_outputs = run.format == TaskFormat::sequence_to_sequence;
  Batch batch;
  batch.reset(1, run.sizes, run.format);
  batch.lengths.front() = static_cast<std::int32_t>(batch.length);
  Tape tape;
  tape.record(false);
  Pass pass(tape, run.parameters, nullptr, {});
  const std::unique_ptr<Decoding> decoding = run.model->decoding(pass, batch);
  if (!decoding) return std::nullopt;
  const std::int32_t first = has_outputs ? run.sizes.begin : 0;
  decoding->read(pass, 1, {&first, 1});
  return decoding->state_size((has_outputs ? batch.output_length : batch.length) - 1);
}

Cost measured_cost(const Config& config, const Task& task, RunModel& run, std::int64_t shards, const Size& size) {
  fill_small_ones(run.parameters);
  Cost c;
  c.parameters = run.parameters.count();
  c.state_size = state_size(run);
  const double shared = size.parameters(size.extent() + optimizer_numbers(config, run.parameters));
  Batch batch;
  // @param fill  makes the given number of sequences; the first sequences are the same for each number
  // @param pass  runs the model on the batch, on the given tape
  const auto sequences_of = [&](std::int64_t sequences, auto&& fill, auto&& pass, bool to_check = false) {
    const auto some = [&](Tape& tape, std::int64_t n) {
      fill(n, batch);
      pass(tape);
    };
    fill(sequences, batch);
    const bool alike = sequences_are_alike(config, batch);
    std::optional<OfLikeSequences> like;
    if (alike || to_check) like.emplace(sequences, some);
    if (to_check) size.check_step(shared, like->bytes(), sequences);
    const OfSequences of = alike ? like->of(sequences) : of_sequences(sequences, some);
    c.thread_bytes = std::max(c.thread_bytes, of.bytes);
    return of;
  };

  // One shard, forward and backward. If steps have different sequences, the mean of several steps is used.
  PagedVector<Real> gradients(static_cast<std::size_t>(run.parameters.extent()));
  const int steps = config.train.batch_tokens > 0 ? 4 : 1;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t step_sequences = training_sequences(config, task, run, step);
    const std::int64_t sequences = (step_sequences + shards - 1) / shards;
    const OfSequences of = sequences_of(
        sequences,
        [&](std::int64_t some, Batch& to) {
          fill_training_batch(config, task, run, step, 0, some, to, Content::outline);
        },
        [&](Tape& tape) {
          Pass pass(tape, run.parameters, gradients.data(),
                    {.training = true, .seed = 0, .step = 0, .first_sequence = 0});
          tape.backward(cross_entropy(run.model->logits(pass, batch), batch.targets.data()));
        },
        step == 0 && sequences > 2 && size.is_large(sequences));
    c.flops_per_step += of.operations * static_cast<double>(step_sequences) / static_cast<double>(sequences);
  }
  c.flops_per_step /= steps;

  // Evaluation uses the same tapes.
  const auto evaluate = [&](std::int64_t sequences, const Pass::Options& options, auto&& fill) {
    const OfSequences of = sequences_of(sequences, fill, [&](Tape& tape) {
      tape.record(false);
      Pass pass(tape, run.parameters, nullptr, options);
      run.model->logits(pass, batch);
    });
    c.helper_bytes = std::max(c.helper_bytes, of.bytes);
  };
  const auto of_task = [&](std::int64_t sequences, Batch& to) {
    fill_evaluation_batch(task, run, Split::validation, 0, sequences, to, Content::outline);
  };
  const EvaluationPieces pieces{task.evaluation_sequences(run.format, Split::validation)};
  if (pieces.count() > 0) evaluate(std::min(pieces.size(0), pieces.sequences_at_once(run.sizes)), {}, of_task);
  const auto evaluate_others = [&](const RunModel::OtherSequences& at) {
    const auto longer = EvaluationPieces::of_length(run, at.sizes,
                                                    at.task->evaluation_sequences(run.format, Split::validation));
    evaluate(std::min(longer.size(0), longer.sequences_at_once(at.sizes)), {}, [&](std::int64_t sequences, Batch& to) {
      fill_evaluation_batch(at, run, Split::validation, 0, sequences, to, Content::outline);
    });
  };
  // With several lengths, the longest sequences need the most memory.
  if (!run.at_lengths.empty()) evaluate_others(run.at_lengths.back());
  for (const RunModel::OtherSequences& set : run.on_sets) evaluate_others(set);
  // Introspection stores a sequence's whole attention weights. Otherwise the weights are only computed block by block.
  if (inspected_parts(config.train).attention && pieces.count() > 0) {
    CountingObserver observer(inspected_parts(config.train));
    evaluate(1, {.observer = &observer}, of_task);
  }
  c.shared_bytes = process_bytes + (multiplies_by_blas() ? blas_bytes : 0) + shared;
  c.shards = shards;
  constexpr double enough_for_a_thread = 2e7; // operations of a step: some tenths of a millisecond
  c.useful_threads = static_cast<int>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(c.flops_per_step / enough_for_a_thread),
                               std::min<std::int64_t>(shards, most_useful_threads), most_useful_threads));
  return c;
}

} // namespace

Cost cost(const Config& config, const Task& task) {
  RunModel run(config, task);
  const std::int64_t shards = shards_of_step(config.train);
  const Size size(config, run, shards);
  size.check_parameters(size.extent() * (1 + optimizer_share(config)));
  const PageLimit limit(size.memory());
  const UnwrittenPages pages;
  const CountingOnly counting;
  try {
    return measured_cost(config, task, run, shards, size);
  } catch (const std::bad_alloc&) {
    size.refuse_sequence();
  }
}

namespace {

// The width of a square image of so many patches, or of the largest one with fewer.
std::int64_t side_of_square(std::int64_t patches) {
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= patches) ++side;
  return side;
}

// Runs one sequence through the block, forward and backward.
class Sequence {
public:
  Sequence(const Config& config, std::int64_t length)
      : shape_{1, length, config.model.width},
        stack_(Scope(parameters_, init_rules(config)), config,
               BlockStack::Sizes{.longest = length, .patches_in_row = side_of_square(length)}),
        segments_(static_cast<std::size_t>(length)) {
    parameters_.initialise(static_cast<std::uint64_t>(config.general.seed));
    gradients_.resize(static_cast<std::size_t>(parameters_.extent()));
    vectors_.resize(static_cast<std::size_t>(shape_.size()));
    of_vectors_.resize(vectors_.size());
    const RandomKey key{.seed = static_cast<std::uint64_t>(config.general.seed), .stream = Stream::test};
    for (std::size_t i = 0; i < vectors_.size(); ++i) vectors_[i] = static_cast<Real>(normal(key, i));
  }

  void forward_and_backward() {
    tape_.rewind();
    Pass pass(tape_, parameters_, gradients_.data(), {.training = true});
    const Tensor x = tape_.leaf(vectors_.data(), of_vectors_.data(), shape_);
    const Segments one{segments_.data(), shape_[1]};
    tape_.backward(sum(stack_(pass, x, {.query_segments = one, .key_segments = one})));
  }

  std::int64_t parameters() const { return parameters_.count(); }
  std::size_t bytes() const { return tape_.peak(); }

private:
  Shape shape_;
  Parameters parameters_;
  BlockStack stack_;
  std::vector<std::int32_t> segments_; // the sequence is one segment
  std::vector<Real> gradients_, vectors_, of_vectors_;
  Tape tape_;
};

} // namespace

AttentionCost attention_cost(const Config& config, std::int64_t length, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  constexpr std::size_t fewest = 3;
  Sequence sequence(mixer_of_first_block(config), length);
  AttentionCost cost;
  const double before = counted_operations();
  sequence.forward_and_backward();
  cost.flops = counted_operations() - before;
  cost.parameters = sequence.parameters();
  cost.bytes = static_cast<double>(sequence.bytes());
  sequence.forward_and_backward(); // now the tape's memory is one contiguous block
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < fewest || since(begin) < seconds) {
    const Clock::time_point one = Clock::now();
    sequence.forward_and_backward();
    times.push_back(since(one));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  cost.seconds = *middle;
  return cost;
}

} // namespace heed::HEED_REAL
