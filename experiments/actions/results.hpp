// What commands answer, as data: the result of each, for JSON, Python and other programs. The texts are in the JSON
// Schemas (docs/reference/json).
#pragma once

#include "experiments/actions/result_schema.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct NewResult {
  std::optional<std::string> file = {};
  std::string config = {};
  bool needs_data = false;
};
HEED_RESULT(NewResult, ((file, "the written file; null if --output is -"))((config, "the config, in TOML"))(
                           (needs_data, "whether data.path must be put in first")))

struct CheckResult {
  std::string config = {}, name = {}, metric = {};
  std::uint64_t runs = 0;
  std::vector<std::string> arms = {};
  std::vector<std::int64_t> seeds = {};
  std::optional<std::string> picture = {};
};
HEED_RESULT(CheckResult,
            ((config, "the file"))((name, "the name of the sweep"))((metric, "the metric that its report compares"))(
                (runs, "the number of its runs, without those of tuning and of [sweep] vary"))(
                (arms, "the labels of its arms, the reference first"))((seeds, "the seed of each replicate"))(
                (picture, "the file of --picture")))

struct RunningRun {
  std::string run = {}, label = {};
  std::int64_t step = 0, steps = 0;
  double loss = 0, steps_per_second = 0;
};
HEED_RESULT(RunningRun,
            ((run, "its ID"))((label, "its arm and seed"))((step, "the steps that are done"))((steps, "all its steps"))(
                (loss, "the newest training loss"))((steps_per_second, "its speed now")))

struct SweepStatus {
  std::string sweep = {}, name = {};
  std::uint64_t runs = 0, finished = 0, running = 0, queued = 0, failed = 0, interrupted = 0, missing = 0, left_out = 0;
  std::optional<double> seconds_left = {};
  std::vector<RunningRun> running_now = {};
  std::vector<std::string> failures = {}, unreadable = {}, excluded = {};
};
HEED_RESULT(SweepStatus,
            ((sweep, "the name of its folder, for --sweep"))((name, "its name"))((runs, "the number of its runs"))(
                (finished, "finished runs"))((running, "runs that train now"))((queued, "runs in Slurm's queue"))(
                (failed, "failed runs"))((interrupted,
                                          "runs that were stopped, and resume"))((missing, "runs that have not begun"))(
                (left_out, "runs whose files reports can't use"))((seconds_left, "an estimate, while runs train"))(
                (running_now, "the runs that train now"))((failures, "a sentence for each failed run"))(
                (unreadable, "a sentence for each run with a file that can't be read now"))(
                (excluded, "a sentence for each run that reports exclude")))

struct StatusResult {
  std::string folder = {};
  std::uint64_t runs = 0;
  std::vector<SweepStatus> sweeps = {};
  std::vector<std::string> queue = {}, damaged = {};
};
HEED_RESULT(StatusResult,
            ((folder, "the output folder"))((runs, "the number of runs in it"))((sweeps,
                                                                                 "its sweeps, the newest first"))(
                (queue, "lines about Slurm's queue"))((damaged, "a sentence for each sweep whose plan can't be read")))

struct ShownMetric {
  std::string name = {};
  double last = 0;
  std::int64_t step = 0;
  std::optional<double> best = {};
  std::optional<std::int64_t> best_step = {};
};
HEED_RESULT(ShownMetric, ((name, "the metric"))((last, "its last value"))((step, "the step of the last value"))(
                             (best, "its best value"))((best_step, "the step of the best value")))

struct RunOutcome {
  std::string run = {}, state = {}, started = {}, ended = {}, heed = {}, compiler = {}, kernels = {}, blas = {},
              cpu = {}, failure = {};
  double seconds = 0;
  std::int64_t threads = 0;
  std::optional<std::int64_t> parameters = {};
  std::vector<ShownMetric> metrics = {};
};
HEED_RESULT(RunOutcome,
            ((run, "the run's ID"))((state, "finished, running, queued, failed, interrupted or missing"))(
                (started, "when it started, in UTC"))((ended, "when it ended, in UTC; empty if it has not"))(
                (heed, "the version of Heed"))((compiler, "the compiler and its options"))(
                (kernels, "the instruction set"))((blas, "the matrix library"))((cpu, "the processor"))(
                (failure, "why it failed; empty if it did not"))((seconds, "the time of its training"))(
                (threads, "its threads"))((parameters, "the number of its parameters"))((metrics, "all its metrics")))

