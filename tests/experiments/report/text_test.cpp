// Tests of numbers and tables formatted for people.
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "tests/catch.hpp"

#include <limits>

using namespace heed;

TEST_CASE("decimals show two significant digits of the median spread", "[report]") {
  CHECK(decimals_for({0.31}) == 2);
  CHECK(decimals_for({0.31, 0.012}) == 3);
  CHECK(decimals_for({0.31, 0.012, 0.015}) == 3);
  CHECK(decimals_for({0.28, 0.0066, 0.00012, 0.00009}) == 5);
  CHECK(decimals_for({0.026, 0.028, 12480.0}) == 3);
  CHECK(decimals_for({12.0}) == 0);
  CHECK(decimals_for({0.0, 0.5}) == 2);
  CHECK(decimals_for({0.1 * 3 - 0.2}) == 2);
  CHECK(decimals_for({1e-12}) == 6);
  CHECK(decimals_for({}) == 4);
  CHECK(decimals_for({std::numeric_limits<double>::quiet_NaN()}) == 4);
}

TEST_CASE("a row has the table's decimals where they show 2 to 4 digits of its spread", "[report]") {
  CHECK(decimals_within(3, 0.028) == 3);
  CHECK(decimals_within(3, 12480.0) == 0);
  CHECK(decimals_within(3, 0.28) == 3);
  CHECK(decimals_within(5, 0.28) == 4);
  CHECK(decimals_within(0, 0.28) == 2);
  CHECK(decimals_within(2, 1e-9) == 6);
  CHECK(decimals_within(2, 0.0) == 2);
}

TEST_CASE("numbers read as people write them", "[report]") {
  CHECK(fixed(1.23456, 3) == "1.235");
  CHECK(fixed(std::nullopt, 3) == "-");
  CHECK(fixed(999999.4, 0) == "999999");
  CHECK(fixed(1234567.0, 2) == "1.23e+06");
  CHECK(signed_fixed(1e304, 2) == "+1.00e+304");
  CHECK(signed_fixed(-2.5e7, 3) == "-2.50e+07");
  CHECK(signed_fixed(0.3, 2) == "+0.30");
  CHECK(signed_fixed(-0.3, 2) == "-0.30");
  CHECK(signed_fixed(-0.006, 2) == "-0.01");
  CHECK(fixed(-std::numeric_limits<double>::infinity(), 2) == "-inf");
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(103424) == "103,424");
  CHECK(with_commas(-1234567) == "-1,234,567");
  CHECK(scaled(12, "B") == "12 B");
  CHECK(scaled(1240000000, "FLOPs") == "1.24 GFLOPs");
  CHECK(scaled(31000, "B") == "31.0 kB");
  CHECK(scaled(999999, "B") == "1.00 MB");
}

TEST_CASE("what rounds to zero has no sign", "[report]") {
  CHECK(fixed(-0.0004, 3) == "0.000");
  CHECK(fixed(-0.0, 0) == "0");
  CHECK(signed_fixed(-0.004, 2) == "0.00");
  CHECK(signed_fixed(0.004, 2) == "0.00");
  CHECK(signed_fixed(0, 4) == "0.0000");
}

TEST_CASE("numbers that would all be zeros, and aren't, are shown by powers of ten", "[report]") {
  const Decimals small = decimals_showing({1.234e-7, -3e-8, 0}, 4);
  CHECK(signed_fixed(1.234e-7, small) == "+1.2e-07");
  CHECK(signed_fixed(-3e-8, small) == "-3.0e-08");
  CHECK(signed_fixed(0, small) == "0");
  CHECK(fixed(std::nullopt, small) == "-");
  CHECK(fixed(1.6e-6, decimals_showing({1.6e-6, -2e-7}, 6)) == "1.6e-06");
  CHECK(fixed(1.6e-5, decimals_showing({1.6e-5, -2e-7}, 6)) == "0.000016");
  // Either one value differs from zero as printed, or all are zero.
  CHECK(signed_fixed(1e-7, decimals_showing({1e-7, -0.0001, 0.0002}, 4)) == "0.0000");
  CHECK(signed_fixed(0, decimals_showing({0, -0.0, 0}, 4)) == "0.0000");
}

