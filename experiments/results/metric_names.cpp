#include "experiments/results/metric_names.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace heed {

namespace {

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
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
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
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
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
