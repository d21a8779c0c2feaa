#include "layers/mixers/decay.hpp"

namespace heed::HEED_REAL {

namespace {

class NoDecay final : public Decay {
public:
  Decayed operator()(Pass&, const Tensor&) const override { return {}; }
};

} // namespace

extern const DecayInfo decay_none{
    .about = {.name = "none", .summary = "the state keeps all that was written", .cost = "none"},
    .make = [](const Scope&, const DecaySizes&, const OptionValues&) -> std::unique_ptr<Decay> {
      return std::make_unique<NoDecay>();
    },
    .row =
        [](const Real*, const DecaySizes& sizes, const std::vector<const Real*>&, const OptionValues&) {
          return DecayRow{std::vector<double>(static_cast<std::size_t>(sizes.heads * sizes.width)), {}};
        }};

} // namespace heed::HEED_REAL
