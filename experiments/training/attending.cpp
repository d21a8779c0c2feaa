#include "experiments/training/attending.hpp"

#include "autograd/error.hpp"
#include "autograd/ops.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/decoding/search.hpp"
#include "experiments/models/block_stack.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/sequence_scores.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

using Tokens = std::vector<std::int32_t>;
using Labels = std::vector<std::string>;

// The recorded weights of one attention; rows of later steps are appended.
struct SeenAttention {
  AttentionPlace place;
  std::int64_t queries = 0, keys = 0;
  std::vector<std::vector<double>> weights; // for each head, [queries, keys]
  std::vector<HeadSums> sums;               // for each head
};

// Records the attention weights of a pass over one sequence.
class Recorder : public Observer {
public:
  bool wants_weights() const override { return true; }

  void weights(const AttentionPlace& attention, const Tensor& w) override {
    SeenAttention& to = of(attention);
    const std::int64_t heads = w.shape[1], queries = w.shape[2], keys = w.shape[3];
    if (to.queries > 0 && to.keys != keys)
      throw Failed(fmt::format("[attend] {} attends to {} keys, and before to {}", attention.module, keys, to.keys));
    to.keys = keys;
    to.weights.resize(static_cast<std::size_t>(heads));
    to.sums.resize(static_cast<std::size_t>(heads));
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i) {
        const Real* row = w.data + h * w.stride[1] + i * w.stride[2];
        for (std::int64_t j = 0; j < keys; ++j)
          to.weights[static_cast<std::size_t>(h)].push_back(static_cast<double>(row[j * w.stride[3]]));
        add_query(to.sums[static_cast<std::size_t>(h)], row, w.stride[3], keys, to.queries + i);
      }
    to.queries += queries;
  }

  std::vector<SeenAttention> seen;

private:
  SeenAttention& of(const AttentionPlace& attention) {
    const auto found = std::ranges::find(seen, attention.module,
                                         [](const SeenAttention& s) -> const std::string& { return s.place.module; });
    if (found != seen.end()) return *found;
    SeenAttention& added = seen.emplace_back();
    added.place = attention;
    return added;
  }
};

// A sequence as the model reads it, with labels for queries and keys.
struct Reading {
  Batch batch;
  Labels input;              // empty for images: the number of patches is not known yet
  Labels read, put_out;      // sequence_to_sequence: decoder input, and target at each position
  std::int64_t sequence = 0; // its number in the split, if it is from a split
  AttentionExample example;
};

Labels labels_of(const Tokens& tokens, const Task& task, std::string (Task::*text)(std::int32_t) const) {
  Labels labels;
  for (const std::int32_t token : tokens) labels.push_back((task.*text)(token));
  return labels;
}

std::string quoted(const std::string& text) { return fmt::format("\"{}\"", text); }

Tokens tokens_of(const Task& task, const std::string& text, const std::string& what,
                 Tokens (Task::*encode)(std::string_view) const, std::int64_t longest) {
  Tokens tokens;
  try {
    require_utf8(text, "it");
    tokens = (task.*encode)(text);
  } catch (const Refused& problem) {
    throw Refused(fmt::format("the {} {} can't be read: {}", what, quoted(text), problem.what()));
  }
  if (std::ssize(tokens) > longest)
    throw Refused(fmt::format("the {} {} has {} tokens, and the longest that this run's model reads has {}", what,
                              quoted(text), tokens.size(), longest));
  return tokens;
}

// The decoder input is the output shifted right by one position.
void read_output(const Task& task, RunModel& run, Tape& tape, const AttentionRequest& request, Reading& to) {
  const std::int64_t room = run.sizes.output_length;
  Tokens put_out;
  bool ended = true;
  if (request.output) {
    put_out = tokens_of(task, *request.output, "output", &Task::encode_output, room - 1);
  } else {
    const SearchOptions greedily{.longest = room, .begin = run.sizes.begin, .end = run.sizes.end};
    const Hypothesis found = search(tape, run.parameters, *run.model, to.batch, greedily).at(0);
    put_out = found.tokens;
    ended = found.ended;
  }
  to.example.output = request.output ? *request.output : task.decode_output(run.format, put_out);
  to.example.forced = request.output.has_value();
  if (ended) put_out.push_back(run.sizes.end);
  Tokens read{run.sizes.begin};
  read.insert(read.end(), put_out.begin(), put_out.end() - 1);
  Batch& batch = to.batch;
  batch.output_length = std::ssize(read);
  batch.outputs = read;
  batch.targets = put_out;
  batch.output_lengths = {static_cast<std::int32_t>(read.size())};
  to.read = labels_of(read, task, &Task::output_token_text);
  to.put_out = labels_of(put_out, task, &Task::output_token_text);
}

