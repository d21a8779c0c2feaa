#include "layers/module.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

Scope::Scope(const Scope&) = default;
Scope& Scope::operator=(const Scope&) = default;
Scope::~Scope() = default;

Scope Scope::operator/(const std::string& part) const {
  Scope out = *this;
  out.prefix_ += part + ".";
  return out;
}

Scope Scope::starting_with(const InitRule& start) const {
  Scope out = *this;
  out.rules_.linear = start;
  return out;
}

Scope Scope::sharing(const Scope& other) const {
  Scope out = *this;
  out.own_length_ = prefix_.size();
  out.shared_prefix_ = other.prefix_;
  return out;
}

ParameterId Scope::add(const std::string& name, const Shape& shape, const Init& init, WeightDecay decay,
                       bool is_map) const {
  if (shared_prefix_) return shared(*shared_prefix_ + prefix_.substr(own_length_) + name, shape);
  return parameters_->add(prefix_ + name, shape, init, decay, this->name(), is_map);
}

ParameterId Scope::shared(const std::string& name, const Shape& shape) const {
  const Parameters::Entry* e = parameters_->find(name);
  if (!e || !(e->shape == shape))
    throw Failed(fmt::format("[parameters] {} is to share \"{}\" {}, {}", this->name(), name, shape.text(),
                             e ? "which is " + e->shape.text() : "which does not exist"));
  return parameters_->id(*e);
}

void Observer::weights(const AttentionPlace&, const Tensor&) {}
void Observer::scores(const AttentionPlace&, const Tensor&) {}
void Observer::state(const AttentionPlace&, const Tensor&, const Tensor&) {}
void Observer::heads(const AttentionPlace&, const Tensor&) {}
void Observer::output(std::string_view, const Tensor&) {}
void Observer::block(std::string_view, const Tensor&) {}

Pass::Pass(Tape& tape, Parameters& parameters, Real* gradients, const Options& options)
    : state_{&tape,
             &parameters,
             gradients,
             options,
             tape.keep<Tensor>(static_cast<std::int64_t>(parameters.entries().size())),
             0} {
  std::fill_n(state_.leaves, parameters.entries().size(), Tensor{});
}

Pass::Pass(const State& state, const Part& part) : state_(state), part_(part) { state_.options.observer = nullptr; }

Tensor Pass::operator()(ParameterId id) {
  Tensor& leaf = state_.leaves[id.index];
  if (!leaf.tape) {
    const Parameters::Entry& e = (*state_.parameters)[id];
    leaf = tape().leaf(state_.parameters->values(id), state_.gradients ? state_.gradients + e.offset : nullptr,
                       e.shape);
  }
  return leaf;
}

Tensor Pass::dropout(const Tensor& x, double probability) {
  if (!training() || probability == 0) return x;
  const DropoutPlace place = next_dropout(x.shape);
  return heed::HEED_REAL::dropout(x, probability, place.key, place.numbers);
}

Pass::DropoutPlace Pass::next_dropout(const Shape& shape) {
  // Each dropout site has 2^40 random numbers. Within a site, elements are numbered from the first sequence of the
  // whole batch.
  const std::uint64_t site = state_.dropout_sites++ << 40;
  const RandomKey key{state_.options.seed, Stream::dropout, static_cast<std::uint64_t>(state_.options.step)};
  const auto number = [&](std::int64_t i) { return static_cast<std::uint64_t>(i); };
  if (!part_) {
    const std::int64_t each = shape.size() / std::max<std::int64_t>(shape[0], 1);
    return {key, site + number(state_.options.first_sequence * each)};
  }
  const Part& p = *part_;
  if (shape.rank != 4 || shape[0] != 1 || shape[2] != p.some_queries || shape[3] != p.some_keys)
    throw Failed(fmt::format("[dropout] what is random within attention is by query and key, [1, H, {}, {}] here; this "
                             "is {}: take it of queries and keys before they meet, in a score's form",
                             p.some_queries, p.some_keys, shape.text()));
  const std::int64_t matrix = p.queries * p.keys;
  return {key,
          {site + number((state_.options.first_sequence + p.entry) * shape[1] * matrix + p.first_query * p.keys),
           p.some_queries, number(p.keys), number(matrix)}};
}

void Pass::finish_gradients() {
  if (!state_.gradients) return;
  for (std::size_t i = 0; i < state_.parameters->entries().size(); ++i) {
    const Parameters::Entry& e = state_.parameters->entries()[i];
    if (!state_.leaves[i].tape || Tape::untouched(state_.leaves[i]))
      std::fill_n(state_.gradients + e.offset, e.shape.size(), Real{0});
  }
}

} // namespace heed::HEED_REAL
