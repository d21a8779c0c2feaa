// Tests of [train] evaluate_lengths: other lengths give the metrics that a run of that length would give, for every
// model, and training is bit-identical with or without it.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/training/run_model.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <map>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

std::map<std::string, double> measured(const Config& c, const Checkpoint& checkpoint, Split split) {
  const MetricsRecord m = engine(c).evaluate(c, *make_task(c), checkpoint, split);
  return {m.values.begin(), m.values.end()};
}

std::string refused(const Config& c) {
  return refusal([&] { engine(c).check(c, *make_task(c)); });
}

// A run's configuration, and the start of the assignment that gives its task another length: "task.copy.length=".
struct OfLength {
  std::string base, option, lengths;
  std::vector<std::string> with, alone; // in both, and only where the other length is the task's own
};

// A text of 7 letters in a file.
struct Letters {
  Folder folder;
  std::string path;

  Letters() {
    std::string text;
    for (int i = 0; i < 900; ++i) text += static_cast<char>('a' + (i * i + i / 5) % 7);
    path = folder.write("text.txt", text).string();
  }
  std::string base() const { return tiny("kind = \"text\"\n[task.text]\nblock = 8", ""); }
  std::vector<std::string> with() const { return {"data.path=" + path, "data.train=0.6", "data.test=0.2"}; }
};

} // namespace

TEST_CASE("sequences of another length are measured as by a run of that length", "[evaluation][lengths]") {
  const Letters letters;
  const std::string copies = tiny_copies(40);
  const std::vector<OfLength> runs = {
      {tiny(copies, ""), "task.copy.length=", "[4, 5, 9]", {}, {"task.copy.min_length=0"}},
      {tiny(copies, "kind = \"encoder_decoder\""), "task.copy.length=", "[4, 9]", {}, {"task.copy.min_length=0"}},
      {tiny(copies, ""), "task.copy.length=", "[9]", {"model.kind=recurrent"}, {"task.copy.min_length=0"}},
      {tiny(copies, ""), "task.copy.length=", "[9]", {"model.kind=recurrent_decoder"}, {"task.copy.min_length=0"}},
      {tiny_encoder, "task.parity.length=", "[9, 12]", {}, {"task.parity.min_length=0"}},
      {tiny("kind = \"sort\"\nvalidation = 40\ntest = 40", ""), "task.sort.length=", "[6, 10]", {}, {}},
      {tiny("kind = \"reverse\"\nvalidation = 40\ntest = 40", ""), "task.reverse.length=", "[10]", {}, {}},
      {tiny("kind = \"recall\"\nvalidation = 40\ntest = 40", ""), "task.recall.pairs=", "[3, 12]", {}, {}},
      {letters.base(), "task.text.block=", "[3, 8, 21]", letters.with(), {}}};
  for (const OfLength& run : runs) {
    std::vector<std::string> with = run.with;
    with.push_back("train.evaluate_lengths=" + run.lengths);
    const Config c = config(run.base, with);
    const History h = train(c);
    for (const auto& [split, prefix] :
         {std::pair<Split, std::string>{Split::validation, "val_"}, {Split::test, "test_"}}) {
      const auto found = measured(c, h.last(), split);
      std::size_t at_lengths = 0, of_split = 0;
      for (const std::int64_t length : c.train.evaluate_lengths) {
        std::vector<std::string> alone = run.with;
        alone.insert(alone.end(), run.alone.begin(), run.alone.end());
        alone.push_back(run.option + std::to_string(length));
        const auto expected = measured(config(run.base, alone), h.last(), split);
        of_split = expected.size();
        for (const auto& [name, value] : expected) {
          INFO(run.base << run.option << length << " " << name);
          const auto there = found.find(name + "_at." + std::to_string(length));
          REQUIRE(there != found.end());
          CHECK(there->second == Approx(value).epsilon(1e-5));
          if (split == Split::validation) CHECK(h.final(there->first) == there->second);
          ++at_lengths;
        }
      }
      CHECK(found.size() == of_split + at_lengths);
    }
  }
}

