#include "experiments/config/numerics.hpp"

#include <algorithm>
#include <string_view>

namespace heed {

namespace {

/// Whether a formula may give no number where its operands are numbers: it divides by something else than a number other
/// than 0, or takes a logarithm, a root, a power or a remainder.
bool may_lose_numbers(std::string_view formula) {
  for (const std::string_view word : {"log", "sqrt", "^", "%"})
    if (formula.find(word) != std::string_view::npos) return true;
  for (std::size_t at = 0; (at = formula.find('/', at)) != std::string_view::npos;) {
    at = std::min(formula.find_first_not_of(' ', at + 1), formula.size());
    const std::string_view divisor = formula.substr(at, formula.find_first_not_of("0123456789.", at) - at);
    if (divisor.find_first_of("123456789") == std::string_view::npos) return true;
  }
  return false;
}

/// A version that changed the bits of some configurations alone: of those with such a value of an option, as TOML has
/// it, for the whole model or for some of its blocks.
struct NewBits {
  int version;
  std::string_view option;
  bool (*concerns)(std::string_view value);
  std::string_view unless = {}; ///< a line, "task.kind = \"text\"", that keeps a configuration's bits
};

/// Versions up to this one concern all configurations.
constexpr int for_all = 6;

constexpr std::string_view by_threshold[] = {"\"sparsemax\"", "\"entmax15\"", "\"entmax\"", "\"gumbel\""};
constexpr auto has_threshold = [](std::string_view value) { return std::ranges::count(by_threshold, value) > 0; };

constexpr NewBits new_bits[] = {
    {7, "attention.normalizer", has_threshold},
    {7, "attention.cross_normalizer", has_threshold},
    {8, "data.bucket", [](std::string_view value) { return value != "1"; }}, // within epochs
    // val_loss_estimate is of all targets, those that end outputs included; texts have none of those.
    {8, "train.evaluate_random_batches", [](std::string_view value) { return value != "0"; }, "task.kind = \"text\""},
    {8, "attention.score_mod", may_lose_numbers}, // rows of scores that are no numbers
};

} // namespace

int numerics_of(const std::vector<FlatOption>& options) {
  const auto says = [&](std::string_view line) {
    return std::ranges::any_of(options, [&](const FlatOption& o) { return o.key + " = " + o.value == line; });
  };
  int version = for_all;
  for (const FlatOption& option : options)
    for (const NewBits& change : new_bits)
      if (option.key.ends_with(change.option) && change.concerns(option.value) && !says(change.unless))
        version = std::max(version, change.version);
  return version;
}

} // namespace heed