struct OptionDifference {
  std::string arm = {}, option = {};
  std::optional<std::string> from = {}, to = {};
};
HEED_RESULT(OptionDifference,
            ((arm, "the arm that changes it; empty for a config"))((option, "the full name"))(
                (from, "its value in the defaults or the reference; null if it has none"))((to, "its value here")))

struct ShowResult {
  std::string subject = {};
  std::optional<RunOutcome> run = {};
  std::map<std::string, std::string> options = {};
  std::string toml = {};
  std::vector<OptionDifference> differences = {};
};
HEED_RESULT(ShowResult, ((subject, "the config's file, or the run's ID"))((run, "the outcome, if it is a run"))(
                            (options, "each option's value, by its full name"))((toml, "the config, in TOML"))(
                            (differences, "with --diff-from: what differs")))

struct DataLengths {
  std::int64_t shortest = 0, median = 0, longest = 0;
};
HEED_RESULT(DataLengths, ((shortest, "tokens"))((median, "tokens"))((longest, "tokens")))

struct DataToken {
  std::string token = {};
  std::int64_t count = 0;
};
HEED_RESULT(DataToken, ((token, "a token or class"))((count, "how often it occurs in the surveyed sequences")))

struct DataChance {
  double accuracy = 0;
  std::string how = {};
  std::optional<double> sequence_accuracy = {}, loss = {};
};
HEED_RESULT(DataChance,
            ((accuracy, "the share that guessing gets right"))((how, "how guessing gets it"))(
                (sequence_accuracy,
                 "the share of whole sequences that guessing gets right"))((loss, "the loss of guessing, in nats")))

struct DataSet {
  std::string name = {}, file = {};
  std::int64_t examples = 0;
};
HEED_RESULT(DataSet, ((name, "its name in data.sets"))((file, "its file"))((examples, "the number of examples")))

struct DataExample {
  std::string input = {}, output = {};
};
HEED_RESULT(DataExample, ((input, "what the model reads"))((output, "what it must say")))

struct DataResult {
  std::string task = {}, summary = {}, seen_as = {}, unit = {};
  std::optional<std::int64_t> training = {}, validation = {}, test = {};
  std::vector<std::string> files = {};
  std::int64_t vocabulary = 0, classes = 0, surveyed = 0, different = 0;
  DataLengths inputs = {};
  std::optional<DataLengths> outputs = {};
  double filled = 0;
  std::vector<DataToken> commonest = {};
  DataChance chance = {};
  std::vector<DataSet> sets = {};
  std::vector<std::string> notes = {};
  std::vector<DataExample> examples = {};
};
HEED_RESULT(
    DataResult,
    ((task, "the task"))((summary, "what the task is"))((seen_as, "how the model sees an example"))(
        (unit, "what training, validation and test count: examples, tokens"))(
        (training, "the size of the training split; null: new for every step"))(
        (validation, "the size of the validation split; null: endless"))((test,
                                                                          "the size of the test split; null: endless"))(
        (files, "the files of training, validation and test; empty for generated data"))(
        (vocabulary, "the number of tokens; 0 for images"))((classes, "the number of classes or output tokens"))(
        (surveyed, "the training sequences of which the values below are"))(
        (different, "the number of different tokens or classes in them"))((inputs, "lengths of inputs or sequences"))(
        (outputs, "lengths of outputs, if the task has pairs"))((filled, "the share of a batch that is not padding"))(
        (commonest, "the most frequent tokens or classes"))((chance, "what guessing gets"))(
        (sets, "further sets of examples"))((notes, "what may surprise"))((examples, "the first examples")))

struct EvaluateResult {
  std::string run = {}, split = {};
  std::int64_t step = 0, average = 1;
  std::map<std::string, std::optional<double>> metrics = {};
  std::optional<std::string> outputs = {};
};
HEED_RESULT(EvaluateResult,
            ((run, "the run's ID"))((split, "train, validation or test"))((step, "the checkpoint's step"))(
                (average, "the number of averaged checkpoints"))(
                (metrics, "each metric's value; null if it is not finite"))((outputs, "the file of --write")))

