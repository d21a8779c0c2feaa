// The cells of a table of results: numbers, whole numbers, steps and names.
#pragma once

#include "experiments/results/result_request.hpp"
#include "experiments/results/result_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

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
