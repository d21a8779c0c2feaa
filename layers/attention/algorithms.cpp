#include "autograd/recompute.hpp"
#include "layers/attention/algorithm.hpp"
#include "layers/attention/query_chunks.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <limits>

namespace heed::HEED_REAL {

namespace {

// ---- streaming: in the engine's kernels -----------------------------------------------------------------------------

bool streams(const AttentionProblem& x) {
  return x.form.index() != 0 && (x.normalizer->is_softmax() || x.normalizer->has_rules()) && !x.factors &&
         x.parts.empty() && !x.householder && !x.selects() && !x.differentiable_weights && x.rows == 0 &&
         !(x.position && x.position->has_values());
}

StreamingOptions streaming_options(Pass& pass, const AttentionProblem& x) {
  StreamingOptions options{
      .mask = x.mask, .bias = x.bias(pass), .formula = x.formula ? x.formula->on(pass, x.formula_sizes()) : nullptr};
  options.memory = x.memory;
  const Shape all{x.queries.shape[0], x.queries.shape[1], x.queries.shape[2], x.values.shape[2]};
  if (pass.training() && x.normalizer->has_noise()) {
    const Pass::DropoutPlace place = pass.next_dropout(all);
    options.noise = {place.key, place.numbers.first};
  }
  if (pass.training() && x.dropout > 0) {
    const Pass::DropoutPlace place = pass.next_dropout(all);
    options.dropout = x.dropout;
    options.key = place.key;
    options.first = place.numbers.first;
  }
  if (x.weights) {
    *x.weights = pass.tape().make(all);
    options.weights = x.weights->data;
  }
  return options;
}

// Calls f(form, values) for the form of the problem. If the form has keys for each query head, the values are repeated
// for each query head, too.
template <class F> Tensor of_form(const AttentionProblem& x, F&& f) {
  const auto with_values = [&](const auto& form) {
    return f(form, form.keys.shape[1] == x.values.shape[1] ? x.values : repeat_heads(x.values, x.queries.shape[1]));
  };
  if (const auto* inner = std::get_if<DotProductForm>(&x.form)) return with_values(*inner);
  if (const auto* distances = std::get_if<DistanceForm>(&x.form)) return with_values(*distances);
  return with_values(std::get<AdditiveForm>(x.form));
}

bool serves_softmax(const AttentionProblem& x) { return streams(x) && x.normalizer->is_softmax(); }
Tensor stream_softmax(Pass& pass, const AttentionProblem& x) {
  const StreamingOptions options = streaming_options(pass, x);
  return of_form(x, [&](const auto& form, const Tensor& v) { return attend_softmax(form, v, options); });
}

Tensor stream_rows(Pass& pass, const AttentionProblem& x) {
  const StreamingOptions options = streaming_options(pass, x);
  const RowRules& rules = *x.normalizer->rules(pass);
  return of_form(x, [&](const auto& form, const Tensor& v) { return attend_rows(form, v, rules, options); });
}

// ---- composed from operations ---------------------------------------------------------------------------------------

// The same problem with keys and values repeated for each query head, and with the form's matrices applied once for all
// chunks.
AttentionProblem unshared(const AttentionProblem& given) {
  AttentionProblem x = given;
  const std::int64_t heads = x.queries.shape[1];
  x.keys = repeat_heads(x.keys, heads);
  x.values = repeat_heads(x.values, heads);
  if (x.householder)
    x.householder = {repeat_heads(x.householder.directions, heads), repeat_heads(x.householder.strengths, heads)};
  std::visit(
      [&](auto& form) {
        if constexpr (requires { form.keys; }) form.keys = repeat_heads(form.keys, heads);
      },
      x.form);
  x.form = projected(x.form);
  if (const auto* const products = std::get_if<DotProductForm>(&x.form); products && x.householder)
    x.householder.blocks = householder_blocks(products->keys, x.householder);
  return x;
}

// The input of a normaliser.
struct MaskedScores {
  Tensor scores;
  Mask mask;
};
Tensor pairs_of(Pass& pass, const AttentionProblem& x) {
  if (x.form.index() == 0) return (*x.score)(pass, x.queries, x.keys);
  if (!x.householder) return compose(x.form);
  const auto* const products = std::get_if<DotProductForm>(&x.form);
  if (!products) throw Failed("[attention] matrices between queries and keys need a score of products");
  return householder_products(products->factor == 1 ? products->queries : scale(products->queries, products->factor),
                              products->keys, x.householder);
}
MaskedScores scores_of(Pass& pass, const AttentionProblem& x) {
  const Tensor pairs = pairs_of(pass, x);
  const FormulaSizes sizes = x.formula_sizes();
  ScoreFormula* formula = x.formula ? x.formula->on(pass, sizes) : nullptr;
  const Mask mask = with_formula(pass.tape(), x.mask, formula, sizes);
  Tensor scores = add_bias(pairs, x.bias(pass));
  for (const auto& part : x.parts) scores = part->pair_scores(pass, scores);
  const Mask seen = x.selects() ? x.selection->chosen(x.queries, x.keys, mask) : mask;
  return {apply_formula(scores, formula), seen};
}

Tensor whole(Pass& pass, const AttentionProblem& x) {
  const auto [scores, mask] = scores_of(pass, x);
  Tensor weights = x.selects() ? x.selection->weights(pass, *x.normalizer, scores, mask, x.gates)
                               : (*x.normalizer)(pass, scores, mask);
  for (const auto& part : x.parts) weights = part->pair_weights(pass, weights);
  if (x.factors) weights = mul(weights, *x.factors);
  if (x.weights) *x.weights = weights;
  const Tensor used = pass.dropout(weights, x.dropout), y = matmul(used, x.values);
  return x.position && x.position->has_values() ? add(y, x.position->values(pass, used, x.mask)) : y;
}

Tensor compose_whole(Pass& pass, const AttentionProblem& x) { return whole(pass, unshared(x)); }

std::int64_t rows_of(const AttentionProblem& x) {
  return x.rows ? x.rows : queries_at_a_time(x.queries.shape, x.values.shape[2], x.form);
}
AttentionProblem chunk_of(const AttentionProblem& x, const QueryChunks& chunks, std::int64_t i) {
  AttentionProblem some = x;
  some.queries = chunks.queries_of(x.queries, i);
  some.unrotated_queries = chunks.queries_of(x.unrotated_queries, i);
  some.keys = chunks.keys_of(x.keys, i);
  some.values = chunks.keys_of(x.values, i);
  if (x.forget.tape) some.forget = chunks.keys_of(x.forget, i);
  if (x.gates.tape) some.gates = chunks.queries_of(x.gates, i);
  if (x.householder)
    some.householder = {chunks.last_keys_of(x.householder.directions, i),
                        chunks.last_keys_of(x.householder.strengths, i), chunks.entry_of(x.householder.blocks, i)};
  some.form = chunks.form_of(x.form, i);
  some.mask = chunks.mask_of(i);
  some.entry = chunks.part(i).entry;
  some.unseen_queries = std::clamp<std::int64_t>(x.unseen_queries - chunks.part(i).first_query, 0,
                                                 some.queries.shape[2]);
  some.all_queries = x.mask.offset + x.queries.shape[2];
  some.all_keys = x.values.shape[2];
  return some;
}

bool serves_chunks(const AttentionProblem& x) { return !x.weights && !x.factors && rows_of(x) > 0; }
Tensor compose_in_chunks(Pass& pass, const AttentionProblem& given) {
  const AttentionProblem x = unshared(given);
  const QueryChunks chunks{x.queries.shape, x.values.shape[2], rows_of(given), x.mask};
  const Tensor out = pass.tape().make({x.queries.shape[0], x.queries.shape[2], x.queries.shape[1],
                                       x.values.shape[3]}); // the layout in which heads are merged
  const auto chunk = [=](Pass& here, std::int64_t i) { return whole(here, chunk_of(x, chunks, i)); };
  const Pass::State state = pass.state();
  std::uint64_t dropout_sites = state.dropout_sites;
  const Tensor y = recompute(
      "attention", transpose(out, 1, 2), chunks.count(),
      [=](const Tensor& all, std::int64_t i) { return chunks.queries_of(all, i); },
      [=](std::int64_t i) {
        Pass here(state, chunks.part(i));
        return chunk(here, i);
      },
      [&](std::int64_t i) {
        Pass here(state, chunks.part(i));
        const Tensor z = chunk(here, i);
        dropout_sites = here.state().dropout_sites;
        return z;
      });
  pass.go_on_after(dropout_sites);
  return y;
}

// ---- for observers --------------------------------------------------------------------------------------------------

// The scores, with -infinity for masked pairs.
Tensor hidden_as_infinite(const MaskedScores& x) {
  const Tensor s = contiguous(x.scores), y = s.tape->make(s.shape);
  const std::int64_t heads = s.shape[1], queries = s.shape[2], keys = s.shape[3];
  std::fill_n(y.data, y.size(), -std::numeric_limits<Real>::infinity());
  for (std::int64_t b = 0; b < s.shape[0]; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t row = ((b * heads + h) * queries + i) * keys;
        const Mask::Range range = x.mask.range(b, i, keys);
        const std::uint8_t* allowed = x.mask.row(b, h, i, queries, keys);
        for (std::int64_t j = range.first(); j < range.end; ++j)
          if (range.has(j) && (!allowed || allowed[j])) y.data[row + j] = s.data[row + j];
      }
  return y;
}

constexpr AttentionAlgorithm algorithms[] = {{serves_softmax, stream_softmax},
                                             {streams, stream_rows},
                                             {serves_chunks, compose_in_chunks},
                                             {[](const AttentionProblem&) { return true; }, compose_whole}};

Tensor shown_scores(Pass& pass, const AttentionProblem& x) { return x.seen(hidden_as_infinite(scores_of(pass, x))); }

} // namespace

void show_scores(Pass& pass, const AttentionPlace& place, const AttentionProblem& given) {
  Tape& tape = pass.tape();
  const bool recorded = tape.recording();
  tape.record(false);
  const AttentionProblem x = unshared(given);
  // The scores of both maps of a head are shown as its own.
  AttentionPlace shown = place;
  shown.maps = given.lambda.tape ? 2 : 1;
  const auto show = [&](const Tensor& s) {
    if (!s.tape) return;
    pass.show_scores(shown, reshape(s, {s.shape[0], s.shape[1] / shown.maps, shown.maps * s.shape[2], s.shape[3]}));
  };
  if (const std::int64_t rows = rows_of(given); rows > 0 && !tape.nested()) {
    const QueryChunks chunks{x.queries.shape, x.values.shape[2], rows, x.mask};
    for (std::int64_t i = 0; i < chunks.count(); ++i) {
      const Tape::NestedTape aside(tape);
      Pass here(pass.state(), chunks.part(i));
      show(shown_scores(here, chunk_of(x, chunks, i)));
    }
  } else {
    show(shown_scores(pass, x));
  }
  tape.record(recorded);
}

const AttentionAlgorithm& algorithm_for(const AttentionProblem& problem) {
  if (const AttentionAlgorithm* own = problem.score->algorithm(); own && own->serves(problem)) return *own;
  for (const AttentionAlgorithm& a : algorithms)
    if (a.serves(problem)) return a;
  return algorithms[std::size(algorithms) - 1];
}

Tensor Normalizer::operator()(Pass& pass, const Tensor& scores, const Mask& mask) const {
  const RowRules* how = rules(pass);
  if (!how) throw Failed("[attention] a normaliser must give its rule for a row or compute its weights itself");
  if (!has_noise() || !pass.training()) return normalize_rows("normalizer", scores, mask, *how);
  const Pass::DropoutPlace place = pass.next_dropout(scores.shape);
  return normalize_rows("normalizer", add(scores, gumbel_noise(pass.tape(), scores.shape, place.key, place.numbers)),
                        mask, *how);
}

} // namespace heed::HEED_REAL
