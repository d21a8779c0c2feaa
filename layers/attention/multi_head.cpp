// Multi-head attention: projections, and what is done around the heads.
#include "autograd/recompute.hpp"
#include "layers/attention/attention.hpp"
#include "layers/attention/formula/formula.hpp"
#include "layers/for_each_row.hpp"
#include "layers/position/row_position.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Does score_mod use the positions of query and key, their segments, or the lengths of the rows?
bool formula_sees_positions(const AttentionOptions& options) {
  return use_of(options.score_mod, FormulaKind::score, formula_parameters(options.parameters)).positions;
}

} // namespace

RelativeShape MultiHeadAttention::relative_shape(const LayerChoice& choice, const Shape& shape) {
  const std::string& maps = choice.attention.differential;
  const auto width = [&](std::int64_t given, bool of_two_maps) {
    return given ? given : divided(shape.width, shape.heads, of_two_maps);
  };
  const auto further = projection_info(choice.attention.projection).further_query_width;
  const std::int64_t more = further && shape.memory_width == 0 ? further(choice.projection_options) : 0;
  return {maps == "none" ? shape.heads : 2 * shape.heads, width(choice.attention.head_width, maps == "v1") + more,
          width(choice.attention.value_width, false), shape.longest};
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Shape& shape,
                                       const InitRule& output_init)
    : shape_(shape), widths_(relative_shape(choice, shape)), query_heads_(widths_.heads),
      key_heads_((choice.attention.key_value_heads ? choice.attention.key_value_heads : shape.heads) *
                 (choice.attention.differential == "v1" ? 2 : 1)),
      value_heads_(choice.attention.key_value_heads ? choice.attention.key_value_heads : shape.heads),
      normalises_projections_(choice.attention.query_key_norm_over == "projection"),
      attention_(scope, choice,
                 {query_heads_, widths_.query_width, widths_.query_width,
                  shape.longest > 0 && shape.memory_width == 0 ? shape.longest + shape.registers : shape.longest,
                  shape.trained > 0 ? shape.trained : shape.longest, shape.longest_queries, shape.layer,
                  shape.patches_in_row},
                 shape.memory_width == 0 ? AttentionPlace::Kind::self : AttentionPlace::Kind::cross),
      gates_heads_(choice.attention.gate == "head"), exclusive_(choice.attention.exclusive),
      persistent_(shape.memory_width > 0 ? 0 : choice.attention.persistent_keys),
      before_(shape.memory_width > 0 ? 0 : persistent_ + shape.registers) {
  if (shape.heads % value_heads_ != 0)
    throw Failed(fmt::format("[attention] key_value_heads is {}, which does not divide the {} heads", value_heads_,
                             shape.heads));
  const std::int64_t queries = query_heads_ * widths_.query_width, keys = key_heads_ * widths_.query_width,
                     values = value_heads_ * widths_.value_width;
  const ProjectionInfo& projection = projection_info(choice.attention.projection);
  if (projection.has_output)
    output_.emplace((scope / "output").starting_with(output_init), shape.heads * widths_.value_width, shape.width,
                    shape.output_bias.value_or(shape.bias));
  if (shape.position && shape.memory_width > 0)
    throw Failed("[attention] relative positions apply only to self attention: in cross attention, keys have no "
                 "distance from a query");
  if (shape.position) shape.position->check(choice.attention);
  if (before_ > 0) check_positions_before(choice.attention);
  if (shape.memory_width > 0 && shape.registers > 0 &&
      (!choice.attention.mask_mod.empty() || formula_sees_positions(choice.attention)))
    throw Failed(fmt::format("[attention] {} uses the positions of queries, and registers have none; set "
                             "model.registers = 0",
                             choice.attention.mask_mod.empty() ? "cross_score_mod" : "cross_mask_mod"));
  if (shape.position && before_ > 0) shape_.position = std::make_shared<RowPosition>(shape.position, before_);
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
  projection_ = projection.make(scope,
                                {.width = shape.width,
                                 .memory_width = shape.memory_width,
                                 .heads = shape.heads,
                                 .query_heads = query_heads_,
                                 .key_heads = key_heads_,
                                 .value_heads = value_heads_,
                                 .query_width = widths_.query_width,
                                 .value_width = widths_.value_width,
                                 .bias = shape.bias,
                                 .registers = shape.registers},
                                choice.projection_options);
  projection_->check(choice.attention, shape.position.get());
  stores_vectors_ = projection_->stores_vectors() && !shape.value_residual.mixes;
  if (choice.attention.differential != "none")
    maps_.emplace(scope / "differential", choice.attention.differential,
                  DifferentialMaps::Shape{shape.width, shape.heads, widths_.query_width, widths_.value_width,
                                          shape.layer});
  if (choice.attention.forget_gate) {
    if (!choice.attention.causal || choice.attention.prefix > 1)
      throw Failed(
          "[attention] forget_gate sums the gates between a key and a later query: it needs attention.causal = "
          "true, and a prefix of at most 1 (in an encoder-decoder, choose it by [[block.override]] with stack = "
          "\"decoder\")");
    forget_.emplace(scope / "forget_gate", shape.width, query_heads_);
  }
  if (choice.attention.gate != "none") {
    const std::int64_t gates = gates_heads_ ? shape.heads : shape.heads * widths_.value_width;
    gate_.emplace(scope / "gate", shape.width, gates, shape.bias);
  }
  if (const ValueResidual& r = shape.value_residual; r.learned)
    value_factors_ = scope.plain("value_residual", {2}, Init::listed({r.first, r.own}));
  if (persistent_ > 0) {
    persistent_keys_ = scope.vectors("persistent_keys", {persistent_, keys}, Init::normal(1));
    persistent_values_ = scope.vectors("persistent_values", {persistent_, values}, Init::normal(1));
  }
  if (const std::string& kind = choice.attention.query_key_norm; kind != "none") {
    const OptionValues eps = {{"eps", choice.attention.query_key_norm_eps}};
    const auto norm = [&](const char* name, std::int64_t all) {
      return make_norm(scope / name, kind, {normalises_projections_ ? all : widths_.query_width, false}, eps);
    };
    query_norm_ = norm("query_norm", queries);
    key_norm_ = norm("key_norm", keys);
  }
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values) const {
  if (shape_.memory_width > 0) return (*this)(pass, x, x, mask);
  const Projected of_x = project(pass, x, 0, first_values), all = with_persistent(pass, of_x);
  const Mask of_all = with_keys_before(pass, mask, x.shape[0]);
  AttentionInputs inputs = of_self(all, of_all);
  add_gates(pass, x, inputs);
  return finish(pass, x, of_x.v, attention_(pass, with_keys_of_maps(inputs)));
}

