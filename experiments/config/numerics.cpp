#include "experiments/config/numerics.hpp"

#include <algorithm>
#include <string_view>

namespace heed {

namespace {

/// A version that changed the bits of some configurations alone: of those with one of these values of an option,
/// for the whole model or for some of its blocks.
struct NewBits {
  int version;
  std::string_view option;
  std::vector<std::string_view> values; ///< as TOML
};

/// Versions up to this one concern all configurations.
constexpr int for_all = 6;

const std::vector<NewBits>& new_bits() {
  static const std::vector<std::string_view> row_wise = {"\"sparsemax\"", "\"entmax15\"", "\"entmax\"", "\"gumbel\""};
  static const std::vector<NewBits> all = {{7, "attention.normalizer", row_wise},
                                           {7, "attention.cross_normalizer", row_wise}};
  return all;
}

} // namespace

int numerics_of(const std::vector<FlatOption>& options) {
  int version = for_all;
  for (const FlatOption& option : options)
    for (const NewBits& change : new_bits())
      if (option.key.ends_with(change.option) && std::ranges::count(change.values, option.value) > 0)
        version = std::max(version, change.version);
  return version;
}

} // namespace heed
