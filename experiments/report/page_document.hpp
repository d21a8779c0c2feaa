// The JSON document of the report's HTML page: `report_document` (json.hpp) with all texts and numbers that the page
// displays. The page's scripts only do layout and colours; they format only axis ticks and attention map cells.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/thinning.hpp"

#include <boost/json/object.hpp>

namespace heed {

/// `report_document` with these additional members. Texts have typographic signs: "−" and "–".
///   metric.sides (also of further metrics)  names of a difference below 0 and of one above 0 (verdict.hpp)
///   clearest       the arms' indices: first the arms that differ, the clearest first; then same, undecided, no answer
///   arms[].texts   mean, spread ("± 0.04"), common_mean (with the table's digits), parameters, flops, time, seconds,
///                  seconds_spread, memory; differences and ratios of time, memory and parameters, and ratios of the
///                  mean, to the arm's reference; unknown ones are missing
///   arms[].limit   "at chance", "at the ceiling" and so on (`place_of`); empty for none
///   arms[].seconds_deviation               over the finished runs; null for one
///   arms[].runs[].texts                    value, seconds
///   curve, by_length, at_lengths: texts    [mean, spread] of each point
///   comparison.{mark, side, word, short_word}  the verdict; `word` includes the side ("differs: better"), `short_word`
///                     is only the side ("better")
///   comparison.texts  its other intervals (flips, student, interquartile, equivalence), correlation, effect_size,
///                     improvement, ends (minus and plus the difference's size)
///   tuning.arms[].texts                    of the values
boost::json::object page_document(const ReportData& report, const Thinning& thinning);

} // namespace heed
