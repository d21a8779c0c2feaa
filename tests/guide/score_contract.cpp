// Every registered score against its own plain loops, and its gradients against finite differences.
// Prints a line for each score; exit status 1 where one does not hold.
#include "autograd/gradcheck.hpp"
#include "autograd/rng.hpp"
#include "layers/attention/score.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heed::HEED_REAL {

namespace {

constexpr ScoreShape shape{.heads = 2, .query_width = 5, .key_width = 5};
constexpr std::int64_t rows = 2, queries = 3, keys = 4;

std::vector<Real> drawn(std::int64_t n, std::uint64_t step) {
  RandomSource source({.seed = 1, .stream = Stream::test, .step = step});
  std::vector<Real> out(static_cast<std::size_t>(n));
  for (Real& x : out) x = static_cast<Real>(source.normal());
  return out;
}

/// The largest difference between the score's result and its pairs, relative to max(1, |pair|).
double worst_value(const ScoreInfo& info) {
  const OptionValues options;
  Parameters parameters;
  const auto score = info.make(Scope(parameters, Init::normal(0.5)), shape, options);
  parameters.initialise(3);
  const auto q = drawn(rows * shape.heads * queries * shape.query_width, 0);
  const auto k = drawn(rows * shape.heads * keys * shape.key_width, 1);
  Tape tape;
  Pass pass(tape, parameters, nullptr, {});
  const Tensor s = contiguous((*score)(pass, tape.constant(q.data(), {rows, shape.heads, queries, shape.query_width}),
                                       tape.constant(k.data(), {rows, shape.heads, keys, shape.key_width})));
  std::vector<const Real*> own;
  for (std::size_t i = 0; i < parameters.entries().size(); ++i) own.push_back(parameters.values(ParameterId{i}));
  double worst = 0;
  for (std::int64_t at = 0; at < s.size(); ++at) {
    const std::int64_t j = at % keys, i = at / keys % queries, plane = at / keys / queries;  // plane: row and head
    const Real expected = info.pair({.query = q.data() + (plane * queries + i) * shape.query_width,
                                     .key = k.data() + (plane * keys + j) * shape.key_width,
                                     .shape = shape,
                                     .head = plane % shape.heads,
                                     .parameters = own,
                                     .options = &options});
    worst = std::max(worst, std::abs(static_cast<double>(s.data[at] - expected)) /
                                std::max(1.0, std::abs(static_cast<double>(expected))));
  }
  return worst;
}

GradcheckResult gradients(const ScoreInfo& info) {
  Parameters parameters;
  const auto score = info.make(Scope(parameters, Init::normal(0.5)), shape, {});
  parameters.initialise(3);
  return gradcheck(
      [&](Tape& tape, const std::vector<Tensor>& in) {
        Pass pass(tape, parameters, nullptr, {});
        return (*score)(pass, in[0], in[1]);
      },
      {{{rows, shape.heads, queries, shape.query_width}, drawn(rows * shape.heads * queries * shape.query_width, 0), "q"},
       {{rows, shape.heads, keys, shape.key_width}, drawn(rows * shape.heads * keys * shape.key_width, 1), "k"}});
}

} // namespace

bool every_score_holds() {
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5;
  bool all = true;
  for (const ScoreInfo* info : scores()) {
    const double worst = worst_value(*info);
    bool holds = worst <= tolerance;
    if (sizeof(Real) == 8) {
      const GradcheckResult check = gradients(*info);
      holds = holds && check.passed;
      if (!check.passed) std::printf("  %s\n", check.message.c_str());
    }
    std::printf("%s: %s (the largest difference from its pairs is %.1e)\n", info->about.name.c_str(),
                holds ? "holds" : "DOES NOT HOLD", worst);
    all = all && holds;
  }
  return all;
}

} // namespace heed::HEED_REAL

int main() { return heed::HEED_REAL::every_score_holds() ? 0 : 1; }
