#include "experiments/models/transformer.hpp"

#include "experiments/config/config.hpp"
#include "experiments/models/segments.hpp"
#include "layers/attention/formula/formula.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed::HEED_REAL {

bool reads_segments(const Config& config) {
  return config.any_block([&](const LayerChoice& block) {
    const bool ends = !config.model.segment_end.empty();
    if (!has_attention(block)) return ends;
    if (ends && (has_part(block, "convolution") || has_part(block, "selection"))) return true;
    const AttentionOptions& o = block.attention;
    const std::vector<FormulaParameter> parameters = formula_parameters(o.parameters);
    return use_of(o.score_mod, FormulaKind::score, parameters).segments ||
           use_of(o.mask_mod, FormulaKind::mask, parameters).segments ||
           use_of(o.cross_score_mod, FormulaKind::score, parameters).segments ||
           use_of(o.cross_mask_mod, FormulaKind::mask, parameters).segments;
  });
}

Transformer::Transformer(const Scope& scope, const Config& config, const TaskSizes& sizes, bool segments)
    : Transformer(scope, config,
                  StackSizes{.vocabulary = sizes.vocabulary,
                             .longest = sizes.length,
                             .trained = sizes.trained_length,
                             .segment_end = sizes.segment_end,
                             .segments = segments}) {}

Transformer::Transformer(const Scope& scope, const Config& config, const StackSizes& sizes)
    : embedding(sizes.embedding ? *sizes.embedding
                                : Embedding(scope / "embedding", sizes.vocabulary, config.model.width)),
      stack(scope, config,
            {sizes.longest, sizes.trained, sizes.memory_width, sizes.longest_memory, sizes.trained_memory}),
      embedding_factor(config.model.embedding_scale == "sqrt"
                           ? static_cast<Real>(std::sqrt(static_cast<double>(config.model.width)))
                           : Real{1}) {
  if (!sizes.segments) return;
  if (sizes.segment_end.empty())
    throw Failed("[model] formulas use segment_i or segment_j, and no tokens end a segment: set model.segment_end");
  segment_end = sizes.segment_end;
}

Tensor Transformer::embed(Pass& pass, const TokenSequences& sequences) const {
  const Tensor x = embedding(pass, sequences.tokens, {sequences.count, sequences.length});
  return embedding_factor == 1 ? x : scale(x, embedding_factor);
}

Tensor Transformer::operator()(Pass& pass, const Batch& batch) const {
  return (*this)(pass, TokenSequences::of(batch));
}

Tensor Transformer::operator()(Pass& pass, const TokenSequences& sequences) const {
  const Segments own = segments(pass, sequences);
  return stack(pass, embed(pass, sequences),
               {.lengths = sequences.lengths, .query_segments = own, .key_segments = own});
}

Segments Transformer::segments(Pass& pass, const TokenSequences& sequences) const {
  if (segment_end.empty()) return {};
  auto* numbers = pass.tape().keep<std::int32_t>(sequences.count * sequences.length);
  for (std::int64_t r = 0; r < sequences.count; ++r)
    write_segments({sequences.tokens + r * sequences.length, static_cast<std::size_t>(sequences.length)}, segment_end,
                   numbers + r * sequences.length);
  return {numbers, sequences.length};
}

Tensor Transformer::operator()(Pass& pass, const TokenSequences& sequences, const Memory& memory) const {
  const Segments own = segments(pass, sequences);
  const Mask mask{.lengths = sequences.lengths, .query_segments = own, .key_segments = own},
      memory_mask{.lengths = memory.lengths, .query_segments = own, .key_segments = memory.segments};
  const auto call = [&](const Block& block, const Tensor& x, Tensor* first_values) {
    return block(pass, x, mask, memory.vectors, memory_mask, first_values);
  };
  return stack.finish(pass, stack.through(pass, stack.enter(pass, embed(pass, sequences), 0), call), 0);
}

Transformer::Past Transformer::start(Pass& pass, const Memory* memory) const {
  Past past{.length = 0, .blocks = std::vector<Block::Past>(stack.blocks.size())};
  if (memory)
    for (std::size_t i = 0; i < stack.blocks.size(); ++i)
      stack.blocks[i].encode_memory(pass, memory->vectors, past.blocks[i]);
  return past;
}

Tensor Transformer::step(Pass& pass, const TokenSequences& next, Past& past, const Mask& of_memory) const {
  Segments own;
  if (!segment_end.empty()) {
    past.tokens.resize(static_cast<std::size_t>(next.count));
    std::vector<std::int32_t> all; // the sequences' tokens so far, with the next ones
    for (std::int64_t r = 0; r < next.count; ++r) {
      std::vector<std::int32_t>& sequence = past.tokens[static_cast<std::size_t>(r)];
      sequence.insert(sequence.end(), next.tokens + r * next.length, next.tokens + (r + 1) * next.length);
      all.insert(all.end(), sequence.begin(), sequence.end());
    }
    own = segments(pass, {all.data(), next.count, past.length + next.length});
  }
  const Mask mask{.query_segments = own, .key_segments = own};
  Mask memory_mask = of_memory;
  memory_mask.offset = past.length;
  memory_mask.query_segments = own;
  Tensor x = stack.enter(pass, embed(pass, next), past.length);
  Tensor first_values;
  for (std::size_t i = 0; i < stack.blocks.size(); ++i)
    x = stack.blocks[i].step(pass, x, past.blocks[i], mask, memory_mask, &first_values);
  const Tensor y = stack.finish(pass, x, past.length);
  past.length += next.length;
  return y;
}

