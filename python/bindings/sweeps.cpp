// Sweeps from Python: a configuration is checked, planned and executed, and its folder is read.
#include "python/bindings/bindings.hpp"
#include "python/bindings/interrupts.hpp"

#include "experiments/actions/progress_board.hpp"
#include "experiments/actions/sweep_report.hpp"
#include "experiments/actions/sweep_start.hpp"
#include "experiments/launch/local_launcher.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/working_folder.hpp"

#include <chrono>
#include <cxxabi.h>
#include <exception>
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace heed::python {
namespace {

namespace fs = std::filesystem;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A configuration that was checked, with the tasks that the check has read.
struct PreparedSweep {
  std::unique_ptr<Tasks> tasks = std::make_unique<Tasks>();
  Preparation preparation;
  fs::path out;
};

PreparedSweep prepare_sweep(const std::optional<fs::path>& file, const std::string& toml, const std::string& name,
                            const std::vector<std::string>& overrides, const fs::path& out) {
  return without_lock([&](SignalCheck&) {
    const WorkingFolder scope(WorkingFolder::now());
    PreparedSweep sweep{.preparation = {}, .out = out};
    sweep.preparation = prepare(file ? Settings::load(*file) : Settings::parse(toml, name),
                                file ? without_controls(file->stem().string()) : name, overrides, "overrides",
                                *sweep.tasks, out);
    if (!is_frozen(sweep.preparation.plan, out)) refuse_unreachable(sweep.preparation);
    return sweep;
  });
}

nb::object as_python(const std::string& text) { return safe_text(text); }
nb::object as_python(const std::vector<std::string>& texts) { return safe_texts(texts); }
nb::object as_python(std::size_t number) { return nb::int_(number); }

/// Passes the progress to a Python object, and polls Python's signals. `shown` has the methods begin(text), draw(lines,
/// line, done, total) and say(text), and the `width`, in columns, of the lines; or it is None.
class EventsForPython : public SweepEvents {
public:
  EventsForPython(const PreparedSweep& sweep, nb::object shown) : sweep_(sweep), shown_(std::move(shown)) {}

  void ready(const SweepStart& start) override {
    call("begin", fmt::format("{}  {}", start.plan.name, start_in_words(start)));
    if (start.to_do > 0) board_.emplace(board_runs(sweep_.preparation, start.plan), now());
  }
  void heard(const RunEvent& event) override {
    board_->take(event, now());
    if (event.kind == RunEvent::Kind::elsewhere) call("say", board_->elsewhere_in_words(event));
    if (event.kind == RunEvent::Kind::failed)
      call("say", fmt::format("failed {}: {}", board_->label(event.run), event.reason));
  }
  void tuned(const Plan& plan) override {
    for (std::size_t a = 0; a < plan.arms.size(); ++a)
      call("say", fmt::format("tuned {}: {}", plan.arms[a].label, tuning_in_words(*plan.tuning, a)));
  }
  bool stop_requested() override {
    with_python([&] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      constexpr double seconds = 0.2;
      if (!board_ || shown_.is_none() || now() - drawn_ < seconds) return;
      drawn_ = now();
      const auto width = nb::cast<std::size_t>(shown_.attr("width"));
      shown_.attr("draw")(as_python(board_->lines(drawn_, width)), as_python(board_->plain_line(drawn_)),
                          as_python(board_->done()), as_python(board_->total()));
    });
    return problem_ != nullptr || is_python_ending();
  }
  void waits(const std::string& what) { call("say", what); }
  /// Throws what stopped the sweep: KeyboardInterrupt, or an exception of the Python object.
  void rethrow() const {
    if (problem_) std::rethrow_exception(problem_);
  }

private:
  void call(const char* method, const std::string& text) {
    with_python([&] {
      if (!shown_.is_none()) shown_.attr(method)(as_python(text));
    });
  }
  /// Calls `work` with Python's lock, and keeps its exception. Does nothing once the sweep is to stop.
  template <class Work> void with_python(const Work& work) {
    if (problem_ || is_python_ending()) return;
    const Locked locked;
    try {
      work();
    } catch (const abi::__forced_unwind&) { // Python has ended while its code ran here
      sleep_until_process_ends();
    } catch (...) {
      problem_ = std::current_exception();
    }
  }

  const PreparedSweep& sweep_;
  nb::object shown_;
  std::optional<ProgressBoard> board_;
  std::exception_ptr problem_;
  double drawn_ = 0;
};

struct SweepEnd {
  fs::path folder;
  std::string shortfall; ///< why it is not complete, as shortfall_in_words says it
};

/// Executes what is missing. Python's other threads run meanwhile.
SweepEnd execute(const PreparedSweep& sweep, int jobs, int threads, nb::object shown) {
  EventsForPython events(sweep, std::move(shown));
  SweepEnd end;
  {
    const WorkingFolder scope(WorkingFolder::now());
    const Unlocked unlocked;
    const WaitScope waits([&](const std::string& what) { events.waits(what); });
    LocalLauncher launcher;
    Executor executor(launcher,
                      [&](std::size_t to_do) { return allocation_for(sweep.preparation, to_do, jobs, threads); });
    const SweepResult result = run_sweep(sweep.preparation.plan, sweep.out, executor, events,
                                         instruction_set_to_pin(false));
    end.folder = result.folder;
    end.shortfall = result.stopped() ? fmt::format("stopped with {} of {} runs done. Resume with",
                                                   result.runs - result.to_do, result.runs)
                                     : shortfall_in_words(report_of_sweep(result.plan, sweep.out, result.folder, false),
                                                          result.executed.failed, result.to_do);
  }
  events.rethrow();
  return end;
}

ReportOfData report_of(const fs::path& out, const fs::path& folder, const fs::path& working_folder) {
  return without_lock([&](SignalCheck&) {
    const WorkingFolder scope(working_folder);
    return ReportOfData{std::make_shared<const ReportData>(report_of_sweep(load_plan(folder), out, folder, true))};
  });
}

} // namespace

void add_sweeps(nb::module_& module) {
  const auto unlocked = nb::call_guard<Unlocked>();
  nb::class_<PreparedSweep>(module, "PreparedSweep")
      .def_prop_ro("plan", [](const PreparedSweep& s) { return text_of(to_json(s.preparation.plan)); })
      .def_prop_ro("size", [](const PreparedSweep& s) { return safe_text(size_in_words(s.preparation.plan)); })
      .def_prop_ro("metric", [](const PreparedSweep& s) { return safe_text(s.preparation.metric.name); })
      .def_prop_ro("notes", [](const PreparedSweep& s) { return safe_texts(notes_of(s.preparation)); })
      .def("execute", execute, nb::arg("jobs"), nb::arg("threads"), nb::arg("shown").none());
  nb::class_<SweepEnd>(module, "SweepEnd")
      .def_ro("folder", &SweepEnd::folder)
      .def_prop_ro("shortfall", [](const SweepEnd& end) { return safe_text(end.shortfall); });
  module.def("prepare_sweep", prepare_sweep, nb::arg("file").none(), nb::arg("toml"), nb::arg("name"),
             nb::arg("overrides"), nb::arg("out"));
  module.def(
      "find_sweep",
      [](const fs::path& out, const std::optional<fs::path>& name) {
        return find_sweep(out, name ? std::optional(name->string()) : std::nullopt);
      },
      nb::arg("out"), nb::arg("name").none(), unlocked);
  module.def("report_of_sweep", report_of, nb::arg("out"), nb::arg("folder"), nb::arg("working_folder"));
}

} // namespace heed::python
