// The whole report as one JSON document, for other programs; the page draws from it, too (page_document.hpp).
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/thinning.hpp"

#include <boost/json/object.hpp>
#include <string>

namespace heed {

/// Members, in order: format, version; name, hash, question, sweep, folder, out, seeds, looks (null: none are planned),
/// confidence_text (of the intervals); progress (count of runs by state, and in words); metric, curve_metric (what curves
/// are of), also (further metrics, with arms by them), margin, digits (decimals worth showing); notes (what the numbers
/// mean); limits (who is at chance, or at the metric's bound); chance (in the metric); interactions; machines, data,
/// reference_config; arms, the reference first. An arm has label, changes, answer (in words; null for the reference),
/// statistics, digits and difference_texts (the difference and its interval, as tables show them), cost, curve (over its
/// seeds), config, differences and runs. Other numbers are not rounded; what is not known, and
/// what is not finite, is null. Where curves are `thinning`, for a page, `thinned` is a sentence that says so.
boost::json::object report_document(const ReportData& report, const Thinning& thinning = {});

/// A document as text that may stand in an HTML page's <script type="application/json">: no "<", ">" or "&" is left in
/// it, so that no name in it can end the element or open a comment; parsing gives the same document.
std::string script_safe(const boost::json::value& document);

} // namespace heed
