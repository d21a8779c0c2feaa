// Simulation of [sweep] vary: how often the intervals of spreads, shares and the whole hold, for components of variance
// that are known. Prints tables as comments and a TAP point for each guarantee. 400 tables of each kind, or 10,000 if
// HEED_LONG is in the environment.

#include "autograd/rng.hpp"
#include "experiments/statistics/variance_sources.hpp"
#include "tests/simulation/results.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace {

using namespace heed::simulation;
using heed::RandomSource;
using heed::statistics::Interval;
using heed::statistics::SourceValues;
using heed::statistics::VarianceSources;

const bool long_form = std::getenv("HEED_LONG") != nullptr;
const std::size_t tables = long_form ? 10'000 : 400;

enum class Noise { normal, student, uniform, lognormal };

/// A number with mean 0 and standard deviation 1.
double draw(Noise noise, RandomSource& random) {
  switch (noise) {
    case Noise::normal: return random.normal();
    case Noise::student: { // with five degrees of freedom, whose variance is 5 / 3
      double squares = 0;
      for (int i = 0; i < 5; ++i) {
        const double x = random.normal();
        squares += x * x;
      }
      return random.normal() / std::sqrt(squares / 5) / std::sqrt(5.0 / 3);
    }
    case Noise::uniform: return (2 * random.uniform() - 1) * std::sqrt(3.0);
    case Noise::lognormal: { // exp(z / 2)
      const double mean = std::exp(0.125), spread = std::sqrt((std::exp(0.25) - 1) * std::exp(0.25));
      return (std::exp(random.normal() / 2) - mean) / spread;
    }
  }
  return 0;
}

struct Design {
  std::vector<double> shares; ///< of the sources' variance
  std::size_t values = 6, fixings = 3;
  Noise noise = Noise::normal;
  double interaction = 0; ///< the variance of what depends on all sources at once; that of the sources is 1
};

/// The values of one experiment. As in a sweep, a fixing's own values are the first of each source: one run that all
/// sources share.
std::vector<SourceValues> experiment(const Design& design, RandomSource& random) {
  std::vector<SourceValues> out(design.shares.size());
  const auto with_interaction = [&](double sum) {
    return sum + (design.interaction > 0 ? std::sqrt(design.interaction) * draw(design.noise, random) : 0);
  };
  for (std::size_t f = 0; f < design.fixings; ++f) {
    std::vector<double> own;
    double sum = 0;
    for (const double share : design.shares) sum += own.emplace_back(std::sqrt(share) * draw(design.noise, random));
    const double base = with_interaction(sum);
    for (std::size_t s = 0; s < design.shares.size(); ++s) {
      std::vector<double>& values = out[s].emplace_back(1, base);
      while (values.size() < design.values)
        values.push_back(with_interaction(sum - own[s] + std::sqrt(design.shares[s]) * draw(design.noise, random)));
    }
  }
  return out;
}

bool holds(const std::optional<Interval>& interval, double truth) {
  return interval && interval->low <= truth && truth <= interval->high;
}

struct Coverage {
  std::vector<Rate> spreads, shares; ///< of each source
  Rate whole, widest;                ///< `widest`: the mean width of the largest source's interval of its share
};

Coverage cover(const Design& design, std::uint64_t cell) {
  Coverage out;
  out.spreads.resize(design.shares.size());
  out.shares.resize(design.shares.size());
  for (std::size_t table = 0; table < tables; ++table) {
    RandomSource random({0x76617279 + cell, heed::Stream::test, table});
    const VarianceSources found = heed::statistics::variance_sources(experiment(design, random));
    for (std::size_t s = 0; s < design.shares.size(); ++s) {
      out.spreads[s].add(holds(found.sources[s].interval, std::sqrt(design.shares[s])));
      out.shares[s].add(holds(found.sources[s].share_interval, design.shares[s]));
    }
    out.whole.add(holds(found.whole_interval, 1));
    if (const auto& interval = found.sources.front().share_interval) out.widest.add(interval->high - interval->low);
  }
  return out;
}

std::string shares_text(const std::vector<double>& shares) {
  std::vector<std::string> out;
  for (const double share : shares) out.push_back(fmt::format("{:g}", 100 * share));
  return fmt::format("{}", fmt::join(out, ", "));
}

/// The rate with the lowest value, and with the highest.
std::pair<Rate, Rate> ends(const std::vector<Rate>& rates) {
  const auto [low, high] = std::ranges::minmax_element(rates, {}, &Rate::value);
  return {*low, *high};
}

