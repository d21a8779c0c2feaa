// The whole report as one JSON document, for other programs and for the HTML page.
#pragma once

#include "experiments/report/report_data.hpp"

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// The document that docs/reference/report.schema.json describes. Numbers are not rounded. Unknown values and values
/// that are not finite are null.
/// @param every  lines of figures have every n-th of their points, and the last (thinning.hpp); the member `thinned` is
///               a sentence about it
boost::json::object report_document(const ReportData& report, std::size_t every = 1);

/// Receives a report's members, one after another, so that a report with many arms need not be in memory as a whole. An
/// array may come item by item.
class ReportMembers {
public:
  virtual ~ReportMembers() = default;
  virtual void member(std::string_view key, boost::json::value value) = 0;
  virtual void begin(std::string_view key) = 0;
  virtual void item(boost::json::value value) = 0;
  virtual void end() = 0;
};
void write_report(const ReportData& report, std::size_t every, ReportMembers& out);

/// The document as text. The caller can stop it (PollScope).
std::string report_text(const ReportData& report);

/// Adds the document as text for an HTML page's <script type="application/json">, without what the page's pictures and
/// the texts of its figures have: curves, and the bands of figures. The text contains no "<", ">" or "&", so no name in
/// it can close the element or open a comment.
void add_script_safe_text(const ReportData& report, std::size_t every, std::string& to);

} // namespace heed
