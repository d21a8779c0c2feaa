// The Python module `heed._heed`: Heed's library, for the package in python/heed/.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/command_line/build.hpp"
#include "experiments/config/problems.hpp"
#include "experiments/system/program.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <dlfcn.h>

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

/// The exception of a refused configuration also has its errors one by one: `problems`.
void refuse_configs(const nb::object& refused) {
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const heed::RefusedConfig& error) {
          const nb::object exception = nb::borrow(static_cast<PyObject*>(type))(nb::str(error.what()));
          exception.attr("problems") = nb::cast(error.problems);
          PyErr_SetObject(static_cast<PyObject*>(type), exception.ptr());
        }
      },
      refused.ptr());
}

} // namespace

NB_MODULE(_heed, module) {
  module.doc() = "Heed's library. Use the package `heed`, which has the documentation.";
  show_symbols_to_engines();
  static const nb::object refused = nb::exception<heed::Refused>(module, "Refused", PyExc_ValueError);
  refuse_configs(refused);
  nb::exception<heed::Failed>(module, "Failed", PyExc_RuntimeError);
  module.def("version", heed::version_text);
  module.def("set_program", heed::set_program, nb::arg("program"));
  heed::python::add_reports(module);
  heed::python::add_sweeps(module);
}