struct GenerateResult {
  std::string run = {}, text = {};
  std::int64_t average = 1;
};
HEED_RESULT(GenerateResult,
            ((run, "the run's ID"))((text, "all that is printed: the continued text, or a line for each "
                                           "input"))((average, "the number of averaged checkpoints")))

struct RerunResult {
  std::string run = {};
  bool same = false;
  std::int64_t lines = 0, numbers = 0, tensors = 0;
  std::vector<std::string> differences = {}, not_compared = {};
  std::optional<std::string> kept = {};
};
HEED_RESULT(RerunResult,
            ((run, "the run's ID"))((same, "whether all compared bits are the same"))(
                (lines, "compared lines of metrics"))((numbers, "compared numbers of the last checkpoint"))(
                (tensors, "its compared tensors"))((differences, "a sentence for each difference"))(
                (not_compared,
                 "a sentence for each thing that was not compared"))((kept, "the folder of the new run, if it stays")))

struct ExportResult {
  std::string format = {}, folder = {};
  std::vector<std::string> files = {};
};
HEED_RESULT(ExportResult, ((format, "the format"))((folder, "the folder of the files"))((files, "the written files")))

struct RunResult {
  std::string sweep = {}, folder = {};
  std::uint64_t runs = 0, to_do = 0, finished = 0, failed = 0, interrupted = 0, remaining = 0;
  boost::json::value report = {};
};
HEED_RESULT(RunResult,
            ((sweep, "the name of the sweep's folder, for --sweep"))((folder, "the sweep's folder"))(
                (runs, "the number of its runs"))((to_do, "runs that are still to do"))(
                (finished, "runs that finished now"))((failed, "runs that failed now"))((interrupted,
                                                                                         "runs that were stopped now"))(
                (remaining, "runs that did not begin"))((report, "the report; null if the sweep was stopped")))

/// A line of `heed run --format json`, before the last one.
struct RunLine {
  std::string event = {}, run = {}, label = {};
  std::optional<std::int64_t> step = {}, steps = {};
  std::optional<double> loss = {}, steps_per_second = {}, seconds_left = {};
  std::uint64_t done = 0, runs = 0;
  std::string text = {};
};
HEED_RESULT(RunLine,
            ((event, "ready, skipped, elsewhere, queued, started, progress, finished, failed, interrupted, tuned or "
                     "message"))((run, "the run's ID; empty if the event is of the sweep"))(
                (label, "the run's arm and seed"))((step, "the steps that are done"))((steps, "all steps of the run"))(
                (loss, "the newest training loss"))((steps_per_second, "the run's speed"))(
                (seconds_left, "an estimate for the whole sweep"))((done, "finished runs of the sweep"))(
                (runs, "all its runs"))((text, "the reason or the message; empty if there is none")))

struct RunsLeftOut {
  std::string id = {}, reason = {};
};
HEED_RESULT(RunsLeftOut, ((id, "the run's ID"))((reason, "why it is excluded")))

struct RunsResult {
  std::vector<boost::json::object> runs = {};
  std::vector<RunsLeftOut> left_out = {};
};
HEED_RESULT(RunsResult,
            ((runs, "the runs; of each, its fields that have a value, or those of --columns"))((left_out,
                                                                                                "excluded folders")))

struct DiffSide {
  std::optional<std::string> file = {}, run = {}, name = {};
  std::optional<std::int64_t> seed = {};
  std::optional<std::string> state = {};
};
HEED_RESULT(DiffSide, ((file, "the config's file"))((run, "the run's ID"))((name, "the run's name"))(
                          (seed, "the run's seed"))((state, "the run's state")))

struct DiffOption {
  std::string key = {};
  std::optional<std::string> a = {}, b = {};
};
HEED_RESULT(DiffOption, ((key, "the full name"))((a, "its value in A; null if it has none"))((b, "its value in B")))

