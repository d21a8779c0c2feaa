#include "experiments/actions/schemas.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/diagnostics.hpp"
#include "experiments/actions/plan_result.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/config/values.hpp"
#include "experiments/report/page_files.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed {

namespace {

namespace json = boost::json;

constexpr std::string_view draft = "https://json-schema.org/draft/2020-12/schema";

json::object report_reference() { return {{"$ref", "#/$defs/report"}}; }

json::object run_result() {
  json::object out = described::schema_of<RunResult>();
  out.at("properties").at("report").as_object()["anyOf"] = json::array{report_reference(), {{"type", "null"}}};
  return out;
}

/// Puts the definitions of a report, and the report itself, under `$defs`.
void add_report(json::object& schema) {
  json::object report = json::parse(page_files::schema).as_object();
  json::object defs = std::move(report.at("$defs").as_object());
  report.erase("$defs");
  report.erase("$schema");
  defs["report"] = std::move(report);
  schema["$defs"] = std::move(defs);
}

struct NamedSchema {
  std::string_view command;
  json::object (*result)();
};

constexpr NamedSchema commands[] = {{"attend", described::schema_of<AttendResult>},
                                    {"check", described::schema_of<CheckResult>},
                                    {"compare", report_reference},
                                    {"data", described::schema_of<DataResult>},
                                    {"diff", described::schema_of<DiffResult>},
                                    {"evaluate", described::schema_of<EvaluateResult>},
                                    {"export", described::schema_of<ExportResult>},
                                    {"generate", described::schema_of<GenerateResult>},
                                    {"inspect", described::schema_of<InspectResult>},
                                    {"new", described::schema_of<NewResult>},
                                    {"options", described::schema_of<OptionsResult>},
                                    {"plan", described::schema_of<PlanResult>},
                                    {"report", report_reference},
                                    {"rerun", described::schema_of<RerunResult>},
                                    {"run", run_result},
                                    {"runs", described::schema_of<RunsResult>},
                                    {"show", described::schema_of<ShowResult>},
                                    {"status", described::schema_of<StatusResult>},
                                    {"variants", described::schema_of<VariantsResult>}};

json::object envelope_schema(const NamedSchema& of) {
  json::object properties{
      {"heed", {{"type", "string"}, {"description", "the version of Heed"}}},
      {"command", {{"const", of.command}, {"description", "the command"}}},
      {"status", {{"enum", {0, 1, 2, 130, 143}}, {"description", "the exit status"}}},
      {"result", {{"anyOf", json::array{of.result(), json::object{{"type", "null"}}}}}},
      {"diagnostics",
       {{"type", "array"}, {"items", described::schema_of<Diagnostic>()}, {"description", "errors and notes"}}}};
  properties.at("result").as_object()["description"] = "null if the command failed before it had one";
  json::object out{{"$schema", draft},
                   {"title", fmt::format("What heed {} --format json says", of.command)},
                   {"type", "object"},
                   {"properties", std::move(properties)},
                   {"required", {"heed", "command", "status", "result", "diagnostics"}},
                   {"additionalProperties", false}};
  if (of.command == "report" || of.command == "compare" || of.command == "run") add_report(out);
  return out;
}

json::object line_schema() {
  json::object out{{"$schema", draft}, {"title", "A line of heed run --format json, before the last one"}};
  for (auto& member : described::schema_of<RunLine>()) out[member.key()] = std::move(member.value());
  return out;
}

} // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names{"config", "report-document", "run-line"};
  for (const NamedSchema& of : commands) names.emplace_back(of.command);
  return names;
}

json::object schema_named(std::string_view name) {
  if (name == "config") return json::parse(json_schema()).as_object();
  if (name == "report-document") return json::parse(page_files::schema).as_object();
  if (name == "run-line") return line_schema();
  const auto* const found = std::ranges::find(commands, name, &NamedSchema::command);
  if (found == std::end(commands))
    throw Refused(fmt::format("schema: there is no schema {}{}; schemas: {}", name,
                              did_you_mean(std::string(name), schema_names()), fmt::join(schema_names(), ", ")));
  return envelope_schema(*found);
}

} // namespace heed
