#include "experiments/runs/metrics_lines.hpp"

#include "experiments/system/content_hash.hpp"
#include "experiments/training/inspected_metrics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace heed {

namespace {

constexpr std::uint64_t metrics_block = std::uint64_t{1} << 18;

/// Bytes of a file, or why they can't be had.
Parsed<std::string> part_of(const FileParts& file, std::uint64_t begin, std::uint64_t size) {
  std::string bytes(size, '\0');
  ReadProblem problem = ReadProblem::none;
  std::string why = file.read(begin, std::as_writable_bytes(std::span(bytes)), &problem);
  return why.empty() ? Parsed<std::string>::ok(std::move(bytes)) : Parsed<std::string>::wrong(std::move(why), problem);
}

/// A file's last lines first, those that are whole, with where each ends in the file.
class LinesBackwards {
public:
  explicit LinesBackwards(const FileParts& file) : file_(file), begin_(file.size()) {}

  /// None before the first, and where there is an error. What it gives lasts until the next call.
  std::optional<std::string_view> next() {
    for (;;) {
      const std::size_t end = text_.rfind('\n');
      const std::size_t before = end == 0 || end == text_.npos ? text_.npos : text_.rfind('\n', end - 1);
      if (end != text_.npos && (before != text_.npos || begin_ == 0)) {
        end_ = begin_ + end + 1;
        const std::size_t start = before + 1; // npos + 1 is 0
        line_.assign(text_, start, end - start);
        text_.resize(start);
        return line_;
      }
      if (begin_ == 0 || !error.empty()) return std::nullopt;
      const std::uint64_t more = std::min<std::uint64_t>(begin_, std::max<std::uint64_t>(metrics_block, text_.size()));
      auto part = part_of(file_, begin_ - more, more);
      if (!part) {
        error = std::move(part.error);
        problem = part.problem;
        return std::nullopt;
      }
      begin_ -= more;
      text_.insert(0, *part);
    }
  }
  /// Where the line ends in the file, its newline included.
  std::uint64_t end() const { return end_; }

  std::string error;
  ReadProblem problem = ReadProblem::none;

private:
  const FileParts& file_;
  std::uint64_t begin_, end_ = 0; ///< begin_: in the file, of text_
  std::string text_, line_;
};

/// Where the last whole line ends whose step is at most `step`; 0 where there is none. What can't be parsed is passed over.
Parsed<std::uint64_t> end_of_step(const FileParts& file, std::int64_t step) {
  // At a checkpoint there is nothing later, and one line is read.
  LinesBackwards lines(file);
  while (const auto line = lines.next())
    if (const auto metrics = metrics_from_json(*line); metrics && metrics->step <= step)
      return Parsed<std::uint64_t>::ok(lines.end());
  if (!lines.error.empty()) return Parsed<std::uint64_t>::wrong(lines.error, lines.problem);
  return Parsed<std::uint64_t>::ok(0);
}

/// Calls `use` with the file's bytes up to `end`. No value where they can't be had.
template <class Use> Parsed<bool> each_block(const FileParts& file, std::uint64_t end, const Use& use) {
  for (std::uint64_t at = 0; at < end;) {
    const auto part = part_of(file, at, std::min(metrics_block, end - at));
    if (!part) return Parsed<bool>::wrong(part.error, part.problem);
    use(*part);
    at += part->size();
  }
  return Parsed<bool>::ok(true);
}

/// metrics.jsonl, open. None where it is missing, and throws heed::Unreadable where it can't be read now.
std::optional<FileParts> open_metrics(const RunFolder& run) {
  auto file = run.metrics().open();
  require_readable(file);
  return std::move(file.value);
}

/// Of its bytes up to `end`. Throws heed::Unreadable.
ContentHash hash_up_to(const FileParts& file, std::uint64_t end) {
  ContentHash hash;
  const auto read = each_block(file, end, [&](const std::string& part) { hash.add(part); });
  if (!read) throw Unreadable(read.error);
  return hash;
}

} // namespace

MetricsLines::MetricsLines(const RunFolder& run) : name_(run.metrics().string()) {
  auto file = run.metrics().open();
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
  // A line that is longer than a block has as many as it needs, and each of its bytes is looked at a few times.
  const std::uint64_t more = std::max<std::uint64_t>(metrics_block, text_.size());
  auto part = part_of(*file_, read_, std::min(more, file_->size() - read_));
  if (!part) {
    wrong(std::move(part.error), part.problem);
    return false;
  }
  read_ += part->size();
  text_ += *part;
  return true;
}

