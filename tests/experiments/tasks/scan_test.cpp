// Tests of the task `scan`: its commands, actions and splits equal the published ones.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

Config scan_config(const std::string& split, std::int64_t validation = 500) {
  Config config = task_config("scan", {{"split", split}});
  config.task.validation = validation;
  return config;
}

std::pair<std::string, std::string> text_of(const Task& task, const Batch& batch) {
  const auto length = static_cast<std::size_t>(batch.lengths[0]);
  return {task.decode(std::span(batch.tokens).first(length)), task.decode_output(s2s, batch.targets)};
}

/// The command and actions of each sequence of a split; for training, the sequences of the first epoch.
std::multimap<std::string, std::string> examples(const Task& task, Split split) {
  std::multimap<std::string, std::string> out;
  const TaskSizes sizes = task.sizes(s2s);
  const std::int64_t sequences = task.facts().sizes[static_cast<std::size_t>(split)];
  for (std::int64_t i = 0; i < sequences; ++i) {
    Batch batch;
    batch.reset(1, sizes, s2s);
    if (split == Split::train) task.training_sequence(s2s, 1, i / 32, i % 32, batch, 0);
    else task.evaluation_sequence(s2s, split, i, batch, 0);
    out.insert(text_of(task, batch));
  }
  return out;
}

/// The actions of a command by the rules in the paper's appendix; "after" and "and" are handled first.
std::string meaning(const std::string& command) {
  const auto cut = [&](const std::string& word) { return command.find(" " + word + " "); };
  const auto both = [](const std::string& a, const std::string& b) {
    return a.empty() ? b : b.empty() ? a : a + " " + b;
  };
  if (const auto at = cut("and"); at != command.npos)
    return both(meaning(command.substr(0, at)), meaning(command.substr(at + 5)));
  if (const auto at = cut("after"); at != command.npos)
    return both(meaning(command.substr(at + 7)), meaning(command.substr(0, at)));
  const auto ends = [&](const std::string& word) { return command.ends_with(" " + word); };
  if (ends("twice")) {
    const std::string once = meaning(command.substr(0, command.size() - 6));
    return both(once, once);
  }
  if (ends("thrice")) {
    const std::string once = meaning(command.substr(0, command.size() - 7));
    return both(once, both(once, once));
  }
  std::istringstream words(command);
  std::string verb, how, side;
  words >> verb >> how >> side;
  const std::map<std::string, std::string> verbs = {
      {"walk", "I_WALK"}, {"look", "I_LOOK"}, {"run", "I_RUN"}, {"jump", "I_JUMP"}, {"turn", ""}};
  const std::string action = verbs.at(verb);
  if (how.empty()) return action;
  const std::string turn = (side.empty() ? how : side) == "left" ? "I_TURN_LEFT" : "I_TURN_RIGHT";
  if (side.empty()) return both(turn, action);
  if (how == "opposite") return both(turn, both(turn, action));
  const std::string once = both(turn, action);
  return both(once, both(once, both(once, once)));
}

} // namespace

TEST_CASE("scan has 20,910 different commands, each with its meaning", "[tasks][scan]") {
  const auto task = make_task(scan_config("simple"));
  std::map<std::string, std::string> all;
  for (const Split split : all_splits)
    for (const auto& [command, actions] : examples(*task, split)) {
      CHECK(all.emplace(command, actions).second);
      if (actions != meaning(command)) CHECK((command + ": " + actions) == meaning(command));
    }
  CHECK(all.size() == 20910);
  // Examples from the paper's figure 1 and its text.
  CHECK(all.at("jump") == "I_JUMP");
  CHECK(all.at("jump left") == "I_TURN_LEFT I_JUMP");
  CHECK(all.at("jump around right") ==
        "I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP");
  CHECK(all.at("turn left twice") == "I_TURN_LEFT I_TURN_LEFT");
  CHECK(all.at("jump thrice") == "I_JUMP I_JUMP I_JUMP");
  CHECK(all.at("jump opposite left and walk thrice") == "I_TURN_LEFT I_TURN_LEFT I_JUMP I_WALK I_WALK I_WALK");
  CHECK(all.at("jump opposite left after walk around left") ==
        "I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_TURN_LEFT I_JUMP");
}

TEST_CASE("scan's splits have the published sizes, and share no command", "[tasks][scan]") {
  struct Published {
    const char* split;
    std::int64_t training, test;
  };
  for (const Published& p : {Published{"simple", 16728, 4182},
                             {"length", 16990, 3920},
                             {"add_jump", 14670, 7706},
                             {"add_turn_left", 21890, 1208}}) {
    INFO(p.split);
    const auto task = make_task(scan_config(p.split));
    const auto train = examples(*task, Split::train), validation = examples(*task, Split::validation),
               test = examples(*task, Split::test);
    CHECK(std::ssize(train) + std::ssize(validation) == p.training);
    CHECK(std::ssize(validation) == 500);
    CHECK(std::ssize(test) == p.test);
    for (const auto& [command, actions] : test) CHECK(train.count(command) + validation.count(command) == 0);
    for (const auto& [command, actions] : validation) CHECK(train.count(command) == 0);
  }
}

