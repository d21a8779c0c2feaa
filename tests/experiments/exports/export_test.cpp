// Tests of the names of exported runs.
#include "experiments/exports/export.hpp"
#include "experiments/runs/names.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("names of exported runs have only characters that are safe in file names", "[exports]") {
  const std::string id = "3f2a8c11d0b7e644";
  CHECK(export_name("score = additive", 3, id) == "score-additive_seed-3_" + id);
  CHECK(export_name("length = 64: score = additive, hidden 0.5", 0, id) ==
        "length-64-score-additive-hidden-0.5_seed-0_" + id);
  CHECK(export_name("head_width = 4", -1, id) == "head_width-4_seed--1_" + id);
  CHECK(export_name("../../etc/passwd", 1, id) == "etc-passwd_seed-1_" + id);
  CHECK(export_name("\x1b[31m\n", std::nullopt, id) == "31m_" + id);
  CHECK(export_name("größe", std::nullopt, id) == "gr-e_" + id);
  for (const char* empty : {"", "..", " = ", "-"}) CHECK(export_name(empty, std::nullopt, id) == id);
  const std::string longest = export_name(std::string(300, 'a') + "/", 1, id);
  CHECK(longest.size() < 150);
  CHECK(all_plain(longest, "-_."));
}