void MultiHeadAttention::check_positions_before(const AttentionOptions& options) const {
  const std::string option = persistent_ > 0 ? "attention.persistent_keys" : "model.registers";
  const std::string mend = fmt::format("; set {} = 0", option);
  const char* const before = persistent_ > 0 ? "persistent keys" : "registers";
  if (attention_.orders_keys())
    throw Failed(fmt::format("[attention] the normaliser '{}' orders keys by their position, and {} have none{}",
                             options.normalizer, before, mend));
  if (options.forget_gate)
    throw Failed(fmt::format("[attention] forget_gate sums the gates of the positions between a key and the query, and "
                             "{} have no position{}",
                             before, mend));
  if (!options.mask_mod.empty())
    throw Failed(fmt::format("[attention] mask_mod decides by positions, and {} have none{}", before, mend));
  if (!options.score_mod.empty() && formula_sees_positions(options))
    throw Failed(fmt::format("[attention] score_mod uses positions, segments or the length of the row, and {} have "
                             "none{}",
                             before, mend));
  if (shape_.registers > 0 && !options.causal && (options.window > 0 || options.dilation > 1))
    throw Failed("[attention] in a window or with a dilation, registers would see only a part of the row (with "
                 "attention.causal = true, they see only each other): set model.registers = 0");
}

