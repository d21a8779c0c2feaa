// Runs as Python objects: the runs of a folder, and a run's configuration, metrics and weights.
#include "python/bindings/bindings.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/found_runs.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/tasks/vocabulary_text.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/open_run.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <limits>
#include <map>

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace heed::python {
namespace {

const char* kind_name(IndexField::Kind kind) {
  switch (kind) {
    case IndexField::Kind::number: return "number";
    case IndexField::Kind::text: return "text";
    case IndexField::Kind::flag: return "flag";
    case IndexField::Kind::word_or_number: return "word or number";
  }
  return "";
}

nb::object as_python(const Cell& cell, bool flag) {
  if (const auto* text = std::get_if<std::string>(&cell)) return safe_text(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return flag ? nb::cast(*whole != 0) : nb::cast(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return nb::cast(*real);
  return nb::none();
}

/// (columns, excluded folders, notes): each column has its name, its kind and a value for each run.
nb::tuple select_runs(const fs::path& out, const std::optional<std::string>& where, const std::string& sort,
                      bool reverse, const std::vector<std::string>& columns, std::optional<std::int64_t> limit) {
  std::vector<std::string> notes;
  const FoundRuns found = without_lock([&](SignalCheck&) {
    RunIndex index(out);
    FoundRuns runs = find_runs(index, out,
                               {.where = where,
                                .sort = sort,
                                .columns = columns,
                                .limit = limit,
                                .reverse = reverse,
                                .all_fields = true,
                                .option = {.mark = "", .between = '_'}},
                               [&](const std::string& problem) { notes.push_back(problem); });
    if (!index.not_copied().empty())
      notes.push_back(fmt::format("index.sqlite was not updated: {}; move this file away to get a new one",
                                  index.not_copied()));
    return runs;
  });
  nb::list out_columns, left_out;
  for (std::size_t i = 0; i < found.columns.size(); ++i) {
    const IndexField& field = found.columns[i];
    nb::list values;
    for (const auto& row : found.rows) values.append(as_python(row[i], field.kind == IndexField::Kind::flag));
    out_columns.append(nb::make_tuple(safe_text(field.name), kind_name(field.kind), values));
  }
  for (const LeftOut& run : found.left_out) left_out.append(nb::make_tuple(safe_text(run.id), safe_text(run.reason)));
  return nb::make_tuple(out_columns, left_out, safe_texts(notes));
}

/// An array that owns its values.
template <class T> nb::object array_of(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner));
}

/// The lines of metrics.jsonl as columns of equal length; NaN where a line lacks the metric.
struct MetricColumns {
  std::vector<std::int64_t> steps, tokens;
  std::vector<double> seconds, step_seconds;
  std::vector<std::pair<std::string, std::vector<double>>> values; ///< in the order of their first lines

  /// A line may name any metrics, so that a small file could ask for a huge table.
  static constexpr std::size_t most_cells = std::size_t{1} << 28;
};

MetricColumns metric_columns(const RunFolder& run, SignalCheck& signals) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  MetricColumns to;
  std::map<std::string, std::size_t> places;
  const auto lines = each_metrics_line(run.metrics(), [&](const MetricsRecord& line) {
    signals.poll();
    for (const auto& [name, value] : line.values) {
      const auto [place, is_new] = places.try_emplace(name, to.values.size());
      if (is_new) to.values.emplace_back(name, std::vector<double>());
      std::vector<double>& column = to.values[place->second].second;
      column.resize(to.steps.size(), unknown);
      column.push_back(value);
    }
    if (to.steps.size() * to.values.size() > MetricColumns::most_cells)
      throw Refused(fmt::format("'{}' has at least {} lines with {} different metrics, which is too large for a table",
                                run.metrics().string(), to.steps.size(), to.values.size()));
    to.steps.push_back(line.step);
    to.seconds.push_back(line.seconds);
    to.step_seconds.push_back(line.step_seconds.value_or(unknown));
    to.tokens.push_back(line.tokens);
  });
  require_readable(lines);
  if (!lines) throw Refused(lines.error);
  for (auto& [name, column] : to.values) column.resize(to.steps.size(), unknown);
  return to;
}

nb::list metrics(const OpenRun& run) {
  MetricColumns found = without_lock([&](SignalCheck& signals) { return metric_columns(run.folder(), signals); });
  nb::list columns;
  const auto add = [&](const std::string& name, const nb::object& array) {
    columns.append(nb::make_tuple(safe_text(name), array));
  };
  add("step", array_of(std::move(found.steps)));
  add("seconds", array_of(std::move(found.seconds)));
  add("step_seconds", array_of(std::move(found.step_seconds)));
  add("tokens", array_of(std::move(found.tokens)));
  for (auto& [name, column] : found.values) add(name, array_of(std::move(column)));
  return columns;
}

/// A read-only array with a copy of a tensor's values. The checkpoint also serves evaluations, and some libraries write
/// into read-only arrays (torch.from_numpy).
nb::object weight(const RunWeights& weights, const std::string& name) {
  for (const StoredTensor& tensor : weights.checkpoint->tensors) {
    if (tensor.name != name) continue;
    auto* bytes = new std::vector<std::byte>(tensor.bytes);
    const nb::capsule owner(bytes, [](void* p) noexcept { delete static_cast<std::vector<std::byte>*>(p); });
    const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(bytes->data(), shape.size(), shape.data(), owner, nullptr,
                                                   tensor.float64 ? nb::dtype<double>() : nb::dtype<float>()));
  }
  throw nb::key_error(name.c_str());
}

