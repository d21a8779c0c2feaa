#include "experiments/sweep/variation_json.hpp"

#include "experiments/config/chance_sources.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace heed {

using namespace json_fields;

Variation read_variation(const json::object& object, const Plan& plan, const ReadRuns& read_runs) {
  Variation out;
  out.sources = texts(object, "sources");
  const std::int64_t values = integer(object, "values");
  if (out.sources.empty() || values < 2) throw Wrong{"its variation has no sources, or fewer than two values"};
  out.values = static_cast<std::size_t>(values);
  for (const std::string& source : out.sources)
    if (!find_chance_source(source)) throw Wrong{fmt::format("{} is no source of chance", json_text(cut(source)))};
  out.runs = read_runs(object);
  out.labels = texts(object, "labels");
  if (out.labels.size() != out.runs.size()) throw Wrong{"its variation has not one label for each run"};
  std::map<std::string, bool> used; // the IDs that fixings may have
  for (const PlannedRun& run : plan.runs) used[run.id];
  for (const PlannedRun& run : out.runs) {
    if (run.arm != 0) throw Wrong{fmt::format("run {} of the variation is not of the first arm", cut(run.id))};
    used[run.id];
  }
  const auto use = [&](const std::string& id) {
    const auto found = used.find(id);
    if (found == used.end()) throw Wrong{fmt::format("its variation has no run {}", json_text(cut(id)))};
    found->second = true;
  };
  for (const json::value& value : list(object, "fixings")) {
    const json::object& fixing = as_object(value, "a fixing");
    Variation::Fixing& read = out.fixings.emplace_back();
    read.base = text(fixing, "base");
    use(read.base);
    for (const json::value& of_source : list(fixing, "varied")) {
      if (!of_source.is_array()) throw Wrong{"\"varied\" is not a list of lists"};
      std::vector<std::string>& ids = read.varied.emplace_back();
      for (const json::value& id : of_source.get_array()) {
        if (!id.is_string()) throw Wrong{"\"varied\" holds something else than an ID"};
        use(ids.emplace_back(id.get_string()));
      }
      if (ids.size() + 1 != out.values) throw Wrong{"a fixing lacks values of a source"};
    }
    if (read.varied.size() != out.sources.size()) throw Wrong{"a fixing lacks a source"};
  }
  if (out.fixings.empty()) throw Wrong{"its variation has no fixings"};
  for (const PlannedRun& run : out.runs)
    if (!used[run.id]) throw Wrong{fmt::format("run {} of the variation belongs to no fixing", run.id)};
  return out;
}

std::string variation_json(const Variation& variation, const std::string& runs) {
  json::array fixings;
  for (const Variation::Fixing& fixing : variation.fixings)
    fixings.push_back(json::object{{"base", fixing.base}, {"varied", json::value_from(fixing.varied)}});
  return fmt::format("{{\n\"sources\": {},\n\"values\": {},\n\"labels\": {},\n\"fixings\": {},\n\"runs\": {}\n}}",
                     one_line(json::value_from(variation.sources)), variation.values,
                     one_line(json::value_from(variation.labels)), one_line(fixings), runs);
}

} // namespace heed
