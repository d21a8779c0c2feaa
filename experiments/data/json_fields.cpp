#include "experiments/data/json_fields.hpp"

#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstddef>

namespace heed::json_fields {
namespace {

/// Builds a value from the parser's events like `json::parse`, but with exact reals.
struct Builder {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  static constexpr std::size_t steps_of_value = 64; // for polls

  json::value_stack stack;
  PolledWork work;

  bool on_document_begin(json::error_code&) {
    stack.reset();
    return true;
  }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    work.did(steps_of_value);
    return true;
  }
  bool on_object_end(std::size_t members, json::error_code&) {
    stack.push_object(members);
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t entries, json::error_code&) {
    stack.push_array(entries);
    return true;
  }
  bool on_key_part(json::string_view text, std::size_t, json::error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(json::string_view text, std::size_t, json::error_code&) {
    work.did(steps_of_value);
    stack.push_key(text);
    return true;
  }
  bool on_string_part(json::string_view text, std::size_t, json::error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(json::string_view text, std::size_t, json::error_code&) {
    work.did(steps_of_value);
    stack.push_string(text);
    return true;
  }
  // Never called, because there is only one buffer
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view text, json::error_code&) {
    if (number == 0 && text.starts_with('-')) stack.push_double(-0.0); // integers have no -0
    else stack.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
    stack.push_uint64(number);
    return true;
  }
  bool on_double(double near, json::string_view text, json::error_code&) {
    work.did(steps_of_value);
    double exact = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
    stack.push_double(error == std::errc{} && end == text.data() + text.size() ? exact : near);
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

} // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char *p = text.data(), *end = p + text.size(); p != end;) {
    char32_t c = 0;
    const std::size_t size = decode_utf8(p, end, c);
    if (size == 0) out += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(*p));
    else if (is_command(c)) out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    else if (c == U'\n') out += "\\n";
    else if (c == U'\t') out += "\\t";
    else if (c == U'"' || c == U'\\') out.append("\\").append(p, size);
    else out.append(p, size);
    p += std::max<std::size_t>(size, 1);
  }
  return out + "\"";
}

namespace {

void append(std::string& out, const json::value& value) {
  const char* between = "";
  if (const json::object* object = value.if_object()) {
    out += '{';
    for (const auto& [key, member] : *object) {
      out.append(between).append(json_text(key)).append(": ");
      append(out, member);
      between = ", ";
    }
    out += '}';
  } else if (const json::array* array = value.if_array()) {
    out += '[';
    for (const json::value& element : *array) {
      out += between;
      append(out, element);
      between = ", ";
    }
    out += ']';
  } else if (const json::string* text = value.if_string()) {
    out += json_text(*text);
  } else if (const double* number = value.if_double()) {
    out += number_text(*number);
  } else {
    out += json::serialize(value);
  }
}

} // namespace

std::string one_line(const json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

json::value parsed(std::string_view bytes) {
  json::basic_parser<Builder> parser{json::parse_options()};
  json::error_code error;
  const std::size_t read = parser.write_some(false, bytes.data(), bytes.size(), error);
  if (!error && read < bytes.size()) error = json::error::extra_data;
  if (error) throw Wrong{"it is not JSON: " + error.message()};
  return parser.handler().stack.release();
}

} // namespace heed::json_fields
