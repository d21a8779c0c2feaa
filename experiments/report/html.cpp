// Writes the report as one self-contained HTML file: the JSON document, pictures of its figures, and the scripts that
// draw the rest and make the pictures interactive.
#include "experiments/report/curves.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/page_files.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// Adds the template with each {{name}} replaced: what stands there is added by its function.
void add_filled(std::string& out, std::string_view page,
                const std::map<std::string_view, std::function<void(std::string&)>>& parts) {
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find("{{", at), close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
      out += page.substr(at);
      return;
    }
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto found = parts.find(name);
    if (found == parts.end()) throw Failed(fmt::format("the report's page has no text for {{{{{}}}}}", name));
    out += page.substr(at, open - at);
    found->second(out);
    at = close + 2;
  }
}

} // namespace

// A page of many arms is long, so its parts are written in place: the pictures come before the data.
std::string render_html(const ReportData& report) {
  const std::size_t every = thinning_of(report);
  std::vector<document::Figure> figures = report_figures(report, every);
  const auto pictures = [&](std::string& to) {
    for (std::size_t i = 0; i < figures.size(); ++i) to += page_pictures(figures[i], i);
  };
  std::string out;
  add_filled(out, page_files::page,
             {{"title", [&](std::string& to) { to += svg_text(report.name); }},
              {"style", [](std::string& to) { to += page_files::style; }},
              {"d3", [](std::string& to) { to += page_files::d3; }},
              {"pictures", pictures},
              {"data", [&](std::string& to) { add_script_safe_text(report, std::exchange(figures, {}), every, to); }},
              {"script", [](std::string& to) { to += page_files::script; }}});
  return out;
}

} // namespace heed