TEST_CASE("addition at a length has numbers of so many digits", "[evaluation][lengths]") {
  const Config c = config(tiny("kind = \"addition\"\nvalidation = 40\ntest = 40\n[task.addition]\ntest_digits = 4", ""),
                          {"train.evaluate_lengths=[2, 6]"});
  const History h = train(c);
  const auto found = measured(c, h.last(), Split::validation);
  for (const std::string digits : {"2", "6"}) {
    const Config alone = config(tiny("kind = \"addition\"\nvalidation = 40\ntest = 40", ""),
                                {"task.addition.digits=" + digits, "task.addition.min_digits=" + digits});
    for (const auto& [name, value] : measured(alone, h.last(), Split::validation))
      CHECK(found.at(name + "_at." + digits) == Approx(value).epsilon(1e-5));
  }
}

TEST_CASE("training is the same bits with other lengths measured as without", "[training][bits][lengths]") {
  std::vector<std::vector<std::string>> changes = {
      {"position.combine=concat"},
      {"model.kind=encoder_decoder"},
      {"model.kind=recurrent"},
      {"position.kind=shaw", "position.shaw.clip=2"},
      // Parameters that are not learned exist for every distance in a sequence.
      {"attention.score_mod=s + y", "attention.parameters.y.per=distance", "attention.parameters.y.learned=false",
       "attention.parameters.y.start=-abs(i - j) / 4"}};
  for (const std::string& word : find_option("position.kind")->words) changes.push_back({"position.kind=" + word});
  std::size_t tried = 0;
  for (std::vector<std::string> change : changes) {
    const Config without = config(tiny_decoder, change);
    change.emplace_back("train.evaluate_lengths=[3, 17]");
    const Config with = config(tiny_decoder, change);
    if (!refused(with).empty()) continue; // the following tests cover this
    INFO(change.front());
    ++tried;
    const History a = train(without), b = train(with);
    CHECK((text_of(a.last()) == text_of(b.last())));
    for (const char* name : {"train_loss", "grad_norm", "val_loss", "val_accuracy"}) CHECK(a.all(name) == b.all(name));
    CHECK(b.all("val_loss_at.17").size() == 2);
  }
  CHECK(tried > 8);
}

TEST_CASE("rotary positions are scaled in sequences that are longer than training's only", "[evaluation][lengths]") {
  const std::vector<std::string> plain = {"position.kind=rotary", "train.evaluate_lengths=[3, 9]"};
  const History h = train(config(tiny_decoder, plain));
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = plain;
    all.insert(all.end(), more.begin(), more.end());
    const Config c = config(tiny_decoder, all);
    CHECK(refused(c).empty());
    return measured(c, h.last(), Split::validation);
  };
  const auto unscaled = with({});
  for (const std::string kind : {"linear", "ntk", "yarn"}) {
    INFO(kind);
    // A sequence of the task has 2 tokens for each symbol, and training's have 8 at most.
    const auto found = with({"position.rotary.evaluation_scaling=" + kind});
    std::vector<std::string> everywhere = {"position.rotary.scaling=" + kind, "position.rotary.factor=2.25"};
    if (kind == "yarn") everywhere.emplace_back("position.rotary.original_length=8");
    const auto scaled = with(everywhere);
    for (const std::string metric : {"val_loss", "val_accuracy"}) {
      CHECK(found.at(metric) == unscaled.at(metric));
      CHECK(found.at(metric + "_at.3") == unscaled.at(metric + "_at.3"));
      CHECK(found.at(metric + "_at.9") == Approx(scaled.at(metric + "_at.9")).epsilon(1e-5));
    }
    CHECK(found.at("val_loss_at.9") != unscaled.at("val_loss_at.9"));
  }
  CHECK(with({"position.rotary.evaluation_scaling=linear", "position.rotary.evaluation_factor=4"})
            .at("val_loss_at.9") != with({"position.rotary.evaluation_scaling=linear"}).at("val_loss_at.9"));
}

