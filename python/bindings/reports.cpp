// Reports as Python objects: their document and all formats. `compare` makes one from a table.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/user_file.hpp"
#include "python/bindings/interrupts.hpp"

#include <limits>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace heed {
BOOST_DESCRIBE_STRUCT(ResultRequest, (),
                      (metrics, reference, arm, pair, group, seed, first, step, examples, state, time, parameters,
                       run_name, direction, bounds, unit, margin, learned, answer, test, over, scale, precision, name,
                       question))
} // namespace heed

namespace heed::python {
namespace {

/// Writes a report to a file that the user named.
void write_report(const nb::bytes& path, const std::string& text, bool force) {
  UserFile file(std::string(path.c_str(), path.size()),
                {.is_own = is_report_of_heed, .force = force, .option = "force=True"});
  without_lock([&](SignalCheck&) { file.write(file.is_terminal() ? without_controls(text) : text); });
}

void add_question(nb::module_& module) {
  with_members(nb::class_<ResultRequest>(module, "ResultRequest")).def("__init__", [](ResultRequest* at) {
    ResultRequest question;
    question.options_are_arguments = true;
    new (at) ResultRequest(std::move(question));
  });
}

/// A report of a format as a text: made without the GIL, and Ctrl-C stops it.
template <std::string (*render)(const ReportData&)> nb::str rendered(const ReportOfData& report) {
  return text_of(without_lock([&](SignalCheck&) { return render(*report.data); }));
}

std::string as_json(const ReportData& report) { return report_text(report); }

nb::str as_text(const ReportOfData& report, std::size_t width, bool whole) {
  return text_of(without_lock([&](SignalCheck&) { return render_terminal(*report.data, Style{}, width, whole); }));
}

nb::str as_svg(const ReportOfData& report, const std::string& figure, bool dark) {
  return text_of(without_lock([&](SignalCheck&) {
    const std::vector<document::Figure> figures = report_figures(*report.data);
    return svg_figure(figure_named(figures, figure), dark);
  }));
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
  // Rows are added one by one, so that Python's interpreter can stop between them.
  nb::class_<TableMaker>(module, "TableMaker")
      .def(nb::init<std::string, std::string>())
      .def("add_columns", [](TableMaker& maker, const std::vector<std::string>& names) { maker.add_columns(names, 1); })
      .def("add_row",
           [](TableMaker& maker, const std::vector<std::pair<std::size_t, std::string>>& cells) {
             const std::size_t columns = maker.table().columns.size();
             for (const auto& [column, text] : cells)
               if (column >= columns) throw nb::index_error("there is no such column");
             maker.add_row(static_cast<std::int64_t>(maker.table().rows.size()) + 1, cells);
           })
      .def("made", &TableMaker::made);
  module.def("compare_results", [](const ResultTable& table, const ResultRequest& question) {
    return without_lock([&](SignalCheck&) {
      return ReportOfData{std::make_shared<const ReportData>(compare_results(table, question))};
    });
  });
  module.def("write_report", write_report, nb::arg("path"), nb::arg("text"), nb::arg("force"));
  nb::class_<ReportOfData>(module, "ReportOfData")
      .def("json", rendered<as_json>)
      .def("html", rendered<render_html>)
      .def("markdown", rendered<render_markdown>)
      .def("latex", rendered<render_latex>)
      .def("csv", rendered<render_csv>)
      .def("runs_csv", rendered<render_runs_csv>)
      .def("variance_csv", rendered<render_variance_csv>)
      .def("lengths_csv", rendered<render_lengths_csv>)
      .def("svg", as_svg, nb::arg("figure"), nb::arg("dark"))
      .def("text", as_text, nb::arg("width"), nb::arg("whole"));
}

} // namespace heed::python
