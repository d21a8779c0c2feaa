// Tests of the tasks on examples of text: translation and labelled_text.
#include "experiments/config/config.hpp"
#include "experiments/tasks/task_survey.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <map>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

constexpr TaskFormat classes = TaskFormat::classification;

Config file_config(const std::string& kind, const std::string& path, OptionValues options = {}) {
  Config config = task_config(kind, std::move(options));
  config.data.path = path;
  config.data.train = 0.6;
  config.data.test = 0.2;
  config.data.tokens = "words";
  config.train.batch = 4;
  return config;
}

/// Input and output of a split's examples; for training, the examples of the first epoch.
std::vector<std::pair<std::string, std::string>> texts(const Task& task, TaskFormat format, Split split) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::int64_t examples = task.facts().sizes[static_cast<std::size_t>(split)];
  for (std::int64_t i = 0; i < examples; ++i) {
    Batch batch;
    batch.reset(1, task.sizes(format), format);
    if (split == Split::train) task.training_sequence(format, 0, i / 4, i % 4, batch, 0);
    else task.evaluation_sequence(format, split, i, batch, 0);
    batch.trim();
    out.emplace_back(task.decode(batch.tokens), task.decode_output(format, batch.targets));
  }
  return out;
}

std::string numbered(const std::string& word, int i) { return word + std::to_string(i); }

/// Twenty lines "aN b" and "xN".
std::string inputs() {
  std::string text;
  for (int i = 0; i < 20; ++i) text += numbered("a", i) + " b\n";
  return text;
}
std::string outputs() {
  std::string text;
  for (int i = 0; i < 20; ++i) text += numbered("x", i) + "\n";
  return text;
}
std::string both() {
  std::string text;
  for (int i = 0; i < 20; ++i) text += numbered("a", i) + " b\t" + numbered("x", i) + "\tby someone\n";
  return text;
}

} // namespace

TEST_CASE("a translation's examples go to one split each, the same from two files as from one", "[tasks][examples]") {
  const TemporaryFile from(inputs()), to(outputs()), table(both());
  const auto two = make_task(file_config("translation", from.path(), {{"target", to.path()}}));
  const auto one = make_task(file_config("translation", table.path()));
  for (const auto& task : {two.get(), one.get()}) {
    CHECK(task->facts().sizes == std::array<std::int64_t, 3>{12, 4, 4});
    std::multiset<std::string> seen;
    for (const Split split : all_splits)
      for (const auto& [input, output] : texts(*task, s2s, split)) {
        // Each word occurs in only one line, so it is unknown outside of training.
        if (split == Split::train) CHECK("x" + input.substr(1, input.find(' ') - 1) == output);
        else CHECK((input + "|" + output) == "<unknown> b|<unknown>");
        seen.insert(input);
      }
    CHECK(seen.size() == 20);
    CHECK(seen.count("<unknown> b") == 8);
  }
  CHECK(texts(*one, s2s, Split::train) == texts(*two, s2s, Split::train));
  CHECK(one->fingerprint() != two->fingerprint());
}

TEST_CASE("examples are shuffled by task.seed before they are split, or not at all", "[tasks][examples]") {
  const TemporaryFile table(both());
  Config config = file_config("translation", table.path());
  config.data.tokens = "bytes";
  const auto validation = [&] { return texts(*make_task(config), s2s, Split::validation); };
  const auto shuffled = validation();
  CHECK(shuffled == validation());
  config.task.seed = 1;
  CHECK(shuffled != validation());
  config.data.shuffle = false;
  CHECK(validation() == decltype(validation()){{"a12 b", "x12"}, {"a13 b", "x13"}, {"a14 b", "x14"}, {"a15 b", "x15"}});
}

