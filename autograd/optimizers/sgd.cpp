#include "autograd/optimizers/sgd.hpp"

#include "autograd/kernels/simd.hpp"

namespace heed::HEED_REAL {

namespace {

struct SgdStep {
  Real factor, decay, momentum, rate;
  bool nesterov;
};

void sgd(const SgdStep& s, Real* w, Real* m, const Real* gradients, std::int64_t size) {
  map(size, [&](std::int64_t i, int n) {
    const Simd weight = load(w + i, n);
    Simd g = s.factor * load(gradients + i, n) + s.decay * weight;
    if (m) {
      const Simd moment = s.momentum * load(m + i, n) + g;
      store(m + i, moment, n);
      g = s.nesterov ? g + s.momentum * moment : moment;
    }
    store(w + i, weight - s.rate * g, n);
  });
}

} // namespace

Sgd::Sgd(const SgdOptions& options, const Parameters& parameters)
    : Optimizer(parameters), options_(options),
      momentum_(options.momentum == 0 ? 0 : static_cast<std::size_t>(parameters.extent())) {}

void Sgd::update_one(const Update& u) {
  const SgdOptions& o = options_;
  const SgdStep s{.factor = static_cast<Real>(u.factor),
                  .decay = static_cast<Real>(u.entry.decay == WeightDecay::yes ? o.weight_decay : 0),
                  .momentum = static_cast<Real>(o.momentum),
                  .rate = static_cast<Real>(u.learning_rate),
                  .nesterov = o.nesterov};
  sgd(s, u.values, momentum_.empty() ? nullptr : momentum_.data() + u.entry.offset, u.gradients, u.entry.shape.size());
}

std::vector<Optimizer::StateArray> Sgd::state(const Parameters& parameters) {
  std::vector<StateArray> out;
  if (!momentum_.empty()) append_like(parameters, "sgd.momentum", momentum_, out);
  return out;
}

} // namespace heed::HEED_REAL
