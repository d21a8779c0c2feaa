// Finds the columns of a table of results by the names that people and trackers give them.
#pragma once

#include "experiments/results/result_request.hpp"
#include "experiments/results/result_table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

} // namespace heed
