// Reads the [sweep] of a configuration file.
#pragma once

#include "experiments/config/config_file.hpp"
#include "experiments/config/values.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace heed {

/// Reads `[sweep]` into `out`. Checks every key that an arm changes: it must be known, of the right type, and within
/// bounds.
void read_sweep(const toml::node& sweep, const std::string& file, int layer, Problems& problems, ConfigFile& out);

/// Reads `sweep.seeds`: a list, or a number N for 0 .. N - 1. Returns the seeds or an error message, which contains
/// `name`.
std::variant<std::vector<std::int64_t>, std::string> read_seeds(const toml::node& node,
                                                                std::string_view name = "sweep.seeds");

/// What is wrong, and the node that it is about.
struct WrongNode {
  const toml::node* node;
  std::string why;
};

/// Reads `sweep.looks`: increasing numbers of seeds. The number of seeds in total is known when all files are read.
std::variant<std::vector<std::int64_t>, WrongNode> read_looks(const toml::node& node);

} // namespace heed
