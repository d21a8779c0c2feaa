#include "layers/position/position.hpp"

namespace heed::HEED_REAL {

namespace {

class Learned : public Position {
public:
  Learned(const Scope& scope, std::int64_t width, std::int64_t longest)
      : weight_(scope.position("weight", {longest, width})), longest_(longest) {}

  Tensor vectors(Pass& pass, std::int64_t first, std::int64_t length) const override {
    if (first + length > longest_)
      throw Failed(
          fmt::format("[position] learned positions exist up to {}, the length of training's longest sequence, but "
                      "{} are needed: take a scheme for any length, such as sinusoidal",
                      longest_, first + length));
    return slice(pass(weight_), 0, first, length);
  }

private:
  ParameterId weight_;
  std::int64_t longest_;
};

} // namespace

extern const PositionInfo position_learned{
    .about = {.name = "learned",
              .summary = "a vector for each position, learned",
              .paper = "Gehring et al. 2017, arXiv 1705.03122; Devlin et al. 2019, arXiv 1810.04805",
              .equals = "none with vectors of zeros",
              .cost = "width parameters for each position; no positions beyond training's",
              .disables = {"position.shared"}},
    .has_vectors = true,
    .make = [](const Scope& scope, std::int64_t width, std::int64_t longest, const OptionValues&)
        -> std::unique_ptr<Position> { return std::make_unique<Learned>(scope, width, longest); }};

} // namespace heed::HEED_REAL
