// Tests of what names say: columns, metrics, and runs of wide tables.

#include "experiments/results/result_runs.hpp"
#include "experiments/results/table_metrics.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/results/results_support.hpp"

#include <limits>
#include <string>
#include <vector>

using namespace heed;
using test::contains;

namespace {

ResultTable with_columns(const std::vector<std::string>& columns) {
  TableMaker maker("r.csv");
  maker.add_columns(columns, 1);
  maker.add_row(2, std::vector<std::string>(columns.size(), "1"));
  return maker.made();
}

} // namespace

TEST_CASE("plain names of columns", "[results]") {
  CHECK(plain_column("seed") == "seed");
  CHECK(plain_column("config.seed") == "seed");
  CHECK(plain_column("params.Seed") == "seed");
  CHECK(plain_column("_step") == "step");
  CHECK(plain_column("Random Seed") == "random_seed");
  CHECK(plain_column("metrics/config.val-acc") == "val_acc");
  CHECK(plain_column("config.") == "config.");
  CHECK(plain_column("") == "");
}

TEST_CASE("columns are recognised by names of people and trackers", "[results]") {
  const auto role = [](const std::vector<std::string>& columns, ColumnRole role) -> std::string {
    const ResultTable table = with_columns(columns);
    const auto found = recognised_column(table, role, "--x");
    return found ? table.columns[*found] : "none";
  };
  CHECK(role({"id", "model", "acc"}, ColumnRole::arm) == "model");
  CHECK(role({"arm", "model", "acc"}, ColumnRole::arm) == "arm");
  CHECK(role({"config.method", "acc"}, ColumnRole::arm) == "config.method");
  CHECK(role({"acc"}, ColumnRole::arm) == "none");
  CHECK(role({"params.random_state"}, ColumnRole::seed) == "params.random_state");
  CHECK(role({"trial", "seed"}, ColumnRole::seed) == "seed");
  CHECK(role({"epoch", "_step"}, ColumnRole::step) == "_step");
  CHECK(role({"epoch", "acc"}, ColumnRole::step) == "epoch");
  CHECK(role({"_step", "step"}, ColumnRole::step) == "step");
  CHECK(role({"Step", "x"}, ColumnRole::step) == "Step");
  CHECK(role({"State"}, ColumnRole::state) == "State");
  const ResultTable two = with_columns({"model", "method"});
  CHECK(refusal([&] { recognised_column(two, ColumnRole::arm, "--arm"); }) ==
        "r.csv: the arm can be \"model\" and \"method\"; choose one with --arm COLUMN");
}

TEST_CASE("a column's name may lack what a tracker writes before it; others are refused with the nearest",
          "[results]") {
  const ResultTable table = with_columns({"metrics.accuracy", "seed", "config.lr", "lr"});
  CHECK(needed_column(table, "accuracy", "--metric") == 0);
  CHECK(needed_column(table, "lr", "--arm") == 3);
  CHECK(contains(refusal([&] { needed_column(table, "LR", "--arm"); }), "can be \"config.lr\" and \"lr\""));
  CHECK(refusal([&] { needed_column(table, "sede", "--seed"); }) ==
        "r.csv: --seed: no column is called \"sede\"; did you mean 'seed'?; its columns are \"metrics.accuracy\", "
        "\"seed\", \"config.lr\", \"lr\"");
}

TEST_CASE("names of metrics say which values are better", "[results]") {
  for (const char* name : {"accuracy", "val/acc", "evalAccuracy", "macroF1", "f1-score", "BLEU", "rouge-L", "hits@10",
                           "test_auroc", "top1_acc", "acc@5", "R2", "mAP", "episode_return", "recall_at_5"})
    CHECK((direction_by_name(name) == Direction::higher));
  for (const char* name : {"loss", "val_loss", "trainLoss", "error_rate", "perplexity", "PPL", "WER", "test/rmse",
                           "bits_per_byte", "cross-entropy", "crossEntropy", "nll", "L1 error",
                           "negative_log_likelihood", "neg-log-likelihood", "steps_to(val_accuracy, 0.9)"})
    CHECK((direction_by_name(name) == Direction::lower));
  for (const char* name : {"x",
                           "score",
                           "f",
                           "r",
                           "accuracy_loss",
                           "entropy",
                           "lr",
                           "",
                           "time",
                           "é",
                           "map_error",
                           "neg_mean_squared_error",
                           "time_to_accuracy",
                           "steps to success",
                           "accuracy_drop",
                           "accuracyStd",
                           "error_reduction",
                           "1 - accuracy",
                           "-loss",
                           "inv_loss",
                           "error_free_rate",
                           "1/error",
                           "100*acc",
                           "loss_ratio",
                           "accuracy - 1",
                           "non_error",
                           "accuracy²",
                           "anti_accuracy",
                           "success_cost",
                           "time_per_success",
                           "steps_to_success",
                           "unsuccess_rate"})
    CHECK_FALSE(direction_by_name(name).has_value());
}

TEST_CASE("names and values say the range of a metric", "[results]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto range = [](const char* name, double low, double high) {
    const ValueRange found = range_by_name(name, low, high);
    return std::pair(found.low, found.high);
  };
  CHECK(range("accuracy", 0.1, 1) == std::pair(0.0, 1.0));
  CHECK(range("accuracy", 0.1, 85) == std::pair(0.0, 100.0));
  CHECK(range("accuracy", -0.1, 0.5) == std::pair(-inf, inf));
  CHECK(range("accuracy", 0.1, 101) == std::pair(-inf, inf));
  CHECK(range("psnr", 1, 30) == std::pair(-inf, inf));
  CHECK(range("loss", 0.1, 30) == std::pair(0.0, inf));
  CHECK(range("loss", -0.1, 30) == std::pair(-inf, inf));
  CHECK(range("ppl", 1.5, 30) == std::pair(1.0, inf));
  CHECK(range("ppl", 0.5, 30) == std::pair(0.0, inf));
  CHECK(range("x", 0, 1) == std::pair(-inf, inf));
}

TEST_CASE("names of runs say arm and seed", "[results]") {
  const auto read = [](const char* run, const char* pattern = "") -> std::string {
    const auto found = arm_and_seed(run, pattern);
    return found ? found->arm + "|" + found->seed : "none";
  };
  CHECK(read("baseline-seed3") == "baseline|3");
  CHECK(read("seed=12, lr=0.1") == "lr=0.1|12");
  CHECK(read("big model_Seed_4_run") == "big model, run|4");
  CHECK(read("seedling-seed1") == "seedling|1");
  CHECK(read("baseline_s3") == "baseline|3");
  CHECK(read("baseline-03") == "baseline|03");
  CHECK(read("lr=0.1") == "none");
  CHECK(read("baseline") == "none");
  CHECK(read("gpt2") == "none");
  CHECK(read("42") == "none");
  CHECK(read("a-b-7x", "{arm}-{seed}") == "a-b|7x");
  CHECK(read("run 7 of a-b", "run {seed} of {arm}") == "a-b|7");
  CHECK(read("x(a)3", "x({arm}){seed}") == "a|3");
  CHECK(read("y(a)3", "x({arm}){seed}") == "none");
  CHECK(read("-3", "{arm}-{seed}") == "none");
}
