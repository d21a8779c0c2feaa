// Values of a report as JSON.
#pragma once

#include "experiments/report/digits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/statistics/comparison.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// Null for an unknown number, and for one that is not finite, which JSON does not have.
inline boost::json::value json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? boost::json::value(*value) : boost::json::value(nullptr);
}

inline boost::json::value json_interval(const std::optional<statistics::Interval>& of) {
  if (!of) return nullptr;
  return boost::json::array{json_number(of->low), json_number(of->high)};
}

template <class Items> boost::json::array json_list(const Items& items) {
  return boost::json::array(items.begin(), items.end());
}

inline boost::json::value text_or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(text);
}

inline boost::json::object json_digits(const Digits& digits) {
  return {{"value", digits.value}, {"difference", digits.difference}};
}

} // namespace heed
