#include "experiments/report/indented_json.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>

namespace heed {

namespace {

bool is_plain(const boost::json::value& value) { return !value.is_object() && !value.is_array(); }

void write_indented(std::string& out, const boost::json::value& value, std::size_t depth) {
  const std::string pad(2 * (depth + 1), ' '), end(2 * depth, ' ');
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, member] : *object) {
      out += (first ? "" : ",\n") + pad + boost::json::serialize(boost::json::string(key)) + ": ";
      write_indented(out, member, depth + 1);
      first = false;
    }
    out += "\n" + end + "}";
  } else if (const auto* array = value.if_array(); array && !array->empty()) {
    const bool one_line = std::all_of(array->begin(), array->end(), is_plain);
    out += one_line ? "[" : "[\n";
    for (std::size_t i = 0; i < array->size(); ++i) {
      out += i == 0 ? "" : one_line ? ", " : ",\n";
      if (!one_line) out += pad;
      write_indented(out, (*array)[i], depth + 1);
    }
    out += one_line ? "]" : "\n" + end + "]";
  } else if (const double* number = value.if_double()) {
    // Boost would write 1E-1; this writes the shortest text that is read as the same number.
    out += fmt::format("{}", *number);
  } else {
    out += boost::json::serialize(value);
  }
}

} // namespace

std::string indented(const boost::json::value& value) {
  std::string out;
  write_indented(out, value, 0);
  return out + "\n";
}

} // namespace heed
