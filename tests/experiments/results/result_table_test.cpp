// Tests of reading tables of results: forms, places in errors, hostile files.
#include "experiments/results/result_table.hpp"

#include "autograd/error.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/results/results_support.hpp"

#include <string>

using namespace heed;
using test::contains;

TEST_CASE("CSV, TSV, JSON lines and a JSON list are the same table", "[results]") {
  const std::string csv = "model,seed,acc\na,0,0.5\nb,1,0.25\n", tsv = "model\tseed\tacc\na\t0\t0.5\nb\t1\t0.25\n",
                    lines = "{\"model\":\"a\",\"seed\":0,\"acc\":0.5}\n{\"model\":\"b\",\"seed\":1,\"acc\":0.25}\n",
                    list = "[{\"model\":\"a\",\"seed\":0,\"acc\":0.5},\n {\"model\":\"b\",\"seed\":1,\"acc\":0.25}]";
  const std::string crlf = "\xEF\xBB\xBFmodel,seed,acc\r\na,0,0.5\r\n\r\nb,1,0.25\r\n";
  for (const std::string& text : {csv, tsv, lines, list, crlf}) {
    CAPTURE(text);
    const ResultTable table = read_results(text, "r");
    CHECK(table.columns == std::vector<std::string>{"model", "seed", "acc"});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.cell(table.rows[0], 2) == "0.5");
    CHECK(table.cell(table.rows[1], 0) == "b");
    CHECK(table.cell(table.rows[1], 1) == "1");
  }
  CHECK(read_results(csv, "r").place(3) == "r:3");
  CHECK(read_results(csv, "a/b\x1b/r.csv").file() == "r.csv");
  CHECK(read_results(list, "r").place(2) == "r, entry 2");
  CHECK(read_results(crlf, "r").rows[1].line == 4);
}

TEST_CASE("cells of JSON: inner objects, null, missing members, Python's NaN, exact numbers", "[results]") {
  const ResultTable table = read_results("{\"config\": {\"seed\": 3, \"deep\": {\"x\": true}}, \"acc\": NaN, \"note\": "
                                         "\"NaN \\\" Infinity\"}\n"
                                         "{\"acc\": -Infinity, \"list\": [1, 2]}\n{\"acc\": null, \"new\": 1e-7}\n"
                                         "{\"acc\": 0.30000000000000004}",
                                         "r.jsonl");
  CHECK(table.columns == std::vector<std::string>{"config.seed", "config.deep.x", "acc", "note", "list", "new"});
  CHECK(table.cell(table.rows[0], 0) == "3");
  CHECK(table.cell(table.rows[0], 1) == "true");
  CHECK(table.cell(table.rows[0], 2) == "NaN");
  CHECK(table.cell(table.rows[0], 3) == "NaN \" Infinity");
  CHECK(table.cell(table.rows[1], 2) == "-Infinity");
  CHECK(table.cell(table.rows[1], 4) == "[1, 2]");
  CHECK(table.cell(table.rows[2], 2).empty());
  CHECK(table.cell(table.rows[2], 5) == "1e-07");
  CHECK(table.cell(table.rows[3], 2) == "0.30000000000000004");
  CHECK(table.cell(table.rows[3], 5).empty());
}

TEST_CASE("a quoted cell may have separators and line ends", "[results]") {
  const ResultTable table = read_results("model,acc\n\"a, \"\"b\"\"\nc\",1\nd,2\n", "r");
  CHECK(table.cell(table.rows[0], 0) == "a, \"b\"\nc");
  CHECK(table.rows[1].line == 4);
}

TEST_CASE("files that are no tables are refused with the place and what to do", "[results]") {
  using namespace std::string_literals;
  const auto error = [](const std::string& text) { return refusal([&] { read_results(text, "r.csv"); }); };
  CHECK(contains(error(""), "r.csv is empty; it needs a row for each run"));
  CHECK(contains(error(" \n\xEF\xBB\xBF"), "is empty") == false); // a mark in the middle is a character
  CHECK(contains(error("\xEF\xBB\xBF\n "), "r.csv is empty"));
  CHECK(contains(error("model,acc\n"), "no rows below"));
  CHECK(contains(error("model,acc\na,1,2\n"), "r.csv:2: this row has 3 cells, and the first line names 2 columns"));
  CHECK(contains(error("model,acc\n\na\n"), "r.csv:3: this row has 1 cell,"));
  CHECK(contains(error("acc,model,acc\na,1,2\n"), "r.csv:1: columns 1 and 3 are both called \"acc\""));
  CHECK(contains(error("model;acc\na;1\n"), "r.csv:1: the columns are separated by semicolons"));
  CHECK(contains(error("model,acc\n\"a,1\n"), "r.csv:2: the quote that opens a cell here is never closed"));
  CHECK(contains(error("\xFF\xFEm\0o\0"s), "iconv -f UTF-16 -t UTF-8"));
  CHECK(contains(error("model,acc\na\xC3,1\n"), "is not UTF-8"));
  CHECK(contains(error("{\"a\": 1}\n{\"a\": }\n"), "r.csv:2: it is not JSON"));
  CHECK(contains(error("{\"a\": 1}\n[1]\n"), "r.csv:2: this is not a JSON object"));
  CHECK(contains(error("[{\"a\": 1}, 2]"), "r.csv, entry 2: this is not a JSON object"));
  CHECK(contains(error("[]"), "empty list"));
  CHECK(contains(error("[{\"a\": 1}"), "it is not JSON"));
}