TEST_CASE("input and output share a vocabulary, or have one each", "[tasks][examples]") {
  const TemporaryFile table(both());
  Config config = file_config("translation", table.path());
  const TaskSizes shared = make_task(config)->sizes(s2s);
  CHECK(shared.shared_vocabulary);
  CHECK(shared.vocabulary == 1 + 12 + 1 + 12 + 2); // <unknown>, aN, b, xN, begin and end
  CHECK(shared.classes == shared.vocabulary);
  config.task_options["shared_vocabulary"] = false;
  const TaskSizes own = make_task(config)->sizes(s2s);
  CHECK_FALSE(own.shared_vocabulary);
  CHECK(own.vocabulary == 1 + 12 + 1);
  CHECK(own.classes == 1 + 12 + 2);
  CHECK(own.end == 14);
}

TEST_CASE("examples above the length are dropped or cut, empty ones dropped, and counted", "[tasks][examples]") {
  std::string text = both() + "\tnothing\none two three four\tw\ny\tone two three four five\n";
  const TemporaryFile table(text);
  Config config = file_config("translation", table.path());
  config.data.train = 0.9;
  config.data.test = 0;
  config.data.max_length = 3;
  const auto dropped = make_task(config)->facts();
  CHECK(dropped.sizes[0] + dropped.sizes[1] == 20);
  CHECK_THAT(dropped.notes.at(0),
             Contains("1 example is dropped: the input or the output has no token (the first: ") && Contains(":21)"));
  CHECK_THAT(dropped.notes.at(1),
             Contains("2 examples are dropped: longer than data.max_length = 3 tokens (the first: ") &&
                 Contains(":22)"));
  config.data.too_long = "cut";
  const auto cut = make_task(config);
  CHECK(cut->facts().sizes[0] + cut->facts().sizes[1] == 22);
  CHECK(cut->sizes(s2s).length == 3);
  CHECK(cut->sizes(s2s).output_length == 4);
}

TEST_CASE("a bad parallel text is refused with the place", "[tasks][examples]") {
  const TemporaryFile from("a\nb\nc\n"), to("x\ny\n"), plain("a\tx\nb y\n"), empty("");
  const auto message = [](const std::string& path, OptionValues options = {}) {
    return refusal([&] { make_task(file_config("translation", path, options)); });
  };
  CHECK_THAT(message(from.path(), {{"target", to.path()}}), Contains("has 3 lines and " + to.path() + " has 2"));
  CHECK_THAT(message(plain.path()), Contains(plain.path() + ":2: there is no tab"));
  CHECK_THAT(message(empty.path()), Contains("is empty"));
  CHECK_THAT(message(from.path(), {{"target", std::string("/nowhere")}}),
             Contains("[task.translation] target = \"/nowhere\" does not exist"));
  CHECK_THAT(message(""), Contains("[data] path is empty"));
  const TemporaryFile one("a\tx\n");
  CHECK_THAT(message(one.path()), Contains("the training split has no example"));
}

TEST_CASE("a labelled text: columns by name, labels by their order", "[tasks][examples]") {
  std::string csv = "id,label,text\n";
  for (int i = 0; i < 30; ++i) csv += std::to_string(i) + (i % 3 == 0 ? ",good,\"nice, very nice\"\n" : ",bad,awful\n");
  const TemporaryFile file(csv);
  Config config = file_config("labelled_text", file.path(), {{"format", std::string("csv")}});
  const auto task = make_task(config);
  const TaskSizes sizes = task->sizes(classes);
  CHECK(sizes.classes == 2);
  CHECK(sizes.vocabulary == 5); // <unknown> awful nice, very nice
  CHECK(sizes.length == 3);
  for (const Split split : all_splits)
    for (const auto& [input, label] : texts(*task, classes, split)) CHECK(label == (input == "awful" ? "bad" : "good"));
  std::map<std::string, double> labels;
  const auto validation = texts(*task, classes, Split::validation);
  for (const auto& [input, label] : validation) ++labels[label];
  CHECK(task->chance(classes).accuracy == labels["bad"] / static_cast<double>(validation.size()));
  CHECK_THAT(task->chance(classes).how, Contains("always \"bad\""));
  CHECK_THAT(task->facts().notes.at(0),
             Contains("12 examples of validation and test have an input that training has too"));
  CHECK_THAT(task->refuses(TaskFormat::language_model), Contains("has a label for each text"));
  CHECK(task->refuses(classes).empty());
}

