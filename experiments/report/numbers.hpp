// Numbers as people read them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// Decimals that show two significant digits of the median of these spreads: 0 to 6; 4 where there are none. Those that
/// are zero do not count.
int decimals_for(const std::vector<double>& spreads);
/// The nearest to `decimals` that show 2 to 4 significant digits of a positive spread.
int decimals_within(int decimals, double spread);

/// How many decimals, or powers of ten with two significant digits: "1.2e-07".
struct Decimals {
  int count = 0;
  bool powers = false;
  Decimals(int decimals) : count(decimals) {} // as a plain number of decimals, which most are
};

/// For numbers that stand together, such as a difference and its interval: so many decimals; powers of ten where not
/// all are zero but all would be shown as zero, or, with the most decimals, by one digit at most.
Decimals decimals_showing(std::initializer_list<double> values, int decimals);

/// "1.234"; "1.23e+07" from a million on; none, and a NaN: "-".
std::string fixed(std::optional<double> value, Decimals decimals);
/// With its sign: "+0.31", "-0.02".
std::string signed_fixed(double value, Decimals decimals);
/// Whether all digits of a number are zero: "0", "-0.00".
bool is_zero(const std::string& text);
/// A probability: "0.44", "0.031", "0.00098", "1.9e-06": two significant digits, two decimals from 0.1 on.
std::string probability(double p);
/// The same after a sign: "= 0.031"; "< 1e-12" below that.
std::string p_with_relation(double p);
/// "103,424".
std::string with_commas(std::int64_t count);
/// Three significant digits and a unit: "1.24 G", "310 k". `unit` follows: "FLOPs", "B".
std::string scaled(double amount, const std::string& unit);
/// "45 s", "3 min 20 s", "2 h 05 min", "3 d 4 h"; below ten seconds with a decimal.
std::string duration(double seconds);

} // namespace heed
