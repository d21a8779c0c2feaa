#include "layers/attention/attention.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

namespace heed::HEED_REAL {

ScoreForm Score::form(Pass&, const Tensor&, const Tensor&) const { return {}; }

Tensor Score::operator()(Pass& pass, const Tensor& queries, const Tensor& keys) const {
  return compose(form(pass, queries, keys));
}

Tensor repeat_heads(const Tensor& x, std::int64_t heads) {
  const std::int64_t sharing = heads / std::max<std::int64_t>(x.shape[1], 1);
  if (sharing == 1) return x;
  std::span<Tensor> all(x.tape->keep<Tensor>(heads), static_cast<std::size_t>(heads));
  for (std::int64_t h = 0; h < heads; ++h) all[static_cast<std::size_t>(h)] = slice(x, 1, h / sharing, 1);
  return concat(all, 1);
}

ScoreForm projected(const ScoreForm& form) {
  const auto* f = std::get_if<AdditiveForm>(&form);
  if (!f || !f->matrices.query.tape) return form;
  return AdditiveForm{matmul(f->queries, f->matrices.query), matmul(f->keys, f->matrices.key), f->weights};
}

Tensor compose(const ScoreForm& unprojected) {
  const ScoreForm f = projected(unprojected);
  if (const auto* inner = std::get_if<DotProductForm>(&f)) {
    const Tensor s = matmul(inner->queries, transpose(inner->keys));
    return inner->factor == 1 ? s : scale(s, inner->factor);
  }
  if (const auto* pairwise = std::get_if<AdditiveForm>(&f)) {
    const Tensor& w = pairwise->weights;
    const Tensor each = tanh(add(unsqueeze(pairwise->queries, 3), unsqueeze(pairwise->keys, 2)));
    return sum(mul(each, reshape(w, {w.shape[0], 1, 1, w.shape[1]})), -1);
  }
  if (const auto* distances = std::get_if<DistanceForm>(&f)) {
    // A loop over dimensions, so that no tensor has an entry for each pair and dimension.
    const Tensor k = transpose(distances->keys);
    const auto along = [&](std::int64_t d) {
      return abs(sub(slice(distances->queries, -1, d, 1), slice(k, -2, d, 1)));
    };
    Tensor total = along(0);
    for (std::int64_t d = 1; d < distances->queries.shape[3]; ++d) total = add(total, along(d));
    return scale(total, -distances->factor);
  }
  throw Failed("[attention] a score must give its form or compute its scores itself");
}

const ScoreInfo& score_info(const std::string& name) {
  return variant_named(scores(), name, "[attention] there is no score");
}
const NormalizerInfo& normalizer_info(const std::string& name) {
  return variant_named(normalizers(), name, "[attention] there is no normaliser");
}

Mask self_attention_mask(const AttentionOptions& options, const Mask& given) {
  Mask mask = given;
  mask.causal = mask.causal || options.causal;
  if (options.causal) mask.prefix = std::max(mask.prefix, options.prefix);
  mask.dilation = std::lcm(mask.dilation, options.dilation);
  const std::int64_t window = options.window * options.dilation;
  if (window > 0) mask.window = mask.window < 0 ? window : std::min(mask.window, window);
  return mask;
}

Attention::Attention(const Scope& scope, const LayerChoice& choice, const ScoreSizes& sizes, AttentionPlace::Kind kind)
    : place_{scope.name(), kind, scope.reads()}, sizes_(sizes), dropout_(choice.attention.dropout) {
  if (kind != AttentionPlace::Kind::self)
    if (const Refusal refused = excluded(choice, false)) throw Failed("[attention] " + refused.why);
  const ScoreInfo& info = score_info(choice.attention.score);
  if (info.equal_widths && sizes.query_width != sizes.key_width)
    throw Failed(fmt::format("[attention] the score '{}' needs queries and keys of one width, they have {} and {}",
                             info.about.name, sizes.query_width, sizes.key_width));
  score_ = info.make(scope / "score", sizes, choice.score_options);
  normalizer_ =
      normalizer_info(choice.attention.normalizer).make(scope / "normalizer", sizes.heads, choice.normalizer_options);
  constexpr std::array places{AttentionPartInfo::Place::every_attention};
  parts_ = make_parts(places, scope,
                      {.heads = sizes.heads,
                       .query_heads = sizes.heads,
                       .key_heads = sizes.heads,
                       .value_heads = sizes.heads,
                       .query_width = sizes.query_width,
                       .layer = sizes.layer},
                      choice);
  formula_ = AttentionFormula::make(scope / "formula", choice.attention, sizes);
}

AttentionProblem Attention::problem(const AttentionInputs& inputs) const {
  AttentionProblem x{.queries = inputs.queries,
                     .keys = inputs.keys.value_or(inputs.values),
                     .values = inputs.values,
                     .form = {},
                     .score = score_.get(),
                     .position = inputs.position,
                     .forget = inputs.forget,
                     .householder = inputs.householder,
                     .formula = formula_.get(),
                     .parts = parts_,
                     .mask = inputs.mask,
                     .selection = inputs.selection,
                     .gates = inputs.gates,
                     .normalizer = normalizer_.get(),
                     .factors = inputs.factors,
                     .dropout = dropout_,
                     .lambda = inputs.lambda,
                     .unseen_queries = inputs.unseen_queries,
                     .unseen_keys = inputs.unseen_keys,
                     .rows = inputs.rows};
  Tensor &q = x.queries, &k = x.keys, &v = x.values;
  const Op op("attention", {&q, &k, &v});
  const bool single = q.rank() == 3;
  op.check((single || q.rank() == 4) && k.rank() == q.rank() && v.rank() == q.rank(),
           "queries, keys and values must all have 3 axes [B, T, D] or all 4 [B, H, T, D], they have {}, {} and {}",
           q.rank(), k.rank(), v.rank());
  if (single)
    for (Tensor* t : {&q, &k, &v}) *t = unsqueeze(*t, 1);
  if (q.shape[0] != k.shape[0] || k.shape[0] != v.shape[0] || q.shape[1] != sizes_.heads || k.shape[1] < 1 ||
      sizes_.heads % k.shape[1] != 0 || v.shape[1] != k.shape[1])
    op.fail(fmt::format("q, k and v must share the batch and have {} heads, of which several may share those of k and "
                        "v: q is {}, k is {}, v is {}",
                        sizes_.heads, q.shape.text(), k.shape.text(), v.shape.text()));
  if (k.shape[2] != v.shape[2])
    op.fail(fmt::format("k and v must have one length: k is {}, v is {}", k.shape.text(), v.shape.text()));
  if (q.shape[3] != sizes_.query_width || k.shape[3] != sizes_.key_width)
    op.fail(fmt::format("the head widths must be {} (q) and {} (k): q is {}, k is {}", sizes_.query_width,
                        sizes_.key_width, q.shape.text(), k.shape.text()));
  x.unrotated_queries = q;
  return x;
}

void Attention::give_form(Pass& pass, AttentionProblem& x, bool keys_rotated) const {
  if (x.position) {
    x.queries = x.position->rotate(pass, x.queries, x.mask.offset, Rotated::queries);
    if (!keys_rotated) x.keys = x.position->rotate(pass, x.keys, 0, Rotated::keys);
  }
  x.form = score_->form(pass, x.queries, x.keys);
}

Tensor Attention::run(Pass& pass, AttentionProblem& x, Tensor* weights_out) const {
  Tensor weights;
  if (weights_out || pass.wants_weights()) x.weights = &weights;
  x.differentiable_weights = weights_out;
  const Tensor y = algorithm_for(x).run(pass, x);
  if (x.weights) {
    if (x.lambda.tape) weights = difference_of_maps(weights, x.lambda);
    if (const Tensor seen = x.seen(weights); seen.tape) pass.show_weights(place_, seen);
    if (weights_out) *weights_out = weights;
  }
  if (pass.wants_scores()) show_scores(pass, place_, x);
  return heads_of(pass, x, y);
}

Tensor Attention::heads_of(Pass& pass, const AttentionProblem& x, const Tensor& y) const {
  const Tensor heads = x.lambda.tape ? difference_of_maps(y, x.lambda) : y;
  pass.show_heads(place_, heads);
  return heads;
}

Tensor Attention::operator()(Pass& pass, const AttentionInputs& inputs, Tensor* weights_out) const {
  AttentionProblem x = problem(inputs);
  give_form(pass, x, inputs.keys_rotated);
  const Tensor y = run(pass, x, weights_out);
  return inputs.queries.rank() == 3 ? reshape(y, {y.shape[0], y.shape[2], y.shape[3]}) : y;
}

std::unique_ptr<MixerState> Attention::start(const AttentionInputs& inputs) const {
  const AttentionAlgorithm* own = score_->algorithm();
  return own && own->start && own->serves(problem(inputs)) ? own->start() : nullptr;
}

Tensor Attention::step(Pass& pass, const AttentionInputs& inputs, MixerState& state) const {
  AttentionProblem x = problem(inputs);
  give_form(pass, x, inputs.keys_rotated);
  return heads_of(pass, x, score_->algorithm()->step(pass, x, state));
}

AttentionMemory Attention::encode_memory(Pass& pass, const Tensor& values, const std::optional<Tensor>& given) const {
  const Tensor keys = given.value_or(values);
  const Op op("attention", {&values, &keys});
  op.check(sizes_.heads == 1 && values.rank() == 3 && keys.rank() == 3,
           "an encoder output has one head, with values and keys [B, T, D]: there are {} heads, {} and {} "
           "axes",
           sizes_.heads, values.rank(), keys.rank());
  op.check(keys.shape[2] == sizes_.key_width, "the keys' width must be {}: k is {}", sizes_.key_width,
           keys.shape.text());
  AttentionMemory m{.keys = keys, .values = values, .transformed = {}, .one_key = {}};
  const Tensor one = pass.tape().zeros({1, 1, 1, sizes_.query_width});
  const ScoreForm form = projected(score_->form(pass, one, unsqueeze(keys, 1)));
  std::visit(
      [&](const auto& f) {
        if constexpr (requires { f.keys; }) {
          m.transformed = f.keys;
          m.one_key = pass.tape().zeros({1, 1, 1, sizes_.key_width});
          if constexpr (requires { pack_memory(f, values); })
            if (normalizer_->is_softmax()) m.packed = pack_memory(f, unsqueeze(values, 1));
        }
      },
      form);
  return m;
}

Tensor Attention::operator()(Pass& pass, const Tensor& queries, const AttentionMemory& memory, const Mask& mask,
                             const Tensor* factors) const {
  if (!memory.transformed.tape)
    return (*this)(
        pass, {.queries = queries, .values = memory.values, .keys = memory.keys, .mask = mask, .factors = factors});
  const Op op("attention", {&queries, &memory.values});
  op.check(queries.rank() == 3 && queries.shape[2] == sizes_.query_width && queries.shape[0] == memory.keys.shape[0],
           "queries must be [{}, T, {}], they are {}", memory.keys.shape[0], sizes_.query_width, queries.shape.text());
  const std::int64_t sequences = queries.shape[0], count = queries.shape[1];
  // Queries are transformed one by one, so the queries of all sequences can be transformed as one sequence.
  ScoreForm form = projected(score_->form(pass, reshape(queries, {1, 1, sequences * count, sizes_.query_width}),
                                          memory.one_key));
  const auto split = [&](const Tensor& q) { return reshape(q, {sequences, 1, count, q.shape[3]}); };
  std::visit(
      [&](auto& f) {
        if constexpr (requires { f.keys; }) {
          f.queries = split(f.queries);
          f.keys = memory.transformed;
        }
      },
      form);
  AttentionProblem x{.queries = unsqueeze(queries, 1),
                     .keys = unsqueeze(memory.keys, 1),
                     .values = unsqueeze(memory.values, 1),
                     .form = form,
                     .score = score_.get(),
                     .formula = formula_.get(),
                     .parts = parts_,
                     .mask = mask,
                     .normalizer = normalizer_.get(),
                     .memory = memory.packed,
                     .factors = factors,
                     .dropout = dropout_};
  const Tensor y = run(pass, x, nullptr);
  return reshape(y, {sequences, count, y.shape[3]});
}

} // namespace heed::HEED_REAL
