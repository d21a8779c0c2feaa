// The distributions that statistics go by, from Boost.Math, whose headers take long to compile.
#pragma once

namespace heed::statistics {

/// Student's t with so many degrees of freedom: the value below which a share p lies; the shares below and above t.
double student_quantile(double freedom, double p);
double student_below(double freedom, double t);
double student_above(double freedom, double t);

/// The noncentral t, shifted by `shift`: the shares below and above t.
double noncentral_below(double freedom, double shift, double t);
double noncentral_above(double freedom, double shift, double t);

/// The standard normal distribution.
double normal_quantile(double p);
double normal_below(double x);

/// The beta distribution with parameters a and b.
double beta_quantile(double a, double b, double p);

/// gamma(x) / gamma(x + delta), without overflow.
double gamma_ratio(double x, double delta);

} // namespace heed::statistics
