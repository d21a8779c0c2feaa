// The lines of a run, for tests.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/runs/run_folder.hpp"

#include <vector>

namespace heed {

/// All lines of a run at once.
inline Parsed<std::vector<MetricsRecord>> read_metrics(const RunFolder& run) {
  std::vector<MetricsRecord> out;
  const auto read = each_metrics_line(run.metrics(), [&](const MetricsRecord& line) { out.push_back(line); });
  return read ? Parsed<std::vector<MetricsRecord>>::ok(std::move(out))
              : Parsed<std::vector<MetricsRecord>>::wrong(read.error, read.problem);
}

} // namespace heed
