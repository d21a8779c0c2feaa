// Tests of `heed attend`, and of the rule that a report's attention weights come from the newest checkpoint.
#include "experiments/actions/refresh_attention.hpp"
#include "experiments/config/config.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/system/polling.hpp"
#include "tests/experiments/command_line/command_line_support.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

using namespace heed;
using Catch::Contains;
using test::Answer;
using test::heed_says;
namespace json = boost::json;

namespace {

// A run's folder with checkpoints of steps 1, 2, ..., `steps`.
RunFolder run_of(const Scratch& scratch, const std::string& base, const std::string& id, std::int64_t steps = 4,
                 std::vector<std::string> assignments = {}) {
  assignments.insert(assignments.end(), {"train.steps=4", "train.checkpoint_every=1"});
  const Config c = test::config(base, assignments);
  const RunFolder run = prepare_run(scratch.path, id, to_toml(c));
  const test::History h = test::train(c, {}, steps);
  for (std::int64_t i = 0; i < steps; ++i)
    write_checkpoint(run, i + 1, h.checkpoints.at(static_cast<std::size_t>(i)), 3);
  return run;
}

constexpr const char* one_id = "0123456789abcdef";
constexpr const char* other_id = "fedcba9876543210";

std::vector<std::string> inputs_of(const RunFolder& run) {
  const auto read = read_attention(run);
  REQUIRE(read);
  std::vector<std::string> out;
  for (const AttentionExample& e : *read) out.push_back(e.input);
  return out;
}

// A plan of arms with one finished run each. Their configurations ask for attention weights of these inputs.
Plan plan_of(const std::vector<std::pair<RunFolder, std::string>>& runs, const std::vector<std::string>& attend) {
  Plan plan;
  plan.name = "test";
  plan.metric = "val_loss";
  plan.seeds = {1};
  for (const auto& [run, base] : runs) {
    Config c = test::config(base);
    c.report.attend = attend;
    Arm arm;
    arm.label = run.id();
    arm.runs = {plan.runs.size()};
    plan.arms.push_back(std::move(arm));
    plan.runs.push_back({run.id(), plan.runs.size(), 1, to_toml(c)});
    Manifest manifest;
    manifest.run = run.id();
    manifest.outcome = "finished";
    write_file(run.manifest(), to_json(manifest));
  }
  return plan;
}

} // namespace

TEST_CASE("attend shows every head, and keeps the weights beside the run", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id);
  const Answer one = heed_says({"attend", run.path.string(), "--input", "3 1 4 | 3"});
  INFO(one.err);
  CHECK(one.status == 0);
  CHECK_THAT(one.out, Contains("at step 4") && Contains("3 1 4 | 3") && Contains("blocks.1.attention") &&
                          Contains("5 x 5") && Contains("█") && Contains("attention.json"));
  CHECK(inputs_of(run) == std::vector<std::string>{"3 1 4 | 3"});
  CHECK(read_attention(run)->front().step == 4);

  const Answer more = heed_says({"attend", run.path.string(), "--input", "1 |", "--input", "3 1 4 | 3", "--average",
                                 "3"});
  INFO(more.err);
  CHECK(more.status == 0);
  CHECK_THAT(more.out, Contains("the average of 3 checkpoints"));
  CHECK(inputs_of(run) == std::vector<std::string>{"3 1 4 | 3", "1 |"});
  CHECK(read_attention(run)->front().average == 3);
}

TEST_CASE("attend tells programs all weights in full", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id, 4, {"precision=float64"});
  const Answer answer = heed_says({"attend", run.path.string(), "--input", "3 1 4 | 3", "--json"});
  const json::object document = result_of(answer);
  const Config c = read_config(run);
  const auto expected =
      engine(c).attend(c, *make_task(c), newest_checkpoint(run)->checkpoint, {{"3 1 4 | 3", {}}}).at(0);
  CHECK(document.at("step") == 4);
  const json::value& head = document.at("examples").at(0).at("heads").at(3);
  CHECK(head.at("entropy").to_number<double>() == Approx(*expected.heads.at(3).entropy).epsilon(1e-14));
  for (std::size_t q = 0; q < 5; ++q)
    for (std::size_t k = 0; k < 5; ++k)
      // Boost reads a number exactly except for its last bit
      CHECK(head.at("weights").at(q).at(k).to_number<double>() ==
            Approx(expected.heads.at(3).weights.at(5 * q + k)).epsilon(1e-14));
}

