#include "experiments/metrics/inspected_metrics.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>

namespace heed {

namespace {

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
      {"weight_norm", Of::modules, layers, "", "Euclidean norm of the module's parameters"}};
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
