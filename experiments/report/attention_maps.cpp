#include "experiments/report/attention_maps.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>

namespace heed {

namespace {

namespace json = boost::json;

const json::value& member(const json::value& object, std::string_view name) {
  const json::value* found = object.is_object() ? object.get_object().if_contains(name) : nullptr;
  if (found == nullptr) throw std::runtime_error(fmt::format("has no \"{}\"", name));
  return *found;
}

const json::array& list(const json::value& object, std::string_view name) {
  const json::array* found = member(object, name).if_array();
  if (found == nullptr) throw std::runtime_error(fmt::format("\"{}\" is not a list", name));
  return *found;
}

std::string text(const json::value& value, std::string_view name) {
  if (!value.is_string()) throw std::runtime_error(fmt::format("\"{}\" is not text", name));
  return std::string(value.get_string());
}

double number(const json::value& value, std::string_view name) {
  if (!value.is_number()) throw std::runtime_error(fmt::format("\"{}\" is not a number", name));
  return value.to_number<double>();
}

std::optional<double> number_or_null(const json::value& object, std::string_view name) {
  const json::value* found = object.get_object().if_contains(name);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return number(*found, name);
}

json::value value_of(std::optional<double> number) { return number ? json::value(*number) : json::value(nullptr); }

std::vector<std::string> tokens(const json::value& object, std::string_view name) {
  std::vector<std::string> out;
  for (const json::value& token : list(object, name)) out.push_back(text(token, name));
  return out;
}

AttentionMap map_of(const json::value& value) {
  AttentionMap map;
  map.module = text(member(value, "module"), "module");
  map.head = static_cast<std::int64_t>(number(member(value, "head"), "head"));
  map.entropy = number_or_null(value, "entropy");
  map.distance = number_or_null(value, "distance");
  map.queries = tokens(value, "queries");
  map.keys = tokens(value, "keys");
  const json::array& rows = list(value, "weights");
  if (rows.size() != map.queries.size())
    throw std::runtime_error(fmt::format("has {} rows of weights for {} queries", rows.size(), map.queries.size()));
  for (const json::value& row : rows) {
    if (!row.is_array() || row.get_array().size() != map.keys.size())
      throw std::runtime_error(fmt::format("has a row of weights that is not one number for each of the {} keys",
                                           map.keys.size()));
    for (const json::value& weight : row.get_array()) map.weights.push_back(number(weight, "weights"));
  }
  return map;
}

/// What is known of how an example was made.
void read_making(const json::object& value, AttentionExample& to) {
  if (const json::value* output = value.if_contains("output")) to.output = text(*output, "output");
  if (const json::value* forced = value.if_contains("forced")) {
    if (!forced->is_bool()) throw std::runtime_error("\"forced\" is neither true nor false");
    to.forced = forced->get_bool();
  }
  if (const json::value* step = value.if_contains("step"))
    to.step = static_cast<std::int64_t>(number(*step, "step"));
  if (const json::value* average = value.if_contains("average"))
    to.average = static_cast<std::int64_t>(number(*average, "average"));
}

/// With five significant digits.
double rounded(double weight) {
  if (weight == 0 || !std::isfinite(weight)) return weight;
  const double unit = std::pow(10.0, 4 - std::floor(std::log10(std::abs(weight))));
  return std::round(weight * unit) / unit;
}

} // namespace

Parsed<std::vector<AttentionExample>> attention_from_json(std::string_view bytes) {
  using Result = Parsed<std::vector<AttentionExample>>;
  std::vector<AttentionExample> examples;
  std::size_t head = 0;
  try {
    const json::value document = json::parse(json::string_view(bytes.data(), bytes.size()));
    for (const json::value& value : list(document, "examples")) {
      AttentionExample example;
      example.input = text(member(value, "input"), "input");
      head = 0;
      for (const json::value& map : list(value, "heads")) {
        ++head;
        example.heads.push_back(map_of(map));
      }
      head = 0;
      read_making(value.get_object(), example);
      examples.push_back(std::move(example));
    }
  } catch (const std::exception& problem) {
    return Result::wrong(fmt::format("example {}{}: {}", examples.size() + 1,
                                     head == 0 ? "" : fmt::format(", entry {} of its heads", head), problem.what()));
  }
  return Result::ok(std::move(examples));
}

json::array attention_array(const std::vector<AttentionExample>& examples) {
  json::array out;
  for (const AttentionExample& example : examples) {
    json::array heads;
    for (const AttentionMap& map : example.heads) {
      json::array rows;
      for (std::size_t q = 0; q < map.queries.size(); ++q) {
        const double* row = map.weights.data() + q * map.keys.size();
        rows.push_back(json::array(row, row + map.keys.size()));
      }
      heads.push_back(json::object{{"module", map.module},
                                   {"head", map.head},
                                   {"entropy", value_of(map.entropy)},
                                   {"distance", value_of(map.distance)},
                                   {"queries", json::array(map.queries.begin(), map.queries.end())},
                                   {"keys", json::array(map.keys.begin(), map.keys.end())},
                                   {"weights", std::move(rows)}});
    }
    json::object made{{"input", example.input}};
    if (example.output) made["output"] = *example.output;
    if (example.output) made["forced"] = example.forced;
    if (example.step) made["step"] = *example.step;
    if (example.step) made["average"] = example.average;
    made["heads"] = std::move(heads);
    out.push_back(std::move(made));
  }
  return out;
}

Parsed<std::vector<AttentionExample>> read_attention(const RunFolder& run) {
  using Result = Parsed<std::vector<AttentionExample>>;
  if (!std::filesystem::exists(run.attention())) return Result::ok({});
  const auto bytes = read_file(run.attention());
  if (!bytes) return Result::wrong(bytes.error);
  auto examples = attention_from_json(*bytes);
  if (!examples) return Result::wrong(fmt::format("'{}' is damaged: {}", run.attention().string(), examples.error));
  return examples;
}

void write_attention(const RunFolder& run, const std::vector<AttentionExample>& examples) {
  std::vector<AttentionExample> kept = examples;
  for (AttentionExample& example : kept)
    for (AttentionMap& map : example.heads) std::ranges::transform(map.weights, map.weights.begin(), rounded);
  write_file(run.attention(), json::serialize(json::object{{"examples", attention_array(kept)}}) + "\n");
}

std::string update_attention(const RunFolder& run,
                             const std::function<void(std::vector<AttentionExample>&)>& change) {
  const auto lock = FileLock::wait(run.path / "attention.lock");
  auto kept = read_attention(run);
  std::vector<AttentionExample> examples = kept ? std::move(*kept) : std::vector<AttentionExample>{};
  change(examples);
  write_attention(run, examples);
  return kept.error;
}

std::vector<AttentionExample> merged(std::vector<AttentionExample> kept, const std::vector<AttentionExample>& fresh) {
  for (const AttentionExample& example : fresh) {
    const auto found = std::ranges::find(kept, example.input, &AttentionExample::input);
    if (found == kept.end()) kept.push_back(example);
    else *found = example;
  }
  return kept;
}

} // namespace heed
