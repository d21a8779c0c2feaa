// The parts of the Python module `heed._heed`. Each adds its functions and classes.
#pragma once

#include <nanobind/nanobind.h>

namespace heed::python {

/// Reports, and comparisons of results that were made elsewhere.
void add_reports(nanobind::module_& module);
/// Sweeps: plans, their execution, and the reports of their folders.
void add_sweeps(nanobind::module_& module);

} // namespace heed::python
