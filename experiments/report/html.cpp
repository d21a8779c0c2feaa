// Writes the report as one self-contained HTML file: the JSON document, pictures of its figures, and the scripts that
// draw the rest and make the pictures interactive.
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/page_files.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_figure.hpp"
#include "experiments/report/svg_parts.hpp"
#include "experiments/report/thinning.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>
#include <map>

namespace heed {

namespace {

/// Replaces each {{name}} in the template by its text. Inserted text is not searched again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string_view>& texts) {
  std::size_t size = page.size();
  for (const auto& [name, text] : texts) size += text.size();
  std::string out;
  out.reserve(size);
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find("{{", at), close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out += page.substr(at);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto found = texts.find(name);
    if (found == texts.end()) throw Failed(fmt::format("the report's page has no text for {{{{{}}}}}", name));
    out += page.substr(at, open - at);
    out += found->second;
    at = close + 2;
  }
  return out;
}

} // namespace

std::string render_html(const ReportData& report) {
  const std::string title = svg_text(report.name);
  const std::size_t every = thinning_of(report);
  std::string pictures;
  const std::vector<document::Figure> figures = report_figures(report, every);
  for (std::size_t i = 0; i < figures.size(); ++i) pictures += page_pictures(figures[i], i);
  const std::string data = script_safe_text(report, every);
  return filled(page_files::page, {{"title", title},
                                   {"style", page_files::style},
                                   {"d3", page_files::d3},
                                   {"pictures", pictures},
                                   {"data", data},
                                   {"script", page_files::script}});
}

} // namespace heed