TEST_CASE("a scaling in evaluation that no sequence uses is refused", "[training][lengths]") {
  const std::vector<std::string> scaled = {"position.kind=rotary", "position.rotary.evaluation_scaling=yarn",
                                           "train.evaluate_lengths=[3, 4]"};
  CHECK_THAT(refused(config(tiny_decoder, scaled)), Contains("[position] rotary.evaluation_scaling does nothing") &&
                                                        Contains("up to 8 tokens") &&
                                                        Contains("train.evaluate_lengths = [3, 4]"));
}

TEST_CASE("a position with numbers for each place serves no length beyond training's", "[training][lengths]") {
  std::string said;
  std::vector<std::string> refuse;
  for (const std::string& word : find_option("position.kind")->words) {
    const Config within = config(tiny_decoder, {"position.kind=" + word, "train.evaluate_lengths=[3, 4]"});
    CHECK(refused(within).empty());
    const std::string why = refused(config(tiny_decoder, {"position.kind=" + word, "train.evaluate_lengths=[4, 9]"}));
    if (why.empty()) continue;
    INFO(word);
    CHECK_THAT(why, Contains("evaluate_lengths = [4, 9] has sequences of 18 tokens, and training's have 8 at most") &&
                        Contains("position.weight' has values for each position"));
    refuse.push_back(word);
    said = why;
  }
  REQUIRE(std::ranges::find(refuse, "learned") != refuse.end());
  const std::string named = said.substr(said.find("without a largest length: "));
  for (const std::string& word : find_option("position.kind")->words) {
    INFO(word);
    const bool serves = std::ranges::find(refuse, word) == refuse.end();
    CHECK((named.find("'" + word + "'") != named.npos) == serves);
  }
}

TEST_CASE("sequences of a longer test train no position: lengths that only they have are refused, too",
          "[training][lengths]") {
  const auto learned = [](const std::string& lengths) {
    return refused(config(tiny_decoder, {"position.kind=learned", "task.copy.length=4", "task.copy.test_length=12",
                                         "train.evaluate_lengths=" + lengths}));
  };
  CHECK(learned("[3, 4]").empty());
  CHECK_THAT(learned("[4, 9]"),
             Contains("evaluate_lengths = [4, 9] has sequences of 18 tokens, and training's have 8"));
}

TEST_CASE("nor does anything else with numbers for each place", "[training][lengths]") {
  const std::vector<std::string> location = {"attention.score=location", "train.evaluate_lengths=[9]"};
  CHECK_THAT(refused(config(tiny_decoder, location)),
             Contains("attention.score.weight'") &&
                 Contains("choose another value of attention.score, without a largest length") &&
                 Contains("'scaled_dot'") && !Contains("'location'"));
  const std::vector<std::string> formula = {"attention.score_mod=s + y", "attention.parameters.y.per=distance",
                                            "train.evaluate_lengths=[9]"};
  CHECK_THAT(refused(config(tiny_decoder, formula)), Contains("attention.formula.y'"));
  std::vector<std::string> bounded = formula;
  bounded.emplace_back("attention.parameters.y.furthest=5");
  CHECK(refused(config(tiny_decoder, bounded)).empty());
  const std::vector<std::string> unclipped = {"position.kind=shaw", "position.shaw.clip=0",
                                              "train.evaluate_lengths=[9]"};
  CHECK_THAT(refused(config(tiny_decoder, unclipped)), Contains("position.keys'") && Contains("'shaw'"));
}