TEST_CASE("an example of the validation split is the input with its text", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_encoder, one_id);
  const RunFolder patches = run_of(scratch, test::tiny_patches, other_id);
  CHECK(heed_says({"attend", run.path.string(), "--row", "2", "--row", "0"}).status == 0);
  const Config c = read_config(run);
  const auto task = make_task(c);
  std::vector<std::string> texts;
  for (const std::int64_t number : {2, 0}) {
    Batch b;
    b.reset(1, task->sizes(TaskFormat::classification), TaskFormat::classification);
    task->evaluation_sequence(TaskFormat::classification, Split::validation, number, b, 0);
    texts.push_back(task->decode(std::span(b.tokens).first(static_cast<std::size_t>(b.lengths[0]))));
  }
  CHECK(inputs_of(run) == texts);
  CHECK(heed_says({"attend", patches.path.string(), "--row", "2"}).status == 0);
  CHECK(inputs_of(patches) == std::vector<std::string>{"row 2"});
  CHECK_THAT(heed_says({"attend", run.path.string(), "--row", "20"}).err, Contains("has examples 0 to 19"));
}

TEST_CASE("arrays are written for each attention, and an index says what their axes are", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_encoder_decoder, one_id, 4, {"train.evaluate_beam=0"});
  const std::filesystem::path folder = scratch.path / "maps";
  const Answer answer = heed_says({"attend", run.path.string(), "--input", "0 1 2", "--target", "4 3", "--npy",
                                   folder.string()});
  INFO(answer.err);
  REQUIRE(answer.status == 0);
  const json::value index = json::parse(*read_file(folder / "index.json"));
  const json::array& files = index.at("files").as_array();
  REQUIRE(files.size() == 6);
  CHECK(files[3].at("file") == "1-0-1-2.decoder.blocks.0.cross_attention.npy");
  CHECK(files[3].at("output") == "4 3");
  CHECK(files[3].at("queries") == json::array{"4", "3", "<end>"});
  CHECK(files[3].at("keys") == json::array{"0", "1", "2"});
  for (const json::value& file : files) {
    const auto bytes = read_file(folder / std::string(file.at("file").as_string()));
    REQUIRE(bytes);
    CHECK(bytes->size() == 128 + 2 * 3 * 3 * 4);
    CHECK_THAT(*bytes, Contains("'shape': (2, 3, 3)"));
  }
  const auto again = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"attend", run.path.string(), "--input", "0 1 2", "--target", "4 3"};
    words.insert(words.end(), more.begin(), more.end());
    return heed_says(words);
  };
  CHECK(again({"--npy", folder.string()}).status == 0); // arrays of before are replaced
  put(folder / "index.json", "{\"mine\": 1}");
  CHECK_THAT(again({"--npy", folder.string()}).err, Contains("index.json' exists and was not written by Heed"));
  CHECK(content(folder / "index.json") == "{\"mine\": 1}");
  CHECK(again({"--npy", folder.string(), "--force"}).status == 0);
  CHECK_THAT(content(folder / "index.json"), Contains("files"));
  CHECK_THAT(again({"--force"}).err, Contains("--force does nothing here"));
}

TEST_CASE("attend refuses what it has no use for", "[command_line]") {
  const Scratch scratch;
  const std::string run = run_of(scratch, test::tiny_decoder, one_id).path.string();
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Answer answer = heed_says(arguments);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.err, Contains(part));
  };
  refused({"attend", run}, "--input TEXT, or --row N");
  refused({"attend", run, "--input", "cat"}, "\"cat\" is not a word");
  refused({"attend", run, "--input", "1 |", "--target", "1"}, "an output does nothing here");
  refused({"attend", run, "--input", "1 |", "--input", "2 |", "--target", "1"}, "--target is the output for one input");
  CHECK_FALSE(std::filesystem::exists(scratch.path / one_id / "attention.json"));
}

TEST_CASE("a damaged attention.json is named and written anew", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id);
  write_file(run.attention(), "{");
  const Answer answer = heed_says({"attend", run.path.string(), "--input", "1 |"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.err, Contains("is damaged") && Contains("it was written anew"));
  CHECK(inputs_of(run) == std::vector<std::string>{"1 |"});
}

