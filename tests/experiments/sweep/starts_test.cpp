// Tests of plans whose runs start from a finished run ([train] start): their IDs, their notes and what is refused.

#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/models/model.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/sweep/preparation.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <cstring>

using namespace heed;
using Catch::Contains;

namespace {

const std::string small = R"(
name = "small"
[task]
kind = "copy"
validation = 8
[task.copy]
length = 4
symbols = 5
[model]
layers = 1
width = 8
heads = 2
[position]
kind = "learned"
[train]
steps = 4
batch = 4
)";

/// A finished run of a configuration, whose weights all have one value.
RunFolder start_in(const Scratch& out, const std::string& toml, float value = 0.5F) {
  const Config config = config_from(toml);
  const auto task = make_task(config);
  const std::string data = task->fingerprint();
  const RunFolder run = prepare_run(out.path, run_id(config, data), to_toml(config));
  append_metrics(run, {4, 1.0, 16, {{"val_loss", 1.0}}});
  Checkpoint checkpoint;
  checkpoint.metadata["step"] = "4";
  for (const ParameterShape& parameter : engine(config).parameters(config, *task)) {
    std::size_t count = 1;
    for (const std::int64_t n : parameter.shape) count *= static_cast<std::size_t>(n);
    StoredTensor tensor{parameter.name, parameter.shape, false, std::vector<std::byte>(4 * count)};
    for (std::size_t i = 0; i < count; ++i) std::memcpy(tensor.bytes.data() + 4 * i, &value, 4);
    checkpoint.tensors.push_back(std::move(tensor));
  }
  write_checkpoint(run, 4, checkpoint);
  Manifest manifest;
  manifest.run = run.id();
  manifest.outcome = "finished";
  manifest.step = 4;
  manifest.numerics = numerics_of(flatten(config));
  manifest.data = data;
  run.manifest().write(to_json(manifest));
  return run;
}

Preparation prepared(const Scratch& out, const std::string& toml, const std::vector<std::string>& changes = {}) {
  Tasks tasks;
  Settings settings = Settings::parse(toml, "test.toml");
  settings.override_with(changes);
  return prepare(std::move(settings), "test", tasks, out.path);
}

std::string refused(const Scratch& out, const std::string& toml, const std::vector<std::string>& changes = {}) {
  try {
    prepared(out, toml, changes);
  } catch (const Refused& error) {
    return error.what();
  }
  return "";
}

std::string notes(const Preparation& preparation) {
  std::string out;
  for (const std::string& note : notes_of(preparation)) out += note + "\n";
  return out;
}

} // namespace

TEST_CASE("a plan has the full ID and the checksum of a start, given by the beginning of its ID", "[sweep][starts]") {
  const Scratch out, other;
  const RunFolder start = start_in(out, small);
  const Preparation whole = prepared(out, small, {"train.start=" + start.id()}),
                    brief = prepared(out, small, {"train.start=" + start.id().substr(0, 5)});
  const std::string checksum = read_start(out.path, start.id()).checksum;
  CHECK(checksum.size() == 32);
  for (const Preparation* p : {&whole, &brief}) {
    const Config config = config_of(p->plan.runs.front());
    CHECK(config.train.start == start.id());
    CHECK(config.train.start_checksum == checksum);
    CHECK(p->arms.front().config.train.start_checksum == checksum);
    CHECK(p->plan.runs.front().id == whole.plan.runs.front().id);
    CHECK(p->plan.runs.front().id == run_id(config, make_task(config)->fingerprint()));
    CHECK(p->arms.front().start->match.all());
    CHECK(notes(*p).find("train.start") == std::string::npos);
  }
  CHECK(whole.plan.hash == brief.plan.hash);
  CHECK(whole.plan.runs.front().id != start.id());
  // The same run with other weights makes another run.
  start_in(other, small, 0.25F);
  CHECK(prepared(other, small, {"train.start=" + start.id()}).plan.runs.front().id != whole.plan.runs.front().id);
  CHECK_THAT(refused(other, small, {"train.start=" + start.id(), "train.start_checksum=" + checksum}),
             Contains("its weights are not those that were planned") && Contains("train.start_checksum: command line"));
  CHECK(prepared(out, small, {"train.start=" + start.id(), "train.start_checksum=" + checksum}).plan.runs.front().id ==
        whole.plan.runs.front().id);
}