TEST_CASE("lengths that can't be measured are refused, with the reason", "[training][lengths]") {
  const Letters letters;
  const auto with = [&](const std::string& lengths, std::vector<std::string> more = {}) {
    more.push_back("train.evaluate_lengths=" + lengths);
    return more;
  };
  CHECK_THAT(refused(config(tiny_decoder, with("[9, 4]"))), Contains("evaluate_lengths = [9, 4] must go up"));
  CHECK_THAT(refused(config(tiny_decoder, with("[4, 4]"))), Contains("must go up"));
  CHECK_THAT(refusal([&] { config(tiny_decoder, with("[0]")); }), Contains("evaluate_lengths is 0"));
  CHECK_THAT(refused(config(tiny_decoder, with("[4, 2000]"))),
             Contains("2000 can't be measured") &&
                 Contains("task.copy.length is 2000; it must be at least 1 and at most"));
  CHECK_THAT(refused(config(tiny("kind = \"recall\"", ""), with("[20]"))), Contains("pairs = 20 is above keys = 16"));
  CHECK_THAT(refused(config(letters.base(), with("[200]", letters.with()))),
             Contains("has 180 characters, and a window of 200 takes at least 201"));
  CHECK_THAT(refused(config(tiny_decoder, with("[2]"))),
             Contains("gives only 25 different examples, and validation has none of them"));
  // In a file, lengths that the task's sequences do not have cause no error and have no effect; on a command line, they
  // are dropped with the choice of the task.
  CHECK_THAT(refusal_of(tiny("kind = \"scan\"", "", "evaluate_lengths = [9]\n")),
             Contains("train.evaluate_lengths does nothing: task.kind is 'scan'"));
  Config scan = config(tiny("kind = \"scan\"", ""));
  scan.train.evaluate_lengths = {9};
  CHECK_THAT(refused(scan), Contains("task.kind = \"scan\" has fixed lengths"));
}

TEST_CASE("as many sequences of another length are measured as of the split, of a text as much of it",
          "[evaluation][lengths]") {
  const Letters letters;
  std::vector<std::string> some = letters.with();
  some.insert(some.end(), {"train.evaluate_batches=1", "train.batch=5", "train.shards=2"}); // 40 characters
  std::vector<std::string> with = some;
  with.emplace_back("train.evaluate_lengths=[2, 8, 16]");
  const Config c = config(letters.base(), with);
  const History h = train(c);
  for (const auto& [block, sequences] : {std::pair{2, 20}, {8, 5}, {16, 3}}) {
    const Config alone = config(letters.base(), [&, block = block, sequences = sequences] {
      std::vector<std::string> out = letters.with();
      out.push_back(fmt::format("task.text.block={}", block));
      out.push_back(fmt::format("train.batch={}", sequences));
      out.emplace_back("train.evaluate_batches=1");
      out.emplace_back("train.steps=1");
      out.emplace_back("train.learning_rate=1e-30"); // the checkpoint's parameters, evaluated as in a run
      return out;
    }());
    std::optional<Checkpoint> from = h.last();
    from->metadata["step"] = "0";
    const History again = train(alone, from);
    CHECK(again.final("val_loss") == Approx(h.final(fmt::format("val_loss_at.{}", block))).epsilon(1e-5));
  }
  const Config copies = config(tiny_decoder, {"train.evaluate_batches=1", "train.evaluate_lengths=[9]"});
  const History limited = train(copies);
  Config all = copies;
  all.train.evaluate_batches = 0;
  CHECK(limited.final("val_loss_at.9") != train(all).final("val_loss_at.9"));
}

TEST_CASE("other lengths are the same bits whatever the threads, shards kept", "[training][bits][lengths]") {
  Config c = config(tiny_decoder, {"train.evaluate_lengths=[3, 9, 30]"});
  const std::string one = text_of(train(c).metrics);
  for (const std::int64_t threads : {2, 3}) {
    c.train.threads = threads;
    CHECK(text_of(train(c).metrics) == one);
  }
}

