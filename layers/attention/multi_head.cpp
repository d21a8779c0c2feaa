// Multi-head attention: projections, and what is done around the heads.
#include "autograd/recompute.hpp"
#include "layers/attention/attention.hpp"
#include "layers/attention/formula/formula.hpp"
#include "layers/attention/part.hpp"
#include "layers/for_each_sequence.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The part that gives heads several maps; null: none.
const AttentionPartInfo* part_of_maps(const LayerChoice& choice) {
  for (const AttentionPartInfo* info : attention_parts())
    if (info->maps && has_part(choice, *info)) return info;
  return nullptr;
}

HeadMaps maps_of(const LayerChoice& choice) {
  const AttentionPartInfo* const info = part_of_maps(choice);
  return info ? info->maps(choice.part_options) : HeadMaps{};
}

// Does score_mod use the positions of query and key, their segments, or the lengths of the sequences?
bool formula_sees_positions(const AttentionOptions& options) {
  return use_of(options.score_mod, FormulaKind::score, formula_parameters(options.parameters)).positions;
}

// Why a width can't be divided among the heads, and among their maps; empty: it can. `by` is the part that adds maps.
std::string indivisible(std::int64_t width, std::int64_t heads, std::int64_t maps, const AttentionPartInfo* by) {
  if (maps == 1) return wrong_heads(heads, width);
  if (heads >= 1 && width % (maps * heads) == 0) return "";
  return fmt::format("{} heads with two maps each (attention.{}) do not divide a width of {}", heads, by->about.name,
                     width);
}

// Why the heads have no width; empty: they have one.
std::string wrong_widths(const LayerChoice& choice, const MultiHeadAttention::Sizes& sizes) {
  const HeadMaps maps = maps_of(choice);
  const AttentionPartInfo* const by = part_of_maps(choice);
  std::string why;
  if (choice.attention.head_width == 0)
    why = indivisible(sizes.width, sizes.heads, maps.share_width ? maps.of_queries : 1, by);
  if (why.empty() && choice.attention.value_width == 0) why = indivisible(sizes.width, sizes.heads, 1, by);
  return why;
}

// There are no `wrong_widths`.
ProjectionSizes projection_sizes(const LayerChoice& choice, const MultiHeadAttention::Sizes& sizes) {
  const AttentionOptions& options = choice.attention;
  const HeadMaps maps = maps_of(choice);
  const std::int64_t of_values = options.heads_of_values(sizes.heads),
                     maps_of_width = maps.share_width ? maps.of_queries : 1;
  const auto further = projection_info(options.projection).further_query_width;
  const std::int64_t more = further && sizes.memory_width == 0 ? further(choice.projection_options) : 0;
  return {.width = sizes.width,
          .memory_width = sizes.memory_width,
          .heads = sizes.heads,
          .query_heads = maps.of_queries * sizes.heads,
          .key_heads = of_values * maps.of_keys,
          .value_heads = of_values,
          .query_width = more + (options.head_width ? options.head_width : sizes.width / (maps_of_width * sizes.heads)),
          .value_width = options.value_width ? options.value_width : sizes.width / sizes.heads,
          .bias = sizes.bias,
          .registers = sizes.registers};
}

RelativeSizes relative_sizes_of(const ProjectionSizes& head_sizes, std::int64_t longest) {
  return {head_sizes.query_heads, head_sizes.query_width, head_sizes.value_width, longest};
}

// What is before the sequence in this attention, or before the queries of cross attention; null: nothing.
const KeysWithoutPosition* first_keys_without_position(const LayerChoice& choice,
                                                       const MultiHeadAttention::Sizes& sizes) {
  for (const KeysWithoutPosition& each : keys_without_position())
    if (each.part ? sizes.memory_width == 0 && has_part(choice, *each.part) : sizes.registers > 0) return &each;
  return nullptr;
}