Mask MultiHeadAttention::with_keys_before(Pass& pass, const Mask& mask, std::int64_t batch) const {
  if (before_ == 0) return mask;
  if (mask.allowed) throw Failed("[attention] an explicit mask has no entries for persistent keys and registers");
  Mask all = mask;
  all.prefix += before_;
  all.offset += persistent_;
  if (mask.lengths) {
    auto* lengths = pass.tape().keep<std::int32_t>(batch);
    for (std::int64_t b = 0; b < batch; ++b) lengths[b] = mask.lengths[b] + static_cast<std::int32_t>(before_);
    all.lengths = lengths;
  }
  return all;
}

Projected MultiHeadAttention::with_persistent(Pass& pass, const Projected& of_row) const {
  if (persistent_ == 0) return of_row;
  const auto before = [&](ParameterId vectors, const Tensor& x) {
    return concat({for_each_row(pass(vectors), x.shape[0]), x}, 1);
  };
  return {.q = of_row.q, .k = before(*persistent_keys_, of_row.k), .v = before(*persistent_values_, of_row.v)};
}

Projected MultiHeadAttention::project(Pass& pass, const Tensor& x, std::int64_t first, Tensor* first_values) const {
  Projected out = projection_->of_self(pass, x, first);
  out.q = normalised(pass, out.q, query_norm_);
  out.k = normalised(pass, out.k, key_norm_);
  out.v = mixed(pass, out.v, first_values);
  return out;
}

Projected MultiHeadAttention::of_stored(Pass& pass, const StoredVectors& stored) const {
  Projected out = projection_->of_stored(pass, stored);
  out.k = normalised(pass, out.k, key_norm_);
  return out;
}

Projected MultiHeadAttention::of_memory(Pass& pass, const Tensor& memory) const {
  Projected out = projection_->keys_and_values(pass, memory, 0);
  out.k = normalised(pass, out.k, key_norm_);
  return out;
}

Tensor MultiHeadAttention::mixed(Pass& pass, const Tensor& values, Tensor* first_values) const {
  const ValueResidual& how = shape_.value_residual;
  if (!how.stores && !how.mixes) return values;
  if (!first_values) throw Failed("[attention] value_residual needs the values of the first block");
  if (how.stores) {
    if (first_values->tape) put_into(*first_values, values);
    else *first_values = values;
    return values;
  }
  if (value_factors_) {
    const Tensor factors = pass(*value_factors_);
    return add(mul(*first_values, slice(factors, 0, 0, 1)), mul(values, slice(factors, 0, 1, 1)));
  }
  return add(scale(*first_values, static_cast<Real>(how.first)),
             how.own == 1 ? values : scale(values, static_cast<Real>(how.own)));
}

Tensor MultiHeadAttention::normalised(Pass& pass, const Tensor& x, const std::unique_ptr<Norm>& norm) const {
  if (!norm) return x;
  if (normalises_projections_) return (*norm)(pass, contiguous(x));
  const std::int64_t width = widths_.query_width;
  return reshape((*norm)(pass, reshape(contiguous(x), {x.shape[0], x.shape[1], x.shape[2] / width, width})), x.shape);
}

Tensor MultiHeadAttention::query_of(Pass& pass, const Tensor& x) const {
  return normalised(pass, projection_->queries(pass, x, 0), query_norm_);
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Tensor& memory, const Mask& mask) const {
  require_memory(true, "called with a memory");
  const Projected of = of_memory(pass, memory);
  AttentionInputs inputs = heads_of(query_of(pass, x), of.k, of.v, mask);
  inputs.unseen_queries = shape_.registers;
  add_gates(pass, x, inputs);
  return finish(pass, x, of.v, attention_(pass, with_keys_of_maps(inputs)));
}

void MultiHeadAttention::require_memory(bool wanted, const char* what) const {
  if ((shape_.memory_width > 0) == wanted) return;
  throw Failed(fmt::format("[attention] {} attention was made, and {}", wanted ? "self" : "cross", what));
}

