// Finds the columns of a table of results by the names that people and trackers give them, and reads their cells:
// numbers, whole numbers, steps and names.
#pragma once

#include "experiments/results/result_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// A column's name without what trackers write before it, in lower case: "seed" for "config.seed", "params.Seed" and
/// "_seed"; "val_accuracy" for "val-accuracy" and "Val Accuracy".
std::string plain_column(std::string_view name);

/// The column of this name; if there is none, the only one with the same plain name. Throws heed::Refused if several
/// have it.
/// @param option  in messages: "--metric"
std::optional<std::size_t> column_called(const ResultTable& table, const std::string& name, const std::string& option);

/// The same; throws heed::Refused with the nearest name and all columns if there is none.
std::size_t needed_column(const ResultTable& table, const std::string& name, const std::string& option);

/// What a column can be.
enum class ColumnRole { arm, seed, step, state, time, run };

/// The column that has this role by its name: "model" is the arm, "random_seed" the seed, "_step" the step. Empty if
/// there is none. Throws heed::Refused if several columns could have the role.
/// @param option  in messages: "--arm"
std::optional<std::size_t> recognised_column(const ResultTable& table, ColumnRole role, const std::string& option);

/// "its columns are 'model', 'seed', 'accuracy'", at most twenty of them.
std::string columns_in_words(const ResultTable& table);

/// The line of pandas that turns a table in which each column is an arm into one that can be read: "; if each of the
/// columns ... is an arm, ...". Empty unless, beside the seed, all columns are numbers.
/// @param metric  the name of their values
std::string hint_of_arms_as_columns(const ResultTable& table, const ResultRequest& question, const std::string& metric);

/// For polls: about how many nanoseconds a cell takes.
inline constexpr std::size_t steps_of_cell = 32;

/// The longest name of an arm, a group or a seed, in bytes.
inline constexpr std::size_t longest_name_in_cell = 300;

std::string lower_case(std::string_view text);

/// A number as from_chars reads it, with a plus sign, too; numbers beyond the range of double are infinite or 0.
std::optional<double> read_number(std::string_view text);

/// Whole numbers such as "3" and "3.0", as "3"; empty for other texts.
std::optional<std::int64_t> whole_number(std::string_view text);

/// A cell that should be a number: NaN for "nan", infinite for "inf". Empty for an empty cell, "NA", "null" and "None".
/// Throws heed::Refused for any other text.
/// @param column  its name, for the message
std::optional<double> number_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column);

/// A step. Throws heed::Refused for a text that is no whole number of at least 0.
std::int64_t step_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column,
                          const ResultRequest& question);

/// A text of the table that names something: an arm, a group, a seed. On one line, without control characters. Throws
/// heed::Refused if it is empty or too long.
/// @param what  "arm", "seed"
std::string name_in_cell(const ResultTable& table, const ResultRow& row, std::size_t column, const char* what);

} // namespace heed
