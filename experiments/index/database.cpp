#include "experiments/index/database.hpp"

#include <algorithm>
#include <iterator>
#include <sqlite3.h>

namespace heed {
namespace {

void check(sqlite3* connection, int result) {
  if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE)
    throw DatabaseError(result, connection ? sqlite3_errmsg(connection) : sqlite3_errstr(result));
}

void bind(sqlite3_stmt* statement, int at, const Cell& cell) {
  struct Bind {
    sqlite3_stmt* statement;
    int at;
    int operator()(std::monostate) const { return sqlite3_bind_null(statement, at); }
    int operator()(std::int64_t v) const { return sqlite3_bind_int64(statement, at, v); }
    int operator()(double v) const { return sqlite3_bind_double(statement, at, v); }
    int operator()(const std::string& v) const {
      return sqlite3_bind_text64(statement, at, v.data(), v.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
  };
  check(sqlite3_db_handle(statement), std::visit(Bind{statement, at}, cell));
}

Cell column(sqlite3_stmt* statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, at)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, at);
    case SQLITE_NULL: return std::monostate{};
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, at));
      return std::string(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement, at)));
    }
  }
}

} // namespace

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
void Statement::Finish::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::string& path) {
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  connection_.reset(connection);
  check(connection, result);
  wait_up_to(patience);
}

void Database::wait_up_to(std::chrono::milliseconds time) {
  check(connection_.get(), sqlite3_busy_timeout(connection_.get(), static_cast<int>(time.count())));
}

void Database::run(const std::string& sql) {
  check(connection_.get(), sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::vector<std::vector<Cell>> Database::query(const std::string& sql, const std::vector<Cell>& values) {
  return Statement(*this, sql).run(values);
}

void Database::each_block(const std::function<void(std::string_view)>& use) {
  sqlite3* const connection = connection_.get();
  sqlite3_file* file = nullptr;
  check(connection, sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file));
  sqlite3_int64 size = 0;
  if (!file || !file->pMethods) throw DatabaseError(SQLITE_CANTOPEN, "the database has no file");
  check(connection, file->pMethods->xFileSize(file, &size));
  constexpr sqlite3_int64 most = sqlite3_int64{1} << 20;
  std::string block;
  for (sqlite3_int64 at = 0; at < size; at += std::ssize(block)) {
    block.resize(static_cast<std::size_t>(std::min(most, size - at)));
    check(connection, file->pMethods->xRead(file, block.data(), static_cast<int>(block.size()), at));
    use(block);
  }
}

Statement::Statement(Database& database, const std::string& sql) : connection_(database.connection_.get()) {
  sqlite3_stmt* statement = nullptr;
  check(connection_, sqlite3_prepare_v2(connection_, sql.c_str(), -1, &statement, nullptr));
  statement_.reset(statement);
}

std::int64_t Row::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text ? std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : "";
}

void Statement::step(const std::vector<Cell>& values, const std::function<void()>& row) {
  sqlite3_stmt* statement = statement_.get();
  sqlite3_reset(statement);
  for (std::size_t i = 0; i < values.size(); ++i) bind(statement, static_cast<int>(i) + 1, values[i]);
  int result = SQLITE_ROW;
  while ((result = sqlite3_step(statement)) == SQLITE_ROW) row();
  const std::string what = result == SQLITE_DONE ? "" : sqlite3_errmsg(connection_);
  sqlite3_reset(statement);
  if (result != SQLITE_DONE) throw DatabaseError(result, what);
}

std::vector<std::vector<Cell>> Statement::run(const std::vector<Cell>& values) {
  std::vector<std::vector<Cell>> rows;
  step(values, [&] {
    std::vector<Cell>& row = rows.emplace_back();
    const int columns = sqlite3_column_count(statement_.get());
    row.reserve(static_cast<std::size_t>(columns));
    for (int at = 0; at < columns; ++at) row.push_back(column(statement_.get(), at));
  });
  return rows;
}

void Statement::each(const std::vector<Cell>& values, const std::function<void(const Row&)>& row) {
  step(values, [&] { row(Row(statement_.get())); });
}

} // namespace heed
