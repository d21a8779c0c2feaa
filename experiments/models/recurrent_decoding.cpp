#include "experiments/models/recurrent_decoding.hpp"

#include <numeric>

namespace heed::HEED_REAL {

void RecurrentDecoding::Rows::keep(const Tensor& x) {
  if (!x.tape) return;
  const Tensor whole = contiguous(x);
  shape = whole.shape;
  numbers.assign(whole.data, whole.data + whole.size());
}

Tensor RecurrentDecoding::Rows::on(Tape& tape) const {
  return numbers.empty() ? Tensor{} : tape.constant(numbers.data(), shape);
}

void RecurrentDecoding::Rows::select(std::span<const std::int64_t> parents) {
  if (numbers.empty()) return;
  const std::int64_t row = shape.size() / shape[0];
  std::vector<Real> chosen;
  chosen.reserve(parents.size() * static_cast<std::size_t>(row));
  for (const std::int64_t parent : parents)
    chosen.insert(chosen.end(), numbers.begin() + parent * row, numbers.begin() + (parent + 1) * row);
  numbers = std::move(chosen);
  shape[0] = std::ssize(parents);
}

RecurrentDecoding::RecurrentDecoding(Step step, const RecurrentDecoder::State& start, const Source& source)
    : step_(std::move(step)), h_(start.cells.size()), c_(start.cells.size()) {
  keep(start);
  if (!source) return;
  const AttentionMemory& memory = source->memory;
  states_.keep(memory.values);
  transformed_.keep(memory.transformed);
  key_width_ = memory.keys.shape[2];
  lengths_.assign(source->lengths, source->lengths + memory.values.shape[0]);
  sources_.resize(lengths_.size());
  std::iota(sources_.begin(), sources_.end(), 0);
}

void RecurrentDecoding::keep(const RecurrentDecoder::State& state) {
  for (std::size_t i = 0; i < h_.size(); ++i) {
    h_[i].keep(state.cells[i].h);
    c_[i].keep(state.cells[i].c);
  }
  fed_.keep(state.fed);
  steps_ = state.step;
}

RecurrentDecoding::Source RecurrentDecoding::source_on(Tape& tape) const {
  if (lengths_.empty()) return {};
  const Tensor states = states_.on(tape), transformed = transformed_.on(tape);
  const Tensor one_key = transformed.tape ? tape.zeros({1, 1, 1, key_width_}) : Tensor{};
  return SourceAttention::Source{{.keys = states, .values = states, .transformed = transformed, .one_key = one_key},
                                 lengths_.data()};
}

Tensor RecurrentDecoding::step(Pass& pass, std::span<const std::int32_t> tokens) {
  Tape& tape = pass.tape();
  std::vector<RecurrentState> cells;
  for (std::size_t i = 0; i < h_.size(); ++i) cells.push_back({h_[i].on(tape), c_[i].on(tape)});
  RecurrentDecoder::State state{cells, fed_.on(tape), steps_};
  const Tensor y = step_(pass, tokens, state, source_on(tape));
  // Overwrites memory that the tape uses as constants. Without a gradient, the constants are not read again.
  keep(state);
  return y;
}

void RecurrentDecoding::select(std::span<const std::int64_t> parents) {
  for (std::size_t i = 0; i < h_.size(); ++i) {
    h_[i].select(parents);
    c_[i].select(parents);
  }
  fed_.select(parents);
  if (lengths_.empty()) return;
  std::vector<std::int64_t> sources;
  std::vector<std::int32_t> lengths;
  for (const std::int64_t parent : parents) {
    sources.push_back(sources_[static_cast<std::size_t>(parent)]);
    lengths.push_back(lengths_[static_cast<std::size_t>(parent)]);
  }
  // If rows only move within one source, the source does not need to be copied.
  if (sources != sources_) {
    states_.select(parents);
    transformed_.select(parents);
  }
  sources_ = std::move(sources);
  lengths_ = std::move(lengths);
}

} // namespace heed::HEED_REAL