TEST_CASE("scan's length split trains on outputs of up to 22 actions, or of any other number", "[tasks][scan]") {
  // I_WALK has one line and no T; I_TURN_LEFT and I_TURN_RIGHT have two of each.
  const auto actions = [](const std::string& text) {
    return std::ranges::count(text, '_') - std::ranges::count(text, 'T') / 2;
  };
  REQUIRE(actions("I_TURN_LEFT I_JUMP") == 2);
  REQUIRE(actions("I_TURN_RIGHT I_LOOK I_TURN_LEFT") == 3);
  Config config = scan_config("length");
  for (const std::int64_t cutoff : {22, 30}) {
    config.task_options["cutoff"] = cutoff;
    const auto task = make_task(config);
    std::set<std::ptrdiff_t> train, test;
    for (const auto& [command, text] : examples(*task, Split::train)) train.insert(actions(text));
    for (const auto& [command, text] : examples(*task, Split::test)) test.insert(actions(text));
    CHECK(*train.begin() == 1);
    CHECK(*train.rbegin() == cutoff);
    CHECK(*test.begin() > cutoff);
    CHECK(*test.rbegin() == 48);
  }
}

TEST_CASE("scan repeats the primitive that the test combines, to a tenth of training", "[tasks][scan]") {
  for (const auto& [split, primitive, times] :
       {std::tuple{"add_jump", "jump", 1467}, {"add_turn_left", "turn left", 2189}}) {
    const auto train = examples(*make_task(scan_config(split)), Split::train);
    CHECK(static_cast<int>(train.count(primitive)) == times);
    int with = 0;
    for (const auto& [command, actions] : train)
      with += (" " + command + " ").find(" " + std::string(primitive) + " ") != command.npos;
    CHECK(with == times);
  }
}

TEST_CASE("scan as one sequence: command, the token that begins actions, actions, their end", "[tasks][scan]") {
  const auto task = make_task(scan_config("simple"));
  const TaskSizes pair = task->sizes(s2s), one = task->sizes(lm);
  CHECK(pair.vocabulary == 13);
  CHECK(pair.classes == 8);
  CHECK_FALSE(pair.shared_vocabulary);
  CHECK(pair.length == 9);
  CHECK(pair.output_length == 49);
  CHECK(one.vocabulary == 21);
  CHECK(one.length == 9 + 48 + 1);
  for (std::int64_t i = 0; i < 100; ++i) {
    Batch batch;
    batch.reset(1, pair, s2s);
    task->evaluation_sequence(s2s, Split::test, i, batch, 0);
    const auto [command, actions] = text_of(*task, batch);
    const Sequence sequence = evaluation_sequence(*task, lm, Split::test, i);
    CHECK(task->decode(sequence.tokens) == command + " <begin> " + actions);
    const auto inputs = static_cast<std::ptrdiff_t>(batch.lengths[0]);
    CHECK(std::all_of(sequence.targets.begin(), sequence.targets.begin() + inputs,
                      [](auto t) { return t == ignored; }));
    CHECK(task->decode(std::span(sequence.targets).subspan(static_cast<std::size_t>(inputs))) == actions + " <end>");
    CHECK(sequence.targets.back() == one.end);
    CHECK(task->encode(command + " <begin> " + actions) == sequence.tokens);
  }
}

TEST_CASE("scan: what cannot be is refused", "[tasks][scan]") {
  CHECK_THAT(refusal([] { make_task(scan_config("simple", 16728)); }),
             Contains("[task] validation = 16728 is all of the 16728 different training commands"));
  const auto task = make_task(scan_config("simple"));
  CHECK_THAT(task->refuses(TaskFormat::classification), Contains("is a sequence"));
  CHECK_THAT(refusal([&] { (void)task->encode("walk fast"); }), Contains("\"fast\" is not a word"));
  CHECK(make_task(scan_config("length"))->fingerprint() != task->fingerprint());
}

