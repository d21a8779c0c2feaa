// The whole report as one JSON document, for other programs and for the HTML page.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/thinning.hpp"

#include <boost/json/object.hpp>
#include <string>

namespace heed {

/// The document that docs/reference/report.schema.json describes. Numbers are not rounded. Unknown values and values
/// that are not finite are null. If `thinning` reduces the curves for a page, the member `thinned` is a sentence about
/// it.
boost::json::object report_document(const ReportData& report, const Thinning& thinning = {});

/// A document as text. The caller can stop it (PollScope).
std::string serialized(const boost::json::value& document);

/// A document as text for an HTML page's <script type="application/json">. The text contains no "<", ">" or "&", so no
/// name in it can close the element or open a comment. Parsing gives the same document.
std::string script_safe(const boost::json::value& document);

} // namespace heed