const std::vector<std::string> header{"shares, %",       "values x fixings",        "spread, lowest",
                                      "spread, highest", "share, lowest",           "share, highest",
                                      "the whole",       "width of the first share"};

Coverage add_row(Table& table, const Design& design, const std::string& first, std::uint64_t cell) {
  Coverage found = cover(design, cell);
  const auto [least, greatest] = ends(found.spreads);
  const auto [low, high] = ends(found.shares);
  table.row({first, fmt::format("{} x {}", design.values, design.fixings)},
            {least, greatest, low, high, found.whole, found.widest});
  return found;
}

/// From 93 to 97 %, up to three standard errors.
void promise(Points& points, const Rate& rate, const std::string& what) {
  points.point(rate.value() >= 0.93 - three_errors(0.93, rate) && rate.value() <= 0.97 + three_errors(0.97, rate),
               fmt::format("{}: {} %, from 93 to 97 %", what, rate.text()));
}

void known_components(Points& points) {
  const std::vector<std::vector<double>> all{{0.5, 0.5},
                                             {0.9, 0.1},
                                             {0.99, 0.01},
                                             {0.4, 0.35, 0.25},
                                             {0.8, 0.1, 0.1},
                                             {0.6, 0.38, 0.02},
                                             {0.25, 0.25, 0.25, 0.25},
                                             {0.7, 0.1, 0.1, 0.1},
                                             {0.49, 0.49, 0.01, 0.01},
                                             {0.97, 0.01, 0.01, 0.01},
                                             {0.4, 0.3, 0.2, 0.1}};
  const std::vector<std::pair<std::size_t, std::size_t>> sizes{{6, 3}, {3, 2}, {3, 1}, {10, 5}};
  Table table(header);
  std::uint64_t cell = 0;
  for (const auto& [values, fixings] : sizes)
    for (const std::vector<double>& shares : all) {
      const Design design{shares, values, fixings};
      const Coverage found = add_row(table, design, shares_text(shares), ++cell);
      const std::string where = fmt::format("{} with {} x {}", shares_text(shares), values, fixings);
      for (std::size_t s = 0; s < shares.size(); ++s) {
        promise(points, found.spreads[s], fmt::format("{}: the spread of source {}", where, s + 1));
        promise(points, found.shares[s], fmt::format("{}: the share of source {}", where, s + 1));
      }
      promise(points, found.whole, where + ": the whole");
    }
  table.print();
}

/// What the intervals do not promise: values that are not normal, and sources whose effects do not add up.
void other_cases() {
  std::vector<std::string> titles = header;
  titles.front() = "values";
  Table table(titles);
  std::uint64_t cell = 1000;
  const std::vector<double> shares{0.6, 0.3, 0.1};
  add_row(table, {shares, 6, 3, Noise::uniform}, "uniform", ++cell);
  add_row(table, {shares, 6, 3, Noise::student}, "Student's t, 5 degrees of freedom", ++cell);
  add_row(table, {shares, 6, 3, Noise::lognormal}, "lognormal (skewness 1.8)", ++cell);
  add_row(table, {shares, 6, 3, Noise::normal, 0.1}, "normal, with an interaction of 10 % of the sources' variance",
          ++cell);
  table.print();
}

/// A source without effect is never given a spread, and takes nothing from the others.
void without_effect(Points& points) {
  Rate zero, share;
  for (std::size_t table = 0; table < tables; ++table) {
    RandomSource random({0x6e6f6e65, heed::Stream::test, table});
    const VarianceSources found = heed::statistics::variance_sources(experiment({{0.7, 0.3, 0}}, random));
    zero.add(found.sources[2].is_without_effect() && !found.sources[2].share && !found.sources[2].interval);
    share.add(holds(found.sources[0].share_interval, 0.7));
  }
  Table table({"of three sources, the third has no effect", "it is 0, without a share", "the first's share"});
  table.row({"70, 30, 0"}, {zero, share});
  table.print();
  points.point(zero.value() == 1, "a source without effect is 0 and has no share");
  promise(points, share, "beside a source without effect, the share of the first");
}

} // namespace

int main() {
  Points points;
  fmt::print("# | {} tables of each kind; per cent ± a standard error |\n#\n", tables);
  known_components(points);
  other_cases();
  without_effect(points);
  return points.finish();
}