TEST_CASE("a labelled text without a header has columns by number", "[tasks][examples]") {
  std::string tsv;
  for (int i = 0; i < 20; ++i) tsv += (i % 2 ? "1\tyes \"so\"\n" : "0\tno\n");
  const TemporaryFile file(tsv);
  const OptionValues options = {
      {"format", std::string("tsv")}, {"header", false}, {"text", std::string("2")}, {"label", std::string("1")}};
  const auto task = make_task(file_config("labelled_text", file.path(), options));
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{12, 4, 4});
  for (const auto& [input, label] : texts(*task, classes, Split::train)) CHECK(label == (input == "no" ? "0" : "1"));
}

TEST_CASE("a bad table is refused with the place and what to do", "[tasks][examples]") {
  const auto message = [](const std::string& bytes, OptionValues options = {}) {
    const TemporaryFile file(bytes);
    options.try_emplace("format", std::string("csv"));
    return refusal([&] { make_task(file_config("labelled_text", file.path(), options)); });
  };
  CHECK_THAT(message("words,label\na,b\n"), Contains(":1: there is no column \"text\"; the columns are words, label. "
                                                     "Name one: task.labelled_text.text=COLUMN"));
  CHECK_THAT(message("txet,label\na,b\n"),
             Contains(":1: there is no column \"text\"; did you mean 'txet'? The columns are txet, label. Name one: "));
  CHECK_THAT(message("text,label\na,b\nc\n"), Contains(":3: 1 cells, but the first row has 2"));
  CHECK_THAT(message("text,label\na,b\nc,b\n"), Contains("every example has the label \"b\""));
  CHECK_THAT(message("text,label,text\na,b,c\n"), Contains(":1: 2 columns have the name \"text\""));
  CHECK_THAT(message("text,label\n"), Contains("has no example; each split needs some"));
  CHECK_THAT(message("a,b\n", {{"header", false}}),
             Contains("[task.labelled_text] text = \"text\" is not a column of "));
  CHECK_THAT(message("a,b\n", {{"header", false}, {"text", std::string("3")}}), Contains("a number from 1 to 2"));
  CHECK_THAT(message("a,b\n", {{"text", std::string("a")}, {"label", std::string("a")}}), Contains("the same column"));
  CHECK_THAT(message("text,label\n\"a,b\n"), Contains(":2: the quote that opens a cell here is never closed"));
  CHECK_THAT(message("text\tlabel\n"), Contains("if tabs separate the cells, task.labelled_text.format=tsv"));
}

TEST_CASE("validation and test may have files of their own, in two files or one", "[tasks][examples]") {
  const TemporaryFile from(inputs()), to(outputs()), validation_from("a1 b\nnew b\n"), validation_to("x1\nold x2\n"),
      test("a2\tx2\na3 b\tx3\nb\tnew\n");
  Config config = file_config("translation", from.path(),
                              {{"target", to.path()}, {"validation_target", validation_to.path()}});
  config.data.validation_path = validation_from.path();
  config.data.test_path = test.path();
  const auto task = make_task(config);
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{20, 2, 3});
  CHECK(task->facts().files == std::array<std::string, 3>{from.path() + ", " + to.path(),
                                                          validation_from.path() + ", " + validation_to.path(),
                                                          test.path()});
  // The whole of data.path is training data, and only training data makes the vocabulary.
  using Texts = std::vector<std::pair<std::string, std::string>>;
  CHECK(texts(*task, s2s, Split::train).size() == 20);
  CHECK(task->sizes(s2s).vocabulary == 1 + 20 + 1 + 20 + 2); // <unknown>, aN, b, xN, begin and end
  config.data.shuffle = false;
  const auto in_order = make_task(config);
  CHECK(texts(*in_order, s2s, Split::validation) == Texts{{"a1 b", "x1"}, {"<unknown> b", "<unknown> x2"}});
  CHECK(texts(*in_order, s2s, Split::test) == Texts{{"a2", "x2"}, {"a3 b", "x3"}, {"b", "<unknown>"}});
  // Outputs contain the words of the file.
  const auto reference = in_order->reference(Split::validation, 1);
  REQUIRE(reference);
  CHECK(reference->text == "old x2");
  CHECK_FALSE(reference->in_vocabulary);
  CHECK(in_order->reference(Split::test, 0)->in_vocabulary);

  // The content matters, not the path.
  const auto fingerprint = task->fingerprint();
  const TemporaryFile twin("a1 b\nnew b\n"), other("a1 b\nnew c\n");
  config.data.validation_path = twin.path();
  CHECK(make_task(config)->fingerprint() == fingerprint);
  config.data.validation_path = other.path();
  CHECK(make_task(config)->fingerprint() != fingerprint);
  config.data.validation_path = "";
  config.task_options["validation_target"] = std::string();
  CHECK(make_task(config)->fingerprint() != fingerprint);
  CHECK(make_task(config)->facts().sizes == std::array<std::int64_t, 3>{12, 8, 3});
}

