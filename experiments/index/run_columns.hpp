// The columns of the index's table `runs`, and the row of a run.
#pragma once

#include "experiments/index/run_index.hpp"

#include <string_view>
#include <vector>

namespace heed {

/// A column of the table `runs`, with its type in SQL.
struct RunColumn {
  std::string_view name, type;
  IndexField::Kind kind;
};

/// The columns of `runs`, in the order in which `row_of` fills them.
// clang-format off
inline constexpr RunColumn run_columns[] = {
    {"id", "TEXT PRIMARY KEY", IndexField::Kind::text}, {"name", "TEXT", IndexField::Kind::text},
    {"state", "TEXT NOT NULL", IndexField::Kind::text}, {"seed", "INTEGER", IndexField::Kind::number},
    {"created", "TEXT", IndexField::Kind::text},        {"ended", "TEXT", IndexField::Kind::text},
    {"seconds", "REAL", IndexField::Kind::number},      {"step", "INTEGER", IndexField::Kind::number},
    {"parameters", "INTEGER", IndexField::Kind::number}, {"threads", "INTEGER", IndexField::Kind::number},
    {"starts", "INTEGER", IndexField::Kind::number},    {"heed", "TEXT", IndexField::Kind::text},
    {"compiler", "TEXT", IndexField::Kind::text},       {"flags", "TEXT", IndexField::Kind::text},
    {"kernels", "TEXT", IndexField::Kind::text},        {"blas", "TEXT", IndexField::Kind::text},
    {"numerics", "TEXT", IndexField::Kind::text},  {"host", "TEXT", IndexField::Kind::text},
    {"cpu", "TEXT", IndexField::Kind::text},            {"data", "TEXT", IndexField::Kind::text},
    {"failure", "TEXT", IndexField::Kind::text}};
// clang-format on

/// The run's row: the entry's value for each column.
std::vector<Cell> row_of(const RunEntry& entry);

} // namespace heed
