// The parts of the Python module `heed._heed`, each of which adds its functions and classes, and what they share: texts
// that cross to Python, and reports.
#pragma once

#include "experiments/config/values.hpp"

#include <boost/describe/class.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>
#include <vector>

namespace heed {
struct ReportData;
}

namespace heed::python {

/// The exceptions Refused and Failed.
void add_errors(nanobind::module_& module);

/// Reports, and comparisons of results that were made elsewhere.
void add_reports(nanobind::module_& module);
/// Sweeps: plans, their execution, and the reports of their folders.
void add_sweeps(nanobind::module_& module);

/// The runs of a folder, and single runs.
void add_runs(nanobind::module_& module);
class OpenRun;
void add_examinations(nanobind::class_<OpenRun>& run);

/// Attention as an operator of PyTorch.
void add_operators(nanobind::module_& module);

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

/// Adds the described members of a struct to its Python class. Optional ones may be None.
template <class Struct> nanobind::class_<Struct>& with_members(nanobind::class_<Struct>&& type) {
  using Members = boost::describe::describe_members<Struct, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    if constexpr (requires(Struct s) { (s.*member.pointer).has_value(); })
      type.def_rw(member.name, member.pointer, nanobind::arg().none());
    else type.def_rw(member.name, member.pointer);
  });
  return type;
}

/// A report that Python objects share.
struct ReportOfData {
  std::shared_ptr<const ReportData> data;
};

} // namespace heed::python
