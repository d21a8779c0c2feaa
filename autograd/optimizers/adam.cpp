#include "autograd/optimizers/adam.hpp"

#include "autograd/kernels/parallel_loops.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

struct AdamStep {
  Real factor, epsilon;
  Real beta1, rest1; // rest1 = 1 - beta1, formed in double
  Real beta2, rest2;
  Real kept;       // factor of the weight under decoupled decay
  Real coupled;    // coupled decay adds this times the weight to the gradient
  Real rate;       // learning rate / (1 - beta1^t)
  Real correction; // sqrt(1 - beta2^t)
};

// Not inlined: threads that share a parameter and one thread have the same code, and so the same bits.
[[gnu::noinline]] void adam(const AdamStep& s, Real* w, Real* m, Real* v, const Real* gradients, std::int64_t size) {
  map(size, [&](std::int64_t i, int n) {
    Simd weight = load(w + i, n);
    const Simd g = s.factor * load(gradients + i, n) + s.coupled * weight;
    const Simd first = s.beta1 * load(m + i, n) + s.rest1 * g;
    const Simd second = s.beta2 * load(v + i, n) + s.rest2 * (g * g);
    store(m + i, first, n);
    store(v + i, second, n);
    weight = s.kept * weight - s.rate * first / (xsimd::sqrt(second) / s.correction + s.epsilon);
    store(w + i, weight, n);
  });
}

} // namespace

Adam::Adam(const AdamOptions& options, const Parameters& parameters)
    : Optimizer(parameters), options_(options), m_(static_cast<std::size_t>(parameters.extent())),
      v_(static_cast<std::size_t>(parameters.extent())) {}

void Adam::update_one(const Update& u) {
  const AdamOptions& o = options_;
  const double t = static_cast<double>(u.step);
  const double decay = u.entry.decay == WeightDecay::yes ? o.weight_decay : 0;
  const AdamStep s{.factor = static_cast<Real>(u.factor),
                   .epsilon = static_cast<Real>(o.epsilon),
                   .beta1 = static_cast<Real>(o.beta1),
                   .rest1 = static_cast<Real>(1 - o.beta1),
                   .beta2 = static_cast<Real>(o.beta2),
                   .rest2 = static_cast<Real>(1 - o.beta2),
                   .kept = static_cast<Real>(o.coupled ? 1 : 1 - u.learning_rate * decay),
                   .coupled = static_cast<Real>(o.coupled ? decay : 0),
                   .rate = static_cast<Real>(u.learning_rate / (1 - std::pow(o.beta1, t))),
                   .correction = static_cast<Real>(std::sqrt(1 - std::pow(o.beta2, t)))};
  const std::int64_t at = u.entry.offset;
  in_parallel(u.entry.shape.size(), 3 * per_element, elements_together, [&](std::int64_t begin, std::int64_t end) {
    adam(s, u.values + begin, m_.data() + at + begin, v_.data() + at + begin, u.gradients + begin, end - begin);
  });
}

std::vector<Optimizer::StateArray> Adam::state(const Parameters& parameters) {
  std::vector<StateArray> out;
  append_like(parameters, "adam.m", m_, out);
  append_like(parameters, "adam.v", v_, out);
  return out;
}

} // namespace heed::HEED_REAL
