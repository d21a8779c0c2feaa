#include "layers/recurrent/recurrent.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

const RecurrentCellInfo& recurrent_cell_info(const std::string& name) {
  return variant_named(recurrent_cells(), name, "[recurrent] there is no cell");
}

Recurrent::Recurrent(const Scope& scope, const std::string& cell, const OptionValues& options, const Sizes& sizes)
    : name_(scope.name()), info_(&recurrent_cell_info(cell)), sizes_(sizes) {
  if (sizes.layers < 1 || sizes.width < 1 || sizes.input_width < 1)
    throw Failed(fmt::format("[recurrent] there must be a layer, a width and an input: there are {} layers of width {} "
                             "on an input of width {}",
                             sizes.layers, sizes.width, sizes.input_width));
  const Init start = Init::uniform(1.0 / std::sqrt(static_cast<double>(sizes.width)));
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
    for (std::int64_t d = 0; d < directions(); ++d) {
      const Scope own =
          (scope / "layers" / std::to_string(layer) / (d == 0 ? "forward" : "backward")).starting_with(start);
      const std::int64_t in = layer == 0 ? sizes.input_width : output_width();
      Linear input(own / "input", in, info_->gates * sizes.width, sizes.bias);
      parts_.push_back({input, info_->make(own / "recurrent", sizes.width, options)});
    }
}

void Recurrent::check_states(const Op& op, RecurrentStates states) const {
  op.check(states.size() == parts_.size(), "there must be {} states, one for each layer and direction; there are {}",
           parts_.size(), states.size());
}

RecurrentStates Recurrent::start(Pass& pass, std::int64_t sequences) const {
  const auto n = static_cast<std::int64_t>(parts_.size());
  auto* states = pass.tape().keep<RecurrentState>(n);
  const Tensor zeros = pass.tape().zeros({sequences, sizes_.width});
  for (std::int64_t i = 0; i < n; ++i) states[i] = {zeros, info_->has_memory ? zeros : Tensor{}};
  return {states, parts_.size()};
}

Recurrent::Result Recurrent::operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths,
                                        RecurrentStates before) const {
  const Op op("recurrent", {&x});
  op.check(x.rank() == 3 && x.shape[2] == sizes_.input_width, "x must be [B, T, {}], it is {}", sizes_.input_width,
           x.shape.text());
  if (before.empty()) before = start(pass, x.shape[0]);
  check_states(op, before);
  auto* last = pass.tape().keep<RecurrentState>(static_cast<std::int64_t>(parts_.size()));
  Tensor in = transpose(x, 0, 1); // time-major from here on
  for (std::size_t i = 0; i < parts_.size();) {
    if (i > 0 && sizes_.dropout > 0) // dropout expects the batch sequences as the first axis
      in = transpose(pass.dropout(transpose(in, 0, 1), sizes_.dropout), 0, 1);
    in = reshape(in, in.shape); // makes `in` contiguous, with the strides of its shape
    Tensor out[2];
    for (std::size_t d = 0; d < static_cast<std::size_t>(directions()); ++d, ++i) {
      const Tensor projected = parts_[i].input(pass, in);
      const Recurrence r = (*parts_[i].cell)(pass, projected, before[i], {.lengths = lengths, .reverse = d == 1});
      out[d] = r.states;
      last[i] = {r.last, r.cell};
    }
    in = sizes_.both_directions ? concat({out[0], out[1]}, 2) : out[0];
  }
  const Tensor states = transpose(in, 0, 1);
  pass.show(name_, states);
  return {states, {last, parts_.size()}};
}

Recurrent::Step Recurrent::step(Pass& pass, const Tensor& x, RecurrentStates before,
                                const RecurrentSteps& steps) const {
  const Op op("recurrent", {&x});
  op.check(!sizes_.both_directions,
           "a layer of two directions has no single step: it must see the end before it begins");
  op.check(x.rank() == 2 && x.shape[1] == sizes_.input_width, "x must be [B, {}], it is {}", sizes_.input_width,
           x.shape.text());
  check_states(op, before);
  auto* after = pass.tape().keep<RecurrentState>(static_cast<std::int64_t>(parts_.size()));
  Tensor in = x;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i > 0) in = pass.dropout(in, sizes_.dropout);
    const Recurrence r = (*parts_[i].cell)(pass, unsqueeze(parts_[i].input(pass, in), 0), before[i],
                                           {.lengths = steps.lengths, .first = steps.first});
    in = r.last;
    after[i] = {r.last, r.cell};
  }
  pass.show(name_, in);
  return {in, {after, parts_.size()}};
}

} // namespace heed::HEED_REAL