/// The bytes of vocabulary.json; None if there is no such file.
nb::object vocabulary_file(const OpenRun& run) {
  const auto text = without_lock([&](SignalCheck&) { return run.folder().vocabulary().read(); });
  if (text.is_missing()) return nb::none();
  require_readable(text);
  if (!text) throw Refused(text.error);
  return nb::bytes(text->data(), text->size());
}

/// The path of a run stays valid when the process changes its folder. The caller owns the result.
OpenRun* open_run(const fs::path& out, const fs::path& run) {
  return without_lock([&](SignalCheck&) {
    std::error_code error;
    if (!fs::exists(run / "config.toml", error) && run_ids(out).empty())
      throw Refused(fmt::format("run '{}': {} '{}'; run a configuration first, or name another folder", run.string(),
                                fs::exists(out, error) ? "there are no runs in" : "there is no folder", out.string()));
    RunFolder folder = find_run(out, run.string());
    folder.path = fs::absolute(folder.path).lexically_normal();
    return std::make_unique<OpenRun>(std::move(folder)).release();
  });
}

} // namespace

void add_runs(nb::module_& module) {
  const auto unlocked = nb::call_guard<Unlocked>();
  module.def("select_runs", select_runs, nb::arg("out"), nb::arg("where").none(), nb::arg("sort"), nb::arg("reverse"),
             nb::arg("columns"), nb::arg("limit").none());
  module.def("open_run", open_run, nb::arg("out"), nb::arg("run"), nb::rv_policy::take_ownership);
  nb::class_<RunWeights>(module, "RunWeights")
      .def_ro("step", &RunWeights::step)
      .def_ro("average", &RunWeights::average)
      .def_prop_ro("damaged", [](const RunWeights& weights) { return safe_texts(weights.damaged); })
      .def("names",
           [](const RunWeights& weights) {
             nb::list names;
             for (const StoredTensor& tensor : weights.checkpoint->tensors) names.append(text_of(tensor.name));
             return names;
           })
      .def("array", weight, nb::arg("name"));
  nb::class_<OpenRun> run(module, "OpenRun");
  run.def_prop_ro("path", [](const OpenRun& r) { return r.folder().path; })
      .def(
          "state", [](const OpenRun& r) { return std::string(name_of(state_of(r.folder()))); }, unlocked)
      .def("toml", [](const OpenRun& r) { return text_of(to_toml(r.config())); })
      .def("metrics", metrics)
      .def(
          "checkpoint_steps", [](const OpenRun& r) { return checkpoint_steps(r.folder()); }, unlocked)
      .def(
          "weights", [](OpenRun& r, std::int64_t average) { return r.weights(average); }, nb::arg("average"), unlocked)
      .def("weights_at", &OpenRun::weights_at, nb::arg("step"), unlocked)
      .def("vocabulary_file", vocabulary_file)
      .def("vocabulary", [](OpenRun& r) {
        return text_of(without_lock([&](SignalCheck&) {
          return vocabulary_json(r.task(), task_format_of(r.config()));
        }));
      });
  add_examinations(run);
}

} // namespace heed::python
