// Reads, extends, truncates and verifies a run's metrics.jsonl.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"

#include <cstdint>
#include <string>

namespace heed {

class ContentHash;

/// Appends a line and returns the bytes that were added.
std::string append_metrics(const RunFolder& run, const MetricsRecord& metrics);
/// The hash of the current metrics.jsonl, and its size. Throws heed::Unreadable.
ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size);
/// The checksum of metrics.jsonl up to `step`, for the manifest. Throws heed::Unreadable.
MetricsChecksum metrics_checksum(const RunFolder& run, std::int64_t step);
/// For a run that is finished according to its manifest: why metrics.jsonl differs from the file at the end of the run.
/// Empty if it is unchanged. No value if it can't be read at the moment.
Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest);
/// Shortens the file to the last complete line with a step of at most `step`. A run that continues at this step writes
/// the removed lines again. Throws heed::Failed or heed::Unreadable.
/// @param aside  saves the removed lines in a copy of the file (OutputFile::copy_aside)
void truncate_metrics(const RunFolder& run, std::int64_t step, bool aside = false);

} // namespace heed
