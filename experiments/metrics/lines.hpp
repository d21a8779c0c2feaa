// Reads a run's metrics.jsonl line by line. The file may be very long, so only one block of it is in memory at a time.
#pragma once

#include "experiments/metrics/record.hpp"
#include "experiments/system/output_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace heed {

/// Reads all complete lines in order. A last line without its newline is ignored: the process was killed while writing
/// it. Any other unreadable line is an error that contains the line's number. A missing file has no lines.
class MetricsLines {
public:
  explicit MetricsLines(const OutputFile& metrics);

  /// The next record; empty at the end and after an error.
  std::optional<MetricsRecord> next();
  const std::string& error() const { return error_; }
  ReadProblem problem() const { return problem_; }
  std::int64_t count() const { return count_; } ///< number of lines read

private:
  bool fill(); ///< reads another block; false at the end and after an error
  void wrong(std::string why, ReadProblem problem);

  std::string name_;
  std::optional<FileParts> file_;
  std::string text_;       ///< a block, after the rest of the previous one
  std::size_t begin_ = 0;  ///< position of the next line in text_
  std::uint64_t read_ = 0; ///< bytes of the file read so far
  std::int64_t count_ = 0;
  std::string error_;
  ReadProblem problem_ = ReadProblem::none;
};

/// Calls `use` with each record. Returns the number of lines.
Parsed<std::int64_t> each_metrics_line(const OutputFile& file, const std::function<void(const MetricsRecord&)>& use);

} // namespace heed
