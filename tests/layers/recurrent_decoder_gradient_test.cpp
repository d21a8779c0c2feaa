// Gradients of recurrent decoders in every variant, and of pooling, compared with finite differences in double
// precision.
#include "layers/pooling.hpp"
#include "layers/recurrent/decoder.hpp"
#include "tests/layers/attention_support.hpp"
#include "tests/layers/module_check.hpp"

#include <cmath>
#include <span>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Whether the normaliser has its own gradient, and not by definition the gradient of another normaliser.
bool smooth(const LayerChoice& choice) {
  const NormalizerInfo& info = normalizer_info(choice.attention.normalizer);
  return !info.gradient_of || !info.gradient_of(choice.normalizer_options);
}

// The centre of the attention window is S sigmoid(v . tanh(W h)). With a small v and an odd S, it stays near S / 2 for
// every h. The window's edges are at integers, so the step of a finite difference moves no key across an edge.
void keep_places_off_edges(Weights& weights) {
  for (const auto& e : weights.parameters.entries()) {
    if (!e.name.ends_with("place.height.weight")) continue;
    const std::span<Real> v(weights.parameters.values() + e.offset, static_cast<std::size_t>(e.shape.size()));
    double total = 0;
    for (const Real x : v) total += std::abs(static_cast<double>(x));
    for (Real& x : v) x = static_cast<Real>(static_cast<double>(x) * 0.3 / total); // within 0.075 S of S / 2
  }
}

void check_decoder(const LayerChoice& choice, const RecurrentOptions& options, std::int64_t memory_width,
                   std::int64_t steps = 3) {
  Weights weights;
  const RecurrentDecoder decoder(weights.scope(), choice, options, {},
                                 {.width = 3, .memory_width = memory_width, .longest = 5});
  weights.fill(9);
  keep_places_off_edges(weights);
  const std::vector<std::int32_t> lengths = {5, 3};
  const bool has_memory = recurrent_cell_info(options.cell).has_memory;
  std::vector<Operand> inputs = {Operand({2, steps, 3}, 1, moderate), Operand({2, 5, memory_width}, 2, moderate)};
  for (std::int64_t layer = 0; layer < options.layers; ++layer)
    for (std::uint64_t part = 0; part < 2; ++part)
      inputs.emplace_back(Shape{2, 3}, 30 + static_cast<std::uint64_t>(layer) * 2 + part, moderate);
  check_module(weights, inputs, [&](Pass& pass, const std::vector<Tensor>& x) {
    std::vector<RecurrentState> start;
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(options.layers); ++layer)
      start.push_back({x[2 + 2 * layer], has_memory ? x[3 + 2 * layer] : Tensor{}});
    return decoder(pass, x[0], start, decoder.read(pass, x[1], lengths.data()));
  });
}

} // namespace

TEST_CASE("recurrent decoders have the right gradient with every cell, attention and reach", "[gradient][recurrent]") {
  LayerChoice choice;
  choice.attention.score = "additive";
  for (const RecurrentCellInfo* cell : recurrent_cells())
    for (const RecurrentAttentionInfo* attention : recurrent_attentions())
      for (const std::string reach : {"global", "local_m", "local_p"})
        for (const bool feeding : {false, true})
          for (const double dropout : {0.0, 0.3}) {
            INFO(cell->about.name << ", " << attention->about.name << ", " << reach << ", input feeding " << feeding
                                  << ", dropout " << dropout);
            check_decoder(choice,
                          {.cell = cell->about.name,
                           .layers = dropout > 0 ? 2 : 1,
                           .dropout = dropout,
                           .attention = attention->about.name,
                           .input_feeding = feeding,
                           .reach = reach,
                           .window = 1},
                          3);
          }
}

TEST_CASE("recurrent decoders have the right gradient with every score and normaliser", "[gradient][recurrent]") {
  for_each_attention_in_turns([](const LayerChoice& choice, const ScoreInfo& score, Turns& turns) {
    if (!smooth(choice) || !serves_without_positions(choice)) return;
    for (const std::string attention : {"bahdanau", "luong"})
      for (const std::string reach : {"global", "local_p"}) {
        if (!turns()) continue;
        INFO(attention << ", " << reach);
        check_decoder(choice, {.attention = attention, .reach = reach, .window = 2}, score.equal_widths ? 3 : 2, 2);
      }
  });
}

TEST_CASE("pooling has the right gradient, by the mean and by every score and normaliser", "[gradient][pooling]") {
  const std::vector<std::int32_t> lengths = {4, 2};
  const auto check = [&](const std::string& word, const LayerChoice& choice) {
    Weights weights;
    const Pooling pooling(weights.scope(), word, choice, {3, 4});
    weights.fill(9);
    check_module(weights, {Operand({2, 4, 3}, 1, moderate)},
                 [&](Pass& pass, const std::vector<Tensor>& x) { return pooling(pass, x[0], lengths.data()); });
  };
  for (const std::string word : {"mean", "first", "last"}) check(word, {});
  for_each_attention([&](const LayerChoice& choice, const ScoreInfo&) {
    if (smooth(choice) && serves_without_positions(choice)) check("context", choice);
  });
}
