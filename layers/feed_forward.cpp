#include "layers/feed_forward.hpp"

namespace heed::HEED_REAL {

namespace {

struct Activation {
  const char* name;
  Tensor (*function)(const Tensor&);
  bool gated;
};
constexpr Activation activations[] = {
    {"relu", relu, false}, {"gelu", gelu, false}, {"gelu_tanh", gelu_tanh, false},
    {"silu", silu, false}, {"swiglu", silu, true},
};

const Activation& find(const std::string& name) {
  for (const Activation& a : activations)
    if (a.name == name) return a;
  throw Failed(fmt::format("[feed_forward] there is no activation '{}'", name));
}

} // namespace

FeedForward::FeedForward(const Scope& scope, const std::string& name, std::int64_t width, std::int64_t hidden,
                         bool bias, const Init& output_init)
    : expand(scope / "expand", width, find(name).gated ? 2 * hidden : hidden, bias),
      project((scope / "project").starting_with(output_init), hidden, width, bias), activation(find(name).function),
      gated(find(name).gated) {}

Tensor FeedForward::operator()(Pass& pass, const Tensor& x) const {
  const Tensor h = expand(pass, x);
  if (!gated) return project(pass, activation(h));
  const std::int64_t hidden = h.shape[-1] / 2;
  return project(pass, mul(activation(slice(h, -1, 0, hidden)), slice(h, -1, hidden, hidden)));
}

} // namespace heed::HEED_REAL
