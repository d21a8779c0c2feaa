// Test helpers that write run folders as a worker does (configuration, metrics, manifest), without any training.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/index/index_place.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_records.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <string>
#include <vector>

namespace heed::test {

/// Writes a run folder with the correct ID for the configuration. If `outcome` is empty, it writes no manifest.
inline RunFolder run_of(const Scratch& out, const std::string& toml, const std::vector<MetricsRecord>& metrics,
                        const std::string& outcome = "finished") {
  const Config config = Settings::parse(toml, "test").resolve();
  const std::string data = "data of a test";
  const RunFolder run = prepare_run(out.path, run_id(config, data), to_toml(config));
  for (const MetricsRecord& line : metrics) append_metrics(run, line);
  if (outcome.empty()) return run;
  Manifest m;
  m.run = run.id();
  m.name = config.general.name;
  m.outcome = outcome;
  m.step = metrics.empty() ? 0 : metrics.back().step;
  m.threads = 2;
  m.build = {"0.1.0", "gcc", "-O2", "blas"};
  m.host = "host";
  m.cpu = "cpu";
  m.numerics = numerics_of(flatten(config));
  m.data = data;
  m.started = "2024-05-01T12:00:00Z";
  m.ended = "2024-05-01T12:00:09Z";
  m.seconds = 9;
  m.starts = 1;
  run.manifest().write(to_json(m));
  return run;
}

/// The path of an output folder's index.
inline std::filesystem::path index_file(const std::filesystem::path& out) {
  return index_folder(out) / index_file_name;
}

/// Metrics records with these values of val_loss at steps 10, 20, ...
inline std::vector<MetricsRecord> losses(const std::vector<double>& values) {
  std::vector<MetricsRecord> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back({static_cast<std::int64_t>(10 * (i + 1)), static_cast<double>(i), 0, {{"val_loss", values[i]}}});
  return out;
}

} // namespace heed::test
