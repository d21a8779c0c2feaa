// The parts of the Python module `heed._heed`. Each adds its functions and classes.
#pragma once

#include <nanobind/nanobind.h>

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

} // namespace heed::python
