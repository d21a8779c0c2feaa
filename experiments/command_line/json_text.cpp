#include "experiments/command_line/json_text.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace heed {

namespace {

bool is_plain(const boost::json::value& value) { return !value.is_object() && !value.is_array(); }

void write(std::string& out, const boost::json::value& value, std::size_t depth) {
  const std::string pad(2 * (depth + 1), ' '), end(2 * depth, ' ');
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, member] : *object) {
      out += (first ? "" : ",\n") + pad + boost::json::serialize(boost::json::string(key)) + ": ";
      write(out, member, depth + 1);
      first = false;
    }
    out += "\n" + end + "}";
  } else if (const auto* array = value.if_array(); array && !array->empty()) {
    const bool one_line = std::all_of(array->begin(), array->end(), is_plain);
    out += one_line ? "[" : "[\n";
    for (std::size_t i = 0; i < array->size(); ++i) {
      out += i == 0 ? "" : one_line ? ", " : ",\n";
      if (!one_line) out += pad;
      write(out, (*array)[i], depth + 1);
    }
    out += one_line ? "]" : "\n" + end + "]";
  } else if (const double* number = value.if_double()) {
    // Boost would write 1E-1; this writes the shortest text that is read as the same number.
    out += fmt::format("{}", *number);
  } else {
    out += boost::json::serialize(value);
  }
}

boost::json::value number_or_null(std::optional<double> value) {
  return value ? boost::json::value(*value) : boost::json::value();
}

} // namespace

std::string indented(const boost::json::value& value) {
  std::string out;
  write(out, value, 0);
  return out + "\n";
}

bool is_localised(const HeadInspection& head) { return head.distance && *head.distance < localised_below; }

boost::json::object inspection_json(const Inspection& found) {
  boost::json::array heads, modules, layers;
  for (const HeadInspection& h : found.heads)
    heads.push_back(boost::json::object{{"attention", h.attention},
                                        {"head", h.head},
                                        {"entropy", h.entropy},
                                        {"distance", number_or_null(h.distance)},
                                        {"importance", number_or_null(h.importance)},
                                        {"first_key", number_or_null(h.first_key)},
                                        {"score_variance", number_or_null(h.score_variance)},
                                        {"localised", is_localised(h)}});
  for (const ModuleInspection& m : found.modules)
    modules.push_back(boost::json::object{{"module", m.module},
                                          {"activation", number_or_null(m.activation)},
                                          {"gradient", number_or_null(m.gradient)},
                                          {"weight", number_or_null(m.weight)}});
  for (const LayerInspection& l : found.layers)
    layers.push_back(boost::json::object{{"layer", l.layer},
                                         {"rank_residual", number_or_null(l.rank_residual)},
                                         {"gradient", number_or_null(l.gradient)},
                                         {"weight", number_or_null(l.weight)}});
  return {{"heads", std::move(heads)}, {"layers", std::move(layers)}, {"modules", std::move(modules)}};
}

} // namespace heed
