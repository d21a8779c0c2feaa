#include "experiments/training/introspection.hpp"

#include "autograd/error.hpp"
#include "autograd/squares.hpp"
#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/process_group.hpp"
#include "experiments/training/state_sums.hpp"
#include "experiments/training/worker_passes.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

// Sums by name, in the order of the names' first occurrence.
template <class T> struct ByName {
  std::vector<std::pair<std::string, T>> entries;

  T& operator[](std::string_view name) {
    const auto found = std::ranges::find(entries, name, [](const auto& e) -> std::string_view { return e.first; });
    if (found != entries.end()) return found->second;
    return entries.emplace_back(std::string(name), T{}).second;
  }
  void add(const ByName& other) {
    for (const auto& [name, sums] : other.entries) (*this)[name].add(sums);
  }
};

struct AttentionSums {
  std::vector<HeadSums> heads;
  std::vector<Spread> scores; // for each head
  std::int64_t position = 0;  // position of the next call's first query in the pass
  bool several_queries = false;

  void add(const AttentionSums& other) {
    heads.resize(std::max(heads.size(), other.heads.size()));
    for (std::size_t h = 0; h < other.heads.size(); ++h) heads[h].add(other.heads[h]);
    scores.resize(std::max(scores.size(), other.scores.size()));
    for (std::size_t h = 0; h < other.scores.size(); ++h) scores[h].add(other.scores[h]);
    several_queries = several_queries || other.several_queries;
  }
};

struct OutputSums {
  double squares = 0;
  std::int64_t numbers = 0;

  void add(const OutputSums& other) {
    squares += other.squares;
    numbers += other.numbers;
  }
};

struct LayerSums {
  double residual = 0;
  std::int64_t sequences = 0; // sequences that have a residual

  void add(const LayerSums& other) {
    residual += other.residual;
    sequences += other.sequences;
  }
};

// Accumulates statistics of the observed tensors, pass by pass.
class StatsObserver : public Observer {
public:
  explicit StatsObserver(const InspectionParts& looks) : looks_(looks) {}

  void begin_pass() {
    for (auto& [name, sums] : attentions.entries) sums.position = 0;
  }

  bool wants_weights() const override { return looks_.attention; }
  bool wants_scores() const override { return looks_.scores; }
  bool wants_states() const override { return looks_.states; }

  void weights(const AttentionPlace& attention, const Tensor& w) override {
    AttentionSums& sums = attentions[attention.module];
    const std::int64_t heads = w.shape[1], queries = w.shape[2], keys = w.shape[3];
    sums.heads.resize(static_cast<std::size_t>(heads));
    for (std::int64_t b = 0; b < w.shape[0]; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < queries; ++i)
          add_query(sums.heads[static_cast<std::size_t>(h)],
                    w.data + b * w.stride[0] + h * w.stride[1] + i * w.stride[2], w.stride[3], keys, sums.position + i);
    sums.position += queries;
    sums.several_queries = sums.several_queries || sums.position > 1;
  }

  void scores(const AttentionPlace& attention, const Tensor& s) override {
    std::vector<Spread>& spreads = attentions[attention.module].scores;
    spreads.resize(static_cast<std::size_t>(s.shape[1]));
    const Tensor all = contiguous(s);
    const std::int64_t each = s.shape[2] * s.shape[3];
    for (std::int64_t row = 0; row < s.shape[0] * s.shape[1]; ++row)
      spreads[static_cast<std::size_t>(row % s.shape[1])].add(spread_of(all.data + row * each, each));
  }

  void state(const AttentionPlace& mixer, const Tensor& log_decay, const Tensor& state) override {
    states[mixer.module].add(log_decay, state);
  }

  void block(std::string_view module, const Tensor& output) override {
    if (!looks_.layers) return;
    LayerSums& sums = layers[module];
    const Tensor y = contiguous(output);
    const std::int64_t tokens = y.shape[1], width = y.shape[2];
    for (std::int64_t b = 0; b < y.shape[0] && tokens > 1; ++b)
      if (const auto residual = rank_residual(y.data + b * tokens * width, tokens, width)) sums.add({*residual, 1});
  }

  void output(std::string_view module, const Tensor& output) override {
    if (!looks_.activations) return;
    const Tensor y = contiguous(output);
    outputs[module].add({sum_of_squares(y.data, y.size()), y.size()});
  }

  ByName<AttentionSums> attentions;
  ByName<OutputSums> outputs;
  ByName<LayerSums> layers;
  ByName<StateSums> states;

private:
  InspectionParts looks_;
};

