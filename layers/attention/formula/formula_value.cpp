// Evaluates a formula for one pair at a time, in plain loops.
#include "layers/attention/formula/formula.hpp"

#include <algorithm>
#include <cmath>

namespace heed {

namespace {

bool depends_on_positions(FormulaName name) {
  switch (name) {
    case FormulaName::i:
    case FormulaName::j:
    case FormulaName::queries:
    case FormulaName::keys:
    case FormulaName::segment_i:
    case FormulaName::segment_j:
    case FormulaName::row_i:
    case FormulaName::column_i:
    case FormulaName::row_j:
    case FormulaName::column_j: return true;
    default: return false;
  }
}

} // namespace

bool has_gradient(FormulaOp op) {
  const FormulaOperation* operation = formula_operation(op);
  return !operation || operation->gradient;
}

FormulaUse use_of(const Formula& formula) { return use_of(formula, {}); }

FormulaUse use_of(const std::string& text, FormulaKind kind, const std::vector<FormulaParameter>& parameters) {
  const ReadFormula read = text.empty() ? ReadFormula{} : read_formula(text, kind, parameters);
  return read.formula ? use_of(*read.formula, parameters) : FormulaUse{};
}

FormulaUse use_of(const Formula& formula, std::span<const FormulaParameter> parameters) {
  FormulaUse out;
  std::vector<bool> differentiated(formula.nodes.size());
  if (!differentiated.empty()) differentiated.back() = true;
  const auto note = [](std::vector<std::int32_t>& all, std::int32_t parameter) {
    if (std::find(all.begin(), all.end(), parameter) == all.end()) all.push_back(parameter);
  };
  for (std::size_t k = formula.nodes.size(); k-- > 0;) {
    const FormulaNode& n = formula.nodes[k];
    out.score = out.score || n.name == FormulaName::s;
    out.anything = out.anything || n.name != FormulaName::none || n.parameter >= 0;
    out.segments = out.segments || n.name == FormulaName::segment_i || n.name == FormulaName::segment_j;
    const bool by_distance = n.parameter >= 0 && n.parameter < std::ssize(parameters) &&
                             parameters[static_cast<std::size_t>(n.parameter)].by_distance();
    out.positions = out.positions || by_distance || depends_on_positions(n.name);
    if (n.parameter >= 0) {
      note(out.parameters, n.parameter);
      if (differentiated[k]) note(out.with_gradient, n.parameter);
    }
    if (!differentiated[k] || !has_gradient(n.op)) continue;
    const bool by_first = n.op != FormulaOp::element && n.op != FormulaOp::choice;
    for (const std::int32_t o : {by_first ? n.a : -1, n.b, n.c})
      if (o >= 0) differentiated[static_cast<std::size_t>(o)] = true;
  }
  return out;
}

double evaluate(const Formula& formula, const FormulaPair& pair) {
  std::vector<double> values;
  const auto of = [&](std::int32_t n) { return values[static_cast<std::size_t>(n)]; };
  const auto named = [&](FormulaName name) {
    switch (name) {
      case FormulaName::s: return pair.s;
      case FormulaName::i: return pair.i;
      case FormulaName::j: return pair.j;
      case FormulaName::b: return pair.b;
      case FormulaName::h: return pair.h;
      case FormulaName::heads: return pair.heads;
      case FormulaName::width: return pair.width;
      case FormulaName::queries: return pair.queries;
      case FormulaName::keys: return pair.keys;
      case FormulaName::seen: return pair.seen;
      case FormulaName::layer: return pair.layer;
      case FormulaName::segment_i: return pair.segment_i;
      case FormulaName::segment_j: return pair.segment_j;
      case FormulaName::row_i: return pair.row_i;
      case FormulaName::column_i: return pair.column_i;
      case FormulaName::row_j: return pair.row_j;
      case FormulaName::column_j: return pair.column_j;
      case FormulaName::n: return pair.n;
      case FormulaName::none: break;
    }
    return 0.0;
  };
  const auto listed_number = [&](const FormulaNode& n, double place) {
    const std::span<const double> all = pair.parameters[static_cast<std::size_t>(n.parameter)];
    const double last = static_cast<double>(all.size() - 1);
    // An index that is NaN selects the first value.
    return all[static_cast<std::size_t>(std::clamp(place == place ? std::floor(place) : 0.0, 0.0, last))];
  };
  const auto furthest = [&](const FormulaNode& n) { // the values are for the distances -furthest, ..., furthest
    const std::size_t half = pair.parameters[static_cast<std::size_t>(n.parameter)].size() / 2;
    return static_cast<double>(half);
  };
  for (const FormulaNode& n : formula.nodes) {
    const double a = n.a >= 0 ? of(n.a) : 0, b = n.b >= 0 ? of(n.b) : 0;
    const auto value = [&]() -> double {
      switch (n.op) {
        case FormulaOp::number: return n.number;
        case FormulaOp::score: return named(n.name);
        case FormulaOp::parameter: return listed_number(n, 0);
        case FormulaOp::element: return listed_number(n, a);
        case FormulaOp::by_distance: return listed_number(n, pair.j - pair.i + furthest(n));
        case FormulaOp::negative: return -a;
        case FormulaOp::reciprocal: return 1 / a;
        case FormulaOp::abs: return std::abs(a);
        case FormulaOp::exp: return std::exp(a);
        case FormulaOp::log: return std::log(a);
        case FormulaOp::sqrt: return std::sqrt(a);
        case FormulaOp::tanh: return std::tanh(a);
        case FormulaOp::sigmoid: return 1 / (1 + std::exp(-a));
        case FormulaOp::relu: return a <= 0 ? 0.0 : a;
        case FormulaOp::floor: return std::floor(a);
        case FormulaOp::sin: return std::sin(a);
        case FormulaOp::cos: return std::cos(a);
        case FormulaOp::negation: return a == 0;
        case FormulaOp::add: return a + b;
        case FormulaOp::subtract: return a - b;
        case FormulaOp::multiply: return a * b;
        case FormulaOp::divide: return a / b;
        case FormulaOp::power: return std::pow(a, b);
        case FormulaOp::remainder: return a - b * std::floor(a / b);
        case FormulaOp::min: return b < a ? b : a;
        case FormulaOp::max: return a < b ? b : a;
        case FormulaOp::less: return a < b;
        case FormulaOp::less_equal: return a <= b;
        case FormulaOp::equal: return a == b;
        case FormulaOp::unequal: return a != b;
        case FormulaOp::conjunction: return a != 0 && b != 0;
        case FormulaOp::disjunction: return a != 0 || b != 0;
        case FormulaOp::choice: return a != 0 ? b : of(n.c);
        default: return 0; // only occurs in programs
      }
    };
    values.push_back(value());
  }
  return values.empty() ? 0 : values.back();
}

} // namespace heed
