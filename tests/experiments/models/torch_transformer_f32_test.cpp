#define HEED_REAL f32
#include "tests/experiments/models/torch_transformer_comparison.hpp"

TEST_CASE("encoder-decoders equal torch.nn.Transformer in single precision", "[torch][model]") {
  for (const char* name : {"pre_norm_gelu", "post_norm_relu"}) heed::f32::compare_with_torch_transformer(name);
}
