#include "experiments/models/segments.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/models/model.hpp"
#include "experiments/models/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {
namespace {

// The tokens of [model] segment_end: the token with this text as its label, or the tokens that the text consists of.
// Throws heed::Refused if the vocabulary does not have it.
std::vector<std::int32_t> tokens_of_end(const std::string& text, std::int64_t vocabulary, std::int32_t unknown,
                                        const std::function<std::string(std::int32_t)>& label,
                                        const std::function<std::vector<std::int32_t>(std::string_view)>& encode) {
  const auto refuse = [&](const std::string& why) {
    throw Refused(fmt::format("[model] segment_end = {} {}; choose text that ends a segment in the data, or leave "
                              "segment_i and segment_j out of the formulas",
                              value_text(Value(text)), why));
  };
  std::vector<std::int32_t> labelled;
  for (std::int32_t token = 0; token < vocabulary; ++token)
    if (label(token) == text) labelled.push_back(token);
  if (labelled.size() == 1) return labelled;
  std::vector<std::int32_t> tokens;
  try {
    tokens = encode(text);
  } catch (const Refused& e) {
    refuse(fmt::format("is not in the vocabulary ({})", e.what()));
  }
  if (tokens.empty()) refuse("has no tokens: the vocabulary drops it");
  if (unknown >= 0 && std::ranges::count(tokens, unknown) > 0) refuse("is not in the vocabulary");
  return tokens;
}

} // namespace

void set_segment_ends(const Config& config, const Task& task, TaskFormat format, TaskSizes& sizes) {
  const std::string& text = config.model.segment_end;
  if (text.empty()) return;
  sizes.segment_end = tokens_of_end(
      text, sizes.vocabulary, task.unknown_input(), [&](std::int32_t t) { return task.token_text(t); },
      [&](std::string_view of) { return task.encode(of); });
  if (format != TaskFormat::sequence_to_sequence) return;
  std::int32_t unknown = -1;
  for (std::int32_t t = 0; t < sizes.classes; ++t)
    if (task.is_unknown_output(t)) unknown = t;
  sizes.output_segment_end = tokens_of_end(
      text, sizes.classes, unknown, [&](std::int32_t t) { return task.output_token_text(t); },
      [&](std::string_view of) { return task.encode_output(of); });
}

void write_segments(std::span<const std::int32_t> tokens, std::span<const std::int32_t> end, std::int32_t* to) {
  std::int32_t segment = 0;
  std::size_t begin = 0; // of the tokens in which the next end may be
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    to[t] = segment;
    const std::size_t next = t + 1;
    if (end.empty() || next - begin < end.size()) continue;
    if (!std::ranges::equal(tokens.subspan(next - end.size(), end.size()), end)) continue;
    ++segment;
    begin = next;
  }
}

namespace {

// Which of a sequence's texts have an end before their last token.
struct SegmentsFound {
  bool input = false, output = false;

  void look(const Batch& batch, const TaskSizes& sizes) {
    const auto ends_within = [&](const std::vector<std::int32_t>& tokens, std::int32_t length,
                                 std::span<const std::int32_t> end) {
      const auto sequence = std::span(tokens).first(static_cast<std::size_t>(length));
      const auto found = std::search(sequence.begin(), sequence.end(), end.begin(), end.end());
      return sequence.end() - found > std::ssize(end);
    };
    input = input || ends_within(batch.tokens, batch.lengths[0], sizes.segment_end);
    if (batch.format == TaskFormat::sequence_to_sequence)
      output = output || ends_within(batch.outputs, batch.output_lengths[0], sizes.output_segment_end);
    else output = true;
  }
};

} // namespace

std::string missing_segment_end(const Config& config, const Task& task) {
  constexpr std::int64_t most_tokens = 1 << 20;
  if (!reads_segments(config)) return "";
  const TaskFormat format = model_info(config.model.kind).format;
  TaskSizes sizes = task.sizes(format);
  set_segment_ends(config, task, format, sizes);
  SegmentsFound found;
  std::int64_t sequences = 0;
  Batch batch;
  const auto look = [&](std::int64_t count, const auto& write_sequence) {
    std::int64_t tokens = 0;
    for (std::int64_t sequence = 0; sequence < count && tokens < most_tokens && !(found.input && found.output);
         ++sequence, ++sequences) {
      batch.reset(1, sizes, format);
      write_sequence(sequence);
      tokens += batch.real_tokens();
      found.look(batch, sizes);
    }
  };
  look(task.evaluation_sequences(format, Split::validation),
       [&](std::int64_t sequence) { task.evaluation_sequence(format, Split::validation, sequence, batch, 0); });
  look(task.evaluation_sequences(format, Split::train),
       [&](std::int64_t sequence) { task.evaluation_sequence(format, Split::train, sequence, batch, 0); });
  if (found.input && found.output) return "";
  const char* where = format != TaskFormat::sequence_to_sequence ? ""
                      : found.input                              ? " output"
                      : found.output                             ? " input"
                                                                 : "";
  return fmt::format(
      "model.segment_end = {} does not occur within the first {}{} sequences of validation and training: "
      "each of them is one segment, so segment_i = segment_j everywhere",
      value_text(Value(config.model.segment_end)), sequences, where);
}

} // namespace heed::HEED_REAL
