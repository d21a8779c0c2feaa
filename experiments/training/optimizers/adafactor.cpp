#include "autograd/optimizer.hpp"
#include "experiments/training/optimizers.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct Options {
  double decay = 0.8, clip = 1.0, least_scale = 1e-3, weight_decay = 0.0;
};

const OptionTable<Options>& table() {
  using O = Options;
  static const auto t = option_table<O>(
      option("decay", &O::decay, "the running mean of squares decays by 1 - t^-decay at step t").above(0).below(1),
      option("clip", &O::clip, "the largest root mean square of a parameter's update, before the learning rate")
          .above(0),
      option("least_scale", &O::least_scale,
             "lower bound of a parameter's root mean square, by which its updates are multiplied")
          .above(0),
      option("weight_decay", &O::weight_decay,
             "decay of matrices towards 0 by learning rate times this value, also of embeddings, but not of vectors, "
             "scales and temperatures")
          .at_least(0));
  return t;
}

double square(double x) { return x * x; }

/// Adafactor. V_t = beta_t V_(t-1) + (1 - beta_t) G^2 with beta_t = 1 - t^-decay, and U = G / sqrt(V). For a matrix, V
/// is approximated by the product of its row means and its column means, divided by its overall mean. With rate_t =
/// min(rate, 1 / sqrt(t)) max(scale, RMS(W)):
///   W <- W (1 - rate decay) - rate_t U / max(1, RMS(U) / clip)
class Adafactor : public Optimizer {
public:
  Adafactor(const Options& options, const Parameters& parameters) : Optimizer(parameters), options_(options) {
    for (const Parameters::Entry& e : parameters.entries()) {
      const Factors f(e.shape);
      rows_.emplace_back(static_cast<std::size_t>(f.matrices * f.rows));
      columns_.emplace_back(static_cast<std::size_t>(f.factored ? f.matrices * f.columns : 0));
    }
  }

  std::vector<StateArray> state(const Parameters& parameters) override {
    std::vector<StateArray> out;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::string& name = parameters.entries()[i].name;
      const bool factored = !columns_[i].empty();
      out.push_back({(factored ? "adafactor.rows." : "adafactor.squares.") + name, {std::ssize(rows_[i])}, rows_[i]});
      if (factored) out.push_back({"adafactor.columns." + name, {std::ssize(columns_[i])}, columns_[i]});
    }
    return out;
  }

private:
  /// A parameter seen as matrices over its last two axes. A parameter with fewer axes is a vector, and each value is a
  /// row.
  struct Factors {
    bool factored;
    std::int64_t matrices, rows, columns;
    explicit Factors(const Shape& s)
        : factored(s.rank >= 2), matrices(factored ? s.size() / (s[-1] * s[-2]) : 1), rows(factored ? s[-2] : s.size()),
          columns(factored ? s[-1] : 1) {}
  };

  void update_one(const Update& u) override {
    const Factors f(u.entry.shape);
    const std::int64_t size = u.entry.shape.size();
    if (size == 0) return;
    std::vector<Real>&rows = rows_[u.index], &columns = columns_[u.index];
    const double fresh = std::pow(static_cast<double>(u.step), -options_.decay);
    const auto mix = [&](Real& kept, double mean) {
      kept = static_cast<Real>(static_cast<double>(kept) + fresh * (mean - static_cast<double>(kept)));
    };
    const auto gradient = [&](std::int64_t i) { return u.factor * static_cast<double>(u.gradients[i]); };
    std::vector<double> step(static_cast<std::size_t>(size)), sums(static_cast<std::size_t>(f.columns));
    for (std::int64_t m = 0, i = 0; m < f.matrices; ++m) {
      std::fill(sums.begin(), sums.end(), 0.0);
      Real* const of_rows = rows.data() + m * f.rows;
      for (std::int64_t r = 0; r < f.rows; ++r) {
        double sum = 0;
        for (std::int64_t c = 0; c < f.columns; ++c, ++i) {
          const double g2 = square(gradient(i));
          sum += g2;
          sums[static_cast<std::size_t>(c)] += g2;
        }
        mix(of_rows[r], sum / static_cast<double>(f.columns));
      }
      double mean_of_rows = 0;
      for (std::int64_t r = 0; r < f.rows; ++r) mean_of_rows += static_cast<double>(of_rows[r]);
      mean_of_rows = std::max(mean_of_rows / static_cast<double>(f.rows), least_square);
      Real* const of_columns = columns.data() + m * f.columns;
      for (std::int64_t c = 0; f.factored && c < f.columns; ++c)
        mix(of_columns[c], sums[static_cast<std::size_t>(c)] / static_cast<double>(f.rows));
      for (std::int64_t r = 0, at = m * f.rows * f.columns; r < f.rows; ++r)
        for (std::int64_t c = 0; c < f.columns; ++c, ++at) {
          const auto row = static_cast<double>(of_rows[r]);
          const double estimate = f.factored ? row * static_cast<double>(of_columns[c]) / mean_of_rows : row;
          step[static_cast<std::size_t>(at)] = gradient(at) / std::sqrt(std::max(estimate, square(least_square)));
        }
    }
    double of_step = 0, of_values = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      of_step += square(step[static_cast<std::size_t>(i)]);
      of_values += square(static_cast<double>(u.values[i]));
    }
    const auto root_mean = [&](double sum) { return std::sqrt(sum / static_cast<double>(size)); };
    const double rate = std::min(u.learning_rate, 1 / std::sqrt(static_cast<double>(u.step))) *
                        std::max(options_.least_scale, root_mean(of_values)) /
                        std::max(1.0, root_mean(of_step) / options_.clip);
    const double kept = u.entry.decay == WeightDecay::yes ? 1 - u.learning_rate * options_.weight_decay : 1;
    for (std::int64_t i = 0; i < size; ++i)
      u.values[i] = static_cast<Real>(kept * static_cast<double>(u.values[i]) -
                                      rate * step[static_cast<std::size_t>(i)]);
  }

  static constexpr double least_square = 1e-30; // the paper's epsilon_1

  Options options_;
  // For each parameter: row means and column means of the squares. A vector has no columns, and its rows are the
  // squares.
  std::vector<std::vector<Real>> rows_, columns_;
};

} // namespace

extern const OptimizerInfo optimizer_adafactor{
    .about = {.name = "adafactor",
              .summary = "a second moment by rows and columns; updates relative to the parameter's size, each "
                         "parameter's clipped separately; no first moment",
              .paper = "Shazeer and Stern 2018, arXiv 1804.04235",
              .cost = "memory: a value for each row and each column of a matrix",
              .options = table().options()},
    .make = made_of<Adafactor, table>};

} // namespace heed::HEED_REAL
