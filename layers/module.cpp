#include "layers/module.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

void Observer::weights(std::string_view, const Tensor&) {}
void Observer::heads(std::string_view, const Tensor&) {}
void Observer::output(std::string_view, const Tensor&) {}

Pass::Pass(Tape& tape, Parameters& parameters, Real* gradients, const Options& options)
    : tape_(&tape), parameters_(&parameters), gradients_(gradients), options_(options),
      leaves_(tape.keep<Tensor>(static_cast<std::int64_t>(parameters.entries().size()))) {
  std::fill_n(leaves_, parameters.entries().size(), Tensor{});
}

Tensor Pass::operator()(ParameterId id) {
  Tensor& leaf = leaves_[id.index];
  if (!leaf.tape) {
    const Parameters::Entry& e = (*parameters_)[id];
    leaf = tape_->leaf(parameters_->values(id), gradients_ ? gradients_ + e.offset : nullptr, e.shape);
  }
  return leaf;
}

Tensor Pass::dropout(const Tensor& x, double probability) {
  if (!training() || probability == 0) return x;
  const DropoutPlace place = next_dropout(x.size() / std::max<std::int64_t>(x.shape[0], 1));
  return heed::HEED_REAL::dropout(x, probability, place.key, place.first);
}

Pass::DropoutPlace Pass::next_dropout(std::int64_t row) {
  // Every place has 2^40 numbers of its own; within them, an element's number counts from the whole batch's first row.
  const std::uint64_t site = dropout_sites_++ << 40;
  return {{options_.seed, Stream::dropout, static_cast<std::uint64_t>(options_.step)},
          site + static_cast<std::uint64_t>(options_.first_row * row)};
}

void Pass::keep(const std::string& attention, const Tensor& weights) {
  if (options_.keep_weights) attention_weights.push_back(weights);
  if (options_.observer && options_.observer->wants_weights()) options_.observer->weights(attention, weights);
}

void Pass::finish_gradients() {
  if (!gradients_) return;
  for (std::size_t i = 0; i < parameters_->entries().size(); ++i) {
    const Parameters::Entry& e = parameters_->entries()[i];
    if (!leaves_[i].tape || Tape::untouched(leaves_[i]))
      std::fill_n(gradients_ + e.offset, e.shape.size(), Real{0});
  }
}

} // namespace heed::HEED_REAL
