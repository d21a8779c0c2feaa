// The records of a run as JSON: manifest, metrics, progress.
#include "experiments/runs/json_fields.hpp"
#include "experiments/runs/run_store.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace heed {
namespace {

using namespace json_fields;

/// The shortest text that reads back as the same number; JSON has none for NaN and infinities.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

/// null is NaN.
double any_real(const json::value& value, std::string_view key) {
  return real_or_null(value, key).value_or(std::numeric_limits<double>::quiet_NaN());
}

json::object parse_object(std::string_view bytes) {
  json::value value = parsed(bytes);
  if (!value.is_object()) throw Wrong{"it is not a JSON object"};
  return std::move(value.as_object());
}

/// Calls `read(value)` where the key is there: records of other versions may lack it.
template <class Read> void where_given(const json::object& object, std::string_view key, Read read) {
  if (const json::value* value = given(object, key)) read(*value);
}

int small(const json::value& value, std::string_view key) {
  const std::int64_t n = integer(value, key);
  if (n < 0 || n > std::numeric_limits<int>::max()) throw Wrong{fmt::format("\"{}\" is out of bounds", key)};
  return static_cast<int>(n);
}

template <class T, class Read> Parsed<T> guarded(Read read) {
  try {
    return Parsed<T>::ok(read());
  } catch (const Wrong& wrong) {
    return Parsed<T>::wrong(wrong.why);
  }
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
      {"seconds", number(m.seconds)},
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

std::string to_json(const Metrics& metrics) {
  std::string out = fmt::format("{{\"step\": {}, \"seconds\": {:.6f}", metrics.step, metrics.seconds);
  if (metrics.step_seconds) out += fmt::format(", \"step_seconds\": {:.6f}", *metrics.step_seconds);
  out += fmt::format(", \"tokens\": {}", metrics.tokens);
  std::string open; // the object that names with a dot are being written to
  for (const auto& [name, value] : metrics.values) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string object = dot < name.size() ? name.substr(0, dot) : "";
    if (!open.empty() && object != open) out += "}";
    if (object.empty()) out += fmt::format(", {}: {}", json_text(name), number(value));
    else
      out += fmt::format("{}{}: {}", object == open ? ", " : fmt::format(", {}: {{", json_text(object)),
                         json_text(name.substr(dot + 1)), number(value));
    open = object;
  }
  return out + (open.empty() ? "}" : "}}");
}

Parsed<Metrics> metrics_from_json(std::string_view line) {
  return guarded<Metrics>([&] {
    const json::object object = parse_object(line);
    Metrics metrics;
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

std::string to_json(const Progress& progress) {
  return fmt::format("{{\"step\": {}, \"steps\": {}, \"loss\": {}, \"steps_per_second\": {}}}\n", progress.step,
                     progress.steps, number(progress.loss), number(progress.steps_per_second));
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

} // namespace heed
