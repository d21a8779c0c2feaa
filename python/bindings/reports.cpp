// Reports as Python objects: their document and all formats. `compare` makes one from a table.
#include "python/bindings/bindings.hpp"

#include "experiments/report/json.hpp"
#include "experiments/report/own_report.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/user_file.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/report.hpp"
#include "python/bindings/texts.hpp"

#include <boost/json/serialize.hpp>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace heed::python {
namespace {

/// A table of texts. Row i is entry i, counted from 1.
ResultTable table_of_columns(const std::string& name, const std::string& counted,
                             const std::vector<std::string>& columns,
                             const std::vector<std::vector<std::string>>& rows) {
  ResultTable table{.name = name, .counted = counted, .columns = columns, .rows = {}};
  table.rows.reserve(rows.size());
  for (const auto& cells : rows)
    table.rows.push_back({.line = static_cast<std::int64_t>(table.rows.size()) + 1, .cells = cells});
  return table;
}

/// Writes a report to a file that the user named.
void write_report(const nb::bytes& path, const std::string& text, bool force) {
  UserFile file(std::string(path.c_str(), path.size()),
                {.is_own = is_report_of_heed, .force = force, .option = "force=True"});
  without_lock([&](SignalCheck&) { file.write(file.is_terminal() ? without_controls(text) : text); });
}

void add_question(nb::module_& module) {
  nb::class_<ResultQuestion>(module, "ResultQuestion")
      .def("__init__",
           [](ResultQuestion* at) {
             ResultQuestion question;
             question.options_are_arguments = true;
             new (at) ResultQuestion(std::move(question));
           })
      .def_rw("metrics", &ResultQuestion::metrics)
      .def_rw("reference", &ResultQuestion::reference)
      .def_rw("arm", &ResultQuestion::arm)
      .def_rw("pair", &ResultQuestion::pair)
      .def_rw("group", &ResultQuestion::group)
      .def_rw("seed", &ResultQuestion::seed)
      .def_rw("step", &ResultQuestion::step)
      .def_rw("state", &ResultQuestion::state)
      .def_rw("time", &ResultQuestion::time)
      .def_rw("parameters", &ResultQuestion::parameters)
      .def_rw("run_name", &ResultQuestion::run_name)
      .def_rw("direction", &ResultQuestion::direction)
      .def_rw("bounds", &ResultQuestion::bounds)
      .def_rw("unit", &ResultQuestion::unit)
      .def_rw("margin", &ResultQuestion::margin, nb::arg().none())
      .def_rw("learned", &ResultQuestion::learned, nb::arg().none())
      .def_rw("test", &ResultQuestion::test)
      .def_rw("precision", &ResultQuestion::precision)
      .def_rw("name", &ResultQuestion::name)
      .def_rw("question", &ResultQuestion::question);
}

} // namespace

void add_reports(nb::module_& module) {
  const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
  add_question(module);
  nb::class_<ResultTable>(module, "ResultTable").def_ro("columns", &ResultTable::columns);
  module.def("read_results", [](const nb::bytes& bytes, const std::string& name) {
    return read_results({bytes.c_str(), bytes.size()}, name);
  });
  module.def("table_of_columns", table_of_columns);
  module.def("write_report", write_report, nb::arg("path"), nb::arg("text"), nb::arg("force"));
  module.def(
      "compare_results",
      [](const ResultTable& table, const ResultQuestion& question) {
        return ReportOfData{std::make_shared<const ReportData>(compare_results(table, question))};
      },
      unlocked);
  nb::class_<ReportOfData>(module, "ReportOfData")
      .def(
          "json", [](const ReportOfData& r) { return boost::json::serialize(report_document(*r.data)); }, unlocked)
      .def(
          "html", [](const ReportOfData& r) { return render_html(*r.data); }, unlocked)
      .def(
          "markdown", [](const ReportOfData& r) { return render_markdown(*r.data); }, unlocked)
      .def(
          "latex", [](const ReportOfData& r) { return render_latex(*r.data); }, unlocked)
      .def(
          "csv", [](const ReportOfData& r) { return render_csv(*r.data); }, unlocked)
      .def(
          "runs_csv", [](const ReportOfData& r) { return render_runs_csv(*r.data); }, unlocked)
      .def(
          "lengths_csv", [](const ReportOfData& r) { return render_lengths_csv(*r.data); }, unlocked)
      .def(
          "text", [](const ReportOfData& r, std::size_t width) { return render_terminal(*r.data, Style{}, width); },
          nb::arg("width"), unlocked);
}

} // namespace heed::python
