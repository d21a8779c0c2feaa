#include "layers/attention/formula/program.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace heed {

namespace {

// A linear expression: `i` * i + `j` * j + a summand that depends on neither.
struct Linear {
  bool holds = false;
  double i = 0, j = 0;
};

struct Seen {
  FormulaAxis axis = FormulaAxis::head;
  Linear linear;
};

FormulaAxis axis_of(const Linear& x) {
  if (x.i == 0 && x.j == 0) return FormulaAxis::head;
  if (x.i == -x.j) return FormulaAxis::distance;
  if (x.j == 0) return FormulaAxis::row;
  return x.i == 0 ? FormulaAxis::column : FormulaAxis::pair;
}

// The axis of a name whose values are along the queries or the keys, other than i and j.
std::optional<FormulaAxis> axis_of(FormulaName name) {
  switch (name) {
    case FormulaName::seen:
    case FormulaName::segment_i:
    case FormulaName::row_i:
    case FormulaName::column_i: return FormulaAxis::row;
    case FormulaName::segment_j:
    case FormulaName::row_j:
    case FormulaName::column_j: return FormulaAxis::column;
    default: return {};
  }
}

FormulaAxis both(FormulaAxis a, FormulaAxis b) {
  if (a == FormulaAxis::head || a == b) return b;
  return b == FormulaAxis::head ? a : FormulaAxis::pair;
}

bool is_comparison(FormulaOp op) {
  return op == FormulaOp::less || op == FormulaOp::less_equal || op == FormulaOp::equal || op == FormulaOp::unequal;
}

// The axis that each node depends on.
std::vector<Seen> axes_of(const Formula& formula) {
  std::vector<Seen> out;
  const auto at = [&](std::int32_t n) -> const Seen& { return out[static_cast<std::size_t>(n)]; };
  const auto number = [&](std::int32_t n) -> const double* {
    const FormulaNode& node = formula.nodes[static_cast<std::size_t>(n)];
    return node.op == FormulaOp::number ? &node.number : nullptr;
  };
  const auto linear_of = [&](const FormulaNode& n) -> Linear {
    const auto sum = [&](double sign) -> Linear {
      const Linear &a = at(n.a).linear, &b = at(n.b).linear;
      return {a.holds && b.holds, a.i + sign * b.i, a.j + sign * b.j};
    };
    const auto times = [](const Linear& a, double factor) -> Linear { return {a.holds, factor * a.i, factor * a.j}; };
    switch (n.op) {
      case FormulaOp::negative: return times(at(n.a).linear, -1);
      case FormulaOp::add: return sum(1);
      case FormulaOp::subtract: return sum(-1);
      case FormulaOp::multiply:
        if (const double* f = number(n.a)) return times(at(n.b).linear, *f);
        if (const double* f = number(n.b)) return times(at(n.a).linear, *f);
        return {};
      case FormulaOp::divide:
        if (const double* f = number(n.b)) return times(at(n.a).linear, 1 / *f);
        return {};
      default: return {};
    }
  };
  for (const FormulaNode& n : formula.nodes) {
    Seen seen;
    if (n.name == FormulaName::i) seen = {FormulaAxis::row, {true, 1, 0}};
    else if (const auto axis = axis_of(n.name)) seen = {*axis, {}};
    else if (n.name == FormulaName::j) seen = {FormulaAxis::column, {true, 0, 1}};
    else if (n.name == FormulaName::s) seen = {FormulaAxis::pair, {}};
    else if (n.op == FormulaOp::by_distance) seen = {FormulaAxis::distance, {}};
    else if (n.a < 0) seen = {FormulaAxis::head, {true, 0, 0}};
    else {
      for (const std::int32_t o : {n.a, n.b, n.c})
        if (o >= 0) seen.axis = both(seen.axis, at(o).axis);
      if (const Linear linear = linear_of(n); linear.holds) seen = {axis_of(linear), linear};
      else if (is_comparison(n.op) && at(n.a).linear.holds && at(n.b).linear.holds)
        seen.axis = axis_of(Linear{true, at(n.a).linear.i - at(n.b).linear.i, at(n.a).linear.j - at(n.b).linear.j});
      if (seen.axis == FormulaAxis::head && !seen.linear.holds) seen.linear = {true, 0, 0};
    }
    out.push_back(seen);
  }
  return out;
}

class Compiler {
public:
  Compiler(std::span<const FormulaParameter> parameters, const FormulaPlace& place)
      : parameters_(parameters), place_(place) {}

