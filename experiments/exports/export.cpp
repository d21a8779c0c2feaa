#include "experiments/exports/export.hpp"

#include "autograd/error.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_records.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace heed {
namespace {

namespace fs = std::filesystem;

void each_line_of(const RunFolder& run, const std::function<void(const MetricsRecord&)>& use) {
  if (const auto lines = each_metrics_line(run.metrics(), use); !lines) throw Failed(lines.error);
}

/// Renaming would turn a link, a pipe or a device into a file.
void refuse_other_than_file(const OutputFile& file) {
  if (file.exists() && !file.is_regular_file())
    throw Failed(
        fmt::format("'{}' is no regular file, and an export replaces nothing else: remove it, or choose another folder",
                    file.string()));
}

fs::path write_csv(const ExportedRun& exported, const OutputFolder& folder) {
  const OutputFile file = folder / (exported.name + ".csv");
  refuse_other_than_file(file);
  NewFile csv = file.create();
  metrics_csv([&](const auto& use) { each_line_of(exported.run, use); },
              [&](std::string_view text) { csv.write(text); });
  csv.finish();
  return file;
}

// TensorBoard names a run after its folder, and recognises its files by "tfevents" in their names.
fs::path write_tensorboard(const ExportedRun& exported, const OutputFolder& folder) {
  const auto manifest = read_manifest(exported.run);
  const double start = manifest ? seconds_since_1970(manifest->started) : 0.0;
  const OutputFile file = folder / exported.name / "events.out.tfevents.heed";
  (folder / exported.name).make_folder();
  refuse_other_than_file(file);
  NewFile events = file.create();
  events.write(tensorboard_beginning(start));
  each_line_of(exported.run, [&](const MetricsRecord& line) { events.write(tensorboard_event(line, start)); });
  events.finish();
  return file;
}

} // namespace

std::string export_name(std::string_view what, std::optional<std::int64_t> seed, const std::string& id) {
  constexpr std::size_t longest = 100; // file systems allow 255 bytes
  std::string name = slug(what, "_.");
  name.erase(0, name.find_first_not_of(".-")); // a name with a dot at its beginning is hidden
  name.resize(std::min(name.size(), longest));
  if (name.ends_with('-')) name.pop_back();
  if (!name.empty()) name += '_';
  if (seed) name += fmt::format("seed-{}_", *seed);
  return name + id;
}

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"tensorboard", "event files, a folder for each run", "tensorboard --logdir", write_tensorboard},
      {"csv", "a table for each run, a row for each line of its metrics", "", write_csv}};
  return formats;
}

void metrics_csv(const EachMetrics& each, const std::function<void(std::string_view)>& write) {
  std::vector<std::string> headings{"step", "seconds", "tokens"};
  std::map<std::string, std::size_t> places;
  each([&](const MetricsRecord& line) {
    for (const auto& [name, value] : line.values)
      if (places.try_emplace(name, headings.size()).second) headings.push_back(name);
  });
  write(sheet_line(headings));
  each([&](const MetricsRecord& line) {
    std::vector<std::string> cells(headings.size());
    cells[0] = fmt::format("{}", line.step);
    cells[1] = csv_number(line.seconds);
    cells[2] = fmt::format("{}", line.tokens);
    for (const auto& [name, value] : line.values)
      if (const auto place = places.find(name); place != places.end()) cells[place->second] = csv_number(value);
    write(sheet_line(cells));
  });
}

} // namespace heed
