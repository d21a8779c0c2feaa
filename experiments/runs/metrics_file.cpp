#include "experiments/runs/metrics_file.hpp"

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
      if ((end == text_.npos ? text_.size() : end) > longest_metrics_line) {
        error = "a line is too long";
        problem = ReadProblem::damaged;
        return std::nullopt;
      }
      const std::uint64_t more = std::min(begin_,
                                          std::clamp<std::uint64_t>(text_.size(), metrics_block, 16 * metrics_block));
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
Parsed<std::uint64_t> end_of_step(const RunFolder& run, const FileParts& file, std::int64_t step) {
  using Result = Parsed<std::uint64_t>;
  // At a checkpoint there are no later lines, so only one line is read.
  LinesBackwards lines(file);
  while (const auto line = lines.next())
    if (const auto metrics = metrics_from_json(*line); metrics && metrics->step <= step) return Result::ok(lines.end());
  if (lines.error.empty()) return Result::ok(0);
  if (lines.problem == ReadProblem::unreadable) return Result::wrong(lines.error, lines.problem);
  // The end of the file is not what a run wrote. The lines before it may be.
  MetricsLines forwards(run.metrics());
  std::uint64_t end = 0;
  for (auto line = forwards.next(); line && line->step <= step; line = forwards.next()) end = forwards.end();
  if (forwards.problem() == ReadProblem::unreadable) return Result::wrong(forwards.error(), forwards.problem());
  return Result::ok(end);
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

/// Opens metrics.jsonl. None if it is missing or damaged. Throws heed::Unreadable if it can't be read at the moment.
std::optional<FileParts> readable_metrics(const RunFolder& run) {
  auto file = open_metrics(run.metrics());
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

std::string append_metrics(const RunFolder& run, const MetricsRecord& metrics) {
  std::string line = to_json(metrics);
  if (line.size() > longest_metrics_line)
    throw Failed(fmt::format("the metrics of step {} have {} bytes, and a line of '{}' has at most {}; measure less: "
                             "train.inspect, train.evaluate_lengths, train.evaluate_by_length",
                             metrics.step, line.size(), run.metrics().string(), longest_metrics_line));
  if (const auto file = run.metrics().identity(); file && file->size + line.size() >= largest_metrics)
    throw Failed(
        fmt::format("'{}' has {} bytes at step {}, and can have at most {}; write fewer lines: train.log_every",
                    run.metrics().string(), file->size, metrics.step, largest_metrics));
  run.metrics().append_line(line);
  return line + '\n';
}

ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size) {
  const auto file = readable_metrics(run);
  size = file ? file->size() : 0;
  return file ? hash_up_to(*file, size) : ContentHash();
}

MetricsChecksum metrics_checksum(const RunFolder& run, std::int64_t step) {
  const auto file = readable_metrics(run);
  if (!file) return {step, ContentHash().text(), 0};
  const auto end = end_of_step(run, *file, step);
  require_readable(end);
  return {step, hash_up_to(*file, *end).text(), *end};
}

Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest) {
  using Result = Parsed<std::string>;
  constexpr std::string_view mend = "heed run with its configuration computes what is missing";
  const auto changed = [&](std::string_view how) {
    return Result::ok(fmt::format("its metrics.jsonl was changed after the run finished ({}); {}", how, mend));
  };
  const auto file = open_metrics(run.metrics());
  if (file.is_unreadable()) return Result::wrong(file.error, file.problem);
  if (!file && !file.is_missing()) return Result::ok(file.error);

  // Only a file with the right last line and the right size is read as a whole.
  const std::uint64_t size = file ? file->size() : 0;
  std::int64_t last = 0;
  bool read = true;
  if (file) {
    LinesBackwards lines(*file);
    const auto line = lines.next();
    if (lines.problem == ReadProblem::unreadable) return Result::wrong(lines.error, lines.problem);
    const auto metrics = line ? metrics_from_json(*line) : Parsed<MetricsRecord>::wrong(lines.error);
    if (metrics) last = metrics->step;
    else read = metrics.error.empty();
  }
  if (read && last < manifest.step)
    return Result::ok(fmt::format("its metrics.jsonl ends at step {}, but the run at step {}; {}", last, manifest.step,
                                  mend));
  if (manifest.metrics.empty()) { // no checkpoint, and so no checksum
    const auto end = size > 0 ? file->text(size - 1, 1) : Parsed<std::string>::ok("\n");
    if (!end) return Result::wrong(end.error, end.problem);
    return *end == "\n" ? Result::ok("") : changed("its last line has no end");
  }
  const MetricsChecksum& sum = manifest.metrics.back();
  if (!read) return changed("its last line is damaged");
  if (sum.size != size) return changed(fmt::format("it has {} bytes, and had {}", size, sum.size));
  ContentHash hash;
  if (file) {
    const auto blocks = each_block(*file, size, [&](const std::string& part) { hash.add(part); });
    if (!blocks) return Result::wrong(blocks.error, blocks.problem);
  }
  return hash.text() == sum.hash ? Result::ok("") : changed("its checksum differs");
}

void truncate_metrics(const RunFolder& run, std::int64_t step, bool aside) {
  const auto file = readable_metrics(run);
  if (!file) {
    // A file that is too large is not copied. A link, a pipe or a folder stays, and the first line that is written
    // reports it.
    if (run.metrics().is_regular_file()) run.metrics().set_aside();
    return;
  }
  const auto end = end_of_step(run, *file, step);
  if (!end) throw Unreadable(end.error);
  if (*end == file->size()) return;
  if (aside) run.metrics().copy_aside();
  NewFile kept = run.metrics().create();
  const auto copied = each_block(*file, *end, [&](const std::string& part) { kept.write(part); });
  if (!copied) throw Unreadable(copied.error);
  kept.finish();
}

} // namespace heed
