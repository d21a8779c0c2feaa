// Tests of the run filter: its results against a filter in plain C++ over the same runs, and its error messages.
#include "experiments/index/run_filter.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace heed;
using Catch::Contains;
using heed::test::losses;
using heed::test::run_of;

namespace {

/// The properties of a run that the plain filters use.
struct Plain {
  std::string id, name, score, state;
  std::int64_t seed = 0, heads = 0;
  double rate = 0;
  bool causal = true;
  std::optional<double> loss;
};

/// 24 different runs; every sixth has no metrics.
struct Runs : Scratch {
  std::vector<Plain> all;
  std::optional<RunIndex> index;

  Runs() {
    const std::vector<std::string> scores{"dot", "additive", "scaled_dot"};
    for (std::int64_t seed = 0; seed < 24; ++seed) {
      Plain p;
      p.seed = seed;
      p.name = seed % 2 ? "which score" : "it's odd";
      p.score = scores[static_cast<std::size_t>(seed) % 3];
      p.heads = seed % 4 < 2 ? 2 : 4;
      p.rate = seed % 5 < 3 ? 0.001 : 0.01;
      p.causal = seed % 7 != 0;
      if (seed % 6 != 5) p.loss = 1.0 + 0.1 * static_cast<double>(seed);
      p.state = seed % 8 == 3 ? "failed" : "finished";
      const RunFolder run = run_of(*this,
                                   fmt::format("name = \"{}\"\nseed = {}\nmodel.heads = {}\nattention.score = \"{}\"\n"
                                               "attention.causal = {}\ntrain.learning_rate = {}\n",
                                               p.name, p.seed, p.heads, p.score, p.causal, p.rate),
                                   p.loss ? losses({*p.loss + 1, *p.loss}) : losses({}), p.state);
      p.id = run.id();
      all.push_back(p);
    }
    index.emplace(path);
  }

