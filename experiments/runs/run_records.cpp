// The records of a run as JSON: manifest, progress.
#include "experiments/runs/run_records.hpp"

#include "experiments/data/json_fields.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <limits>

namespace heed {
namespace {

using namespace json_fields;

int small(const json::value& value, std::string_view key) {
  const std::int64_t n = integer(value, key);
  if (n < 0 || n > std::numeric_limits<int>::max()) throw Wrong{fmt::format("\"{}\" is out of bounds", key)};
  return static_cast<int>(n);
}

} // namespace

std::string to_json(const Manifest& m) {
  const std::vector<std::pair<std::string_view, std::string>> lines = {
      {"run", json_text(m.run)},
      {"name", json_text(m.name)},
      {"outcome", json_text(m.outcome)},
      {"failure", json_text(m.failure)},
      {"refused", m.refused ? "true" : "false"},
      {"step", fmt::format("{}", m.step)},
      {"started", json_text(m.started)},
      {"ended", json_text(m.ended)},
      {"seconds", number_text(m.seconds)},
      {"starts", fmt::format("{}", m.starts)},
      {"threads", fmt::format("{}", m.threads)},
      {"host", json_text(m.host)},
      {"cpu", json_text(m.cpu)},
      {"heed", json_text(m.build.version)},
      {"numerics", fmt::format("{}", m.numerics)},
      {"compiler", json_text(m.build.compiler)},
      {"flags", json_text(m.build.flags)},
      {"kernels", json_text(m.build.kernels)},
      {"blas", json_text(m.build.blas)},
      {"data", json_text(m.data)},
  };
  std::string out = "{\n";
  for (const auto& [key, value] : lines) out += fmt::format("  \"{}\": {},\n", key, value);
  std::vector<std::string> sums;
  for (const MetricsSum& sum : m.metrics)
    sums.push_back(fmt::format("{{\"step\": {}, \"hash\": {}}}", sum.step, json_text(sum.hash)));
  std::vector<std::string> earlier;
  for (const EarlierSteps& steps : m.earlier)
    earlier.push_back(fmt::format("{{\"until\": {}, \"made\": {}}}", steps.until, json_text(steps.made)));
  return out + fmt::format("  \"earlier\": [{}],\n  \"metrics\": [{}]\n}}\n", fmt::join(earlier, ", "),
                           fmt::join(sums, ", "));
}

Parsed<Manifest> manifest_from_json(std::string_view bytes) {
  return guarded<Manifest>([&] {
    const json::object object = parse_object(bytes);
    Manifest m;
    m.run = text(object, "run");
    m.outcome = text(object, "outcome");
    if (m.outcome != "running" && m.outcome != "interrupted" && m.outcome != "failed" && m.outcome != "finished")
      throw Wrong{
          fmt::format("its outcome is \"{}\", which is none of running, interrupted, failed, finished", m.outcome)};
    const std::pair<std::string_view, std::string*> texts[] = {{"name", &m.name},
                                                               {"failure", &m.failure},
                                                               {"started", &m.started},
                                                               {"ended", &m.ended},
                                                               {"host", &m.host},
                                                               {"cpu", &m.cpu},
                                                               {"heed", &m.build.version},
                                                               {"compiler", &m.build.compiler},
                                                               {"flags", &m.build.flags},
                                                               {"blas", &m.build.blas},
                                                               {"kernels", &m.build.kernels},
                                                               {"data", &m.data}};
    for (const auto& [key, to] : texts)
      where_given(object, key, [&, key = key, to = to](const json::value& v) { *to = text_for_people(v, key); });
    const std::pair<std::string_view, int*> numbers[] = {
        {"starts", &m.starts}, {"threads", &m.threads}, {"numerics", &m.numerics}};
    for (const auto& [key, to] : numbers)
      where_given(object, key, [&, key = key, to = to](const json::value& v) { *to = small(v, key); });
    where_given(object, "step", [&](const json::value& v) { m.step = integer(v, "step"); });
    where_given(object, "seconds", [&](const json::value& v) { m.seconds = any_real(v, "seconds"); });
    if (given(object, "metrics"))
      for (const json::value& sum : list(object, "metrics")) {
        const json::object& fields = as_object(sum, "a sum of metrics");
        m.metrics.push_back({integer(fields, "step"), text(fields, "hash")});
      }
    if (given(object, "earlier"))
      for (const json::value& steps : list(object, "earlier")) {
        const json::object& fields = as_object(steps, "earlier steps");
        m.earlier.push_back({integer(fields, "until"), text_for_people(needed(fields, "made"), "made")});
      }
    where_given(object, "refused", [&](const json::value& v) { m.refused = v.is_bool() && v.get_bool(); });
    return m;
  });
}

std::string to_json(const Progress& progress) {
  return fmt::format("{{\"step\": {}, \"steps\": {}, \"loss\": {}, \"steps_per_second\": {}}}\n", progress.step,
                     progress.steps, number_text(progress.loss), number_text(progress.steps_per_second));
}

Parsed<Progress> progress_from_json(std::string_view bytes) {
  return guarded<Progress>([&] {
    const json::object object = parse_object(bytes);
    Progress progress;
    progress.step = integer(object, "step");
    progress.steps = integer(object, "steps");
    progress.loss = any_real(needed(object, "loss"), "loss");
    progress.steps_per_second = any_real(needed(object, "steps_per_second"), "steps_per_second");
    return progress;
  });
}

Parsed<Manifest> read_manifest(const RunFolder& run) {
  const auto bytes = run.manifest().read();
  if (!bytes) return Parsed<Manifest>::wrong(bytes.error, bytes.problem);
  auto manifest = manifest_from_json(*bytes);
  if (!manifest) manifest.error = fmt::format("'{}' is damaged: {}", run.manifest().string(), manifest.error);
  return manifest;
}

} // namespace heed