std::optional<Metrics> MetricsLines::next() {
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

Parsed<std::int64_t> each_metrics_line(const RunFolder& run, const std::function<void(const Metrics&)>& use) {
  MetricsLines lines(run);
  while (const auto line = lines.next()) use(*line);
  if (!lines.error().empty()) return Parsed<std::int64_t>::wrong(lines.error(), lines.problem());
  return Parsed<std::int64_t>::ok(lines.count());
}

Parsed<std::vector<Metrics>> read_metrics(const RunFolder& run) {
  std::vector<Metrics> out;
  const auto read = each_metrics_line(run, [&](const Metrics& line) { out.push_back(line); });
  return read ? Parsed<std::vector<Metrics>>::ok(std::move(out))
              : Parsed<std::vector<Metrics>>::wrong(read.error, read.problem);
}

std::vector<std::pair<std::string, double>> values_of(const Metrics& line) {
  constexpr double microseconds = 1e6;
  auto out = line.values;
  if (line.tokens > 0 && line.step_seconds)
    out.emplace_back("time_per_token", microseconds * *line.step_seconds / static_cast<double>(line.tokens));
  add_summaries(out);
  return out;
}

std::optional<double> value_of(const Metrics& line, std::string_view name) {
  const auto in = [&](const std::vector<std::pair<std::string, double>>& values) -> std::optional<double> {
    for (const auto& [key, value] : values)
      if (key == name) return value;
    return std::nullopt;
  };
  const auto written = in(line.values);
  return written ? written : in(values_of(line));
}

std::string append_metrics(const RunFolder& run, const Metrics& metrics) {
  std::string line = to_json(metrics);
  run.metrics().append_line(line);
  return line + '\n';
}

ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size) {
  const auto file = open_metrics(run);
  size = file ? file->size() : 0;
  return file ? hash_up_to(*file, size) : ContentHash();
}

MetricsSum metrics_sum(const RunFolder& run, std::int64_t step) {
  const auto file = open_metrics(run);
  if (!file) return {step, ContentHash().text()};
  const auto end = end_of_step(*file, step);
  require_readable(end);
  return {step, hash_up_to(*file, end.value.value_or(0)).text()};
}

Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest) {
  using Result = Parsed<std::string>;
  constexpr std::string_view mend = "heed run with its configuration makes again what is missing";
  const auto file = run.metrics().open();
  if (file.is_unreadable()) return Result::wrong(file.error, file.problem);
  if (!file && !file.is_missing()) return Result::ok(file.error);

  ContentHash hash;
  bool whole = true; // it ends with a newline, or is empty
  std::int64_t last = 0;
  bool read = true;
  if (file) {
    const auto blocks = each_block(*file, file->size(), [&](const std::string& part) {
      hash.add(part);
      whole = part.ends_with('\n');
    });
    if (!blocks) return Result::wrong(blocks.error, blocks.problem);
    LinesBackwards lines(*file);
    if (const auto line = lines.next()) {
      const auto metrics = metrics_from_json(*line);
      read = metrics.value.has_value();
      if (read) last = metrics->step;
    } else if (!lines.error.empty()) {
      return Result::wrong(lines.error, lines.problem);
    }
  }
  if (read && last < manifest.step)
    return Result::ok(fmt::format("its metrics.jsonl ends at step {}, but the run at step {}; {}", last, manifest.step,
                                  mend));
  if (manifest.metrics.empty() ? !whole : hash.text() != manifest.metrics.back().hash)
    return Result::ok(fmt::format("its metrics.jsonl is not what it was when the run finished (another checksum); {}",
                                  mend));
  return Result::ok("");
}

void truncate_metrics(const RunFolder& run, std::int64_t step, bool aside) {
  const auto file = open_metrics(run);
  if (!file) return;
  const auto end = end_of_step(*file, step);
  if (!end) throw Unreadable(end.error);
  if (*end == file->size()) return;
  if (aside) run.metrics().copy_aside();
  NewFile kept = run.metrics().create();
  const auto copied = each_block(*file, *end, [&](const std::string& part) { kept.write(part); });
  if (!copied) throw Unreadable(copied.error);
  kept.finish();
}

} // namespace heed