  std::int32_t take(const Formula& formula) {
    formula_ = &formula;
    axes_ = axes_of(formula);
    places_.assign(formula.nodes.size(), {-1, -1, -1, -1, -1});
    const auto last = static_cast<std::int32_t>(formula.nodes.size() - 1);
    return instance(last, axes_.back().axis);
  }

  FormulaProgram finish(std::int32_t score, std::int32_t mask) {
    out_.score = score;
    out_.mask = mask;
    take_factors();
    score = out_.score;
    need(score, &FormulaInstruction::for_score);
    need(out_.factor, &FormulaInstruction::for_score);
    need(mask, &FormulaInstruction::for_mask);
    std::vector<bool> by_head(out_.instructions.size()), by_entry(out_.instructions.size());
    for (std::size_t k = 0; k < out_.instructions.size(); ++k) {
      FormulaInstruction& x = out_.instructions[k];
      bool heads = x.op == FormulaOp::head || x.op == FormulaOp::seen ||
                   (x.parameter >= 0 && parameter(x.parameter).by_head());
      bool entries = x.op == FormulaOp::batch || x.op == FormulaOp::queries || x.op == FormulaOp::keys ||
                     x.op == FormulaOp::seen || x.op == FormulaOp::segment;
      const bool smooth = has_gradient(x.op);
      bool differentiable = x.op == FormulaOp::score || (x.parameter >= 0 && parameter(x.parameter).learned);
      const auto from = [&](std::int32_t o, bool by_value) {
        if (o < 0) return;
        heads = heads || by_head[static_cast<std::size_t>(o)];
        entries = entries || by_entry[static_cast<std::size_t>(o)];
        differentiable = differentiable || (by_value && smooth && at(o).differentiable);
      };
      from(x.a, x.op != FormulaOp::element && x.op != FormulaOp::choice);
      from(x.b, true);
      from(x.c, true);
      by_head[k] = heads;
      by_entry[k] = entries;
      x.differentiable = differentiable;
      out_.by_head = out_.by_head || heads;
      out_.by_entry = out_.by_entry || entries;
      out_.mask_by_head = out_.mask_by_head || (heads && x.for_mask);
      out_.mask_by_entry = out_.mask_by_entry || (entries && x.for_mask);
      out_.segments = out_.segments || x.op == FormulaOp::segment;
    }
    return std::move(out_);
  }

private:
  const FormulaParameter& parameter(std::int32_t p) const { return parameters_[static_cast<std::size_t>(p)]; }
  FormulaInstruction& at(std::int32_t k) { return out_.instructions[static_cast<std::size_t>(k)]; }

  std::int32_t keep(const FormulaInstruction& x) {
    const auto found = std::find(out_.instructions.begin(), out_.instructions.end(), x);
    if (found != out_.instructions.end()) return static_cast<std::int32_t>(found - out_.instructions.begin());
    out_.instructions.push_back(x);
    return static_cast<std::int32_t>(out_.instructions.size() - 1);
  }
  std::int32_t number(double x) { return keep({.op = FormulaOp::number, .number = x}); }
  std::int32_t operation(FormulaOp op, FormulaAxis axis, std::int32_t a, std::int32_t b = -1, std::int32_t c = -1) {
    return keep({.op = op, .axis = axis, .a = a, .b = b, .c = c});
  }

