#include "experiments/report/attention_maps.hpp"

#include <boost/json.hpp>
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
      examples.push_back(std::move(example));
    }
  } catch (const std::exception& problem) {
    return Result::wrong(fmt::format("example {}{}: {}", examples.size() + 1,
                                     head == 0 ? "" : fmt::format(", entry {} of its heads", head), problem.what()));
  }
  return Result::ok(std::move(examples));
}

} // namespace heed
