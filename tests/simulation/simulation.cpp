// What the answers keep: error rates, power and coverage of what reports say, over many sweeps whose truth is known.
// Prints tables, as comments, and a point for each thing that is promised: 400 sweeps of each kind, and 4000 with
// HEED_LONG in the environment.
//
// A sweep has a reference and some arms, and `seeds` runs of each. A run's value is its seed's own effect, which all
// arms share (standard deviation 1), plus noise (mean 0, standard deviation 1), plus the arm's effect. Effects and
// margins are in standard deviations of the paired differences, sqrt(2). Higher is better.

#include "autograd/rng.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/equivalence.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/heaps.hpp"
#include "experiments/statistics/shares.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using heed::RandomSource;
using namespace heed::statistics;

const bool long_form = std::getenv("HEED_LONG") != nullptr;
const std::size_t sweeps = long_form ? 4000 : 400;

/// Of differences between two runs of one seed.
constexpr double deviation = std::numbers::sqrt2;

// ---- rates, tables and points --------------------------------------------------------------------------------------

/// The mean over sweeps of what happened in each: 0 or 1, or a share of its arms.
class Rate {
public:
  void add(double x) {
    sum_ += x;
    squares_ += x * x;
    ++count_;
  }
  std::size_t count() const { return count_; }
  double value() const { return sum_ / static_cast<double>(count_); }
  /// Of 0s and 1s sqrt(p (1 - p) / n). Arms of one sweep hang together, so that sweeps are what is counted.
  double error() const {
    return std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - value() * value()) /
                     static_cast<double>(count_));
  }
  std::string text() const { return count_ > 0 ? fmt::format("{:.1f} ± {:.1f}", 100 * value(), 100 * error()) : "-"; }

private:
  double sum_ = 0, squares_ = 0;
  std::size_t count_ = 0;
};

/// What three standard errors are where the rate is `p`.
double three_errors(double p, const Rate& rate) {
  return 3 * std::sqrt(p * (1 - p) / static_cast<double>(rate.count()));
}

/// The points of the Test Anything Protocol, which come after the tables.
class Points {
public:
  void point(bool holds, const std::string& what) {
    lines_.push_back(fmt::format("{} {} - {}", holds ? "ok" : "not ok", lines_.size() + 1, what));
    failed_ += !holds;
  }
  /// No more than p, but for chance.
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
  /// Prints all of them, and returns the program's status.
  int finish() const {
    for (const std::string& line : lines_) fmt::print("{}\n", line);
    fmt::print("1..{}\n", lines_.size());
    return failed_ == 0 ? 0 : 1;
  }

private:
  std::vector<std::string> lines_;
  int failed_ = 0;
};

// ---- sweeps --------------------------------------------------------------------------------------------------------

/// Noise with mean 0 and standard deviation 1.
struct Shape {
  std::string name;
  std::uint64_t number;
  bool symmetric;
  double (*draw)(RandomSource&);
};

double draw_normal(RandomSource& random) { return random.normal(); }
double draw_exponential(RandomSource& random) { return -std::log1p(-random.uniform()) - 1; }
/// Student's t with 3 degrees of freedom, over its standard deviation.
double draw_heavy(RandomSource& random) {
  const double z = random.normal(), a = random.normal(), b = random.normal(), c = random.normal();
  return z / std::sqrt(a * a + b * b + c * c);
}
/// Within heaps the standard deviation is 1.
constexpr double between_heaps = 15, share_in_upper_heap = 0.7;
double draw_heaps(RandomSource& random, double share) {
  const bool upper = random.uniform() < share;
  return (upper ? between_heaps : 0) + random.normal();
}
double draw_bimodal(RandomSource& random) {
  constexpr double p = share_in_upper_heap;
  return (draw_heaps(random, p) - p * between_heaps) / std::sqrt(1 + p * (1 - p) * between_heaps * between_heaps);
}

