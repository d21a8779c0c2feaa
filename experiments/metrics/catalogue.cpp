#include "experiments/metrics/catalogue.hpp"

#include "experiments/config/config.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/models/model.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task_info.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <limits>

namespace heed {

namespace {

std::vector<Metric> listed(const Config& config, bool of_any);

bool puts_out_text(const Config& config) {
  const TaskFormat format = f32::model_info(config.model.kind).format;
  return format == TaskFormat::language_model || format == TaskFormat::sequence_to_sequence;
}

Metric info_of(const InspectedMetric& m, std::string_view part) {
  const char* where = part == "mean"    ? ", the mean over all layers"
                      : part == "first" ? ", of the first layer"
                      : part == "last"  ? ", of the last layer"
                                        : "";
  const bool of_heads = m.of == InspectedMetric::Of::heads, named = *where == 0;
  return {.name = fmt::format("{}.{}", m.name, part),
          .direction = Direction::none,
          .unit = std::string(m.unit),
          .description = fmt::format("{}{}{}", m.meaning, where,
                                     of_heads && part == "mean" ? " and heads"
                                     : of_heads && !named       ? ", the mean over its heads"
                                                                : ""),
          .low = m.least,
          .high = m.greatest.value_or(std::numeric_limits<double>::infinity())};
}

Metric info_of(const MetricOfLengths& of, const std::string& name) {
  const std::string_view what = of.family == by_length_metric
                                    ? "fraction of the targets that are the most probable class"
                                    : "fraction of the sequences without a wrong target";
  Metric out{
      name,
      Direction::higher,
      "",
      !of.is_range()
          ? fmt::format("{}, of the validation sequences of length {}", what, of.first)
          : fmt::format("{}, of the validation sequences of each length from {} to {}, the mean over these lengths",
                        what, of.first, of.last),
      0,
      1};
  if (!of.is_range()) out.length = of.first;
  return out;
}

/// The mean of a metric over those of train.evaluate_lengths that a range has; empty if there is none.
std::optional<Metric> mean_at_lengths(const Config& config, const MetricOfLengths& of, const std::string& name) {
  const std::vector<std::int64_t> lengths = lengths_within(of, config.train.evaluate_lengths);
  if (lengths.empty() || !of.is_range()) return std::nullopt;
  const std::string metric = metric_of_family(of.family), first = name_at_length(metric, lengths.front());
  for (Metric& out : metrics_of(config)) {
    if (out.name != first) continue;
    out.name = name;
    out.length.reset();
    out.description = fmt::format("{}, the mean over the lengths {}: those of train.evaluate_lengths from {} to {}",
                                  metric, fmt::join(lengths, ", "), of.first, of.last);
    return std::move(out);
  }
  return std::nullopt;
}

/// The metrics of a configuration. @param of_any  the metrics that any configuration has
std::vector<Metric> listed(const Config& config, bool of_any) {
  std::vector<Metric> out{
      {"val_loss", Direction::lower, "nats",
       "cross-entropy on the validation split, averaged over the targets (tokens or labels), without label smoothing"},
      {"val_accuracy", Direction::higher, "",
       "fraction of the validation split's targets that are the most probable class", 0, 1}};
  const bool sequences = of_any || has_sequence_accuracy(config);
  if (sequences)
    out.back().description += "; the token that ends an output is one of them, but where every output is one token";
  if (sequences)
    out.push_back({"val_sequence_accuracy", Direction::higher, "",
                   "fraction of the validation sequences without a wrong target, that which ends an output included", 0,
                   1});
  if (of_any || has_perplexity(config))
    out.push_back({"val_perplexity", Direction::lower, "",
                   "e to the power of val_loss: as uncertain as among that many tokens", 1});
  if (of_any || has_bits_per_character(config))
    out.push_back({"val_bits_per_character", Direction::lower, "bits",
                   "val_loss in bits: divided by the logarithm of 2"});
  const std::vector<Metric> of_sequences = out;
  if (of_any || config.train.evaluate_random_batches > 0)
    out.push_back({"val_loss_estimate", Direction::lower, "nats",
                   fmt::format("val_loss as estimated from {} batches of {} random sequences, drawn anew at each step",
                               config.train.evaluate_random_batches, config.train.batch)});
  if (of_any || config.train.evaluate_beam > 0) {
    out.push_back({"val_decoded_accuracy", Direction::higher, "",
                   "fraction of the validation sequences that are decoded without an error; <unknown> is one", 0, 1});
    out.push_back({"val_bleu", Direction::higher, "",
                   fmt::format("BLEU of the decoded validation split against the data's own text, 0 to 100, as "
                               "sacreBLEU's with tok:{}; 0 where no output has four words",
                               config.train.evaluate_bleu_tokenization),
                   0, 100});
    out.push_back({"val_chrf", Direction::higher, "",
                   "chrF2 of the decoded validation split against the data's own text, 0 to 100, as sacreBLEU's", 0,
                   100});
  }
  for (const Metric& metric : of_sequences)
    for (const std::int64_t length : config.train.evaluate_lengths) {
      out.push_back(metric);
      out.back().name = name_at_length(metric.name, length);
      out.back().length = length;
      out.back().description = fmt::format("{} of sequences of length {}, which the task makes for it", metric.name,
                                           length);
    }
  for (const ValidationSet& set : validation_sets(config.data))
    for (const Metric& metric : of_sequences) {
      out.push_back(metric);
      out.back().name = name_on_set(metric.name, set.name);
      out.back().description = fmt::format("{} of the sequences of {}, a further validation set", metric.name,
                                           set.path);
    }
  const bool has_recurrences = std::ranges::any_of(config.layers, [](const LayerChoice& layer) {
    return layer.mixer.kind != "attention";
  });
  for (const InspectedMetric& m : inspected_metrics())
    if (m.of != InspectedMetric::Of::modules &&
        (of_any || (is_inspected(config.train.inspect, m.name) && (has_recurrences || !m.of_recurrences))))
      for (const char* part : {"mean", "first", "last"}) out.push_back(info_of(m, part));
  if (!of_any && config.train.steps == 0) return out;
  out.push_back({"train_loss", Direction::lower, "nats",
                 "cross-entropy of the last training batch, with smoothing where it is set"});
  out.push_back({"time_per_token", Direction::lower, "µs",
                 "time of the training steps for each token that was trained on, evaluations and checkpoints left out; "
                 "to be compared where all runs had the machine alike"});
  return out;
}

using Of = InspectedMetric::Of;

const std::vector<InspectedMetric>& table() {
  using Words = std::vector<std::string_view>;
  static const Words attention{"attention", "heads", "all", "scores", "everything"},
      heads{"heads", "all", "everything"}, scores{"scores", "everything"},
      norms{"norms", "all", "layers", "everything"}, layers{"layers", "everything"};
  static const std::vector<InspectedMetric> all{
      {"attention_entropy", Of::heads, attention, "nats", "how widely a query's weights are spread"},
      {"attention_distance", Of::heads, attention, "positions", "between a query and what it attends to, by weight"},
      {"head_importance", Of::heads, heads, "nats", "how much the loss rises where the head gives zeros",
       -std::numeric_limits<double>::infinity()},
      {"activation_norm", Of::modules, norms, "", "root mean square of what the module gives"},
      {"gradient_norm", Of::modules, norms, "", "Euclidean norm of the gradient by the module's parameters"},
      {"score_variance", Of::heads, scores, "", "variance of the scores that the normaliser is given, over pairs"},
      {"first_key_weight", Of::heads, scores, "", "share of a query's weights that the first key has", 0, 1},
      {"rank_residual", Of::layers, layers, "",
       "how far the tokens after the layer are from one vector, relative to their size; 0: all are the same"},
      {"layer_gradient_norm", Of::layers, layers, "", "Euclidean norm of the gradient by the layer's parameters"},
      {"layer_weight_norm", Of::layers, layers, "", "Euclidean norm of the layer's parameters"},
      {"weight_norm", Of::modules, layers, "", "Euclidean norm of the module's parameters"},
      {"half_life", Of::heads, scores, "tokens", "in which a recurrence's state halves by its decay", 0, {}, true},
      {"state_norm",
       Of::heads,
       scores,
       "",
       "Euclidean norm of a recurrence's state after a sequence's last token",
       0,
       {},
       true},
      {"state_rank",
       Of::heads,
       scores,
       "",
       "number of directions of a recurrence's state S after a sequence's last token: |S|^4 / |S^T S|^2",
       1,
       {},
       true}};
  return all;
}

struct Mean {
  double sum = 0, count = 0;
  void add(double x) {
    sum += x;
    ++count;
  }
  double value() const { return sum / count; }
};

// The summary of one metric in a record.
struct Summary {
  std::string_view name;
  Mean all, first, last;
  std::string_view first_layer, last_layer;

