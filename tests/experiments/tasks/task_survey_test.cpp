// Tests of the survey of a task before training: sizes, lengths, counts and examples of the training data.
#include "experiments/config/config.hpp"
#include "experiments/tasks/task_survey.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <numeric>

using namespace heed;
using namespace heed::test;

TEST_CASE("a survey counts what training sees", "[tasks][survey]") {
  const TemporaryFile file("a b\tx\na a a\tx y\nb\tx x\na b c\ty\nb b\tx\n");
  Config config = task_config("translation", {{"shared_vocabulary", false}});
  config.data.path = file.path();
  config.data.train = 0.7;
  config.data.tokens = "words";
  config.data.shuffle = false;
  config.train.batch = 3;
  const auto task = make_task(config);
  const TaskSurvey s = survey_task(*task, TaskFormat::sequence_to_sequence, 0, 3, 3, 2,
                                   10); // one epoch: three sequences
  CHECK(s.facts.sizes == std::array<std::int64_t, 3>{3, 2, 0});
  CHECK(s.sequences == 3);
  CHECK(s.inputs.shortest == 1);
  CHECK(s.inputs.median == 2);
  CHECK(s.inputs.longest == 3);
  CHECK(s.outputs.shortest == 2);
  CHECK(s.outputs.longest == 3);
  // 6 of 3 x 3 input positions are filled, and 8 of 3 x 3 output positions.
  CHECK(s.filled == Approx(14.0 / 18.0));
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(s.commonest == Counts{{"a", 4}, {"x", 4}, {"b", 2}, {"y", 1}});
  CHECK(s.different == 4);
  REQUIRE(s.examples.size() == 2);
  for (const ExampleText& e : s.examples)
    CHECK(((e.input == "a b" && e.output == "x") || (e.input == "a a a" && e.output == "x y") ||
           (e.input == "b" && e.output == "x x")));
}

TEST_CASE("a survey counts each listed sequence at most once, and says how many a step has", "[tasks][survey]") {
  std::string sequences;
  for (int i = 0; i < 10; ++i) sequences += "a\tx\n";
  const TemporaryFile file(sequences);
  Config config = task_config("translation");
  config.data.path = file.path();
  config.data.train = 0.5;
  config.data.tokens = "words";
  config.train.batch = 4;
  const auto survey = [&](std::int64_t most) {
    return survey_task(*make_task(config), TaskFormat::sequence_to_sequence, 0, 4, most, 9, 9);
  };
  const TaskSurvey all = survey(2000); // two steps of four sequences, of which five are in the file
  CHECK(all.listed == 5);
  CHECK(all.sequences == 5);
  CHECK(all.sequences_per_step == 4);
  CHECK(all.commonest == std::vector<std::pair<std::string, std::int64_t>>{{"a", 5}, {"x", 5}});
  CHECK(all.examples.size() == 5);
  CHECK(survey(3).sequences == 3);
  CHECK(survey(3).listed == 5);

  const TaskSurvey drawn = survey_task(*make_task(task_config("copy")), TaskFormat::language_model, 0, 4, 10, 9, 9);
  CHECK_FALSE(drawn.listed);
  CHECK(drawn.sequences == 10);
}

TEST_CASE("a survey shows a language model's sequences as prompt and answer, and classes by name", "[tasks][survey]") {
  const auto parity = make_task(task_config("parity"));
  const TaskSurvey sequences = survey_task(*parity, TaskFormat::language_model, 0, 8, 64, 5, 3);
  for (const ExampleText& e : sequences.examples) {
    CHECK(e.input.ends_with(" ="));
    CHECK((e.output == "0" || e.output == "1"));
  }
  CHECK(sequences.facts.sizes[0] == -1);
  const TaskSurvey labels = survey_task(*parity, TaskFormat::classification, 0, 8, 64, 5, 3);
  CHECK(labels.different == 2);
  CHECK(labels.commonest[0].second + labels.commonest[1].second == 64);
  const TaskSurvey images = survey_task(*make_task(task_config("shapes")), TaskFormat::image_classification, 0, 8, 400,
                                        3, 2);
  CHECK(images.different == 4);
  CHECK(images.commonest.size() == 2);
  CHECK(images.examples[0].input.empty());
}

TEST_CASE("sequences of training steps are those that training sees", "[tasks][survey]") {
  Config by_batches = task_config("copy", {{"min_length", std::int64_t{3}}});
  Config by_tokens = task_config("scan");
  by_tokens.train.batch_tokens = 90;
  Config full = task_config("modular_addition", {{"modulus", std::int64_t{7}}, {"train", 0.5}});
  full.train.full_batch = true;
  for (const Config& config : {by_batches, by_tokens, full})
    for (const TaskFormat format :
         {TaskFormat::language_model, TaskFormat::sequence_to_sequence, TaskFormat::classification}) {
      INFO(config.task.kind);
      const auto task = make_task(config);
      if (!task->refuses(format).empty()) continue;
      std::int64_t step = 0, sequence = 0, sequences = 0;
      each_training_sequence(*task, format, 3, 5, 4, [&](const TrainingSequence& found) {
        const std::int64_t all = task->training_sequences(format, 3, step);
        Batch batch;
        batch.reset(1, task->sizes(format), format);
        task->training_sequence(format, 3, step, sequence, batch, 0);
        const auto first = [](const std::vector<std::int32_t>& from, std::int32_t n) {
          return std::vector<std::int32_t>(from.begin(), from.begin() + n);
        };
        const bool two = format == TaskFormat::sequence_to_sequence, label = format == TaskFormat::classification;
        const std::int32_t tokens = batch.lengths[0], outputs = two ? batch.output_lengths[0] : 0;
        CHECK(found.step == step);
        CHECK(found.sequence == sequence);
        CHECK(found.tokens == first(batch.tokens, tokens));
        CHECK(found.outputs == first(batch.outputs, outputs));
        CHECK(found.targets == first(batch.targets, two ? outputs : label ? 1 : tokens));
        if (two || label) CHECK(found.text.output == task->decode_output(format, found.targets));
        ++sequences;
        if (++sequence == (all > 0 ? all : 5)) {
          sequence = 0;
          ++step;
        }
      });
      CHECK(step == 4);
      CHECK(sequence == 0);
      CHECK(sequences >= 8);
    }
  CHECK_THAT(refusal([] {
               each_training_sequence(*make_task(task_config("shapes")), TaskFormat::image_classification, 0, 1, 1,
                                      [](const TrainingSequence&) {});
             }),
             Catch::Contains("the task has images"));
}
