// Reads members of JSON objects that somebody may have edited. A missing member or a wrong type throws `Wrong`, which
// the reader of the whole file catches. Each type is read from a value or from a member of an object. Texts are
// returned unchanged: code that prints them or writes them for people must call without_controls().
#pragma once

#include "experiments/config/values.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::json_fields {

namespace json = boost::json;

struct Wrong {
  std::string why;
};

/// The member; null if the object does not have it.
inline const json::value* given(const json::object& object, std::string_view key) {
  return object.if_contains({key.data(), key.size()});
}

inline const json::value& needed(const json::object& object, std::string_view key) {
  if (const json::value* value = given(object, key)) return *value;
  throw Wrong{fmt::format("it has no \"{}\"", key)};
}

inline std::string text(const json::value& value, std::string_view key) {
  const json::string* string = value.if_string();
  if (!string) throw Wrong{fmt::format("\"{}\" is not a text", cut(key))};
  return std::string(*string);
}

/// A text that only people read, without terminal commands, and cut if it is longer than any message.
inline std::string text_for_people(const json::value& value, std::string_view key) {
  return cut(without_controls(text(value, key)), longest_message);
}

inline std::int64_t integer(const json::value& value, std::string_view key) {
  const std::int64_t* number = value.if_int64();
  if (!number) throw Wrong{fmt::format("\"{}\" is not a whole number", cut(key))};
  return *number;
}

inline double real(const json::value& value, std::string_view key) {
  json::error_code error;
  const double number = value.to_number<double>(error);
  if (error) throw Wrong{fmt::format("\"{}\" is not a number", cut(key))};
  if (!std::isfinite(number)) throw Wrong{fmt::format("\"{}\" is greater than any number", cut(key))}; // 1e999
  return number;
}

inline std::optional<double> real_or_null(const json::value& value, std::string_view key) {
  return value.is_null() ? std::nullopt : std::optional(real(value, key));
}

inline bool boolean(const json::value& value, std::string_view key) {
  const bool* is = value.if_bool();
  if (!is) throw Wrong{fmt::format("\"{}\" is neither true nor false", key)};
  return *is;
}

inline const json::array& list(const json::value& value, std::string_view key) {
  const json::array* array = value.if_array();
  if (!array) throw Wrong{fmt::format("\"{}\" is not a list", key)};
  return *array;
}

inline const json::object& as_object(const json::value& value, std::string_view what) {
  const json::object* object = value.if_object();
  if (!object) throw Wrong{fmt::format("{} is not an object", what)};
  return *object;
}

inline std::string text(const json::object& object, std::string_view key) { return text(needed(object, key), key); }
inline std::int64_t integer(const json::object& object, std::string_view key) {
  return integer(needed(object, key), key);
}
inline double real(const json::object& object, std::string_view key) { return real(needed(object, key), key); }
inline bool boolean(const json::object& object, std::string_view key) { return boolean(needed(object, key), key); }
inline const json::array& list(const json::object& object, std::string_view key) {
  return list(needed(object, key), key);
}
inline std::vector<std::string> texts(const json::object& object, std::string_view key) {
  std::vector<std::string> out;
  for (const json::value& value : list(object, key)) out.push_back(text(value, key));
  return out;
}

/// A text as a JSON string that reads back as the same text. Terminal commands are escaped, so a terminal can show the
/// file safely. JSON cannot contain bytes that are not UTF-8; they are written as without_controls() writes them.
std::string json_text(std::string_view text);

/// A value on one line, in the format of Heed's records: "{"key": 1, "list": [0.5, null]}". Texts are formatted by
/// `json_text`, reals by `number_text`.
std::string one_line(const json::value& value);

/// Parses JSON. Each real is the nearest double, so the shortest text of a number reads back as the same number,
/// including -0. Boost's own reader is wrong in the last bit for about one number in twelve. Throws Wrong.
json::value parsed(std::string_view bytes);

/// The shortest text that reads back as the same number; "null" for NaN and infinities, which JSON cannot represent.
inline std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

/// A real number; null is read as NaN.
inline double any_real(const json::value& value, std::string_view key) {
  return real_or_null(value, key).value_or(std::numeric_limits<double>::quiet_NaN());
}

inline json::object parse_object(std::string_view bytes) {
  json::value value = parsed(bytes);
  if (!value.is_object()) throw Wrong{"it is not a JSON object"};
  return std::move(value.as_object());
}

/// Calls `read(value)` if the object has the key. Records of other versions may lack it.
template <class Read> void where_given(const json::object& object, std::string_view key, Read read) {
  if (const json::value* value = given(object, key)) read(*value);
}

/// The result of `read`, or the message of the `Wrong` that it threw.
template <class T, class Read> Parsed<T> guarded(Read read) {
  try {
    return Parsed<T>::ok(read());
  } catch (const Wrong& wrong) {
    return Parsed<T>::wrong(wrong.why);
  }
}

} // namespace heed::json_fields
