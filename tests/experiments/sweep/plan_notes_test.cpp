// Tests of the reasons why a plan is refused before any run starts, and of the notes on settings without an effect.
#include "experiments/sweep/plan_checks.hpp"

#include "autograd/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fmt/format.h>
#include <string>
#include <vector>

using namespace heed;
using Catch::Contains;
using Notes = std::vector<std::string>;

namespace {

Preparation prepared(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  Settings settings = Settings::parse("[model]\nwidth = 8\nheads = 2\nlayers = 1\n[task]\nkind = \"copy\"\n"
                                      "[train]\nevaluate_every = 5\n" +
                                          toml,
                                      "test.toml");
  settings.override_with(overrides);
  Tasks tasks;
  return prepare(std::move(settings), "test", tasks);
}

std::string refused(const std::vector<std::string>& overrides) {
  try {
    refuse_unreachable(prepared("", overrides));
  } catch (const Refused& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("one answer over tasks needs tasks, pairs and a scale of the metric", "[sweep][plan]") {
  const auto refused_with = [](const std::string& report, const std::string& lengths = "4, 8, 16") {
    try {
      refuse_unreachable(prepared(fmt::format("[sweep]\nseeds = 6\nwithin = \"task.copy.length\"\n[[sweep.block]]\n"
                                              "grid = {{ \"task.copy.length\" = [{}], \"model.heads\" = [1, 2] }}\n"
                                              "[report]\n{}",
                                              lengths, report)));
    } catch (const Refused& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string these = "over = \"these tasks\"\n", alike = "over = \"tasks like these\"\n";
  CHECK(refused_with(these) == "");
  CHECK(refused_with(these + "scale = \"1, 2, 3\"\n") == "");
  CHECK(refused_with(these + "metric = \"val_accuracy\"\nscale = \"chance to best\"\n") == "");
  CHECK(refused_with(alike, "4, 5, 6, 7, 8, 9") == "");
  CHECK_THAT(refused_with(alike),
             Contains("report.over (test.toml:") && Contains("takes 6 tasks or more; there are 3"));
  CHECK_THAT(refused_with(these + "test = \"unpaired\"\n"), Contains("this comparison is unpaired"));
  CHECK_THAT(refused_with(these + "metric = \"steps_to(val_accuracy, 0.5)\"\n"), Contains("never reach the target"));
  CHECK_THAT(refused_with(these + "scale = \"1, 2\"\n"), Contains("has 2 numbers, and there are 3 tasks"));
  CHECK_THAT(refused_with(these + "scale = \"spread\"\n"), Contains("it must be \"metric\", \"chance to best\""));
  CHECK_THAT(refused_with("scale = \"1, 2, 3\"\n"), Contains("does nothing without report.over"));
  CHECK_THAT(refused_with(these + "metric = \"time_per_token\"\nscale = \"1, 2, 3\"\nmargin = 1\n"
                                  "answer = \"not worse\"\n"),
             Contains("is asked with a margin in the metric's unit"));
  CHECK_THAT(refused({"report.over=these tasks"}), Contains("there is one group; sweep.within makes them"));
}

TEST_CASE("a margin, a threshold and a target that no value of the metric meets are refused", "[sweep][notes]") {
  CHECK_THAT(refused({"report.metric=val_accuracy", "report.margin=5"}),
             Contains("report.margin (command line) = 5: val_accuracy is always between 0 and 1, so any two arms would "
                      "be the same"));
  CHECK_THAT(refused({"report.metric=val_accuracy", "report.learned=90"}),
             Contains("report.learned (command line) = 90: val_accuracy is always between 0 and 1"));
  CHECK_THAT(refused({"report.metric=steps_to(val_accuracy, 95)"}),
             Contains("report.metric (command line): no run can reach val_accuracy = 95, because it is always between "
                      "0 and 1"));
  CHECK_THAT(refused({"report.also=[\"steps_to(val_loss, -1)\"]"}),
             Contains("val_loss = -1, because it is always at least 0"));
  CHECK_THAT(refused({"report.metric=val_perplexity", "report.learned=0.5"}), Contains("at least 1"));
}

TEST_CASE("whether arms are not worse needs a margin and a direction", "[sweep][notes]") {
  const std::string answer = "report.answer=not worse";
  CHECK(refused({answer, "report.margin=0.1"}) == "");
  CHECK_THAT(refused({answer}), Contains("report.answer (command line): whether an arm is not worse needs a margin") &&
                                    Contains("set report.margin to a number above 0 (in nats)"));
  CHECK_THAT(refused({answer, "report.margin=0.1", "report.metric=train_gradient_norm"}),
             Contains("report.answer (command line)") || Contains("report.metric"));
}

TEST_CASE("what some value of the metric meets is fine", "[sweep][notes]") {
  for (const std::vector<std::string>& fine :
       {Notes{"report.metric=val_accuracy", "report.margin=0.99"},
        Notes{"report.metric=val_accuracy", "report.learned=1"}, Notes{"report.metric=steps_to(val_accuracy, 0.95)"},
        Notes{"report.margin=5"}, Notes{"report.learned=90"}}) {
    INFO(fine.front());
    CHECK(refused(fine) == "");
  }
}

TEST_CASE("a warm-up as long as the run is noted, with what it leaves without effect", "[sweep][notes]") {
  const std::string cosine = "steps = 10\nschedule = \"cosine\"\n";
  const Notes notes = notes_of(prepared(cosine + "warmup = 20\n"));
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "train.warmup = 20 is not shorter than the run (train.steps = 10): the learning rate only rises, and "
        "stays below train.learning_rate; train.schedule = \"cosine\" and its options do nothing");
  CHECK(notes_of(prepared(cosine + "warmup = 9\n")).empty());
  const Notes some = notes_of(prepared("steps = 10\n[sweep]\nseeds = [0]\n[[sweep.block]]\n"
                                       "grid = { \"train.warmup\" = [5, 10] }\n"));
  REQUIRE(some.size() == 1);
  CHECK_THAT(some[0], Contains("stays below train.learning_rate (in the arm \"warmup = 10\")"));
}

TEST_CASE("a model that sees what it is to predict is noted first", "[sweep][notes]") {
  const Notes notes = notes_of(prepared("steps = 10\nwarmup = 10\n[sweep]\nseeds = [0]\n[[sweep.block]]\n"
                                        "grid = { \"attention.causal\" = [false] }\n"));
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] ==
        "the model sees the targets that it predicts: attention.causal = false. Its metrics do not measure learning "
        "(in the arm \"causal = false\")");
}

TEST_CASE("a prefix that shows what all see anyway is noted", "[sweep][notes]") {
  CHECK(notes_of(prepared("", {"attention.prefix=1"})) ==
        Notes{"attention.prefix = 1 does nothing without a window or a dilation: all positions attend to the first "
              "position anyway"});
  CHECK(notes_of(prepared("", {"attention.prefix=1", "attention.window=2"})).empty());
}

TEST_CASE("an erase by keys of any length is noted", "[sweep][notes]") {
  CHECK(notes_of(prepared("", {"mixer.kind=delta_net"})).empty());
  CHECK(notes_of(prepared("", {"mixer.kind=delta_net", "mixer.query_key_norm=none"})) ==
        Notes{"mixer.erase: keys of any length may multiply the state by a factor below -1, so it may grow without "
              "bound; mixer.query_key_norm = \"l2\" gives keys the length 1"});
}

TEST_CASE("learned positions that no sequence of training has are noted, with how many there are", "[sweep][notes]") {
  const Scratch files;
  std::string examples, longer;
  for (int i = 0; i < 20; ++i) examples += "a b c\tx y\n";
  for (int i = 0; i < 5; ++i) longer += "a b c a b c a b\tx y\n";
  put(files.path / "examples.tsv", examples);
  put(files.path / "longer.tsv", longer);
  const auto notes = [&](const std::string& kind, const std::string& validation) {
    Settings settings = Settings::parse(fmt::format("[model]\nwidth = 8\nheads = 2\nlayers = 1\n[task]\n"
                                                    "kind = \"translation\"\n[data]\npath = \"{}\"\n"
                                                    "validation_path = \"{}\"\n[position]\nkind = \"{}\"\n",
                                                    (files.path / "examples.tsv").string(),
                                                    (files.path / validation).string(), kind),
                                        "test.toml");
    Tasks tasks;
    return notes_of(prepare(std::move(settings), "test", tasks));
  };
  CHECK(notes("learned", "longer.tsv") ==
        Notes{"position.kind = \"learned\": sequences of validation or test are longer than "
              "training's longest; 5 positions are never trained"});
  CHECK(notes("learned", "examples.tsv").empty());
  CHECK(notes("sinusoidal", "longer.tsv").empty());
}

TEST_CASE("learned positions that only a longer test has are noted for a generated task, too", "[sweep][notes]") {
  const std::vector<std::string> longer = {"task.kind=copy", "task.copy.length=4", "task.copy.test_length=7"};
  const auto with = [&](std::string_view position) {
    std::vector<std::string> all = longer;
    all.push_back(fmt::format("position.kind={}", position));
    return notes_of(prepared("", all));
  };
  CHECK(with("learned") ==
        Notes{"position.kind = \"learned\": sequences of validation or test are longer than training's "
              "longest; 6 positions are never trained"});
  CHECK(with("sinusoidal").empty());
}

TEST_CASE("queries whose keys are all hidden are noted, with the first one", "[sweep][notes]") {
  const auto notes = [](const std::vector<std::string>& overrides) { return notes_of(prepared("", overrides)); };
  // A sequence of copy has 8 symbols, a separator and 7 symbols. In each position, by hand:
  CHECK(notes({"attention.mask_mod=j < i"}) ==
        Notes{"attention.mask_mod and score_mod: in blocks.0.attention, query 0 may attend to no key in head 0, so its "
              "output there is 0 (the first sequence of validation; 1 of its 16 queries)"});
  CHECK(notes({"attention.mask_mod=j < i"}) == notes({"attention.mask_mod=j < i", "attention.differential=v1"}));
  CHECK_THAT(notes({"attention.mask_mod=i < 5 or h == 0", "model.layers=2"}).at(0),
             Contains("query 5 may attend to no key in head 1") &&
                 Contains("11 of its 16 queries; and in 1 more module)"));
  CHECK_THAT(notes({"attention.score_mod=where(i == 3, log(0), s)"}).at(0), Contains("query 3") && Contains("; 1 of"));
  CHECK(notes({"attention.mask_mod=j < i or i == 0"}).empty());
  CHECK(notes({"attention.window=2"}).empty());
  CHECK(notes({"attention.mask_mod=j < i", "model.width=1024", "model.layers=4"}).empty()); // nothing of it is run
  // Outputs: a begin token and 8 symbols. The input has 8.
  CHECK_THAT(
      notes({"model.kind=encoder_decoder", "attention.cross_mask_mod=j > i + 3"}).at(0),
      Contains("attention.cross_mask_mod and cross_score_mod: in decoder.blocks.0.cross_attention, query 4 may") &&
          Contains("5 of its 9 queries)"));
}

TEST_CASE("an end of segments that no sequence has is noted", "[sweep][notes]") {
  const Scratch files;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "ab cd.\n";
  put(files.path / "text.txt", text);
  const auto notes = [&](const std::string& end) {
    Settings settings =
        Settings::parse(fmt::format("[model]\nwidth = 8\nheads = 2\nlayers = 1\nsegment_end = \"{}\"\n[task]\n"
                                    "kind = \"text\"\n[task.text]\nblock = 16\n[data]\npath = \"{}\"\n[attention]\n"
                                    "mask_mod = \"segment_i == segment_j\"\n",
                                    end, (files.path / "text.txt").string()),
                        "test.toml");
    Tasks tasks;
    return notes_of(prepare(std::move(settings), "test", tasks));
  };
  CHECK(notes("\\n").empty());
  CHECK(notes(".").empty());
  const Notes missing = notes("\\n\\n"); // both characters are in the vocabulary
  REQUIRE(missing.size() == 1);
  CHECK_THAT(missing[0], Contains("model.segment_end = \"\\n\\n\" does not occur within the first ") &&
                             Contains("each of them is one segment"));
  const auto pairs = [&](const std::string& outputs) {
    std::string examples;
    for (int i = 0; i < 20; ++i) examples += "a | b\t" + outputs + "\n";
    put(files.path / "examples.tsv", examples);
    return notes_of(prepared(fmt::format("[data]\npath = \"{}\"\n", (files.path / "examples.tsv").string()),
                             {"model.kind=encoder_decoder", "task.kind=translation", "model.segment_end=|",
                              "attention.cross_mask_mod=segment_i == segment_j"}));
  };
  CHECK(pairs("x | y").empty());
  CHECK_THAT(pairs("x y |").at(0), Contains("output sequences")); // no second segment begins
}

TEST_CASE("too few seeds for any p are noted, with how many are enough", "[sweep][notes]") {
  const auto notes = [](const std::string& seeds, const std::string& report = "") {
    return notes_of(prepared(report + "[sweep]\nseeds = " + seeds +
                             "\n[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\", \"additive\"] }\n"));
  };
  CHECK(notes("3") == Notes{"with 3 seeds p is at least 0.25, so no arm can differ from the reference; differences can "
                            "be found with 6 seeds or more (sweep.seeds=6)"}); // 2 / 2^3, 2 / 2^6
  CHECK(notes("6").empty());
  CHECK(notes("1").empty()); // the report says that one seed says nothing about the spread
  // Unpaired, with two arms (Holm): of 20 ways to part 6 runs, 2 are as extreme; of 70 for 8 runs; of 252 for 10 runs.
  const std::string unpaired = "[report]\ntest = \"unpaired\"\n";
  CHECK_THAT(notes("3", unpaired).at(0), Contains("p is at least 0.2,") && Contains("5 seeds or more"));
  CHECK_FALSE(notes("4", unpaired).empty()); // 4 / 70
  CHECK(notes("5", unpaired).empty());
  // One-sided: 1 / 2^4, 1 / 2^5.
  const std::string not_worse = "[report]\nmargin = 0.1\nanswer = \"not worse\"\n";
  CHECK(notes("4", not_worse) ==
        Notes{"with 4 seeds p is at least 0.062, so no arm can be shown to be not worse than the "
              "reference; that takes 5 seeds or more (sweep.seeds=5)"});
  CHECK(notes("5", not_worse).empty());
}

TEST_CASE("words and labels that look alike and are other code points are noted", "[sweep][notes]") {
  const Scratch files;
  // "é" in one code point, and as "e" with U+0301 after it.
  std::string examples;
  for (int i = 0; i < 20; ++i) examples += "caf\xC3\xA9 x y\tgut\ncafe\xCC\x81 x y\tgut\n";
  const auto notes = [&](const std::string& text, const std::string& task) {
    put(files.path / "examples.tsv", text);
    Settings settings = Settings::parse(fmt::format("[model]\nwidth = 8\nheads = 2\nlayers = 1\nkind = \"{}\"\n[task]\n"
                                                    "kind = \"{}\"\n[data]\npath = \"{}\"\ntokens = \"words\"\n",
                                                    task == "translation" ? "encoder_decoder" : "encoder", task,
                                                    (files.path / "examples.tsv").string()),
                                        "test.toml");
    Tasks tasks;
    return notes_of(prepare(std::move(settings), "test", tasks));
  };
  CHECK(notes(examples, "translation") ==
        Notes{"1 token is there in several forms of Unicode that look alike, such as \"caf\xC3\xA9\": they count as "
              "different tokens. Convert the data to NFC (uconv -x any-nfc)"});
  std::string others; // é and è are different characters, not forms of the same one
  for (int i = 0; i < 20; ++i) others += "caf\xC3\xA9 x y\tgut\ncaf\xC3\xA8 x y\tgut\n";
  CHECK(notes(others, "translation").empty());
  std::string labelled = "text,label\n";
  for (int i = 0; i < 20; ++i) labelled += "x y,t\xC3\xA9\nx z,te\xCC\x81\n";
  const Notes of_labels = notes(labelled, "labelled_text");
  REQUIRE(of_labels.size() == 1);
  CHECK_THAT(of_labels[0], Catch::StartsWith("1 label is there in several forms"));
}

TEST_CASE("entries of exclude and require that match nothing are noted", "[sweep][notes]") {
  const std::string block =
      "[sweep]\nseeds = [0]\n[[sweep.block]]\n"
      "grid = { \"attention.score\" = [\"dot\", \"additive\"], \"block.norm\" = [\"post\", \"pre\"] }\n";
  const Notes notes =
      notes_of(prepared(block + "exclude = [{ \"attention.score\" = \"dot\", \"block.norm\" = \"post\" },\n"
                                "  { \"attention.score\" = \"cosine\" }]\n"
                                "require = [{ \"block.norm\" = \"pre\" }, { \"attention.score\" = \"additive\" },\n"
                                "  { \"block.ffn_width\" = 7 }]\n"));
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Contains("exclude matches no combination of this block: attention.score = cosine") &&
                           Contains("test.toml:"));
  CHECK_THAT(notes[1], Contains("require matches no combination of this block: block.ffn_width = 7"));
  CHECK(notes_of(prepared(block)).empty());
}

TEST_CASE("an option that one command line sets twice is noted", "[sweep][notes]") {
  CHECK(notes_of(prepared("", {"model.width=16", "train.steps=3", "model.width=32"})) ==
        Notes{"command line sets model.width more than once; the last one counts: model.width=32"});
}