TEST_CASE("attend says for what it waits", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id);
  const OutputFile claim = run.folder() / "attention.claim";
  put(claim, "");
  std::filesystem::last_write_time(claim.path(), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  constexpr int two_seconds = 20; // calls while it waits; there are a few before
  int asked = 0;
  const PollScope polls([&] {
    if (++asked == two_seconds) std::filesystem::remove(claim.path());
  });
  const Answer answer = heed_says({"attend", run.path.string(), "--input", "1 |"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.err, Contains("heed: waiting for '" + claim.string() + "', which names no process: at most 1"));
}

TEST_CASE("a report makes what is missing, and makes again what is of another checkpoint", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id, 2);
  const Plan plan = plan_of({{run, test::tiny_decoder}}, {"3 1 4 | 3"});
  CHECK(refresh_attention(plan, scratch.path).empty());
  CHECK(inputs_of(run) == std::vector<std::string>{"3 1 4 | 3"});
  CHECK(read_attention(run)->front().step == 2);

  // Nothing is computed twice: existing files keep their bytes and their modification time.
  const auto before = std::filesystem::last_write_time(run.attention());
  CHECK(refresh_attention(plan, scratch.path).empty());
  CHECK(std::filesystem::last_write_time(run.attention()) == before);

  // The user runs `attend` on another input; a third example has no recorded step. Then the run resumes.
  CHECK(heed_says({"attend", run.path.string(), "--input", "1 |"}).status == 0);
  AttentionExample foreign = read_attention(run)->front();
  foreign.input = "foreign";
  foreign.step.reset();
  write_attention(run, merged(*read_attention(run), {foreign}));
  const Config c = read_config(run);
  write_checkpoint(run, 4, test::train(c).last(), 3);
  CHECK(refresh_attention(plan, scratch.path).empty());
  std::vector<std::string> inputs = inputs_of(run);
  std::ranges::sort(inputs);
  CHECK(inputs == std::vector<std::string>{"1 |", "3 1 4 | 3", "foreign"});
  const std::vector<AttentionExample> now = *read_attention(run);
  for (const AttentionExample& example : now) {
    if (example.input == "foreign") {
      CHECK_FALSE(example.step);
      continue;
    }
    CHECK(example.step == 4);
    const auto fresh =
        engine(c).attend(c, *make_task(c), newest_checkpoint(run)->checkpoint, {{example.input, {}}}).at(0);
    for (std::size_t i = 0; i < fresh.heads.at(0).weights.size(); ++i)
      CHECK(example.heads.at(0).weights.at(i) == Approx(fresh.heads.at(0).weights.at(i)).epsilon(1e-4).margin(1e-12));
  }
}

TEST_CASE("a run whose weights can't be made says why, and stops no other", "[command_line]") {
  const Scratch scratch;
  const RunFolder reads = run_of(scratch, test::tiny_decoder, one_id);
  const RunFolder bits = run_of(scratch, test::tiny_encoder, other_id);
  const Plan plan = plan_of({{bits, test::tiny_encoder}, {reads, test::tiny_decoder}}, {"3 1 4 | 3", "1 0 1"});
  const AttentionProblems problems = refresh_attention(plan, scratch.path);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.at(other_id), Contains("\"3 1 4 | 3\" can't be read") && Contains("\"3\" is not a word"));
  CHECK(inputs_of(bits) == std::vector<std::string>{"1 0 1"});
  CHECK(inputs_of(reads) == std::vector<std::string>{"3 1 4 | 3", "1 0 1"});
}

TEST_CASE("weights of another checkpoint stay until there are newer ones", "[command_line]") {
  const Scratch scratch;
  const RunFolder run = run_of(scratch, test::tiny_decoder, one_id, 2);
  const Plan plan = plan_of({{run, test::tiny_decoder}}, {"3 1 4 | 3"});
  CHECK(refresh_attention(plan, scratch.path).empty());
  AttentionExample unreadable = read_attention(run)->front();
  unreadable.input = "not of this vocabulary";
  write_attention(run, merged(*read_attention(run), {unreadable}));
  write_checkpoint(run, 4, test::train(read_config(run)).last(), 3);
  CHECK(refresh_attention(plan, scratch.path).size() == 1);
  const std::vector<AttentionExample> now = *read_attention(run);
  REQUIRE(now.size() == 2);
  CHECK(now[0].step == 4);
  CHECK(now[1].input == "not of this vocabulary");
  CHECK(now[1].step == 2);
}

TEST_CASE("runs of other seeds, and unfinished ones, are left alone", "[command_line]") {
  const Scratch scratch;
  const RunFolder one = run_of(scratch, test::tiny_decoder, one_id);
  const RunFolder other = run_of(scratch, test::tiny_decoder, other_id);
  Plan plan = plan_of({{one, test::tiny_decoder}, {other, test::tiny_decoder}}, {"1 |"});
  plan.runs[1].seed = 2;
  Manifest manifest;
  manifest.run = one_id;
  manifest.outcome = "interrupted";
  write_file(one.manifest(), to_json(manifest));
  CHECK(refresh_attention(plan, scratch.path).empty());
  CHECK_FALSE(std::filesystem::exists(one.attention()));
  CHECK_FALSE(std::filesystem::exists(other.attention()));
}
