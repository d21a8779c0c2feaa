#include "autograd/optimizer.hpp"

#include "autograd/error.hpp"
#include "autograd/shards.hpp"
#include "autograd/squares.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

void Optimizer::update(Parameters& parameters, const Real* gradients, double learning_rate, double factor,
                       std::int64_t step, std::size_t begin, std::size_t end) {
  if (extent_ != parameters.extent())
    throw Failed(fmt::format("[optimizer] the state is for {} numbers, the parameters have {}", extent_,
                             parameters.extent()));
  end = std::min(end, parameters.entries().size());
  for (std::size_t i = begin; i < end; ++i) {
    const Parameters::Entry& entry = parameters.entries()[i];
    update_one({.entry = entry,
                .index = i,
                .values = parameters.values() + entry.offset,
                .gradients = gradients + entry.offset,
                .learning_rate = learning_rate,
                .factor = factor,
                .step = step});
  }
}

void Optimizer::update(Parameters& parameters, const Real* gradients, double learning_rate, double factor,
                       std::int64_t step) {
  update(parameters, gradients, learning_rate, factor, step, 0, parameters.entries().size());
}

void Optimizer::append_like(const Parameters& parameters, const std::string& name, std::span<Real> numbers,
                            std::vector<StateArray>& to) {
  for (const Parameters::Entry& e : parameters.entries())
    to.push_back({name + "." + e.name, e.shape,
                  numbers.subspan(static_cast<std::size_t>(e.offset), static_cast<std::size_t>(e.shape.size()))});
}

double global_norm(const Real* gradients, std::int64_t extent) {
  double total = 0;
  for (std::int64_t at = 0; at < extent; at += sum_block)
    total += sum_of_squares(gradients + at, std::min(sum_block, extent - at));
  return std::sqrt(total);
}

double clip_factor(double norm, double limit) { return limit == 0 ? 1 : std::min(1.0, limit / (norm + 1e-6)); }

} // namespace heed::HEED_REAL
