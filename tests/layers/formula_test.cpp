// The formula language: parsing, values, and error messages with their positions.
#include "layers/attention/formula/formula.hpp"
#include "layers/attention/formula/program.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <functional>
#include <limits>

using namespace heed;
using Catch::Contains;

namespace {

const std::vector<FormulaParameter> declared = {{.name = "slope", .per = "head", .start = "2 ^ (-8 * (h + 1) / heads)"},
                                                {.name = "limit", .per = "one", .start = "4", .learned = false},
                                                {.name = "bias", .per = "distance"},
                                                {.name = "row", .per = "one", .learned = false, .size = 3},
                                                {.name = "at", .per = "position"}};
const std::vector<double> slope = {0.25}, limit = {4}, bias = {-3, -2, -1, 0, 10, 20, 30}, row = {5, 6, 7},
                          at_each = {1, 10, 100, 1000};

double value(std::string_view text, FormulaPair pair = {}, FormulaKind kind = FormulaKind::score) {
  const ReadFormula read = read_formula(text, kind, declared);
  INFO(text << ": " << read.mistake.shown(text));
  REQUIRE(read.formula);
  pair.parameters = {slope, limit, bias, row, at_each};
  return evaluate(*read.formula, pair);
}
bool truth(std::string_view text, const FormulaPair& pair = {}) { return value(text, pair, FormulaKind::mask) != 0; }

FormulaMistake mistake(std::string_view text, FormulaKind kind = FormulaKind::score) {
  const ReadFormula read = read_formula(text, kind, declared);
  INFO(text);
  REQUIRE_FALSE(read.formula);
  return read.mistake;
}

} // namespace

TEST_CASE("formulas have the values of arithmetic", "[formula]") {
  const FormulaPair at{.s = 1.5,
                       .i = 7,
                       .j = 3,
                       .b = 2,
                       .h = 1,
                       .heads = 4,
                       .width = 16,
                       .queries = 9,
                       .keys = 8,
                       .layer = 2,
                       .segment_i = 3,
                       .segment_j = 4,
                       .row_i = 5,
                       .column_i = 6,
                       .row_j = 7,
                       .column_j = 8};
  using F = std::function<double()>;
  for (const auto& [text, expected] : std::vector<std::pair<const char*, F>>{
           {"1 + 2 * 3", [] { return 7.0; }},
           {"(1 + 2) * 3", [] { return 9.0; }},
           {"2 ^ 3 ^ 2", [] { return 512.0; }},
           {"-2 ^ 2", [] { return -4.0; }},
           {"2 ^ -2", [] { return 0.25; }},
           {"8 / 4 / 2", [] { return 1.0; }},
           {"8 - 4 - 2", [] { return 2.0; }},
           {"- - 3", [] { return 3.0; }},
           {"+s", [] { return 1.5; }},
           {"1e-3 + .5 + 2.", [] { return 2.501; }},
           {"7 % 3", [] { return 1.0; }},
           {"-1 % 3", [] { return 2.0; }}, // the remainder has the sign of the divisor, as in Python
           {"30 * tanh(s / 30) - slope * abs(i - j)", [] { return 30 * std::tanh(1.5 / 30) - 0.25 * 4; }},
           {"s*i+j-b/h", [] { return 1.5 * 7 + 3 - 2; }},
           {"heads + 10 * width + 100 * queries + 1000 * keys", [] { return 4 + 160 + 900 + 8000.0; }},
           {"min(s, 1, 2)", [] { return 1.0; }},
           {"max(s, 1, 2)", [] { return 2.0; }},
           {"clamp(s, -1, 1)", [] { return 1.0; }},
           {"exp(s) + log(s) + sqrt(s)", [] { return std::exp(1.5) + std::log(1.5) + std::sqrt(1.5); }},
           {"sigmoid(s) + relu(-s) + floor(s)", [] { return 1 / (1 + std::exp(-1.5)) + 0 + 1; }},
           {"sin(s) * cos(s)", [] { return std::sin(1.5) * std::cos(1.5); }},
           {"where(i < j, 1, 2)", [] { return 2.0; }},
           {"where(i - j == 4 and not (s > 2), 1, 2)", [] { return 1.0; }},
           {"where(where(s > 1, i > j, i < j), 1, 2)", [] { return 1.0; }},
           {"bias", [] { return -3.0; }}, // j - i = -4 is beyond `furthest`
           {"bias + limit", [] { return 1.0; }},
           {"row[0] + row[1.9] + row[-4] + row[90]", [] { return 5.0 + 6 + 5 + 7; }},
           {"at[i] + at[j - 2]", [] { return 1000.0 + 10; }}, // i is beyond the last position
           {"layer + 10 * segment_i + 100 * segment_j", [] { return 2 + 30 + 400.0; }},
           {"row_i + 10 * column_i + 100 * row_j + 1000 * column_j", [] { return 5 + 60 + 700 + 8000.0; }},
           {"s\n  + 1\t", [] { return 2.5; }}}) {
    INFO(text);
    CHECK(value(text, at) == Approx(expected()).epsilon(1e-14));
  }
}

