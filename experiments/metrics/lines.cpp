#include "experiments/metrics/lines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {
constexpr std::uint64_t lines_block = std::uint64_t{1} << 18;
} // namespace

Parsed<FileParts> open_metrics(const OutputFile& metrics) {
  auto file = metrics.open();
  if (!file || file->size() <= largest_metrics) return file;
  return Parsed<FileParts>::wrong(
      fmt::format("'{}' is damaged: it has {} bytes, and a run's metrics have at most {}; heed run with the run's "
                  "configuration computes them again",
                  metrics.string(), file->size(), largest_metrics));
}

MetricsLines::MetricsLines(const OutputFile& metrics) : name_(metrics.string()) {
  auto file = open_metrics(metrics);
  if (file) file_.emplace(std::move(*file));
  else if (!file.is_missing()) wrong(std::move(file.error), file.problem);
}

void MetricsLines::wrong(std::string why, ReadProblem problem) {
  error_ = std::move(why);
  problem_ = problem;
}

bool MetricsLines::fill() {
  if (!file_ || !error_.empty() || read_ == file_->size()) return false;
  text_.erase(0, begin_);
  begin_ = 0;
  if (text_.size() > longest_metrics_line) {
    wrong(fmt::format("'{}' is damaged in line {}: it has more than {} bytes, the most that a line of metrics can have",
                      name_, count_ + 1, longest_metrics_line),
          ReadProblem::damaged);
    return false;
  }
  // A line longer than a block is read in doubling amounts, so each of its bytes is scanned only a few times.
  const std::uint64_t more = std::clamp<std::uint64_t>(text_.size(), lines_block,
                                                       lines_block + longest_metrics_line - text_.size());
  auto part = file_->text(read_, std::min(more, file_->size() - read_));
  if (!part) {
    wrong(std::move(part.error), part.problem);
    return false;
  }
  read_ += part->size();
  text_ += *part;
  return true;
}

std::optional<MetricsRecord> MetricsLines::next() {
  std::size_t end = 0;
  while ((end = text_.find('\n', begin_)) == text_.npos)
    if (!fill()) return std::nullopt;
  const std::string_view line = std::string_view(text_).substr(begin_, end - begin_);
  auto metrics = metrics_from_json(line);
  ++count_;
  if (!metrics) {
    wrong(fmt::format("'{}' is damaged in line {}: {}", name_, count_, metrics.error), ReadProblem::damaged);
    text_.clear();
    begin_ = 0;
    return std::nullopt;
  }
  begin_ = end + 1;
  return std::move(metrics.value);
}

Parsed<std::int64_t> each_metrics_line(const OutputFile& file, const std::function<void(const MetricsRecord&)>& use) {
  MetricsLines lines(file);
  while (const auto line = lines.next()) use(*line);
  if (!lines.error().empty()) return Parsed<std::int64_t>::wrong(lines.error(), lines.problem());
  return Parsed<std::int64_t>::ok(lines.count());
}

} // namespace heed