// The sizes of an attention, or why there is no such attention.
struct Judged {
  Refusal refused{};
  ProjectionSizes head_sizes{};
};
Judged judged(const LayerChoice& choice, const MultiHeadAttention::Sizes& sizes, ValuesByName others = {}) {
  const auto refused = [](std::string why) { return Judged{.refused = {std::move(why), {}}}; };
  const bool is_self = sizes.memory_width == 0;
  others.insert_or_assign("model.registers", sizes.registers);
  if (Refusal by_choices = excluded(choice, is_self, others)) return {.refused = std::move(by_choices)};
  const AttentionOptions& options = choice.attention;
  if (std::string why = wrong_widths(choice, sizes); !why.empty()) return refused(std::move(why));
  if (std::string why = wrong_key_value_heads(options.key_value_heads, sizes.heads); !why.empty())
    return refused(std::move(why));
  const ProjectionSizes head_sizes = projection_sizes(choice, sizes);
  if (const auto wrong_sizes = projection_info(options.projection).wrong_sizes)
    if (std::string why = wrong_sizes(head_sizes, choice.projection_options); !why.empty())
      return refused(std::move(why));
  if (const auto wrong_sizes = position_info(choice.position.kind).wrong_sizes; wrong_sizes && is_self)
    if (std::string why = wrong_sizes(relative_sizes_of(head_sizes, sizes.longest), choice.position_options);
        !why.empty())
      return refused(std::move(why));
  if (const KeysWithoutPosition* const before = first_keys_without_position(choice, sizes);
      before && formula_sees_positions(options))
    return refused(
        fmt::format("{} uses positions, segments or the length of the sequence, and {} have none; set {} = 0",
                    is_self ? "score_mod" : "cross_score_mod", before->what, before->option));
  return {.head_sizes = head_sizes};
}

ProjectionSizes accepted_sizes(const LayerChoice& choice, const MultiHeadAttention::Sizes& sizes) {
  const Judged of = judged(choice, sizes);
  if (of.refused) throw Failed("[attention] " + of.refused.why);
  return of.head_sizes;
}

} // namespace

Refusal MultiHeadAttention::refusal_of(const LayerChoice& choice, const Sizes& sizes, ValuesByName others) {
  return judged(choice, sizes, std::move(others)).refused;
}

RelativeSizes MultiHeadAttention::relative_sizes(const LayerChoice& choice, const Sizes& sizes) {
  if (const std::string why = wrong_widths(choice, sizes); !why.empty()) throw Failed("[attention] " + why);
  return relative_sizes_of(projection_sizes(choice, sizes), sizes.longest);
}

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Sizes& sizes,
                                       const InitRule& output_init)
    : sizes_(sizes), head_sizes_(accepted_sizes(choice, sizes)),
      serves_steps_(choice.attention.causal && choice.attention.prefix <= 1),
      attention_(scope, choice,
                 {head_sizes_.query_heads, head_sizes_.query_width, head_sizes_.query_width,
                  sizes.longest > 0 && sizes.memory_width == 0 ? sizes.longest + sizes.registers : sizes.longest,
                  sizes.trained > 0 ? sizes.trained : sizes.longest, sizes.longest_queries, sizes.layer,
                  sizes.patches_in_row},
                 sizes.memory_width == 0 ? AttentionPlace::Kind::self : AttentionPlace::Kind::cross) {
  if (sizes.position && sizes.memory_width > 0)
    throw Failed("[attention] relative positions apply only to self attention: in cross attention, keys have no "
                 "distance from a query");
  const ProjectionInfo& projection = projection_info(choice.attention.projection);
  if (projection.has_output)
    output_.emplace((scope / "output").starting_with(output_init), sizes.heads * head_sizes_.value_width, sizes.width,
                    sizes.output_bias.value_or(sizes.bias));
  projection_ = projection.make(scope, head_sizes_, choice.projection_options);
  using Place = AttentionPartInfo::Place;
  const std::vector<Place> places = sizes.memory_width == 0 ? std::vector{Place::multi_head, Place::self_attention}
                                                            : std::vector{Place::multi_head};
  const PartSizes part_sizes{.width = sizes.width,
                             .heads = sizes.heads,
                             .query_heads = head_sizes_.query_heads,
                             .key_heads = head_sizes_.key_heads,
                             .value_heads = head_sizes_.value_heads,
                             .query_width = head_sizes_.query_width,
                             .value_width = head_sizes_.value_width,
                             .bias = sizes.bias,
                             .layer = sizes.layer,
                             .layers = sizes.layers,
                             .shared_layers = sizes.shared_layers};
  parts_ = make_parts(places, scope, part_sizes, choice);
  if (const auto make = position_info(choice.position.kind).make_part; make && sizes.memory_width == 0)
    parts_.push_back(make(scope / "position", part_sizes, choice.position_options));
  for (const auto& part : parts_) {
    const std::optional<std::int64_t> earlier = part->earlier_tokens();
    acts_on_tokens_ = acts_on_tokens_ || earlier;
    earlier_tokens_ += earlier.value_or(0);
  }
  stores_vectors_ = projection_->stores_vectors() && !acts_on_tokens_ &&
                    std::ranges::none_of(parts_, [](const auto& part) { return part->uses_first_values(); });
  for (const auto& part : parts_) learned_keys_ += part->learned_key_count();
  if (sizes.memory_width == 0) before_ = learned_keys_ + sizes.registers;
  if (sizes.position && before_ > 0) sizes_.position = std::make_shared<SequencePosition>(sizes.position, before_);
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values) const {
  if (sizes_.memory_width > 0) return (*this)(pass, x, x, mask);
  const Projected of_x = project(pass, x, 0, mask.query_segments, {}, first_values),
                  all = with_learned_keys(pass, of_x);
  const Mask of_all = with_keys_before(pass, mask, x.shape[0]);
  AttentionInputs inputs = of_self(all, of_all);
  add_inputs(pass, x, mask.query_segments, 0, {}, inputs);
  return finish(pass, x, of_x.v, attention_(pass, with_keys_of_maps(inputs)));
}

