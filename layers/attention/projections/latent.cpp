#include "layers/attention/part.hpp"
#include "layers/attention/score.hpp"
#include "layers/norm.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t width = 0;
  std::int64_t query_width = 0;
  std::int64_t rotary_width = 0;
  double rotary_base = 10000;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("width", &Options::width, "width of the latent vector c, from which keys and values are made")
          .between(0, 1048576)
          .unit("features")
          .default_means("0: half of model.width"),
      option("query_width", &Options::query_width,
             "width of a latent vector from which queries are made; it has a norm of its own")
          .between(0, 1048576)
          .unit("features")
          .default_means("0: queries are made from x"),
      option("rotary_width", &Options::rotary_width,
             "decoupled rotary positions: the number of features by which queries, and one key that all heads share, "
             "are longer, and which are rotated by the position, in pairs (i, i + width / 2); DeepSeek's weights have "
             "pairs of neighbours, and need their features in another order; in self attention")
          .between(0, 65536)
          .unit("features")
          .default_means("0: none"),
      option("rotary_base", &Options::rotary_base, "of the decoupled rotary positions, as position.rotary.base")
          .above(1));
  return t;
}

std::int64_t latent_width(const Options& o, std::int64_t width) {
  return o.width ? o.width : std::max<std::int64_t>(width / 2, 1);
}

class Latent final : public Projection {
public:
  Latent(const Scope& scope, const ProjectionSizes& sizes, const Options& o)
      : sizes_(sizes), rotary_width_(sizes.memory_width > 0 ? 0 : o.rotary_width),
        content_width_(sizes.query_width - rotary_width_) {
    const std::int64_t latent = latent_width(o, sizes.width);
    const auto map = [&](const char* name, std::int64_t in, std::int64_t out) {
      return Linear(scope / name, in, out, sizes.bias);
    };
    if (o.query_width > 0) {
      query_latent_.emplace(scope / "query_latent", sizes.width, o.query_width, false);
      query_latent_norm_ = make_norm(scope / "query_latent_norm", "rms", {o.query_width, false});
    }
    query_.emplace(map("query", o.query_width > 0 ? o.query_width : sizes.width, sizes.queries()));
    latent_.emplace(scope / "latent", sizes.source_width(), latent, false);
    latent_norm_ = make_norm(scope / "latent_norm", "rms", {latent, false});
    key_.emplace(map("key", latent, sizes.key_heads * content_width_));
    value_.emplace(map("value", latent, sizes.values()));
    if (rotary_width_ == 0) return;
    rotary_key_.emplace(map("rotary_key", sizes.width, rotary_width_));
    rotary_ = position_info("rotary").make_relative(
        scope / "rotary",
        {.heads = sizes.query_heads, .query_width = rotary_width_, .value_width = sizes.value_width, .longest = 1},
        {{"base", o.rotary_base}});
    if (sizes.registers > 0) rotary_ = std::make_shared<SequencePosition>(rotary_, sizes.registers);
  }

  Tensor queries(Pass& pass, const Tensor& x, std::int64_t first) const override {
    const Tensor q = (*query_)(pass, query_latent_ ? (*query_latent_norm_)(pass, (*query_latent_)(pass, x)) : x);
    if (!rotary_) return q;
    const std::int64_t sequences = q.shape[0], length = q.shape[1];
    const Tensor heads = reshape(q, {sequences, length, sizes_.query_heads, sizes_.query_width});
    const Tensor rotated = rotary_->rotate(pass, transpose(slice(heads, 3, content_width_, rotary_width_), 1, 2), first,
                                           Rotated::queries);
    return reshape(concat({slice(heads, 3, 0, content_width_), transpose(rotated, 1, 2)}, 3), q.shape);
  }
  Projected keys_and_values(Pass& pass, const Tensor& source, std::int64_t first) const override {
    StoredVectors stored{.vectors = (*latent_norm_)(pass, (*latent_)(pass, source))};
    if (rotary_) {
      const Tensor one = (*rotary_key_)(pass, source);
      stored.rotated = reshape(rotary_->rotate(pass, unsqueeze(one, 1), first, Rotated::keys), one.shape);
    }
    return of_stored(pass, stored);
  }
  bool stores_vectors() const override { return true; }
  Projected of_stored(Pass& pass, const StoredVectors& stored) const override {
    const Tensor content = (*key_)(pass, stored.vectors);
    Projected out{.k = content, .v = (*value_)(pass, stored.vectors), .stored = stored};
    if (!rotary_) return out;
    const std::int64_t sequences = content.shape[0], length = content.shape[1], heads = sizes_.key_heads;
    const Tensor each = transpose(repeat_heads(unsqueeze(stored.rotated, 1), heads), 1, 2);
    out.k = reshape(concat({reshape(content, {sequences, length, heads, content_width_}), each}, 3),
                    {sequences, length, heads * sizes_.query_width});
    return out;
  }

private:
  ProjectionSizes sizes_;
  std::int64_t rotary_width_, content_width_;
  std::optional<Linear> query_latent_, query_, latent_, key_, value_, rotary_key_;
  std::unique_ptr<Norm> query_latent_norm_, latent_norm_;
  std::shared_ptr<const RelativePosition> rotary_; // null: no decoupled rotary positions
};

