// Heed's errors as Python's exceptions.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/diagnostics.hpp"
#include "experiments/config/problems.hpp"
#include "experiments/report/described_json.hpp"

#include <boost/json.hpp>
#include <exception>
#include <nanobind/stl/string.h>
#include <string>

namespace nb = nanobind;

namespace heed::python {

namespace {

struct ErrorTypes {
  PyObject *refused, *failed;
};

/// Sets Python's exception. Messages may have bytes from files of other people.
void translate(const std::exception_ptr& error, void* payload) {
  const auto& types = *static_cast<const ErrorTypes*>(payload);
  try {
    std::rethrow_exception(error);
  } catch (const RefusedConfig& refused) { // its errors one by one: `problems`
    const nb::object exception = nb::borrow(types.refused)(safe_text(refused.what()));
    nb::list problems;
    for (const std::string& problem : refused.problems) problems.append(safe_text(problem));
    exception.attr("problems") = problems;
    PyErr_SetObject(types.refused, exception.ptr());
  } catch (const Refused& refused) {
    PyErr_SetObject(types.refused, safe_text(refused.what()).ptr());
  } catch (const Failed& failed) {
    PyErr_SetObject(types.failed, safe_text(failed.what()).ptr());
  }
}

} // namespace

void add_errors(nb::module_& module) {
  static ErrorTypes types{};
  types.refused = nb::exception<Refused>(module, "Refused", PyExc_ValueError).release().ptr();
  types.failed = nb::exception<Failed>(module, "Failed", PyExc_RuntimeError).release().ptr();
  nb::register_exception_translator(translate, &types);
  module.def(
      "diagnostic",
      [](const std::string& message) {
        return safe_text(boost::json::serialize(described::value_of(diagnostic_of(message))));
      },
      nb::arg("message"));
}

} // namespace heed::python