Mask MultiHeadAttention::with_keys_before(Pass& pass, const Mask& mask, std::int64_t batch) const {
  if (before_ == 0) return mask;
  if (mask.allowed) throw Failed("[attention] an explicit mask has no entries for persistent keys and registers");
  Mask all = mask;
  all.prefix += before_;
  all.offset += learned_keys_;
  if (mask.lengths) {
    auto* lengths = pass.tape().keep<std::int32_t>(batch);
    for (std::int64_t b = 0; b < batch; ++b) lengths[b] = mask.lengths[b] + static_cast<std::int32_t>(before_);
    all.lengths = lengths;
  }
  return all;
}

Projected MultiHeadAttention::with_learned_keys(Pass& pass, const Projected& of_sequence) const {
  Projected out{.q = of_sequence.q, .k = of_sequence.k, .v = of_sequence.v};
  for (const auto& part : parts_) {
    if (part->learned_key_count() == 0) continue;
    const Projected before = part->learned_keys(pass);
    out.k = concat({for_each_sequence(before.k, out.k.shape[0]), out.k}, 1);
    out.v = concat({for_each_sequence(before.v, out.v.shape[0]), out.v}, 1);
  }
  return out;
}

Projected MultiHeadAttention::project(Pass& pass, const Tensor& x, std::int64_t first, const Segments& segments,
                                      std::span<SavedTensor> kept, Tensor* first_values) const {
  Projected out = projection_->of_self(pass, x, first);
  for (std::size_t n = 0; n < parts_.size(); ++n)
    out = parts_[n]->tokens(pass, out, {segments, first, kept.empty() ? nullptr : &kept[n]});
  out.q = queries_of(pass, out.q);
  out.k = keys_of(pass, out.k);
  out.v = values_of(pass, out.v, first_values);
  if (!sizes_.hands_on_values) return out;
  if (!first_values) throw Failed("[attention] the values are for later blocks, which have no place for them");
  if (first_values->tape) put_into(*first_values, out.v);
  else *first_values = out.v;
  return out;
}

Projected MultiHeadAttention::of_stored(Pass& pass, const StoredVectors& stored) const {
  Projected out = projection_->of_stored(pass, stored);
  out.k = keys_of(pass, out.k);
  out.v = values_of(pass, out.v, nullptr);
  return out;
}

Projected MultiHeadAttention::of_memory(Pass& pass, const Tensor& memory) const {
  Projected out = projection_->keys_and_values(pass, memory, 0);
  out.k = keys_of(pass, out.k);
  out.v = values_of(pass, out.v, nullptr);
  return out;
}

Tensor MultiHeadAttention::queries_of(Pass& pass, Tensor q) const {
  for (const auto& part : parts_) q = part->queries(pass, q);
  return q;
}

Tensor MultiHeadAttention::keys_of(Pass& pass, Tensor k) const {
  for (const auto& part : parts_) k = part->keys(pass, k);
  return k;
}

