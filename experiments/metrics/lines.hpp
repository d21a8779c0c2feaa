// The lines of a run's metrics.jsonl, of which there may be very many: a block of the file is in memory at a time.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/system/output_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace heed {

/// All whole lines in order, one after the other. A last line without its newline was cut off by a kill, and is left
/// out; any other line that does not read is an error that names it. A missing file has no lines.
class MetricsLines {
public:
  explicit MetricsLines(const OutputFile& metrics);

  /// None at the end, and where there is an error.
  std::optional<MetricsRecord> next();
  const std::string& error() const { return error_; }
  ReadProblem problem() const { return problem_; }
  std::int64_t count() const { return count_; } ///< of the lines that were read

private:
  bool fill(); ///< another block; false at the end, and where there is an error
  void wrong(std::string why, ReadProblem problem);

  std::string name_;
  std::optional<FileParts> file_;
  std::string text_;       ///< a block, and what the one before left
  std::size_t begin_ = 0;  ///< in text_, of the next line
  std::uint64_t read_ = 0; ///< bytes of the file
  std::int64_t count_ = 0;
  std::string error_;
  ReadProblem problem_ = ReadProblem::none;
};

/// Calls `use` with each line. The value is their number.
Parsed<std::int64_t> each_metrics_line(const OutputFile& file, const std::function<void(const MetricsRecord&)>& use);

} // namespace heed