TEST_CASE("masks are truths", "[formula]") {
  const auto pair = [](double i, double j) { return FormulaPair{.i = i, .j = j, .keys = 10}; };
  const std::string window = "j <= i and (i - j < 256 or j < 4)";
  CHECK(truth(window, pair(300, 45)));
  CHECK_FALSE(truth(window, pair(300, 44)));
  CHECK(truth(window, pair(300, 3)));
  CHECK_FALSE(truth(window, pair(2, 3)));
  // `and` binds tighter than `or`; `not` binds tighter than both.
  CHECK(truth("i == 1 or i == 2 and j == 5", pair(1, 0)));
  CHECK_FALSE(truth("(i == 1 or i == 2) and j == 5", pair(1, 0)));
  CHECK(truth("not i == 1 or i == 1", pair(1, 0)));
  CHECK(truth("i != j and i >= j and i > j and not (i < j)", pair(2, 1)));
}

TEST_CASE("starts know their own head, distance or number", "[formula]") {
  const auto start = [](const FormulaParameter& p, std::int64_t heads, std::int64_t longest) {
    INFO(wrong_parameter(p));
    REQUIRE(wrong_parameter(p).empty());
    return starting_numbers(p, heads, 16, longest);
  };
  using Numbers = std::vector<double>;
  // The slopes of ALiBi (Press et al. 2022, section 3).
  CHECK(start({.name = "slope", .per = "head", .start = "2 ^ (-8 * (h + 1) / heads)"}, 4, 0) ==
        Numbers{0.25, 0.0625, 0.015625, 0.00390625});
  CHECK(start({.name = "x", .start = "1 / sqrt(width)"}, 4, 0) == Numbers{0.25});
  CHECK(start({.name = "x", .per = "distance", .start = "i - j", .furthest = 2}, 4, 9) == Numbers{2, 1, 0, -1, -2});
  CHECK(start({.name = "x", .per = "distance"}, 4, 3) == Numbers{0, 0, 0, 0, 0});
  CHECK(start({.name = "x", .per = "head_and_distance", .start = "-abs(i - j) * (h + 1)", .furthest = 1}, 2, 0) ==
        Numbers{-1, 0, -1, -2, 0, -2});
  CHECK(start({.name = "x", .per = "head", .start = "n + 10 * h", .size = 3}, 2, 0) == Numbers{0, 1, 2, 10, 11, 12});
  CHECK(start({.name = "x", .per = "position", .start = "n / 2"}, 4, 3) == Numbers{0, 0.5, 1});
  CHECK(start({.name = "x", .per = "head_and_position", .start = "n + 10 * h", .furthest = 1}, 2, 9) ==
        Numbers{0, 1, 10, 11});
  CHECK_THROWS_WITH(starting_numbers({.name = "x", .per = "position"}, 1, 1, 0),
                    Contains("the largest position of the parameter 'x'"));
  CHECK_THROWS_WITH(starting_numbers({.name = "x", .per = "distance"}, 1, 1, 0),
                    Contains("'x'") && Contains("attention.parameters.x.furthest"));
  CHECK_THROWS_WITH(starting_numbers({.name = "x", .per = "head", .start = "1 / h"}, 2, 1, 0),
                    Contains("attention.parameters.x.start is inf for head 0"));
}