TEST_CASE("probabilities have two significant digits, and two decimals at least", "[report]") {
  CHECK(probability(1) == "1.00");
  CHECK(probability(0.4375) == "0.44");
  CHECK(probability(0.0997) == "0.10");
  CHECK(probability(0.03125) == "0.031");
  CHECK(probability(0.05) == "0.05");
  // 103 of 2048 flips: above the level, and printed so that this is visible
  CHECK(probability(0.05029296875) == "0.0503");
  CHECK(probability(0.0009765625) == "0.00098");
  CHECK(probability(0.0000019) == "1.9e-06");
  CHECK(p_with_relation(0.03125) == "= 0.031");
  CHECK(p_with_relation(0) == "< 1e-12");
}

TEST_CASE("durations name two units at most", "[report]") {
  CHECK(duration(0.0512) == "51 ms");
  CHECK(duration(0.1) == "0.1 s");
  CHECK(duration(4.13) == "4.1 s");
  CHECK(duration(45) == "45 s");
  CHECK(duration(59.7) == "1 min 00 s");
  CHECK(duration(200) == "3 min 20 s");
  CHECK(duration(7500) == "2 h 05 min");
  CHECK(duration(3 * 86400 + 4 * 3600) == "3 d 4 h");
  CHECK(duration(-1) == "-");
}

TEST_CASE("columns align whatever their characters", "[report]") {
  const TextTable table{{"arm", "loss"}, {Align::left, Align::right}, {{"größer", "1 ± 2"}, {"b", "10"}}};
  CHECK(to_text(table) == "  arm      loss\n  größer  1 ± 2\n  b          10\n");
  CHECK(display_width("größer") == 6);
  CHECK(display_width("\033[31mred\033[0m") == 3);
}

TEST_CASE("a text is cut between characters, not within one", "[report]") {
  CHECK(cut_to("short", 5) == "short");
  CHECK(cut_to("größer", 4) == "grö…");
  CHECK(display_width(cut_to("a longer text", 6)) == 6);
  CHECK(cut_to("anything", 0).empty());
}

TEST_CASE("text is broken between words, and a word that is too wide stands alone", "[report]") {
  CHECK(wrapped("one two three", 0, "- ") == "- one two three\n");
  CHECK(wrapped("one two three", 9, "- ", "  ") == "- one two\n  three\n");
  CHECK(wrapped("größer ist", 6) == "größer\nist\n");
  CHECK(wrapped("a unbreakable b", 6, "", " ") == "a\n unbreakable\n b\n");
  CHECK(wrapped("\033[2mone two\033[0m", 7) == "\033[2mone two\033[0m\n");
}

TEST_CASE("a table that is too wide is shown in parts, each with the first column", "[report]") {
  const TextTable table{{"arm", "n", "loss", "time"},
                        {Align::left, Align::right, Align::right, Align::right},
                        {{"reference", "6", "1.25", "3.0 s"}}};
  CHECK(to_text_within(table, 0) == to_text(table));
  CHECK(to_text_within(table, 27) == to_text(table));
  CHECK(to_text_within(table, 26) == "  arm        n  loss\n  reference  6  1.25\n\n  arm         time\n"
                                     "  reference  3.0 s\n");
  CHECK(to_text_within({{"arm"}, {Align::left}, {{"a"}}}, 5) == "  arm\n  a\n");
}

TEST_CASE("a Markdown table keeps its cells apart", "[report]") {
  const TextTable table{{"a", "b"}, {Align::left, Align::right}, {{"x | y", "1\n2"}}};
  CHECK(to_markdown(table) == "| a | b |\n| --- | ---: |\n| x \\| y | 1 2 |\n");
}
