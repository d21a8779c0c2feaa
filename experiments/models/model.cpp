#include "experiments/models/model.hpp"

#include "experiments/config/config.hpp"

#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

const ModelInfo& model_info(const std::string& kind) {
  return variant_named(models(), kind, "[model] there is no kind");
}

void Decoding::read(Pass& pass, std::int64_t sequences, std::span<const std::int32_t> tokens) {
  const std::size_t count = static_cast<std::size_t>(sequences), length = tokens.size() / count;
  std::vector<std::int32_t> next(count);
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t r = 0; r < count; ++r) next[r] = tokens[r * length + t];
    const Tape::ArenaScope transient(pass.tape());
    step(pass, next);
  }
}

namespace {

// The rule for "init_std", for a standard deviation, or for a rule's name. PyTorch initialises nn.Embedding with N(0,
// 1).
InitRule start_of(const WordOrNumber& chosen, const Config& config, const InitRule& torch) {
  if (chosen.word.empty()) return Init::normal(chosen.number);
  if (chosen.word == "xavier_uniform") return InitRule(InitRule::Rule::xavier_uniform);
  if (chosen.word == "xavier_normal") return InitRule(InitRule::Rule::xavier_normal);
  return chosen.word == "torch" ? torch : Init::normal(config.model.init_std);
}

} // namespace

InitRules init_rules(const Config& config) {
  const InitOptions& o = config.init;
  const InitRule map(InitRule::Rule::torch), vectors = Init::normal(1);
  InitRules out(start_of(o.linear, config, map));
  out.linear_is_chosen = o.linear.word != "init_std";
  out.qkv_as_one = o.qkv == "joint";
  out.embedding = start_of(o.embedding, config, vectors);
  out.position = start_of(o.position, config, vectors);
  out.head = start_of(o.head, config, map);
  return out;
}

InitRule residual_init(const Config& config) {
  InitRule out = init_rules(config).linear;
  if (config.model.scaled_init && out.rule == InitRule::Rule::given)
    out.init.a /= std::sqrt(2.0 * static_cast<double>(config.model.layers));
  return out;
}

bool has_head_bias(const Config& config, bool usual) {
  return config.model.head_bias == "usual" ? usual : config.model.head_bias == "yes";
}

} // namespace heed::HEED_REAL
