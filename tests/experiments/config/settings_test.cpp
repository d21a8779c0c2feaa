// Tests of how files, the command line and arms are combined into one configuration.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <limits>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

TEST_CASE("An empty file is the built-in configuration", "[config]") {
  const Config c = config("");
  CHECK(c.model.width == ModelOptions{}.width);
  CHECK(c.train.learning_rate == TrainOptions{}.learning_rate);
  CHECK(c.layers.size() == static_cast<std::size_t>(ModelOptions{}.layers));
  CHECK(c.layers[0].attention.score == AttentionOptions{}.score);
  CHECK(difference(c, default_config()).empty());
}

TEST_CASE("Each option of a file has its place in the configuration", "[config]") {
  const Config c = config("name = \"n\"\nprecision = \"float64\"\n[model]\nlayers = 3\nwidth = 48\n[attention]\n"
                          "score = \"cosine\"\ncausal = false\ncosine.temperature = 2\n[train]\noptimizer = \"sgd\"\n"
                          "sgd.momentum = 0.5\n[task.copy]\nlength = 5");
  CHECK(c.general.name == "n");
  CHECK(c.float64());
  CHECK(c.model.width == 48);
  REQUIRE(c.layers.size() == 3);
  for (const LayerChoice& layer : c.layers) {
    CHECK(layer.attention.score == "cosine");
    CHECK_FALSE(layer.attention.causal);
    CHECK(layer.score_options.at("temperature") == Value(2.0)); // an integer is accepted as a number
    CHECK(layer.score_options.size() == find_table("attention.cosine")->options.size());
  }
  CHECK(c.optimizer_options.at("momentum") == Value(0.5));
  CHECK(c.task_options.at("length") == Value(std::int64_t{5}));
}

TEST_CASE("A word or a number may be either", "[config]") {
  const Config word = config("[attention.scaled_dot]\nscale = \"learned\"");
  CHECK(word.layers[0].score_options.at("scale") == Value(WordOrNumber{"learned", 0.0}));
  const Config number = config("[attention.scaled_dot]\nscale = 2");
  CHECK(number.layers[0].score_options.at("scale") == Value(WordOrNumber{"", 2.0}));
}

TEST_CASE("Later layers win: built-in, extends from left to right, file, command line, arm", "[config]") {
  const Folder folder;
  folder.write("base/deep.toml",
               "[train]\nsteps = 1\nbatch = 1\nwarmup = 1\nlearning_rate = 0.1\nclip = 1\nlog_every = 1");
  folder.write("base/left.toml",
               "extends = \"deep.toml\"\n[train]\nbatch = 2\nwarmup = 2\nlearning_rate = 0.2\nclip = 2\n"
               "log_every = 2");
  folder.write("right.toml", "[train]\nwarmup = 3\nlearning_rate = 0.3\nclip = 3\nlog_every = 3");
  const auto file = folder.write("top.toml",
                                 "extends = [\"base/left.toml\", \"right.toml\"]\n[train]\nlearning_rate = 0.4\n"
                                 "clip = 4\nlog_every = 4");
  Settings settings = Settings::load(file);
  settings.override_with({"train.clip=5", "train.log_every=5"});
  const Settings arm = settings.with({{"train.log_every", Value(std::int64_t{6}), {}}});
  const TrainOptions t = arm.resolve().train;
  CHECK(t.steps == 1);
  CHECK(t.batch == 2);
  CHECK(t.warmup == 3);
  CHECK(t.learning_rate == 0.4);
  CHECK(t.clip == 5);
  CHECK(t.log_every == 6);
  CHECK(t.evaluate_every == TrainOptions{}.evaluate_every);
  CHECK(settings.resolve().train.log_every == 5); // an arm does not change the settings that it is made from
  CHECK(arm.resolve().general.name == "top");     // a file without a name gets its file name as the run's name
  CHECK(arm.values().at("train.steps").origin.text() == (folder.path() / "base/deep.toml").string() + ":2:1");
  CHECK(arm.values().at("train.clip").origin.text() == "command line");
  CHECK(arm.values().at("train.log_every").origin.text() == "sweep");
}

