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

void set_segment_ends(const Config& config, const Task& task, TaskFormat form, TaskSizes& shape) {
  const std::string& text = config.model.segment_end;
  if (text.empty()) return;
  shape.segment_end = tokens_of_end(
      text, shape.vocabulary, task.unknown_input(), [&](std::int32_t t) { return task.token_text(t); },
      [&](std::string_view of) { return task.encode(of); });
  if (form != TaskFormat::sequence_to_sequence) return;
  std::int32_t unknown = -1;
  for (std::int32_t t = 0; t < shape.classes; ++t)
    if (task.is_unknown_output(t)) unknown = t;
  shape.output_segment_end = tokens_of_end(
      text, shape.classes, unknown, [&](std::int32_t t) { return task.output_token_text(t); },
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

// Which of a row's texts have an end before their last token.
struct SegmentsFound {
  bool input = false, output = false;

  void look(const Batch& batch, const TaskSizes& shape) {
    const auto ends_within = [&](const std::vector<std::int32_t>& tokens, std::int32_t length,
                                 std::span<const std::int32_t> end) {
      const auto row = std::span(tokens).first(static_cast<std::size_t>(length));
      const auto found = std::search(row.begin(), row.end(), end.begin(), end.end());
      return row.end() - found > std::ssize(end);
    };
    input = input || ends_within(batch.tokens, batch.lengths[0], shape.segment_end);
    if (batch.form == TaskFormat::sequence_to_sequence)
      output = output || ends_within(batch.outputs, batch.output_lengths[0], shape.output_segment_end);
    else output = true;
  }
};

} // namespace

std::string missing_segment_end(const Config& config, const Task& task) {
  constexpr std::int64_t most_tokens = 1 << 20;
  if (!reads_segments(config)) return "";
  const TaskFormat form = model_info(config.model.kind).form;
  TaskSizes shape = task.shape(form);
  set_segment_ends(config, task, form, shape);
  SegmentsFound found;
  std::int64_t rows = 0;
  Batch batch;
  const auto look = [&](std::int64_t count, const auto& write_row) {
    std::int64_t tokens = 0;
    for (std::int64_t row = 0; row < count && tokens < most_tokens && !(found.input && found.output); ++row, ++rows) {
      batch.reset(1, shape, form);
      write_row(row);
      tokens += batch.real_tokens();
      found.look(batch, shape);
    }
  };
  look(task.evaluation_rows(form, Split::validation),
       [&](std::int64_t row) { task.evaluation_row(form, Split::validation, row, batch, 0); });
  look(task.evaluation_rows(form, Split::train),
       [&](std::int64_t row) { task.evaluation_row(form, Split::train, row, batch, 0); });
  if (found.input && found.output) return "";
  const char* where = form != TaskFormat::sequence_to_sequence ? ""
                      : found.input                            ? " output"
                      : found.output                           ? " input"
                                                               : "";
  return fmt::format("model.segment_end = {} does not occur within the first {}{} rows of validation and training: "
                     "each of them is one segment, so segment_i = segment_j everywhere",
                     value_text(Value(config.model.segment_end)), rows, where);
}

} // namespace heed::HEED_REAL
