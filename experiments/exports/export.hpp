// The registry of formats in which a run's metrics are exported for other tools: TensorBoard's event files and CSV.
// Arrays as NumPy's .npy files.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/runs/run_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

/// tensorboard_beginning returns the beginning of a file. tensorboard_event returns an event for a line of metrics,
/// with all its values. Its wall time is `start` (seconds since 1970) plus the seconds trained. Values of parts, such
/// as attention_entropy.blocks.0.attention.0, are grouped by metric: the tag is
/// "attention_entropy/blocks.0.attention.0". TensorBoard stores values as 32-bit floats.
std::string tensorboard_beginning(double start);
std::string tensorboard_event(const MetricsRecord& line, double start);

/// "2024-05-01T12:00:00Z" in seconds since 1970; 0 if the text is not such a time.
double seconds_since_1970(const std::string& utc);

/// A run with its name in the other tool.
struct ExportedRun {
  RunFolder run;
  std::string name; ///< from `export_name`
};

/// "score-additive_seed-3_3f2a8c11d0b7e644": what the run is, its seed and its ID. The name consists of ASCII letters,
/// digits, "-", "_" and "."; each sequence of other characters in `what` becomes "-". Long texts are cut. The ID makes
/// the name unique. An empty `what` and a missing seed are omitted.
std::string export_name(std::string_view what, std::optional<std::int64_t> seed, const std::string& id);

/// A format for exporting a run's metrics.
struct ExportFormat {
  std::string name, summary;
  std::string next; ///< the command that opens the folder, without the folder; may be empty
  /// Writes the run's file or files below `folder`, replaces older ones of the same name, and returns the first. Throws
  /// heed::Failed.
  std::filesystem::path (*write)(const ExportedRun& exported, const OutputFolder& folder);
};

const std::vector<ExportFormat>& export_formats();

/// Calls a function with each line of a run's metrics, in order.
using EachMetrics = std::function<void(const std::function<void(const MetricsRecord&)>&)>;

/// Writes one row for each line of metrics.jsonl. The columns are step, seconds, tokens, and every metric in the order
/// of first occurrence. A cell is empty if the line does not have the metric. The lines are read twice and written one
/// by one. If the run is still being executed, a metric that first occurs in the second reading has no column.
void metrics_csv(const EachMetrics& each, const std::function<void(std::string_view)>& write);

/// The bytes of a .npy file, version 1.0 (numpy.lib.format): "\x93NUMPY", 1, 0; the header's length in two bytes; the
/// header; the values as float32, little-endian, row-major. The header is a Python dictionary, padded with blanks and
/// ended by a newline so that the values start at a multiple of 64 bytes. Throws heed::Failed if the number of values
/// differs from the shape's.
std::string npy_bytes(std::span<const float> numbers, std::span<const std::int64_t> shape);

/// Whether a file with this beginning can be one that npy_bytes made: float32, row-major.
bool is_npy(std::string_view beginning);

} // namespace heed
