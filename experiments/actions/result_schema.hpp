// Results of commands as data: structs whose members have a text each. JSON is made of them by described_json.hpp, and
// the JSON Schema here.
#pragma once

#include "experiments/report/described_json.hpp"

#include <array>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/seq/for_each_i.hpp>
#include <boost/preprocessor/seq/size.hpp>
#include <boost/preprocessor/tuple/elem.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#define HEED_FIELD(r, place, i, field) BOOST_PP_COMMA_IF(i) BOOST_PP_TUPLE_ELEM(2, place, field)

/// HEED_RESULT(Struct, ((member, "what it is"))((member, "what it is"))): its members, in the order of JSON, with their
/// texts in the schema.
#define HEED_RESULT(Struct, fields)                                                                            \
  BOOST_DESCRIBE_STRUCT(Struct, (), (BOOST_PP_SEQ_FOR_EACH_I(HEED_FIELD, 0, fields)))                          \
  constexpr auto texts_of(const Struct*) {                                                                     \
    return std::array<const char*, BOOST_PP_SEQ_SIZE(fields)>{BOOST_PP_SEQ_FOR_EACH_I(HEED_FIELD, 1, fields)}; \
  }

namespace heed {

/// A member that is null in JSON if the text is empty.
inline std::optional<std::string> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

} // namespace heed

namespace heed::described {

template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
template <class T> struct IsMap : std::false_type {};
template <class T> struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T> json::object schema_of();

/// The schema of a described struct: every member is always there, and null if it is not known.
template <class T> json::object schema_of_struct() {
  json::object properties;
  json::array required;
  std::size_t at = 0;
  each_member<T>([&](std::string_view name, auto member) {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*member)>;
    json::object schema = schema_of<Member>();
    if constexpr (requires { texts_of(static_cast<const T*>(nullptr)); })
      schema["description"] = texts_of(static_cast<const T*>(nullptr))[at];
    properties[name] = std::move(schema);
    required.emplace_back(name);
    ++at;
  });
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

/// The JSON Schema of what `value_of` makes of a T. A boost::json::value may be anything.
template <class T> json::object schema_of() {
  if constexpr (IsOptional<T>::value) {
    json::object schema = schema_of<typename T::value_type>();
    return {{"anyOf", json::array{std::move(schema), json::object{{"type", "null"}}}}};
  } else if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
  else if constexpr (std::is_same_v<T, double>) return {{"type", json::array{"number", "null"}}};
  else if constexpr (std::is_integral_v<T>) return {{"type", "integer"}};
  else if constexpr (std::is_same_v<T, std::string>) return {{"type", "string"}};
  else if constexpr (std::is_same_v<T, json::object>) return {{"type", "object"}};
  else if constexpr (std::is_same_v<T, json::array>) return {{"type", "array"}};
  else if constexpr (std::is_same_v<T, json::value>) return {};
  else if constexpr (std::is_enum_v<T>) {
    json::array words;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto word) {
      words.emplace_back(word.name);
    });
    return {{"enum", std::move(words)}};
  } else if constexpr (boost::describe::has_describe_members<T>::value) return schema_of_struct<T>();
  else if constexpr (IsMap<T>::value)
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
  else return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
}

} // namespace heed::described