Tensor MultiHeadAttention::step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<AttentionState>& past,
                                Tensor* first_values) const {
  require_memory(false, "called for steps of self attention");
  Mask after = with_keys_before(pass, mask, x.shape[0]);
  const bool stores_persistent = past && !stores_vectors_;
  after.offset = (past ? past->length() : 0) + (stores_persistent ? 0 : persistent_);
  const Projected of_x = project(pass, x, after.offset - persistent_, first_values);
  AttentionInputs inputs = of_self(of_x, after);
  add_gates(pass, x, inputs);
  if (shape_.position) {
    inputs.keys = shape_.position->rotate(pass, *inputs.keys, after.offset, Rotated::keys);
    inputs.keys_rotated = true;
  }
  if (!past) past = attention_.start(with_keys_of_maps(inputs));
  if (!past) {
    auto cache = std::make_unique<KVCache>();
    if (persistent_ > 0 && !stores_vectors_)
      cache->append(for_each_row(pass(*persistent_keys_), x.shape[0]),
                    for_each_row(pass(*persistent_values_), x.shape[0]));
    past = std::move(cache);
  }
  auto* const cache = dynamic_cast<KVCache*>(past.get());
  if (!cache) return finish(pass, x, of_x.v, attention_.step(pass, with_keys_of_maps(inputs), *past));
  continue_with(pass, of_x, *cache, inputs);
  return finish(pass, x, of_x.v, attention_(pass, with_keys_of_maps(inputs)));
}

void MultiHeadAttention::continue_with(Pass& pass, const Projected& of_x, KVCache& cache,
                                       AttentionInputs& inputs) const {
  if (stores_vectors_) {
    cache.append(of_x.stored.vectors, of_x.stored.rotated, inputs.forget);
    const Projected all = with_persistent(pass, of_stored(pass, cache.stored(pass.tape())));
    inputs.keys = split_heads(all.k, key_heads_);
    inputs.values = values_of(all.v);
    inputs.keys_rotated = false;
  } else {
    cache.append(merge_heads(*inputs.keys), of_x.v, inputs.forget);
    inputs.keys = split_heads(cache.keys(pass.tape()), key_heads_);
    inputs.values = values_of(cache.values(pass.tape()));
  }
  if (forget_) inputs.forget = cache.forget(pass.tape());
}

void MultiHeadAttention::remember(Pass& pass, const Tensor& memory, KVCache& to) const {
  require_memory(true, "called with a memory");
  const Projected of = of_memory(pass, memory);
  if (stores_vectors_) to.append(of.stored.vectors, of.stored.rotated);
  else to.append(of.k, of.v);
}

Tensor MultiHeadAttention::recall(Pass& pass, const Tensor& x, const KVCache& memory, const Mask& mask) const {
  Tensor k, v;
  if (stores_vectors_) {
    const Projected of = of_stored(pass, memory.stored(pass.tape()));
    k = of.k;
    v = of.v;
  } else {
    k = memory.keys(pass.tape());
    v = memory.values(pass.tape());
  }
  AttentionInputs inputs = heads_of(query_of(pass, x), k, v, mask);
  add_gates(pass, x, inputs);
  return finish(pass, x, v, attention_(pass, with_keys_of_maps(inputs)));
}

AttentionInputs MultiHeadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Mask& mask) const {
  return {.queries = split_heads(q, query_heads_),
          .values = values_of(v),
          .keys = split_heads(k, key_heads_),
          .mask = mask,
          .position = shape_.position.get()};
}

AttentionInputs MultiHeadAttention::of_self(const Projected& all, const Mask& mask) const {
  AttentionInputs inputs = heads_of(all.q, all.k, all.v, mask);
  inputs.unseen_queries = std::clamp<std::int64_t>(before_ - mask.offset, 0, all.q.shape[1]);
  inputs.unseen_keys = before_;
  return inputs;
}

Tensor MultiHeadAttention::values_of(const Tensor& v) const {
  return for_each_head(split_heads(v, value_heads_), key_heads_);
}

AttentionInputs MultiHeadAttention::with_keys_of_maps(AttentionInputs inputs) const {
  if (key_heads_ == value_heads_ || key_heads_ == query_heads_) return inputs;
  // The two key heads of a group, as one head of twice the width, for each of the group's heads.
  const Tensor of_groups = split_heads(merge_heads(*inputs.keys), value_heads_);
  inputs.keys = split_heads(merge_heads(for_each_head(of_groups, shape_.heads)), query_heads_);
  inputs.values = for_each_head(inputs.values, query_heads_);
  return inputs;
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
  return output_ ? (*output_)(pass, merged) : merged;
}

} // namespace heed::HEED_REAL
