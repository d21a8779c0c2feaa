#include "layers/init_rule.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

double number(InitRule::Rule rule, std::int64_t in, std::int64_t out) {
  const auto inputs = static_cast<double>(in), both = inputs + static_cast<double>(out);
  switch (rule) {
    case InitRule::Rule::xavier_uniform: return std::sqrt(6 / both);
    case InitRule::Rule::xavier_normal: return std::sqrt(2 / both);
    case InitRule::Rule::torch: return 1 / std::sqrt(inputs);
    case InitRule::Rule::given: break;
  }
  return 0;
}

} // namespace

Init InitRule::weight(const Fans& fans) const {
  if (rule == Rule::given) return init;
  const double first = number(rule, fans.in, fans.out);
  Init out = rule == Rule::xavier_normal ? Init::normal(first) : Init::uniform(first);
  if (fans.first_numbers > 0) {
    out.first = fans.first_numbers;
    out.b = number(rule, fans.in, fans.second_out);
  }
  return out;
}

Init InitRule::bias(std::int64_t fan_in) const {
  return rule == Rule::torch ? Init::uniform(number(rule, fan_in, 0)) : Init::zeros();
}

} // namespace heed::HEED_REAL
