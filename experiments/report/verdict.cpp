#include "experiments/report/verdict.hpp"

#include "experiments/report/digits.hpp"
#include "experiments/report/exact_ties.hpp"

namespace heed {

std::string_view name_of(Mark mark) {
  switch (mark) {
    case Mark::better: return "better";
    case Mark::worse: return "worse";
    case Mark::differs: return "differs";
    case Mark::same: return "same";
    case Mark::open: break;
  }
  return "open";
}

Mark mark_of(const statistics::Comparison& c, const Metric& metric) {
  if (c.answer == statistics::Answer::same || equal_in_all_seeds(c)) return Mark::same;
  if (c.answer != statistics::Answer::differs || c.difference.mean == 0) return Mark::open;
  if (!metric.is_goal()) return Mark::differs;
  return improves(c.difference.mean, metric.direction) ? Mark::better : Mark::worse;
}

std::array<std::string_view, 2> side_words(Direction direction) {
  if (direction == Direction::none) return {"lower", "higher"};
  return improves(1, direction) ? std::array<std::string_view, 2>{"worse", "better"}
                                : std::array<std::string_view, 2>{"better", "worse"};
}

Verdict verdict_of(const statistics::Comparison& c, const Metric& metric, int decimals) {
  Verdict out{mark_of(c, metric), equal_in_all_seeds(c), std::string(answer_word(c)), {}, {}, {}};
  const double mean = c.difference.mean;
  if (mean != 0) out.side = side_words(metric.direction)[mean > 0];
  if (out.equal) {
    out.difference = equal_words(c);
    return out;
  }
  const Decimals shown = decimals_showing(c, decimals);
  out.difference = signed_fixed(mean, shown);
  out.interval = interval_text(c, shown, true);
  return out;
}

} // namespace heed