Reading read(const Task& task, RunModel& run, Tape& tape, const AttentionRequest& request) {
  if (request.output && run.format != TaskFormat::sequence_to_sequence)
    throw Refused("an output does nothing here: only an encoder-decoder's decoder reads an output; a language model "
                  "reads only its input");
  Reading to;
  to.example.input = request.input;
  to.batch.reset(1, run.sizes, run.format);
  if (run.format == TaskFormat::image_classification) {
    to.sequence = image_index(request.input, task.evaluation_sequences(run.format, Split::validation));
    task.evaluation_sequence(run.format, Split::validation, to.sequence, to.batch, 0);
    task.require_whole();
    return to;
  }
  const Tokens tokens = tokens_of(task, request.input, "input", &Task::encode, run.sizes.length);
  if (tokens.empty())
    throw Refused(fmt::format("the input {} has no tokens; give one at least", quoted(request.input)));
  std::ranges::copy(tokens, to.batch.tokens.begin());
  to.batch.lengths[0] = static_cast<std::int32_t>(tokens.size());
  to.batch.trim();
  to.input = labels_of(tokens, task, &Task::token_text);
  if (run.format == TaskFormat::sequence_to_sequence) read_output(task, run, tape, request, to);
  return to;
}

// Labels for square image patches in row-major order.
Labels patch_labels(const ImageShape& image, std::int64_t count) {
  const double side = std::sqrt(static_cast<double>(image.height * image.width) / static_cast<double>(count));
  const auto columns = std::max<std::int64_t>(1, std::llround(static_cast<double>(image.width) / side));
  Labels labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("{},{}", i / columns, i % columns));
  return labels;
}

struct Axes {
  Labels queries, keys;
  bool same = false; // queries and keys are the same sequence, so distances are defined
};

Axes axes_of(const SeenAttention& seen, const RunModel& run, const Reading& reading) {
  if (seen.place.kind == AttentionPlace::Kind::cross) return {reading.put_out, reading.input, false};
  const bool image = run.format == TaskFormat::image_classification;
  const Labels keys = seen.place.reads == Reads::outputs ? reading.read
                      : image                            ? patch_labels(reading.batch.image, seen.keys)
                                                         : reading.input;
  return seen.place.kind == AttentionPlace::Kind::self ? Axes{keys, keys, true} : Axes{{"<query>"}, keys, false};
}

} // namespace

std::int64_t image_index(const std::string& text, std::int64_t images) {
  std::int64_t index = -1;
  const char* const end = text.data() + text.size();
  const bool begins = text.starts_with("row ");
  const auto read = begins ? std::from_chars(text.data() + 4, end, index) : std::from_chars_result{end, std::errc{}};
  if (!begins || read.ec != std::errc{} || read.ptr != end || index < 0 || index >= images)
    throw Refused(
        fmt::format("the input {} is no image: for a model of images, name an example of the validation split, "
                    "\"row 0\" to \"row {}\"",
                    quoted(text), images - 1));
  return index;
}

AttentionExample attend(const Task& task, RunModel& run, const AttentionRequest& request) {
  Tape tape;
  tape.record(false);
  Reading reading = read(task, run, tape, request);
  tape.rewind();
  Recorder recorder;
  Pass pass(tape, run.parameters, nullptr, {.first_sequence = reading.sequence, .observer = &recorder});
  run.model->logits(pass, reading.batch);
  if (recorder.seen.empty()) throw Refused("the model has no attention, so there are no weights to show");
  AttentionExample& example = reading.example;
  for (const SeenAttention& seen : recorder.seen) {
    const Axes axes = axes_of(seen, run, reading);
    if (std::ssize(axes.queries) != seen.queries || std::ssize(axes.keys) != seen.keys)
      throw Failed(fmt::format("[attend] the weights of {} are [{}, {}], and there are {} and {} tokens",
                               seen.place.module, seen.queries, seen.keys, axes.queries.size(), axes.keys.size()));
    for (std::size_t h = 0; h < seen.weights.size(); ++h) {
      AttentionMap& map = example.heads.emplace_back();
      map.module = seen.place.module;
      map.head = static_cast<std::int64_t>(h);
      map.queries = axes.queries;
      map.keys = axes.keys;
      map.weights = seen.weights[h];
      const HeadSums& sums = seen.sums[h];
      if (sums.queries == 0) continue;
      map.entropy = sums.entropy / static_cast<double>(sums.queries);
      if (axes.same) map.distance = sums.distance / static_cast<double>(sums.queries);
    }
  }
  return std::move(example);
}

namespace {

// Stores the scores of each attention of a pass over one sequence. All have as many queries as keys.
class ScoresObserver final : public SequenceScores {
public:
  /// @param self  the place of self attention
  ScoresObserver(std::string self, std::int64_t length) : self_(std::move(self)), length_(length) {}

  std::vector<AddedScores> seen;

private:
  void query(const AttentionPlace& place, std::int64_t, const Query& scores) override {
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    AddedScores& to = of(place);
    to.heads.resize(static_cast<std::size_t>(scores.heads));
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      std::vector<double>& pairs = to.heads[static_cast<std::size_t>(head)];
      const std::span<const Real> seen_keys = scores.head(head);
      pairs.insert(pairs.end(), seen_keys.begin(), seen_keys.end());
      pairs.insert(pairs.end(), static_cast<std::size_t>(length_ - scores.keys), hidden); // keys that no query sees
    }
  }

