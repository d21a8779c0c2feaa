// Tests the seeds of the sources of chance: initial weights, order of the data, dropout and split.
#include "experiments/config/config.hpp"
#include "experiments/models/model.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <set>

using namespace heed;
using namespace heed::test;

namespace {

const std::string small = R"(
[task]
kind = "copy"
validation = 40
[task.copy]
length = 5
symbols = 6
[model]
layers = 1
width = 8
heads = 2
dropout = 0.3
[train]
steps = 8
batch = 6
shards = 2
threads = 1
learning_rate = 0.01
log_every = 1
)";

std::vector<std::string> bits(const std::vector<std::string>& assignments, const std::string& text = small) {
  Settings settings = Settings::parse(text, "small.toml");
  settings.override_with(assignments);
  const History history = train(settings.resolve());
  std::vector<std::string> out;
  for (const MetricsRecord& record : history.metrics) out.push_back(text_of({record}));
  out.push_back(text_of(history.last()));
  return out;
}

std::string refusal(const std::vector<std::string>& assignments, const std::string& text = small) {
  Settings settings = Settings::parse(text, "small.toml");
  try {
    settings.override_with(assignments);
    settings.resolve();
    return "";
  } catch (const Refused& error) {
    return error.what();
  }
}

std::set<std::string> examples(const std::vector<std::string>& assignments, Split split) {
  Settings settings = Settings::parse(small, "small.toml");
  settings.override_with(assignments);
  const auto task = make_task(settings.resolve());
  std::set<std::string> out;
  Batch batch;
  const TaskSizes sizes = task->sizes(TaskFormat::language_model);
  for (std::int64_t i = 0; i < task->evaluation_sequences(TaskFormat::language_model, split); ++i) {
    batch.reset(1, sizes, TaskFormat::language_model);
    task->evaluation_sequence(TaskFormat::language_model, split, i, batch, 0);
    out.insert(task->decode(batch.tokens));
  }
  return out;
}

} // namespace

TEST_CASE("the seeds of all sources together do what the seed does", "[training][seeds]") {
  const auto with_4 = bits({"seed=4"});
  CHECK(bits({"seed=4", "init.seed=4", "data.order_seed=4", "train.dropout_seed=4", "data.split_seed=0"}) == with_4);
  CHECK(bits({"seed=9", "init.seed=4", "data.order_seed=4", "train.dropout_seed=4"}) == with_4);
  for (const char* source : {"init.seed", "data.order_seed", "train.dropout_seed"}) {
    INFO(source);
    const std::string own = fmt::format("{}=9", source);
    CHECK(bits({"seed=4", own}) != with_4);
    CHECK(bits({"seed=4", own}) != bits({"seed=9"}));
  }
}

TEST_CASE("without steps, only the seed of the initial weights matters", "[training][seeds]") {
  CHECK(bits({"train.steps=0", "seed=9", "init.seed=4"}) == bits({"train.steps=0", "seed=4"}));
  CHECK_THAT(refusal({"train.steps=0", "data.order_seed=1"}),
             Catch::Contains("data.order_seed does nothing: train.steps is 0"));
}

TEST_CASE("the split's seed changes which examples are held out, and splits still share none", "[training][seeds]") {
  const auto held_out = [](const char* seed) { return examples({seed}, Split::validation); };
  const auto first = held_out("data.split_seed=0"), second = held_out("data.split_seed=3");
  CHECK(first == examples({}, Split::validation));
  CHECK(first == held_out("task.seed=0"));
  CHECK(first != second);
  CHECK(second != held_out("task.seed=3")); // which also draws other examples
  for (const std::string& example : examples({"data.split_seed=3"}, Split::test)) CHECK_FALSE(second.contains(example));
}

TEST_CASE("a seed without effect is refused, with the reason", "[training][seeds]") {
  CHECK_THAT(refusal({"model.dropout=0", "train.dropout_seed=1"}),
             Catch::Contains("train.dropout_seed does nothing: model.dropout is 0.0") &&
                 Catch::Contains("or block.dropout is given"));
  CHECK(refusal({"model.dropout=0", "attention.dropout=0.1", "train.dropout_seed=1"}).empty());
  CHECK_THAT(refusal({"train.start=0123456789abcdef", "init.seed=1"}), Catch::Contains("init.seed does nothing"));
  CHECK_THAT(refusal({"init.seed=-2"}), Catch::Contains("init.seed"));
  const std::string text = "[task]\nkind = \"text\"\n[data]\npath = \"a.txt\"\n",
                    labelled =
                        "[task]\nkind = \"labelled_text\"\n[model]\nkind = \"encoder\"\n[data]\npath = \"a.csv\"\n";
  CHECK_THAT(refusal({"data.split_seed=1"}, text),
             Catch::Contains("data.split_seed does nothing: task.kind is 'text'"));
  CHECK(refusal({"data.split_seed=1"}, labelled).empty());
  CHECK_THAT(refusal({"data.split_seed=1", "data.shuffle=false"}, labelled),
             Catch::Contains("data.split_seed does nothing: data.shuffle is false"));
  CHECK_THAT(refusal({"data.split_seed=1", "data.validation_path=b.csv"}, labelled),
             Catch::Contains("data.split_seed does nothing: data.validation_path is"));
  CHECK(refusal({"data.split_seed=1", "data.validation_path=b.csv", "data.test=0.1"}, labelled).empty());
  // these examples are listed: nothing but the split is drawn
  CHECK_THAT(refusal({"data.split_seed=1", "task.seed=2"}, labelled),
             Catch::Contains("task.seed does nothing: data.split_seed is 1"));
  CHECK(refusal({"task.seed=2", "data.shuffle=false"}, labelled).empty());
}
