// Tests of the cost of a step computed from shapes, against the engine's counts when it executes the step.
#include "autograd/operation_count.hpp"
#include "autograd/ops.hpp"
#include "experiments/config/config.hpp"
#include "experiments/system/files.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/run_model.hpp"
#include "experiments/training/step.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/experiments/training/training_support.hpp"
#include "tests/fixtures/fixture.hpp"

#include <algorithm>

using namespace heed;
using namespace heed::test;

namespace {

struct Counted {
  double flops = 0, bytes = 0;
};

// The executed cost of the first shard's step, times the number of shards.
Counted worked_out(const Config& c) {
  using namespace heed::f32;
  const auto task = make_task(c);
  RunModel run(c, *task);
  run.parameters.initialise(1);
  const std::int64_t shards = shards_of_step(c.train), sequences_of_step = training_sequences(c, *task, run, 0);
  const std::int64_t sequences = (sequences_of_step + shards - 1) / shards;
  std::vector<float> gradients(static_cast<std::size_t>(run.parameters.extent()));
  Batch batch;
  fill_training_batch(c, *task, run, 0, 0, sequences, batch);
  Tape tape;
  Pass pass(tape, run.parameters, gradients.data(), {.training = true, .seed = 0, .step = 0, .first_sequence = 0});
  const double before = counted_operations();
  const Tensor loss = cross_entropy(run.model->logits(pass, batch), batch.targets.data());
  tape.backward(loss);
  CHECK(std::isfinite(*loss.data));
  return {(counted_operations() - before) * static_cast<double>(sequences_of_step) / static_cast<double>(sequences),
          static_cast<double>(tape.peak())};
}

void check_cost(const Config& c) {
  CAPTURE(to_toml(c));
  const Cost cost = engine(c).cost(c, *make_task(c));
  const Counted counted = worked_out(c);
  CHECK(cost.flops_per_step == Approx(counted.flops).epsilon(1e-12));
  // Evaluation, which is not executed here, may need more.
  CHECK(cost.thread_bytes >= 0.97 * counted.bytes);
}

} // namespace

TEST_CASE("costs are those of the steps that the shipped configurations take", "[cost][many]") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += static_cast<char>('a' + i * i % 23);
  put(scratch / "text", text);
  int tried = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fixtures_folder() / "../../configs")) {
    if (entry.path().extension() != ".toml") continue;
    INFO(entry.path());
    Settings settings = Settings::load(entry.path());
    if (settings.resolve().data.path.empty()) {
      try {
        make_task(settings.resolve());
      } catch (const Refused&) { // the task needs a file
        settings.override_with({"data.path=" + (scratch / "text").string()});
      }
    }
    const Config c = settings.resolve();
    try {
      make_task(c);
    } catch (const Refused&) {
      continue; // the model needs images, and a text has none
    }
    check_cost(c);
    ++tried;
  }
  CHECK(tried >= 25);
}

TEST_CASE("costs are those of the steps of every variant", "[cost]") {
  for (const char* key : {"attention.score", "attention.normalizer", "position.kind", "block.norm", "block.residual",
                          "block.activation", "train.optimizer"})
    for (const std::string& word : find_option(key)->words) {
      const std::string change = key + ("=" + word);
      INFO(change);
      Config c;
      if (!refusal([&] { c = config(tiny_decoder, {change}); }).empty()) continue;
      if (!refusal([&] { make_task(c); }).empty()) continue;
      check_cost(c);
    }
  for (const std::vector<std::string>& changes :
       std::vector<std::vector<std::string>>{{"attention.score_mod=10 * tanh(s / 10)"},
                                             {"attention.mask_mod=i - j < 3 + b"}, // the sequences differ
                                             {"attention.key_value_heads=1"},
                                             {"attention.normalizer=sparsemax", "position.kind=shaw"},
                                             {"train.batch=7"}})
    check_cost(config(tiny_decoder, changes));
  check_cost(config(tiny_encoder));
  for (const char* cell : {"srn", "gru", "lstm"})
    for (const char* attention : {"none", "bahdanau", "luong"})
      check_cost(config("[task]\nkind = \"scan\"\n[model]\nkind = \"recurrent\"\nwidth = 8\n[train]\nbatch = 6\n",
                        {std::string("recurrent.cell=") + cell, std::string("recurrent.attention=") + attention}));
}

TEST_CASE("costs of a large text are found without its tokens", "[cost][kept]") {
  const Scratch scratch;
  const Environment cache("XDG_CACHE_HOME", scratch.path.string());
  std::string text;
  for (std::size_t i = 0; i < least_cached_bytes; ++i) text += static_cast<char>('a' + i * i % 23);
  put(scratch / "text", text);
  const Config c = config("[task]\nkind = \"text\"\n[model]\nwidth = 8\nheads = 2\nlayers = 1\n[train]\nsteps = 1\n",
                          {"data.path=" + (scratch / "text").string(), "task.text.block=20", "train.batch=3",
                           "train.evaluate_lengths=[40]", "train.inspect=everything"});
  check_cost(c);
  const auto kept = files_in(scratch / "heed/data", ".kept").at(0);
  std::string damaged = *read_file(kept);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  write_file(kept, damaged, Durability::process);
  const auto task = make_task(c);
  engine(c).cost(c, *task);
  const std::vector<std::string> names = engine(c).inspected(c, *task);
  CHECK(std::filesystem::exists(kept)); // a process that reads the tokens finds the damage and removes the file
  Batch batch;
  batch.reset(1, task->sizes(TaskFormat::language_model), TaskFormat::language_model);
  task->training_sequence(TaskFormat::language_model, 0, 0, 0, batch, 0);
  CHECK(!std::filesystem::exists(kept));

  f32::RunModel run(c, *task); // the names of real sequences
  run.parameters.initialise(0);
  ThreadPool workers(1);
  const auto found = f32::as_metrics(f32::inspect_model(c, *task, run, Split::validation, 1,
                                                        f32::inspected_parts(c.train), workers));
  CHECK(found.size() > 20);
  for (const auto& [name, value] : found) CHECK(std::ranges::count(names, name) == 1);
}
