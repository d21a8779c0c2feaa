// The whole report as one JSON document, for other programs and for the HTML page.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/thinning.hpp"

#include <boost/json/object.hpp>
#include <string>

namespace heed {

/// The members in order: format, version; name, hash, question, sweep, folder, out, seeds, looks (null: none are
/// planned), confidence_text (of the intervals); progress (number of runs by state, and in words); metric, curve_metric
/// (the metric of the curves), also (further metrics, with arms by them), margin, digits (decimals to show); notes
/// (meaning of the numbers); limits (arms at chance or at the metric's bound); chance (in the metric); interactions;
/// machines, data, reference_config; arms, the reference first.
/// An arm has label, changes, answer (in words; null for the reference), statistics, digits, difference_texts (the
/// difference and its interval, as tables show them), cost, curve (over its seeds), config, differences and runs.
/// All other numbers are not rounded. Unknown values and values that are not finite are null. If `thinning` reduces the
/// curves for a page, the member `thinned` is a sentence about it.
boost::json::object report_document(const ReportData& report, const Thinning& thinning = {});

/// A document as text. The caller can stop it (PollScope).
std::string serialized(const boost::json::value& document);

/// A document as text for an HTML page's <script type="application/json">. The text contains no "<", ">" or "&", so no
/// name in it can close the element or open a comment. Parsing gives the same document.
std::string script_safe(const boost::json::value& document);

} // namespace heed
