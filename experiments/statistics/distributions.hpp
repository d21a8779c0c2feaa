// Quantiles and probabilities of the distributions used by the tests. Only this module includes Boost.Math, because its
// headers take long to compile.
#pragma once

namespace heed::statistics {

/// Student's t with `freedom` degrees of freedom: the quantile of p; the probabilities below and above t.
double student_quantile(double freedom, double p);
double student_below(double freedom, double t);
double student_above(double freedom, double t);

/// The noncentral t with noncentrality `shift`: the probabilities below and above t.
double noncentral_below(double freedom, double shift, double t);
double noncentral_above(double freedom, double shift, double t);

/// The standard normal distribution: quantile and distribution function.
double normal_quantile(double p);
double normal_below(double x);

/// The quantile of the chi-squared distribution with `freedom` degrees of freedom.
double chi_squared_quantile(double freedom, double p);

/// The quantile of the beta distribution with parameters a and b.
double beta_quantile(double a, double b, double p);

/// gamma(x) / gamma(x + delta), without overflow.
double gamma_ratio(double x, double delta);

} // namespace heed::statistics