  AddedScores& of(const AttentionPlace& place) {
    const std::string name = place.kind == AttentionPlace::Kind::cross ? "cross attention, block 0" : self_;
    const auto found = std::ranges::find(seen, name, &AddedScores::place);
    return found != seen.end() ? *found : seen.emplace_back(AddedScores{name, length_, length_, {}});
  }

  std::string self_;
  std::int64_t length_;
};

// The scores of a stack's first block for zero vectors, and with cross attention to zero vectors.
std::vector<AddedScores> of_stack(const Config& config, const std::string& place, bool crosses, std::int64_t length,
                                  std::int64_t patches_in_row) {
  Config first = config;
  const auto found = std::ranges::find_if(first.layers, has_attention);
  if (found == first.layers.end()) return {};
  std::iter_swap(first.layers.begin(), found);
  first = mixer_of_first_block(std::move(first));
  PositionOptions& position = first.layers.front().position;
  if (std::ranges::count(positions_of_blocks(), position.kind) == 0) position = {.kind = "none"};
  const std::int64_t width = config.model.width;
  Parameters parameters;
  const BlockStack stack(Scope(parameters, init_rules(first)), first,
                         {.longest = length,
                          .memory_width = crosses ? width : 0,
                          .longest_memory = crosses ? length : 0,
                          .patches_in_row = patches_in_row});
  parameters.initialise(config.init_seed());
  std::vector<std::int32_t> halves(static_cast<std::size_t>(length));
  std::fill(halves.begin() + std::ssize(halves) / 2, halves.end(), 1);
  const Segments segments{halves.data(), length};
  const Mask mask{.query_segments = segments, .key_segments = segments};
  ScoresObserver observer(place, length);
  Tape tape;
  tape.record(false);
  Pass pass(tape, parameters, nullptr, {.observer = &observer});
  const Tensor zeros = tape.zeros({1, length, width});
  if (!crosses) {
    stack(pass, zeros, mask);
  } else {
    const auto call = [&](const Block& of, const Tensor& x, Tensor* first_values) {
      return of(pass, x, mask, zeros, mask, first_values);
    };
    stack.through(pass, stack.enter(pass, zeros, 0), call);
  }
  return std::move(observer.seen);
}

} // namespace

std::vector<AddedScores> added_scores(const Config& config, std::int64_t length, std::int64_t patches_in_row) {
  if (config.decoder_layers.empty()) return of_stack(config, "block 0", false, length, patches_in_row);
  std::vector<AddedScores> out = of_stack(encoder_config(config), "encoder, block 0", false, length, 0);
  std::ranges::move(of_stack(decoder_config(config), "decoder, block 0", true, length, 0), std::back_inserter(out));
  return out;
}

namespace {

// Looks at the scores of a pass over one sequence.
class KeylessQueries final : public SequenceScores {
public:
  explicit KeylessQueries(const Batch& batch) : batch_(batch) {}

  std::vector<QueryWithoutKeys> found() const {
    std::vector<QueryWithoutKeys> out;
    std::ranges::copy_if(seen_, std::back_inserter(out), [](const QueryWithoutKeys& seen) { return seen.count > 0; });
    return out;
  }

private:
  void query(const AttentionPlace& place, std::int64_t position, const Query& scores) override {
    if (place.kind == AttentionPlace::Kind::pooling || position >= length_of(place)) return;
    QueryWithoutKeys& seen = of(place);
    ++seen.queries;
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      if (!std::ranges::all_of(scores.head(head), [](Real x) { return std::isinf(x) && x < 0; })) continue;
      if (seen.count++ == 0) std::tie(seen.query, seen.head) = std::pair(position, head);
      return;
    }
  }

  QueryWithoutKeys& of(const AttentionPlace& place) {
    const auto found = std::ranges::find(seen_, place.module, &QueryWithoutKeys::attention);
    if (found != seen_.end()) return *found;
    return seen_.emplace_back(QueryWithoutKeys{.attention = place.module,
                                               .cross = place.kind == AttentionPlace::Kind::cross});
  }

  // The number of queries that are no padding.
  std::int64_t length_of(const AttentionPlace& place) const {
    const auto& lengths = place.reads == Reads::outputs ? batch_.output_lengths : batch_.lengths;
    return lengths.empty() ? std::numeric_limits<std::int64_t>::max() : lengths.front();
  }

  const Batch& batch_;
  std::vector<QueryWithoutKeys> seen_;
};

} // namespace

std::vector<QueryWithoutKeys> queries_without_keys(const Config& config, const Task& task) {
  RunModel run(config, task);
  if (task.evaluation_sequences(run.format, Split::validation) == 0) return {};
  run.parameters.initialise(config.init_seed());
  Batch batch;
  fill_evaluation_batch(task, run, Split::validation, 0, 1, batch);
  if (run.sizes.varied) batch.trim(); // as in training
  KeylessQueries observer(batch);
  Tape tape;
  tape.record(false);
  Pass pass(tape, run.parameters, nullptr, {.observer = &observer});
  run.model->logits(pass, batch);
  return observer.found();
}

} // namespace heed::HEED_REAL
