// Tests of attention formulas in a configuration: tables with names that the user chooses, and every error message word
// for word.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <algorithm>

using namespace heed;
using namespace heed::test;

namespace {

using Lines = std::vector<std::string>;

const std::string formulas = R"toml([attention]
score_mod = "30 * tanh(s / 30) - slope * abs(i - j)"
mask_mod = "i - j < 256 or j < sinks"
[attention.parameters.slope]
per = "head"
start = "2 ^ (-8 * (h + 1) / heads)"
[attention.parameters.sinks]
start = 4
learned = false
)toml";
const std::string slope =
                      "slope: per = head, learned = true, size = 0, furthest = 0, start = 2 ^ (-8 * (h + 1) / heads)",
                  sinks = "sinks: per = one, learned = false, size = 0, furthest = 0, start = 4";

void check(const std::string& toml, const std::string& message) {
  INFO(toml);
  CHECK(refusal_of(toml) == message);
}

} // namespace

TEST_CASE("Formulas and their parameters reach every block", "[config][formula]") {
  const Config c = config(formulas);
  for (const LayerChoice& layer : c.layers) {
    CHECK(layer.attention.score_mod == "30 * tanh(s / 30) - slope * abs(i - j)");
    CHECK(layer.attention.parameters == Lines{sinks, slope});
  }
  CHECK(config(formulas, {"attention.parameters.sinks.start=8"}).layers[0].attention.parameters[0].ends_with("= 8"));
  CHECK(config(formulas, {"attention.parameters.sinks.start=@default"})
            .layers[0]
            .attention.parameters[0]
            .ends_with("= 0"));
  const Config cross = config("[attention]\nscore_mod = \"2 * s\"\ncross_score = \"dot\"\n[model]\nkind = "
                              "\"encoder_decoder\"\n[task]\nkind = \"reverse\"");
  CHECK(cross.layers[0].for_cross_attention().attention.score_mod.empty());
}

TEST_CASE("What no formula names does nothing", "[config][formula]") {
  check(
      "[attention.parameters.slope]\nper = \"head\"",
      "x.toml:2:1: attention.parameters.slope.per does nothing: attention.score_mod is '' (built-in); it matters only "
      "where attention.score_mod is given, or attention.mask_mod is given, or attention.cross_score_mod is given, or "
      "attention.cross_mask_mod is given");
  check(formulas + "[attention.parameters.other]\nper = \"head\"",
        "x.toml:11:1: attention.parameters.other.per does nothing: no formula of [attention] names the parameter");
  check("[model]\nkind = \"recurrent_decoder\"\n[attention]\nscore_mod = \"2 * s\"",
        "x.toml:4:1: attention.score_mod does nothing: model.kind is 'recurrent_decoder' (x.toml:2:1); it matters only "
        "where model.kind is not 'recurrent_decoder'");
  // A later layer of settings drops the options.
  Settings settings = Settings::parse(formulas, "x.toml");
  settings.override_with({"attention.score_mod="});
  CHECK(settings.resolve().layers[0].attention.parameters == Lines{sinks});
  CHECK(settings.dropped().size() == 2);
  settings.override_with({"attention.mask_mod="});
  CHECK(settings.resolve().layers[0].attention.parameters.empty());
  CHECK(difference(settings.resolve(), config("")).empty());
}

TEST_CASE("Blocks have formulas of their own", "[config][formula]") {
  const std::string toml = formulas + "[model]\nlayers = 3\n[[block.override]]\nlayers = [1]\nattention.score_mod = "
                                      "\"gain * s\"\nattention.parameters.gain.start = 2\n";
  const Config c = config(toml);
  CHECK(c.layers[0].attention.parameters == Lines{sinks, slope});
  CHECK(c.layers[1].attention.parameters ==
        Lines{"gain: per = one, learned = true, size = 0, furthest = 0, start = 2", sinks});
  const std::string written = to_toml(c);
  CHECK_THAT(written, Catch::Contains("[attention.parameters.slope]\nper = \"head\"\n") &&
                          Catch::Contains("attention.parameters.gain.start = \"2\"\n"));
  const Config again = Settings::parse(written, "again.toml").resolve();
  CHECK(to_toml(again) == written);
  for (std::size_t i = 0; i < 3; ++i) CHECK(again.layers[i].attention.parameters == c.layers[i].attention.parameters);
  check(toml + "attention.parameters.other.start = 2\n",
        "x.toml:16:28: attention.parameters.other.start does nothing: no formula of [attention] names the "
        "parameter");
}

