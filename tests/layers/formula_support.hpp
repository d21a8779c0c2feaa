// Test support: attention with formulas, and a reference implementation pair by pair in plain loops.
#pragma once

#include "layers/attention/formula/formula.hpp"
#include "tests/layers/attention_support.hpp"

namespace heed::HEED_REAL {

/// The formula of a score, the formula of a mask, and the parameters that they use.
struct Formulas {
  std::string score, mask;
  std::vector<FormulaParameter> parameters{};

  std::string text() const { return "score_mod '" + score + "', mask_mod '" + mask + "'"; }
  LayerChoice in(LayerChoice choice) const {
    choice.attention.score_mod = score;
    choice.attention.mask_mod = mask;
    for (const FormulaParameter& p : parameters) choice.attention.parameters.push_back(text_of(p));
    return choice;
  }
};

/// Formulas that together use every name, every operation, every kind of parameter and every axis.
inline std::vector<Formulas> formula_cases() {
  return {
      {"3 * tanh(s / 3)", ""},
      {"s - slope * abs(i - j)", "", {{.name = "slope", .per = "head", .start = "1 / (h + 1)"}}},
      {"s + bias", "", {{.name = "bias", .per = "head_and_distance", .start = "(i - j) / 8", .furthest = 3}}},
      {"", "j <= i and (i - j < 3 or j < 2)"},
      {"", "(i + j + h + b) % 3 != 0"},
      {"", "j < keys - 1 and not (queries > 2 and i == 1)"},
      {"where(i - j < 2 or h == 1, s * scale, s + 0.1 * b)", "i % 2 == j % 2", {{.name = "scale", .start = "0.7"}}},
      {"s * one + weights[min(abs(i - j), 9)] + fixed[h]",
       "abs(i - j) <= limit",
       {{.name = "weights", .per = "head", .start = "0.3 * n - 0.2 * h", .size = 4},
        {.name = "one", .start = "0.9"},
        {.name = "fixed", .start = "n", .learned = false, .size = 2},
        {.name = "limit", .start = "3.5", .learned = false}}},
      {"s / (1 + abs(i - j)) - exp(-s * s) + sqrt(1 + s ^ 2) + log(2 + cos(s)) + sin(s) / heads + s / (2 + s ^ 2)", ""},
      {"relu(s) - sigmoid(s / width) + clamp(s, -0.3, 0.4) + max(s, 0.1, -s) - min(s, j / 9) + floor(3 * s) / 20", ""},
      {"(tanh(s) + 2) ^ (0.5 + slope) + (tanh(s) + 2) ^ -2 + s % 0.7 + (2 + s ^ 2) ^ 0.5 + (s / 20) ^ 5",
       "",
       {{.name = "slope", .start = "0.5"}}},
      {"s * row_gain * (i + 1) / (j + 1)", "", {{.name = "row_gain", .per = "distance", .start = "1", .furthest = 20}}},
      {"s + 0.1 * keys - 0.2 * queries", "j < 0"},
      {"relu(s) / seen", ""},
      {"s - log(seen)", "i - j < 4 and (j % 3 != 1 or h == 1)"},
      {"s * seen ^ slope", "j <= i", {{.name = "slope", .start = "-0.5"}}},
      {"s * layer / 4 + 0.1 * segment_i - 0.2 * segment_j", "segment_i == segment_j or j == 0"},
      {"", "segment_i >= segment_j and (h == 0 or segment_j > 0)"},
      {"s + bias[(row_i - row_j + 2) * 5 + column_i - column_j + 2]",
       "abs(row_i - row_j) <= 2 and abs(column_i - column_j) <= 1",
       {{.name = "bias", .per = "head", .start = "sin(n + h)", .size = 25}}},
      {"s * own[i] + other[j] - other[column_j] * row_i / 9 + column_i / 7",
       "",
       {{.name = "own", .per = "position", .start = "1 + n / 9"},
        {.name = "other", .per = "head_and_position", .start = "cos(n + h)", .furthest = 3}}},
  };
}

/// An attention with formulas, and its problem.
struct Formulated {
  Extents e;
  Formulas formulas;
  LayerChoice choice;
  Weights weights;
  Attention attention;
  Operand q, k, v;
  std::vector<std::int32_t> of_queries, of_keys; ///< segments, [batch, positions]

  Formulated(const Formulas& f, const LayerChoice& base, const Extents& extents)
      : e(extents), formulas(f), choice(f.in(base)), attention(weights.scope(), choice, e.score()),
        q(e.q(), 1, {-1, 1, 0}), k(e.k(), 2, {-1, 1, 0}), v(e.v(), 3, {-1, 1, 0}) {
    for (std::int64_t b = 0; b < e.batch; ++b) {
      for (std::int64_t i = 0; i < positions(); ++i) of_queries.push_back(static_cast<std::int32_t>((i + b) / 4));
      for (std::int64_t j = 0; j < e.keys; ++j) of_keys.push_back(static_cast<std::int32_t>((j + 2 * b) / 5));
    }
    weights.fill(4);
    // The parameters of formulas get their initial values plus a small perturbation.
    weights.parameters.initialise(7);
    for (std::size_t p = 0; p < weights.parameters.entries().size(); ++p) {
      const auto& entry = weights.parameters.entries()[p];
      Real* values = weights.parameters.values(ParameterId{p});
      const std::vector<Real> drawn = draw(entry.shape.size(), 4 + p, {-1, 1, 0});
      if (Weights::of_normalizer(entry)) continue;
      const bool of_formula = entry.name.starts_with("formula.");
      for (std::size_t n = 0; n < drawn.size(); ++n) values[n] = of_formula ? values[n] + drawn[n] / 16 : drawn[n];
    }
  }