// Replaces the output of one head by zeros.
class HeadAblation : public Observer {
public:
  explicit HeadAblation(const HeadInspection& silent) : attention_(silent.attention), head_(silent.head) {}

  void heads(const AttentionPlace& attention, const Tensor& y) override {
    if (attention.module != attention_) return;
    for (std::int64_t b = 0; b < y.shape[0]; ++b)
      for (std::int64_t i = 0; i < y.shape[2]; ++i)
        for (std::int64_t d = 0; d < y.shape[3]; ++d)
          y.data[b * y.stride[0] + head_ * y.stride[1] + i * y.stride[2] + d * y.stride[3]] = 0;
  }

private:
  std::string attention_;
  std::int64_t head_;
};

// The sequences of a split, with the buffers that are needed to run the model on them.
class Sequences {
public:
  Sequences(const Task& task, RunModel& run, Split split, std::int64_t sequences, ThreadPool& workers,
            std::span<const std::unique_ptr<Tape>> tapes, Content content)
      : task_(task), run_(run), split_(split), pieces_{sequences}, workers_(workers), passes_(run, workers, tapes),
        content_(content) {}

  const EvaluationPieces& pieces() const { return pieces_; }
  ThreadPool& workers() const { return workers_; }
  RunModel& run() const { return run_; }

  /// The loss of `sequences` sequences, starting at `first`, summed over their targets and divided by `divisor`. If
  /// `gradients` is given, it also writes the gradients. `all_trimmed`: removes padding beyond the longest sequence,
  /// even if the task keeps it in training.
  double loss(int worker, std::int64_t first, std::int64_t sequences, bool all_trimmed, Observer* observer,
              Real* gradients = nullptr, double divisor = 1) {
    Batch& batch = passes_.batch(worker);
    fill(batch, first, sequences, all_trimmed);
    const Pass::Options options{.first_sequence = first, .observer = observer};
    const CrossEntropyOptions mean{.ignore = ignored, .divisor = static_cast<Real>(divisor)};
    if (gradients) return passes_.gradients(worker, batch, options, mean, gradients);
    double value = 0;
    passes_.evaluate(worker, batch, options, [&](const Tensor& logits) {
      value = static_cast<double>(cross_entropy(logits, batch.targets.data(), mean).item());
    });
    return value;
  }

  std::int64_t targets() const {
    std::int64_t count = 0;
    Batch batch;
    for (int piece = 0; piece < pieces_.count(); ++piece) {
      fill(batch, pieces_.first(piece), pieces_.size(piece), false);
      count += counted_targets(batch);
    }
    return std::max<std::int64_t>(count, 1);
  }

private:
  void fill(Batch& batch, std::int64_t first, std::int64_t sequences, bool all_trimmed) const {
    fill_evaluation_batch(task_, run_, split_, first, sequences, batch, content_);
    if (run_.sizes.varied || all_trimmed) batch.trim();
  }

  const Task& task_;
  RunModel& run_;
  Split split_;
  EvaluationPieces pieces_;
  ThreadPool& workers_;
  WorkerPasses passes_;
  Content content_;
};

// Processes one sequence at a time, so that the statistics contain no padding.
StatsObserver observe(Sequences& sequences, const InspectionParts& looks) {
  const EvaluationPieces& pieces = sequences.pieces();
  std::vector<StatsObserver> observers(static_cast<std::size_t>(pieces.count()), StatsObserver(looks));
  sequences.workers().run(pieces.count(), [&](int piece, int worker) {
    StatsObserver& observer = observers[static_cast<std::size_t>(piece)];
    for (std::int64_t i = 0; i < pieces.size(piece); ++i) {
      observer.begin_pass();
      sequences.loss(worker, pieces.first(piece) + i, 1, true, &observer);
    }
  });
  StatsObserver all(looks);
  for (const StatsObserver& o : observers) {
    all.attentions.add(o.attentions);
    all.outputs.add(o.outputs);
    all.layers.add(o.layers);
    all.states.add(o.states);
  }
  return all;
}

void add_importance(Sequences& sequences, std::vector<HeadInspection>& heads) {
  const EvaluationPieces& pieces = sequences.pieces();
  const auto count = static_cast<std::size_t>(pieces.count());
  const std::size_t variants = heads.size() + 1; // one without each head, and one with all heads
  std::vector<double> losses(variants * count);
  sequences.workers().run(share_of(static_cast<int>(losses.size()), sequences.workers()), [&](int job, int worker) {
    const int piece = job % pieces.count();
    const auto variant = static_cast<std::size_t>(job / pieces.count());
    std::optional<HeadAblation> ablation;
    if (variant > 0) ablation.emplace(heads[variant - 1]);
    losses[static_cast<std::size_t>(job)] = sequences.loss(worker, pieces.first(piece), pieces.size(piece), false,
                                                           ablation ? &*ablation : nullptr);
  });
  exchange_values(sequences.workers(), losses, even_share);
  const auto total = [&](std::size_t variant) {
    double sum = 0;
    for (std::size_t p = 0; p < count; ++p) sum += losses[variant * count + p];
    return sum;
  };
  const double whole = total(0), targets = static_cast<double>(sequences.targets());
  for (std::size_t h = 0; h < heads.size(); ++h) heads[h].importance = (total(h + 1) - whole) / targets;
}

