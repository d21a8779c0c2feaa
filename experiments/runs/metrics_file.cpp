#include "experiments/runs/metrics_file.hpp"

#include "experiments/metrics/lines.hpp"
#include "experiments/system/content_hash.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {

constexpr std::uint64_t metrics_block = std::uint64_t{1} << 18;

/// Reads the complete lines of a file from the last to the first, with the position where each line ends.
class LinesBackwards {
public:
  explicit LinesBackwards(const FileParts& file) : file_(file), begin_(file.size()) {}

  /// None before the first line, and on an error. The result is valid until the next call.
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
      auto part = file_.text(begin_ - more, more);
      if (!part) {
        error = std::move(part.error);
        problem = part.problem;
        return std::nullopt;
      }
      begin_ -= more;
      text_.insert(0, *part);
    }
  }
  /// The position in the file after the line and its newline.
  std::uint64_t end() const { return end_; }

  std::string error;
  ReadProblem problem = ReadProblem::none;

private:
  const FileParts& file_;
  std::uint64_t begin_, end_ = 0; ///< begin_: position of text_ in the file
  std::string text_, line_;
};

/// The position where the last complete line with a step of at most `step` ends; 0 if there is none. Skips lines that
/// can't be parsed.
Parsed<std::uint64_t> end_of_step(const FileParts& file, std::int64_t step) {
  // At a checkpoint there are no later lines, so only one line is read.
  LinesBackwards lines(file);
  while (const auto line = lines.next())
    if (const auto metrics = metrics_from_json(*line); metrics && metrics->step <= step)
      return Parsed<std::uint64_t>::ok(lines.end());
  if (!lines.error.empty()) return Parsed<std::uint64_t>::wrong(lines.error, lines.problem);
  return Parsed<std::uint64_t>::ok(0);
}

/// Calls `use` with the file's bytes up to `end`, block by block. No value if they can't be read.
template <class Use> Parsed<bool> each_block(const FileParts& file, std::uint64_t end, const Use& use) {
  for (std::uint64_t at = 0; at < end;) {
    const auto part = file.text(at, std::min(metrics_block, end - at));
    if (!part) return Parsed<bool>::wrong(part.error, part.problem);
    use(*part);
    at += part->size();
  }
  return Parsed<bool>::ok(true);
}

/// Opens metrics.jsonl. None if it is missing. Throws heed::Unreadable if it can't be read at the moment.
std::optional<FileParts> open_metrics(const RunFolder& run) {
  auto file = run.metrics().open();
  require_readable(file);
  return std::move(file.value);
}

/// The hash of the file's bytes up to `end`. Throws heed::Unreadable.
ContentHash hash_up_to(const FileParts& file, std::uint64_t end) {
  ContentHash hash;
  const auto read = each_block(file, end, [&](const std::string& part) { hash.add(part); });
  if (!read) throw Unreadable(read.error);
  return hash;
}

} // namespace

Parsed<std::vector<MetricsRecord>> read_metrics(const RunFolder& run) {
  std::vector<MetricsRecord> out;
  const auto read = each_metrics_line(run.metrics(), [&](const MetricsRecord& line) { out.push_back(line); });
  return read ? Parsed<std::vector<MetricsRecord>>::ok(std::move(out))
              : Parsed<std::vector<MetricsRecord>>::wrong(read.error, read.problem);
}

std::string append_metrics(const RunFolder& run, const MetricsRecord& metrics) {
  std::string line = to_json(metrics);
  run.metrics().append_line(line);
  return line + '\n';
}

ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size) {
  const auto file = open_metrics(run);
  size = file ? file->size() : 0;
  return file ? hash_up_to(*file, size) : ContentHash();
}

MetricsChecksum metrics_checksum(const RunFolder& run, std::int64_t step) {
  const auto file = open_metrics(run);
  if (!file) return {step, ContentHash().text()};
  const auto end = end_of_step(*file, step);
  require_readable(end);
  return {step, hash_up_to(*file, end.value.value_or(0)).text()};
}

Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest) {
  using Result = Parsed<std::string>;
  constexpr std::string_view mend = "heed run with its configuration computes what is missing";
  const auto file = run.metrics().open();
  if (file.is_unreadable()) return Result::wrong(file.error, file.problem);
  if (!file && !file.is_missing()) return Result::ok(file.error);

  ContentHash hash;
  bool whole = true; // the file ends with a newline, or is empty
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
    return Result::ok(fmt::format("its metrics.jsonl was changed after the run finished (its checksum differs); {}",
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
