// Tests of the commands that inspect what a run has learned.
#include "experiments/config/config.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "tests/experiments/command_line/command_line_support.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <fstream>

using namespace heed;
using Catch::Contains;
using test::Answer;
using test::heed_says;

namespace {

// A run's folder with its last checkpoints.
std::string id_of(const Scratch& scratch, const std::string& base, const std::string& id) {
  const Config c = test::config(base, {"train.evaluate_beam=0", "train.steps=4", "train.checkpoint_every=1"});
  const RunFolder run = prepare_run(scratch.path, id, to_toml(c));
  const test::History h = test::train(c);
  for (std::size_t i = 0; i < h.checkpoints.size(); ++i)
    write_checkpoint(run, static_cast<std::int64_t>(i) + 1, h.checkpoints[i], 3);
  return run.path.string();
}

} // namespace

TEST_CASE("an encoder-decoder's run puts out a line for each input, and is evaluated by what it puts out",
          "[command_line]") {
  const Scratch scratch;
  const std::string run = id_of(scratch, test::tiny_encoder_decoder, "0123456789abcdef");
  const auto task = make_task(test::config(test::tiny_encoder_decoder));
  const std::vector<std::int32_t> some{0, 1, 2}, others{3, 0};
  const std::string input = task->decode(some), other = task->decode(others);

  const Answer one = heed_says({"generate", run, "--input", input, "--beam", "2", "--length-penalty", "0.6"});
  INFO(one.err);
  CHECK(one.status == 0);
  CHECK(std::ranges::count(one.out, '\n') == 1);
  const std::string file = (scratch.path / "inputs.txt").string();
  std::ofstream(file) << input << "\n" << other << "\n";
  const Answer both = heed_says({"generate", run, "--input-file", file, "--beam", "2", "--length-penalty", "0.6"});
  CHECK(both.status == 0);
  CHECK(std::ranges::count(both.out, '\n') == 2);
  CHECK(both.out.starts_with(one.out));
  // As in data files, a byte order mark and carriage returns are not part of a text.
  std::ofstream(file) << "\xEF\xBB\xBF" << input << "\r\n" << other << "\r\n";
  const Answer marked = heed_says({"generate", run, "--input-file", file, "--beam", "2", "--length-penalty", "0.6"});
  CHECK(marked.out == both.out);

  CHECK_THAT(heed_says({"evaluate", run}).out, Contains("val_loss") && !Contains("val_bleu"));
  CHECK_THAT(heed_says({"evaluate", run, "--split", "test", "--beam", "4", "--length-penalty", "0.6"}).out,
             Contains("test_decoded_accuracy") && Contains("test_bleu") && Contains("test_chrf"));
}

TEST_CASE("the average of checkpoints is evaluated in place of the last", "[command_line]") {
  const Scratch scratch;
  const std::string run = id_of(scratch, test::tiny_encoder_decoder, "0123456789abcdef");
  const std::string last = heed_says({"evaluate", run}).out;
  const Answer average = heed_says({"evaluate", run, "--average", "3"});
  CHECK(average.status == 0);
  CHECK_THAT(average.out, Contains("step 4") && Contains("the average of 3 checkpoints"));
  CHECK(average.out.substr(average.out.find('\n')) != last.substr(last.find('\n')));
  CHECK(heed_says({"evaluate", run, "--average", "1"}).out == last);
  const Answer more = heed_says({"evaluate", run, "--average", "4"});
  CHECK(more.status == 2);
  CHECK_THAT(more.err, Contains("train.keep_checkpoints=4") && Contains("--average 4 --out"));
}

TEST_CASE("a run is evaluated on rows of other lengths than it was trained with", "[command_line]") {
  const Scratch scratch;
  const std::string run = id_of(scratch, test::tiny_decoder, "0123456789abcdef");
  const std::string plain = heed_says({"evaluate", run}).out;
  const Answer more = heed_says({"evaluate", run, "--lengths", "5,12", "--split", "validation"});
  CHECK(more.status == 0);
  CHECK(heed_says({"evaluate", "--lengths", "5,12", run}).out == more.out);
  for (const char* name : {"val_loss_at.5", "val_sequence_accuracy_at.5", "val_accuracy_at.12", "val_perplexity_at.12"})
    CHECK_THAT(more.out, Contains(name));
  CHECK_THAT(plain, !Contains("_at."));
  CHECK(std::ranges::count(more.out, '\n') == std::ranges::count(plain, '\n') + 8);
  const Answer back = heed_says({"evaluate", run, "--lengths", "12,5"});
  CHECK(back.status == 2);
  CHECK_THAT(back.err, Contains("must go up"));
  CHECK(heed_says({"evaluate", run, "--lengths", "0"}).status == 2);
}

TEST_CASE("options of generate that do nothing for a run's model are refused", "[command_line]") {
  const Scratch scratch;
  const std::string translates = id_of(scratch, test::tiny_encoder_decoder, "0123456789abcdef");
  const std::string continues = id_of(scratch, test::tiny_decoder, "fedcba9876543210");
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Answer answer = heed_says(arguments);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.err, Contains(part));
  };
  refused({"generate", translates, "--prompt", "1"}, "--prompt does nothing");
  refused({"generate", translates, "--input", "1", "--temperature", "0.5"}, "--temperature does nothing");
  refused({"generate", translates, "--input", "1", "--length-penalty", "1"}, "--length-penalty does nothing");
  refused({"generate", translates}, "--input TEXT");
  refused({"generate", translates, "--input-file", "/nowhere/inputs.txt"}, "/nowhere/inputs.txt");
  refused({"generate", continues, "--prompt", "1", "--beam", "2"}, "--beam does nothing");
  refused({"evaluate", continues, "--beam", "2"}, "evaluate_beam");
}