// As in training, the sequences are divided among the shards, and the shards' gradients are added in a fixed tree.
void add_gradients(Sequences& sequences, std::int64_t shards, Inspection& inspection) {
  const EvaluationPieces& all = sequences.pieces();
  const auto count = static_cast<std::size_t>(std::min<std::int64_t>(shards, all.count()));
  const auto extent = static_cast<std::size_t>(sequences.run().parameters.extent());
  const auto divisor = static_cast<double>(sequences.targets());
  std::vector<std::vector<Real>> sums(count, std::vector<Real>(extent)), pieces(count, std::vector<Real>(extent));
  sequences.workers().run(static_cast<int>(count), [&](int shard, int worker) {
    std::vector<Real>& sum = sums[static_cast<std::size_t>(shard)];
    std::vector<Real>& one = pieces[static_cast<std::size_t>(shard)];
    for (int piece = shard; piece < all.count(); piece += static_cast<int>(count)) {
      sequences.loss(worker, all.first(piece), all.size(piece), false, nullptr, one.data(), divisor);
      for (std::size_t i = 0; i < extent; ++i) sum[i] += one[i];
    }
  });
  std::vector<Real*> parts;
  for (auto& sum : sums) parts.push_back(sum.data());
  sum_parts(sequences.workers(), parts, sequences.run().parameters.extent());
  add_gradient_norms(inspection, sequences.run().parameters, parts[0]);
}

using Norm = std::optional<double>;

// Euclidean norms of values with the layout of the parameters, by module and by layer.
void add_norms(Inspection& inspection, const Parameters& parameters, const Real* numbers,
               Norm ModuleInspection::*of_module, Norm LayerInspection::*of_layer) {
  ByName<double> squares;
  for (const Parameters::Entry& e : parameters.entries())
    squares[e.module] += sum_of_squares(numbers + e.offset, e.shape.size());
  for (const auto& [name, sum] : squares.entries) {
    auto found = std::ranges::find(inspection.modules, name, &ModuleInspection::module);
    if (found == inspection.modules.end()) {
      found = inspection.modules.emplace(found);
      found->module = name;
    }
    (*found).*of_module = std::sqrt(sum);
  }
  for (LayerInspection& layer : inspection.layers) {
    double sum = 0;
    for (const auto& [name, of] : squares.entries)
      if (name == layer.layer || name.starts_with(layer.layer + ".")) sum += of;
    layer.*of_layer = std::sqrt(sum);
  }
}

void add_weight_norms(Inspection& inspection, const Parameters& parameters) {
  add_norms(inspection, parameters, parameters.values(), &ModuleInspection::weight, &LayerInspection::weight);
}

} // namespace

InspectionParts inspected_parts(const TrainOptions& options) {
  const auto on = [&](const char* metric) { return is_inspected(options.inspect, metric); };
  return {.attention = on("attention_entropy"),
          .importance = on("head_importance"),
          .activations = on("activation_norm"),
          .gradients = on("gradient_norm"),
          .scores = on("score_variance"),
          .states = on("state_norm"),
          .layers = on("rank_residual")};
}