TEST_CASE("a mistake is shown at its column", "[formula]") {
  using Kind = FormulaKind;
  struct Case {
    const char* text;
    std::size_t column;
    const char* what;
    Kind kind = Kind::score;
  };
  for (const Case& c :
       std::vector<Case>{{"", 0, "there is no formula"},
                         {"   ", 3, "there is no formula"},
                         {"s +", 3, "a value is missing at the end"},
                         {"s + * 2", 4, "not '*'"},
                         {"30 * tanh(s / 30", 9, "never closed with a ')'"},
                         {"s)", 1, "a ')' too many"},
                         {"2 s", 2, "a product is written with *"},
                         {"2s", 1, "a product is written with *"},
                         {"(s)(s)", 3, "a product is written with *"},
                         {"s ** 2", 2, "a power is written with ^"},
                         {"tan(s)", 0, "no function 'tan'; there are abs, clamp, cos"},
                         {"tanh s", 0, "tanh is a function"},
                         {"s + slop", 4, "no name 'slop'; there are at, b, bias, column_i"},
                         {"s + slop", 4, "[attention.parameters.slop]"},
                         {"clamp(s, 1)", 0, "clamp takes three values, here it has 2"},
                         {"min(s)", 0, "two or more"},
                         {"tanh(s, s)", 0, "tanh takes one number, here it has 2"},
                         {"s > 2", 0, "a score must be a number"},
                         {"(s > 2) * s", 0, "* and / need a number on both sides"},
                         {"s * (s > 2)", 4, "* and / need a number on both sides"},
                         {"-(s > 2)", 1, "a sign needs a number after it"},
                         {"tanh(i < j)", 5, "a function needs numbers"},
                         {"where(s, 1, 2)", 6, "the first argument of where must be a truth"},
                         {"where(i < j, 1, i < j)", 16, "two numbers or two truths"},
                         {"where(i = j, 1, 2)", 8, "'=' is written '=='"},
                         {"row * 2", 0, "row is a list of 3 numbers: row[0] is the first"},
                         {"slope[1]", 5, "slope is one number; attention.parameters.slope.size makes it a list"},
                         {"row[1", 3, "never closed with a ']'"},
                         {"1e999", 0, "too large"},
                         {"s $ 2", 2, "'$' is not allowed here"},
                         {"s + \xc3\xa4", 4, "\\xc3"},
                         {"i - j", 0, "a mask must be true or false", Kind::mask},
                         {"s > 0", 0, "a mask can't depend on the score", Kind::mask},
                         {"j < i && j > 2", 6, "'&&' is written 'and'", Kind::mask},
                         {"!(j < i)", 0, "'!' is written 'not'", Kind::mask},
                         {"0 < j < i", 6, "comparisons are joined with 'and'", Kind::mask},
                         {"j and i < j", 0, "'and' needs a truth on both sides", Kind::mask},
                         {"i < j and j", 10, "'and' needs a truth on both sides", Kind::mask},
                         {"not j", 4, "'not' needs a truth after it", Kind::mask},
                         {"and i < j", 0, "not 'and'", Kind::mask},
                         {"i - j < slope", 8, "set attention.parameters.slope.learned = false", Kind::mask}}) {
    INFO(c.text);
    const FormulaMistake found = mistake(c.text, c.kind);
    CHECK(found.column == c.column);
    CHECK_THAT(found.what, Contains(c.what));
  }
  CHECK(mistake("30 * tan(s)").shown("30 * tan(s)").ends_with("\n    30 * tan(s)\n         ^"));
  // A character of two bytes takes one column.
  const std::string umlaut = "s * \xc3\xa4";
  CHECK(FormulaMistake{6, "here"}.shown(umlaut) == "here\n    " + umlaut + "\n         ^");
}