TEST_CASE("Every number of a parameter is an option of its own", "[config][formula]") {
  const auto keys = [](const Config& c) {
    Lines out;
    for (const FlatOption& option : flatten(c))
      if (option.key.find("parameters") != std::string::npos) {
        out.push_back(option.key + " = " + option.value);
        CHECK(option.identifies);
      }
    return out;
  };
  CHECK(keys(config("")).empty());
  CHECK(keys(config(formulas)).size() == 10);
  CHECK(keys(config(formulas))[6] == "attention.parameters.slope.start = \"2 ^ (-8 * (h + 1) / heads)\"");
  const auto found = difference(config(formulas), config(formulas, {"attention.parameters.slope.learned=false"}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "attention.parameters.slope.learned");
}

TEST_CASE("Mistakes in formulas are shown at their column", "[config][formula]") {
  const auto score = [](const std::string& f) { return "[attention]\nscore_mod = \"" + f + "\""; };
  const auto mask = [](const std::string& f) { return "[attention]\nmask_mod = \"" + f + "\""; };
  check(score("30 * tan(s)"),
        "x.toml:2:1: attention.score_mod: there is no function 'tan'; there are abs, clamp, cos, exp, floor, log, max, "
        "min, relu, sigmoid, sin, sqrt, tanh, where\n    30 * tan(s)\n         ^");
  check(score("s - slope"),
        "x.toml:2:1: attention.score_mod: there is no name 'slope'; there are b, h, heads, i, j, keys, layer, queries, "
        "s, seen, width; a number of your own is declared in [attention.parameters.slope]\n    s - slope\n        ^");
  check(score("abs(i - j)"),
        "x.toml:2:1: attention.score_mod is 'abs(i - j)': it doesn't contain s, so the score would have no effect; if "
        "you want this, write 0 * s + ...");
  check(score("s"), "x.toml:2:1: attention.score_mod is 's': the formula s changes nothing; leave it out");
  check("[attention]\nscore_mod = 3",
        "x.toml:2:1: attention.score_mod is '3': it doesn't contain s, so the score would have no effect; if you want "
        "this, write 0 * s + ...");
  check("[attention]\nscore_mod = true",
        "x.toml:2:13: attention.score_mod is the word true; it must be a formula, for example: score_mod = \"30 * "
        "tanh(s / 30)\"");
  check(mask("i - j"),
        "x.toml:2:1: attention.mask_mod: a mask must be true or false, this is a number: compare it with "
        "something\n    i - j\n    ^");
  check(mask("1 < 2"),
        "x.toml:2:1: attention.mask_mod is '1 < 2': it is the same for all queries and keys; use i or j in it");
  check(mask("j <= i"), "x.toml:2:1: attention.mask_mod is 'j <= i': attention.causal already hides every key that "
                        "this mask hides; leave the mask out, or set attention.causal = false");
  CHECK(
      refusal_of(mask("j <= i") + "\ncausal = false\n[model]\nkind = \"encoder\"\n[task]\nkind = \"parity\"").empty());
}

TEST_CASE("Mistakes in parameters say which", "[config][formula]") {
  const auto with = [](const std::string& f, const std::string& table) {
    return "[attention]\nscore_mod = \"" + f + "\"\n[attention.parameters.x]\n" + table;
  };
  check(with("s * x", "start = \"1 +\""),
        "x.toml:4:1: attention.parameters.x.start: a value is missing at the end\n    1 +\n       ^");
  check(with("s * x", "start = \"h\""),
        "x.toml:4:1: attention.parameters.x.start: there is no name 'h'; there are heads, width\n    h\n    ^");
  check(with("s * x", "per = \"layer\""), "x.toml:4:7: attention.parameters.x.per is 'layer'; it must be one of 'one', "
                                          "'head', 'distance', 'head_and_distance', 'position', 'head_and_position'");
  check(with("s * x", "furthest = 3"),
        "x.toml:4:1: attention.parameters.x.furthest does nothing: with attention.parameters.x.per = one, there are no "
        "distances");
  check(with("s * x", "size = 3"),
        "x.toml:2:1: attention.score_mod: x is a list of 3 numbers: x[0] is the first\n    s "
        "* x\n        ^");
  check(with("s - floor(x)", "start = 3"),
        "x.toml:4:1: attention.parameters.x.learned is true, but 'x' gets no gradient (comparisons, floor and list "
        "indices have none): set attention.parameters.x.learned = false");
  check("[attention]\nmask_mod = \"i - j < x\"\n[attention.parameters.x]\nstart = 3",
        "x.toml:2:1: attention.mask_mod: a mask has no gradient, so nothing would be learned: set "
        "attention.parameters.x.learned = false\n    i - j < x\n            ^");
  check(with("s * x", "strat = 3"),
        "x.toml:4:1: [attention.parameters.x] has no option 'strat'; did you mean 'start'?");
  check("[attention.parameters.tanh]\nstart = 3",
        "x.toml:1:23: [attention.parameters.tanh] can't be a parameter's name: it must begin with a letter, continue "
        "with letters, digits and _, and be no word of the language");
  check("[attention.parameters]\nslope = 3",
        "x.toml:2:9: [attention.parameters.slope] is a table, but here is the integer 3");
  check("[attention.parameters]\nexp = 3",
        "x.toml:2:1: [attention.parameters.exp] can't be a parameter's name: it must begin with a letter, continue "
        "with letters, digits and _, and be no word of the language");
  check("[attention]\nparameters = 3",
        "x.toml:2:14: attention.parameters is made of tables: write [attention.parameters.NAME]");
  const auto command_line = [](const std::string& assignment) {
    return refusal([&] { Settings::parse(formulas, "x.toml").override_with({assignment}); });
  };
  CHECK(command_line("attention.parameters=[]") ==
        "command line: attention.parameters is made of tables: write [attention.parameters.NAME]");
  CHECK(command_line("attention.parameters.s.start=1") ==
        "command line: [attention.parameters.s] can't be a parameter's name: it must begin with a letter, continue "
        "with letters, digits and _, and be no word of the language");
  CHECK(command_line("attention.parameters.slope.strat=1") ==
        "command line: [attention.parameters.slope] has no option 'strat'; did you mean 'start'?");
}

TEST_CASE("Names that need something else of the run say what", "[config][formula]") {
  const std::string documents = "[attention]\nmask_mod = \"segment_i == segment_j\"";
  check(documents, "x.toml:2:1: attention.mask_mod: segment_i needs model.segment_end: the text that ends a segment, "
                   "such as \"\\n\\n\" between documents\n    segment_i == segment_j\n    ^");
  CHECK(config(documents, {"model.segment_end=|"}).model.segment_end == "|");
  check(
      documents + "\n[model]\nkind = \"patches\"\n[task]\nkind = \"shapes\"",
      "x.toml:2:1: attention.mask_mod: segment_i needs tokens, and the model 'patches' reads images\n    segment_i == "
      "segment_j\n    ^");
  check("[attention]\nscore_mod = \"s + 2 * row_j\"", "x.toml:2:1: attention.score_mod: row_j needs the patches of "
                                                      "images (model.kind = \"patches\"), and model.kind is "
                                                      "'decoder'\n    s + 2 * row_j\n            ^");
  CHECK(config("[attention]\nscore_mod = \"s + 2 * row_j\"\n[model]\nkind = \"patches\"\n[task]\nkind = \"shapes\"")
            .layers[0]
            .attention.score_mod == "s + 2 * row_j");
  check("[attention]\nmask_mod = \"i - j < layer\"\n[model]\nsegment_end = \"|\"",
        "x.toml:4:1: model.segment_end does nothing: no formula of [attention] uses segment_i or segment_j");
  check("[model]\nsegment_end = \"|\"",
        "x.toml:2:1: model.segment_end does nothing: attention.mask_mod is '' (built-in); it matters only where "
        "attention.mask_mod is given, or attention.score_mod is given, or attention.cross_score_mod is given, or "
        "attention.cross_mask_mod is given, or attention.convolution is given, or attention.selection is not 'none', "
        "or mixer.kind is not 'attention'");
  CHECK(config("[model]\nsegment_end = \"|\"\n[attention]\nconvolution = 4").model.segment_end == "|");
  CHECK(config("[model]\nsegment_end = \"|\"\n[attention]\nselection = \"moba\"").model.segment_end == "|");
  // An arm that takes the formula away drops what the formula needed.
  Settings settings = Settings::parse(documents + "\n[model]\nsegment_end = \"|\"", "x.toml");
  settings.override_with({"attention.mask_mod=i - j < 3"});
  CHECK(settings.resolve().model.segment_end.empty());
  CHECK(settings.dropped().size() == 1);
  // One block is enough.
  const std::string one = "[model]\nlayers = 2\nsegment_end = \"|\"\n[[block.override]]\nlayers = [1]\n"
                          "attention.mask_mod = \"segment_i == segment_j\"";
  CHECK(config(one).model.segment_end == "|");
}

TEST_CASE("Cross attention has formulas of its own", "[config][formula]") {
  const std::string both = "[model]\nkind = \"encoder_decoder\"\n[task]\nkind = \"reverse\"\n[attention]\n";
  const Config c = config(both + "score_mod = \"s * a\"\ncross_score_mod = \"s * b_\"\ncross_mask_mod = \"j <= i\"\n"
                                 "[attention.parameters.a]\nstart = 2\n[attention.parameters.b_]\nstart = 3");
  CHECK(c.layers[0].attention.parameters.size() == 2);
  const AttentionOptions cross = c.layers[0].for_cross_attention().attention;
  CHECK(cross.score_mod == "s * b_");
  CHECK(cross.mask_mod == "j <= i");
  check(both + "cross_mask_mod = \"j < queries\"", "x.toml:6:1: attention.cross_mask_mod: queries does not exist in "
                                                   "cross attention: the length of the output is not "
                                                   "known while it is written\n    j < queries\n        ^");
  check(both + "cross_score_mod = \"i - j\"",
        "x.toml:6:1: attention.cross_score_mod is 'i - j': it doesn't contain s, so the score would have no effect; if "
        "you want this, write 0 * s + ...");
  check("[attention]\ncross_mask_mod = \"j <= i\"",
        "x.toml:2:1: attention.cross_mask_mod does nothing: model.kind is 'decoder' (built-in); it matters only where "
        "model.kind is 'encoder_decoder'");
  check(both + "[[block.override]]\nstack = \"encoder\"\nattention.cross_mask_mod = \"j <= i\"",
        "x.toml:8:11: attention.cross_mask_mod does nothing: only the decoder has cross attention");
}

TEST_CASE("A parameter by position is used with a position", "[config][formula]") {
  const std::string table = "\"\n[attention.parameters.x]\nper = \"position\"";
  check(
      "[attention]\nscore_mod = \"s + x" + table,
      "x.toml:2:1: attention.score_mod: x has a number for each position: x[i] is the query's, x[j] the key's\n    s + "
      "x\n        ^");
  CHECK(config("[attention]\nscore_mod = \"s + x[i]" + table).layers[0].attention.parameters ==
        Lines{"x: per = position, learned = true, size = 0, furthest = 0, start = 0"});
}

TEST_CASE("Arms change formulas and their parameters", "[config][formula]") {
  const Settings settings = Settings::parse(
      formulas + "[[sweep.block]]\ngrid = { \"attention.score_mod\" = [\"\", \"20 * tanh(s / 20)\"], "
                 "\"attention.parameters.sinks.start\" = [1, 2] }\n[[sweep.block]]\nkind = \"list\"\narms.fixed = { "
                 "attention.parameters.slope.learned = false }\n",
      "x.toml");
  REQUIRE(settings.sweep().blocks.size() == 2);
  const auto& axes = settings.sweep().blocks[0].axes;
  REQUIRE(axes.size() == 2);
  CHECK(axes[1].first == "attention.parameters.sinks.start");
  const Config arm = settings.with({axes[0].second[0], axes[1].second[1]}).resolve();
  CHECK(arm.layers[0].attention.parameters ==
        Lines{"sinks: per = one, learned = false, size = 0, furthest = 0, start = 2"});
  const auto& change = settings.sweep().blocks[1].sets[0].changes[0];
  CHECK(change.key == "attention.parameters.slope.learned");
  check(formulas + "[[sweep.block]]\nkind = \"list\"\narms.x = { attention.parameters = 3 }\n",
        "x.toml:12:35: attention.parameters is made of tables: write [attention.parameters.NAME]");
  check(formulas + "[[sweep.block]]\nkind = \"list\"\narms.x = { attention.parameters.slope.strat = 3 }\n",
        "x.toml:12:39: [attention.parameters.slope] has no option 'strat'; did you mean 'start'?");
}
