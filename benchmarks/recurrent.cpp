#include "benchmarks/recurrent.hpp"

#include "autograd/error.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"

#include <fmt/format.h>

namespace heed::bench {

namespace {

using namespace HEED_REAL;
using HEED_REAL::bench::RecurrentLayer, HEED_REAL::bench::Stepping;

Stepping stepping_of(const std::string& word) {
  if (word == "once") return Stepping::once;
  if (word == "steps") return Stepping::steps;
  if (word == "together") return Stepping::together;
  throw Refused(fmt::format("a layer goes over a sequence once, in steps, or together, not {}", word));
}

template <int gates> void measure(const RecurrentCase& about) {
  RecurrentLayer<gates> layer(about.rows, about.steps, about.width, stepping_of(about.stepping));
  const HEED_REAL::bench::Input gradient(Shape{layer.size()}, 7);
  Tape tape;
  serve_rounds({}, 3, [&] {
    tape.rewind();
    tape.backward(HEED_REAL::bench::upstream(layer.forward(tape), gradient.values()));
  });
}

} // namespace

void measure_recurrent(const RecurrentCase& about) {
  if (about.cell == "gru") measure<3>(about);
  else if (about.cell == "lstm") measure<4>(about);
  else throw Refused(fmt::format("a cell is gru or lstm, not {}", about.cell));
}

} // namespace heed::bench
