// Tests of the schema of a report's JSON: every report fits it.
#include "experiments/report/json.hpp"
#include "experiments/report/page_files.hpp"
#include "experiments/report/variance.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace heed;
namespace json = boost::json;

namespace {

/// The part of JSON Schema that the schema uses.
class Validator {
public:
  explicit Validator(const json::value& schema) : schema_(schema) {}

  /// What does not fit, with its place.
  std::vector<std::string> findings(const json::value& document) {
    found_.clear();
    check(document, schema_, "");
    return found_;
  }

private:
  bool is_of(const json::value& value, std::string_view type) const {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_bool();
    if (type == "integer") return value.is_int64() || value.is_uint64();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
  }

  void check(const json::value& value, const json::value& schema, const std::string& at) {
    const json::object& of = schema.as_object();
    if (const json::value* any = of.if_contains("anyOf")) {
      std::vector<std::string> before = found_;
      for (const json::value& one : any->as_array()) {
        found_ = before;
        check(value, one, at);
        if (found_.size() == before.size()) return;
      }
      return; // what the last one found
    }
    if (const json::value* name = of.if_contains("$ref")) {
      constexpr std::string_view begin = "#/$defs/";
      return check(value, schema_.at("$defs").at(std::string_view(name->as_string()).substr(begin.size())), at);
    }
    const json::value* words = of.if_contains("enum");
    if (words && std::ranges::find(words->as_array(), value) == words->as_array().end())
      found_.push_back(fmt::format("{}: {} is not allowed", at, json::serialize(value)));
    if (const json::value* only = of.if_contains("const"); only && *only != value)
      found_.push_back(fmt::format("{}: {}", at, json::serialize(value)));
    if (const json::value* type = of.if_contains("type")) {
      const bool fits = type->is_string() ? is_of(value, type->as_string())
                                          : std::ranges::any_of(type->as_array(), [&](const json::value& one) {
                                              return is_of(value, one.as_string());
                                            });
      if (!fits) return found_.push_back(fmt::format("{}: {}", at, json::serialize(value)));
    }
    if (value.is_array() && of.contains("items"))
      for (std::size_t i = 0; i < value.as_array().size(); ++i)
        check(value.at(i), of.at("items"), fmt::format("{}[{}]", at, i));
    if (!value.is_object() || !of.contains("properties")) return;
    const json::object &members = value.as_object(), &known = of.at("properties").as_object();
    const json::value* const required = of.if_contains("required");
    for (const json::value& name : required ? required->as_array() : json::array())
      if (!members.contains(name.as_string()))
        found_.push_back(fmt::format("{}.{} is missing", at, name.as_string().c_str()));
    for (const auto& [name, member] : members) {
      const std::string place = fmt::format("{}.{}", at, std::string_view(name));
      if (const json::value* its = known.if_contains(name)) check(member, *its, place);
      else found_.push_back(place + " is not in the schema");
    }
  }

  const json::value& schema_;
  std::vector<std::string> found_;
};

/// Documents with all kinds of members: awkward names, further metrics, looks, unpaired, one arm, no runs.
std::vector<ReportData> reports() {
  std::vector<ReportData> out{awkward_report()};
  const auto add = [&](const auto& change) {
    ReportData report = awkward_report();
    change(report);
    compute_statistics(report);
    out.push_back(std::move(report));
  };
  add([](ReportData& report) { report.test = statistics::Test::unpaired; });
  add([](ReportData& report) { report.margin.reset(); });
  add([](ReportData& report) { report.looks = {2, 3}; });
  add([](ReportData& report) { report.over = OverTasks{}; });
  add([](ReportData& report) { report.over = OverTasks{.tasks = statistics::TaskScope::like_these}; });
  add([](ReportData& report) { report.metric.direction = Direction::none; });
  add([](ReportData& report) { report.arms.resize(1); });
  add([](ReportData& report) {
    report.margin = 0.1;
    report.asked = statistics::Question::not_worse;
  });
  add([](ReportData& report) {
    for (ReportArm& arm : report.arms)
      for (ReportRun& run : arm.runs) {
        ReportRun none;
        none.id = run.id;
        none.seed = run.seed;
        run = none;
      }
  });
  add([](ReportData& report) { report.table = ReportTable{"results.csv", "fold", "arm is the arm", {"a warning"}}; });
  add([](ReportData& report) {
    report.also.push_back({"val_accuracy", Direction::higher, "", "share of right tokens", 0, 1});
    for (ReportArm& arm : report.arms)
      for (ReportRun& run : arm.runs) run.also = {0.5}, run.also_problems = {""};
  });
  add([](ReportData& report) {
    for (ReportArm& arm : report.arms)
      for (ReportRun& run : arm.runs)
        if (run.value) run.lengths["val_loss_at"] = {{8, 1.0}, {16, 2.0}, {64, 3.0}};
  });
  ReportData varied = awkward_report();
  Variation planned{.sources = {"init", "split"}, .values = 2, .fixings = {}, .runs = {}, .labels = {}};
  varied.variation.emplace().sources = planned.sources;
  const std::string base = varied.arms[0].runs[0].id;
  planned.fixings.push_back({base, {{"varied"}, {base}}});
  varied.variation->runs.emplace_back().id = "varied";
  varied.variation->labels = {"fixing 1, init 10001"};
  compute_variance(varied, planned);
  out.push_back(std::move(varied));
  return out;
}

} // namespace

TEST_CASE("every report fits the schema", "[report][schema]") {
  const json::value schema = json::parse(page_files::schema);
  Validator validator(schema);
  for (const ReportData& report : reports())
    for (const std::size_t every : {1, 2}) {
      const json::value document = json::parse(json::serialize(report_document(report, every)));
      CHECK(validator.findings(document) == std::vector<std::string>{});
    }
}

TEST_CASE("what is wrong, missing or unknown does not fit the schema", "[report][schema]") {
  const json::value schema = json::parse(page_files::schema);
  Validator validator(schema);
  json::value document = report_document(awkward_report());
  document.as_object().erase("notes");
  document.at("arms").at(1).as_object()["answer"] = 3;
  document.at("arms").at(1).at("comparison").as_object()["answer"] = "differs: better";
  document.as_object()["more"] = nullptr;
  const std::vector<std::string> found = validator.findings(document);
  CHECK(std::ranges::count(found, ".notes is missing") == 1);
  CHECK(std::ranges::count(found, ".more is not in the schema") == 1);
  CHECK(found.size() >= 4);
}
