// Tests of the commands that inspect what a run has learned.
#include "experiments/config/config.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "tests/experiments/command_line/command_line_support.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

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

// The cells of each line of a tab-separated table.
std::vector<std::vector<std::string>> tsv(const std::string& table) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& cells = rows.emplace_back();
    std::size_t begin = 0;
    for (std::size_t tab; (tab = line.find('\t', begin)) != line.npos; begin = tab + 1)
      cells.push_back(line.substr(begin, tab - begin));
    cells.push_back(line.substr(begin));
  }
  return rows;
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

TEST_CASE("commands say why none of a run's checkpoints can be used", "[command_line]") {
  const Scratch scratch;
  const std::string run = id_of(scratch, test::tiny_decoder, "0123456789abcdef");
  const RunFolder folder{run};
  std::ofstream(folder.checkpoint(3).string()) << "damaged";
  const Answer fewer = heed_says({"evaluate", run, "--average", "3"});
  CHECK(fewer.status == 2);
  CHECK_THAT(fewer.err, Contains("has 2 intact checkpoints, but the average needs 3 (") &&
                            Contains("checkpoint-000003.safetensors' is damaged: it has 7 bytes"));
  std::ofstream(folder.checkpoint(4).string()) << "";
  std::filesystem::remove(folder.checkpoint(2).string());
  std::filesystem::remove(folder.checkpoint(3).string());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"evaluate", run}, {"inspect", run}, {"attend", run, "--row", "0"}, {"generate", run, "--prompt", "1"}}) {
    const Answer answer = heed_says(words);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.err, Contains("has no intact checkpoint: ") &&
                               Contains("checkpoint-000004.safetensors' is damaged: it has 0 bytes") &&
                               Contains("heed run CONFIG") && !Contains("no checkpoint yet"));
    CHECK(answer.err.find("is damaged") == answer.err.rfind("is damaged"));
  }
  std::filesystem::remove(folder.checkpoint(4).string());
  CHECK_THAT(heed_says({"evaluate", run}).err, Contains("no checkpoint yet"));
}

TEST_CASE("a run is evaluated on sequences of other lengths than it was trained with", "[command_line]") {
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
  const std::string classifies = id_of(scratch, test::tiny_encoder, "00112233445566aa");
  refused({"generate", classifies, "--prompt", "1"}, "--prompt does nothing");
  refused({"generate", classifies, "--input", "1", "--beam", "2"}, "--beam does nothing");
  refused({"generate", classifies}, "--input TEXT");
  refused({"generate", classifies, "--input", " "}, "input 1 is empty");
  refused({"generate", classifies, "--input", "0 1 0 1 0 1 0 1 0"}, "input 1 has 9 tokens");
}

TEST_CASE("a classifier's run gives the probabilities of the classes, and its outputs are written beside references",
          "[command_line]") {
  const Scratch scratch;
  const std::string table = (scratch.path / "films.csv").string();
  std::string lines = "text,label\n";
  const std::vector<std::string> words{"good", "bad", "film", "plot", "dull", "fine"};
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string &first = words[i % 6], &second = words[i / 6 % 6];
    lines += first + " " + second + "," + (i % 3 == 0 ? "very good" : i % 3 == 1 ? "bad" : "tab\there") + "\n";
  }
  put(table, lines);
  const std::string run = id_of(scratch, "[task]\nkind = \"labelled_text\"\n[data]\npath = \"" + table + R"("
[model]
kind = "encoder"
layers = 1
width = 16
heads = 2
[train]
batch = 8
learning_rate = 0.01
)",
                                "0123456789abcdef");
  const std::string outputs = (scratch.path / "outputs.tsv").string();
  const Answer evaluated = heed_says({"evaluate", run, "--write", outputs});
  INFO(evaluated.err);
  REQUIRE(evaluated.status == 0);
  const std::vector<std::vector<std::string>> written = tsv(content(outputs));
  REQUIRE(written.size() > 4);
  CHECK_THAT(evaluated.out, Contains(fmt::format("{} examples written to {}", written.size() - 1, outputs)));
  CHECK(written[0] == std::vector<std::string>{"input", "reference", "output", "probability"});

  double loss = 0, right = 0;
  for (std::size_t i = 1; i < written.size(); ++i) {
    REQUIRE(written[i].size() == 4);
    const std::string &input = written[i][0], &reference = written[i][1];
    const Answer answer = heed_says({"generate", run, "--input", input, "--top-k", "0"});
    REQUIRE(answer.status == 0);
    double sum = 0, before = 1;
    std::string first;
    std::istringstream lines(answer.out);
    for (std::string line; std::getline(lines, line);) {
      const double p = std::stod(line);
      std::string name = line.substr(line.find('\t') + 1);
      if (name == "tab\there") name = "tab\\there";
      if (first.empty()) {
        first = name;
        CHECK(std::abs(p - std::stod(written[i][3])) < 1e-6);
      }
      CHECK(p <= before);
      before = p;
      sum += p;
      if (name == reference) loss -= std::log(p);
    }
    CHECK(std::abs(sum - 1) < 1e-5);
    CHECK(std::ranges::count(answer.out, '\n') == 3);
    CHECK(first == written[i][2]);
    right += first == reference;
  }
  const auto examples = static_cast<double>(written.size() - 1);
  CHECK_THAT(evaluated.out, Contains(fmt::format("{:.4f}", right / examples)));
  const double printed = std::stod(evaluated.out.substr(evaluated.out.find("val_loss") + 8));
  CHECK(std::abs(loss / examples - printed) < 1e-4);

  const Answer one = heed_says({"generate", run, "--input", "good film", "--top-k", "1"});
  CHECK(std::ranges::count(one.out, '\n') == 1);
  const std::string file = (scratch.path / "inputs.txt").string();
  put(file, "good film\nunheard film\n");
  const Answer both = heed_says({"generate", run, "--input-file", file, "--top-k", "1"});
  CHECK(both.out.starts_with(one.out + "\n"));
  CHECK(std::ranges::count(both.out, '\n') == 3);
  CHECK_THAT(both.err, Contains("unheard"));

  const Answer again = heed_says({"evaluate", run, "--write", outputs});
  CHECK(again.status == 2);
  CHECK_THAT(again.err, Contains("exists already"));
}

