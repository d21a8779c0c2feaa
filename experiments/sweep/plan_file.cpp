// Plans as files: OUT/sweeps/NAME-HASH/plan.json.
#include "experiments/sweep/plan.hpp"

#include "experiments/config/settings.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <system_error>

namespace heed {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::int64_t format_version = 1;

std::string json_text(std::string_view text) { return json::serialize(json::string(text)); }

struct Wrong {
  std::string why;
};

const json::value& needed(const json::object& object, std::string_view key) {
  if (const json::value* value = object.if_contains({key.data(), key.size()})) return *value;
  throw Wrong{fmt::format("it has no \"{}\"", key)};
}

std::string text(const json::object& object, std::string_view key) {
  const json::string* string = needed(object, key).if_string();
  if (!string) throw Wrong{fmt::format("\"{}\" is not a text", key)};
  return std::string(*string);
}

std::int64_t integer(const json::value& value, std::string_view key) {
  const std::int64_t* number = value.if_int64();
  if (!number) throw Wrong{fmt::format("\"{}\" is not a whole number", key)};
  return *number;
}

const json::array& list(const json::object& object, std::string_view key) {
  const json::array* array = needed(object, key).if_array();
  if (!array) throw Wrong{fmt::format("\"{}\" is not a list", key)};
  return *array;
}

const json::object& as_object(const json::value& value, std::string_view what) {
  const json::object* object = value.if_object();
  if (!object) throw Wrong{fmt::format("{} is not an object", what)};
  return *object;
}

Arm read_arm(const json::object& object) {
  Arm arm;
  arm.label = text(object, "label");
  for (const json::value& change : list(object, "changes")) {
    const json::object& pair = as_object(change, "a change");
    arm.changes.push_back({text(pair, "key"), text(pair, "value")});
  }
  return arm;
}

PlannedRun read_run(const json::object& object, std::size_t arms) {
  PlannedRun run;
  run.id = text(object, "id");
  run.seed = integer(needed(object, "seed"), "seed");
  const std::int64_t arm = integer(needed(object, "arm"), "arm");
  if (arm < 0 || static_cast<std::uint64_t>(arm) >= arms)
    throw Wrong{fmt::format("run {} belongs to arm {} of {}", run.id, arm, arms)};
  run.arm = static_cast<std::size_t>(arm);
  // The ID becomes the name of a folder.
  if (run.id.empty() || run.id.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Wrong{fmt::format("{} is not the ID of a run", json_text(run.id))};
  run.config = text(object, "config");
  return run;
}

Plan read(std::string_view bytes) {
  json::error_code error;
  const json::value parsed = json::parse({bytes.data(), bytes.size()}, error);
  if (error) throw Wrong{"it is not JSON: " + error.message()};
  const json::object& object = as_object(parsed, "it");
  if (const auto format = integer(needed(object, "format"), "format"); format != format_version)
    throw Wrong{fmt::format("its format is {}, this Heed reads {}", format, format_version)};

  Plan plan;
  plan.name = text(object, "name");
  plan.hash = text(object, "hash");
  plan.metric = text(object, "metric");
  const json::value& sweep = needed(object, "sweep");
  if (!sweep.is_bool()) throw Wrong{"\"sweep\" is neither true nor false"};
  plan.sweep = sweep.get_bool();
  for (const json::value& seed : list(object, "seeds")) plan.seeds.push_back(integer(seed, "seeds"));
  for (const json::value& arm : list(object, "arms")) plan.arms.push_back(read_arm(as_object(arm, "an arm")));
  for (const json::value& run : list(object, "runs"))
    plan.runs.push_back(read_run(as_object(run, "a run"), plan.arms.size()));

  for (std::size_t i = 0; i < plan.runs.size(); ++i) plan.arms[plan.runs[i].arm].runs.push_back(i);
  for (const Arm& arm : plan.arms)
    if (arm.runs.size() != plan.seeds.size())
      throw Wrong{fmt::format("arm \"{}\" has {} runs for {} seeds", arm.label, arm.runs.size(), plan.seeds.size())};
  if (plan.runs.empty()) throw Wrong{"it has no runs"};
  if (const std::string hash = hash_of(plan); hash != plan.hash)
    throw Wrong{fmt::format("its hash is {}, its content's {}: it was edited", plan.hash, hash)};
  return plan;
}

fs::path plan_file(const fs::path& folder) { return folder / "plan.json"; }

/// `NAME` of `NAME-HASH`.
std::string name_part(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.substr(0, name.rfind('-'));
}

} // namespace

std::string to_json(const Plan& plan) {
  std::string out = fmt::format("{{\n\"format\": {},\n\"name\": {},\n\"hash\": {},\n\"metric\": {},\n\"sweep\": {},\n"
                                "\"seeds\": [{}],\n\"arms\": [",
                                format_version, json_text(plan.name), json_text(plan.hash), json_text(plan.metric),
                                plan.sweep, fmt::join(plan.seeds, ", "));
  const char* between = "\n";
  for (const Arm& arm : plan.arms) {
    std::vector<std::string> changes;
    for (const PlannedChange& change : arm.changes)
      changes.push_back(fmt::format("{{\"key\": {}, \"value\": {}}}", json_text(change.key), json_text(change.value)));
    out += fmt::format("{}  {{\"label\": {}, \"changes\": [{}]}}", between, json_text(arm.label),
                       fmt::join(changes, ", "));
    between = ",\n";
  }
  out += "\n],\n\"runs\": [";
  between = "\n";
  for (const PlannedRun& run : plan.runs) {
    out += fmt::format("{}  {{\"id\": {}, \"arm\": {}, \"seed\": {}, \"config\": {}}}", between, json_text(run.id),
                       run.arm, run.seed, json_text(run.config));
    between = ",\n";
  }
  return out + "\n]\n}\n";
}

Parsed<Plan> plan_from_json(std::string_view bytes) {
  try {
    return Parsed<Plan>::ok(read(bytes));
  } catch (const Wrong& wrong) {
    return Parsed<Plan>::wrong(wrong.why);
  }
}

fs::path freeze(const Plan& plan, const fs::path& out) {
  const fs::path folder = out / "sweeps" / plan.folder_name();
  make_folder(folder);
  const std::string bytes = to_json(plan);
  const auto before = read_file(plan_file(folder));
  std::error_code error;
  if (!before || *before != bytes) write_file(plan_file(folder), bytes);
  else fs::last_write_time(plan_file(folder), fs::file_time_type::clock::now(), error);  // the latest, where it can be
  return folder;
}

Plan load_plan(const fs::path& folder) {
  const auto bytes = read_file(plan_file(folder));
  if (!bytes) throw Refused(bytes.error + "; a sweep's folder is OUT/sweeps/NAME-HASH");
  auto plan = plan_from_json(*bytes);
  if (!plan)
    throw Refused(fmt::format("'{}' is damaged: {}; run the sweep's configuration again to have it written anew "
                              "(finished runs are kept)",
                              plan_file(folder).string(), plan.error));
  return std::move(*plan);
}

std::vector<fs::path> sweep_folders(const fs::path& out) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator it(out / "sweeps", error), end; !error && it != end; it.increment(error)) {
    std::error_code missing;
    const auto written = fs::last_write_time(plan_file(it->path()), missing);
    if (!missing) found.emplace_back(written, it->path());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b < a; });
  std::vector<fs::path> folders;
  for (auto& [written, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

fs::path find_sweep(const fs::path& out, const std::optional<std::string>& name) {
  std::error_code error;
  if (name && !name->empty() && fs::exists(plan_file(*name), error)) return *name;
  const std::vector<fs::path> folders = sweep_folders(out);
  if (folders.empty())
    throw Refused(fmt::format("there are no sweeps in '{}'; run a configuration first (heed run FILE), or name another "
                              "folder",
                              out.string()));
  if (!name) return folders.front();

  for (const fs::path& folder : folders)
    if (name_part(folder) == *name || folder.filename() == *name) return folder;
  std::vector<fs::path> matching;
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    names.push_back(folder.filename().string());
    if (!name->empty() && names.back().starts_with(*name)) matching.push_back(folder);
  }
  if (matching.size() == 1) return matching.front();
  std::vector<std::string> parts = names;
  for (const fs::path& folder : folders) parts.push_back(name_part(folder));
  const std::string near = nearest(*name, parts);
  throw Refused(fmt::format("sweep '{}': {} in '{}', which has {}{}", *name,
                            matching.empty() ? "no such sweep" : "more than one begins so", out.string(),
                            fmt::join(names, ", "), near.empty() ? "" : "; did you mean " + near + "?"));
}

} // namespace heed