TEST_CASE("formulas beyond all measure are refused, and end nobody's stack", "[formula]") {
  const auto many = [](const char* before, const char* behind = "") {
    std::string text = "s";
    for (int n = 0; n < 1500; ++n) text = before + std::move(text) + behind;
    return text;
  };
  CHECK_THAT(mistake(many("", "- 1")).what, Contains("at most 4096 characters"));
  CHECK_THAT(mistake(many("(", ")")).what, Contains("nested at most"));
  CHECK_THAT(mistake(many("-")).what, Contains("nested at most"));
  // powers associate from right to left
  CHECK_THAT(mistake(many("", "^s")).what, Contains("at most 1024 different parts"));
  CHECK(value(many("", "+1").substr(0, 2001), {.s = 1}) == 1001);
}

// Each power uses its operand several times. A traversal that visits a shared subexpression once for each path to it
// would need 5^depth visits and would never end.
TEST_CASE("what is shared again and again is visited once", "[formula]") {
  constexpr std::size_t depth = 90;
  const auto nested = [&](std::string text, const std::string& behind) {
    for (std::size_t n = 0; n < depth; ++n) text = "(" + text + ")" + behind;
    return text;
  };
  for (const char* inner : {"heads", "h + 1", "limit", "slope", "i", "j", "i - j", "i + j", "bias", "row[h]"})
    for (const char* power : {"^16", "^15", "^-15", " + 1^16"}) {
      const std::string number = nested(inner, power);
      INFO(inner << ", " << power);
      const ReadFormula score = read_formula("s * " + number, FormulaKind::score, declared);
      REQUIRE(score.formula);
      CHECK(program_of(&*score.formula, nullptr, declared).instructions.size() <= 12 * (depth + 4));
      CHECK(use_of(*score.formula).score);
      // learned parameters: not allowed in a mask
      if (std::string_view(inner) == "slope" || std::string_view(inner) == "bias") continue;
      const ReadFormula mask = read_formula("i < " + number, FormulaKind::mask, declared);
      REQUIRE(mask.formula);
      CHECK(program_of(nullptr, &*mask.formula, declared).instructions.size() <= 12 * (depth + 4));
      CHECK(program_of(&*score.formula, &*mask.formula, declared).mask >= 0);
    }
  CHECK(value("s * " + nested("heads / 2", "^16"), {.s = 3, .heads = 2}) == 3);
  CHECK(std::isinf(value("s * " + nested("heads", "^16"), {.s = 3, .heads = 2})));
}

TEST_CASE("parameters are read back from their line", "[formula]") {
  const FormulaParameter p{.name = "slope",
                           .per = "head_and_distance",
                           .start = "where(h == 0, 1, 2), start = 3",
                           .learned = false,
                           .size = 3,
                           .furthest = 12};
  CHECK(formula_parameter(text_of(p)) == p);
  CHECK_FALSE(formula_parameter("slope"));
  CHECK_THROWS_WITH(formula_parameters({"slope"}), Contains("'slope' is no parameter"));
}

TEST_CASE("wrong parameters are refused with what mends them", "[formula]") {
  const auto wrong = [](const FormulaParameter& p) { return wrong_parameter(p); };
  for (const char* name : {"s", "heads", "tanh", "and", "2x", "a-b", "", "_x"})
    CHECK_THAT(wrong({.name = name}), Contains("can't be a parameter's name"));
  CHECK_THAT(wrong({.name = "x", .per = "distance", .size = 3}), Contains("attention.parameters.x.size"));
  CHECK_THAT(wrong({.name = "x", .per = "position", .size = 3}), Contains("attention.parameters.x.size does nothing"));
  CHECK(wrong({.name = "x", .per = "position", .start = "n", .furthest = 3}).empty());
  CHECK_THAT(wrong({.name = "x", .furthest = 3}), Contains("attention.parameters.x.furthest does nothing"));
  CHECK_THAT(wrong({.name = "x", .start = "h"}), Contains("attention.parameters.x.start: there is no name 'h'"));
  CHECK_THAT(wrong({.name = "x", .start = "n"}), Contains("there is no name 'n'"));
  CHECK_THAT(wrong({.name = "x", .start = "i - j"}), Contains("there is no name 'i'"));
  CHECK_THAT(wrong({.name = "x", .per = "distance", .start = "i"}), Contains("a formula of the distance i - j"));
  CHECK_THAT(wrong({.name = "x", .per = "distance", .start = "i + j"}), Contains("a formula of the distance i - j"));
  CHECK(wrong({.name = "x", .per = "distance", .start = "-abs(i - j)"}).empty());
  CHECK(wrong({.name = "x", .per = "distance", .start = "2 * i - 2 * j"}).empty());
}

