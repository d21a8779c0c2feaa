#include "autograd/ops.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/block_stack.hpp"
#include "experiments/training/row_scores.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Stores the scores of each attention of a pass over one row. All have as many queries as keys.
class ScoresObserver final : public RowScores {
public:
  /// @param self  the place of self attention
  ScoresObserver(std::string self, std::int64_t length) : self_(std::move(self)), length_(length) {}

  std::vector<AddedScores> seen;

private:
  void query(const AttentionPlace& place, std::int64_t, const Query& scores) override {
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    AddedScores& to = of(place);
    to.heads.resize(static_cast<std::size_t>(scores.heads));
    for (std::int64_t head = 0; head < scores.heads; ++head) {
      std::vector<double>& pairs = to.heads[static_cast<std::size_t>(head)];
      const std::span<const Real> seen_keys = scores.head(head);
      pairs.insert(pairs.end(), seen_keys.begin(), seen_keys.end());
      pairs.insert(pairs.end(), static_cast<std::size_t>(length_ - scores.keys), hidden); // keys that no query sees
    }
  }

  AddedScores& of(const AttentionPlace& place) {
    const std::string name = place.kind == AttentionPlace::Kind::cross ? "cross attention, block 0" : self_;
    const auto found = std::ranges::find(seen, name, &AddedScores::place);
    return found != seen.end() ? *found : seen.emplace_back(AddedScores{name, length_, length_, {}});
  }

  std::string self_;
  std::int64_t length_;
};

// The scores of a stack's first block for zero vectors, and with cross attention to zero vectors.
std::vector<AddedScores> of_stack(const Config& config, const std::string& place, bool crosses, std::int64_t length,
                                  std::int64_t patches_in_row) {
  Config first = attention_of_first_block(config);
  PositionOptions& position = first.layers.front().position;
  if (std::ranges::count(positions_of_blocks(), position.kind) == 0) position = {.kind = "none"};
  const std::int64_t width = config.model.width;
  Parameters parameters;
  const BlockStack stack(Scope(parameters, init_rules(first)), first,
                         {.longest = length,
                          .memory_width = crosses ? width : 0,
                          .longest_memory = crosses ? length : 0,
                          .patches_in_row = patches_in_row});
  parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  std::vector<std::int32_t> halves(static_cast<std::size_t>(length));
  std::fill(halves.begin() + std::ssize(halves) / 2, halves.end(), 1);
  const Segments segments{halves.data(), length};
  const Mask mask{.query_segments = segments, .key_segments = segments};
  ScoresObserver observer(place, length);
  Tape tape;
  tape.record(false);
  Pass pass(tape, parameters, nullptr, {.observer = &observer});
  const Tensor zeros = tape.zeros({1, length, width});
  if (!crosses) {
    stack(pass, zeros, mask);
  } else {
    const auto call = [&](const Block& of, const Tensor& x, Tensor* first_values) {
      return of(pass, x, mask, zeros, mask, first_values);
    };
    stack.through(pass, stack.enter(pass, zeros, 0), call);
  }
  return std::move(observer.seen);
}

} // namespace

std::vector<AddedScores> added_scores(const Config& config, std::int64_t length, std::int64_t patches_in_row) {
  if (config.decoder_layers.empty()) return of_stack(config, "block 0", false, length, patches_in_row);
  std::vector<AddedScores> out = of_stack(encoder_config(config), "encoder, block 0", false, length, 0);
  std::ranges::move(of_stack(decoder_config(config), "decoder, block 0", true, length, 0), std::back_inserter(out));
  return out;
}

} // namespace heed::HEED_REAL