TEST_CASE("Files that extend each other in a circle, or are not there, are refused", "[config]") {
  const Folder folder;
  const std::string here = folder.path().string();
  folder.write("a.toml", "extends = \"b.toml\"");
  folder.write("b.toml", "\nextends = [\"../" + folder.path().filename().string() + "/a.toml\"]");
  const std::string circle = refusal([&] { Settings::load(folder.path() / "a.toml"); });
  CHECK(circle == here + "/b.toml:2:12: extends '../" + folder.path().filename().string() +
                      "/a.toml' goes in a circle: " + here + "/a.toml -> " + here + "/b.toml -> " + here + "/a.toml");
  folder.write("c.toml", "extends = \"bb.toml\"\nsede = 1");
  CHECK(refusal([&] { Settings::load(folder.path() / "c.toml"); }) ==
        here + "/c.toml:1:11: extends 'bb.toml', but there is no file " + here + "/bb.toml; did you mean 'b.toml'?\n" +
            here + "/c.toml:2:1: the top level has no option 'sede'; did you mean 'seed'?");
  // Twice as many files at each level would take forever.
  for (int i = 0; i < 30; ++i) {
    const std::string next = "\"d" + std::to_string(i + 1) + ".toml\"";
    folder.write("d" + std::to_string(i) + ".toml", "extends = [" + next + ", " + next + "]");
  }
  folder.write("d30.toml", "");
  CHECK_THAT(refusal([&] { Settings::load(folder.path() / "d0.toml"); }),
             Catch::Contains("more than 100 files extend each other"));
}

TEST_CASE("Tables merge and arrays replace", "[config]") {
  const Folder folder;
  folder.write("base.toml", "[model]\nlayers = 4\n[[block.override]]\nlayers = [0]\nresidual = \"none\"\n"
                            "[sweep]\nseeds = [1, 2]\n[[sweep.block]]\ngrid = { \"model.heads\" = [1] }\n");
  const auto file = folder.write("top.toml",
                                 "extends = \"base.toml\"\n[[block.override]]\nlayers = [3]\nnorm = \"post\"\n"
                                 "[sweep]\nseeds = [7]");
  const Settings settings = Settings::load(file);
  const Config c = settings.resolve();
  CHECK(c.layers[0].block.residual == "both");
  CHECK(c.layers[3].block.norm == "post");
  CHECK(settings.sweep().seeds == std::vector<std::int64_t>{7});
  CHECK(settings.sweep().blocks.size() == 1);
}

TEST_CASE("Assignments are read by the option's type", "[config]") {
  const Config c = config("",
                          {"name=a b=c", "model.width=1_28", "train.learning_rate=.5", "train.clip=1e0",
                           "attention.causal=false", "attention.scaled_dot.scale=none", "report.metric=\"val_loss\""});
  CHECK(c.general.name == "a b=c");
  CHECK(c.model.width == 128);
  CHECK(c.train.learning_rate == 0.5);
  CHECK(c.train.clip == 1.0);
  CHECK_FALSE(c.layers[0].attention.causal);
  CHECK(c.layers[0].score_options.at("scale") == Value(WordOrNumber{"none", 0.0}));
  CHECK(c.report.metric == "val_loss");
  CHECK(config("", {"attention.scaled_dot.scale=0.25"}).layers[0].score_options.at("scale") ==
        Value(WordOrNumber{"", 0.25}));
  CHECK(config("", {"name=true"}).general.name == "true");
}

TEST_CASE("Lists of every type can be assigned", "[config]") {
  Option list;
  list.type = OptionType::integers;
  list.default_value = std::vector<std::int64_t>{};
  CHECK(read_text(list, "x", "[1, 2]").value == Value(std::vector<std::int64_t>{1, 2}));
  CHECK(read_text(list, "x", "[1, 2.5]").problem ==
        "x is a list with the real 2.5; it must be a list of integers, for example:  = [8, 16]");
  list.type = OptionType::reals;
  list.default_value = std::vector<double>{};
  CHECK(read_text(list, "x", "[1, 2.5]").value == Value(std::vector<double>{1, 2.5}));
  list.maximum = 2;
  CHECK(read_text(list, "x", "[1, 2.5]").problem == "an entry of x is 2.5; it must be at most 2");
  list.type = OptionType::texts;
  list.default_value = std::vector<std::string>{};
  CHECK(read_text(list, "x", "[a, b c]").value == Value(std::vector<std::string>{"a", "b c"}));
  CHECK(read_text(list, "x", "[\"a\", 'b']").value == Value(std::vector<std::string>{"a", "b"}));
}

