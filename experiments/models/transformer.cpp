#include "experiments/models/transformer.hpp"

#include "experiments/config/config.hpp"
#include "experiments/models/segments.hpp"
#include "layers/attention/formula/formula.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed::HEED_REAL {

bool reads_segments(const Config& config) {
  return config.any_block([](const LayerChoice& block) {
    const AttentionOptions& o = block.attention;
    const std::vector<FormulaParameter> parameters = formula_parameters(o.parameters);
    return use_of(o.score_mod, FormulaKind::score, parameters).segments ||
           use_of(o.mask_mod, FormulaKind::mask, parameters).segments ||
           use_of(o.cross_score_mod, FormulaKind::score, parameters).segments ||
           use_of(o.cross_mask_mod, FormulaKind::mask, parameters).segments;
  });
}

Transformer::Transformer(const Scope& scope, const Config& config, const TaskSizes& shape, bool segments)
    : Transformer(scope, config,
                  StackSizes{.vocabulary = shape.vocabulary,
                             .longest = shape.length,
                             .trained = shape.trained_length,
                             .segment_end = shape.segment_end,
                             .segments = segments}) {}

Transformer::Transformer(const Scope& scope, const Config& config, const StackSizes& shape)
    : embedding(shape.embedding ? *shape.embedding
                                : Embedding(scope / "embedding", shape.vocabulary, config.model.width)),
      stack(scope, config,
            {shape.longest, shape.trained, shape.memory_width, shape.longest_memory, shape.trained_memory}),
      embedding_factor(config.model.embedding_scale == "sqrt"
                           ? static_cast<Real>(std::sqrt(static_cast<double>(config.model.width)))
                           : Real{1}) {
  if (!shape.segments) return;
  if (shape.segment_end.empty())
    throw Failed("[model] formulas use segment_i or segment_j, and no tokens end a segment: set model.segment_end");
  segment_end = shape.segment_end;
}

Tensor Transformer::embed(Pass& pass, const TokenRows& rows) const {
  const Tensor x = embedding(pass, rows.tokens, {rows.rows, rows.length});
  return embedding_factor == 1 ? x : scale(x, embedding_factor);
}

Tensor Transformer::operator()(Pass& pass, const Batch& batch) const { return (*this)(pass, TokenRows::of(batch)); }

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows) const {
  const Segments own = segments(pass, rows);
  return stack(pass, embed(pass, rows), {.lengths = rows.lengths, .query_segments = own, .key_segments = own});
}

Segments Transformer::segments(Pass& pass, const TokenRows& rows) const {
  if (segment_end.empty()) return {};
  auto* numbers = pass.tape().keep<std::int32_t>(rows.rows * rows.length);
  for (std::int64_t r = 0; r < rows.rows; ++r)
    write_segments({rows.tokens + r * rows.length, static_cast<std::size_t>(rows.length)}, segment_end,
                   numbers + r * rows.length);
  return {numbers, rows.length};
}

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows, const Memory& memory) const {
  const Segments own = segments(pass, rows);
  const Mask mask{.lengths = rows.lengths, .query_segments = own, .key_segments = own},
      memory_mask{.lengths = memory.lengths, .query_segments = own, .key_segments = memory.segments};
  const auto call = [&](const Block& block, const Tensor& x, Tensor* first_values) {
    return block(pass, x, mask, memory.vectors, memory_mask, first_values);
  };
  return stack.finish(pass, stack.through(pass, stack.enter(pass, embed(pass, rows), 0), call), 0);
}

Transformer::Past Transformer::start(Pass& pass, const Memory* memory) const {
  Past past{.length = 0, .blocks = std::vector<Block::Past>(stack.blocks.size())};
  if (memory)
    for (std::size_t i = 0; i < stack.blocks.size(); ++i)
      stack.blocks[i].encode_memory(pass, memory->vectors, past.blocks[i]);
  return past;
}

Tensor Transformer::step(Pass& pass, const TokenRows& next, Past& past, const Mask& of_memory) const {
  Segments own;
  if (!segment_end.empty()) {
    past.tokens.resize(static_cast<std::size_t>(next.rows));
    std::vector<std::int32_t> all; // the rows' tokens so far, with the next ones
    for (std::int64_t r = 0; r < next.rows; ++r) {
      std::vector<std::int32_t>& row = past.tokens[static_cast<std::size_t>(r)];
      row.insert(row.end(), next.tokens + r * next.length, next.tokens + (r + 1) * next.length);
      all.insert(all.end(), row.begin(), row.end());
    }
    own = segments(pass, {all.data(), next.rows, past.length + next.length});
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

void select_rows(std::vector<std::vector<std::int32_t>>& rows, std::span<const std::int64_t> parents) {
  if (rows.empty()) return;
  std::vector<std::vector<std::int32_t>> out;
  for (const std::int64_t parent : parents) out.push_back(rows[static_cast<std::size_t>(parent)]);
  rows = std::move(out);
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

void TransformerDecoding::read(Pass& pass, std::int64_t rows, std::span<const std::int32_t> tokens) {
  const std::int64_t length = std::ssize(tokens) / rows, most = std::max<std::int64_t>(tokens_at_once / rows, 1);
  std::vector<std::int32_t> some;
  for (std::int64_t first = 0; first < length; first += most) {
    const std::int64_t n = std::min(most, length - first);
    some.clear();
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto of_row = tokens.subspan(static_cast<std::size_t>(r * length + first), static_cast<std::size_t>(n));
      some.insert(some.end(), of_row.begin(), of_row.end());
    }
    const Tape::ArenaScope transient(pass.tape());
    next(pass, {some.data(), rows, n});
  }
}

Tensor TransformerDecoding::next(Pass& pass, const TokenRows& tokens) {
  Mask of_memory{.lengths = memory_lengths_.empty() ? nullptr : memory_lengths_.data()};
  std::vector<std::int32_t> segments; // lives as long as the step
  for (const std::vector<std::int32_t>& row : memory_segments_) segments.insert(segments.end(), row.begin(), row.end());
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
  // If rows only move within one source, their encoder output does not need to be copied.
  const bool same_memories = sources == sources_;
  sources_ = std::move(sources);
  memory_lengths_ = std::move(lengths);
  select_rows(past_.tokens, parents);
  select_rows(memory_segments_, parents);
  for (Block::Past& past : past_.blocks) {
    if (past.own) past.own->select(parents);
    if (!same_memories) past.memory.select(parents);
  }
}

} // namespace heed::HEED_REAL
