#include "experiments/config/draws.hpp"

#include "autograd/rng.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <xxhash.h>

namespace heed {
namespace {

/// The number; empty if the value is not a number.
std::optional<double> number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* either = std::get_if<WordOrNumber>(&value); either && either->word.empty()) return either->number;
  return std::nullopt;
}

std::string wrong_bounds(const Draw& draw) {
  if (draw.values.size() != 2)
    return fmt::format("it has {} values; it takes two, the smallest and the largest", draw.values.size());
  const auto low = number(draw.values[0].value), high = number(draw.values[1].value);
  if (!low || !high) return "its bounds must be numbers";
  if (!(*low < *high)) return fmt::format("the smallest, {}, must be below the largest, {}", *low, *high);
  return "";
}

std::string wrong_reals(const Option& option, const Draw& draw) {
  if (option.type != OptionType::real && option.type != OptionType::word_or_number)
    return fmt::format("it draws real numbers, but {} is {}; use {}", draw.key, type_in_words(option),
                       option.type == OptionType::integer ? "int_uniform or choice" : "choice");
  return wrong_bounds(draw);
}

std::string wrong_logarithms(const Option& option, const Draw& draw) {
  if (std::string wrong = wrong_reals(option, draw); !wrong.empty()) return wrong;
  return *number(draw.values[0].value) > 0
             ? ""
             : "the smallest must be above 0, because the draws are uniform in the logarithm";
}

std::string wrong_integers(const Option& option, const Draw& draw) {
  if (option.type != OptionType::integer)
    return fmt::format("it draws integers, but {} is {}", draw.key, type_in_words(option));
  return wrong_bounds(draw);
}

std::string wrong_choice(const Option&, const Draw&) { return ""; }

/// `x` rounded to four significant digits, with the type of the bounds.
Value rounded(double x, const std::vector<Change>& bounds) {
  x = std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr);
  x = std::clamp(x, *number(bounds[0].value), *number(bounds[1].value));
  if (std::holds_alternative<WordOrNumber>(bounds[0].value)) return WordOrNumber{"", x};
  return x;
}

Value draw_uniform(const std::vector<Change>& bounds, std::uint64_t bits) {
  const double low = *number(bounds[0].value), high = *number(bounds[1].value);
  return rounded(low + (high - low) * unit_interval(bits), bounds);
}

Value draw_logarithm(const std::vector<Change>& bounds, std::uint64_t bits) {
  const double low = *number(bounds[0].value), high = *number(bounds[1].value);
  return rounded(low * std::exp(std::log(high / low) * unit_interval(bits)), bounds);
}

Value draw_integer(const std::vector<Change>& bounds, std::uint64_t bits) {
  const auto low = std::get<std::int64_t>(bounds[0].value), high = std::get<std::int64_t>(bounds[1].value);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return low + static_cast<std::int64_t>(scaled_below(bits, span));
}

Value draw_choice(const std::vector<Change>& choices, std::uint64_t bits) {
  return choices[scaled_below(bits, choices.size())].value;
}

} // namespace

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all{
      {"uniform", "two numbers, the smallest and the largest", wrong_reals, draw_uniform},
      {"log_uniform", "two numbers above 0, the smallest and the largest", wrong_logarithms, draw_logarithm},
      {"int_uniform", "two integers, the smallest and the largest", wrong_integers, draw_integer},
      {"choice", "a list of values", wrong_choice, draw_choice},
  };
  return all;
}

const Distribution* find_distribution(std::string_view name) {
  for (const Distribution& distribution : distributions())
    if (distribution.name == name) return &distribution;
  return nullptr;
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const Distribution& distribution : distributions()) names.push_back(distribution.name);
  return names;
}

Value drawn_value(const Draw& draw, std::int64_t seed, std::int64_t index) {
  // The step of a RandomKey has 48 bits
  const std::uint64_t option = XXH3_64bits(draw.key.data(), draw.key.size()) >> 16;
  const RandomKey key{static_cast<std::uint64_t>(seed), Stream::sweep, option};
  const RandomBlock block = random_block(key, static_cast<std::uint64_t>(index));
  return find_distribution(draw.distribution)->draw(draw.values, first_64_bits(block));
}

} // namespace heed
