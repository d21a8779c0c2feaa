#include "autograd/optimizer.hpp"

#include "autograd/error.hpp"
#include "autograd/kernels/pack.hpp"
#include "autograd/shards.hpp"
#include "autograd/squares.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

struct AdamStep {
  Real factor, epsilon;
  Real beta1, rest1;  // rest1 = 1 - beta1, formed in double
  Real beta2, rest2;
  Real kept;        // what the decoupled decay leaves of a weight
  Real coupled;     // what the coupled decay adds of a weight to its gradient
  Real rate;        // over the correction of the first moment
  Real correction;  // of the second moment's square root
};

void adam(const AdamStep& s, Real* w, Real* m, Real* v, const Real* gradients, std::int64_t size) {
  map(size, [&](std::int64_t i, int n) {
    Pack weight = load(w + i, n);
    const Pack g = s.factor * load(gradients + i, n) + s.coupled * weight;
    const Pack first = s.beta1 * load(m + i, n) + s.rest1 * g;
    const Pack second = s.beta2 * load(v + i, n) + s.rest2 * (g * g);
    store(m + i, first, n);
    store(v + i, second, n);
    weight = s.kept * weight - s.rate * first / (xsimd::sqrt(second) / s.correction + s.epsilon);
    store(w + i, weight, n);
  });
}

struct SgdStep {
  Real factor, decay, momentum, rate;
  bool nesterov;
};

void sgd(const SgdStep& s, Real* w, Real* m, const Real* gradients, std::int64_t size) {
  map(size, [&](std::int64_t i, int n) {
    const Pack weight = load(w + i, n);
    Pack g = s.factor * load(gradients + i, n) + s.decay * weight;
    if (m) {
      const Pack moment = s.momentum * load(m + i, n) + g;
      store(m + i, moment, n);
      g = s.nesterov ? g + s.momentum * moment : moment;
    }
    store(w + i, weight - s.rate * g, n);
  });
}

} // namespace

Optimizer::Optimizer(const AdamOptions& options, std::int64_t extent)
    : adam_(true), adam_options_(options), first_(static_cast<std::size_t>(extent)),
      second_(static_cast<std::size_t>(extent)) {}

Optimizer::Optimizer(const SgdOptions& options, std::int64_t extent)
    : adam_(false), sgd_options_(options), first_(options.momentum == 0 ? 0 : static_cast<std::size_t>(extent)) {}

void Optimizer::update(Parameters& parameters, const Real* gradients, double learning_rate, double factor,
                       std::int64_t step, std::size_t begin, std::size_t end) {
  if (const auto extent = static_cast<std::size_t>(parameters.extent()); !first_.empty() && first_.size() != extent)
    throw Failed(fmt::format("[optimizer] the state is for {} numbers, the parameters have {}", first_.size(), extent));
  end = std::min(end, parameters.entries().size());
  const double t = static_cast<double>(step);
  for (std::size_t i = begin; i < end; ++i) {
    const Parameters::Entry& entry = parameters.entries()[i];
    const std::int64_t at = entry.offset, size = entry.shape.size();
    if (adam_) {
      const AdamOptions& o = adam_options_;
      const double decay = entry.decay == WeightDecay::yes ? o.weight_decay : 0;
      const AdamStep s{.factor = static_cast<Real>(factor),
                       .epsilon = static_cast<Real>(o.epsilon),
                       .beta1 = static_cast<Real>(o.beta1),
                       .rest1 = static_cast<Real>(1 - o.beta1),
                       .beta2 = static_cast<Real>(o.beta2),
                       .rest2 = static_cast<Real>(1 - o.beta2),
                       .kept = static_cast<Real>(o.coupled ? 1 : 1 - learning_rate * decay),
                       .coupled = static_cast<Real>(o.coupled ? decay : 0),
                       .rate = static_cast<Real>(learning_rate / (1 - std::pow(o.beta1, t))),
                       .correction = static_cast<Real>(std::sqrt(1 - std::pow(o.beta2, t)))};
      adam(s, parameters.values() + at, first_.data() + at, second_.data() + at, gradients + at, size);
    } else {
      const SgdOptions& o = sgd_options_;
      const SgdStep s{.factor = static_cast<Real>(factor),
                      .decay = static_cast<Real>(entry.decay == WeightDecay::yes ? o.weight_decay : 0),
                      .momentum = static_cast<Real>(o.momentum),
                      .rate = static_cast<Real>(learning_rate),
                      .nesterov = o.nesterov};
      sgd(s, parameters.values() + at, first_.empty() ? nullptr : first_.data() + at, gradients + at, size);
    }
  }
}

void Optimizer::update(Parameters& parameters, const Real* gradients, double learning_rate, double factor,
                       std::int64_t step) {
  update(parameters, gradients, learning_rate, factor, step, 0, parameters.entries().size());
}

std::vector<std::pair<std::string, std::span<Real>>> Optimizer::state() {
  if (adam_) return {{"adam.m", first_}, {"adam.v", second_}};
  if (first_.empty()) return {};
  return {{"sgd.momentum", first_}};
}

double global_norm(const Real* gradients, std::int64_t extent) {
  double total = 0;
  for (std::int64_t at = 0; at < extent; at += sum_block)
    total += sum_of_squares(gradients + at, std::min(sum_block, extent - at));
  return std::sqrt(total);
}

double clip_factor(double norm, double limit) { return limit == 0 ? 1 : std::min(1.0, limit / (norm + 1e-6)); }

} // namespace heed::HEED_REAL
