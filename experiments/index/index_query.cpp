// Implements the queries of RunIndex.
#include "experiments/index/run_index.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/values.hpp"

#include <fmt/format.h>
#include <set>
#include <sqlite3.h>

namespace heed {

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

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

} // namespace heed
