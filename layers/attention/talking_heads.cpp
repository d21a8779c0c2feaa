#include "layers/attention/talking_heads.hpp"

namespace heed::HEED_REAL {

TalkingHeads::TalkingHeads(const Scope& scope, const std::string& word, std::int64_t heads) {
  const auto matrix = [&](const char* name) {
    std::vector<double> identity(static_cast<std::size_t>(heads * heads), 0.0);
    for (std::int64_t h = 0; h < heads; ++h) identity[static_cast<std::size_t>(h * (heads + 1))] = 1;
    return scope.plain(name, {heads, heads}, Init::listed(std::move(identity)));
  };
  if (word == "scores" || word == "both") of_scores_ = matrix("scores");
  if (word == "weights" || word == "both") of_weights_ = matrix("weights");
}

Tensor TalkingHeads::mixed(Pass& pass, const Tensor& x, const std::optional<ParameterId>& matrix) {
  if (!matrix) return x;
  const Shape& s = x.shape;
  return reshape(matmul(pass(*matrix), reshape(contiguous(x), {s[0], s[1], s[2] * s[3]})), s);
}

} // namespace heed::HEED_REAL