  /// The number of positions of queries that have a segment, beyond every mask's offset.
  std::int64_t positions() const { return e.queries + 130; }
  Mask with_segments(Mask mask) const {
    mask.query_segments = {of_queries.data(), positions()};
    mask.key_segments = {of_keys.data(), e.keys};
    return mask;
  }
  AttentionInputs inputs(Tape& tape, const Mask& mask) {
    return {.queries = q.on(tape), .values = v.on(tape), .keys = k.on(tape), .mask = with_segments(mask)};
  }
  std::vector<Real> operator()(const Mask& mask, Tensor* weights_too = nullptr) {
    Tape tape;
    Pass pass = weights.pass(tape, {.first_sequence = 1});
    Tensor w;
    const Tensor y = weights_too ? attention(pass, inputs(tape, mask), &w) : attention(pass, inputs(tape, mask));
    return read(y);
  }

  /// Reference implementation in plain loops.
  std::vector<double> naive(const Mask& mask) {
    std::vector<const Real*> own;
    std::vector<std::vector<double>> numbers;
    for (std::size_t p = 0; p < weights.parameters.entries().size(); ++p)
      if (const auto& entry = weights.parameters.entries()[p];
          !entry.name.starts_with("formula.") && !Weights::of_normalizer(entry))
        own.push_back(weights.parameters.values(ParameterId{p}));
    for (const FormulaParameter& p : formulas.parameters) {
      const auto* entry = weights.parameters.find("formula." + p.name);
      CHECK((entry != nullptr) == p.learned);
      if (!entry) numbers.push_back(starting_numbers(p, e.heads, e.query_width, e.keys));
      else
        numbers.emplace_back(weights.parameters.values() + entry->offset,
                             weights.parameters.values() + entry->offset + entry->shape.size());
    }
    const auto formula = [&](const std::string& text, FormulaKind kind) {
      return text.empty() ? std::nullopt : read_formula(text, kind, formulas.parameters).formula;
    };
    const auto of_score = formula(formulas.score, FormulaKind::score),
               of_mask = formula(formulas.mask, FormulaKind::mask);
    const auto formula_pair = [&](const Pair& p) {
      const auto unpadded = [&](std::int64_t n) {
        return static_cast<double>(mask.lengths ? std::min<std::int64_t>(n, mask.lengths[p.b]) : n);
      };
      const std::int64_t i = p.i + mask.offset;
      FormulaPair pair{.i = static_cast<double>(i),
                       .j = static_cast<double>(p.j),
                       .b = static_cast<double>(p.b + 1),
                       .h = static_cast<double>(p.h),
                       .heads = static_cast<double>(e.heads),
                       .width = static_cast<double>(e.query_width),
                       .queries = unpadded(e.queries + mask.offset),
                       .keys = unpadded(e.keys),
                       .layer = 2,
                       .segment_i = static_cast<double>((i + p.b) / 4),
                       .segment_j = static_cast<double>((p.j + 2 * p.b) / 5),
                       .row_i = static_cast<double>(i / 3),
                       .column_i = static_cast<double>(i % 3),
                       .row_j = static_cast<double>(p.j / 3),
                       .column_j = static_cast<double>(p.j % 3)};
      for (std::size_t n = 0; n < numbers.size(); ++n) {
        const std::size_t heads = formulas.parameters[n].by_head() ? static_cast<std::size_t>(e.heads) : 1;
        const std::size_t each = numbers[n].size() / heads,
                          first = heads > 1 ? static_cast<std::size_t>(p.h) * each : 0;
        pair.parameters.push_back(std::span(numbers[n]).subspan(first, each));
      }
      return pair;
    };
    return plain_attention(
               e, mask, choice,
               {.score =
                    [&](const Pair& p, const RowKeys& row) {
                      const Real s = plain_score(choice, e, query_at(e, q.values, p), key_at(e, k.values, p), p, own);
                      if (!of_score) return s;
                      FormulaPair pair = formula_pair(p);
                      pair.seen = static_cast<double>(row.n);
                      pair.s = static_cast<double>(s);
                      return static_cast<Real>(evaluate(*of_score, pair));
                    },
                .value = [&](const Pair& p) { return value_at(e, v.values, p); },
                .allows = [&](const Pair& p) { return !of_mask || evaluate(*of_mask, formula_pair(p)) != 0; }})
        .result;
  }

  struct Outcome {
    std::vector<Real> result, gradients;
  };
  /// In training. With weights, attention does not stream. rows: queries per block of composed attention; 0: automatic.
  Outcome trained(const Mask& mask, bool with_weights, std::int64_t rows = 0) {
    Tape tape;
    Pass pass = weights.pass(tape, {.training = true, .seed = 3, .first_sequence = 1});
    for (Operand* x : {&q, &k, &v}) x->gradient.assign(x->values.size(), Real(7));
    weights.gradients.assign(weights.gradients.size(), Real(7));
    AttentionInputs in = inputs(tape, mask);
    in.rows = rows;
    Tensor w;
    const Tensor y = with_weights ? attention(pass, in, &w) : attention(pass, in);
    tape.backward(weighted_sum(y));
    pass.finish_gradients();
    Outcome out{read(y), {}};
    for (const auto& [operand, leaf] : {std::pair{&q, in.queries}, {&k, *in.keys}, {&v, in.values}}) {
      if (Tape::untouched(leaf)) out.gradients.insert(out.gradients.end(), operand->values.size(), Real{0});
      else out.gradients.insert(out.gradients.end(), operand->gradient.begin(), operand->gradient.end());
    }
    for (const auto& entry : weights.parameters.entries()) {
      const std::vector<Real> gradient = weights.gradient(entry.name);
      out.gradients.insert(out.gradients.end(), gradient.begin(), gradient.end());
    }
    return out;
  }
};

} // namespace heed::HEED_REAL