TEST_CASE("a number of examples instead of a fraction is met exactly", "[tasks][examples]") {
  const TemporaryFile table(both());
  Config config = file_config("translation", table.path());
  config.data.validation_rows = 3;
  config.data.test_rows = 2;
  config.data.shuffle = false;
  config.data.tokens = "bytes";
  const auto task = make_task(config);
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{15, 3, 2});
  CHECK(texts(*task, s2s, Split::validation).front().second == "x15");
  CHECK(texts(*task, s2s, Split::test).front().second == "x18");
  config.data.validation_rows = 18;
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("leave none of the 20 examples") && Contains(table.path()));
}

TEST_CASE("labelled texts have files of their own, too", "[tasks][examples]") {
  const TemporaryFile train("text,label\nfine,good\nawful,bad\n"), validation("label,text\nbad,fine day\n"),
      test("text,label\nso,so-so\nfine,good\n");
  Config config = file_config("labelled_text", train.path(), {{"format", std::string("csv")}});
  config.data.validation_path = validation.path();
  config.data.test_path = test.path();
  config.data.shuffle = false;
  const auto task = make_task(config);
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{2, 1, 2});
  CHECK(texts(*task, classes, Split::validation) ==
        std::vector<std::pair<std::string, std::string>>{{"fine <unknown>", "bad"}});
  CHECK(task->sizes(classes).classes == 3);
  std::string notes;
  for (const std::string& note : task->facts().notes) notes += note + "\n";
  CHECK_THAT(notes, Contains("1 example of validation and test has a label that training lacks (\"so-so\", for one)"));
}

TEST_CASE("a file of its own that is missing or empty is refused with its option", "[tasks][examples]") {
  const TemporaryFile table(both()), empty(""), blank("\n\n"), plain("a b\n"), header("text,label\n"),
      labelled("text,label\na,b\nc,d\n");
  const auto message = [&](const std::string& path, bool test = false) {
    Config config = file_config("translation", table.path());
    (test ? config.data.test_path : config.data.validation_path) = path;
    return refusal([&] { make_task(config); });
  };
  CHECK_THAT(message("/nowhere"), Contains("[data] validation_path = \"/nowhere\" does not exist"));
  CHECK_THAT(message("/nowhere", true), Contains("[data] test_path = \"/nowhere\" does not exist"));
  CHECK_THAT(message(empty.path()), Contains("[data] validation_path = \"" + empty.path() + "\" is empty"));
  CHECK_THAT(message(blank.path(), true), Contains("[data] test_path = \"" + blank.path() + "\" has no example"));
  CHECK_THAT(message(plain.path()),
             Contains(plain.path() + ":1: there is no tab") && Contains("task.translation.validation_target=FILE"));
  Config config = file_config("labelled_text", labelled.path(), {{"format", std::string("csv")}});
  config.data.validation_path = header.path();
  CHECK_THAT(refusal([&] { make_task(config); }),
             Contains("[data] validation_path = \"" + header.path() + "\" has no example"));
}

