#include "experiments/report/verdict.hpp"

#include "experiments/report/arm_notes.hpp"
#include "experiments/report/numbers.hpp"

namespace heed {

std::string_view name_of(AnswerWord word) {
  switch (word) {
    case AnswerWord::none: break;
    case AnswerWord::better: return "better";
    case AnswerWord::worse: return "worse";
    case AnswerWord::differs: return "differs";
    case AnswerWord::same: return "same";
    case AnswerWord::equal: return "equal";
    case AnswerWord::undecided: return "undecided";
    case AnswerWord::underpowered: return "underpowered";
  }
  return "none";
}

AnswerWord answer_word(const std::optional<statistics::Comparison>& comparison, const Metric& metric) {
  if (!comparison) return AnswerWord::none;
  if (equal_in_all_seeds(*comparison)) return AnswerWord::equal;
  switch (comparison->answer) {
    case statistics::Answer::same: return AnswerWord::same;
    case statistics::Answer::undecided: return AnswerWord::undecided;
    case statistics::Answer::underpowered: return AnswerWord::underpowered;
    case statistics::Answer::differs: break;
  }
  if (!metric.is_goal()) return AnswerWord::differs;
  return improves(comparison->difference.mean, metric.direction) ? AnswerWord::better : AnswerWord::worse;
}

bool is_difference(AnswerWord word) {
  return word == AnswerWord::better || word == AnswerWord::worse || word == AnswerWord::differs;
}

std::array<std::string_view, 2> side_words(Direction direction) {
  if (direction == Direction::none) return {"lower", "higher"};
  return improves(1, direction) ? std::array<std::string_view, 2>{"worse", "better"}
                                : std::array<std::string_view, 2>{"better", "worse"};
}

Verdict verdict_of(const statistics::Comparison& c, const Metric& metric, int decimals) {
  Verdict out{answer_word(c, metric), {}, {}, {}};
  const double mean = c.difference.mean;
  if (mean != 0) out.side = side_words(metric.direction)[mean > 0];
  if (out.answer == AnswerWord::equal) {
    out.difference = equal_words(c);
    return out;
  }
  const Decimals shown = decimals_showing(c, decimals);
  out.difference = signed_fixed(mean, shown);
  out.interval = interval_text(c, shown, true);
  return out;
}

} // namespace heed
