#include "layers/feed_forward.hpp"

namespace heed::HEED_REAL {

namespace {

struct Choice {
  const char* name;
  Activation activation;
  bool gated;
};
constexpr Choice choices[] = {
    {"relu", Activation::relu, false}, {"gelu", Activation::gelu, false},  {"gelu_tanh", Activation::gelu_tanh, false},
    {"silu", Activation::silu, false}, {"swiglu", Activation::silu, true},
};

const Choice& find(const std::string& name) {
  for (const Choice& c : choices)
    if (c.name == name) return c;
  throw Failed(fmt::format("[feed_forward] there is no activation '{}'", name));
}

} // namespace

FeedForward::FeedForward(const Scope& scope, const std::string& name, std::int64_t width, std::int64_t hidden,
                         bool bias, const InitRule& output_init, double dropped)
    : expand(scope / "expand", width, find(name).gated ? 2 * hidden : hidden, bias, {.in = width, .out = hidden}),
      project((scope / "project").starting_with(output_init), hidden, width, bias), activation(find(name).activation),
      gated(find(name).gated), dropout(dropped) {
  if (gated) scope.set_parts(expand.weight, {hidden, hidden});
}

Tensor FeedForward::operator()(Pass& pass, const Tensor& x) const {
  if (!gated) return project(pass, pass.dropout(expand(pass, x, activation), dropout));
  const Tensor h = expand(pass, x);
  const std::int64_t hidden = h.shape[-1] / 2;
  return project(pass, pass.dropout(mul(silu(slice(h, -1, 0, hidden)), slice(h, -1, hidden, hidden)), dropout));
}

} // namespace heed::HEED_REAL
