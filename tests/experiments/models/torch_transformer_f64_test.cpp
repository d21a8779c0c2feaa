#define HEED_REAL f64
#include "tests/experiments/models/torch_transformer_comparison.hpp"

TEST_CASE("encoder-decoders equal torch.nn.Transformer in double precision", "[torch][model]") {
  for (const char* name : {"pre_norm_gelu", "post_norm_relu"}) heed::f64::compare_with_torch_transformer(name);
}