  // A node's value along an axis. Along the row or column axis, the other of i and j is set to 0; along the distance
  // axis, i is set to 0. The node does not depend on that name, so the value is unchanged.
  std::int32_t instance(std::int32_t n, FormulaAxis axis) {
    const FormulaNode& node = formula_->nodes[static_cast<std::size_t>(n)];
    const FormulaAxis own = axes_[static_cast<std::size_t>(n)].axis;
    if (own == FormulaAxis::head || axis == FormulaAxis::pair) axis = own;
    std::int32_t& place = places_[static_cast<std::size_t>(n)][static_cast<std::size_t>(axis)];
    if (place < 0) {
      const std::int32_t made = make(node, axis);
      places_[static_cast<std::size_t>(n)][static_cast<std::size_t>(axis)] = made;
      return made;
    }
    return place;
  }

  std::int32_t make(const FormulaNode& n, FormulaAxis axis) {
    switch (n.name) {
      case FormulaName::s: return keep({.op = FormulaOp::score, .axis = FormulaAxis::pair});
      case FormulaName::i:
        return axis == FormulaAxis::row ? keep({.op = FormulaOp::position, .axis = axis}) : number(0);
      case FormulaName::j:
        return axis == FormulaAxis::column || axis == FormulaAxis::distance
                   ? keep({.op = FormulaOp::position, .axis = axis})
                   : number(0);
      case FormulaName::b: return keep({.op = FormulaOp::batch});
      case FormulaName::h: return keep({.op = FormulaOp::head});
      case FormulaName::heads: return keep({.op = FormulaOp::heads});
      case FormulaName::width: return keep({.op = FormulaOp::width});
      case FormulaName::queries: return keep({.op = FormulaOp::queries});
      case FormulaName::keys: return keep({.op = FormulaOp::keys});
      case FormulaName::seen: return keep({.op = FormulaOp::seen, .axis = FormulaAxis::row});
      case FormulaName::layer: return number(static_cast<double>(place_.layer));
      case FormulaName::segment_i: return keep({.op = FormulaOp::segment, .axis = FormulaAxis::row});
      case FormulaName::segment_j: return keep({.op = FormulaOp::segment, .axis = FormulaAxis::column});
      case FormulaName::row_i: return patch(FormulaOp::patch_row, FormulaAxis::row);
      case FormulaName::row_j: return patch(FormulaOp::patch_row, FormulaAxis::column);
      case FormulaName::column_i: return patch(FormulaOp::patch_column, FormulaAxis::row);
      case FormulaName::column_j: return patch(FormulaOp::patch_column, FormulaAxis::column);
      default: break;
    }
    if (n.op == FormulaOp::number) return number(n.number);
    if (n.op == FormulaOp::parameter) return keep({.op = n.op, .parameter = n.parameter});
    if (n.op == FormulaOp::by_distance)
      return keep({.op = n.op, .axis = FormulaAxis::distance, .parameter = n.parameter});
    const std::int32_t a = instance(n.a, axis), b = n.b < 0 ? -1 : instance(n.b, axis),
                       c = n.c < 0 ? -1 : instance(n.c, axis);
    if (n.op == FormulaOp::element) return keep({.op = n.op, .axis = axis, .a = a, .parameter = n.parameter});
    if (n.op == FormulaOp::divide && at(b).axis != axis)
      return operation(FormulaOp::multiply, axis, a, operation(FormulaOp::reciprocal, at(b).axis, b));
    if (n.op == FormulaOp::power && at(b).op == FormulaOp::number) return power(axis, a, at(b).number, b);
    return operation(n.op, axis, a, b, c);
  }

  std::int32_t patch(FormulaOp op, FormulaAxis axis) {
    if (place_.patches_in_row < 1)
      throw Failed("[attention] a formula uses the rows and columns of patches, and this model has no patches");
    return keep({.op = op, .axis = axis, .number = static_cast<double>(place_.patches_in_row)});
  }

