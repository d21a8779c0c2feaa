// Converts a run's manifest and progress to JSON and back.
#include "experiments/runs/run_records.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/system/bounds.hpp"

#include <boost/json.hpp>
#include <concepts>
#include <fmt/format.h>
#include <limits>
#include <type_traits>

namespace heed {
namespace {

using namespace json_fields;

int small(const json::value& value, std::string_view key) {
  const std::int64_t n = integer(value, key);
  if (n < 0 || n > std::numeric_limits<int>::max()) throw Wrong{fmt::format("\"{}\" is out of bounds", key)};
  return static_cast<int>(n);
}

/// use(key, member) for each plain field of a record, in the order of the file.
template <class M, class Use>
void each_field(M& m, const Use& use) requires std::same_as<std::remove_const_t<M>, Manifest> {
  use("format", m.format);
  use("run", m.run);
  use("name", m.name);
  use("outcome", m.outcome);
  use("failure", m.failure);
  use("refused", m.refused);
  use("step", m.step);
  use("started", m.started);
  use("ended", m.ended);
  use("seconds", m.seconds);
  use("starts", m.starts);
  use("threads", m.threads);
  use("host", m.host);
  use("cpu", m.cpu);
  use("heed", m.build.version);
  use("numerics", m.numerics);
  use("compiler", m.build.compiler);
  use("flags", m.build.flags);
  use("kernels", m.build.kernels);
  use("blas", m.build.blas);
  use("data", m.data);
}

template <class P, class Use>
void each_field(P& p, const Use& use) requires std::same_as<std::remove_const_t<P>, Progress> {
  use("step", p.step);
  use("steps", p.steps);
  use("loss", p.loss);
  use("steps_per_second", p.steps_per_second);
}

template <class Record> json::object fields_of(const Record& record) {
  json::object out;
  each_field(record, [&](std::string_view key, const auto& member) { out[key] = json::value_from(member); });
  return out;
}

void read_field(const json::value& value, std::string_view key, std::string& to) {
  // The run's ID depends on the whole fingerprint of its data.
  to = key == "data" ? without_controls(text(value, key)) : text_for_people(value, key);
}
void read_field(const json::value& value, std::string_view key, std::int64_t& to) { to = integer(value, key); }
void read_field(const json::value& value, std::string_view key, int& to) { to = small(value, key); }
void read_field(const json::value& value, std::string_view key, double& to) { to = any_real(value, key); }
void read_field(const json::value& value, std::string_view, bool& to) { to = value.is_bool() && value.get_bool(); }

json::object start_json(const StartRecord& start) {
  const auto names = [](const std::vector<std::string>& list) { return json::array(list.begin(), list.end()); };
  return {{"run", start.run},
          {"step", start.step},
          {"checksum", start.checksum},
          {"converted", start.converted},
          {"taken", names(start.match.taken)},
          {"reshaped", names(start.match.reshaped)},
          {"missing", names(start.match.missing)},
          {"unused", names(start.match.unused)},
          {"changes", names(start.changes)}};
}

StartRecord start_from_json(const json::object& fields) {
  const auto names = [&](std::string_view key) {
    std::vector<std::string> out = texts(fields, key);
    for (std::string& name : out) name = cut(without_controls(name));
    return out;
  };
  return {text_for_people(needed(fields, "run"), "run"),
          integer(fields, "step"),
          text_for_people(needed(fields, "checksum"), "checksum"),
          text_for_people(needed(fields, "converted"), "converted"),
          {names("taken"), names("reshaped"), names("missing"), names("unused")},
          fields.contains("changes") ? names("changes") : std::vector<std::string>()};
}

/// A sentence without its subject if another version of Heed wrote the manifest in another format, else empty.
std::string other_format(const json::object& manifest) {
  const json::value* format = given(manifest, "format");
  if (!format)
    return "has no format number: a version of Heed before 0.3.0 wrote this run, and this version does not read it; "
           "run its configuration again";
  if (const std::int64_t number = integer(*format, "format"); number != run_format)
    return fmt::format("has the format {}: a later version of Heed wrote this run, and this version reads only the "
                       "format {}",
                       number, run_format);
  return {};
}

} // namespace

std::string to_json(const Manifest& m) {
  json::object fields = fields_of(m);
  if (m.start) fields["start"] = start_json(*m.start);
  fields["earlier"] = json::value_from(m.earlier);
  fields["metrics"] = json::value_from(m.metrics);
  std::string out = "{\n";
  const char* between = "";
  for (const auto& [key, value] : fields) {
    out += fmt::format("{}  {}: {}", between, json_text(key), one_line(value));
    between = ",\n";
  }
  return out + "\n}\n";
}

Parsed<Manifest> manifest_from_json(std::string_view bytes) {
  std::string other;
  auto read = guarded<Manifest>([&] {
    const json::object object = parse_object(bytes);
    other = other_format(object);
    if (!other.empty()) throw Wrong{other};
    Manifest m;
    each_field(m, [&](std::string_view key, auto& member) {
      where_given(object, key, [&](const json::value& value) { read_field(value, key, member); });
    });
    m.run = text(object, "run"); // both are required, and have no default
    m.outcome = text(object, "outcome");
    if (m.outcome != "running" && m.outcome != "interrupted" && m.outcome != "failed" && m.outcome != "finished")
      throw Wrong{fmt::format("its outcome is \"{}\", which is none of running, interrupted, failed, finished",
                              cut(m.outcome))};
    where_given(object, "start",
                [&](const json::value& value) { m.start = start_from_json(as_object(value, "the start")); });
    if (given(object, "metrics"))
      for (const json::value& sum : list(object, "metrics")) {
        const json::object& fields = as_object(sum, "a sum of metrics");
        const std::int64_t size = integer(fields, "size");
        if (size < 0) throw Wrong{"\"size\" is below 0"};
        m.metrics.push_back({integer(fields, "step"), text(fields, "hash"), static_cast<std::uint64_t>(size)});
      }
    if (given(object, "earlier"))
      for (const json::value& steps : list(object, "earlier")) {
        const json::object& fields = as_object(steps, "earlier steps");
        m.earlier.push_back({integer(fields, "until"), text_for_people(needed(fields, "made"), "made")});
      }
    return m;
  });
  if (!other.empty()) read.problem = ReadProblem::other_format;
  return read;
}

std::string to_json(const Progress& progress) { return one_line(fields_of(progress)) + "\n"; }

Parsed<Progress> progress_from_json(std::string_view bytes) {
  return guarded<Progress>([&] {
    const json::object object = parse_object(bytes);
    Progress progress;
    each_field(progress, [&](std::string_view key, auto& member) { read_field(needed(object, key), key, member); });
    return progress;
  });
}

Parsed<Manifest> read_manifest(const RunFolder& run) {
  const auto bytes = run.manifest().read(largest_manifest);
  if (!bytes) return Parsed<Manifest>::wrong(bytes.error, bytes.problem);
  auto manifest = manifest_from_json(*bytes);
  const char* is = manifest.problem == ReadProblem::other_format ? "" : "is damaged: ";
  if (!manifest) manifest.error = fmt::format("'{}' {}{}", run.manifest().string(), is, manifest.error);
  return manifest;
}

} // namespace heed
