// The Python module `heed._heed`: Heed's library, for the package in python/heed/.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/build.hpp"
#include "experiments/actions/schemas.hpp"
#include "experiments/system/program.hpp"
#include "python/bindings/interrupts.hpp"

#include <boost/json.hpp>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <dlfcn.h>
#include <string>

namespace nb = nanobind;

namespace {

/// Python loads a module so that no other library sees its symbols. Engines take theirs from the program, which this
/// module stands in for (engines/engine_module.hpp).
void show_symbols_to_engines() {
  Dl_info here = {};
  if (dladdr(reinterpret_cast<void*>(&show_symbols_to_engines), &here) == 0 ||
      dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr)
    throw heed::Failed("Heed's library does not find itself");
}

/// A text that a terminal can print safely. Paths may have bytes that are not UTF-8.
nb::str shown(const nb::str& text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (!bytes) { // half a pair of surrogates
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace");
  }
  const auto owned = nb::steal<nb::bytes>(bytes);
  return heed::python::safe_text({owned.c_str(), owned.size()});
}

} // namespace

NB_MODULE(_heed, module) {
  module.doc() = "Heed's library. Use the package `heed`, which has the documentation.";
  // At exit, threads of the user and operators of PyTorch may still hold objects.
  nb::set_leak_warnings(false);
  show_symbols_to_engines();
  heed::python::stop_work_at_exit();
  heed::python::add_errors(module);
  module.def("shown", shown);
  module.def("version", heed::version_text);
  module.def(
      "schema",
      [](const std::string& name) { return heed::python::safe_text(boost::json::serialize(heed::schema_named(name))); },
      nb::arg("name"));
  module.def("set_program", heed::set_program, nb::arg("program"));
  heed::python::add_reports(module);
  heed::python::add_operators(module);
  heed::python::add_runs(module);
  heed::python::add_sweeps(module);
}