Head::Head(const Scope& scope, const Config& config, const Transformer& decoder, std::int64_t classes)
    : embedding_(decoder.embedding.weight) {
  const bool biased = has_head_bias(config, false);
  const Scope own = (scope / "output").output_layer();
  if (!config.model.tied_embeddings) {
    own_.emplace(own, decoder.width(), classes, biased);
    return;
  }
  if (decoder.width() != config.model.width)
    throw Failed(fmt::format("[model] tied embeddings are {} wide, and the widened model {}: set "
                             "model.tied_embeddings = false, or position.concat = \"project\"",
                             config.model.width, decoder.width()));
  if (biased) bias_ = own.no_decay("bias", {classes}, Init::zeros());
}

Tensor Head::operator()(Pass& pass, const Tensor& x) const {
  if (own_) return (*own_)(pass, x);
  return bias_ ? linear(x, pass(embedding_), pass(*bias_)) : linear(x, pass(embedding_));
}

bool Transformer::serves_steps() const {
  return std::all_of(stack.blocks.begin(), stack.blocks.end(), [](const Block& block) { return block.serves_steps(); });
}

namespace {
constexpr std::int64_t tokens_at_once = 1024;

void select_sequences(std::vector<std::vector<std::int32_t>>& sequences, std::span<const std::int64_t> parents) {
  if (sequences.empty()) return;
  std::vector<std::vector<std::int32_t>> out;
  for (const std::int64_t parent : parents) out.push_back(sequences[static_cast<std::size_t>(parent)]);
  sequences = std::move(out);
}
} // namespace

TransformerDecoding::TransformerDecoding(Pass& pass, const Transformer& decoder,
                                         std::function<Tensor(Pass&, const Tensor&)> output, const Tensor& memory,
                                         std::span<const std::int32_t> lengths, const Segments& segments)
    : TransformerDecoding(decoder, std::move(output)) {
  memory_lengths_.assign(lengths.begin(), lengths.end());
  sources_.resize(lengths.size());
  std::iota(sources_.begin(), sources_.end(), 0);
  if (segments.numbers)
    for (std::int64_t r = 0; r < std::ssize(lengths); ++r)
      memory_segments_.emplace_back(segments.of(r), segments.of(r) + memory.shape[1]);
  const Memory kept{.vectors = memory, .lengths = nullptr};
  past_ = decoder_.start(pass, &kept);
}

Tensor TransformerDecoding::step(Pass& pass, std::span<const std::int32_t> tokens) {
  const Tensor y = output_(pass, next(pass, {tokens.data(), std::ssize(tokens), 1}));
  return reshape(y, {y.shape[0], y.shape[2]});
}

void TransformerDecoding::read(Pass& pass, std::int64_t sequences, std::span<const std::int32_t> tokens) {
  const std::int64_t length = std::ssize(tokens) / sequences,
                     most = std::max<std::int64_t>(tokens_at_once / sequences, 1);
  std::vector<std::int32_t> some;
  for (std::int64_t first = 0; first < length; first += most) {
    const std::int64_t n = std::min(most, length - first);
    some.clear();
    for (std::int64_t r = 0; r < sequences; ++r) {
      const auto of_sequence = tokens.subspan(static_cast<std::size_t>(r * length + first),
                                              static_cast<std::size_t>(n));
      some.insert(some.end(), of_sequence.begin(), of_sequence.end());
    }
    const Tape::ArenaScope transient(pass.tape());
    next(pass, {some.data(), sequences, n});
  }
}

Tensor TransformerDecoding::next(Pass& pass, const TokenSequences& tokens) {
  Mask of_memory{.lengths = memory_lengths_.empty() ? nullptr : memory_lengths_.data()};
  std::vector<std::int32_t> segments; // lives as long as the step
  for (const std::vector<std::int32_t>& sequence : memory_segments_)
    segments.insert(segments.end(), sequence.begin(), sequence.end());
  if (!segments.empty()) of_memory.key_segments = {segments.data(), std::ssize(memory_segments_.front())};
  return decoder_.step(pass, tokens, past_, of_memory);
}

void TransformerDecoding::select(std::span<const std::int64_t> parents) {
  std::vector<std::int64_t> sources;
  std::vector<std::int32_t> lengths;
  if (!sources_.empty())
    for (const std::int64_t parent : parents) {
      sources.push_back(sources_[static_cast<std::size_t>(parent)]);
      lengths.push_back(memory_lengths_[static_cast<std::size_t>(parent)]);
    }
  // If sequences only move within one source, their encoder output does not need to be copied.
  const bool same_memories = sources == sources_;
  sources_ = std::move(sources);
  memory_lengths_ = std::move(lengths);
  select_sequences(past_.tokens, parents);
  select_sequences(memory_segments_, parents);
  for (Block::Past& past : past_.blocks) {
    if (past.own) past.own->select(parents);
    if (!same_memories) past.memory.select(parents);
  }
}

std::int64_t TransformerDecoding::state_size(std::int64_t more) const {
  std::int64_t sum = 0;
  for (const Block::Past& past : past_.blocks) sum += past.numbers(more);
  return sum;
}

} // namespace heed::HEED_REAL
