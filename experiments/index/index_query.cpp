// Implements the queries of RunIndex.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/values.hpp"
#include "experiments/index/run_index.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <set>
#include <sqlite3.h>

namespace heed {

namespace {

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
Cell number_or_null(std::int64_t n) { return n == 0 ? Cell() : Cell(n); }

/// The value of one of the entry's options; NULL if it has none.
Cell option_of(const RunEntry& entry, std::string_view key) {
  for (const auto& [name, value] : entry.options)
    if (name == key) return value;
  return {};
}

} // namespace

std::string sql_name(std::string_view name) { return "\"" + replaced(name, {{'"', "\"\""}}) + "\""; }

SqlPart sql_value(const IndexField& field) {
  switch (field.source) {
    case IndexField::Source::run: return {"r." + sql_name(field.column), {}};
    case IndexField::Source::option:
      return {"(SELECT o.value FROM option_sets o WHERE o.option_set = r.option_set AND o.key = ?)", {field.key}};
    case IndexField::Source::metric:
      return {fmt::format("(SELECT m.{} FROM metrics m WHERE m.run = r.id AND m.name = ?)", field.column), {field.key}};
    case IndexField::Source::arm: return {"(SELECT a.label FROM temp.arms a WHERE a.run = r.id)", {}};
  }
  return {};
}

const IndexField& field_named(const std::vector<IndexField>& fields, std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const IndexField& field : fields) {
    if (field.name == name) return field;
    names.push_back(field.name);
  }
  // The option's own name without its table is the best suggestion.
  std::vector<std::string> ending;
  for (const std::string& n : names)
    if (n.ends_with(fmt::format(".{}", name))) ending.push_back(n);
  const std::string near = ending.empty() ? did_you_mean(name, names)
                                          : fmt::format("; did you mean {}?", list_in_words(ending));
  throw Refused(fmt::format("{}there is no field '{}'{}\n      fields are what a run has (id, name, arm, state, seed, "
                            "created, seconds, parameters, ...), options by full name (attention.score) and metrics "
                            "(val_loss, val_loss.best)",
                            where, name, near));
}

std::vector<LeftOut> RunIndex::left_out() {
  std::vector<LeftOut> out;
  for (const auto& row : query("SELECT id, problem FROM folders WHERE problem <> '' ORDER BY id"))
    out.push_back({text_in(row[0]), text_in(row[1])});
  return out;
}

std::size_t RunIndex::size() {
  return static_cast<std::size_t>(std::get<std::int64_t>(query("SELECT count(*) FROM runs").at(0).at(0)));
}

std::vector<std::vector<Cell>> RunIndex::select(const std::vector<IndexField>& columns, const Selection& selection) {
  std::vector<Cell> values;
  const auto with = [&](const SqlPart& part) {
    values.insert(values.end(), part.values.begin(), part.values.end());
    return part.sql;
  };
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) sql += (i ? ", " : "") + with(sql_value(columns[i]));
  if (columns.empty()) sql += "NULL";
  sql += " FROM runs r";
  if (selection.where) sql += " WHERE " + with(*selection.where);
  const std::string direction = selection.reverse ? " DESC" : "";
  sql += " ORDER BY ";
  if (selection.sort) sql += with(sql_value(*selection.sort)) + direction + " NULLS LAST, ";
  sql += "r.created" + (selection.sort ? "" : direction) + " NULLS LAST, r.id";
  if (selection.limit) {
    sql += " LIMIT ?";
    values.emplace_back(*selection.limit);
  }
  return query(sql, values);
}