TEST_CASE("longer sequences are worked on in pieces of as many tokens, and a plan knows their memory",
          "[evaluation][lengths]") {
  const Config c = config(tiny_decoder, {"train.evaluate_lengths=[3, 9, 200]"});
  const auto task = make_task(c);
  const f32::RunModel run(c, *task);
  REQUIRE(run.at_lengths.size() == 3);
  CHECK(run.sizes.length == 8);
  for (const auto& at : run.at_lengths) {
    CHECK(at.sizes.length == 2 * at.length);
    const auto pieces = f32::EvaluationPieces::of_length(run, at.sizes, 40);
    CHECK(pieces.sequences_each >= 1);
    CHECK((pieces.sequences_each == 1 || pieces.sequences_each * at.sizes.length <= 16 * run.sizes.length));
    std::int64_t sequences = 0;
    for (int p = 0; p < pieces.count(); ++p) sequences += pieces.size(p);
    CHECK(sequences == 40);
  }
  const auto bytes = [&](const std::string& lengths) {
    const Config other = config(tiny_decoder, {"train.evaluate_lengths=" + lengths, "train.batch=3"});
    return engine(other).cost(other, *make_task(other)).thread_bytes;
  };
  CHECK(bytes("[1000]") > 2 * bytes("[]"));
  CHECK(bytes("[]") == bytes("[4]"));
}

TEST_CASE("metrics at other lengths are promised, and found", "[evaluation][lengths]") {
  const Config c = config(tiny_decoder, {"train.evaluate_lengths=[3, 9]"});
  const History h = train(c);
  std::size_t promised = 0;
  for (const Metric& m : metrics_of(c)) {
    if (m.name.find("_at.") == m.name.npos) continue;
    ++promised;
    CHECK(std::isfinite(h.final(m.name)));
    CHECK_THAT(m.description, Contains(m.name.substr(0, m.name.find("_at."))));
  }
  CHECK(promised == 2 * 4);
}

TEST_CASE("metrics of a further validation set are those of its sequences as the validation split",
          "[evaluation][sets]") {
  const Folder folder;
  std::string sequences, other, longer;
  for (int i = 0; i < 40; ++i) sequences += fmt::format("{} b c\t{} x\n", i % 7, (i * i) % 7);
  for (int i = 0; i < 21; ++i) other += fmt::format("{} c\t{}\n", i % 5, (i * 3) % 5);
  for (int i = 0; i < 9; ++i) longer += fmt::format("{0} b c {0} b c {0}\t{0} x {0} x {0} x\n", i % 7);
  const auto path = [&](const char* name, const std::string& text) { return folder.write(name, text).string(); };
  const std::vector<std::string> files = {"data.path=" + path("sequences.tsv", sequences), "data.tokens=words"};
  const std::string small = path("other.tsv", other), large = path("longer.tsv", longer);
  for (const char* kind : {"decoder", "encoder_decoder", "recurrent"}) {
    INFO(kind);
    const auto trained = [&](std::vector<std::string> with) {
      with.insert(with.end(), files.begin(), files.end());
      with.push_back(fmt::format("model.kind={}", kind));
      return train(config(tiny("kind = \"translation\"", ""), with));
    };
    const std::string sets = fmt::format("data.validation_sets=[\"small = {}\", \"large = {}\"]", small, large);
    const History with_sets = trained({"data.validation_path=" + small, sets});
    const History of_small = trained({"data.validation_path=" + small}),
                  of_large = trained({"data.validation_path=" + large});
    for (const char* name : {"val_loss", "val_accuracy", "val_sequence_accuracy", "val_perplexity"}) {
      INFO(name);
      REQUIRE_FALSE(with_sets.all(name).empty());
      CHECK(with_sets.all(name) == of_small.all(name));
      // The sequences of a set are summed in other pieces, so the last bits may differ.
      for (const auto& [set, own] : {std::pair("_on.small", &of_small), std::pair("_on.large", &of_large)}) {
        const std::vector<double> on_set = with_sets.all(std::string(name) + set), expected = own->all(name);
        REQUIRE(on_set.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(on_set[i] == Approx(expected[i]).epsilon(1e-12));
      }
    }
    CHECK(with_sets.all("train_loss") == of_small.all("train_loss"));
    CHECK(of_large.all("val_loss") != of_small.all("val_loss"));
  }
}