  void add(std::string_view layer, double value) {
    if (all.count == 0) first_layer = layer;
    if (layer != last_layer) last = {};
    last_layer = layer;
    all.add(value);
    last.add(value);
    if (layer == first_layer) first.add(value);
  }
};

} // namespace

bool has_sequence_accuracy(const Config& config) {
  return puts_out_text(config) && !task_info(config.task.kind).running_text;
}

bool has_perplexity(const Config& config) { return puts_out_text(config); }

bool has_bits_per_character(const Config& config) {
  return puts_out_text(config) && task_info(config.task.kind).running_text && config.data.tokens == "characters";
}

std::optional<Metric> metric_named(const Config& config, const std::string& name) {
  for (Metric& metric : metrics_of(config))
    if (metric.name == name) return std::move(metric);
  if (const auto of = metric_of_lengths(name)) {
    if (!of->of_split()) return mean_at_lengths(config, *of, name);
    return config.train.evaluate_by_length && (of->family == by_length_metric || has_sequence_accuracy(config))
               ? std::optional(info_of(*of, name))
               : std::nullopt;
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || dot + 1 == name.size()) return {};
  for (const InspectedMetric& m : inspected_metrics())
    if (m.name == name.substr(0, dot) && is_inspected(config.train.inspect, m.name))
      return info_of(m, name.substr(dot + 1));
  return {};
}

std::span<const std::string_view> means_over_examples() {
  static constexpr std::array<std::string_view, 4> names{"val_loss", "val_accuracy", "val_sequence_accuracy",
                                                         "val_bits_per_character"};
  return names;
}

bool is_mean_over_examples(std::string_view metric) {
  return std::ranges::find(means_over_examples(), metric) != means_over_examples().end();
}

std::vector<Metric> metrics_of(const Config& config) { return listed(config, false); }

std::vector<std::string> metric_names() { return names_of(listed(Config(), true)); }

bool may_be_metric(const std::string& name) {
  const std::vector<std::string> names = metric_names();
  const auto is_name = [&](std::string_view word) { return std::ranges::find(names, word) != names.end(); };
  if (is_name(name)) return true;
  if (const std::string metric = metric_on_a_set(name); !metric.empty()) return is_name(metric);
  if (const auto of = metric_of_lengths(name)) return of->of_split() || is_name(metric_of_family(of->family));
  const std::size_t dot = name.find('.');
  return dot != std::string::npos && dot + 1 < name.size() &&
         std::ranges::any_of(inspected_metrics(),
                             [&](const InspectedMetric& m) { return m.name == name.substr(0, dot); });
}

std::span<const InspectedMetric> inspected_metrics() { return table(); }

bool is_inspected(std::string_view word, std::string_view name) {
  return std::ranges::any_of(table(), [&](const InspectedMetric& m) {
    return m.name == name && std::ranges::find(m.words, word) != m.words.end();
  });
}

void add_summaries(std::vector<std::pair<std::string, double>>& values) {
  std::vector<Summary> summaries;
  for (const auto& [name, value] : values) {
    const std::string_view whole = name;
    const std::size_t dot = whole.find('.');
    if (dot == std::string_view::npos) continue;
    const auto metric = std::ranges::find(table(), whole.substr(0, dot), &InspectedMetric::name);
    if (metric == table().end() || metric->of == Of::modules) continue;
    std::string_view layer = whole.substr(dot + 1);
    if (metric->of == Of::heads) layer = layer.substr(0, layer.rfind('.'));
    auto found = std::ranges::find(summaries, metric->name, &Summary::name);
    if (found == summaries.end()) {
      summaries.push_back({metric->name, {}, {}, {}, {}, {}});
      found = std::prev(summaries.end());
    }
    found->add(layer, value);
  }
  // The names above are views into `values`, which is only extended below.
  std::vector<std::pair<std::string, double>> more;
  for (const Summary& s : summaries)
    for (const auto& [which, mean] : {std::pair{"mean", s.all}, {"first", s.first}, {"last", s.last}})
      more.emplace_back(fmt::format("{}.{}", s.name, which), mean.value());
  values.insert(values.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace heed
