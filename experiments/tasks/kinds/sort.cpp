// Task `sort`: output the input symbols in ascending order.
#include "experiments/tasks/symbol_task.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>

namespace heed {

extern const TaskInfo task_sort;

namespace {

const OptionTable<SymbolOptions>& sort_option_table() {
  static const auto table = symbol_option_table(512, 1024, 1024);
  return table;
}

/// The expected number of correct predictions, out of n, of the best predictor that sees only the previous outputs. The
/// n input symbols are independent and uniform; the outputs are the input symbols in ascending order.
///
/// Let w be an output symbol and i the number of outputs below w. The other m = n - i outputs are independent and
/// uniform over the k = symbols - w symbols from w upwards. N of them, at least one, are w, and N is binomial. After c
/// outputs of w, the next output is w again with probability P(N > c | N >= c). Otherwise the m - c remaining outputs
/// are uniform over the k - 1 symbols above w, and their minimum is most likely w + 1. So the best prediction is the
/// likelier of w and w + 1.
double right_guesses(std::int64_t n, std::int64_t symbols) {
  const auto binomial = [](std::int64_t trials, double p, std::int64_t k) {
    return trials == 0
               ? 1.0
               : boost::math::pdf(boost::math::binomial(static_cast<double>(trials), p), static_cast<double>(k));
  };
  constexpr double negligible = 1e-12;
  // The first output: the most likely minimum is w = 0.
  double right = 1 - std::pow(1 - 1 / static_cast<double>(symbols), static_cast<double>(n));
  for (std::int64_t w = 0; w < symbols; ++w) {
    const auto k = static_cast<double>(symbols - w);
    const double others = k < 2 ? 0 : (k - 2) / (k - 1); // P(a symbol above w is not w + 1)
    for (std::int64_t i = 0; i < (w == 0 ? 1 : n); ++i) {
      const double below = binomial(n, static_cast<double>(w) / static_cast<double>(symbols), i);
      if (below < negligible) continue;
      const std::int64_t m = n - i;
      double at_least = 1;                    // P(N >= c), by summation
      double exactly = binomial(m, 1 / k, 0); // P(N = c)
      for (std::int64_t c = 1; c < m; ++c) {
        at_least -= exactly;
        if (below * at_least < negligible) break;
        exactly = binomial(m, 1 / k, c);
        const double again = at_least - exactly;
        const double next = k < 2 ? 0 : exactly * (1 - std::pow(others, static_cast<double>(m - c)));
        right += below * std::max(again, next);
      }
    }
  }
  return right;
}

Generator sort_of(const SymbolOptions& options) {
  Generator sort = symbol_generator("sort", sort_option_table(), options,
                                    [](const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) {
                                      output = input;
                                      std::ranges::sort(output);
                                    });
  const Lengths lengths = input_lengths("sort", options.length, options.min_length);
  sort.chance = [=](bool ends) {
    double right = 0, all = 0;
    for (std::int64_t n = lengths.shortest; n <= lengths.longest; ++n) {
      right += right_guesses(n, options.symbols);
      all += static_cast<double>(n);
    }
    std::string how = "the most likely next symbol of a sorted sequence, given the output so far";
    if (ends && lengths.shortest == lengths.longest) { // the end token is certain
      right += 1;
      all += 1;
      how += ", and the end";
    }
    return Task::Chance{right / all, how};
  };
  make_other_lengths(sort, options, sort_of);
  return sort;
}

} // namespace

const TaskInfo task_sort = {{.name = "sort",
                             .summary = "symbols, then the same symbols in ascending order: 3 1 4 1 | 1 1 3 4",
                             .paper = "as in Vinyals, Bengio and Kudlur 2015, Order Matters, arXiv 1511.06391",
                             .cost = "sequences of 2 length tokens; each output depends on all of the input",
                             .options = sort_option_table().options(),
                             .uses = {"train.evaluate_lengths"}},
                            make_generated<sort_option_table, sort_of>};

} // namespace heed
