#include "autograd/causal_convolution.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <array>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t convolution = 0;
  std::string convolution_on = "qkv";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("convolution", &Options::convolution,
             "Taps n of a causal convolution of queries, keys and values along the tokens, channel by channel, after "
             "their projections: x_t becomes x_t + sum over s < n of w_s x_(t - s), and w starts at 0 (Primer: 3, "
             "Canon-B: 4). Norms of queries, keys and values, and rotations, come after it. It begins anew with each "
             "segment. Only for causal self attention.")
          .between(0, 1024)
          .unit("tokens")
          .default_means("0: none"),
      option("convolution_on", &Options::convolution_on,
             "What the convolution changes: queries (q), keys (k), values (v), or several of them.")
          .one_of({"qkv", "qk", "kv", "q", "k", "v"}));
  return t;
}

/// For each channel c of the queries, keys and values of all heads (multi-DConv-head attention of Primer, So et al.
/// 2021, arXiv 2109.08668; Canon-B, Allen-Zhu 2025, arXiv 2512.17351):
///   y_tc = x_tc + sum over s < n of w_c,(n - 1 - s) x_(t - s),c
/// with zeros before the first token and before each segment. w [channels, n] starts at 0: at first, attention is that
/// without a convolution, and weight decay leads back there. Canon's code for Transformers adds x_tc, too. It starts w
/// uniformly within 1 / sqrt(n), and has norms of queries and keys before the convolution. Primer does not add x_tc,
/// which allows the same functions. Its code starts with the factors 1 / 2 of x_t and 1 / (2 n) of each earlier token.
class TokenConvolution final : public AttentionPart {
public:
  TokenConvolution(const Scope& scope, const PartSizes& sizes, const Options& options) : taps_(options.convolution) {
    const auto filters = [&](char of, const char* name, std::int64_t channels) -> std::optional<ParameterId> {
      if (options.convolution_on.find(of) == std::string::npos) return std::nullopt;
      return (scope / "convolution").filters(name, {channels, taps_}, Init::zeros());
    };
    filters_ = {filters('q', "query", sizes.query_heads * sizes.query_width),
                filters('k', "key", sizes.key_heads * sizes.query_width),
                filters('v', "value", sizes.value_heads * sizes.value_width)};
  }

  Projected tokens(Pass& pass, const Projected& given, const PartTokens& tokens) const override {
    Projected out = given;
    const Tensor before = tokens.kept ? tokens.kept->on(pass.tape()) : Tensor{};
    std::vector<Tensor> all; // the channels that are convolved, side by side
    std::int64_t channel = 0;
    const std::array<Tensor*, 3> of{&out.q, &out.k, &out.v};
    for (std::size_t n = 0; n < of.size(); ++n) {
      if (!filters_[n]) continue;
      const Tensor x = *of[n];
      ConvolutionStart start{.segments = tokens.segments, .first = tokens.first};
      if (before.tape) start.before = slice(before, 2, channel, x.shape[2]);
      *of[n] = causal_convolution(x, with_token_itself(pass(*filters_[n])), nullptr, start);
      all.push_back(x);
      channel += x.shape[2];
    }
    if (tokens.kept && taps_ > 1) tokens.kept->set_last(concat(all, 2), taps_ - 1);
    return out;
  }
  std::optional<std::int64_t> earlier_tokens() const override { return taps_ - 1; }

private:
  // The last tap is the token's own.
  Tensor with_token_itself(const Tensor& w) const {
    const Tensor own = w.tape->zeros({taps_});
    own.data[taps_ - 1] = 1;
    return add(w, own);
  }

  std::int64_t taps_;
  std::array<std::optional<ParameterId>, 3> filters_; // of queries, keys and values
};

void vectors(PartSequence& sequence) {
  const Options options = table().read(sequence.choice->part_options);
  std::size_t next = 0;
  const auto convolve = [&](char of, std::vector<std::vector<Real>>& x) {
    if (options.convolution_on.find(of) == std::string::npos) return;
    const Real* w = sequence.parameters[next++];
    const std::vector<std::vector<Real>> given = x;
    for (std::int64_t t = 0; t < std::ssize(x); ++t)
      for (std::size_t c = 0; c < x[0].size(); ++c) {
        auto y = static_cast<double>(given[static_cast<std::size_t>(t)][c]);
        for (std::int64_t s = 0; s < std::min(options.convolution, t + 1); ++s)
          y +=
              static_cast<double>(w[static_cast<std::int64_t>(c) * options.convolution + options.convolution - 1 - s]) *
              static_cast<double>(given[static_cast<std::size_t>(t - s)][c]);
        x[static_cast<std::size_t>(t)][c] = static_cast<Real>(y);
      }
  };
  convolve('q', sequence.q);
  convolve('k', sequence.k);
  convolve('v', sequence.v);
}

} // namespace

extern const AttentionPartInfo attention_part_convolution{
    .about = {.name = "convolution",
              .summary = "queries, keys and values become x_t + sum over s < n of w_s x_(t - s), for each channel",
              .paper = "So et al. 2021, arXiv 2109.08668 (Primer); Allen-Zhu 2025, arXiv 2512.17351 (Canon-B)",
              .cost = "n parameters, and 2 n operations for each token, of each channel of queries, keys and values",
              .options = table().options(),
              .conditions = {{"attention.convolution_on", "attention.convolution", {OptionCondition::anything}}},
              .excludes = {{{{"", "attention.causal", {"false"}}},
                            "the convolution of queries, keys and values reads earlier tokens only: it needs "
                            "attention.causal = true (in an encoder-decoder, choose it by [[block.override]] with "
                            "stack = \"decoder\")"},
                           {{{"", "model.segment_end", {OptionCondition::anything}},
                             {"", "model.registers", {OptionCondition::anything}}},
                            "the convolution begins anew with each segment, so only the first one would see the "
                            "registers: set model.registers = 0"},
                           {{{"", "attention.projection", {"latent"}},
                             {"", "attention.latent.rotary_width", {OptionCondition::anything}}},
                            "the convolution comes before rotations, and the projection 'latent' rotates a part of "
                            "queries and keys itself: set attention.latent.rotary_width = 0"}}},
    .place = AttentionPartInfo::Place::self_attention,
    .make = [](const Scope& scope, const PartSizes& sizes,
               const LayerChoice& choice) -> std::unique_ptr<AttentionPart> {
      return std::make_unique<TokenConvolution>(scope, sizes, table().read(choice.part_options));
    },
    .loops = {.vectors = vectors}};

} // namespace heed::HEED_REAL
