#include "layers/recurrent/decoder.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

// One row of a sequence as a sequence of one: [B, W] to [B, 1, W].
Tensor as_sequence(const Tensor& x) { return unsqueeze(x, 1); }
Tensor as_row(const Tensor& x) { return reshape(x, {x.shape[0], x.shape[2]}); }

bool attends_before(const RecurrentOptions& options) { return options.attention == "bahdanau"; }
bool feeds(const RecurrentOptions& options) { return options.attention == "luong" && options.input_feeding; }

std::int64_t input_width(const RecurrentOptions& options, const RecurrentDecoder::Shape& shape) {
  return shape.width + (attends_before(options) ? shape.memory_width : 0) + (feeds(options) ? shape.width : 0);
}

} // namespace

RecurrentDecoder::RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                                   const OptionValues& cell_options, const Shape& shape)
    : attends_before_(attends_before(options)), feeds_(feeds(options)), dropout_(options.dropout),
      cells_(scope / "cells", options.cell, cell_options,
             {.input_width = input_width(options, shape), .width = shape.width, .layers = options.layers,
              .dropout = options.dropout}) {
  if (options.attention == "none") return;
  attention_.emplace(scope / "attention", choice, options,
                     SourceAttention::Shape{shape.width, shape.memory_width, shape.longest});
  const std::int64_t read = shape.memory_width + shape.width + (attends_before_ ? shape.width : 0);
  const Init start = Init::uniform(1 / std::sqrt(static_cast<double>(read)));
  readout_.emplace((scope / "readout").starting_by_itself_with(start), read, shape.width, attends_before_);
}

std::optional<SourceAttention::Source> RecurrentDecoder::read(Pass& pass, const Tensor& states,
                                                              const std::int32_t* lengths) const {
  if (!attention_) return {};
  return attention_->read(pass, states, lengths);
}

Tensor RecurrentDecoder::read_out(Pass& pass, std::initializer_list<Tensor> parts) const {
  const Tensor all = concat(parts, -1);
  return tanh((*readout_)(pass, all));
}

RecurrentDecoder::State RecurrentDecoder::begin(Pass& pass, RecurrentStates start) const {
  return {start, feeds_ ? pass.tape().zeros(start.back().h.shape) : Tensor{}, 0};
}

RecurrentDecoder::Seen RecurrentDecoder::attend_then_step(Pass& pass, const Tensor& e, State& state,
                                                          const SourceAttention::Source& source) const {
  const Tensor context = as_row((*attention_)(pass, as_sequence(state.cells.back().h), source, state.step++));
  const Recurrent::Step step = cells_.step(pass, concat({e, context}, 1), state.cells);
  state.cells = step.state;
  return {step.output, context};
}

Tensor RecurrentDecoder::step(Pass& pass, const Tensor& e, State& state,
                              const std::optional<SourceAttention::Source>& source) const {
  if (attends_before_) {
    const Seen seen = attend_then_step(pass, e, state, *source);
    return read_out(pass, {pass.dropout(seen.state, dropout_), seen.context, e});
  }
  const Recurrent::Step step = cells_.step(pass, feeds_ ? concat({e, state.fed}, 1) : e, state.cells);
  state.cells = step.state;
  const Tensor s = pass.dropout(step.output, dropout_);
  if (!attention_) return s;
  const Tensor context = as_row((*attention_)(pass, as_sequence(step.output), *source, state.step++));
  const Tensor a = read_out(pass, {context, s});
  if (feeds_) state.fed = a;
  return a;
}

Tensor RecurrentDecoder::operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                                    const std::optional<SourceAttention::Source>& source) const {
  const Op op("recurrent_decoder", {&e});
  op.check(e.rank() == 3, "the tokens' vectors must be [B, T, width], they are {}", e.shape.text());
  const std::int64_t steps = e.shape[1];
  if (!attends_before_ && !feeds_) {
    const Tensor states = cells_(pass, e, nullptr, start).states;
    const Tensor s = pass.dropout(states, dropout_);
    return attention_ ? read_out(pass, {(*attention_)(pass, contiguous(states), *source, 0), s}) : s;
  }
  State state = begin(pass, start);
  // What the steps leave stands in the arena, as closures and `concat` want it.
  const std::span<Tensor> out(pass.tape().keep<Tensor>(steps), static_cast<std::size_t>(steps));
  const std::span<Tensor> contexts(pass.tape().keep<Tensor>(steps), static_cast<std::size_t>(steps));
  const Tensor by_step = contiguous(transpose(e, 0, 1));  // [T, B, width]: a step's rows stand together
  for (std::size_t t = 0; t < out.size(); ++t) {
    const Tensor now = reshape(slice(by_step, 0, static_cast<std::int64_t>(t), 1), {e.shape[0], e.shape[2]});
    if (attends_before_) {
      const Seen seen = attend_then_step(pass, now, state, *source);
      out[t] = as_sequence(seen.state);
      contexts[t] = as_sequence(seen.context);
    } else {
      out[t] = as_sequence(step(pass, now, state, source));
    }
  }
  const Tensor all = concat(out, 1);
  return attends_before_ ? read_out(pass, {pass.dropout(all, dropout_), concat(contexts, 1), e}) : all;
}

} // namespace heed::HEED_REAL
