#include "experiments/exports/export.hpp"

#include "experiments/exports/metrics_csv.hpp"
#include "experiments/exports/tensorboard.hpp"
#include "experiments/metrics/lines.hpp"
#include "experiments/runs/run_records.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

void each_line_of(const RunFolder& run, const std::function<void(const MetricsRecord&)>& use) {
  if (const auto lines = each_metrics_line(run.metrics(), use); !lines) throw Failed(lines.error);
}

fs::path write_csv(const RunFolder& run, const OutputFolder& folder) {
  const OutputFile file = folder / (run.id() + ".csv");
  NewFile csv = file.create();
  metrics_csv([&](const auto& use) { each_line_of(run, use); }, [&](std::string_view text) { csv.write(text); });
  csv.finish();
  return file;
}

// TensorBoard names a run after its folder, and recognises its files by "tfevents" in their names.
fs::path write_tensorboard(const RunFolder& run, const OutputFolder& folder) {
  const auto manifest = read_manifest(run);
  const double start = manifest ? seconds_since_1970(manifest->started) : 0.0;
  const OutputFile file = folder / run.id() / "events.out.tfevents.heed";
  (folder / run.id()).make_folder();
  NewFile events = file.create();
  events.write(tensorboard_beginning(start));
  each_line_of(run, [&](const MetricsRecord& line) { events.write(tensorboard_event(line, start)); });
  events.finish();
  return file;
}

} // namespace

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"tensorboard", "event files, a folder for each run", "tensorboard --logdir", write_tensorboard},
      {"csv", "a table for each run, a row for each line of its metrics", "", write_csv}};
  return formats;
}

} // namespace heed