  std::vector<std::string> found(const std::string& filter) {
    Selection selection;
    selection.where = parse_filter(filter, index->fields());
    std::vector<std::string> out;
    for (const auto& row : index->select({field_named(index->fields(), "id", "")}, selection))
      out.push_back(std::get<std::string>(row.at(0)));
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<std::string> plainly(const std::function<bool(const Plain&)>& filter) const {
    std::vector<std::string> out;
    for (const Plain& p : all)
      if (filter(p)) out.push_back(p.id);
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string refusal(const std::string& filter) {
    try {
      parse_filter(filter, index->fields());
    } catch (const Refused& refused) {
      return refused.what();
    }
    return "it was taken";
  }
};

} // namespace

TEST_CASE("filters find what the same conditions in C++ find", "[runs][filter]") {
  Runs runs;
  struct Case {
    std::string filter;
    std::function<bool(const Plain&)> plain;
  };
  const std::vector<Case> cases{
      {"seed = 3", [](const Plain& p) { return p.seed == 3; }},
      {"seed != 3", [](const Plain& p) { return p.seed != 3; }},
      {"seed <> 3", [](const Plain& p) { return p.seed != 3; }},
      {"3 < seed", [](const Plain& p) { return 3 < p.seed; }},
      {"seed<=3 or seed >=20", [](const Plain& p) { return p.seed <= 3 || p.seed >= 20; }},
      {"attention.score = 'additive' and val_loss < 1.9",
       [](const Plain& p) { return p.score == "additive" && p.loss && *p.loss < 1.9; }},
      {"attention.score='dot' or attention.score='additive' and model.heads=2",
       [](const Plain& p) { return p.score == "dot" || (p.score == "additive" && p.heads == 2); }},
      {"(attention.score='dot' or attention.score='additive') and model.heads=2",
       [](const Plain& p) { return (p.score == "dot" || p.score == "additive") && p.heads == 2; }},
      {"not (seed < 5 or seed > 9)", [](const Plain& p) { return !(p.seed < 5 || p.seed > 9); }},
      {"NOT seed < 5 AND NOT seed > 9", [](const Plain& p) { return p.seed >= 5 && p.seed <= 9; }},
      {"not not seed = 1", [](const Plain& p) { return p.seed == 1; }},
      {"attention.score in ('dot', 'scaled_dot')", [](const Plain& p) { return p.score != "additive"; }},
      {"attention.score not in ('dot')", [](const Plain& p) { return p.score != "dot"; }},
      {"seed in (1, 2, 30, -4)", [](const Plain& p) { return p.seed == 1 || p.seed == 2; }},
      {"name like 'WHICH%'", [](const Plain& p) { return p.name == "which score"; }},
      {"name not like '%sco_e'", [](const Plain& p) { return p.name != "which score"; }},
      {"name = 'it''s odd'", [](const Plain& p) { return p.name == "it's odd"; }},
      {"attention.causal = false", [](const Plain& p) { return !p.causal; }},
      {"true != attention.causal", [](const Plain& p) { return !p.causal; }},
      {"train.learning_rate >= 1e-2", [](const Plain& p) { return p.rate >= 0.01; }},
      {"train.learning_rate < 5E-3", [](const Plain& p) { return p.rate < 0.005; }},
      {"val_loss.best < val_loss", [](const Plain&) { return false; }},
      {"val_loss.best_step = 20", [](const Plain& p) { return p.loss.has_value(); }},
      {"\"val_loss\" > +.5e1 or \"seed\" = 0", [](const Plain& p) { return p.seed == 0; }},
      {"state = 'failed'", [](const Plain& p) { return p.state == "failed"; }},
      {"created > '2024' and created < '2025'", [](const Plain&) { return true; }},
      {"attention.scaled_dot.scale = 'sqrt'", [](const Plain& p) { return p.score == "scaled_dot"; }},
      // A word is not greater than a number, although SQLite would say so.
      {"attention.scaled_dot.scale > 0.1", [](const Plain&) { return false; }},
      // A run that lacks the metric is not found, not even by the opposite condition.
      {"not val_loss < 1.9", [](const Plain& p) { return p.loss && !(*p.loss < 1.9); }},
      {"val_loss < 1.9 or not val_loss < 1.9", [](const Plain& p) { return p.loss.has_value(); }},
  };
  for (const Case& c : cases) {
    INFO(c.filter);
    CHECK(runs.found(c.filter) == runs.plainly(c.plain));
  }
}

TEST_CASE("what looks like SQL within a text is a text", "[runs][filter]") {
  Runs runs;
  CHECK(runs.found("name = ''' OR 1=1 --'").empty());
  CHECK(runs.found("name = 'x''; DROP TABLE runs; --'").empty());
  CHECK(runs.index->size() == 24);
}

TEST_CASE("mistakes in a filter are named with their place, what is allowed, and the nearest name", "[runs][filter]") {
  Runs runs;
  const auto says = [&](const std::string& filter, const std::vector<std::string>& parts) {
    const std::string message = runs.refusal(filter);
    INFO(filter << "\n" << message);
    for (const std::string& part : parts) CHECK_THAT(message, Contains(part));
  };
  says("seed = 1 and attention.scroe = 'dot'",
       {"column 14", "there is no field 'attention.scroe'", "did you mean 'attention.score'?",
        "\n      seed = 1 and attention.scroe = 'dot'\n                   ^"});
  says("score = 'dot'", {"did you mean 'attention.score'"});
  says("val_los < 2", {"did you mean 'val_loss'?"});
  says("\"attention.scroe\" = 'dot'", {"did you mean 'attention.score'?"});
  says("attention.score = dot", {"column 19", "a text stands in single quotes: attention.score = 'dot'"});
  says("name = some", {"there is no field 'some'", "a text stands in single quotes: 'some'"});
  says("attention.score = 'addditive'", {"column 19", "never 'addditive'", "did you mean 'additive'?"});
  says("attention.score in ('dot', 'coz')", {"column 28", "never 'coz'"});
  says("state = 'done'", {"never 'done'", "'finished'"});
  says("seed = 'one'", {"column 8", "seed is a number", "the text 'one'"});
  says("name < 3", {"name is a text"});
  says("attention.causal = 1", {"true or false"});
  says("attention.causal > true", {"no order"});
  says("attention.score > val_loss", {"attention.score is a text", "val_loss is a number"});
  says("seed like '1%'", {"like asks of a text", "seed is a number"});
  says("name like 3", {"a text in single quotes"});
  says("seed in 3", {"a list in parentheses"});
  says("seed in ()", {"a field, a number or a text"});
  says("seed in (1 2)", {"a , or )"});
  says("seed in (1, model.heads)", {"no fields"});
  says("seed", {"a comparison is expected", "the end"});
  says("seed =", {"column 7", "the end"});
  says("seed = 1 or", {"the end"});
  says("seed = 1 seed = 2", {"column 10", "and, or"});
  says("(seed = 1", {"a ) is missing"});
  says("seed = 1)", {"column 9", "')'"});
  says("1 = 1", {"needs a field"});
  for (const std::string word : {"and", "or", "not", "in", "LIKE"})
    says("seed = " + word,
         {"column 8: a field, a number or a text in single quotes is expected, where '" + word + "'"});
  says("\"and\" = 1", {"there is no field 'and'"}); // in double quotes, it is a name
  says("seed not = 1", {"like or in"});
  says("seed = 1x", {"1x is not a number"});
  says("seed = 1 & seed = 2", {"column 10", "'&'"});
  says("name = 'open", {"column 8", "not closed"});
  says("", {"empty"});
  says("  ", {"empty"});
  says("name = 'café' and seeed = 1", {"column 19"});
}

TEST_CASE("deep and long filters are taken up to a bound, and refused beyond it", "[runs][filter]") {
  Runs runs;
  const auto nested = [](int levels) {
    std::string text = "seed = 1";
    for (int i = 0; i < levels; ++i) text = "seed = 2 or (seed > 0 and not (" + text + "))";
    return text;
  };
  CHECK_NOTHROW(runs.found(nested(4)));
  CHECK_THAT(runs.refusal(nested(5)), Contains("nested deeper"));
  CHECK_THAT(runs.refusal(std::string(100000, '(')), Contains("nested deeper"));
  std::string parentheses = std::string(12, '(') + "seed = 1" + std::string(12, ')');
  CHECK(runs.found(parentheses).size() == 1);
  // At the depth limit, SQLite accepts any text before each parenthesis, also where a statement nests the filter again.
  for (const std::string before : {"seed = 1 or seed = 2 and ", "seed = 1 and seed in (1, 2) or seed = 2 and ",
                                   "attention.score like 'd%' or seed < 3 and "}) {
    const auto deep = [&](int levels) {
      std::string text = "seed = 1";
      for (int i = 0; i < levels; ++i) text = before + "(" + text + ")";
      return text;
    };
    CHECK_NOTHROW(runs.found(deep(12)));
    CHECK_NOTHROW(runs.index->options_that_differ(parse_filter(deep(12), runs.index->fields())));
    CHECK_NOTHROW(runs.index->fields_present(parse_filter(deep(12), runs.index->fields())));
    CHECK_THAT(runs.refusal(deep(13)), Contains("nested deeper than 12 levels"));
  }
  const auto listed = [](int values) {
    std::string text = "seed in (1";
    for (int i = 1; i < values; ++i) text += ", 1";
    return text + ")";
  };
  CHECK(runs.found(listed(10'000)).size() == runs.found("seed = 1").size());
  CHECK_NOTHROW(runs.index->options_that_differ(parse_filter(listed(10'000), runs.index->fields())));
  CHECK_THAT(runs.refusal(listed(10'001)), Contains("hold more than 10000 values"));
  CHECK_THAT(runs.refusal(listed(6'000) + " or " + listed(6'000)), Contains("hold more than 10000 values"));
  const auto long_one = [](int comparisons) {
    std::string text = "seed = 1";
    for (int i = 1; i < comparisons; ++i) text += " or attention.score = 'dot'";
    return text;
  };
  CHECK(runs.found(long_one(400)).size() > 1);
  CHECK_THAT(runs.refusal(long_one(401)), Contains("more than 400 comparisons"));
}

TEST_CASE("no text of a few pieces of the grammar does anything but parse or be refused", "[runs][filter]") {
  Runs runs;
  const std::vector<std::string> pieces{"seed", "=",  "1",    "'x'", "(",    ")", "and",
                                        "not",  "in", "like", ",",   "name", "'"};
  std::size_t taken = 0;
  for (std::size_t n = 0; n < pieces.size() * pieces.size() * pieces.size() * pieces.size(); n += 3) {
    std::string text;
    for (std::size_t rest = n, i = 0; i < 4; ++i, rest /= pieces.size()) text += pieces[rest % pieces.size()] + " ";
    try {
      const SqlPart part = parse_filter(text, runs.index->fields());
      Selection selection;
      selection.where = part;
      runs.index->select({}, selection);
      ++taken;
    } catch (const Refused&) {
    }
  }
  CHECK(taken > 0);
}

TEST_CASE("a filter's numbers may have a sign", "[runs][filter]") {
  Runs runs;
  CHECK(runs.found("seed = +12") == runs.plainly([](const Plain& p) { return p.seed == 12; }));
  CHECK(runs.found("seed < +7") == runs.plainly([](const Plain& p) { return p.seed < 7; }));
  CHECK(runs.found("train.learning_rate < +0.005") == runs.plainly([](const Plain& p) { return p.rate < 0.005; }));
  CHECK(runs.found("seed > -3").size() == runs.all.size());
}