TEST_CASE("Wrong assignments are refused", "[config]") {
  auto refused = [](const std::string& assignment) { return refusal([&] { config("", {assignment}); }); };
  CHECK(refused("model.width") ==
        "command line: 'model.width' is not an assignment; write OPTION=VALUE, such as model.width=128");
  CHECK(refused("=3") == "command line: '=3' is not an assignment; write OPTION=VALUE, such as model.width=128");
  CHECK(refused("modle.width=3") == "command line: there is no option 'modle.width'; did you mean 'model.width'?");
  CHECK(refused("model.widht=3") == "command line: [model] has no option 'widht'; did you mean 'width'?");
  CHECK(refused("model.width=3.5") ==
        "command line: model.width is the real 3.5; it must be an integer, for example: width = 64");
  CHECK(refused("model.width=") ==
        "command line: model.width is nothing; it must be an integer, for example: width = 64");
  CHECK(refused("model.width=big") ==
        "command line: model.width is 'big'; it must be an integer, for example: width = 64");
  CHECK(refused("train.learning_rate=nan") == "command line: train.learning_rate is nan; it must be a finite number");
  CHECK(refused("attention.causal=yes") ==
        "command line: attention.causal is 'yes'; it must be true or false, for example: causal = true");
  CHECK(refused("seed=1\nname=2") == "command line: seed is '1\nname=2'; it must be an integer, for example: seed = 0");
  CHECK(refused("name=\xff") == "command line: name is not UTF-8");
  CHECK(refused("report.attend=[a, \xff]") == "command line: an entry of report.attend is not UTF-8");
  CHECK(refused("extends=a.toml") == "command line: extends is allowed only in a file");
  CHECK(refused("block.override=[]") == "command line: block.override is a list of tables, which is allowed only in a "
                                        "file: write [[block.override]] there, or set an option of one block, such as "
                                        "block[3].dropout=0.1");
  CHECK(refused("sweep.blok=[]") ==
        "command line: sweep.blok is no option of a sweep; its options are sweep.seeds, sweep.looks, "
        "sweep.block, sweep.match, sweep.reference, sweep.within, sweep.tune, sweep.vary, sweep.vary_values, "
        "sweep.vary_fixings");
  CHECK(refused("sweep.match=flopz") == "command line: sweep.match is the text 'flopz'; it must be one of 'none', "
                                        "'parameters', 'flops', 'state'; did you mean 'flops'?");
  CHECK(refused("sweep.block=[{grid={\"model.widht\"=[1]}}]") ==
        "command line: [model] has no option 'widht'; did you mean 'width'?");
  CHECK_THAT(refused("sweep.block=[{grid={\"model.width\"=[32]}}]\nseeds = 9"), Contains("must be a value"));
  CHECK_THAT(refused("sweep.seeds=3\nlooks = [2]"), Contains("sweep.seeds is"));
  CHECK(refused("sweep.block=[{") ==
        "command line: sweep.block is '[{'; it must be a value in the syntax of TOML, for example: "
        "sweep.block=[{ grid = { \"model.width\" = [32, 64] } }]");
  CHECK(refused("report=x") ==
        "command line: [report] is a table; give one of its options: 'metric', 'also', 'margin', "
        "'answer', 'test', 'learned', 'over', 'scale', 'question', 'examples', 'attend', 'label'");
  CHECK(refused("train.sgd.momentum=0.5") ==
        "command line: train.sgd.momentum does nothing: train.optimizer is 'adamw' (built-in); it matters only where "
        "train.optimizer is 'sgd'");
}