TEST_CASE("arms may have starts of their own, and all seeds of an arm share it", "[sweep][starts]") {
  const Scratch out;
  const RunFolder a = start_in(out, small), b = start_in(out, small + "shards = 1\n");
  const Preparation p = prepared(out, small + "[sweep]\nseeds = 3\n[[sweep.block]]\ngrid = { \"train.start\" = [\"" +
                                          a.id() + "\", \"" + b.id().substr(0, 9) + "\"] }\n");
  CHECK(labels_of(p.plan) == Labels{"reference", "start = " + a.id(), "start = " + b.id()});
  for (const PlannedRun& run : p.plan.runs) {
    const Config config = config_of(run);
    CHECK(config.train.start == (run.arm == 0 ? "" : run.arm == 1 ? a.id() : b.id()));
    CHECK(config.general.seed == run.seed);
  }
  CHECK_FALSE(p.arms[0].start);
  CHECK(p.arms[1].start->run == a.id());
  CHECK_THAT(notes(p), Contains("train.start: all 3 seeds of an arm start from the same run"));
  // The same sweep by a list of named arms, with an override of the others.
  const Preparation named = prepared(out, small +
                                              "[sweep]\nseeds = [0]\n[[sweep.block]]\nkind = \"list\"\n"
                                              "arms.warm = { \"train.start\" = \"" +
                                              a.id() + "\" }\n");
  CHECK(labels_of(named.plan) == Labels{"reference", "warm"});
  CHECK(named.plan.runs[1].id == p.plan.runs[1].id);
  CHECK(notes(named).find("train.start") == std::string::npos); // one seed
}

TEST_CASE("a plan says which weights an arm does not take, and refuses what does not fit", "[sweep][starts]") {
  const Scratch out;
  const RunFolder start = start_in(out, small);
  const std::string id = start.id();
  CHECK_THAT(notes(prepared(out, small, {"train.start=" + id, "train.start_weights=matching", "position.kind=none"})),
             Contains("train.start: starts from run " + id + " (step 4): ") &&
                 Contains("1 parameter is only in the start: "));
  CHECK_THAT(refused(out, small + "start = \"" + id + "\"\n", {"position.kind=none"}),
             Contains("1 parameter is only in the start: ") && Contains("train.start_weights = \"matching\"") &&
                 Contains("(train.start: test.toml:"));
  CHECK_THAT(refused(out, small +
                              "[sweep]\nseeds = 2\n[[sweep.block]]\nkind = \"list\"\narms.deep = { \"train.start\" = "
                              "\"" +
                              id + "\", \"model.layers\" = 2 }\n"),
             Contains("are not in the start: blocks.1.") && Contains("(in the arm \"deep\")"));
  CHECK_THAT(refused(out, small + "start = \"0000\"\n"),
             Catch::StartsWith("test.toml:18:1: train.start = \"0000\": run '0000': not the beginning of an ID in '") &&
                 Contains(id));
  const Scratch empty;
  CHECK_THAT(refused(empty, small, {"train.start=" + id}), Contains("there are no runs in"));
  Tasks tasks;
  Settings settings = Settings::parse(small, "test.toml");
  settings.override_with({"train.start=" + id});
  CHECK_THROWS_WITH(prepare(settings, "test", tasks), Contains("no output folder"));
  Manifest manifest = *read_manifest(start);
  manifest.outcome = "failed";
  start.manifest().write(to_json(manifest));
  CHECK_THAT(refused(out, small, {"train.start=" + id}),
             Contains("command line: train.start = ") && Contains("the run is not finished (failed)"));
}

TEST_CASE("each point of a tuned grid is checked against its start", "[sweep][starts]") {
  const Scratch out;
  const RunFolder start = start_in(out, small);
  const std::string tuned = small +
                            "[sweep]\nseeds = [0, 1]\n[sweep.tune]\nseeds = [9]\ngrid = { \"model.width\" = [8, 16]"
                            " }\n";
  CHECK(refused(out, tuned).empty());
  CHECK_THAT(refused(out, tuned, {"train.start=" + start.id()}),
             Contains("have other shapes") && Contains("in [sweep.tune]") && Contains("width = 16"));
}

TEST_CASE("a start with other tokens is refused, and one of another task with the same tokens is not",
          "[sweep][starts]") {
  const Scratch out;
  const RunFolder start = start_in(out, small);
  const std::string reverse = "task.kind = \"reverse\"\ntask.reverse.length = 4\ntask.reverse.symbols = 5\n"
                              "task.validation = 8\n" +
                              small.substr(small.find("[model]"));
  CHECK(refused(out, reverse, {"train.start=" + start.id()}).empty());
}