const Shape normal_noise{"normal", 1, true, draw_normal}, skewed_noise{"skewed", 2, false, draw_exponential},
    heavy_noise{"heavy-tailed", 3, true, draw_heavy}, bimodal_noise{"two heaps", 4, false, draw_bimodal};
const std::vector<Shape> shapes{normal_noise, skewed_noise, heavy_noise, bimodal_noise};

/// The value below which a share of the noise lies, by drawing.
double quantile(const Shape& shape, double share) {
  RandomSource random({shape.number, heed::Stream::test, 0xffff});
  std::vector<double> drawn(100'000);
  for (double& x : drawn) x = shape.draw(random);
  std::ranges::sort(drawn);
  return drawn[static_cast<std::size_t>(share * static_cast<double>(drawn.size()))];
}

/// A kind of sweep.
struct Kind {
  Shape shape;
  std::size_t seeds, arms;
  std::string label;       ///< in tables
  std::uint64_t draws = 0; ///< others for another number
  double spread = 1;       ///< of the arms' noise over the reference's
  bool paired = true;      ///< seeds have effects of their own, which all arms share

  std::string name() const { return fmt::format("{}, {} seeds, {} arm{}", label, seeds, arms, arms > 1 ? "s" : ""); }
  RandomSource random(std::size_t sweep) const {
    return RandomSource({(draws * 10 + shape.number) * 10'000 + seeds * 100 + arms, heed::Stream::test, sweep});
  }
};

/// A table in comments, as Markdown has them.
class Table {
public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

  /// The first columns say what was tried, the others what came of it.
  void row(std::vector<std::string> cells, const std::vector<Rate>& rates) {
    for (const Rate& rate : rates) cells.push_back(rate.text());
    rows_.push_back(std::move(cells));
  }
  void row(const Kind& kind, const std::vector<Rate>& rates) {
    row({kind.label, fmt::to_string(kind.seeds), fmt::to_string(kind.arms)}, rates);
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
  /// Without the bytes that go on with a character.
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

/// The reference, which comes first, and the arms.
using Sweep = std::vector<SeedValues>;

/// Noise of each run, without seeds' effects.
std::vector<std::vector<double>> draw_noise(const Kind& kind, RandomSource& random) {
  std::vector<std::vector<double>> noise(kind.arms + 1);
  for (std::size_t arm = 0; arm <= kind.arms; ++arm)
    for (std::size_t s = 0; s < kind.seeds; ++s)
      noise[arm].push_back(kind.shape.draw(random) * (arm > 0 ? kind.spread : 1));
  return noise;
}

Sweep sweep_of(const Kind& kind, const std::vector<std::vector<double>>& noise, RandomSource& random) {
  Sweep out(kind.arms + 1);
  for (std::size_t s = 0; s < kind.seeds; ++s) {
    const double seed_effect = kind.paired ? random.normal() : 0;
    for (std::size_t arm = 0; arm <= kind.arms; ++arm) {
      out[arm].seeds.push_back(static_cast<std::int64_t>(s));
      out[arm].values.push_back(seed_effect + noise[arm][s]);
    }
  }
  return out;
}

Sweep draw_sweep(const Kind& kind, std::size_t number) {
  RandomSource random = kind.random(number);
  const auto noise = draw_noise(kind, random);
  return sweep_of(kind, noise, random);
}

/// With the first `count` arms moved by so many standard deviations of the differences.
Sweep moved(Sweep sweep, double effect, std::size_t count = std::numeric_limits<std::size_t>::max()) {
  for (std::size_t arm = 1; arm < sweep.size() && arm <= count; ++arm)
    for (double& x : sweep[arm].values) x += effect * deviation;
  return sweep;
}

// ---- questions -----------------------------------------------------------------------------------------------------

using Answers = std::vector<Comparison>; // of each arm

Answers ask(const Sweep& sweep, std::optional<double> margin = {}, Test test = Test::paired) {
  const std::vector<std::size_t> references(sweep.size(), 0);
  if (margin) *margin *= deviation;
  const auto comparisons = compare(sweep, references, {.test = test, .higher_is_better = true, .margin = margin});
  Answers out;
  for (std::size_t arm = 1; arm < sweep.size(); ++arm) {
    out.push_back(comparisons[arm].value_or(Comparison{}));
    if (!comparisons[arm]) out.back().answer = Answer::underpowered; // no pair is left
  }
  return out;
}

SeedDifferences differences_of(const SeedValues& arm, const SeedValues& reference) {
  SeedDifferences out;
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const auto other = std::ranges::find(reference.seeds, arm.seeds[i]);
    if (other == reference.seeds.end()) continue;
    out.seeds.push_back(arm.seeds[i]);
    out.values.push_back(arm.values[i] - reference.values[static_cast<std::size_t>(other - reference.seeds.begin())]);
  }
  return out;
}

/// The same from the tests and the intervals that `compare` takes, without its bootstrap, which with many seeds takes
/// ten times as long as all else. A point holds the two against each other.
Answers ask_quickly(const Sweep& sweep, std::optional<double> margin = {}) {
  Answers out(sweep.size() - 1);
  /// Calls f with the differences of the arms that have so many pairs, and with which arms these are.
  const auto family = [&](std::size_t fewest, const auto& f) {
    std::vector<SeedDifferences> differences;
    std::vector<Comparison*> members;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (SeedDifferences d = differences_of(sweep[i + 1], sweep[0]); d.values.size() >= fewest) {
        differences.push_back(std::move(d));
        members.push_back(&out[i]);
      }
    f(differences, members);
  };
  for (Comparison& c : out) c.answer = Answer::underpowered;
  family(6, [&](const auto& differences, const auto& members) {
    const FlipTest test = step_down_flips(differences);
    const FlipIntervals intervals = margin ? FlipIntervals{} : flip_intervals(differences);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->p = test.p[i];
      members[i]->answer = test.p[i] <= significance_level ? Answer::differs : Answer::undecided;
      members[i]->difference.mean = mean(differences[i].values);
      if (margin) continue;
      members[i]->interval = intervals.together[i];
      members[i]->interval_flips = intervals.alone[i];
    }
  });
  if (margin)
    family(5, [&](const auto& differences, const auto& members) {
      const std::vector<double> p = equivalence_by_flips(differences, *margin * deviation);
      for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->p_equivalence_flips = p[i];
        if (p[i] <= significance_level) members[i]->answer = Answer::same;
      }
    });
  return out;
}

/// Whether the two ways to ask answer alike.
bool quick_is_same(const Sweep& sweep) {
  for (const std::optional<double> margin : {std::optional<double>{}, std::optional<double>{2}}) {
    const Answers slow = ask(sweep, margin), quick = ask_quickly(sweep, margin);
    for (std::size_t i = 0; i < slow.size(); ++i)
      if (slow[i].answer != quick[i].answer || slow[i].p_equivalence_flips != quick[i].p_equivalence_flips ||
          (quick[i].p && slow[i].p != quick[i].p))
        return false;
  }
  return true;
}

/// The share of the arms of which something holds, and whether it does of any from `from` on.
template <class Holds> double share(const Answers& answers, const Holds& holds) {
  return static_cast<double>(std::ranges::count_if(answers, holds)) / static_cast<double>(answers.size());
}
template <class Holds> double any(const Answers& answers, const Holds& holds, std::size_t from = 0) {
  return std::any_of(answers.begin() + static_cast<std::ptrdiff_t>(from), answers.end(), holds);
}

bool differs(const Comparison& c) { return c.answer == Answer::differs; }
bool same(const Comparison& c) { return c.answer == Answer::same; }

bool holds(const std::optional<Interval>& interval, double truth) {
  return interval && interval->low <= truth && truth <= interval->high;
}

bool ends_at_zero(const Comparison& c) { return c.interval && (c.interval->low == 0 || c.interval->high == 0); }

/// An interval is without 0 just where the answer is `differs`. An end that was moved to 0 may be of either answer.
bool agrees(const Comparison& c) {
  if (!c.interval) return !differs(c);
  return ends_at_zero(c) || (c.interval->low > 0 || c.interval->high < 0) == differs(c);
}

/// Whether it holds the truth; an end that was moved to 0, since the answer is `differs`, doesn't hold 0.
bool covers(const Comparison& c, double truth) { return holds(c.interval, truth) && !(truth == 0 && differs(c)); }

// ---- paired runs, noise of one shape -------------------------------------------------------------------------------

/// Effects and margins that are tried.
constexpr double one = 1, two = 2, four = 4;

struct Paired {
  Rate any_false, any_false_of_three, power_one, power_two;             // differs
  Rate better_same, worse_same, false_same_of_one, same_two, same_four; // same
  Rate all_hold, all_hold_moved, own_holds;                             // intervals by flips
  Rate student_holds, interquartile_holds, improvement_holds;           // others
  Rate agreeing, zero_where_differs, zero_elsewhere, quick_is_same;
};

Paired try_paired(const Kind& kind) {
  Paired out;
  const bool bootstraps = kind.seeds >= 8;
  const auto asked = [&](const Sweep& sweep, std::optional<double> margin = {}) {
    return bootstraps ? ask_quickly(sweep, margin) : ask(sweep, margin);
  };
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const bool whole = !bootstraps || kind.arms == 1;
    const Answers none = whole ? ask(alike) : ask_quickly(alike), by_one = asked(moved(alike, one)),
                  by_two = asked(moved(alike, two));
    out.any_false.add(any(none, differs));
    out.power_one.add(share(by_one, differs));
    out.power_two.add(share(by_two, differs));
    if (none[0].interval) {
      out.all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
      out.all_hold_moved.add(std::ranges::all_of(by_one,
                                                 [](const Comparison& c) { return covers(c, one * deviation); }));
      out.own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
    }
    if (whole) {
      out.student_holds.add(share(none, [](const Comparison& c) { return holds(c.difference.interval, 0); }));
      out.improvement_holds.add(share(none, [](const Comparison& c) { return holds(c.improvement->interval, 0.5); }));
      if (bootstraps) out.interquartile_holds.add(holds(none[0].interquartile->interval, 0));
      for (const Answers* answers : {&none, &by_one, &by_two}) {
        if (bootstraps && answers != &none) continue;
        out.agreeing.add(std::ranges::all_of(*answers, agrees));
        for (const Comparison& c : *answers)
          if (c.interval) (differs(c) ? out.zero_where_differs : out.zero_elsewhere).add(ends_at_zero(c));
      }
    }

    out.better_same.add(any(asked(moved(alike, two), two), same));
    out.worse_same.add(any(asked(moved(alike, -two), two), same));
    out.same_two.add(share(asked(alike, two), same));
    out.same_four.add(share(asked(alike, four), same));
    if (kind.arms > 2) {
      out.any_false_of_three.add(any(asked(moved(alike, two, 2)), differs, 2));
      out.false_same_of_one.add(same(asked(moved(alike, two, 1), two)[0]));
    }
    if (number < 10) out.quick_is_same.add(quick_is_same(moved(alike, one)));
  }
  return out;
}

void paired(Points& points) {
  std::vector<std::pair<Kind, Paired>> tried;
  for (const Shape& shape : shapes)
    for (const std::size_t seeds : {5, 6, 8, 12})
      for (const std::size_t arms : {1, 5}) {
        if (seeds == 12 && !long_form) continue;
        const Kind kind{shape, seeds, arms, shape.name};
        tried.emplace_back(kind, try_paired(kind));
      }
  const std::vector<std::string> what{"noise", "seeds", "arms"};
  const auto table = [&](std::vector<std::string> header) {
    header.insert(header.begin(), what.begin(), what.end());
    return Table(std::move(header));
  };
  Table differences = table({"any false *differs*", "of 3 arms beside 2 that differ", "*differs* by 1", "by 2"}),
        sameness = table({"any false *same*, better", "worse", "of 1 arm beside 4 alike", "*same*, margin 2",
                          "margin 4"}),
        coverage = table({"all intervals", "where arms differ by 1", "an arm's own", "Student's",
                          "BCa, interquartile mean", "P(better)", "end at 0: *differs*", "others"});
  for (const auto& [kind, rates] : tried) {
    differences.row(kind, {rates.any_false, rates.any_false_of_three, rates.power_one, rates.power_two});
    sameness.row(kind, {rates.better_same, rates.worse_same, rates.false_same_of_one, rates.same_two, rates.same_four});
    if (rates.all_hold.count() > 0)
      coverage.row(kind, {rates.all_hold, rates.all_hold_moved, rates.own_holds, rates.student_holds,
                          rates.interquartile_holds, rates.improvement_holds, rates.zero_where_differs,
                          rates.zero_elsewhere});
  }
  differences.print();
  sameness.print();
  coverage.print();

  for (const auto& [kind, rates] : tried) {
    const std::string name = "paired, " + kind.name() + ": ";
    // Of one arm, differences of runs that are drawn alike are as likely as their negatives, whatever the noise is. Of
    // several arms, that takes noise that is itself.
    if (kind.shape.symmetric || kind.arms == 1) {
      points.at_most(0.05, rates.any_false, name + "any false difference");
      points.at_most(0.05, rates.better_same, name + "any false same of better arms");
      points.at_most(0.05, rates.worse_same, name + "any false same of worse arms");
    }
    if (kind.shape.symmetric && kind.arms > 1) {
      points.at_most(0.05, rates.any_false_of_three, name + "a false difference beside true ones");
      points.at_most(0.05, rates.false_same_of_one, name + "a false same beside true ones");
    }
    if (rates.all_hold.count() > 0) {
      if (kind.shape.symmetric || kind.arms == 1) {
        points.at_least(0.95, rates.all_hold, name + "all intervals hold");
        points.at_least(0.95, rates.all_hold_moved, name + "all intervals hold where arms differ");
      }
      points.at_least(0.95, rates.own_holds, name + "an arm's own interval holds");
      points.point(rates.power_one.value() <= rates.power_two.value(), name + "larger effects are found more often");
    } else points.point(rates.power_two.value() == 0, name + "too few seeds for a difference");
    points.point(rates.same_two.value() <= rates.same_four.value(), name + "a wider margin has more that is the same");
    if (rates.student_holds.count() > 0) {
      if (kind.shape.number == normal_noise.number)
        points.about(0.95, rates.student_holds, name + "Student's interval holds");
      points.at_least(0.95, rates.improvement_holds, name + "the interval of P(better) holds");
      points.point(rates.agreeing.value() == 1, name + "intervals are without 0 just where the answer is differs");
    }
    points.point(rates.quick_is_same.value() == 1, name + "the parts say what the whole comparison says");
  }
}

// ---- unpaired runs -------------------------------------------------------------------------------------------------

struct Unpaired {
  Rate any_false, power_one, power_two, any_false_same, same_two, same_four, all_hold, own_holds, agreeing;
};

Unpaired try_unpaired(const Kind& kind) {
  Unpaired out;
  const auto asked = [](const Sweep& sweep, std::optional<double> margin = {}) {
    return ask(sweep, margin, Test::unpaired);
  };
  for (std::size_t number = 0; number < sweeps; ++number) {
    const Sweep alike = draw_sweep(kind, number);
    const Answers none = asked(alike), by_one = asked(moved(alike, one));
    out.any_false.add(any(none, differs));
    out.power_one.add(share(by_one, differs));
    out.power_two.add(share(asked(moved(alike, two)), differs));
    out.any_false_same.add(any(asked(moved(alike, two), two), same));
    out.same_two.add(share(asked(alike, two), same));
    out.same_four.add(share(asked(alike, four), same));
    out.all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
    out.own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
    out.agreeing.add(std::ranges::all_of(none, agrees) && std::ranges::all_of(by_one, agrees));
  }
  return out;
}

void unpaired(Points& points) {
  Table table({"noise, test = \"unpaired\"", "seeds", "arms", "any false *differs*", "*differs* by 1", "by 2",
               "any false *same*", "*same*, margin 2", "margin 4", "all intervals", "an arm's own"});
  for (const bool seeds_matter : {false, true})
    for (const Shape& shape : shapes)
      for (const std::size_t arms : {1, 5}) {
        if (seeds_matter && shape.number != normal_noise.number) continue;
        const Kind kind{shape, 6, arms, shape.name + (seeds_matter ? ", seeds matter" : ""), 1, 1, seeds_matter};
        const Unpaired rates = try_unpaired(kind);
        table.row(kind, {rates.any_false, rates.power_one, rates.power_two, rates.any_false_same, rates.same_two,
                         rates.same_four, rates.all_hold, rates.own_holds});
        const std::string name = "unpaired, " + kind.name() + ": ";
        points.point(rates.agreeing.value() == 1, name + "intervals are without 0 just where the answer is differs");
        if (seeds_matter) continue; // runs of one seed depend on each other
        points.at_most(0.05, rates.any_false, name + "any false difference");
        points.at_most(0.05, rates.any_false_same, name + "any false same");
        points.at_least(0.95, rates.all_hold, name + "all intervals hold");
        points.at_least(0.95, rates.own_holds, name + "an arm's own interval holds");
        points.point(rates.power_one.value() <= rates.power_two.value(), name + "larger effects are found more often");
      }
  table.print();
}

// ---- unequal spreads -----------------------------------------------------------------------------------------------

void spreads(Points& points) {
  Table table({"noise, arms' spread fourfold", "seeds", "arms", "any false *differs*", "unpaired",
               "any false *same*, better", "worse", "all intervals", "an arm's own"});
  constexpr double ratio = 4;
  const double of_difference = std::sqrt(1 + ratio * ratio) / deviation; // its standard deviation, in that of others
  for (const Shape& shape : {normal_noise, skewed_noise})
    for (const std::size_t seeds : {6, 8, 12})
      for (const std::size_t arms : {1, 5}) {
        if (seeds == 12 && !long_form) continue;
        const std::string known = shape.symmetric ? "" : " (known)";
        const Kind kind{shape, seeds, arms, shape.name + known, 2, ratio};
        Rate any_false, any_false_unpaired, better, worse, all_hold, own_holds;
        for (std::size_t number = 0; number < sweeps; ++number) {
          const Sweep alike = draw_sweep(kind, number);
          const Answers none = ask_quickly(alike);
          any_false.add(any(none, differs));
          if (seeds == 6) any_false_unpaired.add(any(ask(alike, {}, Test::unpaired), differs));
          all_hold.add(std::ranges::all_of(none, [](const Comparison& c) { return covers(c, 0); }));
          own_holds.add(share(none, [](const Comparison& c) { return holds(c.interval_flips, 0); }));
          const double margin = two * of_difference;
          better.add(any(ask_quickly(moved(alike, margin), margin), same));
          worse.add(any(ask_quickly(moved(alike, -margin), margin), same));
        }
        table.row(kind, {any_false, any_false_unpaired, better, worse, all_hold, own_holds});
        if (!shape.symmetric) continue; // nothing is promised
        const std::string name = "unequal spread, " + kind.name() + ": ";
        points.at_most(0.05, any_false, name + "any false difference");
        points.at_most(0.05, better, name + "any false same of better arms");
        points.at_most(0.05, worse, name + "any false same of worse arms");
        points.at_least(0.95, all_hold, name + "all intervals hold");
        points.at_least(0.95, own_holds, name + "an arm's own interval holds");
      }
  table.print();
}

// ---- runs that fail ------------------------------------------------------------------------------------------------

struct Failing {
  std::string which;
  bool all_arms,
      worst; ///< the reference and all arms, or the first arm alone; at random, or those with the worst noise
  bool promised;
};

/// A sweep of which runs failed: these are left out. `ranks`: of the first arm and the reference, failed runs the worst.
struct FailedSweep {
  Sweep left, ranks;
  bool any_failed_of_two = false;
};

FailedSweep draw_failing(const Kind& kind, const Failing& failing, double share_failing, double worst_noise,
                         std::size_t number, double effect_of_first) {
  RandomSource random = kind.random(number);
  const auto noise = draw_noise(kind, random);
  const Sweep whole = moved(sweep_of(kind, noise, random), effect_of_first, 1);
  FailedSweep out{Sweep(whole.size()), {whole[0], whole[1]}};
  for (std::size_t arm = 0; arm < whole.size(); ++arm)
    for (std::size_t s = 0; s < kind.seeds; ++s) {
      const bool may_fail = failing.all_arms || arm == 1;
      const bool fails = failing.worst ? noise[arm][s] < worst_noise : random.uniform() < share_failing;
      if (may_fail && fails) {
        if (arm > 1) continue;
        out.ranks[arm].values[s] = -std::numeric_limits<double>::infinity();
        out.any_failed_of_two = true;
      } else {
        out.left[arm].seeds.push_back(whole[arm].seeds[s]);
        out.left[arm].values.push_back(whole[arm].values[s]);
      }
    }
  std::vector<double> all = out.ranks[0].values;
  all.insert(all.end(), out.ranks[1].values.begin(), out.ranks[1].values.end());
  for (SeedValues& values : out.ranks)
    for (double& x : values.values) {
      const double below = static_cast<double>(std::ranges::count_if(all, [&](double y) { return y < x; }));
      x = below + static_cast<double>(std::ranges::count(all, x) + 1) / 2;
    }
  return out;
}

void failing_runs(Points& points) {
  Table table({"which runs fail, of 100", "seeds", "arms", "any false *differs*", "*underpowered*",
               "first arm falsely better", "of these still, failed as worst", "p <= 0.05, failed as worst",
               "first arm falsely *same*"});
  const std::vector<Failing> ways{{"all arms', at random", true, false, true},
                                  {"the first arm's, at random", false, false, true},
                                  {"the first arm's worst (known)", false, true, false}};
  for (const Failing& failing : ways)
    for (const double share_failing : {0.1, 0.25})
      for (const std::size_t seeds : {8, 12})
        for (const std::size_t arms : {1, 5}) {
          if (seeds == 12 && !long_form) continue;
          const Kind kind{normal_noise, seeds, arms, fmt::format("{:g}: {}", 100 * share_failing, failing.which), 3};
          const double worst_noise = quantile(kind.shape, share_failing);
          const auto draw = [&](std::size_t number, double effect) {
            return draw_failing(kind, failing, share_failing, worst_noise, number, effect);
          };
          Rate any_false, underpowered, better, better_holds, failed_worst, false_same, is_quick_same;
          for (std::size_t number = 0; number < sweeps; ++number) {
            const FailedSweep alike = draw(number, 0);
            const Answers none = ask_quickly(alike.left);
            any_false.add(any(none, differs));
            underpowered.add(share(none, [](const Comparison& c) { return c.answer == Answer::underpowered; }));
            const bool first_better = differs(none[0]) && none[0].difference.mean > 0;
            better.add(first_better);
            if (alike.any_failed_of_two) {
              const Comparison ranked = ask_quickly(alike.ranks)[0];
              failed_worst.add(differs(ranked));
              if (first_better) better_holds.add(differs(ranked) && ranked.difference.mean > 0);
            }
            // Worse by the margin: what is left of it looks better than it is.
            false_same.add(same(ask_quickly(draw(number, -two).left, two)[0]));
            if (number < 10) is_quick_same.add(quick_is_same(alike.left));
          }
          table.row(kind, {any_false, underpowered, better, better_holds, failed_worst, false_same});
          const std::string name = "failing runs, " + kind.name() + ": ";
          points.point(is_quick_same.value() == 1, name + "the parts say what the whole comparison says");
          if (!failing.promised) continue;
          points.at_most(0.05, any_false, name + "any false difference");
          points.at_most(0.05, false_same, name + "a false same");
          if (failing.all_arms) points.at_most(0.05, failed_worst, name + "a false difference, failed as worst");
        }
  table.print();
}

// ---- shares of seeds -----------------------------------------------------------------------------------------------

/// Of the runs of the reference and an arm, so many learn.
void shares(Points& points) {
  Table table({"learn: reference, arm", "seeds", "*differ* by Fisher's test", "interval of the reference's share",
               "heaps are seen", "and *differ*"});
  const auto learns = [](double x) { return x > between_heaps / 2; };
  for (const auto& [of_reference, of_arm] :
       std::vector<std::pair<double, double>>{{0.1, 0.1}, {0.5, 0.5}, {0.7, 0.7}, {0.9, 0.9}, {0.9, 0.5}, {0.9, 0.1}})
    for (const std::size_t seeds : {6, 8, 12}) {
      Rate differ, interval_holds, seen, seen_and_differ;
      for (std::size_t number = 0; number < sweeps; ++number) {
        RandomSource random({static_cast<std::uint64_t>(of_reference * 1000 + of_arm * 100) + seeds * 10'000,
                             heed::Stream::test, number});
        std::vector<double> all;
        for (std::size_t i = 0; i < 2 * seeds; ++i)
          all.push_back(draw_heaps(random, i < seeds ? of_reference : of_arm));
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(seeds);
        const auto p_of = [&](const auto& is_above) {
          return fisher_exact(static_cast<std::size_t>(std::count_if(all.begin(), middle, is_above)), seeds,
                              static_cast<std::size_t>(std::count_if(middle, all.end(), is_above)), seeds);
        };
        differ.add(p_of(learns) <= significance_level);
        const auto learned = std::count_if(all.begin(), middle, learns);
        interval_holds.add(holds(share_of(static_cast<double>(learned), seeds).interval, of_reference));
        const auto gap = gap_between_heaps(all);
        seen.add(gap.has_value());
        seen_and_differ.add(gap && p_of([&](double x) { return x > *gap; }) <= significance_level);
      }
      const std::string name = fmt::format("{:g}, {:g} %", 100 * of_reference, 100 * of_arm);
      table.row({name, fmt::to_string(seeds)}, {differ, interval_holds, seen, seen_and_differ});
      const std::string where = fmt::format("shares, {}, {} seeds: ", name, seeds);
      if (of_reference == of_arm) {
        points.at_most(0.05, differ, where + "a false difference by Fisher's test");
        points.at_most(0.05, seen_and_differ, where + "a false difference between heaps that are seen");
      }
      points.at_least(0.95, interval_holds, where + "Clopper and Pearson's interval holds");
    }
  table.print();

  Table none({"seeds", "one heap of so many values seems two", "none fails where as many do as the bound says"});
  for (const auto& [seeds, seem_two] : std::vector<std::pair<std::size_t, double>>{{6, 0.022}, {8, 0.003}}) {
    Rate seems_two, none_fails;
    for (std::size_t number = 0; number < sweeps; ++number) {
      RandomSource random({seeds, heed::Stream::test, number});
      std::vector<double> values, others;
      for (std::size_t i = 0; i < seeds; ++i) {
        values.push_back(random.normal());
        others.push_back(random.uniform());
      }
      seems_two.add(gap_between_heaps(values).has_value());
      none_fails.add(std::ranges::min(others) >= largest_share_of_none(seeds));
    }
    none.row(std::vector{fmt::to_string(seeds)}, {seems_two, none_fails});
    points.about(seem_two, seems_two, fmt::format("{} values of one heap seem two", seeds));
    points.about(0.05, none_fails, fmt::format("none of {} fails where as many do as the bound says", seeds));
  }
  none.print();
}

} // namespace

int main() {
  Points points;
  fmt::print("# | {} sweeps of each kind; per cent ± a standard error |\n#\n", sweeps);
  paired(points);
  unpaired(points);
  spreads(points);
  failing_runs(points);
  shares(points);
  return points.finish();
}