TEST_CASE("notes say in which file the first example of a kind is", "[tasks][examples]") {
  const TemporaryFile train(both()), validation("a1 b\tx1\n\tnothing\n");
  Config config = file_config("translation", train.path());
  config.data.validation_path = validation.path();
  CHECK_THAT(make_task(config)->facts().notes.at(0),
             Contains("1 example is dropped: the input or the output has no token (the first: " + validation.path() +
                      ":2)"));
}

namespace {

/// Twenty examples in which only the output's last word counts; in the first example, the first of three words counts.
std::string counted() {
  std::string text = "q0\tone two three\t1 0 0\n";
  for (int i = 1; i < 20; ++i) text += numbered("q", i) + "\tso then yes\t0 0 1\n";
  return text;
}

Config counted_config(const std::string& path, const std::string& tokens) {
  Config config = file_config("translation", path, {{"counts", true}});
  config.data.shuffle = false;
  config.data.tokens = tokens;
  return config;
}

/// The targets of one training example, "_" at positions without a target, and the text shown for the example.
std::pair<std::string, std::string> targets_of(const Task& task, TaskFormat format, std::int64_t example) {
  Batch batch;
  batch.reset(1, task.sizes(format), format);
  task.listed_sequence(format, Split::train, example, batch, 0);
  batch.trim();
  std::string text, shown;
  for (const std::int32_t target : batch.targets)
    text += (text.empty() ? "" : "|") + (target == ignored                      ? "_"
                                         : format == TaskFormat::language_model ? task.token_text(target)
                                                                                : task.output_token_text(target));
  each_example(task, format, Split::train, example + 1, [&](const ExampleText& example) { shown = example.output; });
  return {text, shown};
}

} // namespace

TEST_CASE("a third column says which words of the output are targets", "[tasks][examples][counts]") {
  const TemporaryFile table(counted());
  const auto words = make_task(counted_config(table.path(), "words"));
  CHECK(targets_of(*words, s2s, 0) == std::pair<std::string, std::string>{"one|_|_|<end>", "one two three"});
  CHECK(targets_of(*words, s2s, 1) == std::pair<std::string, std::string>{"_|_|yes|<end>", "so then yes"});
  // One example: the input, the token that begins the output, and the output without its end.
  CHECK(targets_of(*words, TaskFormat::language_model, 0).first == "_|one|_|_|<end>");
  CHECK(targets_of(*words, TaskFormat::language_model, 1).first == "_|_|_|yes|<end>");
  const auto notes = words->facts().notes;
  CHECK_THAT(notes.back(), Contains("of 60 tokens of outputs, 20 count, and what ends each output"));

  // The characters or bytes of a word, including the space before it, count if the word counts.
  for (const std::string tokens : {"characters", "bytes"}) {
    const auto letters = make_task(counted_config(table.path(), tokens));
    std::string one = "o|n|e", yes;
    for (std::size_t i = 0; i < std::string(" two three").size(); ++i) one += "|_";
    for (std::size_t i = 0; i < std::string("so then").size(); ++i) yes += "_|";
    CHECK(targets_of(*letters, s2s, 0).first == one + "|<end>");
    CHECK(targets_of(*letters, s2s, 1).first == yes + " |y|e|s|<end>");
    CHECK(targets_of(*letters, s2s, 1).second == "so then yes");
  }

  // Without the option, all tokens count, and the data has another identity.
  Config plain = counted_config(table.path(), "words");
  plain.task_options = {};
  CHECK(targets_of(*make_task(plain), s2s, 1).first == "so|then|yes|<end>");
  CHECK(make_task(plain)->fingerprint() != words->fingerprint());

  // "yes" and the end token are equally frequent. Among all training tokens, "so" would be as frequent, too.
  CHECK(words->chance(s2s).accuracy == Approx(0.5));

  Config cut = counted_config(table.path(), "words");
  cut.data.max_length = 2;
  cut.data.too_long = "cut";
  CHECK(targets_of(*make_task(cut), s2s, 0).first == "one|_|<end>");
}

