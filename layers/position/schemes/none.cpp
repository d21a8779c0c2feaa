#include "layers/position/position.hpp"

namespace heed::HEED_REAL {

extern const PositionInfo position_none{
    .about = {.name = "none",
              .summary = "no positions; only a causal mask gives the model information about order",
              .paper = "Haviv et al. 2022, arXiv 2203.16634 (Transformers without positional encodings)",
              .cost = "nothing",
              .disables = {"position.combine", "position.width", "position.concat", "position.shared",
                           "init.position"}},
    .has_vectors = false,
    .make = [](const Scope&, std::int64_t, std::int64_t, const OptionValues&) -> std::unique_ptr<Position> {
      return nullptr;
    }};

} // namespace heed::HEED_REAL
