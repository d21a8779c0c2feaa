#define HEED_REAL f32
#include "tests/experiments/models/nanogpt_comparison.hpp"

TEST_CASE("a decoder equals nanoGPT's model in single precision", "[torch][model]") {
  heed::f32::compare_with_nanogpt();
}