TEST_CASE("@default takes back what a file sets", "[config]") {
  const std::string file = "[attention]\nscore = \"cosine\"\ncosine.temperature = 5.0\n[model]\nwidth = 32";
  CHECK(config(file, {"model.width=@default"}).model.width == ModelOptions{}.width);
  CHECK(config(file, {"attention.cosine.temperature=@default"}).layers[0].score_options.at("temperature") ==
        find_option("attention.cosine.temperature")->default_value);
  // The command line chose another score, so the options of the file's score are dropped and cause no error.
  CHECK(config(file, {"attention.score=@default"}).layers[0].attention.score == AttentionOptions{}.score);
  CHECK(config(file, {"model.width=@default", "model.width=16"}).model.width == 16);
  CHECK(refusal([&] { config(file, {"model.wdth=@default"}); }) ==
        "command line: [model] has no option 'wdth'; did you mean 'width'?");
}

TEST_CASE("The command line can set a sweep's seeds", "[config]") {
  Settings settings = Settings::parse("[sweep]\nseeds = [4, 5]", "x.toml");
  settings.override_with({"sweep.seeds=3"});
  CHECK(settings.sweep().seeds == std::vector<std::int64_t>{0, 1, 2});
  settings.override_with({"sweep.seeds=[8]"});
  CHECK(settings.sweep().seeds == std::vector<std::int64_t>{8});
  CHECK(refusal([&] { settings.override_with({"sweep.seeds=a"}); }) ==
        "command line: sweep.seeds is 'a'; it must be a list such as [0, 1, 2], or how many");
}

TEST_CASE("The command line can set a sweep's looks", "[config]") {
  Settings settings = Settings::parse("[sweep]\nseeds = 10\nlooks = [7, 10]", "x.toml");
  settings.override_with({"sweep.looks=[6, 10]"});
  CHECK(settings.sweep().looks.seeds == std::vector<std::int64_t>{6, 10});
  CHECK(settings.sweep().looks.origin.text() == "command line");
  settings.override_with({"sweep.looks=@default"});
  CHECK(settings.sweep().looks.seeds.empty());
  const std::string allowed = "; it must be a rising list of numbers of seeds from 2 on, such as looks = [6, 10]";
  CHECK(refusal([&] { settings.override_with({"sweep.looks=6"}); }) ==
        "command line: sweep.looks is the integer 6" + allowed);
  CHECK(refusal([&] { settings.override_with({"sweep.looks=[6, 6]"}); }) ==
        "command line: sweep.looks holds 6 after 6" + allowed);
  CHECK(refusal([&] { settings.override_with({"sweep.looks=soon"}); }) ==
        "command line: sweep.looks is 'soon'; it must be a list such as [6, 10]");
}

TEST_CASE("A chosen variant's presets are defaults, and no more", "[config]") {
  CHECK_FALSE(config("[model]\nkind = \"encoder\"").layers[0].attention.causal);
  CHECK(config("[model]\nkind = \"decoder\"").layers[0].attention.causal);
  CHECK(config("[model]\nkind = \"encoder\"\n[attention]\ncausal = true").layers[0].attention.causal);
  const std::string t5 = "[position]\nkind = \"t5\"\n[model]\nkind = ";
  CHECK(std::get<bool>(config(t5 + "\"encoder\"").layers.front().position_options.at("both_sides")));
  CHECK_FALSE(std::get<bool>(config(t5 + "\"decoder\"").layers.front().position_options.at("both_sides")));
  CHECK(config("[attention]\ncausal = true", {"model.kind=encoder"}).layers[0].attention.causal);
  CHECK_FALSE(config("[attention]\ncausal = true", {"model.kind=encoder", "attention.causal=@default"})
                  .layers[0]
                  .attention.causal);
}

TEST_CASE("Options of a choice that has no effect itself are dropped with the choice", "[config]") {
  const std::string file = "[train]\noptimizer = \"adamw\"\n[train.adamw]\nbeta1 = 0.8";
  Settings settings = Settings::parse(file, "x.toml");
  settings.override_with({"train.steps=0"});
  const std::string why = "train.steps is 0 (command line); it matters only where train.steps is given";
  CHECK(settings.dropped() == std::vector<std::string>{"train.adamw.beta1 = 0.8 (x.toml:4:1) is dropped: " + why,
                                                       "train.optimizer = \"adamw\" (x.toml:2:1) is dropped: " + why});
  // In the same file, the options contradict each other. A choice of another variant remains the reason of its own.
  CHECK(refusal([&] { config("[train]\nsteps = 0\n[train.adamw]\nbeta1 = 0.8"); }) ==
        "x.toml:4:1: train.adamw.beta1 does nothing: train.steps is 0 (x.toml:2:1); it matters only where train.steps "
        "is given");
  CHECK_THAT(refusal([&] { config("[train]\noptimizer = \"sgd\"\n[train.adamw]\nbeta1 = 0.8", {"train.steps=0"}); }),
             Contains("train.adamw.beta1 does nothing: train.optimizer is 'sgd' (x.toml:2:1)"));
}

