#include "experiments/results/table_metrics.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>

namespace heed {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string metric_list(const ResultRuns& runs) {
  return joined(runs.metrics, ", ", [](const std::string& metric) { return shown_text(metric); });
}

/// The value of a repeatable option for a metric: of "METRIC=VALUE", or of "VALUE", which holds for all metrics.
class ByMetric {
public:
  /// Throws heed::Refused for a name that is none of the metrics, and for two values of one metric.
  ByMetric(const std::vector<std::string>& given, const ResultRequest& question, const ResultRuns& runs,
           const char* word)
      : option_(question.option(word)) {
    for (const std::string& text : given) {
      const std::size_t equals = text.rfind('=');
      const std::string metric = equals == std::string::npos ? "" : text.substr(0, equals);
      if (equals != std::string::npos && !known(metric, question, runs))
        throw Refused(fmt::format("{} {}: {} is none of the metrics; they are {}", option_, text, shown_text(metric),
                                  metric_list(runs)));
      std::string name;
      for (std::size_t m = 0; m < runs.metrics.size(); ++m)
        if (equals != std::string::npos && (metric == runs.metrics[m] || metric == question.metrics[m]))
          name = runs.metrics[m];
      if (!values_.emplace(name, equals == std::string::npos ? text : text.substr(equals + 1)).second)
        throw Refused(fmt::format("{} is given twice{}; leave one out", option_,
                                  name.empty() ? "" : fmt::format(" for {}", name)));
    }
  }

  std::optional<std::string> of(const std::string& metric) const {
    for (const std::string& name : {metric, std::string()})
      if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return std::nullopt;
  }
  const std::string& option() const { return option_; }

private:
  static bool known(const std::string& metric, const ResultRequest& question, const ResultRuns& runs) {
    return std::ranges::find(runs.metrics, metric) != runs.metrics.end() ||
           std::ranges::find(question.metrics, metric) != question.metrics.end();
  }