TEST_CASE("counts that are not a 0 or 1 for each word are refused by file and line", "[tasks][examples][counts]") {
  const auto message = [](const std::string& line, const std::string& tokens = "words") {
    const TemporaryFile table(counted() + line + "\n");
    std::string text = refusal([&] { make_task(counted_config(table.path(), tokens)); });
    if (text.starts_with(table.path())) text.replace(0, table.path().size(), "FILE");
    return text;
  };
  CHECK(message("a\tb c") ==
        "FILE:21: there is no third column, and task.translation.counts is true; after the output, write a tab and a 0 "
        "or 1 for each of its words");
  CHECK(message("a\tb c\t0") == "FILE:21: \"0\" has 1 numbers, and the output has 2 words; give a 0 or 1 for each");
  CHECK(message("a\tb c\t0 1 1").find("has 3 numbers, and the output has 2 words") != std::string::npos);
  for (const char* wrong : {"0 2", "0 yes", "0 01", "1 11"})
    CHECK_THAT(message("a\tb c\t" + std::string(wrong)),
               Contains("FILE:21: \"" + std::string(wrong) +
                        "\" must say for each word of the output whether it counts: a 0 or 1"));
  CHECK(message("a\tb c\t0 0") ==
        "FILE:21: no word of the output counts; leave the example out, or give one of its words a 1");
  CHECK(message("a\t  b   c \t 0  1 ") == "(not refused)");
}

TEST_CASE("the shares of words outside the vocabulary are said for inputs, outputs and further sets",
          "[tasks][examples]") {
  const TemporaryFile examples("a b\tx\nb a\ty\na a\tx\nb b\ty\n"), other("a c\tx\nd b\ty\ne f\tx z\n"),
      known("a b\tx\nb b\ty\n");
  Config config = file_config("translation", examples.path());
  config.data.test = 0;
  config.data.validation_path = other.path();
  config.data.test_path = known.path();
  config.data.validation_sets = {"further = " + other.path(), "fine = " + known.path()};
  const auto notes_and_warnings = [](const Task& task) {
    std::vector<std::string> out = task.facts().notes;
    for (const std::string& warning : task.warnings()) out.push_back("warning: " + warning);
    std::erase_if(out, [](const std::string& note) { return !contains(note, "outside the vocabulary"); });
    return out;
  };
  using Notes = std::vector<std::string>;
  const auto task = make_task(config); // c, d, e and f are unknown, and z
  const Notes shares{"words of inputs outside the vocabulary: 66.7 % of validation (4 of 6)",
                     "words of outputs outside the vocabulary: 25 % of validation (1 of 4)"};
  CHECK(notes_and_warnings(*task) == Notes{shares[0], shares[1], "warning: " + shares[0], "warning: " + shares[1]});
  REQUIRE(task->sets().size() == 2);
  CHECK(notes_and_warnings(*task->sets()[0].task).front() ==
        "words of inputs outside the vocabulary: 66.7 % of the set (4 of 6)");
  CHECK(notes_and_warnings(*task->sets()[1].task).empty());

  // A word that is rare in training is unknown there, too. Few unknown words are no warning.
  std::string many = "rare\t1\n";
  for (int i = 0; i < 30; ++i) many += fmt::format("a b\t{}\n", i % 2);
  const TemporaryFile table(many), evaluated(many);
  Config labels = file_config(
      "labelled_text", table.path(),
      {{"format", std::string("tsv")}, {"header", false}, {"text", std::string("1")}, {"label", std::string("2")}});
  labels.data.test = 0;
  labels.data.min_count = 2;
  labels.data.validation_path = evaluated.path();
  CHECK(notes_and_warnings(*make_task(labels)) ==
        Notes{"words outside the vocabulary: 1.64 % of validation (1 of 61), 1.64 % of training (1 of 61)"});
}