TEST_CASE("The reason why an option does nothing is one that the user can mend", "[config]") {
  const auto refused = [](const std::string& file, const std::vector<std::string>& overrides = {}) {
    return refusal([&] { config(file, overrides); });
  };
  // With data.path or block.connection set as the first reason asks, they would be refused next.
  CHECK_THAT(
      refused("[task]\nkind = \"copy\"\n[data]\nvalidation_sets = [\"a = a.tsv\"]"),
      Catch::StartsWith("x.toml:4:1: data.validation_sets does nothing: task.kind is 'copy' (x.toml:2:1); it matters "
                        "only where task.kind is one of 'text', "));
  CHECK(refused("[block]\nresidual = \"none\"\ngate_bias = -1.0") ==
        "x.toml:3:1: block.gate_bias does nothing: block.residual is 'none' (x.toml:2:1); it matters only where "
        "block.residual is not 'none'");
  // A choice of the user's that differs is a reason of its own.
  CHECK_THAT(refused("[block]\nresidual = \"none\"\nconnection = \"sum\"\ngate_bias = -1.0"),
             Contains("block.gate_bias does nothing: block.connection is 'sum' (x.toml:3:1)"));
  // Where learned numbers start does not matter if a run gives their values.
  const std::string start = "[train]\nstart = \"a\"\n";
  CHECK_THAT(refused(start + "[attention]\nnormalizer = \"softmax_sink\"\nsoftmax_sink.start = 2.0"),
             Contains("attention.softmax_sink.start does nothing: train.start is 'a' (x.toml:2:1); it matters only "
                      "where train.start is not given, or train.start_weights is 'matching'"));
  for (const std::string may : {"[attention]\nnormalizer = \"softmax_sink\"\nsoftmax_sink.start = 2.0\n[train]\n"
                                "start_weights = \"matching\"\nstart = \"a\"",
                                "[train]\nstart = \"a\"\n[attention]\ncosine.temperature = 5.0\nscore = \"cosine\""})
    CHECK_NOTHROW(config(may));
  CHECK_THAT(refused(start + "[attention]\nscore = \"cosine\"\ncosine.learned = true\ncosine.temperature = 5.0"),
             Contains("attention.cosine.temperature does nothing: train.start is 'a'"));
  // The file is wrong in itself; what the command line adds is not the reason.
  CHECK_THAT(refused("[train.sgd]\nmomentum = 0.5", {"train.steps=0"}),
             Contains("train.sgd.momentum does nothing: train.optimizer is 'adamw' (built-in)"));
  // The file is right, and the command line makes a choice that disables both.
  const std::string text = "[task]\nkind = \"text\"\n[data]\npath = \"a.txt\"\nvalidation_sets = [\"a = b.txt\"]";
  Settings settings = Settings::parse(text, "x.toml");
  settings.override_with({"task.kind=copy"});
  REQUIRE(settings.dropped().size() == 2);
  for (const std::string& dropped : settings.dropped())
    CHECK_THAT(dropped,
               Contains(" is dropped: task.kind is 'copy' (command line); it matters only where task.kind is"));
}

