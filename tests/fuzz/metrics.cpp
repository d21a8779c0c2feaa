// Fuzz target: the reader of a line of metrics.jsonl.
#include "experiments/metrics/record.hpp"
#include "tests/fuzz/json_record.hpp"

#include <set>

using namespace heed;

namespace {

/// Whether the names of the metrics are possible in a run. Names with the same text before the dot share one JSON
/// object, so they must be adjacent, and no other metric may have the name of the object.
bool are_a_runs_names(const MetricsRecord& metrics) {
  std::set<std::string> taken{"step", "seconds", "step_seconds", "tokens"};
  std::string open;
  for (const auto& [name, value] : metrics.values) {
    const std::size_t dot = name.find('.');
    const std::string before = name.substr(0, dot);
    const bool goes_on = dot != std::string::npos && before == open;
    if (before.empty() || (!goes_on && !taken.insert(before).second)) return false;
    if (dot != std::string::npos && !taken.insert(name).second) return false;
    open = dot == std::string::npos ? "" : before;
  }
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = fuzz::text(data, size);
  const auto metrics = metrics_from_json(line);
  if (metrics && !are_a_runs_names(*metrics)) return 0;
  return fuzz::json_record(line, metrics_from_json, [](const MetricsRecord& record) { return to_json(record); });
}
