#include "experiments/statistics/distributions.hpp"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace heed::statistics {

using boost::math::complement;
using Student = boost::math::students_t;
using Noncentral = boost::math::non_central_t;

double student_quantile(double freedom, double p) { return quantile(Student(freedom), p); }
double student_below(double freedom, double t) { return cdf(Student(freedom), t); }
double student_above(double freedom, double t) { return cdf(complement(Student(freedom), t)); }

double noncentral_below(double freedom, double shift, double t) { return cdf(Noncentral(freedom, shift), t); }
double noncentral_above(double freedom, double shift, double t) {
  return cdf(complement(Noncentral(freedom, shift), t));
}

double normal_quantile(double p) { return quantile(boost::math::normal(), p); }
double normal_below(double x) { return cdf(boost::math::normal(), x); }

double chi_squared_quantile(double freedom, double p) { return quantile(boost::math::chi_squared(freedom), p); }

double beta_quantile(double a, double b, double p) { return quantile(boost::math::beta_distribution<>(a, b), p); }

double gamma_ratio(double x, double delta) { return boost::math::tgamma_delta_ratio(x, delta); }

} // namespace heed::statistics
