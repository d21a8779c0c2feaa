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

TEST_CASE("the size of the state is what decoding the longest sequence stores", "[cost][state]") {
  const auto state_of = [](const Config& c) { return engine(c).cost(c, *make_task(c)).state_size; };
  // What is stored after decoding as many tokens as the longest sequence has, step by step.
  const auto decoded = [](const Config& c) {
    using namespace heed::f32;
    const auto task = make_task(c);
    RunModel run(c, *task);
    run.parameters.initialise(1);
    const bool has_outputs = run.format == TaskFormat::sequence_to_sequence;
    Batch batch;
    batch.reset(2, run.sizes, run.format);
    std::ranges::fill(batch.lengths, static_cast<std::int32_t>(batch.length));
    Tape tape;
    tape.record(false);
    std::unique_ptr<Decoding> decoding;
    for (std::int64_t t = 0; t < (has_outputs ? batch.output_length : batch.length); ++t) {
      Pass pass(tape, run.parameters, nullptr, {});
      if (!decoding) decoding = run.model->decoding(pass, batch);
      decoding->step(pass, std::vector<std::int32_t>{1, 2});
      tape.rewind();
    }
    return decoding->state_size(0);
  };
  // 4 symbols, a separator, and 3 of the copied ones: 8 tokens. 2 blocks, 2 heads in a width of 8.
  const std::int64_t tokens = 8, layers = 2, width = 8, keys_and_values = 2 * width;
  struct Case {
    std::vector<std::string> changes;
    std::int64_t expected;
  };
  for (const auto& [changes, expected] : std::vector<Case>{
           {{}, layers * tokens * keys_and_values},
           {{"attention.key_value_heads=1"}, layers * tokens * keys_and_values / 2},
           {{"attention.head_width=6"}, layers * tokens * 2 * (6 + 4)},
           {{"attention.window=2"}, layers * tokens * keys_and_values}, // all keys are stored
           {{"model.registers=3"}, layers * (tokens + 3) * keys_and_values},
           {{"attention.persistent_keys=5"}, layers * (tokens + 5) * keys_and_values},
           {{"attention.projection=latent", "attention.latent.width=3", "attention.latent.rotary_width=2"},
            layers * tokens * (3 + 2)},
           {{"attention.projection=shared_key_value"}, layers * tokens * width},
           {{"attention.forget_gate=true"}, layers * tokens * (keys_and_values + 2)},
           {{"mixer.kind=retention"}, layers * 2 * 4 * 8},
           {{"mixer.kind=linear_attention"}, layers * 2 * 4 * (4 + 1)},
           {{"mixer.kind=delta_net"}, layers * (2 * 4 * 4 + 3 * 3 * width)},
           {{"train.evaluate_lengths=[10]", "position.kind=none"}, layers * tokens * keys_and_values},
           {{"model.kind=recurrent_decoder", "recurrent.layers=2", "recurrent.cell=gru"}, layers * width},
           {{"model.kind=recurrent_decoder", "recurrent.layers=2", "recurrent.cell=lstm"}, layers * 2 * width}}) {
    CAPTURE(changes);
    const Config c = config(tiny_decoder, changes);
    CHECK(state_of(c) == expected);
    CHECK(decoded(c) == expected);
  }
  const Config hybrid = config(tiny_decoder + "[[block.override]]\nlayers = [1]\nmixer.kind = \"retention\"\n");
  CHECK(state_of(hybrid) == tokens * keys_and_values + 2 * 4 * 8);
  CHECK(decoded(hybrid) == tokens * keys_and_values + 2 * 4 * 8);
  // Inputs of 4 symbols; outputs of the begin token and 4 symbols. The decoder stores its own and the encoder's.
  const Config translator = config(tiny_encoder_decoder);
  CHECK(state_of(translator) == layers * keys_and_values * (5 + 4));
  CHECK(decoded(translator) == layers * keys_and_values * (5 + 4));
  for (const char* attention : {"none", "bahdanau", "luong"}) {
    const Config c = config("[task]\nkind = \"scan\"\n[model]\nkind = \"recurrent\"\nwidth = 8\n",
                            {std::string("recurrent.attention=") + attention});
    CAPTURE(attention);
    CHECK(state_of(c) == decoded(c));
  }
  CHECK_FALSE(state_of(config(tiny_decoder, {"attention.causal=false"}))); // every token needs all others again
  CHECK_FALSE(state_of(config(tiny_encoder)));
  CHECK_FALSE(state_of(config(tiny_patches)));
}
