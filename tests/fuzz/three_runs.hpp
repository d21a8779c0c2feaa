// An output folder with three tiny runs, for fuzz targets that search for runs.
#pragma once

#include "tests/experiments/runs/finished_run.hpp"

namespace heed::fuzz {

struct ThreeRuns : Scratch {
  ThreeRuns() {
    test::run_of(*this, "name = \"a\"\nseed = 0\n", test::losses({2.0, 1.5, 1.75}));
    test::run_of(*this, "name = \"a\"\nseed = 1\nattention.score = \"additive\"\n", test::losses({3.0}));
    test::run_of(*this, "name = \"c\"\nseed = 2\n[[block.override]]\nlayers = [1]\nresidual = \"attention\"\n", {}, "");
  }
};

} // namespace heed::fuzz