struct DiffMetric {
  std::string name = {};
  std::optional<double> a = {};
  std::optional<std::int64_t> a_step = {};
  std::optional<double> b = {};
  std::optional<std::int64_t> b_step = {};
  std::optional<double> difference = {};
};
HEED_RESULT(DiffMetric, ((name, "the metric"))((a, "its last value in A"))((a_step, "the step of that value"))(
                            (b, "its last value in B"))((b_step, "the step of that value"))((difference, "B minus A")))

struct DiffMachine {
  std::string what = {}, a = {}, b = {};
};
HEED_RESULT(DiffMachine, ((what, "what differs: the CPU, the compiler, ..."))((a, "of A"))((b, "of B")))

struct DiffResult {
  DiffSide a = {}, b = {};
  std::vector<DiffOption> options = {};
  std::vector<DiffMetric> metrics = {};
  std::vector<DiffMachine> machine = {};
};
HEED_RESULT(DiffResult, ((a, "the first run or config"))((b, "the second"))((options, "options that differ"))(
                            (metrics, "the metrics of two runs"))((machine, "what differs in program and machine")))

struct InspectResult {
  std::optional<std::string> config = {}, run = {};
  std::int64_t step = 0, average = 1;
  std::string split = {};
  std::int64_t rows = 0;
  boost::json::array heads = {}, layers = {}, modules = {};
};
HEED_RESULT(InspectResult,
            ((config, "the file, if it is a config"))((run, "the run's ID, if it is a run"))(
                (step, "the checkpoint's step"))((average, "the number of averaged checkpoints"))(
                (split, "the split of the examples"))((rows, "the number of examples"))((heads,
                                                                                         "measurements of each head"))(
                (layers, "measurements of each layer"))((modules, "measurements of each module")))

struct AttendResult {
  std::string run = {};
  std::int64_t step = 0, average = 1;
  boost::json::array examples = {};
};
HEED_RESULT(AttendResult,
            ((run, "the run's ID"))((step, "the checkpoint's step"))((average, "the number of averaged checkpoints"))(
                (examples, "of each input: tokens, outputs, and the weights of each head")))

struct VariantExclusion {
  std::vector<std::string> where = {};
  std::string why = {};
};
HEED_RESULT(VariantExclusion, ((where, "the conditions, all of which hold"))((why, "the reason")))

struct VariantResult {
  std::string name = {}, summary = {}, paper = {}, equals = {}, cost = {};
  std::vector<std::string> disables = {};
  std::vector<VariantExclusion> excludes = {};
  boost::json::value options = {};
  std::map<std::string, std::string> presets = {};
};
HEED_RESULT(VariantResult,
            ((name, "its word in a config"))((summary, "what it is, with its formula"))(
                (paper, "where it was published"))((equals, "what it equals in special cases"))((cost, "its cost"))(
                (disables, "options that have no effect with it"))((excludes, "what it can't be combined with"))(
                (options, "its own options"))((presets, "options that it sets, unless the config does")))

struct VariantFamilyResult {
  std::string key = {}, title = {};
  std::vector<VariantResult> variants = {};
};
HEED_RESULT(VariantFamilyResult,
            ((key, "the option that chooses one"))((title, "what they are"))((variants, "all of the family")))

struct VariantCost {
  std::string family = {}, variant = {};
  std::int64_t length = 0, parameters = 0;
  double flops = 0, seconds = 0, bytes = 0;
};
HEED_RESULT(VariantCost, ((family, "the option that chooses it"))((variant, "its word"))((length, "tokens"))(
                             (parameters, "of one block's attention"))((flops, "forward and backward"))(
                             (seconds, "forward and backward, measured"))((bytes, "memory")))

struct VariantsResult {
  std::vector<VariantFamilyResult> families = {};
  std::vector<VariantCost> costs = {};
  std::optional<std::string> how = {};
};
HEED_RESULT(VariantsResult,
            ((families, "families and their variants; empty with --measure"))(
                (costs, "with --measure: what was measured"))((how, "with --measure: how it was measured")))

struct OptionsResult {
  boost::json::value tables = {};
};
HEED_RESULT(OptionsResult, ((tables, "the tables of a config, with their options: name, default, bounds, unit, text")))

} // namespace heed
