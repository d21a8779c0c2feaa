// heed runs: lists the runs of a folder, filtered and sorted.
#include "experiments/actions/found_runs.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace heed {

namespace {

namespace json = boost::json;

struct RunsArguments {
  std::string out = "runs";
  RunsRequest question;
  ResultOptions result;
};

FoundRuns find(const RunsArguments& arguments, bool all_fields, Console& console) {
  RunIndex index(arguments.out);
  RunsRequest question = arguments.question;
  question.all_fields = all_fields;
  FoundRuns found = find_runs(index, arguments.out, question,
                              [&](const std::string& problem) { say(console, problem); });
  say_left_out(found.left_out, index, console);
  return found;
}

RunsResult runs_result(const FoundRuns& found, bool with_nulls) {
  RunsResult out;
  for (const auto& row : found.rows) {
    json::object& run = out.runs.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (json::value cell = as_json(row[i], found.columns[i]); with_nulls || !cell.is_null())
        run[found.columns[i].name] = std::move(cell);
  }
  for (const LeftOut& run : found.left_out) out.left_out.push_back({run.id, run.reason});
  return out;
}

std::string runs_csv(const FoundRuns& found) {
  std::vector<std::string> cells = names_of(found.columns);
  std::string out = sheet_line(cells);
  for (const auto& row : found.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) cells[i] = as_csv(row[i], found.columns[i]);
    out += sheet_line(cells);
  }
  return out;
}

void print_table(const FoundRuns& found, Console& console) {
  TextTable table;
  for (const IndexField& column : found.columns)
    table.add_column(column.name, column.kind == IndexField::Kind::number ? Align::right : Align::left);
  for (const auto& row : found.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) cells.push_back(for_people(row[i], found.columns[i]));
  }
  if (!found.rows.empty()) console.out << to_text(table) << "\n";
  console.out << fmt::format("  {} of {} run{}\n", found.rows.size(), found.all, plural(found.all));
}

int runs(const RunsArguments& arguments, Console& console) {
  ResultOutput output("runs", arguments.result);
  const FoundRuns found = find(arguments, !output.is("terminal"), console);
  if (output.is("json")) output.write_result(runs_result(found, !arguments.question.columns.empty()), console);
  else if (output.is("csv")) output.write(runs_csv(found), console);
  else print_table(found, console);
  return 0;
}

} // namespace

void add_runs(Commands& commands) {
  add_command<RunsArguments>(
      commands, "runs", "list the runs of a folder, of all sweeps: filtered, sorted, as a table, JSON or CSV",
      "Examples:\n"
      "  heed runs\n"
      "  heed runs --where \"attention.score = 'additive' and val_loss < 1.9\" --sort val_loss\n"
      "  heed runs --where \"state = 'failed' or not name like 'which%'\" --columns id,name,failure\n"
      "  heed runs --columns id,arm,seed,val_loss --sort arm\n"
      "  heed runs --where \"model.heads in (1, 2) and seed < 3\" --csv --output runs.csv\n"
      "A filter compares fields with = != < <= > >=, like 'pattern' (% any characters, _ one) and in (...), joined by\n"
      "and, or, not and parentheses. Texts are in single quotes. Fields are attributes of a run (id, name, state, "
      "seed,\n"
      "created, seconds, parameters, ...), options by full name, and metrics: val_loss is the last value,\n"
      "val_loss.best the best, val_loss.best_step its step. The field arm is the label of the run's arm in the most\n"
      "recent sweep that contains the run. It is empty for a run of no sweep. A condition never matches a run\n"
      "that lacks its field, also after not. JSON and CSV have every field with a value, unless --columns names "
      "fields. The command\n"
      "reads an index in ~/.cache/heed/index, which it updates first. OUT/index.sqlite is a copy of the index, which\n"
      "any SQLite tool opens.",
      [](Command& command, RunsArguments& arguments) {
        add_output_folder(command, arguments.out);
        command.add("--where EXPR", arguments.question.where, "a filter; only runs that match it [all]");
        command.add("--sort FIELD", arguments.question.sort, "sort by this field, the smallest value first [created]");
        command.add_flag("--reverse", arguments.question.reverse,
                         "sort in reverse: the largest value, or the newest run, first");
        command
            .add("--columns FIELDS", arguments.question.columns,
                 "show these fields, separated by commas [fields that differ]")
            .separated_by(',');
        command.add("--limit", arguments.question.limit, "the most runs to show").within(0, std::int64_t{1} << 40);
        add_result_options(command, arguments.result, {"terminal", "json", "csv"});
      },
      runs);
}

} // namespace heed