// x / sqrt(mean of x^2 + 1e-5) gain
std::vector<Real> normalised(const std::vector<Real>& x, const Real* gain) {
  double squares = 0;
  for (const Real v : x) squares += static_cast<double>(v) * static_cast<double>(v) / static_cast<double>(x.size());
  std::vector<Real> y = x;
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<Real>(static_cast<double>(x[i]) / std::sqrt(squares + 1e-5)) * gain[i];
  return y;
}

ProjectedRow row(const ProjectionArguments& a) {
  const ProjectionSizes& s = a.sizes;
  const Options o = table().read(*a.options);
  const std::int64_t latent = latent_width(o, s.width), content = s.query_width - o.rotary_width;
  auto next = a.parameters.begin();
  const auto affine = [&](const Real* x, std::int64_t in, std::int64_t out, bool bias) {
    const Real* const weight = *next++;
    return affine_row(x, in, out, weight, bias ? *next++ : nullptr);
  };
  std::vector<Real> of_query(a.x, a.x + s.width);
  if (o.query_width > 0) {
    of_query = affine(a.x, s.width, o.query_width, false);
    of_query = normalised(of_query, *next++);
  }
  ProjectedRow out;
  out.q = affine(of_query.data(), std::ssize(of_query), s.queries(), s.bias);
  std::vector<Real> c = affine(a.x, s.width, latent, false);
  c = normalised(c, *next++);
  const std::vector<Real> k = affine(c.data(), latent, s.key_heads * content, s.bias);
  out.v = affine(c.data(), latent, s.values(), s.bias);
  if (o.rotary_width == 0) {
    out.k = k;
    return out;
  }
  const OptionValues base = {{"base", o.rotary_base}};
  const auto rotate = [&](const Real* x, Rotated of) {
    std::vector<Real> y(x, x + o.rotary_width);
    if (a.position >= 0) position_info("rotary").rotate({x, o.rotary_width, a.position, of, 1, &base}, y.data());
    return y;
  };
  const std::vector<Real> of_all = affine(a.x, s.width, o.rotary_width, s.bias),
                          rotated = rotate(of_all.data(), Rotated::keys);
  for (std::int64_t h = 0; h < s.query_heads; ++h) {
    Real* const q = out.q.data() + h * s.query_width + content;
    std::ranges::copy(rotate(q, Rotated::queries), q);
  }
  for (std::int64_t h = 0; h < s.key_heads; ++h) {
    out.k.insert(out.k.end(), k.begin() + h * content, k.begin() + (h + 1) * content);
    out.k.insert(out.k.end(), rotated.begin(), rotated.end());
  }
  return out;
}

std::string wrong_sizes(const ProjectionSizes& sizes, const OptionValues& options) {
  if (sizes.value_heads != sizes.heads)
    return fmt::format("the projection 'latent' makes keys and values of all {} heads from one latent vector, so "
                       "attention.key_value_heads = {} would save nothing: set it to 0, and choose "
                       "attention.latent.width instead",
                       sizes.heads, sizes.value_heads);
  if (sizes.memory_width > 0) return ""; // there, nothing is rotated
  const std::int64_t rotated = table().read(options).rotary_width;
  if (rotated % 2 == 0) return "";
  return fmt::format("attention.latent.rotary_width is {}, and pairs of features are rotated: set an even number",
                     rotated);
}

} // namespace

extern const ProjectionInfo projection_latent{
    .about =
        {.name = "latent",
         .summary = "k = W_k c and v = W_v c in each head, from one vector c = rms(W x) of all heads (multi-head "
                    "latent attention, MLA); with rotary_width, k = [W_k c; rotary(W_r x)] and a part of q is "
                    "rotated",
         .paper = "DeepSeek-AI 2024, DeepSeek-V2, arXiv 2405.04434",
         .cost = "a matrix to c, and from it one for keys and one for values; in decoding, only c and the rotated "
                 "key are stored, and keys and values are made again at each step",
         .options = table().options(),
         .conditions = {{"attention.latent.rotary_base", "attention.latent.rotary_width", {OptionCondition::anything}},
                        {"init.qkv", "attention.cross_projection", {"dense", "shared_key_value", "identity"}}},
         .excludes = {{{{"", "attention.latent.rotary_width", {OptionCondition::anything}},
                        {"", "attention.query_key_norm", {"none"}, true}},
                       "query_key_norm would normalise each head's key together with the rotated key that all heads "
                       "share: set attention.query_key_norm = \"none\", or attention.latent.rotary_width = 0 (the "
                       "latent vectors have norms of their own)"}}},
    .make = [](const Scope& scope, const ProjectionSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<Projection> { return std::make_unique<Latent>(scope, sizes, table().read(options)); },
    .row = row,
    .wrong_sizes = wrong_sizes,
    .further_query_width = [](const OptionValues& options) { return table().read(options).rotary_width; }};

} // namespace heed::HEED_REAL