TEST_CASE("Options of a variant that a later layer does not choose are dropped, and named", "[config]") {
  Settings settings = Settings::parse("[attention]\nscore = \"cosine\"\n[attention.cosine]\ntemperature = 5.0\n"
                                      "[position]\ncombine = \"concat\"\nwidth = 16",
                                      "x.toml");
  CHECK(settings.dropped().empty());
  const Settings arm = settings.with({{"attention.score", Value(std::string("dot")), {}},
                                      {"position.kind", Value(std::string("none")), {}}});
  CHECK(arm.dropped() ==
        std::vector<std::string>{
            "attention.cosine.temperature = 5.0 (x.toml:4:1) is dropped: attention.score is 'dot' (sweep); it matters "
            "only "
            "where attention.score is 'cosine'",
            "position.combine = \"concat\" (x.toml:6:1) is dropped: position.kind is 'none' (sweep); it matters only "
            "where "
            "position.kind is one of 'sinusoidal', 'learned'",
            "position.width = 16 (x.toml:7:1) is dropped: position.kind is 'none' (sweep); it matters only where "
            "position.kind is one of 'sinusoidal', 'learned'"});
  const Config c = arm.resolve();
  CHECK(c.layers[0].score_options.empty());
  // An option without an effect has its default, so that equal runs have equal configurations.
  CHECK(c.layers[0].position.combine == PositionOptions{}.combine);
  CHECK(difference(c, config("", {"attention.score=dot", "position.kind=none"})).empty());
}

TEST_CASE("An arm that sets an option which does nothing is refused at its place in the file", "[config]") {
  const Settings settings =
      Settings::parse("[sweep]\n[[sweep.block]]\ngrid = { \"attention.cosine.temperature\" = [5.0] }", "x.toml");
  CHECK(
      refusal([&] { settings.with(settings.sweep().blocks[0].axes[0].second).resolve(); }) ==
      "x.toml:3:44: attention.cosine.temperature does nothing: attention.score is 'scaled_dot' (built-in); it matters "
      "only where attention.score is 'cosine'");
}

TEST_CASE("A change that no file spells out is checked all the same", "[config]") {
  const Settings settings;
  CHECK(refusal([&] {
          settings.with({{"model.wdth", Value(std::int64_t{3}), {}}});
        }) == "sweep: [model] has no option 'wdth'; did you mean 'width'?");
  CHECK(refusal([&] {
          settings.with({{"model.width", Value(std::string("x")), {}}});
        }) == "sweep: model.width is \"x\"; it must be an integer, for example: width = 64");
  CHECK(refusal([&] {
          settings.with({{"model.width", Value(std::int64_t{0}), {}}});
        }) == "sweep: model.width is 0; it must be at least 1 and at most 65536 (features)");
}

TEST_CASE("Blocks can differ", "[config]") {
  const std::string file = "[model]\nlayers = 4\n[attention]\nscore = \"cosine\"\ncosine.temperature = 3.0\n"
                           "[[block.override]]\nlayers = [0, 2]\nresidual = \"none\"\nattention.score = \"additive\"\n"
                           "[block.override.attention.additive]\nhidden = 7\n"
                           "[[block.override]]\nlayers = [2]\nresidual = \"ffn\"\n";
  const Config c = config(file);
  CHECK(c.layers[0].block.residual == "none");
  CHECK(c.layers[0].attention.score == "additive");
  CHECK(c.layers[0].score_options.at("hidden") == Value(std::int64_t{7}));
  CHECK(c.layers[1].block.residual == "both");
  CHECK(c.layers[1].score_options.at("temperature") == Value(3.0));
  CHECK(c.layers[2].block.residual == "ffn");
  CHECK(c.layers[2].attention.score == "additive");

  // A setting of a single block overrides a setting for all blocks, even one from the command line.
  CHECK(config(file, {"attention.score=dot"}).layers[0].attention.score == "additive");
  CHECK(config(file, {"attention.score=dot"}).layers[1].attention.score == "dot");

  // If a later layer sets fewer blocks, settings of blocks that no longer exist are dropped.
  Settings fewer = Settings::parse(file, "x.toml");
  fewer.override_with({"model.layers=1"});
  CHECK(fewer.resolve().layers.size() == 1);
  CHECK(fewer.dropped().size() == 4);
}

