// Texts that cross to Python.
#pragma once

#include "experiments/config/values.hpp"

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace heed::python {

/// A text as it is. Bytes that are not UTF-8 become U+FFFD.
inline nanobind::str text_of(std::string_view text) {
  return nanobind::steal<nanobind::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                                             "replace"));
}

/// A text that a terminal can print safely, for messages and labels: files of other people may have control characters.
inline nanobind::str safe_text(std::string_view text) { return text_of(without_controls(text)); }

inline nanobind::list safe_texts(const std::vector<std::string>& texts) {
  nanobind::list out;
  for (const std::string& text : texts) out.append(safe_text(text));
  return out;
}

} // namespace heed::python
