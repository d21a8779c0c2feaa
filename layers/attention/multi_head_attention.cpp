#include "layers/attention/attention.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

std::int64_t divided(std::int64_t width, std::int64_t heads, bool of_two_maps = false) {
  const std::int64_t parts = of_two_maps ? 2 * heads : heads;
  if (heads < 1 || width % parts != 0)
    throw Failed(fmt::format("[attention] {} heads{} do not divide a width of {}", heads,
                             of_two_maps ? " with two maps each (attention.differential)" : "", width));
  return width / parts;
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

RelativeShape MultiHeadAttention::relative_shape(const LayerChoice& choice, const Shape& shape) {
  const std::string& maps = choice.attention.differential;
  const auto width = [&](std::int64_t given, bool of_two_maps) {
    return given ? given : divided(shape.width, shape.heads, of_two_maps);
  };
  return {maps == "none" ? shape.heads : 2 * shape.heads, width(choice.attention.head_width, maps == "v1"),
          width(choice.attention.value_width, false), shape.longest};
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Shape& shape,
                                       const InitRule& output_init)
    : shape_(shape), widths_(relative_shape(choice, shape)), query_heads_(widths_.heads),
      key_heads_((choice.attention.key_value_heads ? choice.attention.key_value_heads : shape.heads) *
                 (choice.attention.differential == "v1" ? 2 : 1)),
      value_heads_(choice.attention.key_value_heads ? choice.attention.key_value_heads : shape.heads),
      normalises_projections_(choice.attention.query_key_norm_over == "projection"),
      attention_(scope, choice, {query_heads_, widths_.query_width, widths_.query_width, shape.longest},
                 shape.memory_width == 0 ? AttentionPlace::Kind::self : AttentionPlace::Kind::cross),
      output_((scope / "output").starting_with(output_init), shape.heads * widths_.value_width, shape.width,
              shape.output_bias.value_or(shape.bias)),
      gates_heads_(choice.attention.gate == "head"), exclusive_(choice.attention.exclusive) {
  if (shape.heads % value_heads_ != 0)
    throw Failed(fmt::format("[attention] key_value_heads is {}, which does not divide the {} heads", value_heads_,
                             shape.heads));
  const std::int64_t queries = query_heads_ * widths_.query_width, keys = key_heads_ * widths_.query_width,
                     values = value_heads_ * widths_.value_width, all = queries + keys + values;
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
  } else if (value_heads_ == shape.heads) {
    qkv_.emplace(map("qkv", shape.width, all, two(queries + keys, queries, values)));
    scope.set_parts(qkv_->weight, {queries, keys, values});
  } else {
    query_.emplace(map("query", shape.width, queries, fans(shape.width, queries)));
    key_value_.emplace(map("key_value", shape.width, keys + values, two(keys, keys, values)));
    scope.set_parts(key_value_->weight, {keys, values});
  }
  if (choice.attention.differential != "none")
    maps_.emplace(scope / "differential", choice.attention.differential,
                  DifferentialMaps::Shape{shape.width, shape.heads, widths_.query_width, widths_.value_width,
                                          shape.layer});
  if (choice.attention.forget_gate) {
    if (!choice.attention.causal || choice.attention.prefix > 1)
      throw Failed(
          "[attention] forget_gate sums the gates between a key and a later query: it needs attention.causal = "
          "true, without a prefix");
    forget_.emplace(scope / "forget_gate", shape.width, query_heads_);
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
  add_gates(pass, x, inputs);
  return finish(pass, x, of_x.v, attention_(pass, inputs));
}

MultiHeadAttention::Projections MultiHeadAttention::project(Pass& pass, const Tensor& x) const {
  const std::int64_t queries = query_heads_ * widths_.query_width, keys = key_heads_ * widths_.query_width,
                     values = value_heads_ * widths_.value_width;
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
  AttentionInputs inputs = heads_of(query_of(pass, x), key_of(pass, memory), v, mask);
  add_gates(pass, x, inputs);
  return finish(pass, x, v, attention_(pass, inputs));
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
  add_gates(pass, x, inputs);
  if (shape_.position) {
    inputs.keys = shape_.position->rotate(pass, *inputs.keys, after.offset);
    inputs.keys_rotated = true;
  }
  if (!past) past = attention_.start(inputs);
  if (!past) past = std::make_unique<KVCache>();
  if (auto* kept = dynamic_cast<KVCache*>(past.get())) {
    kept->append(merge_heads(*inputs.keys), of_x.v, inputs.forget);
    inputs.keys = split_heads(kept->keys(pass.tape()), key_heads_);
    inputs.values = values_of(kept->values(pass.tape()));
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
  AttentionInputs inputs = heads_of(query_of(pass, x), memory.keys(pass.tape()), v, mask);
  add_gates(pass, x, inputs);
  return finish(pass, x, v, attention_(pass, inputs));
}

AttentionInputs MultiHeadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Mask& mask) const {
  return {.queries = split_heads(q, query_heads_),
          .values = values_of(v),
          .keys = split_heads(k, key_heads_),
          .mask = mask,
          .position = shape_.position.get()};
}

Tensor MultiHeadAttention::values_of(const Tensor& v) const {
  return for_each_head(split_heads(v, value_heads_), key_heads_);
}

void MultiHeadAttention::add_gates(Pass& pass, const Tensor& x, AttentionInputs& inputs) const {
  if (forget_) inputs.forget = (*forget_)(pass, x);
  if (maps_) inputs.lambda = maps_->lambda(pass, x);
}

Tensor MultiHeadAttention::finish(Pass& pass, const Tensor& x, const Tensor& v, const Tensor& of_heads) const {
  Tensor y = maps_ ? maps_->normalised(pass, of_heads) : of_heads; // [B, H, T, Dv]
  if (exclusive_) {
    const Tensor along = l2_normalize(for_each_head(split_heads(v, value_heads_), shape_.heads));
    y = sub(y, mul(sum(mul(y, along), -1, true), along));
  }
  if (gate_ && gates_heads_) y = mul(y, unsqueeze(transpose(sigmoid((*gate_)(pass, x))), 3));
  Tensor merged = merge_heads(y);
  if (gate_ && !gates_heads_) merged = mul(merged, sigmoid((*gate_)(pass, x)));
  return output_(pass, merged);
}

} // namespace heed::HEED_REAL
