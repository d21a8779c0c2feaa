#include "experiments/report/attention_maps.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/system/lease.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace heed {

namespace {

using namespace json_fields;

/// Numbers that are not finite are written as null, which is read as empty or as NaN.
json::value number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? json::value(*number) : json::value(nullptr);
}

AttentionMap map_of(const json::object& object) {
  AttentionMap map;
  map.module = text(object, "module");
  map.head = integer(object, "head");
  if (const json::value* entropy = given(object, "entropy")) map.entropy = real_or_null(*entropy, "entropy");
  if (const json::value* distance = given(object, "distance")) map.distance = real_or_null(*distance, "distance");
  map.queries = texts(object, "queries");
  map.keys = texts(object, "keys");
  const json::array& rows = list(object, "weights");
  if (rows.size() != map.queries.size())
    throw Wrong{fmt::format("it has {} rows of weights for {} queries", rows.size(), map.queries.size())};
  for (const json::value& row : rows) {
    if (!row.is_array() || row.get_array().size() != map.keys.size())
      throw Wrong{
          fmt::format("it has a row of weights that is not one number for each of the {} keys", map.keys.size())};
    for (const json::value& weight : row.get_array())
      map.weights.push_back(real_or_null(weight, "weights").value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return map;
}

/// Reads the fields that describe how an example was computed.
void read_making(const json::object& object, AttentionExample& to) {
  if (const json::value* output = given(object, "output")) to.output = text(*output, "output");
  if (const json::value* forced = given(object, "forced")) to.forced = boolean(*forced, "forced");
  if (const json::value* step = given(object, "step")) to.step = integer(*step, "step");
  if (const json::value* average = given(object, "average")) to.average = integer(*average, "average");
}

/// Rounds to five significant digits.
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
    const json::value document = parsed(bytes);
    for (const json::value& value : list(as_object(document, "it"), "examples")) {
      const json::object& object = as_object(value, "it");
      AttentionExample example;
      head = 0;
      example.input = text(object, "input");
      for (const json::value& map : list(object, "heads")) {
        ++head;
        example.heads.push_back(map_of(as_object(map, "it")));
      }
      head = 0;
      read_making(object, example);
      examples.push_back(std::move(example));
    }
  } catch (const Wrong& wrong) {
    return Result::wrong(fmt::format("example {}{}: {}", examples.size() + 1,
                                     head == 0 ? "" : fmt::format(", entry {} of its heads", head), wrong.why));
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
        json::array row;
        for (std::size_t k = 0; k < map.keys.size(); ++k)
          row.push_back(number_or_null(map.weights[q * map.keys.size() + k]));
        rows.push_back(std::move(row));
      }
      heads.push_back(json::object{{"module", map.module},
                                   {"head", map.head},
                                   {"entropy", number_or_null(map.entropy)},
                                   {"distance", number_or_null(map.distance)},
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
  const auto bytes = run.attention().read();
  if (bytes.is_missing()) return Result::ok({});
  if (!bytes) return Result::wrong(bytes.error, bytes.problem);
  auto examples = attention_from_json(*bytes);
  if (!examples) return Result::wrong(fmt::format("'{}' is damaged: {}", run.attention().string(), examples.error));
  return examples;
}

void write_attention(const RunFolder& run, const std::vector<AttentionExample>& examples) {
  std::vector<AttentionExample> kept = examples;
  for (AttentionExample& example : kept)
    for (AttentionMap& map : example.heads) std::ranges::transform(map.weights, map.weights.begin(), rounded);
  run.attention().write(json::serialize(json::object{{"examples", attention_array(kept)}}) + "\n");
}

std::string update_attention(const RunFolder& run, const std::function<void(std::vector<AttentionExample>&)>& change) {
  const auto lock = Lease::wait(run.folder() / "attention.claim");
  auto kept = read_attention(run);
  require_readable(kept);
  if (!kept) run.attention().set_aside();
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
