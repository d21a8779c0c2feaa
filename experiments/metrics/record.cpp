#include "experiments/metrics/record.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

namespace heed {

using namespace json_fields;

std::string to_json(const MetricsRecord& metrics) {
  std::string out = fmt::format("{{\"step\": {}, \"seconds\": {:.6f}", metrics.step, metrics.seconds);
  if (metrics.step_seconds) out += fmt::format(", \"step_seconds\": {:.6f}", *metrics.step_seconds);
  out += fmt::format(", \"tokens\": {}", metrics.tokens);
  std::string open; // the object to which names with a dot are currently written
  for (const auto& [name, value] : metrics.values) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string object = dot < name.size() ? name.substr(0, dot) : "";
    if (!open.empty() && object != open) out += "}";
    if (object.empty()) out += fmt::format(", {}: {}", json_text(name), number_text(value));
    else
      out += fmt::format("{}{}: {}", object == open ? ", " : fmt::format(", {}: {{", json_text(object)),
                         json_text(name.substr(dot + 1)), number_text(value));
    open = object;
  }
  return out + (open.empty() ? "}" : "}}");
}

Parsed<MetricsRecord> metrics_from_json(std::string_view line) {
  return guarded<MetricsRecord>([&] {
    const json::object object = parse_object(line);
    MetricsRecord metrics;
    metrics.step = integer(object, "step");
    metrics.seconds = real(object, "seconds");
    metrics.tokens = integer(object, "tokens");
    where_given(object, "step_seconds", [&](const json::value& v) { metrics.step_seconds = real(v, "step_seconds"); });
    for (const auto& entry : object) {
      const std::string key = without_controls(entry.key());
      if (key == "step" || key == "seconds" || key == "step_seconds" || key == "tokens") continue;
      if (const json::object* parts = entry.value().if_object())
        for (const auto& part : *parts)
          metrics.values.emplace_back(key + "." + without_controls(part.key()), any_real(part.value(), part.key()));
      else metrics.values.emplace_back(key, any_real(entry.value(), key));
    }
    return metrics;
  });
}

std::vector<std::pair<std::string, double>> values_of(const MetricsRecord& line) {
  constexpr double microseconds = 1e6;
  auto out = line.values;
  if (line.tokens > 0 && line.step_seconds)
    out.emplace_back("time_per_token", microseconds * *line.step_seconds / static_cast<double>(line.tokens));
  add_summaries(out);
  return out;
}

namespace {

std::optional<double> value_in(const std::vector<std::pair<std::string, double>>& values, std::string_view name) {
  for (const auto& [key, value] : values)
    if (key == name) return value;
  return std::nullopt;
}

/// The mean over the lengths of the range that the record has; empty if it has none.
std::optional<double> mean_over_lengths(const MetricsRecord& line, const MetricOfLengths& of) {
  double sum = 0;
  int count = 0;
  for (const auto& [key, value] : line.values)
    if (const auto one = metric_of_lengths(key);
        one && one->family == of.family && one->first >= of.first && one->last <= of.last) {
      sum += value;
      ++count;
    }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

constexpr std::uint64_t lines_block = std::uint64_t{1} << 18;

} // namespace

std::optional<double> written_value(const MetricsRecord& line, std::string_view name) {
  return value_in(line.values, name);
}

std::optional<double> value_of(const MetricsRecord& line, std::string_view name) {
  if (const auto written = written_value(line, name)) return written;
  if (const auto of = metric_of_lengths(name)) return mean_over_lengths(line, *of);
  return value_in(values_of(line), name);
}

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