Tensor MultiHeadAttention::values_of(Pass& pass, Tensor v, const Tensor* first_values) const {
  for (const auto& part : parts_) v = part->values(pass, v, first_values);
  return v;
}

Tensor MultiHeadAttention::operator()(Pass& pass, const Tensor& x, const Tensor& memory, const Mask& mask) const {
  require_memory(true, "called with a memory");
  const Projected of = of_memory(pass, memory);
  AttentionInputs inputs = heads_of(queries_of(pass, projection_->queries(pass, x, 0)), of.k, of.v, mask);
  inputs.unseen_queries = sizes_.registers;
  add_inputs(pass, x, {}, 0, {}, inputs);
  return finish(pass, x, of.v, attention_(pass, with_keys_of_maps(inputs)));
}

void MultiHeadAttention::require_memory(bool wanted, const char* what) const {
  if ((sizes_.memory_width > 0) == wanted) return;
  throw Failed(fmt::format("[attention] {} attention was made, and {}", wanted ? "self" : "cross", what));
}

// Between decoding steps: the state of keys and values, and what each part keeps of tokens.
class MultiHeadAttention::StateWithParts final : public MixerState {
public:
  explicit StateWithParts(std::size_t parts) : kept(parts) {}
  std::int64_t length() const override { return of_keys ? of_keys->length() : 0; }
  void select(std::span<const std::int64_t> parents) override {
    if (of_keys) of_keys->select(parents);
    for (SavedTensor& each : kept) each.select(parents);
  }
  std::int64_t numbers(std::int64_t more) const override {
    std::int64_t sum = of_keys->numbers(more);
    for (const SavedTensor& each : kept) sum += each.numbers_each();
    return sum;
  }

  std::unique_ptr<MixerState> of_keys; // null: there was no step
  std::vector<SavedTensor> kept;
};

Tensor MultiHeadAttention::step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
                                Tensor* first_values) const {
  require_memory(false, "called for steps of self attention");
  if (!acts_on_tokens_) return step(pass, x, mask, past, {}, first_values);
  if (!past) past = std::make_unique<StateWithParts>(parts_.size());
  auto& state = dynamic_cast<StateWithParts&>(*past);
  return step(pass, x, mask, state.of_keys, state.kept, first_values);
}

Tensor MultiHeadAttention::step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
                                std::span<SavedTensor> kept, Tensor* first_values) const {
  Mask after = with_keys_before(pass, mask, x.shape[0]);
  const bool stores_learned = past && !stores_vectors_;
  after.offset = (past ? past->length() : 0) + (stores_learned ? 0 : learned_keys_);
  const std::int64_t first = after.offset - learned_keys_;
  const Projected of_x = project(pass, x, first, mask.query_segments, kept, first_values);
  AttentionInputs inputs = of_self(of_x, after);
  add_inputs(pass, x, mask.query_segments, first, kept, inputs);
  if (sizes_.position) {
    inputs.keys = sizes_.position->rotate(pass, *inputs.keys, after.offset, Rotated::keys);
    inputs.keys_rotated = true;
  }
  if (!past) past = attention_.start(with_keys_of_maps(inputs));
  if (!past) {
    auto cache = std::make_unique<KVCache>();
    for (auto part = parts_.rbegin(); part != parts_.rend();
         ++part) { // those of the last part come first in the sequence
      if ((*part)->learned_key_count() == 0 || stores_vectors_) continue;
      const Projected before = (*part)->learned_keys(pass);
      cache->append(for_each_sequence(before.k, x.shape[0]), for_each_sequence(before.v, x.shape[0]));
    }
    past = std::move(cache);
  }
  auto* const cache = dynamic_cast<KVCache*>(past.get());
  if (!cache) return finish(pass, x, of_x.v, attention_.step(pass, with_keys_of_maps(inputs), *past));
  continue_with(pass, of_x, *cache, inputs);
  const Tensor y = attention_(pass, with_keys_of_maps(inputs));
  if (inputs.householder) cache->set_keys(merge_heads(householder_keys(*inputs.keys, inputs.householder)));
  return finish(pass, x, of_x.v, y);
}