TEST_CASE("a value is computed along no more than it varies with", "[formula]") {
  const auto axis = [](std::string_view text, FormulaKind kind = FormulaKind::score) {
    const ReadFormula read = read_formula(text, kind, declared);
    REQUIRE(read.formula);
    return axis_of(*read.formula);
  };
  CHECK(axis("s") == FormulaAxis::pair);
  CHECK(axis("slope * 3 + h") == FormulaAxis::head);
  CHECK(axis("i * 2") == FormulaAxis::row);
  CHECK(axis("exp(j)") == FormulaAxis::column);
  CHECK(axis("-slope * abs(i - j)") == FormulaAxis::distance);
  CHECK(axis("bias + limit") == FormulaAxis::distance);
  CHECK(axis("2 * i - 2 * j + heads") == FormulaAxis::distance);
  CHECK(axis("i + i - j - j") == FormulaAxis::distance);
  CHECK(axis("i / 4 - 0.25 * j") == FormulaAxis::distance);
  CHECK(axis("i + i - j") == FormulaAxis::pair);
  CHECK(axis("i + j") == FormulaAxis::pair);
  CHECK(axis("i - 2 * j") == FormulaAxis::pair);
  CHECK(axis("layer + 2") == FormulaAxis::head);
  CHECK(axis("segment_i + row_i * column_i") == FormulaAxis::row);
  CHECK(axis("at[j] * segment_j + row_j - column_j") == FormulaAxis::column);
  CHECK(axis("row_i - row_j") == FormulaAxis::pair);
  CHECK(axis("j <= i", FormulaKind::mask) == FormulaAxis::distance);
  CHECK(axis("j + 3 < i and i - j < 7", FormulaKind::mask) == FormulaAxis::distance);
  CHECK(axis("j < keys - 2", FormulaKind::mask) == FormulaAxis::column);
  CHECK(axis("j <= i and j < 4", FormulaKind::mask) == FormulaAxis::pair);
}

TEST_CASE("what a formula names is found wherever it stands", "[formula]") {
  const auto use = [](std::string_view text) {
    return use_of(read_formula(text, FormulaKind::score, declared).formula.value());
  };
  CHECK(use("s").score);
  CHECK(use("2 * tanh(s / limit) + 1").score);
  CHECK_FALSE(use("i - j").score);
  CHECK_FALSE(use("3").score);
  CHECK(use("i - j").anything);
  CHECK(use("limit").anything);
  CHECK_FALSE(use("3").anything);
  CHECK(use("s * slope + bias - slope").parameters.size() == 2);
  CHECK(use("s + 2 * (segment_j + 1)").segments);
  CHECK_FALSE(use("s + i").segments);
  const auto positions = [](const std::string& text) { return use_of(text, FormulaKind::score, declared).positions; };
  for (const char* text : {"s + i", "s - j", "s * keys", "s / queries", "s + segment_i", "s + row_j", "s + bias"})
    CHECK(positions(text));
  CHECK_FALSE(positions("s * slope + layer + seen + h + b"));
  CHECK(use("where(bias < 1, s * slope, floor(limit))").with_gradient == std::vector<std::int32_t>{0});
}
