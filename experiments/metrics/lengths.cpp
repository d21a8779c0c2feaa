#include "experiments/metrics/lengths.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <system_error>

namespace heed {

namespace {
constexpr std::string_view at_suffix = "_at", by_length_suffix = "_by_length";

bool is_family_at(std::string_view family) { return family.starts_with("val_") && family.ends_with(at_suffix); }
} // namespace

std::string name_at_length(std::string_view metric, std::int64_t length) {
  return fmt::format("{}{}.{}", metric, at_suffix, length);
}

std::string name_by_length(std::string_view metric, std::int64_t length) {
  return fmt::format("{}{}.{}", metric, by_length_suffix, length);
}

std::string family_at_lengths(std::string_view metric) {
  std::string own(metric.substr(0, metric.find('.')));
  return own.ends_with(at_suffix) ? own : own + std::string(at_suffix);
}

std::string metric_of_family(std::string_view family) {
  return std::string(family.ends_with(at_suffix) ? family.substr(0, family.size() - at_suffix.size()) : family);
}

std::optional<NameOfLength> name_of_length(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view family = name.substr(0, dot);
  const bool of_length = family == by_length_metric || is_family_at(family);
  if (dot == name.npos || !of_length) return std::nullopt;
  NameOfLength out{family, 0};
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + dot + 1, end, out.length).ptr != end) return std::nullopt;
  return out;
}

std::optional<MetricOfLengths> metric_of_lengths(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view family = name.substr(0, dot);
  MetricOfLengths out{family, 0, 0};
  if (dot == name.npos || !(out.of_split() || is_family_at(family))) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto first = std::from_chars(name.data() + dot + 1, end, out.first);
  if (first.ec != std::errc() || out.first < 0) return std::nullopt;
  out.last = out.first;
  if (first.ptr == end) return out;
  if (*first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, out.last);
  if (last.ec != std::errc() || last.ptr != end || out.last <= out.first) return std::nullopt;
  return out;
}

std::vector<std::int64_t> lengths_within(const MetricOfLengths& of, std::vector<std::int64_t> evaluated) {
  std::erase_if(evaluated, [&](std::int64_t length) { return length < of.first || length > of.last; });
  std::ranges::sort(evaluated);
  evaluated.erase(std::unique(evaluated.begin(), evaluated.end()), evaluated.end());
  return evaluated;
}

} // namespace heed
