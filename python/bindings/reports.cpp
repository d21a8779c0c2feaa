// Reports as Python objects: their document and all formats. `compare` makes one from a table.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/files.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/report.hpp"
#include "python/bindings/texts.hpp"

#include <boost/json/serialize.hpp>
#include <limits>
#include <nanobind/stl/filesystem.h>
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

/// A report as a text.
template <std::string (*render)(const ReportData&)> nb::str rendered(const ReportOfData& report) {
  return text_of(without_lock([&](SignalCheck&) { return render(*report.data); }));
}

std::string as_json(const ReportData& report) { return boost::json::serialize(report_document(report)); }

nb::str as_text(const ReportOfData& report, std::size_t width) {
  return text_of(without_lock([&](SignalCheck&) { return render_terminal(*report.data, Style{}, width); }));
}

/// The table of a regular file: a pipe or a device may never end.
ResultTable read_result_file(const std::filesystem::path& file) {
  return without_lock([&](SignalCheck&) {
    const auto bytes = read_file(file, std::numeric_limits<std::uint64_t>::max());
    if (!bytes) throw Refused(bytes.error + "; results is the path of a table: CSV, TSV or JSON");
    return read_results(*bytes, file.string());
  });
}

} // namespace

void add_reports(nb::module_& module) {
  add_question(module);
  nb::class_<ResultTable>(module, "ResultTable").def_ro("columns", &ResultTable::columns);
  module.def("read_results", read_result_file, nb::arg("file"));
  module.def("table_of_columns", table_of_columns);
  module.def("compare_results", [](const ResultTable& table, const ResultQuestion& question) {
    return without_lock([&](SignalCheck&) {
      return ReportOfData{std::make_shared<const ReportData>(compare_results(table, question))};
    });
  });
  nb::class_<ReportOfData>(module, "ReportOfData")
      .def("json", rendered<as_json>)
      .def("html", rendered<render_html>)
      .def("markdown", rendered<render_markdown>)
      .def("latex", rendered<render_latex>)
      .def("csv", rendered<render_csv>)
      .def("runs_csv", rendered<render_runs_csv>)
      .def("lengths_csv", rendered<render_lengths_csv>)
      .def("text", as_text, nb::arg("width"));
}

} // namespace heed::python
