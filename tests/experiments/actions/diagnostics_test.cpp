// Messages as data.
#include "experiments/actions/diagnostics.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "tests/catch.hpp"

namespace heed {

namespace {

/// The diagnostics of a configuration that is refused.
std::vector<Diagnostic> refusals(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  try {
    Settings settings = Settings::parse(toml, "my folder/a.toml");
    settings.override_with(overrides);
    static_cast<void>(settings.resolve());
  } catch (const Refused& refused) {
    return diagnostics_of(refused);
  }
  return {};
}

} // namespace

TEST_CASE("Each error of a configuration has its place, option, what was found, what is allowed, and the nearest name",
          "[actions][diagnostics]") {
  const auto found = refusals("[model]\nwidht = 64\n[attention]\nscore = \"addtive\"\nwindow = -4\n[train]\n"
                              "steps = \"many\"\n[atention]\nx = 1\n[[sweep.block]]\ngrid = { score = [\"dot\"] }\n");
  REQUIRE(found.size() == 6);
  for (const Diagnostic& d : found) {
    INFO(d.message);
    CHECK(d.severity == Severity::error);
    CHECK(d.file == "my folder/a.toml");
    CHECK(d.line.has_value());
    CHECK(d.column.has_value());
    CHECK(d.found.has_value());
  }
  CHECK(found[0].option == "model.widht");
  CHECK(found[0].nearest == "width");
  CHECK(found[0].line == 2);
  const Diagnostic& score = found[1];
  CHECK(score.option == "attention.score");
  CHECK(score.found == "attention.score is 'addtive'");
  CHECK(score.nearest == "additive");
  CHECK(score.words.size() == 12);
  CHECK(score.words.front() == "dot");
  CHECK(found[2].option == "attention.window");
  CHECK(found[2].allowed == "it must be at least 0 and at most 1000000000 (positions)");
  CHECK(found[2].words.empty());
  CHECK(found[3].option == "train.steps");
  CHECK(found[4].nearest == "attention");
}

TEST_CASE("Errors of the command line, and errors without a place, are data, too", "[actions][diagnostics]") {
  const auto found = refusals("", {"model.heads=7", "attention.score=rope"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "command line");
  CHECK_FALSE(found[0].line.has_value());
  CHECK(found[0].option == "attention.score");

  const Diagnostic unknown = diagnostic_of("check: there is no option --pictur; did you mean '--picture'?\n"
                                           "      heed check --help lists what is available");
  CHECK_FALSE(unknown.file.has_value());
  CHECK(unknown.found == "check: there is no option --pictur");
  CHECK(unknown.nearest == "--picture");
  CHECK(unknown.hint == "heed check --help lists what is available");

  const Diagnostic missing = diagnostic_of("configs/no.toml: there is no such file");
  CHECK(missing.file == "configs/no.toml");
  CHECK(missing.found == "there is no such file");

  const Diagnostic hinted = diagnostic_of("a.toml:13:1: [sweep] has no option 'grid'; in Heed, this is an entry of "
                                          "[[sweep.block]]: write the line [[sweep.block]] above it");
  CHECK(hinted.line == 13);
  CHECK(hinted.found == "[sweep] has no option 'grid'");
  CHECK(hinted.hint == "in Heed, this is an entry of [[sweep.block]]: write the line [[sweep.block]] above it");
  CHECK_FALSE(hinted.allowed.has_value());
  CHECK(diagnostic_of("", Severity::note).message.empty());

  const Diagnostic planted =
      diagnostic_of("command line: attention.score is 'x; did you mean 'dot'?'; it must be one of "
                    "'dot', 'additive'");
  CHECK_FALSE(planted.nearest.has_value());

  const Diagnostic either = diagnostic_of("a.toml:1:1: [train] has no option 'momentum'; did you mean "
                                          "'train.sgd.momentum' or 'train.muon.momentum'?");
  CHECK(either.nearest == "train.sgd.momentum");
  CHECK(either.words == std::vector<std::string>{"train.sgd.momentum", "train.muon.momentum"});

  const Diagnostic failure = failure_of("stopped with 2 of 3 runs done; 1 saved a checkpoint. Resume with\n"
                                        "      heed run a.toml");
  CHECK(failure.found == "stopped with 2 of 3 runs done; 1 saved a checkpoint. Resume with");
  CHECK(failure.hint == "heed run a.toml");
  CHECK_FALSE(failure.allowed.has_value());
}

} // namespace heed
