#include "experiments/models/recurrent_parts.hpp"

#include "experiments/config/config.hpp"

#include <numeric>

namespace heed::HEED_REAL {

namespace {

std::int64_t direction_width(const Config& config, bool both_directions) {
  if (!both_directions) return config.model.width;
  if (const std::string why = wrong_recurrent_width(config); !why.empty()) throw Failed("[recurrent] " + why);
  return config.model.width / 2;
}

} // namespace

std::string wrong_recurrent_width(const Config& config) {
  if (config.model.width % 2 == 0) return "";
  return fmt::format("bidirectional = true halves model.width, which is {}: make it even, or set "
                     "recurrent.bidirectional = false",
                     config.model.width);
}

RecurrentEncoder::RecurrentEncoder(const Scope& scope, const Config& config, const TaskSizes& sizes, bool both)
    : embedding(scope / "embedding", sizes.vocabulary, config.model.width),
      layers(scope / "encoder", config.recurrent.cell, config.recurrent_options,
             {.input_width = config.model.width,
              .width = direction_width(config, both),
              .layers = config.recurrent.layers,
              .both_directions = both,
              .dropout = config.recurrent.dropout}),
      both_directions(both), embedding_dropout(config.model.dropout), dropout(config.recurrent.dropout) {}

RecurrentEncoder::Result RecurrentEncoder::operator()(Pass& pass, const Batch& batch) const {
  const Tensor e = embedding(pass, batch.tokens.data(), {batch.sequences, batch.length});
  const Recurrent::Result r = layers(pass, pass.dropout(e, embedding_dropout), batch.lengths.data());
  const Tensor states = pass.dropout(r.states, dropout);
  if (!both_directions) return {states, r.last};
  const std::size_t count = r.last.size() / 2;
  auto* joined = pass.tape().keep<RecurrentState>(static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const RecurrentState &forward = r.last[2 * i], &backward = r.last[2 * i + 1];
    joined[i] = {concat({forward.h, backward.h}, 1), forward.c.tape ? concat({forward.c, backward.c}, 1) : Tensor{}};
  }
  return {states, {joined, count}};
}

void RecurrentDecoding::PerSequence::keep(const Tensor& x) {
  if (!x.tape) return;
  const Tensor whole = contiguous(x);
  shape = whole.shape;
  numbers.assign(whole.data, whole.data + whole.size());
}

Tensor RecurrentDecoding::PerSequence::on(Tape& tape) const {
  return numbers.empty() ? Tensor{} : tape.constant(numbers.data(), shape);
}

void RecurrentDecoding::PerSequence::select(std::span<const std::int64_t> parents) {
  if (numbers.empty()) return;
  const std::int64_t each = numbers_each();
  std::vector<Real> chosen;
  chosen.reserve(parents.size() * static_cast<std::size_t>(each));
  for (const std::int64_t parent : parents)
    chosen.insert(chosen.end(), numbers.begin() + parent * each, numbers.begin() + (parent + 1) * each);
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
  // If sequences only move within one source, the source does not need to be copied.
  if (sources != sources_) {
    states_.select(parents);
    transformed_.select(parents);
  }
  sources_ = std::move(sources);
  lengths_ = std::move(lengths);
}

std::int64_t RecurrentDecoding::state_size(std::int64_t) const {
  std::int64_t sum = fed_.numbers_each() + states_.numbers_each() + transformed_.numbers_each();
  for (const auto* cells : {&h_, &c_})
    for (const PerSequence& layer : *cells) sum += layer.numbers_each();
  return sum;
}

} // namespace heed::HEED_REAL