std::vector<IndexField> RunIndex::fields_present(const std::optional<SqlPart>& where) {
  const SqlPart chosen = where.value_or(SqlPart{"TRUE", {}});
  std::set<std::string> present;
  for (const auto& row : query(fmt::format("SELECT DISTINCT key FROM option_sets WHERE option_set IN (SELECT "
                                           "r.option_set FROM runs r WHERE {})",
                                           chosen.sql),
                               chosen.values))
    present.insert(text_in(row[0]));
  // If all runs are selected, the known metric names are used.
  for (const auto& row : where ? query(fmt::format("SELECT DISTINCT m.name FROM runs r JOIN metrics m ON m.run = r.id "
                                                   "WHERE {}",
                                                   chosen.sql),
                                       chosen.values)
                               : query("SELECT name FROM metric_names"))
    present.insert(text_in(row[0]));
  std::vector<IndexField> out;
  for (const IndexField& field : fields_)
    if (field.source == IndexField::Source::run || (field.source == IndexField::Source::arm && !arms_.empty()) ||
        (present.contains(field.key) && field.name == field.key))
      out.push_back(field);
  return out;
}

std::vector<IndexField> RunIndex::options_that_differ(const std::optional<SqlPart>& where) {
  const SqlPart chosen = where.value_or(SqlPart{"TRUE", {}});
  std::map<std::string, bool> differing; // value: whether all runs have the option
  for (const auto& row :
       query(fmt::format("WITH chosen AS MATERIALIZED (SELECT r.option_set AS option_set, count(*) AS runs FROM runs r "
                         "WHERE {} GROUP BY r.option_set) "
                         "SELECT o.key, sum(c.runs) AS some, (SELECT sum(runs) FROM chosen) AS everyone FROM chosen c "
                         "JOIN option_sets o ON o.option_set = c.option_set GROUP BY o.key "
                         "HAVING count(DISTINCT o.value) > 1 OR some < everyone",
                         chosen.sql),
             chosen.values))
    differing[text_in(row[0])] = row[1] == row[2];
  std::vector<IndexField> everywhere, somewhere;
  for (const IndexField& field : fields_) {
    const auto found = field.source == IndexField::Source::option ? differing.find(field.key) : differing.end();
    if (found == differing.end()) continue;
    if (const Option* option = option_of_flat(field.key); option && option->changes_results)
      (found->second ? everywhere : somewhere).push_back(field);
  }
  everywhere.insert(everywhere.end(), somewhere.begin(), somewhere.end());
  return everywhere;
}

Cell RunIndex::commonest_value(const std::string& option, const std::optional<SqlPart>& where) {
  const SqlPart chosen = where.value_or(SqlPart{"TRUE", {}});
  std::vector<Cell> values{option};
  values.insert(values.end(), chosen.values.begin(), chosen.values.end());
  const auto rows = query("SELECT o.value FROM runs r JOIN option_sets o ON o.option_set = r.option_set AND o.key = ? "
                          "WHERE " +
                              chosen.sql + " GROUP BY o.value ORDER BY count(*) DESC, o.value LIMIT 1",
                          values);
  return rows.empty() ? Cell() : rows[0][0];
}

std::vector<std::vector<Cell>> RunIndex::query(const std::string& sql, const std::vector<Cell>& values) {
  try {
    return database_->query(sql, values);
  } catch (const DatabaseError& failed) {
    const bool damaged = failed.code == SQLITE_CORRUPT || failed.code == SQLITE_NOTADB;
    if (!damaged || !in_memory_.empty()) throw;
    in_memory_ = failed.what();
  }
  use_memory();
  return database_->query(sql, values);
}

std::vector<Cell> row_of(const RunEntry& entry) {
  const Manifest m = entry.manifest.value_or(Manifest{});
  const bool begun = entry.manifest.has_value();
  return {entry.id,
          option_of(entry, "name"),
          std::string(name_of(entry.state)),
          option_of(entry, "seed"),
          text_or_null(m.started),
          text_or_null(m.ended),
          begun ? Cell(m.seconds) : Cell(),
          begun ? Cell(m.step) : Cell(),
          cell_of(entry.parameters),
          number_or_null(m.threads),
          number_or_null(m.starts),
          text_or_null(m.build.version),
          text_or_null(m.build.compiler),
          text_or_null(m.build.flags),
          text_or_null(m.build.kernels),
          text_or_null(m.build.blas),
          text_or_null(m.numerics),
          text_or_null(m.host),
          text_or_null(m.cpu),
          text_or_null(m.data),
          text_or_null(m.failure)};
}

} // namespace heed
