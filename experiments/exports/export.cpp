#include "experiments/exports/export.hpp"

#include "experiments/exports/metrics_csv.hpp"
#include "experiments/exports/tensorboard.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::vector<Metrics> metrics_in(const RunFolder& run) {
  auto metrics = read_metrics(run);
  if (!metrics) throw Failed(metrics.error);
  return std::move(*metrics);
}

fs::path write_csv(const RunFolder& run, const fs::path& folder) {
  make_folder(folder);
  const fs::path file = folder / (run.id() + ".csv");
  write_file(file, metrics_csv(metrics_in(run)));
  return file;
}

// TensorBoard names a run by its folder, and knows its files by "tfevents" in their names.
fs::path write_tensorboard(const RunFolder& run, const fs::path& folder) {
  const auto manifest = read_manifest(run);
  const double start = manifest ? seconds_since_1970(manifest->started) : 0.0;
  make_folder(folder / run.id());
  const fs::path file = folder / run.id() / "events.out.tfevents.heed";
  write_file(file, tensorboard_events(metrics_in(run), start));
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
