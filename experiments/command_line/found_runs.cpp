#include "experiments/command_line/found_runs.hpp"

#include "experiments/command_line/fitted_message.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/sweep/arms_of_runs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <ostream>

namespace heed {

namespace {

bool is_flag(const IndexField& field) { return field.kind == IndexField::Kind::flag; }

} // namespace

void say_left_out(const std::vector<LeftOut>& left_out, const RunIndex& index, Console& console) {
  if (!index.in_memory().empty())
    say(console, "the index can't be saved in its file, so it was built in memory: " + index.in_memory());
  if (!index.not_copied().empty())
    say(console,
        fmt::format("index.sqlite was not updated: {}; move this file away to get a new one", index.not_copied()));
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOut& run : left_out) by_reason[run.reason].push_back(run.id);
  constexpr std::size_t shown = 4;
  for (const auto& [reason, ids] : by_reason) {
    if (ids.size() == 1) {
      say(console, fmt::format("run {} is excluded: {}", ids.front(), reason));
      continue;
    }
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), shown));
    const std::string more = ids.size() > shown
                                 ? fmt::format(" and {} more (heed runs --json names all)", ids.size() - shown)
                                 : "";
    say(console, fmt::format("{} runs are excluded, all for this reason: {}\n      {}{}", ids.size(), reason,
                             fmt::join(ids.begin(), end, ", "), more));
  }
}

void add_arms(RunIndex& index, const std::filesystem::path& out, Console& console) {
  const ArmsOfRuns arms = arms_of_runs(out);
  for (const std::string& problem : arms.problems)
    say(console, fmt::format("the arms of this sweep's runs are unknown: {}", problem));
  index.set_arms(arms.labels);
}

bool may_name_arm(std::string_view text) { return text.find("arm") != std::string_view::npos; }

boost::json::value as_json(const Cell& cell, const IndexField& field) {
  struct ToJson {
    bool flag;
    boost::json::value operator()(std::monostate) const { return nullptr; }
    boost::json::value operator()(std::int64_t v) const {
      return flag ? boost::json::value(v != 0) : boost::json::value(v);
    }
    boost::json::value operator()(double v) const { return v; }
    boost::json::value operator()(const std::string& v) const { return boost::json::value(boost::json::string(v)); }
  };
  return std::visit(ToJson{is_flag(field)}, cell);
}

std::string as_csv(const Cell& cell, const IndexField& field) {
  struct ToText {
    bool flag;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(std::int64_t v) const { return flag ? (v != 0 ? "true" : "false") : fmt::format("{}", v); }
    std::string operator()(double v) const { return csv_number(v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(ToText{is_flag(field)}, cell);
}

std::string for_people(const Cell& cell, const IndexField& field) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* number = std::get_if<double>(&cell))
    return field.name == "seconds" ? duration(*number) : fmt::format("{:.6g}", *number);
  if (field.name == "parameters") return with_commas(std::get<std::int64_t>(cell));
  return as_csv(cell, field);
}

} // namespace heed