void MultiHeadAttention::continue_with(Pass& pass, const Projected& of_x, KVCache& cache,
                                       AttentionInputs& inputs) const {
  if (stores_vectors_) {
    cache.append(of_x.stored.vectors, of_x.stored.rotated, inputs.forget);
    const Projected all = with_learned_keys(pass, of_stored(pass, cache.stored(pass.tape())));
    inputs.keys = split_heads(all.k, head_sizes_.key_heads);
    inputs.values = split_values(all.v);
    inputs.keys_rotated = false;
  } else {
    cache.append(merge_heads(*inputs.keys), of_x.v, inputs.forget);
    inputs.keys = split_heads(cache.keys(pass.tape()), head_sizes_.key_heads);
    inputs.values = split_values(cache.values(pass.tape()));
  }
  if (inputs.forget.tape) inputs.forget = cache.forget(pass.tape());
}

void MultiHeadAttention::encode_memory(Pass& pass, const Tensor& memory, KVCache& to) const {
  require_memory(true, "called with a memory");
  const Projected of = of_memory(pass, memory);
  if (stores_vectors_) to.append(of.stored.vectors, of.stored.rotated);
  else to.append(of.k, of.v);
}

Tensor MultiHeadAttention::attend_memory(Pass& pass, const Tensor& x, const KVCache& memory, const Mask& mask) const {
  Tensor k, v;
  if (stores_vectors_) {
    const Projected of = of_stored(pass, memory.stored(pass.tape()));
    k = of.k;
    v = of.v;
  } else {
    k = memory.keys(pass.tape());
    v = memory.values(pass.tape());
  }
  AttentionInputs inputs = heads_of(queries_of(pass, projection_->queries(pass, x, 0)), k, v, mask);
  add_inputs(pass, x, {}, 0, {}, inputs);
  return finish(pass, x, v, attention_(pass, with_keys_of_maps(inputs)));
}

AttentionInputs MultiHeadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Mask& mask) const {
  return {.queries = split_heads(q, head_sizes_.query_heads),
          .values = split_values(v),
          .keys = split_heads(k, head_sizes_.key_heads),
          .mask = mask,
          .position = sizes_.position.get()};
}

AttentionInputs MultiHeadAttention::of_self(const Projected& all, const Mask& mask) const {
  AttentionInputs inputs = heads_of(all.q, all.k, all.v, mask);
  inputs.unseen_queries = std::clamp<std::int64_t>(before_ - mask.offset, 0, all.q.shape[1]);
  inputs.unseen_keys = before_;
  return inputs;
}

Tensor MultiHeadAttention::split_values(const Tensor& v) const {
  return repeat_heads(split_heads(v, head_sizes_.value_heads), head_sizes_.key_heads);
}

AttentionInputs MultiHeadAttention::with_keys_of_maps(AttentionInputs inputs) const {
  if (head_sizes_.key_heads == head_sizes_.value_heads || head_sizes_.key_heads == head_sizes_.query_heads)
    return inputs;
  // The two key heads of a group, as one head of twice the width, for each of the group's heads.
  const auto of_maps = [&](const Tensor& x) {
    const Tensor of_groups = split_heads(merge_heads(x), head_sizes_.value_heads);
    return split_heads(merge_heads(repeat_heads(of_groups, sizes_.heads)), head_sizes_.query_heads);
  };
  inputs.keys = of_maps(*inputs.keys);
  if (inputs.householder)
    inputs.householder = {of_maps(inputs.householder.directions), of_maps(inputs.householder.strengths)};
  inputs.values = repeat_heads(inputs.values, head_sizes_.query_heads);
  return inputs;
}

void MultiHeadAttention::add_inputs(Pass& pass, const Tensor& x, const Segments& segments, std::int64_t first,
                                    std::span<SavedTensor> kept, AttentionInputs& inputs) const {
  for (std::size_t n = 0; n < parts_.size(); ++n)
    parts_[n]->inputs(pass, x, {segments, first, kept.empty() ? nullptr : &kept[n]}, inputs);
}

Tensor MultiHeadAttention::finish(Pass& pass, const Tensor& x, const Tensor& v, const Tensor& of_heads) const {
  Tensor y = of_heads; // [B, H, T, Dv]
  for (const auto& part : parts_) y = part->head_outputs(pass, x, v, y);
  y = merge_heads(y);
  for (const auto& part : parts_) y = part->joined_outputs(pass, x, y);
  return output_ ? (*output_)(pass, y) : y;
}

} // namespace heed::HEED_REAL
