// Results over many simulated sweeps: rates with their standard errors, tables of rates, and Test Anything Protocol
// (TAP) points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace heed::simulation {

/// The mean over sweeps of one value per sweep: 0 or 1, or a fraction of the sweep's arms.
class Rate {
public:
  void add(double x) {
    sum_ += x;
    squares_ += x * x;
    ++count_;
  }
  std::size_t count() const { return count_; }
  double value() const { return sum_ / static_cast<double>(count_); }
  /// The standard error; for values 0 and 1 it is sqrt(p (1 - p) / n). n counts sweeps, because the arms of one sweep
  /// are dependent.
  double error() const {
    return std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - value() * value()) /
                     static_cast<double>(count_));
  }
  std::string text() const { return count_ > 0 ? fmt::format("{:.1f} ± {:.1f}", 100 * value(), 100 * error()) : "-"; }

private:
  double sum_ = 0, squares_ = 0;
  std::size_t count_ = 0;
};

/// Three standard errors of a rate whose true value is `p`.
inline double three_errors(double p, const Rate& rate) {
  return 3 * std::sqrt(p * (1 - p) / static_cast<double>(rate.count()));
}

/// A Markdown table, printed as comment lines.
class Table {
public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

  /// `cells`: the first columns, which describe the setting. `rates`: the other columns, which are the results.
  void row(std::vector<std::string> cells, const std::vector<Rate>& rates) {
    for (const Rate& rate : rates) cells.push_back(rate.text());
    rows_.push_back(std::move(cells));
  }

  void print() const {
    std::vector<std::size_t> widths(rows_.front().size(), 3);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    std::vector<std::string> rule;
    for (const std::size_t width : widths) rule.emplace_back(width, '-');
    print(rows_.front(), widths);
    print(rule, widths);
    for (std::size_t r = 1; r < rows_.size(); ++r) print(rows_[r], widths);
    fmt::print("#\n");
  }

private:
  /// The number of characters: UTF-8 continuation bytes are not counted.
  static std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  }
  static void print(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line = "# |";
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += ' ' + cells[i] + std::string(widths[i] - width_of(cells[i]), ' ') + " |";
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  std::vector<std::vector<std::string>> rows_;
};

/// Test Anything Protocol (TAP) points, which are printed after the tables.
class Points {
public:
  void point(bool holds, const std::string& what) {
    lines_.push_back(fmt::format("{} {} - {}", holds ? "ok" : "not ok", lines_.size() + 1, what));
    failed_ += !holds;
  }
  /// The rate is at most p, up to three standard errors.
  void at_most(double p, const Rate& rate, const std::string& what) {
    point(rate.count() > 0 && rate.value() <= p + three_errors(p, rate),
          fmt::format("{}: {} %, at most {:g} %", what, rate.text(), 100 * p));
  }
  void at_least(double p, const Rate& rate, const std::string& what) {
    point(rate.count() > 0 && rate.value() >= p - three_errors(p, rate),
          fmt::format("{}: {} %, at least {:g} %", what, rate.text(), 100 * p));
  }
  void about(double p, const Rate& rate, const std::string& what) {
    point(rate.count() > 0 && std::abs(rate.value() - p) <= three_errors(p, rate),
          fmt::format("{}: {} %, {:g} %", what, rate.text(), 100 * p));
  }
  /// Prints all points and returns the exit status of the program.
  int finish() const {
    for (const std::string& line : lines_) fmt::print("{}\n", line);
    fmt::print("1..{}\n", lines_.size());
    return failed_ == 0 ? 0 : 1;
  }

private:
  std::vector<std::string> lines_;
  int failed_ = 0;
};

} // namespace heed::simulation