TEST_CASE("Differences name each option that differs, in the catalogue's order", "[config]") {
  const Config a = config("[model]\nlayers = 3");
  const Config b =
      config("[model]\nlayers = 3\nwidth = 32\n[attention]\nscore = \"cosine\"\n[[block.override]]\nlayers = [1]\n"
             "norm = \"post\"");
  std::vector<std::string> lines;
  for (const Difference& d : difference(a, b)) lines.push_back(d.key + ": " + d.a + " -> " + d.b);
  const std::vector<std::string> expected{"model.width: 64 -> 32", "attention.score: \"scaled_dot\" -> \"cosine\"",
                                          "attention.scaled_dot.scale: \"sqrt\" -> ",
                                          "attention.cosine.temperature:  -> " +
                                              value_text(find_option("attention.cosine.temperature")->default_value)};
  CHECK(std::vector<std::string>(lines.begin(), lines.begin() + 4) == expected);
  CHECK(lines.back() == "block[1].norm:  -> \"post\"");
}

TEST_CASE("The nearest name is found, or none", "[config]") {
  CHECK(nearest("scroe", {"norm", "score"}) == "score");
  CHECK(nearest("AdamW", {"sgd", "adam", "adamw"}) == "adamw");
  CHECK(nearest("temp", {"width", "temperature"}) == "temperature");
  CHECK(nearest("zzz", {"width", "temperature"}).empty());
  CHECK(nearest("", {"a"}).empty());
  CHECK(nearest("repotr", {"report", "run"}) == "report");
}

namespace {

struct IntegerOption {
  std::string key;
  const Option* option;
};

std::vector<IntegerOption> integer_options() {
  std::vector<IntegerOption> out;
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key);
        option->type == OptionType::integer || option->type == OptionType::integers)
      out.push_back({key, option});
  return out;
}

} // namespace

TEST_CASE("every integer option has bounds, and what is beyond is refused", "[config]") {
  const auto options = integer_options();
  CHECK(options.size() > 50);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  for (const auto& [key, option] : options) {
    INFO(key);
    REQUIRE(option->minimum);
    REQUIRE(option->maximum);
    CHECK(*option->maximum <= 1e15); // exact as a double, and a sum of a few such values does not overflow
    const auto value = [&, type = option->type](std::int64_t v) {
      return type == OptionType::integer ? Value(v) : Value(std::vector<std::int64_t>{v});
    };
    for (const std::int64_t v : {least, most, most / 2, static_cast<std::int64_t>(*option->maximum) + 1,
                                 static_cast<std::int64_t>(*option->minimum) - 1})
      CHECK_THAT(wrong_value(*option, key, value(v)), Contains(key) && Contains("it must be"));
    CHECK(wrong_value(*option, key, value(static_cast<std::int64_t>(*option->maximum))).empty());
  }
}

TEST_CASE("seeds of a sweep have the bounds of a seed", "[config]") {
  CHECK_THROWS_WITH(Settings::parse("[sweep]\nseeds = [9223372036854775807]\n", "test"),
                    Contains("seeds holds 9223372036854775807; a seed is at most 1000000000000000"));
}

TEST_CASE("a text that would command the terminal is refused", "[config]") {
  CHECK_THROWS_WITH(config("name = \"\\u001b[31mred\""), Contains("name contains the control character U+001B"));
  CHECK_THROWS_WITH(config("name = \"\\u0085\""), Contains("U+0085"));
  CHECK(config("name = \"\\u00e9\\u0142\"").general.name == "\u00e9\u0142");
}

TEST_CASE("a text for terminals shows what it holds", "[config]") {
  CHECK(without_controls("line\n\tgrün 大 \u200d") == "line\n\tgrün 大 \u200d");
  CHECK(without_controls("\x1b[2J\r\x7f\u0085") == "\\x1b[2J\\x0d\\x7f\\x85");
  CHECK(without_controls("\x9b \xc3 \xed\xa0\x80 \xff") == "\\x9b \\xc3 \\xed\\xa0\\x80 \\xff");
  CHECK(without_controls("\u202a\u202e\u2066\u2069") == "\\u202a\\u202e\\u2066\\u2069");
  CHECK(without_controls(without_controls("\x1b")) == "\\x1b");
}

TEST_CASE("a configuration is read from regular files alone", "[config]") {
  const Folder folder;
  CHECK_THROWS_WITH(Settings::load("/dev/zero"), Contains("it is a device"));
  const auto file = folder.write("top.toml", "extends = \"/dev/zero\"\n");
  CHECK_THROWS_WITH(Settings::load(file), Contains("it is a device"));
}