TEST_CASE("a run of images gives classes of examples of the validation split", "[command_line]") {
  const Scratch scratch;
  const std::string run = id_of(scratch, test::tiny_patches, "0123456789abcdef");
  const std::string outputs = (scratch.path / "outputs.tsv").string();
  REQUIRE(heed_says({"evaluate", run, "--write", outputs}).status == 0);
  const std::vector<std::vector<std::string>> written = tsv(content(outputs));
  REQUIRE(written.size() == 21);
  CHECK(written[4][0] == "row 3");
  const Answer answer = heed_says({"generate", run, "--input", "row 3"});
  CHECK(std::ranges::count(answer.out, '\n') == 4);
  CHECK(answer.out.substr(9).starts_with(written[4][2] + "\n"));
  CHECK(std::abs(std::stod(answer.out) - std::stod(written[4][3])) < 1e-6);
  for (const char* wrong : {"row 20", "row -1", "circle"}) {
    const Answer refused = heed_says({"generate", run, "--input", wrong});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains("\"row 0\" to \"row 19\""));
  }
  CHECK_THAT(heed_says({"generate", run}).err, Contains("--input \"row 0\""));
}

TEST_CASE("outputs that are written have the accuracy that is measured", "[command_line]") {
  const Scratch scratch;
  const auto share_right = [&](const std::vector<std::string>& arguments, const std::string& file) {
    const std::string path = (scratch.path / file).string();
    std::vector<std::string> with = arguments;
    with.insert(with.end(), {"--write", path});
    const Answer answer = heed_says(with);
    INFO(answer.err);
    REQUIRE(answer.status == 0);
    CHECK(answer.out.starts_with(heed_says(arguments).out));
    const std::vector<std::vector<std::string>> rows = tsv(content(path));
    CHECK(rows[0] == std::vector<std::string>{"input", "reference", "output"});
    const auto right = std::count_if(rows.begin() + 1, rows.end(), [](const auto& row) { return row[1] == row[2]; });
    return std::pair(fmt::format("{:.4f}", static_cast<double>(right) / static_cast<double>(rows.size() - 1)),
                     answer.out);
  };
  const auto value = [](const std::string& out, const std::string& name) {
    const auto at = out.find(name + " ");
    return at == out.npos ? "none" : fmt::format("{:.4f}", std::stod(out.substr(at + name.size())));
  };
  const std::string translates = id_of(scratch, test::tiny_encoder_decoder, "0123456789abcdef");
  const auto [decoded, beam] = share_right({"evaluate", translates, "--beam", "2", "--split", "test"}, "beam.tsv");
  CHECK(decoded == value(beam, "test_decoded_accuracy"));
  // Greedy search finds the right output exactly where each token is right after the right ones.
  const auto [greedy, plain] = share_right({"evaluate", translates}, "greedy.tsv");
  CHECK(greedy == value(plain, "val_sequence_accuracy"));
  const std::vector<std::vector<std::string>> rows = tsv(content(scratch.path / "greedy.tsv"));
  for (std::size_t i = 1; i < 6; ++i)
    CHECK(heed_says({"generate", translates, "--input", rows[i][0]}).out == rows[i][2] + "\n");
  const std::string continues = id_of(scratch, test::tiny_decoder, "fedcba9876543210");
  const auto [predicted, decoder] = share_right({"evaluate", continues}, "decoder.tsv");
  CHECK(predicted == value(decoder, "val_sequence_accuracy"));
  int right = 0, all = 0;
  for (const std::vector<std::string>& row : tsv(content(scratch.path / "decoder.tsv"))) {
    if (row[0] == "input") continue;
    std::istringstream reference(row[1]), output(row[2]);
    for (std::string wanted, given; reference >> wanted && output >> given; ++all) right += wanted == given;
  }
  CHECK(right > 0);
  CHECK(fmt::format("{:.4f}", static_cast<double>(right) / all) == value(decoder, "val_accuracy"));

  const std::string text = (scratch.path / "text.txt").string(), nothing = (scratch.path / "nothing.tsv").string();
  std::string words;
  for (int i = 0; i < 200; ++i) words += "to be or not to be ";
  put(text, words);
  const std::string windows = id_of(scratch,
                                    "[task]\nkind = \"text\"\n[task.text]\nblock = 8\n[data]\npath = \"" + text +
                                        "\"\n[model]\nlayers = 1\nwidth = 16\nheads = 2\n",
                                    "00112233445566aa");
  const Answer refused = heed_says({"evaluate", windows, "--write", nothing});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("windows of running text"));
  CHECK_FALSE(std::filesystem::exists(nothing));
}