  std::string option_;
  std::map<std::string, std::string> values_;
};

Direction direction_of(const ByMetric& given, const std::string& metric) {
  if (const auto word = given.of(metric)) {
    if (*word == "higher") return Direction::higher;
    if (*word == "lower") return Direction::lower;
    if (*word == "none") return Direction::none;
    throw Refused(fmt::format("{} {}: it must be 'higher', 'lower' or 'none'{}", given.option(), shown_text(*word),
                              did_you_mean(*word, {"higher", "lower", "none"})));
  }
  if (const auto known = direction_by_name(metric)) return *known;
  throw Refused(fmt::format("the name {} does not say whether higher or lower values are better; say it with {} "
                            "{}=higher, =lower, or =none if neither is",
                            shown_text(metric), given.option(), metric));
}

std::optional<double> bound_of(std::string_view text) {
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  const std::optional<double> value = number_of<double>(text);
  return value && !std::isnan(*value) ? value : std::nullopt;
}

ValueRange bounds_of(const ByMetric& given, const std::string& metric, double lowest, double highest) {
  const auto text = given.of(metric);
  if (!text) return range_by_name(metric, lowest, highest);
  const std::vector<std::string> parts = parts_of(*text, ',');
  const auto low = bound_of(trimmed(parts.front())), high = bound_of(trimmed(parts.back()));
  if (parts.size() != 2 || !low || !high || !(*low < *high))
    throw Refused(fmt::format("{} {}: it must be the lowest and the highest possible value, as in 0,1 or 0,inf",
                              given.option(), shown_text(*text)));
  return {*low, *high};
}

void require_within(const ResultTable& table, const ResultRuns& runs, std::size_t m, const Metric& metric,
                    const std::string& option) {
  for (const ResultRun& run : runs.runs)
    for (const ResultValue& value : run.values[m])
      if (std::isfinite(value.value) && !metric.has(value.value))
        throw Refused(fmt::format("{}: {} is {:g}, beyond its bounds {:g} and {:g} ({})", table.place(value.line),
                                  shown_text(metric.name), value.value, metric.low, metric.high, option));
}

/// A warning if some runs end at 1 or less, and others above it, by a metric that may be in per cent.
std::string mixed_scales_in_words(const ResultTable& table, const ResultRuns& runs, std::size_t m,
                                  const std::string& option) {
  std::size_t all = 0, fractions = 0;
  const ResultValue* first = nullptr;
  for (const ResultRun& run : runs.runs) {
    if (run.values[m].empty() || !std::isfinite(run.values[m].back().value)) continue;
    const ResultValue& last = run.values[m].back();
    ++all;
    if (last.value > 1) continue;
    if (fractions++ == 0) first = &last;
  }
  if (fractions == 0 || fractions == all) return "";
  return fmt::format(
      "Two scales: {} is at most 1 in {} of {} runs (the first: {:g}, {} {}) and above 1 in the others. If "
      "the former are fractions and the latter are per cent, no number here is right; if not, say so "
      "with {} 0,100.",
      shown_name(runs.metrics[m]), fractions, all, first->value, table.counted, first->line, option);
}

/// "each run's value in results.csv, from 0 to 1 (direction and bounds by the metric's name)".
std::string meaning_of(const ResultTable& table, const ResultRuns& runs, const ValueRange& range,
                       bool direction_by_its_name, bool bounds_by_its_name) {
  std::string within;
  if (std::isfinite(range.low) && std::isfinite(range.high))
    within = fmt::format(", from {:g} to {:g}", range.low, range.high);
  else if (std::isfinite(range.low)) within = fmt::format(", at least {:g}", range.low);
  else if (std::isfinite(range.high)) within = fmt::format(", at most {:g}", range.high);
  std::vector<std::string_view> by_name;
  if (direction_by_its_name) by_name.emplace_back("direction");
  if (bounds_by_its_name && !within.empty()) by_name.emplace_back("bounds");
  return fmt::format("each run's {}value in {}{}{}", runs.has_steps ? "last " : "", table.file(), within,
                     by_name.empty() ? "" : fmt::format(" ({} by the metric's name)", fmt::join(by_name, " and ")));
}

using namespace std::string_view_literals;

constexpr std::array lower_words{"loss"sv, "losses"sv, "error"sv, "errors"sv, "err"sv,   "perplexity"sv,   "ppl"sv,
                                 "nll"sv,  "mse"sv,    "rmse"sv,  "mae"sv,    "mape"sv,  "wer"sv,          "cer"sv,
                                 "ter"sv,  "fid"sv,    "kid"sv,   "bpc"sv,    "bpb"sv,   "bpd"sv,          "regret"sv,
                                 "ece"sv,  "eer"sv,    "xent"sv,  "bce"sv,    "brier"sv, "misclassified"sv};
/// Shares and scores with an upper bound of 1, or of 100 if they are in per cent.
constexpr std::array share_words{"accuracy"sv, "acc"sv,   "precision"sv, "recall"sv, "f"sv,    "fscore"sv, "auc"sv,
                                 "auroc"sv,    "auprc"sv, "ap"sv,        "map"sv,    "iou"sv,  "miou"sv,   "dice"sv,
                                 "mrr"sv,      "ndcg"sv,  "em"sv,        "bleu"sv,   "chrf"sv, "rouge"sv,  "meteor"sv,
                                 "hit"sv,      "hits"sv,  "success"sv,   "winrate"sv};
constexpr std::array other_higher_words{
    "psnr"sv, "ssim"sv,        "r"sv,   "reward"sv, "rewards"sv, "return"sv,   "returns"sv, "likelihood"sv,
    "elbo"sv, "correlation"sv, "mcc"sv, "kappa"sv,  "pearson"sv, "spearman"sv, "comet"sv,   "bertscore"sv};

/// Words that leave the meaning of the others as it is. With any further word ("inv_loss", "error_free_rate",
/// "accuracy_drop", "neg_mean_squared_error"), a name says nothing.
constexpr std::array neutral_words{
    "val"sv,     "valid"sv,    "validation"sv, "test"sv,    "testing"sv,     "train"sv,    "training"sv,
    "eval"sv,    "dev"sv,      "heldout"sv,    "holdout"sv, "final"sv,       "best"sv,     "last"sv,
    "mean"sv,    "avg"sv,      "average"sv,    "macro"sv,   "micro"sv,       "weighted"sv, "balanced"sv,
    "top"sv,     "at"sv,       "k"sv,          "m"sv,       "l"sv,           "rate"sv,     "score"sv,
    "episode"sv, "episodic"sv, "word"sv,       "char"sv,    "character"sv,   "token"sv,    "bits"sv,
    "per"sv,     "byte"sv,     "dim"sv,        "cross"sv,   "entropy"sv,     "root"sv,     "squared"sv,
    "square"sv,  "absolute"sv, "log"sv,        "binary"sv,  "categorical"sv, "total"sv,    "ood"sv,
    "clean"sv,   "masked"sv,   "lm"sv,         "exact"sv,   "sequence"sv,    "class"sv,    "percentage"sv};

/// The words of a name in lower case, without digits at their ends: {"eval", "accuracy"} for "evalAccuracy", {"rouge",
/// "l"} for "rouge-L", {"hits"} for "hits@10". "F1" and "R2" are "f" and "r" only with their digit.
std::vector<std::string> words_of(std::string_view name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    std::string letters = word;
    while (!letters.empty() && is_digit(letters.back())) letters.pop_back();
    const bool needs_digit = letters == "f" || letters == "r"; // F1, R2
    if (!letters.empty() && !(needs_digit && letters == word)) words.push_back(letters);
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = is_upper(c) || (c >= 'a' && c <= 'z') || is_digit(c);
    const bool begins = is_upper(c) && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (!letter || begins) end_word();
    if (letter) word += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  end_word();
  return words;
}

bool any_of_words(const std::vector<std::string>& words, const auto& known) {
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return std::ranges::find(known, word) != known.end(); });
}

