// A record of metrics.jsonl: what a run measured at a step, as JSON and back. The file may be very long, so it is read
// line by line, with only one block of it in memory.
#pragma once

#include "experiments/system/files.hpp"
#include "experiments/system/output_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// One line of metrics.jsonl.
struct MetricsRecord {
  std::int64_t step = 0;   ///< number of optimiser steps so far
  double seconds = 0;      ///< run time so far, without interruptions
  std::int64_t tokens = 0; ///< number of training tokens so far
  /// train_loss, val_loss, val_accuracy, learning_rate, ... Names with a dot are written as objects:
  /// val_accuracy_by_length.8 and .9 become "val_accuracy_by_length": {"8": 0.9, "9": 0.7}. val_accuracy_at.8 belongs
  /// to [train] evaluate_lengths.
  std::vector<std::pair<std::string, double>> values;
  /// The part of the seconds spent in training steps, without evaluation, inspection and checkpoints. Empty: written by
  /// an earlier version that did not record it.
  std::optional<double> step_seconds = std::nullopt;
};

/// The record as one line without the newline. Values that are not finite are written as null, and read as NaN.
std::string to_json(const MetricsRecord& metrics);
Parsed<MetricsRecord> metrics_from_json(std::string_view line);

/// The value that a record has under this name.
std::optional<double> written_value(const MetricsRecord& line, std::string_view name);
/// The value of a metric in a record. time_per_token is not stored; it is computed from step_seconds and tokens.
/// Summaries of inspected values (rank_residual.mean) are computed from the values of heads and layers.
std::optional<double> value_of(const MetricsRecord& line, std::string_view name);
/// All values that `value_of` can return for a record.
std::vector<std::pair<std::string, double>> values_of(const MetricsRecord& line);

/// The longest line and the largest file that a run writes, and that are read. All values of `train.inspect` for 96
/// layers of 96 heads are about 2 MiB a line, and 16 GiB hold more than 100 million lines of training loss. Nothing
/// beyond these bounds is read, because no run wrote it: a sparse file can claim any size.
inline constexpr std::uint64_t longest_metrics_line = std::uint64_t{1} << 24, largest_metrics = std::uint64_t{1} << 34;

/// Opens a metrics.jsonl. A file that is larger than `largest_metrics` counts as damaged.
Parsed<FileParts> open_metrics(const OutputFile& metrics);

/// Reads all complete lines in order. A last line without its newline is ignored: the process was killed while writing
/// it. Any other unreadable line is an error that contains the line's number. A missing file has no lines. At most
/// `longest_metrics_line` bytes and a block are in memory.
class MetricsLines {
public:
  explicit MetricsLines(const OutputFile& metrics);

  /// The next record; empty at the end and after an error.
  std::optional<MetricsRecord> next();
  const std::string& error() const { return error_; }
  ReadProblem problem() const { return problem_; }
  std::int64_t count() const { return count_; } ///< number of lines read
  /// The position in the file after the last record and its newline.
  std::uint64_t end() const { return read_ - (text_.size() - begin_); }

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
