// A small C++ wrapper of SQLite: a connection, statements with bound values, and failures as exceptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace heed {

/// The value of a table cell; std::monostate is NULL. A NaN is stored as NULL.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
/// NULL if there is no value.
template <class Number> Cell cell_of(const std::optional<Number>& value) { return value ? Cell(*value) : Cell(); }
/// The cell's text; empty if it holds no text.
inline std::string text_in(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text ? *text : "";
}

/// An error of SQLite, with its result code (SQLITE_BUSY, SQLITE_NOTADB, ...).
struct DatabaseError : std::runtime_error {
  DatabaseError(int result, const std::string& what) : std::runtime_error(what), code(result) {}
  int code;
};

class Database {
public:
  /// Opens or creates the file; ":memory:" makes a new database in memory. Waits up to a minute for other writers.
  /// Throws DatabaseError, as all members do.
  explicit Database(const std::string& path);

  /// Sets how long each later statement waits for other connections.
  void wait_up_to(std::chrono::milliseconds time);
  static constexpr std::chrono::milliseconds patience{60'000};

  /// Executes statements without values or results, separated by semicolons.
  void run(const std::string& sql);
  std::vector<std::vector<Cell>> query(const std::string& sql, const std::vector<Cell>& values = {});
  /// Calls `use` with the bytes of the database file, block by block. (Opening and closing the file a second time would
  /// release the locks of this connection.)
  void each_block(const std::function<void(std::string_view)>& use);

private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

/// The current row of a statement. Its values are valid until the next step.
class Row {
public:
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;

private:
  friend class Statement;
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_;
};

/// A prepared statement that is executed repeatedly with different values.
class Statement {
public:
  Statement(Database& database, const std::string& sql);
  std::vector<std::vector<Cell>> run(const std::vector<Cell>& values);
  /// Calls `row` for each result row, without storing the rows.
  void each(const std::vector<Cell>& values, const std::function<void(const Row&)>& row);

private:
  void step(const std::vector<Cell>& values, const std::function<void()>& row);
  struct Finish {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finish> statement_;
};

} // namespace heed
