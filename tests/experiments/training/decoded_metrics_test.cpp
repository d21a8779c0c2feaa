// What a model does when it goes by its own outputs: evaluation and `generate` against each other and against reading.
#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <map>
#include <sstream>

using namespace heed;
using test::config;
using test::train;
using Catch::Contains;

namespace {

// A model that has learned a part of its task.
Config half_trained(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"train.steps=150", "train.batch=32", "model.width=16", "task.copy.symbols=4",
                               "task.validation=60", "train.evaluate_every=0", "train.log_every=150"};
  all.insert(all.end(), more.begin(), more.end());
  return config(test::tiny_encoder_decoder, all);
}

std::map<std::string, double> evaluated(const Config& c, const Checkpoint& checkpoint) {
  const Metrics m = engine(c).evaluate(c, *make_task(c), checkpoint, Split::validation);
  return {m.values.begin(), m.values.end()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

} // namespace

TEST_CASE("a greedy output is right where every token is the most probable after the right ones", "[decoding]") {
  const Config c = half_trained({"train.evaluate_beam=1"});
  const Checkpoint checkpoint = train(c).last();
  auto found = evaluated(c, checkpoint);
  CHECK(found.at("val_decoded_accuracy") == found.at("val_sequence_accuracy"));
  CHECK(found.at("val_decoded_accuracy") > 0.05);
  CHECK(found.at("val_decoded_accuracy") < 0.95);
}

TEST_CASE("evaluation decodes what generate puts out, and scores its text", "[decoding]") {
  const Config c = half_trained({"train.evaluate_beam=3", "train.evaluate_length_penalty=0.6"});
  const Checkpoint checkpoint = train(c).last();
  const auto task = make_task(c);
  Sampling sampling;
  sampling.beam = 3;
  sampling.length_penalty = 0.6;
  std::vector<std::string> references;
  constexpr Form form = Form::sequence_to_sequence;
  const TaskShape shape = task->shape(form);
  for (std::int64_t i = 0; i < task->evaluation_rows(form, Split::validation); ++i) {
    Batch row;
    row.reset(1, shape, form);
    task->evaluation_row(form, Split::validation, i, row, 0);
    sampling.inputs.push_back(task->decode({row.tokens.data(), static_cast<std::size_t>(row.lengths[0])}));
    const auto length = static_cast<std::size_t>(row.output_lengths[0]);
    references.push_back(task->decode_output(form, {row.outputs.data(), length}));
  }
  std::string text;
  sampling.write = [&](std::string_view part) { text += part; };
  engine(c).generate(c, *task, checkpoint, sampling);
  const std::vector<std::string> outputs = lines_of(text);
  REQUIRE(outputs.size() == references.size());
  double right = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) right += outputs[i] == references[i];
  auto found = evaluated(c, checkpoint);
  CHECK(found.at("val_decoded_accuracy") == Approx(right / static_cast<double>(outputs.size())));
  CHECK(found.at("val_chrf") > 0);
  CHECK(found.at("val_chrf") < 100);
  CHECK(found.at("val_bleu") <= 100);
}

TEST_CASE("decoded metrics are announced, and measured, where they are asked for", "[decoding]") {
  const auto names = [](const Config& c) {
    std::string out;
    for (const MetricInfo& m : metrics_of(c)) out += m.name + " ";
    return out;
  };
  const std::string asked = names(config(test::tiny_encoder_decoder));
  CHECK_THAT(asked, Contains("val_decoded_accuracy") && Contains("val_bleu") && Contains("val_chrf"));
  CHECK_THAT(names(config(test::tiny_encoder_decoder, {"train.evaluate_beam=0"})), !Contains("bleu"));
}

TEST_CASE("decoding that can do nothing is refused", "[decoding]") {
  const auto refused = [](const std::string& base, const std::vector<std::string>& more) {
    const Config c = config(base, more);
    return test::refusal([&] { engine(c).check(c, *make_task(c)); });
  };
  CHECK_THAT(refused(test::tiny_decoder, {"train.evaluate_beam=2"}), Contains("evaluate_beam") && Contains("decoder"));
  CHECK_THAT(refused(test::tiny_encoder_decoder, {"train.evaluate_beam=1", "train.evaluate_length_penalty=0.5"}),
             Contains("evaluate_length_penalty") && Contains("does nothing"));
  const Config c = config(test::tiny_encoder_decoder, {"train.steps=1"});
  const Checkpoint checkpoint = train(c).last();
  Sampling sampling;
  const auto task = make_task(c);
  sampling.inputs = {"1 2", ""};
  const auto put_out = [&] { engine(c).generate(c, *task, checkpoint, sampling); };
  CHECK_THAT(test::refusal(put_out), Contains("input 2 is empty"));
  sampling.inputs = {"1 2 3 1 2 3 1 2 3"};
  CHECK_THAT(test::refusal(put_out), Contains("has 9 tokens"));
}
