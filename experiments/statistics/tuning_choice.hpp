// How much the result of a tuned arm depends on the setting that the tuning happened to choose.
#pragma once

#include "experiments/statistics/comparison.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace heed::statistics {

/// What other tuning seeds could have chosen.
struct TuningChoice {
  double variance = 0; ///< of the chosen setting's result, over the draws
  double others = 0;   ///< the proportion of the draws that choose another setting
};

/// Draws the trials' results anew, 2000 times: normal, around the observed results, with a standard deviation of
/// deviation / sqrt(tuning_seeds). The best one is chosen, and its result is the observed result of its setting. The
/// observed results contain noise, too, so the variance is rather too large. The draws are always the same.
/// @param results       the mean result of each usable trial over the tuning seeds; one at least
/// @param deviation     standard deviation of one run's result
TuningChoice tuning_choice(std::span<const double> results, double deviation, std::size_t tuning_seeds,
                           bool higher_is_better);

/// The p that found the comparison's answer: of `same`, the equivalence test's; of other answers to
/// Question::not_worse, the one-sided test's. Of an open answer, the reported p.
std::optional<double> answered_p(const Comparison& comparison);

/// p of the arm's answer with the choices' variance as further noise, for this arm only, by Student's t with
/// Satterthwaite's degrees of freedom (1946, doi 10.2307/3002019): for `same`, of the two one-sided tests; for answers
/// to Question::not_worse, of the answer's one-sided test; for other answers, of a difference. Never smaller than the
/// comparison's own p.
/// @param error     squared standard error of the difference, without the choices
/// @param freedom   its degrees of freedom
/// @param choices   the variance of the arm's choice plus that of the reference's
double p_with_choices(const Comparison& comparison, double error, double freedom, double choices);

} // namespace heed::statistics
