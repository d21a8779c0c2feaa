
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <boost/json/serialize.hpp>

using namespace heed;

TEST_CASE("a report of Heed is recognised in every format, whatever its names are", "[report]") {
  ReportData report = awkward_report();
  for (const bool of_table : {false, true}) {
    if (of_table) report.table = ReportTable{.file = "r.csv", .paired_by = "seed", .columns = "", .warnings = {}};
    for (const char* const name : {"which score", "a  b, 1 of 2", "% {x} -->", "arm,changes"}) {
      report.name = name;
      compute_statistics(report);
      CHECK(is_report_of_heed(render_html(report)));
      CHECK(is_report_of_heed(render_markdown(report)));
      CHECK(is_report_of_heed(render_latex(report)));
      CHECK(is_report_of_heed(render_csv(report)));
      CHECK(is_report_of_heed(indented(report_document(report))));
      CHECK(is_report_of_heed(boost::json::serialize(report_document(report))));
      CHECK(is_report_of_heed(render_terminal(report, Style{})));
      CHECK(is_report_of_heed(render_terminal(report, Style{}, 80)));
    }
  }
}

TEST_CASE("files of other programs are no reports of Heed", "[report]") {
  for (const char* const text :
       {"", "\n", "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Heed</title>\n",
        "# which score\n\n3 of 3 runs finished.\n", "% a paper\n\\documentclass{article}\n",
        "arm,seed,run,state,accuracy\na,0,x,finished,0.5\n", "model,seed,accuracy\na,0,0.5\n",
        "{\"format\": \"other\", \"note\": \"heed report\"}", "I saw 3 of 3 runs finished\n",
        "notes\n\nwhich score  3 of 3 runs finished\n", "a  x of 3 runs finished\n", "a   of  run finished\n"})
    CHECK_FALSE(is_report_of_heed(text));
}
