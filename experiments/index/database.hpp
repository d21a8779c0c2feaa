// SQLite, as far as an index needs it: a connection, statements with bound values, failures as exceptions.
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

/// What a cell of a table holds; NULL is the first of these. A NaN is stored as NULL.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
/// Null where there is none.
template <class Number> Cell cell_of(const std::optional<Number>& value) { return value ? Cell(*value) : Cell(); }
/// Its text; empty where it holds none.
inline std::string text_in(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text ? *text : "";
}

/// What SQLite refused to do, with its result code (SQLITE_BUSY, SQLITE_NOTADB, ...).
struct DatabaseError : std::runtime_error {
  DatabaseError(int result, const std::string& what) : std::runtime_error(what), code(result) {}
  int code;
};

class Database {
public:
  /// Opens or makes the file; ":memory:" is one of its own. Waits up to a minute for others who write. Throws
  /// DatabaseError, as all members do.
  explicit Database(const std::string& path);

  /// How long each statement waits for others from now on.
  void wait_up_to(std::chrono::milliseconds time);
  static constexpr std::chrono::milliseconds patience{60'000};

  /// Statements without values or results, separated by semicolons.
  void run(const std::string& sql);
  std::vector<std::vector<Cell>> query(const std::string& sql, const std::vector<Cell>& values = {});
  /// Calls `use` with the bytes of its file, a block at a time. (To open the file a second time, and close it, would take
  /// the locks from under this connection.)
  void each_block(const std::function<void(std::string_view)>& use);

private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

/// A row as a statement steps through it; what it gives lasts until the next step.
class Row {
public:
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;

private:
  friend class Statement;
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_;
};

/// A statement that is run again and again with other values.
class Statement {
public:
  Statement(Database& database, const std::string& sql);
  std::vector<std::vector<Cell>> run(const std::vector<Cell>& values);
  /// The same row by row, none of them kept.
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
