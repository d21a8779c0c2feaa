#include "experiments/report/example_scores.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/statistics/summary.hpp"

#include <array>
#include <fmt/format.h>
#include <numbers>
#include <utility>

namespace heed {

namespace {

using namespace json_fields;

/// What a metric is the mean of: the sum of an example, and how many it is a sum of.
using Sum = std::pair<double, double> (*)(const ExampleScore&);

Sum sum_of(const std::string& metric) {
  static const std::array<std::pair<std::string, Sum>, 4> sums{
      {{"val_loss", [](const ExampleScore& of) { return std::pair(of.loss, static_cast<double>(of.loss_targets)); }},
       {"val_bits_per_character",
        [](const ExampleScore& of) {
          return std::pair(of.loss / std::numbers::ln2, static_cast<double>(of.loss_targets));
        }},
       {"val_accuracy",
        [](const ExampleScore& of) {
          return std::pair(static_cast<double>(of.right), static_cast<double>(of.targets));
        }},
       {"val_sequence_accuracy", [](const ExampleScore& of) { return std::pair(of.whole_right ? 1.0 : 0.0, 1.0); }}}};
  for (const auto& [name, sum] : sums)
    if (name == metric) return sum;
  return nullptr;
}

std::int64_t count_in(const json::value& value, const char* key) {
  const std::int64_t number = integer(value, key);
  if (number < 0) throw Wrong{fmt::format("\"{}\" has a number below 0", key)};
  return number;
}

ExampleScores scores_from_json(std::string_view bytes) {
  const json::value document = parsed(bytes);
  const json::object& object = as_object(document, "it");
  ExampleScores scores{.step = integer(object, "step"), .examples = {}};
  const json::array &losses = list(object, "loss"), &loss_targets = list(object, "loss_targets"),
                    &targets = list(object, "targets"), &right = list(object, "right"),
                    &whole_right = list(object, "whole_right");
  for (const json::array* other : {&loss_targets, &targets, &right, &whole_right})
    if (other->size() != losses.size()) throw Wrong{"its lists differ in length"};
  for (std::size_t i = 0; i < losses.size(); ++i)
    scores.examples.push_back({real(losses[i], "loss"), count_in(loss_targets[i], "loss_targets"),
                               count_in(targets[i], "targets"), count_in(right[i], "right"),
                               boolean(whole_right[i], "whole_right")});
  return scores;
}

} // namespace

std::vector<double> values_of_examples(const std::vector<ExampleScore>& examples, const std::string& metric) {
  const Sum sum = sum_of(metric);
  if (!sum) return {};
  double total = 0, count = 0;
  for (const ExampleScore& example : examples) {
    const auto [part, of] = sum(example);
    total += part;
    count += of;
  }
  if (!(count > 0)) return {};
  const double mean = total / count, mean_count = count / static_cast<double>(examples.size());
  std::vector<double> out;
  for (const ExampleScore& example : examples) {
    const auto [part, of] = sum(example);
    out.push_back(mean + (part - of * mean) / mean_count);
  }
  return out;
}

Parsed<ExampleScores> read_example_scores(const RunFolder& run) {
  using Result = Parsed<ExampleScores>;
  const auto bytes = run.examples().read();
  if (bytes.is_missing()) return Result::ok({});
  if (!bytes) return Result::wrong(bytes.error, bytes.problem);
  try {
    return Result::ok(scores_from_json(*bytes));
  } catch (const Wrong& wrong) {
    return Result::wrong(fmt::format("'{}' is damaged: {}", run.examples().string(), wrong.why));
  }
}

void write_example_scores(const RunFolder& run, const ExampleScores& scores) {
  json::array loss, loss_targets, targets, right, whole_right;
  for (const ExampleScore& example : scores.examples) {
    loss.push_back(example.loss);
    loss_targets.push_back(example.loss_targets);
    targets.push_back(example.targets);
    right.push_back(example.right);
    whole_right.push_back(example.whole_right);
  }
  run.examples().write(json::serialize(json::object{{"step", scores.step},
                                                    {"loss", std::move(loss)},
                                                    {"loss_targets", std::move(loss_targets)},
                                                    {"targets", std::move(targets)},
                                                    {"right", std::move(right)},
                                                    {"whole_right", std::move(whole_right)}}) +
                       "\n");
}

} // namespace heed
