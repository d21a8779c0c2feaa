#include "experiments/data/split_sizes.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

std::array<std::uint64_t, 3> split_sizes(const DataOptions& data, std::uint64_t n, bool with_test) {
  const auto share = [&](double part) { return static_cast<std::uint64_t>(static_cast<double>(n) * part); };
  const bool own_validation = !data.validation_path.empty(), own_test = !with_test || !data.test_path.empty();
  const auto test_rows = static_cast<std::uint64_t>(data.test_rows);
  const auto validation_rows = static_cast<std::uint64_t>(data.validation_rows);
  const std::uint64_t test = own_test ? 0 : test_rows > 0 ? test_rows : share(data.test);
  const auto refuse = [&](const std::string& what) {
    throw Refused(fmt::format("[data] {} leave{} none of the {} rows of path = \"{}\" for {}; take fewer", what,
                              what.find(" and ") == what.npos ? "s" : "", n, data.path,
                              own_validation || validation_rows > 0 ? "training" : "training or validation"));
  };
  std::string named;
  if (validation_rows > 0) named = fmt::format("validation_rows = {}", data.validation_rows);
  if (!own_test && test_rows > 0) named += fmt::format("{}test_rows = {}", named.empty() ? "" : " and ", test_rows);
  if (own_validation || validation_rows > 0) {
    const std::uint64_t validation = own_validation ? 0 : validation_rows;
    if (validation >= n || test >= n - validation) refuse(named.empty() ? fmt::format("test = {}", data.test) : named);
    return {n - validation - test, validation, test};
  }
  const std::uint64_t train = share(data.train);
  if (test_rows > 0 && (test >= n || train >= n - test)) refuse(fmt::format("train = {} and {}", data.train, named));
  return {train, n - test - std::min(train, n - test), test};
}

} // namespace heed
