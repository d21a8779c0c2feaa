#include "experiments/config/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace heed {

namespace {

/// True if a formula may give NaN or infinity for finite operands: it divides by something other than a non-zero
/// constant, or uses a logarithm, a root, a power or a remainder.
bool may_lose_numbers(std::string_view formula) {
  for (const std::string_view word : {"log", "sqrt", "^", "%"})
    if (formula.find(word) != std::string_view::npos) return true;
  for (std::size_t at = 0; (at = formula.find('/', at)) != std::string_view::npos;) {
    at = std::min(formula.find_first_not_of(' ', at + 1), formula.size());
    const std::string_view divisor = formula.substr(at, formula.find_first_not_of("0123456789.", at) - at);
    if (divisor.find_first_of("123456789") == std::string_view::npos) return true;
  }
  return false;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool names(std::string_view formula, std::string_view word) {
  for (std::size_t at = 0; (at = formula.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(formula[at - 1])) && (end == formula.size() || !is_letter(formula[end]))) return true;
  }
  return false;
}

/// The options of a configuration by name, in TOML syntax; empty for an option without effect.
class Lines {
public:
  explicit Lines(const std::vector<FlatOption>& options) : options_(options) {}

  std::string_view operator[](std::string_view key) const {
    const auto found = std::ranges::find(options_, key, &FlatOption::key);
    return found == options_.end() ? std::string_view() : std::string_view(found->value);
  }
  /// True if the last block has a formula; pooling uses the choices of the last block.
  bool last_block_has_formulas() const {
    const std::string last = std::string("block[") +
                             std::to_string(static_cast<std::int64_t>(number("model.layers")) - 1) + "].";
    for (const std::string key : {"attention.score_mod", "attention.mask_mod"}) {
      const std::string_view own = (*this)[last + key], formula = own.empty() ? (*this)[key] : own;
      if (!formula.empty() && formula != "\"\"") return true;
    }
    return false;
  }
  /// True if the option has another value, in the model or in some of its blocks.
  bool any_but(std::string_view option, std::string_view value) const {
    return std::ranges::any_of(options_,
                               [&](const FlatOption& o) { return o.key.ends_with(option) && o.value != value; });
  }
  double number(std::string_view key) const { return std::strtod(std::string((*this)[key]).c_str(), nullptr); }

private:
  const std::vector<FlatOption>& options_;
};

/// A version that only changed the bits of configurations in which an option has such a value, for the whole model or
/// for some of its blocks.
struct NewBits {
  int version;
  std::string_view option;
  bool (*concerns)(std::string_view value, const Lines& all);
};

/// Versions up to this one affect all configurations.
constexpr int for_all = 6;

constexpr std::string_view by_pairs[] = {"\"additive\"", "\"concat\"", "\"keras_additive\"", "\"keras_concat\""};
constexpr std::string_view by_threshold[] = {"\"sparsemax\"", "\"entmax15\"", "\"entmax\"", "\"gumbel\""};

bool has_threshold(std::string_view value, const Lines&) { return std::ranges::count(by_threshold, value) > 0; }
/// Batches are sorted by length within an epoch.
bool has_buckets(std::string_view value, const Lines&) { return value != "1"; }
/// val_loss_estimate includes all targets, also end tokens; texts have no end tokens.
bool estimates_outputs(std::string_view value, const Lines& all) {
  return value != "0" && all["task.kind"] != "\"text\"";
}
/// In T5's position buckets, each small distance has its own bucket.
bool ends_among_near(std::string_view, const Lines& all) {
  const double side = all.number("position.t5.buckets") / (all["position.t5.both_sides"] == "true" ? 2 : 1);
  return all.number("position.t5.furthest") < std::floor(side / 2);
}
/// Muon treats the query, key and value matrices separately.
bool is_muon(std::string_view value, const Lines& all) {
  return value == "\"muon\"" && !all["model.kind"].starts_with("\"recurrent");
}
/// Rows of scores that are not finite.
bool loses_numbers(std::string_view value, const Lines&) { return may_lose_numbers(value); }
/// `b` counts all rows of an evaluation, and `queries` does not count padding.
bool counts_rows(std::string_view value, const Lines&) { return names(value, "b") || names(value, "queries"); }
/// Formulas apply to self attention only, not to pooling.
bool pools_by_formula(std::string_view value, const Lines& all) {
  return value == "\"context\"" && all.last_block_has_formulas();
}

/// Streams; before, it was composed of operations in blocks of queries.
bool is_l1(std::string_view value, const Lines&) { return value == "\"l1\""; }
/// Rules whose rows are computed in fewer passes, and a logarithm with fewer terms.
bool has_shorter_rows(std::string_view value, const Lines&) {
  return value == "\"softpick\"" || value == "\"stick_breaking\"";
}
/// Quotients of four dimensions by one division, also in the backward pass, and fewer roundings of gradients.
bool adds_by_pairs(std::string_view value, const Lines&) { return std::ranges::count(by_pairs, value) > 0; }
bool is_on(std::string_view value, const Lines&) { return value == "true"; }
/// The two maps of a head have different keys, also if heads share keys.
bool shares_keys_of_maps(std::string_view value, const Lines& all) {
  return value == "\"v1\"" && all.any_but("attention.key_value_heads", "0");
}
/// The difference of two maps in one operation, with other roundings.
bool has_two_maps(std::string_view value, const Lines&) { return value == "\"v1\"" || value == "\"v2\""; }

constexpr NewBits new_bits[] = {{7, "attention.normalizer", has_threshold},
                                {7, "attention.cross_normalizer", has_threshold},
                                {8, "data.bucket", has_buckets},
                                {8, "train.evaluate_random_batches", estimates_outputs},
                                {8, "position.t5.furthest", ends_among_near},
                                {8, "train.optimizer", is_muon},
                                {8, "attention.score_mod", loses_numbers},
                                {8, "attention.score_mod", counts_rows},
                                {8, "attention.mask_mod", counts_rows},
                                {8, "pooling", pools_by_formula},
                                {9, "attention.score", is_l1},
                                {9, "attention.cross_score", is_l1},
                                {10, "attention.normalizer", has_shorter_rows},
                                {10, "attention.cross_normalizer", has_shorter_rows},
                                {10, "attention.forget_gate", is_on},
                                {11, "attention.score", adds_by_pairs},
                                {11, "attention.cross_score", adds_by_pairs},
                                {12, "attention.differential", has_two_maps},
                                {13, "attention.differential", shares_keys_of_maps}};

} // namespace

int numerics_of(const std::vector<FlatOption>& options) {
  const Lines all(options);
  int version = for_all;
  for (const FlatOption& option : options)
    for (const NewBits& change : new_bits)
      if (option.key.ends_with(change.option) && change.concerns(option.value, all))
        version = std::max(version, change.version);
  return version;
}

} // namespace heed
