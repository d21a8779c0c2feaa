#define HEED_REAL f64
#include "tests/experiments/models/nanogpt_comparison.hpp"

TEST_CASE("a decoder equals nanoGPT's model in double precision", "[torch][model]") {
  heed::f64::compare_with_nanogpt();
}