Inspection inspect_model(const Config& config, const Task& task, RunModel& run, Split split, std::int64_t sequences,
                         const InspectionParts& looks, ThreadPool& workers,
                         std::span<const std::unique_ptr<Tape>> tapes, Content content) {
  const std::int64_t all = task.evaluation_sequences(run.format, split);
  sequences = sequences > 0 ? std::min(sequences, all) : all;
  if (sequences == 0) throw Failed("[inspect] the split has no examples");
  Sequences seen(task, run, split, sequences, workers, tapes, content);
  Inspection inspection;
  inspection.sequences = sequences;
  InspectionParts on = looks;
  on.attention = on.attention || on.importance || on.scores || on.states; // needed to find the heads
  if (on.attention || on.activations || on.layers) {
    StatsObserver found = observe(seen, on);
    for (const auto& [name, sums] : found.attentions.entries)
      for (std::size_t h = 0; h < sums.heads.size(); ++h) {
        const HeadSums& head = sums.heads[h];
        const auto queries = static_cast<double>(std::max<std::int64_t>(head.queries, 1));
        HeadInspection& out = inspection.heads.emplace_back();
        out.attention = name;
        out.head = static_cast<std::int64_t>(h);
        out.entropy = head.entropy / queries;
        if (sums.several_queries) out.distance = head.distance / queries;
        if (looks.states) found.states[name].put(out, h);
        if (!looks.scores) continue;
        if (head.later_queries > 0) out.first_key = head.first_key / static_cast<double>(head.later_queries);
        if (h < sums.scores.size()) out.score_variance = sums.scores[h].variance(); // a recurrence has no scores
      }
    for (const auto& [name, sums] : found.outputs.entries)
      inspection.modules.push_back(
          {name, std::sqrt(sums.squares / static_cast<double>(std::max<std::int64_t>(sums.numbers, 1))), {}, {}});
    for (const auto& [name, sums] : found.layers.entries) {
      LayerInspection& out = inspection.layers.emplace_back();
      out.layer = name;
      if (sums.sequences > 0) out.rank_residual = sums.residual / static_cast<double>(sums.sequences);
    }
  }
  if (looks.importance) add_importance(seen, inspection.heads);
  if (looks.layers) add_weight_norms(inspection, run.parameters);
  if (looks.gradients) add_gradients(seen, config.train.shards, inspection);
  return inspection;
}

void add_gradient_norms(Inspection& inspection, const Parameters& parameters, const Real* gradient) {
  add_norms(inspection, parameters, gradient, &ModuleInspection::gradient, &LayerInspection::gradient);
}

std::vector<std::pair<std::string, double>> as_metrics(const Inspection& inspection) {
  std::vector<std::pair<std::string, double>> out;
  const auto each_head = [&](const char* what, auto value) {
    for (const HeadInspection& h : inspection.heads)
      if (const std::optional<double> v = value(h))
        out.emplace_back(fmt::format("{}.{}.{}", what, h.attention, h.head), *v);
  };
  const auto each = [&](const char* what, const auto& parts, auto name, auto value) {
    for (const auto& part : parts)
      if (const std::optional<double>& v = part.*value) out.emplace_back(fmt::format("{}.{}", what, part.*name), *v);
  };
  using M = ModuleInspection;
  using L = LayerInspection;
  each_head("attention_entropy", [](const HeadInspection& h) { return std::optional(h.entropy); });
  each_head("attention_distance", [](const HeadInspection& h) { return h.distance; });
  each_head("head_importance", [](const HeadInspection& h) { return h.importance; });
  each("activation_norm", inspection.modules, &M::module, &M::activation);
  each("gradient_norm", inspection.modules, &M::module, &M::gradient);
  // Newer metrics come last, so that the order of metrics in earlier runs' lines does not change.
  each_head("score_variance", [](const HeadInspection& h) { return h.score_variance; });
  each_head("first_key_weight", [](const HeadInspection& h) { return h.first_key; });
  each("rank_residual", inspection.layers, &L::layer, &L::rank_residual);
  each("layer_gradient_norm", inspection.layers, &L::layer, &L::gradient);
  each("layer_weight_norm", inspection.layers, &L::layer, &L::weight);
  each("weight_norm", inspection.modules, &M::module, &M::weight);
  each_head("half_life", [](const HeadInspection& h) { return h.half_life; });
  each_head("state_norm", [](const HeadInspection& h) { return h.state_norm; });
  each_head("state_rank", [](const HeadInspection& h) { return h.state_rank; });
  return out;
}

std::vector<std::string> inspected_names(const Config& config, const Task& task) {
  RunModel run(config, task);
  run.parameters.initialise(config.init_seed());
  ThreadPool workers(1);
  auto values = as_metrics(inspect_model(config, task, run, Split::validation, 1, inspected_parts(config.train),
                                         workers, {}, Content::outline));
  add_summaries(values);
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

void check_inspection(const Config& config, const Task& task, RunModel& run) {
  const std::string& inspect = config.train.inspect;
  if ((inspect != "attention" && inspect != "heads" && inspect != "scores") ||
      task.evaluation_sequences(run.format, Split::validation) == 0)
    return;
  run.parameters.initialise(config.init_seed());
  ThreadPool workers(1);
  if (inspect_model(config, task, run, Split::validation, 1, {.attention = true}, workers, {}, Content::outline)
          .heads.empty())
    throw Refused(fmt::format("[train] inspect = \"{}\" does nothing where the model has no attention; set it to "
                              "\"norms\" or \"none\"",
                              inspect));
}

} // namespace heed::HEED_REAL
