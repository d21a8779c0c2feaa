// Reading members of JSON objects that someone may have edited: what is missing or of another type is `Wrong`, which
// the reader of the whole file catches.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace heed::json_fields {

namespace json = boost::json;

struct Wrong {
  std::string why;
};

inline const json::value& needed(const json::object& object, std::string_view key) {
  if (const json::value* value = object.if_contains({key.data(), key.size()})) return *value;
  throw Wrong{fmt::format("it has no \"{}\"", key)};
}

inline std::string text(const json::object& object, std::string_view key) {
  const json::string* string = needed(object, key).if_string();
  if (!string) throw Wrong{fmt::format("\"{}\" is not a text", key)};
  return std::string(*string);
}

inline std::int64_t integer(const json::value& value, std::string_view key) {
  const std::int64_t* number = value.if_int64();
  if (!number) throw Wrong{fmt::format("\"{}\" is not a whole number", key)};
  return *number;
}

inline const json::array& list(const json::object& object, std::string_view key) {
  const json::array* array = needed(object, key).if_array();
  if (!array) throw Wrong{fmt::format("\"{}\" is not a list", key)};
  return *array;
}

inline const json::object& as_object(const json::value& value, std::string_view what) {
  const json::object* object = value.if_object();
  if (!object) throw Wrong{fmt::format("{} is not an object", what)};
  return *object;
}

/// A text as JSON writes it.
inline std::string json_text(std::string_view text) { return json::serialize(json::string(text)); }

/// The object that some bytes are. Throws Wrong.
inline json::value parsed(std::string_view bytes) {
  json::error_code error;
  json::value value = json::parse({bytes.data(), bytes.size()}, error);
  if (error) throw Wrong{"it is not JSON: " + error.message()};
  return value;
}

} // namespace heed::json_fields
