// The document that the report's page draws from: the report's own (json.hpp), and all that the page says in words and
// numbers. The page's scripts place and colour; they decide nothing, and format only the ticks of axes and the cells of
// attention maps.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/thinning.hpp"

#include <boost/json/object.hpp>

namespace heed {

/// `report_document`, to which these members are added. Texts have typographic signs: "−" and "–".
///   metric.sides (of further metrics, too)  what a difference below 0 and one above it are called (verdict.hpp)
///   clearest       the arms' indices: different ones first, the clearest first; same; undecided; without an answer
///   arms[].texts   mean, spread ("± 0.04"), common_mean (with the table's digits), parameters, flops, time, seconds,
///                  seconds_spread, memory; differences and ratios of time, memory, parameters, and ratios of the mean,
///                  to the arm's reference; those that are not known are missing
///   arms[].seconds_deviation               over the finished runs; null for one
///   arms[].runs[].texts                    value, seconds
///   curve, by_length, at_lengths: texts    [mean, spread] of each point
///   comparison.{mark, side, word, short_word}  the verdict; `word` has its side: "differs: better", `short_word` is that
///   comparison.texts  its other intervals (flips, student, interquartile, equivalence), correlation, effect_size,
///                     improvement, ends (minus and plus the difference's size)
///   tuning.arms[].texts                    of the values
boost::json::object page_document(const ReportData& report, const Thinning& thinning);

} // namespace heed