  std::int32_t power(FormulaAxis axis, std::int32_t a, double exponent, std::int32_t b) {
    constexpr double greatest = 16;
    if (exponent == 0.5) return operation(FormulaOp::sqrt, axis, a);
    if (exponent != std::floor(exponent) || std::abs(exponent) > greatest || exponent == 0)
      return operation(FormulaOp::power, axis, a, b);
    if (exponent < 0) return operation(FormulaOp::reciprocal, axis, power(axis, a, -exponent, b));
    std::int32_t squared = a, product = -1;
    for (auto n = static_cast<int>(exponent); n > 0; n /= 2) {
      if (n % 2) product = product < 0 ? squared : operation(FormulaOp::multiply, axis, product, squared);
      if (n > 1) squared = operation(FormulaOp::multiply, axis, squared, squared);
    }
    return product;
  }

  // Fuses products with a number that is not learned into the function before or after them, which saves a pass over
  // the pairs.
  void take_factors() {
    const std::vector<bool> learned = learned_ones();
    const auto is_factor = [&](std::int32_t k) {
      return at(k).axis == FormulaAxis::head && !learned[static_cast<std::size_t>(k)];
    };
    // The operand and the number of such a product; -1 and -1 for other instructions.
    const auto product = [&](std::int32_t k) -> std::pair<std::int32_t, std::int32_t> {
      const FormulaInstruction& x = at(k);
      if (x.op != FormulaOp::multiply || x.axis != FormulaAxis::pair) return {-1, -1};
      if (is_factor(x.b)) return {x.a, x.b};
      if (is_factor(x.a)) return {x.b, x.a};
      return {-1, -1};
    };
    if (out_.score >= 0)
      if (const auto [of, factor] = product(out_.score); of >= 0 && is_function(at(of).op)) {
        out_.score = of;
        out_.factor = factor;
      }
    for (std::size_t k = 0; k < out_.instructions.size(); ++k) {
      FormulaInstruction& x = out_.instructions[k];
      if (!is_function(x.op) || x.axis != FormulaAxis::pair) continue;
      if (const auto [of, factor] = product(x.a); of >= 0) {
        x.a = of;
        x.factor = factor;
      }
    }
  }
  static bool is_function(FormulaOp op) { return op >= FormulaOp::negative && op < FormulaOp::negation; }
  // Which instructions depend on a learned parameter. Operands come before the instructions that use them, so one pass
  // is enough.
  std::vector<bool> learned_ones() const {
    std::vector<bool> out;
    for (const FormulaInstruction& x : out_.instructions) {
      bool learned = x.parameter >= 0 && parameter(x.parameter).learned;
      for (const std::int32_t o : {x.a, x.b, x.c}) learned = learned || (o >= 0 && out[static_cast<std::size_t>(o)]);
      out.push_back(learned);
    }
    return out;
  }

  void need(std::int32_t k, bool FormulaInstruction::*who) {
    if (k < 0 || at(k).*who) return;
    at(k).*who = true;
    for (const std::int32_t o : {at(k).a, at(k).b, at(k).c, at(k).factor}) need(o, who);
  }

  std::span<const FormulaParameter> parameters_;
  FormulaPlace place_;
  const Formula* formula_ = nullptr;
  std::vector<Seen> axes_;
  std::vector<std::array<std::int32_t, 5>> places_; // [node][axis]: index of the instruction
  FormulaProgram out_;
};

} // namespace

FormulaAxis axis_of(const Formula& formula) { return axes_of(formula).back().axis; }

FormulaProgram program_of(const Formula* score, const Formula* mask, std::span<const FormulaParameter> parameters,
                          const FormulaPlace& place) {
  Compiler compiler(parameters, place);
  const std::int32_t of_mask = mask ? compiler.take(*mask) : -1, of_score = score ? compiler.take(*score) : -1;
  return compiler.finish(of_score, of_mask);
}

} // namespace heed
