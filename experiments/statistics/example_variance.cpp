#include "experiments/statistics/example_variance.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace heed::statistics {

namespace {

double variance_of(std::span<const double> values) {
  const double spread = standard_deviation(values).value_or(0);
  return spread * spread;
}

/// Rows of seeds, with a value of each example: means, and the mean square that neither explains.
struct TwoWay {
  std::vector<double> seeds, examples; ///< the means of each
  double mean = 0, residual = 0;

  explicit TwoWay(std::span<const std::vector<double>> rows) : examples(rows.front().size(), 0.0) {
    for (const std::vector<double>& row : rows) {
      if (row.size() != examples.size()) throw Failed("[statistics] each seed needs a value of each example");
      seeds.push_back(statistics::mean(row));
      for (std::size_t e = 0; e < row.size(); ++e) examples[e] += row[e] / static_cast<double>(rows.size());
    }
    mean = statistics::mean(seeds);
    for (std::size_t s = 0; s < rows.size(); ++s)
      for (std::size_t e = 0; e < examples.size(); ++e) {
        const double rest = (rows[s][e] - mean) - (seeds[s] - mean) - (examples[e] - mean);
        residual += rest * rest;
      }
    residual /= residual_freedom();
  }
  double count() const { return static_cast<double>(seeds.size()); }
  double residual_freedom() const {
    return static_cast<double>(seeds.size() - 1) * static_cast<double>(examples.size() - 1);
  }
};

/// A part of a variance, and its degrees of freedom.
struct Part {
  double variance, freedom;
};

/// Satterthwaite's degrees of freedom of a sum or difference of the parts.
double freedom_of(double sum, std::initializer_list<Part> parts) {
  double squares = 0;
  for (const Part& part : parts) squares += part.variance * part.variance / part.freedom;
  return sum * sum / squares;
}

bool is_enough(std::span<const std::vector<double>> rows) {
  return rows.size() > 1 && rows.front().size() >= fewest_examples;
}

std::optional<OverExamples> with_interval(OverExamples out, double of_seeds, double of_examples, double confidence) {
  const double variance = of_seeds + of_examples;
  if (!(variance > 0)) return std::nullopt;
  const double reach = student_quantile(out.freedom, (1 + confidence) / 2) * std::sqrt(variance);
  out.interval = {out.mean - reach, out.mean + reach};
  out.share_of_examples = of_examples / variance;
  return out;
}

} // namespace

std::optional<OverExamples> over_examples(std::span<const std::vector<double>> a,
                                          std::span<const std::vector<double>> b, double confidence) {
  check_confidence(confidence);
  if (a.size() != b.size()) throw Failed("[statistics] pairs need as many runs of one arm as of the other");
  if (!is_enough(a)) return std::nullopt;
  std::vector<std::vector<double>> differences(a.begin(), a.end());
  for (std::size_t s = 0; s < a.size(); ++s) {
    if (a[s].size() != b[s].size()) throw Failed("[statistics] each seed needs a value of each example");
    for (std::size_t e = 0; e < a[s].size(); ++e) differences[s][e] -= b[s][e];
  }
  const TwoWay d(differences);
  const double m = static_cast<double>(d.examples.size()), n = d.count();
  const Part seeds{variance_of(d.seeds) / n, n - 1}, examples{variance_of(d.examples) / m, m - 1},
      residual{d.residual / (n * m), d.residual_freedom()};
  const double of_examples = std::max(0.0, examples.variance - residual.variance);
  OverExamples out{.examples = d.examples.size(), .mean = d.mean, .freedom = seeds.freedom};
  if (of_examples > 0)
    out.freedom = std::max(out.freedom, freedom_of(seeds.variance + of_examples, {seeds, examples, residual}));
  return with_interval(out, seeds.variance, of_examples, confidence);
}

std::optional<OverExamples> over_examples_unpaired(std::span<const std::vector<double>> a,
                                                   std::span<const std::vector<double>> b, double confidence) {
  check_confidence(confidence);
  if (a.empty() || b.empty() || !is_enough(a) || !is_enough(b)) return std::nullopt;
  const TwoWay of_a(a), of_b(b);
  if (of_a.examples.size() != of_b.examples.size()) throw Failed("[statistics] both arms need a value of each example");
  std::vector<double> differences = of_a.examples;
  for (std::size_t e = 0; e < differences.size(); ++e) differences[e] -= of_b.examples[e];
  const double m = static_cast<double>(differences.size());
  const auto seeds_of = [](const TwoWay& of) { return Part{variance_of(of.seeds) / of.count(), of.count() - 1}; };
  const auto residual_of = [&](const TwoWay& of) {
    return Part{of.residual / (of.count() * m), of.residual_freedom()};
  };
  const Part seeds_a = seeds_of(of_a), seeds_b = seeds_of(of_b), residual_a = residual_of(of_a),
             residual_b = residual_of(of_b), examples{variance_of(differences) / m, m - 1};
  const double seeds = seeds_a.variance + seeds_b.variance,
               of_examples = std::max(0.0, examples.variance - residual_a.variance - residual_b.variance);
  OverExamples out{.examples = differences.size(), .mean = of_a.mean - of_b.mean};
  if (seeds > 0) out.freedom = freedom_of(seeds, {seeds_a, seeds_b});
  if (of_examples > 0)
    out.freedom = std::max(out.freedom,
                           freedom_of(seeds + of_examples, {seeds_a, seeds_b, examples, residual_a, residual_b}));
  return with_interval(out, seeds, of_examples, confidence);
}

} // namespace heed::statistics