/// "1 - accuracy", "-loss", "1/error", "2 * acc": a name that computes.
bool is_formula(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto begin = std::ranges::find_if_not(name, is_digit);
  const bool has_number_first = begin != name.begin() && (begin == name.end() || !is_letter(*begin));
  return name.empty() || (!is_letter(name.front()) && !is_digit(name.front())) || has_number_first ||
         name.find(" - ") != name.npos || std::ranges::any_of(name, [&](char c) {
           return !is_letter(c) && !is_digit(c) && std::string_view("_/.-:@ ()[]%").find(c) == std::string_view::npos;
         });
}

/// "negative_log_likelihood", "neg_log_likelihood".
bool is_negative_log_likelihood(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if ((words[i] == "neg" || words[i] == "negative") && words[i + 1] == "log" && words[i + 2] == "likelihood")
      return true;
  return false;
}

/// "cross_entropy", "bits_per_byte", "crossEntropy".
bool is_entropy(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if ((words[i] == "cross" && words[i + 1] == "entropy") || (words[i] == "bits" && words[i + 1] == "per"))
      return true;
  return false;
}

} // namespace

std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs,
                                     std::vector<std::string>& warnings) {
  const ByMetric directions(question.direction, question, runs, "direction"),
      bounds(question.bounds, question, runs, "bounds"), units(question.unit, question, runs, "unit");
  std::vector<Metric> out;
  for (std::size_t m = 0; m < runs.metrics.size(); ++m) {
    const std::string& name = runs.metrics[m];
    double lowest = infinity, highest = -infinity;
    for (const ResultRun& run : runs.runs)
      for (const ResultValue& value : run.values[m]) {
        if (!std::isfinite(value.value)) continue;
        lowest = std::min(lowest, value.value);
        highest = std::max(highest, value.value);
      }
    const bool asked = directions.of(name) || bounds.of(name) || units.of(name);
    const std::optional<Metric> known = runs.of_heed && !asked ? metric_named(Config(), name) : std::nullopt;
    if (known) {
      out.push_back(*known);
      continue;
    }
    if (name.starts_with("steps_to") && !bounds.of(name))
      throw Refused(fmt::format("{}: runs that never reached the target count as the metric's upper bound; say it with "
                                "{} 0,STEPS",
                                name, bounds.option()));
    Metric metric;
    metric.name = shown_name(name);
    metric.direction = direction_of(directions, name);
    const ValueRange range = bounds_of(bounds, name, lowest, highest);
    metric.low = range.low;
    metric.high = range.high;
    metric.unit = units.of(name).value_or("");
    metric.description = meaning_of(table, runs, range, !directions.of(name), !bounds.of(name));
    require_within(table, runs, m, metric, bounds.option());
    if (!bounds.of(name) && metric.high == 100)
      if (std::string mixed = mixed_scales_in_words(table, runs, m, bounds.option()); !mixed.empty())
        warnings.push_back(std::move(mixed));
    out.push_back(std::move(metric));
  }
  return out;
}

std::optional<Direction> direction_by_name(std::string_view metric) {
  if (metric.starts_with("steps_to(")) return Direction::lower; // Heed's own
  if (is_formula(metric)) return std::nullopt;
  std::vector<std::string> words = words_of(metric);
  if (is_negative_log_likelihood(words)) {
    std::erase_if(words, [](const std::string& word) {
      return word == "neg" || word == "negative" || word == "log" || word == "likelihood";
    });
    words.emplace_back("nll");
  }
  const auto is_known = [](const std::string& word) {
    const auto is_in = [&](const auto& known) { return std::ranges::find(known, word) != known.end(); };
    return is_in(lower_words) || is_in(share_words) || is_in(other_higher_words) || is_in(neutral_words);
  };
  if (!std::ranges::all_of(words, is_known)) return std::nullopt;
  const bool lower = any_of_words(words, lower_words) || is_entropy(words);
  const bool higher = any_of_words(words, share_words) || any_of_words(words, other_higher_words);
  if (lower == higher) return std::nullopt;
  return lower ? Direction::lower : Direction::higher;
}

ValueRange range_by_name(std::string_view metric, double lowest, double highest) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::vector<std::string> words = words_of(metric);
  if (direction_by_name(metric) == Direction::higher && any_of_words(words, share_words) && lowest >= 0) {
    if (highest <= 1) return {0, 1};
    if (highest <= 100) return {0, 100};
  }
  if (direction_by_name(metric) == Direction::lower) {
    const bool perplexity = any_of_words(words, std::array{"perplexity"sv, "ppl"sv});
    if (perplexity && lowest >= 1) return {1, infinite};
    if (lowest >= 0) return {0, infinite};
  }
  return {-infinite, infinite};
}

} // namespace heed
