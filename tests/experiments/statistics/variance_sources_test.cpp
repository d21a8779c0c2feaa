#include "experiments/statistics/variance_sources.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace heed::statistics;

namespace {

const SourceValues source_one{{1, 2, 4}, {10, 11, 15}}, source_two{{1, 1.5, 3}, {0, 2, 1}},
    source_three{{0, 0.1, 0.3}, {0.2, 0.2, 0.5}}, constant{{0.7, 0.7, 0.7}, {0.25, 0.25, 0.25}};

VarianceSources of(std::vector<SourceValues> values, double rounding = 0) { return variance_sources(values, rounding); }

} // namespace

TEST_CASE("a source's spread is pooled within fixings, with the chi-squared interval", "[statistics]") {
  // SciPy: sqrt of the mean of the two samples' variances; s sqrt(4 / chi2.ppf([0.975, 0.025], 4)).
  const VarianceSources found = of({source_one});
  const SourceVariance& source = found.sources.front();
  CHECK(source.freedom == 4);
  CHECK(source.standard_deviation.value() == Approx(2.1602469));
  REQUIRE(source.interval);
  CHECK(source.interval->low == Approx(1.2942755));
  CHECK(source.interval->high == Approx(6.2075897));
  CHECK_FALSE(source.share); // there is nothing that it is a share of
  CHECK(found.whole == source.standard_deviation);
  CHECK(interval_of_spread(1, 15).low == Approx(0.73870486));
  CHECK(interval_of_spread(1, 15).high == Approx(1.54769122));
}

TEST_CASE("of two sources, the interval of a share is that of the F distribution", "[statistics]") {
  const VarianceSources found = of({source_one, source_two});
  const SourceVariance &a = found.sources[0], &b = found.sources[1];
  CHECK(a.share.value() == Approx(0.81751825));
  CHECK(b.share.value() == Approx(1 - 0.81751825));
  // SciPy: r / f.ppf([0.975, 0.025], 4, 4) for r = s_a^2 / s_b^2, and r / (1 + r) of it
  CHECK(a.share_interval.value().low == Approx(0.31807948));
  CHECK(a.share_interval.value().high == Approx(0.97728733));
  CHECK(b.share_interval.value().low == Approx(1 - a.share_interval->high));
  CHECK(found.whole.value() == Approx(2.38921186));
  // SciPy: S -+ the root of the sum of squares of the distances from each variance to the ends of its interval
  CHECK(found.whole_interval.value().low == Approx(1.6257909));
  CHECK(found.whole_interval.value().high == Approx(6.3568308));
}

TEST_CASE("the intervals of three shares", "[statistics]") {
  const VarianceSources found = of({source_one, source_two, source_three});
  const double shares[] = {0.81371694, 0.18163325, 0.00464981}; // NumPy, four million draws, as the intervals
  const Interval intervals[] = {{0.31512, 0.97552}, {0.022706, 0.67847}, {0.00052612, 0.035761}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found.sources[i].share.value() == Approx(shares[i]));
    CHECK(found.sources[i].share_interval.value().low == Approx(intervals[i].low).epsilon(0.04));
    CHECK(found.sources[i].share_interval.value().high == Approx(intervals[i].high).epsilon(0.04));
  }
  // the draws are always the same
  CHECK(of({source_one, source_two, source_three}).sources[1].share_interval->low ==
        found.sources[1].share_interval->low);
}

TEST_CASE("a source without effect has the spread 0 and no share", "[statistics]") {
  const VarianceSources found = of({source_one, constant, source_two});
  CHECK(found.sources[1].is_without_effect());
  CHECK(found.sources[1].freedom == 4);
  CHECK_FALSE(found.sources[1].interval);
  CHECK_FALSE(found.sources[1].share);
  CHECK(found.sources[0].share == of({source_one, source_two}).sources[0].share);
  CHECK(found.sources[0].share_interval->high == of({source_one, source_two}).sources[0].share_interval->high);

  const VarianceSources one = of({constant, source_one});
  CHECK(one.sources[1].share == 1.0);
  CHECK_FALSE(one.sources[1].share_interval);
  CHECK(one.whole_interval->low == Approx(one.sources[1].interval->low));

  const VarianceSources none = of({constant, constant});
  CHECK(none.whole == 0.0);
  CHECK_FALSE(none.whole_interval);
  CHECK_FALSE(none.sources[0].share);

  // what differs by rounding is equal
  const SourceValues rounded{{1, 1 + 1e-9, 1}, {2, 2, 2 - 1e-9}};
  CHECK(of({rounded}, 1e-8).sources[0].is_without_effect());
  CHECK(of({rounded}, 1e-10).sources[0].standard_deviation.value() > 0);
}

TEST_CASE("lost runs cost degrees of freedom, and a source without any leaves the shares unknown", "[statistics]") {
  const VarianceSources found = of({{{1, 2, 4}, {5}, {}}, source_two});
  CHECK(found.sources[0].freedom == 2);
  CHECK(found.sources[0].standard_deviation.value() == Approx(1.5275252)); // of 1, 2, 4
  CHECK(found.sources[0].share);

  const VarianceSources unknown = of({{{1}, {5}, {}}, source_two});
  CHECK(unknown.sources[0].freedom == 0);
  CHECK_FALSE(unknown.sources[0].standard_deviation);
  CHECK_FALSE(unknown.sources[0].is_without_effect());
  CHECK_FALSE(unknown.sources[1].share);
  CHECK(unknown.sources[1].interval);
  CHECK_FALSE(unknown.whole);
  CHECK(of({}).sources.empty());
}

TEST_CASE("shares do not depend on the unit of the metric", "[statistics]") {
  const auto scaled = [](SourceValues values, double by) {
    for (auto& fixing : values)
      for (double& value : fixing) value *= by;
    return values;
  };
  const VarianceSources found = of({source_one, source_two}),
                        tiny = of({scaled(source_one, 0x1p-400), scaled(source_two, 0x1p-400)});
  CHECK(tiny.sources[0].share == found.sources[0].share);
  CHECK(tiny.sources[0].share_interval->low == found.sources[0].share_interval->low);
  CHECK(tiny.whole_interval->high == Approx(found.whole_interval->high * 0x1p-400));
}
