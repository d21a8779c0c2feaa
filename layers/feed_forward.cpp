#include "layers/feed_forward.hpp"

namespace heed::HEED_REAL {

const FeedForwardInfo& feed_forward_info(const std::string& name) {
  return variant_named(feed_forwards(), name, "[block] there is no activation");
}

FeedForward::FeedForward(const Scope& scope, const std::string& kind, std::int64_t width, std::int64_t hidden,
                         bool bias, const InitRule& output_init, double dropped)
    : expand(scope / "expand", width, feed_forward_info(kind).gated ? 2 * hidden : hidden, bias,
             {.in = width, .out = hidden}),
      project((scope / "project").starting_with(output_init), hidden, width, bias),
      activation(feed_forward_info(kind).activation), gated(feed_forward_info(kind).gated), dropout(dropped) {
  if (gated) scope.set_parts(expand.weight, {hidden, hidden});
}

Tensor FeedForward::operator()(Pass& pass, const Tensor& x) const {
  if (!gated) return project(pass, pass.dropout(expand(pass, x, activation), dropout));
  const Tensor h = expand(pass, x);
  const std::int64_t hidden = h.shape[-1] / 2;
  const Tensor gate = activate(slice(h, -1, 0, hidden), activation);
  return project(pass, pass.dropout(mul(gate, slice(h, -1, hidden, hidden)), dropout));
}

} // namespace heed::HEED_REAL
