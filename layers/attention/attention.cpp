#include "layers/attention/attention.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace heed::HEED_REAL {

namespace {

std::int64_t divided(std::int64_t width, std::int64_t heads) {
  if (heads < 1 || width % heads != 0)
    throw Failed(fmt::format("[attention] {} heads do not divide a width of {}", heads, width));
  return width / heads;
}

// A view of a part of a projection, [B, T, heads * D], as [B, heads, T, D].
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  Tensor y = x;
  const std::int64_t width = x.shape[2] / heads;
  y.shape = {x.shape[0], heads, x.shape[1], width};
  y.stride = {x.stride[0], width * x.stride[2], x.stride[1], x.stride[2]};
  return y;
}

// The inverse: [B, heads, T, D] to [B, T, heads * D].
Tensor merge_heads(const Tensor& x) {
  return reshape(transpose(x, 1, 2), {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]});
}

} // namespace

ScoreForm Score::form(Pass&, const Tensor&, const Tensor&) const { return {}; }

Tensor Score::operator()(Pass& pass, const Tensor& queries, const Tensor& keys) const {
  return compose(form(pass, queries, keys));
}

Tensor for_each_head(const Tensor& x, std::int64_t heads) {
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

Attention::Attention(const Scope& scope, const LayerChoice& choice, const ScoreShape& shape, AttentionPlace::Kind kind)
    : place_{scope.name(), kind, scope.reads()}, shape_(shape), dropout_(choice.attention.dropout) {
  const ScoreInfo& info = score_info(choice.attention.score);
  if (info.equal_widths && shape.query_width != shape.key_width)
    throw Failed(fmt::format("[attention] the score '{}' needs queries and keys of one width, they have {} and {}",
                             info.about.name, shape.query_width, shape.key_width));
  score_ = info.make(scope / "score", shape, choice.score_options);
  normalizer_ =
      normalizer_info(choice.attention.normalizer).make(scope / "normalizer", shape.heads, choice.normalizer_options);
  if (normalizer_->is_ordered() && kind != AttentionPlace::Kind::self)
    throw Failed(
        fmt::format("[attention] the normaliser '{}' orders keys by their distance from the query, so only self "
                    "attention can use it: choose another one here (in an encoder-decoder, by "
                    "attention.cross_normalizer)",
                    choice.attention.normalizer));
  if (const std::string& word = choice.attention.talking_heads; word != "none")
    talking_.emplace(scope / "talking_heads", word, shape.heads);
  formula_ = AttentionFormula::make(scope / "formula", choice.attention, shape.heads, shape.query_width, shape.longest);
}

AttentionProblem Attention::problem(const AttentionInputs& inputs) const {
  AttentionProblem x{.queries = inputs.queries,
                     .keys = inputs.keys.value_or(inputs.values),
                     .values = inputs.values,
                     .form = {},
                     .score = score_.get(),
                     .position = inputs.position,
                     .forget = inputs.forget,
                     .formula = formula_.get(),
                     .talking = talking_ ? &*talking_ : nullptr,
                     .mask = inputs.mask,
                     .normalizer = normalizer_.get(),
                     .factors = inputs.factors,
                     .dropout = dropout_,
                     .rows = inputs.rows};
  Tensor &q = x.queries, &k = x.keys, &v = x.values;
  const Op op("attention", {&q, &k, &v});
  const bool single = q.rank() == 3;
  op.check((single || q.rank() == 4) && k.rank() == q.rank() && v.rank() == q.rank(),
           "queries, keys and values must all have 3 axes [B, T, D] or all 4 [B, H, T, D], they have {}, {} and {}",
           q.rank(), k.rank(), v.rank());
  if (single)
    for (Tensor* t : {&q, &k, &v}) *t = unsqueeze(*t, 1);
  if (q.shape[0] != k.shape[0] || k.shape[0] != v.shape[0] || q.shape[1] != shape_.heads || k.shape[1] < 1 ||
      shape_.heads % k.shape[1] != 0 || v.shape[1] != k.shape[1])
    op.fail(fmt::format("q, k and v must share the batch and have {} heads, of which several may share those of k and "
                        "v: q is {}, k is {}, v is {}",
                        shape_.heads, q.shape.text(), k.shape.text(), v.shape.text()));
  if (k.shape[2] != v.shape[2])
    op.fail(fmt::format("k and v must have one length: k is {}, v is {}", k.shape.text(), v.shape.text()));
  if (q.shape[3] != shape_.query_width || k.shape[3] != shape_.key_width)
    op.fail(fmt::format("the head widths must be {} (q) and {} (k): q is {}, k is {}", shape_.query_width,
                        shape_.key_width, q.shape.text(), k.shape.text()));
  x.unturned = q;
  return x;
}

void Attention::give_form(Pass& pass, AttentionProblem& x, bool keys_rotated) const {
  if (x.position) {
    x.queries = x.position->rotate(pass, x.queries, x.mask.offset);
    if (!keys_rotated) x.keys = x.position->rotate(pass, x.keys, 0);
  }
  x.form = score_->form(pass, x.queries, x.keys);
}

Tensor Attention::run(Pass& pass, AttentionProblem& x, Tensor* weights_out) const {
  Tensor weights;
  if (weights_out || pass.wants_weights()) x.weights = &weights;
  x.differentiable_weights = weights_out;
  const Tensor y = algorithm_for(x).run(pass, x);
  if (x.weights) {
    pass.show_weights(place_, weights);
    if (weights_out) *weights_out = weights;
  }
  if (pass.wants_scores()) show_scores(pass, place_, x);
  pass.show_heads(place_, y);
  return y;
}

Tensor Attention::operator()(Pass& pass, const AttentionInputs& inputs, Tensor* weights_out) const {
  AttentionProblem x = problem(inputs);
  give_form(pass, x, inputs.keys_rotated);
  const Tensor y = run(pass, x, weights_out);
  return inputs.queries.rank() == 3 ? reshape(y, {y.shape[0], y.shape[2], y.shape[3]}) : y;
}

std::unique_ptr<AttentionState> Attention::start(const AttentionInputs& inputs) const {
  const AttentionAlgorithm* own = score_->algorithm();
  return own && own->start && own->serves(problem(inputs)) ? own->start() : nullptr;
}

Tensor Attention::step(Pass& pass, const AttentionInputs& inputs, AttentionState& state) const {
  AttentionProblem x = problem(inputs);
  give_form(pass, x, inputs.keys_rotated);
  const Tensor y = score_->algorithm()->step(pass, x, state);
  pass.show_heads(place_, y);
  return y;
}

AttentionMemory Attention::remember(Pass& pass, const Tensor& values, const std::optional<Tensor>& given) const {
  const Tensor keys = given.value_or(values);
  const Op op("attention", {&values, &keys});
  op.check(shape_.heads == 1 && values.rank() == 3 && keys.rank() == 3,
           "an encoder output has one head, with values and keys [B, T, D]: there are {} heads, {} and {} "
           "axes",
           shape_.heads, values.rank(), keys.rank());
  op.check(keys.shape[2] == shape_.key_width, "the keys' width must be {}: k is {}", shape_.key_width,
           keys.shape.text());
  AttentionMemory m{.keys = keys, .values = values, .transformed = {}, .one_key = {}};
  const Tensor one = pass.tape().zeros({1, 1, 1, shape_.query_width});
  const ScoreForm form = projected(score_->form(pass, one, unsqueeze(keys, 1)));
  std::visit(
      [&](const auto& f) {
        if constexpr (requires { f.keys; }) {
          m.transformed = f.keys;
          m.one_key = pass.tape().zeros({1, 1, 1, shape_.key_width});
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
  op.check(queries.rank() == 3 && queries.shape[2] == shape_.query_width && queries.shape[0] == memory.keys.shape[0],
           "queries must be [{}, T, {}], they are {}", memory.keys.shape[0], shape_.query_width, queries.shape.text());
  const std::int64_t rows = queries.shape[0], count = queries.shape[1];
  // Queries are transformed one by one, so the queries of all rows can be transformed as one row.
  ScoreForm form = projected(score_->form(pass, reshape(queries, {1, 1, rows * count, shape_.query_width}),
                                          memory.one_key));
  const auto split = [&](const Tensor& q) { return reshape(q, {rows, 1, count, q.shape[3]}); };
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
                     .talking = talking_ ? &*talking_ : nullptr,
                     .mask = mask,
                     .normalizer = normalizer_.get(),
                     .memory = memory.packed,
                     .factors = factors,
                     .dropout = dropout_};
  const Tensor y = run(pass, x, nullptr);
  return reshape(y, {rows, count, y.shape[3]});
}

RelativeShape MultiHeadAttention::relative_shape(const LayerChoice& choice, const Shape& shape) {
  const auto width = [&](std::int64_t given) { return given ? given : divided(shape.width, shape.heads); };
  return {shape.heads, width(choice.attention.head_width), width(choice.attention.value_width), shape.longest};
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Shape& shape,
                                       const InitRule& output_init)
    : shape_(shape), widths_(relative_shape(choice, shape)),
      key_heads_(choice.attention.key_value_heads ? choice.attention.key_value_heads : shape.heads),
      normalises_projections_(choice.attention.query_key_norm_over == "projection"),
      attention_(scope, choice, {shape.heads, widths_.query_width, widths_.query_width, shape.longest},
                 shape.memory_width == 0 ? AttentionPlace::Kind::self : AttentionPlace::Kind::cross),
      output_((scope / "output").starting_with(output_init), shape.heads * widths_.value_width, shape.width,
              shape.output_bias.value_or(shape.bias)),
      gates_heads_(choice.attention.gate == "head"), exclusive_(choice.attention.exclusive) {
  if (shape.heads % key_heads_ != 0)
    throw Failed(fmt::format("[attention] key_value_heads is {}, which does not divide the {} heads", key_heads_,
                             shape.heads));
  const std::int64_t queries = shape.heads * widths_.query_width, keys = key_heads_ * widths_.query_width,
                     values = key_heads_ * widths_.value_width, all = queries + keys + values;
  if (shape.position && shape.memory_width > 0)
    throw Failed("[attention] relative positions apply only to self attention: in cross attention, keys have no "
                 "distance from a query");
  if (shape.position) shape.position->check(choice.attention);
  if (attention_.orders_keys() && shape.memory_width == 0) {
    const char* const name = choice.attention.normalizer.c_str();
    if (!choice.attention.causal)
      throw Failed(fmt::format("[attention] the normaliser '{}' gives weights only to earlier keys: it needs "
                               "attention.causal = true",
                               name));
    if (choice.attention.prefix > 0 && choice.attention.window == 0 && choice.attention.dilation == 1)
      throw Failed(
          fmt::format("[attention] the normaliser '{}' gives weights only to earlier keys, and without a window "
                      "a query sees all of them anyway: attention.prefix has no effect",
                      name));
  }
  const auto fans = [&](std::int64_t in, std::int64_t out) -> Fans {
    return {.in = in, .out = scope.qkv_as_one() ? all : out};
  };
  // The fans of a parameter that stacks matrices of two sizes: the first matrices have `first` rows in total and `out`
  // outputs each, the second matrix has `second_out` outputs.
  const auto two = [&](std::int64_t first, std::int64_t out, std::int64_t second_out) -> Fans {
    if (scope.qkv_as_one()) return fans(shape.width, all);
    return {.in = shape.width, .out = out, .first_numbers = first * shape.width, .second_out = second_out};
  };
  const auto map = [&](const char* name, std::int64_t in, std::int64_t out, const Fans& of) {
    return Linear(scope / name, in, out, shape.bias, of);
  };
  if (shape.memory_width > 0) {
    query_.emplace(map("query", shape.width, queries, fans(shape.width, queries)));
    key_.emplace(map("key", shape.memory_width, keys, fans(shape.memory_width, keys)));
    value_.emplace(map("value", shape.memory_width, values, fans(shape.memory_width, values)));
  } else if (key_heads_ == shape.heads) {
    qkv_.emplace(map("qkv", shape.width, all, two(queries + keys, queries, values)));
    scope.set_parts(qkv_->weight, {queries, keys, values});
  } else {
    query_.emplace(map("query", shape.width, queries, fans(shape.width, queries)));
    key_value_.emplace(map("key_value", shape.width, keys + values, two(keys, keys, values)));
    scope.set_parts(key_value_->weight, {keys, values});
  }
  if (choice.attention.forget_gate) {
    if (!choice.attention.causal || choice.attention.prefix > 1)
      throw Failed("[attention] forget_gate sums the gates between a key and a later query: it needs attention.causal = "
                   "true, without a prefix");
    forget_.emplace(scope / "forget_gate", shape.width, shape.heads);
  }
  if (choice.attention.gate != "none") {
    const std::int64_t gates = gates_heads_ ? shape.heads : shape.heads * widths_.value_width;
    gate_.emplace(map("gate", shape.width, gates, {.in = shape.width, .out = gates}));
  }
  if (const std::string& kind = choice.attention.query_key_norm; kind != "none") {
    query_norm_ = make_norm(scope / "query_norm", kind,
                            {normalises_projections_ ? queries : widths_.query_width, false});
    key_norm_ = make_norm(scope / "key_norm", kind, {normalises_projections_ ? keys : widths_.query_width, false});
  }
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Mask& mask) const {
  if (shape_.memory_width > 0) return (*this)(pass, x, x, mask);
  const Projections of_x = project(pass, x);
  AttentionInputs inputs = heads_of(of_x.q, of_x.k, of_x.v, mask);
  if (forget_) inputs.forget = (*forget_)(pass, x);
  return finish(pass, x, of_x.v, attention_(pass, inputs));
}

MultiHeadAttention::Projections MultiHeadAttention::project(Pass& pass, const Tensor& x) const {
  const std::int64_t queries = shape_.heads * widths_.query_width, keys = key_heads_ * widths_.query_width,
                     values = key_heads_ * widths_.value_width;
  Projections out;
  if (qkv_) {
    const Tensor all = (*qkv_)(pass, x);
    out = {slice(all, 2, 0, queries), slice(all, 2, queries, keys), slice(all, 2, queries + keys, values)};
  } else {
    const Tensor both = (*key_value_)(pass, x);
    out = {(*query_)(pass, x), slice(both, 2, 0, keys), slice(both, 2, keys, values)};
  }
  out.q = normalised(pass, out.q, query_norm_);
  out.k = normalised(pass, out.k, key_norm_);
  return out;
}

Tensor MultiHeadAttention::normalised(Pass& pass, const Tensor& x, const std::unique_ptr<Norm>& norm) const {
  if (!norm) return x;
  if (normalises_projections_) return (*norm)(pass, contiguous(x));
  const std::int64_t width = widths_.query_width;
  return reshape((*norm)(pass, reshape(contiguous(x), {x.shape[0], x.shape[1], x.shape[2] / width, width})), x.shape);
}

Tensor MultiHeadAttention::query_of(Pass& pass, const Tensor& x) const {
  return normalised(pass, (*query_)(pass, x), query_norm_);
}
Tensor MultiHeadAttention::key_of(Pass& pass, const Tensor& memory) const {
  return normalised(pass, (*key_)(pass, memory), key_norm_);
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Tensor& memory, const Mask& mask) const {
  require_memory(true, "called with a memory");
  const Tensor v = (*value_)(pass, memory);
  return finish(pass, x, v, attention_(pass, heads_of(query_of(pass, x), key_of(pass, memory), v, mask)));
}

void MultiHeadAttention::require_memory(bool wanted, const char* what) const {
  if ((shape_.memory_width > 0) == wanted) return;
  throw Failed(fmt::format("[attention] {} attention was made, and {}", wanted ? "self" : "cross", what));
}

Tensor MultiHeadAttention::step(Pass& pass, const Tensor& x, const Mask& mask,
                                std::unique_ptr<AttentionState>& past) const {
  require_memory(false, "called for steps of self attention");
  const Projections of_x = project(pass, x);
  Mask after = mask;
  after.offset = past ? past->length() : 0;
  AttentionInputs inputs = heads_of(of_x.q, of_x.k, of_x.v, after);
  if (forget_) inputs.forget = (*forget_)(pass, x);
  if (shape_.position) {
    inputs.keys = shape_.position->rotate(pass, *inputs.keys, after.offset);
    inputs.keys_rotated = true;
  }
  if (!past) past = attention_.start(inputs);
  if (!past) past = std::make_unique<KVCache>();
  if (auto* kept = dynamic_cast<KVCache*>(past.get())) {
    kept->append(merge_heads(*inputs.keys), of_x.v, inputs.forget);
    inputs.keys = split_heads(kept->keys(pass.tape()), key_heads_);
    inputs.values = split_heads(kept->values(pass.tape()), key_heads_);
    if (forget_) inputs.forget = kept->forget(pass.tape());
    return finish(pass, x, of_x.v, attention_(pass, inputs));
  }
  return finish(pass, x, of_x.v, attention_.step(pass, inputs, *past));
}

void MultiHeadAttention::remember(Pass& pass, const Tensor& memory, KVCache& to) const {
  require_memory(true, "called with a memory");
  to.append(key_of(pass, memory), (*value_)(pass, memory));
}

Tensor MultiHeadAttention::recall(Pass& pass, const Tensor& x, const KVCache& memory, const Mask& mask) const {
  const Tensor v = memory.values(pass.tape());
  return finish(pass, x, v, attention_(pass, heads_of(query_of(pass, x), memory.keys(pass.tape()), v, mask)));
}

AttentionInputs MultiHeadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Mask& mask) const {
  return {.queries = split_heads(q, shape_.heads),
          .values = split_heads(v, key_heads_),
          .keys = split_heads(k, key_heads_),
          .mask = mask,
          .position = shape_.position.get()};
}

Tensor MultiHeadAttention::finish(Pass& pass, const Tensor& x, const Tensor& v, const Tensor& of_heads) const {
  Tensor y = of_heads; // [B, H, T, Dv]
  if (exclusive_) {
    const Tensor along = l2_normalize(for_each_head(split_heads(v, key_heads_), shape_.heads));
    y = sub(y, mul(sum(mul(y, along), -1, true), along));
  }
  if (gate_ && gates_heads_) y = mul(y, unsqueeze(transpose(sigmoid((*gate_)(pass, x))), 3));
  Tensor merged = merge_heads(y);
  if (gate_ && !gates_heads_) merged = mul(merged, sigmoid((*gate_)(pass, x)));
  return output_(pass, merged);
}

} // namespace heed::HEED_REAL