TEST_CASE("shown texts have no control characters and are cut between characters", "[results]") {
  CHECK(shown_text("a\x1b[31mb") == "\"a\\x1b[31mb\"");
  std::string huge(100000, 'x');
  CHECK(shown_text(huge).size() < 100);
  CHECK(contains(shown_text(huge), "(100000 bytes)"));
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ä";
  const std::string shown = shown_text("x" + umlauts);
  CHECK(contains(shown, "ä...\" (2001 bytes)"));
}

TEST_CASE("tab-separated tables are read as R and pandas write them", "[results]") {
  // write.table: quotes around texts, with a backslash before those within, and no name for the numbers of rows.
  const ResultTable r = read_results("\"model\"\t\"acc\"\n\"1\"\t\"a \\\"b\\\"\"\t0.5\n\"2\"\t\"c\td\"\t0.75\n",
                                     "r.tsv");
  CHECK(r.columns == std::vector<std::string>{"model", "acc"});
  CHECK(r.cell(r.rows[0], 0) == "a \"b\"");
  CHECK(r.cell(r.rows[1], 0) == "c\td");
  CHECK(r.cell(r.rows[1], 1) == "0.75");
  // pandas: quotes where a text has a line end, a tab or a quote, which is doubled.
  const ResultTable pandas = read_results("model\tacc\n\"wide\nnet\"\t0.5\n\"a \"\"b\"\"\"\t0.75\n5\" disk\t1\n",
                                          "p.tsv");
  CHECK(pandas.cell(pandas.rows[0], 0) == "wide\nnet");
  CHECK(pandas.cell(pandas.rows[1], 0) == "a \"b\"");
  CHECK(pandas.cell(pandas.rows[2], 0) == "5\" disk");
  CHECK(pandas.rows[2].line == 5);
  CHECK(contains(refusal([] { read_results("model\tacc\n\"wide\t0.5\n", "p.tsv"); }), "p.tsv:2: the quote that opens"));
}

TEST_CASE("numbers of rows without a name of their column are R's, or a mistake", "[results]") {
  CHECK(contains(refusal([] { read_results("model,acc\na,1,\nb,2,\n", "r.csv"); }), "r.csv:2: this row has 3 cells"));
  CHECK(contains(refusal([] { read_results("model,acc\n1,a,1\n3,b,2\n", "r.csv"); }), "r.csv:3: this row has 3 cells"));
  CHECK(contains(refusal([] { read_results("model,acc\n1,a,1\nb,2\n", "r.csv"); }), "r.csv:3: this row has 2 cells"));
  CHECK(contains(refusal([] { read_results("model,acc\na,1\n2,b,2\n", "r.csv"); }), "r.csv:3: this row has 3 cells"));
}

TEST_CASE("lines that end with a carriage return only are named", "[results]") {
  CHECK(contains(refusal([] { read_results("model\tacc\ra\t1\rb\t2\r", "old.tsv"); }),
                 "old.tsv: lines end with a carriage return only (CR)"));
  CHECK(read_results("model\tacc\r\na\t1\r\n", "dos.tsv").rows.size() == 1);
}

TEST_CASE("a member that an object has twice is refused", "[results]") {
  CHECK(contains(refusal([] { read_results("{\"m\":\"a\",\"acc\":1,\"acc\":2}\n", "r.jsonl"); }),
                 "r.jsonl:1: an object has two members of one name, \"acc\""));
  CHECK(contains(refusal([] { read_results("{\"a\":{\"b\":1},\"a.b\":2}\n", "r.jsonl"); }),
                 "r.jsonl:1: \"a.b\" is given twice, as \"1\" and \"2\""));
  CHECK(contains(refusal([] { read_results("[{\"m\":\"a\"},{\"acc\":1,\"acc\":2}]", "r.json"); }),
                 "r.json: an object has two members of one name"));
  // Colons and quotes within texts are no members.
  CHECK(read_results("{\"m\":\"a \\\": {b\",\"n\":{\"x\":[{\"y\":1},{\"y\":2}]}}\n", "r.jsonl").rows.size() == 1);
}

TEST_CASE("files of other formats are named, with the line that makes a table of them", "[results]") {
  const auto refused = [](const std::string& bytes) { return refusal([&] { read_results(bytes, "r.csv"); }); };
  CHECK(contains(refused("PK\x03\x04 and so on"),
                 "r.csv is an Excel file (.xlsx) or another ZIP archive, and no text"));
  CHECK(contains(refused("PAR1 and so on"), "r.csv is a Parquet file"));
  CHECK(contains(refused("\x80\x04\x95 and so on"), "pandas.read_pickle(\"FILE\").to_csv(\"table.csv\", index=False)"));
  CHECK(contains(refused("\x1F\x8B\x08 and so on"), "r.csv is compressed by gzip"));
}

TEST_CASE("a single JSON object is named as what it is", "[results]") {
  const auto refused = [](const std::string& text) { return refusal([&] { read_results(text, "r.json"); }); };
  CHECK(contains(refused("{\"model\":{\"0\":\"a\",\"1\":\"b\"},\"acc\":{\"0\":0.5,\"1\":0.6}}"),
                 "r.json is a JSON object with a member for each column, as pandas' to_json() writes it"));
  CHECK(contains(refused("{\n  \"model\": \"a\",\n  \"acc\": 0.5\n}\n"),
                 "r.json is one JSON object over several lines"));
  CHECK(refused("{\"model\":\"a\",\"acc\":0.5}\n") == "not refused");
}