TEST_CASE("scan: a token has its word, in commands, in actions and in a language model's sequences", "[scan]") {
  const auto task = make_task(scan_config("simple"));
  const TaskSizes translates = task->sizes(s2s), continues = task->sizes(TaskFormat::language_model);
  std::vector<std::string> words, read, sequence;
  for (const std::int32_t token : task->encode("jump left twice")) words.push_back(task->token_text(token));
  CHECK(words == std::vector<std::string>{"jump", "left", "twice"});
  const std::vector<std::int32_t> actions = task->encode_output("I_TURN_LEFT I_JUMP");
  for (const std::int32_t token : {translates.begin, actions[0], actions[1], translates.end})
    read.push_back(task->output_token_text(token));
  CHECK(read == std::vector<std::string>{"<begin>", "I_TURN_LEFT", "I_JUMP", "<end>"});
  for (const std::int32_t token : task->encode("jump left <begin> I_TURN_LEFT I_JUMP"))
    sequence.push_back(task->token_text(token));
  CHECK(sequence == std::vector<std::string>{"jump", "left", "<begin>", "I_TURN_LEFT", "I_JUMP"});
  CHECK(task->token_text(continues.end) == "<end>");
  CHECK_THROWS_AS(task->encode_output("jump"), Refused);
}

namespace {

/// Lines in the format of the published files.
std::string published(const std::vector<std::pair<std::string, std::string>>& commands) {
  std::string text;
  for (const auto& [command, actions] : commands) text += "IN: " + command + " OUT: " + actions + "\n";
  return text;
}

const std::vector<std::pair<std::string, std::string>> some_commands = {
    {"jump", "I_JUMP"},
    {"walk left", "I_TURN_LEFT I_WALK"},
    {"jump", "I_JUMP"},
    {"run twice", "I_RUN I_RUN"},
    {"look right", "I_TURN_RIGHT I_LOOK"},
    {"turn opposite left", "I_TURN_LEFT I_TURN_LEFT"},
    {"walk and run", "I_WALK I_RUN"}};

} // namespace

TEST_CASE("scan: the published files are read, each for its split", "[tasks][scan]") {
  const TemporaryFile train(published(some_commands)),
      test(published({{"jump twice", "I_JUMP I_JUMP"}, {"jump left", "I_TURN_LEFT I_JUMP"}})),
      validation(published({{"look twice", "I_LOOK I_LOOK"}}));
  Config config = task_config("scan");
  config.data.path = train.path();
  config.data.test_path = test.path();
  config.task.validation = 2;
  const auto drawn = make_task(config);
  CHECK(drawn->facts().sizes == std::array<std::int64_t, 3>{5, 2, 2});
  CHECK(drawn->facts().files == std::array<std::string, 3>{train.path(), train.path(), test.path()});
  std::multimap<std::string, std::string> seen = examples(*drawn, Split::train);
  CHECK(seen.count("jump") == 2); // repeated lines of the file stay in training, equally often
  seen.merge(examples(*drawn, Split::validation));
  CHECK(seen == std::multimap<std::string, std::string>(some_commands.begin(), some_commands.end()));
  CHECK(examples(*drawn, Split::test) ==
        std::multimap<std::string, std::string>{{"jump twice", "I_JUMP I_JUMP"}, {"jump left", "I_TURN_LEFT I_JUMP"}});
  config.data.validation_path = validation.path();
  const auto given = make_task(config);
  CHECK(given->facts().sizes == std::array<std::int64_t, 3>{7, 1, 2});
  CHECK(examples(*given, Split::validation).count("look twice") == 1);
  CHECK(given->fingerprint() != drawn->fingerprint());
  CHECK(given->sizes(s2s).vocabulary == make_task(scan_config("simple"))->sizes(s2s).vocabulary);
  config.data.test_path = "";
  CHECK(make_task(config)->facts().sizes[2] == 0);
}

TEST_CASE("scan: a file that is not as published is refused with the place", "[tasks][scan]") {
  const auto message = [](const std::string& text) {
    const TemporaryFile file(text);
    Config config = task_config("scan");
    config.data.path = file.path();
    config.task.validation = 1;
    return refusal([&] { make_task(config); });
  };
  CHECK_THAT(message(published(some_commands) + "jump I_JUMP\n"), Contains(":8: a line is \"IN: \", a command, "));
  CHECK_THAT(message(published(some_commands) + "IN: hop OUT: I_JUMP\n"), Contains(":8: \"hop\" is not a word"));
  CHECK_THAT(message(published(some_commands) + "IN: jump OUT: \n"), Contains(":8: the command or its actions are "));
  CHECK_THAT(message("\n\n"), Contains("has no command"));
  CHECK_THAT(message(published({{"jump", "I_JUMP"}})), Contains("[task] validation = 1 is all of the 1 different "));
  Config config = task_config("scan");
  config.data.path = "/nowhere";
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("[data] path = \"/nowhere\" does not exist"));
}

TEST_CASE("scan: a random test is not called the published one", "[tasks][scan]") {
  const auto notes = make_task(scan_config("simple"))->facts().notes;
  CHECK_THAT(notes.at(0), Contains("other commands") && Contains("data.test_path"));
  for (const std::string& note : notes) CHECK_THAT(note, !Contains("published training part"));
}
