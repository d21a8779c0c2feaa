// Described structs (Boost.Describe) as JSON, with numbers that are not finite as null.
#pragma once

#include "experiments/report/json.hpp"
#include "experiments/system/polling.hpp"

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <string>
#include <type_traits>

namespace heed::described {

namespace json = boost::json;

/// Calls `use` with the name and the pointer of each described member of T, in their order.
template <class T, class Use> void each_member(const Use& use) {
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>([&](auto member) {
    use(std::string_view(member.name), member.pointer);
  });
}

template <class T> json::object object_of(const T& value);

/// A described struct is an object, an enumerator its name, and other items of several are lists. A type can have an
/// overload of its own, `to_described`.
template <class T> json::value value_of(const T& value) {
  if constexpr (requires { to_described(value); }) return to_described(value);
  else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) return json_number(value);
  else if constexpr (std::is_convertible_v<const T&, json::value>) return value;
  else if constexpr (requires { *value, value.has_value(); }) return value ? value_of(*value) : json::value(nullptr);
  else if constexpr (std::is_enum_v<T>) return boost::describe::enum_to_string(value, "");
  else if constexpr (boost::describe::has_describe_members<T>::value) return object_of(value);
  else if constexpr (requires { typename T::mapped_type; }) {
    json::object out;
    for (const auto& [key, item] : value) out[key] = value_of(item);
    return out;
  } else if constexpr (requires { value.size(); } && !std::is_same_v<T, std::string>) {
    json::array out;
    out.reserve(value.size());
    for (const auto& item : value) out.push_back(value_of(item));
    return out;
  } else return json::value_from(value);
}

/// The caller can stop it (PollScope).
template <class T> json::object object_of(const T& value) {
  poll_caller();
  json::object out;
  each_member<T>([&](std::string_view name, auto member) { out[name] = value_of(value.*member); });
  return out;
}

/// Adds a list over the points for each of their described members. @param at  what the member `at` is called
template <class Points> void add_lists(json::object& out, const Points& points, std::string_view at = "at") {
  each_member<typename Points::value_type>([&](std::string_view name, auto member) {
    json::array& list = out[name == "at" ? at : name].emplace_array();
    for (const auto& point : points) list.push_back(value_of(point.*member));
  });
}

} // namespace heed::described
