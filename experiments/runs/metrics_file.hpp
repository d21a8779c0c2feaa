// A run's metrics.jsonl: what is added to it, and whether it is what it was.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

class ContentHash;

/// All of a run's lines at once (metrics/lines.hpp), of a run that is known to have few.
Parsed<std::vector<MetricsRecord>> read_metrics(const RunFolder& run);
/// Returns the bytes that were added.
std::string append_metrics(const RunFolder& run, const MetricsRecord& metrics);
/// What metrics.jsonl is now, and its size. Throws heed::Unreadable.
ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size);
/// What metrics.jsonl is up to `step`, for the manifest. Throws heed::Unreadable.
MetricsChecksum metrics_checksum(const RunFolder& run, std::int64_t step);
/// Why the metrics of a run that its manifest calls finished are not those it finished with; empty where they are. No
/// value where they can't be read now.
Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest);
/// Keeps the file up to the last whole line with a step up to `step`: what a run that continues there would write again
/// goes. Throws heed::Unreadable, too.
/// @param aside  what goes is kept in a copy of the file (OutputFile::copy_aside)
void truncate_metrics(const RunFolder& run, std::int64_t step, bool aside = false);

} // namespace heed
