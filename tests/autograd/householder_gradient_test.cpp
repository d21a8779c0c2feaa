// Gradients of products with Householder matrices, compared with finite differences in double.
#include "autograd/householder.hpp"
#include "tests/autograd/gradients.hpp"

#include <fmt/format.h>

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("products with Householder matrices have the right gradient", "[gradient][householder]") {
  struct Sizes {
    std::int64_t heads, queries, keys, matrices, width;
  };
  for (const Sizes& s :
       {Sizes{2, 5, 5, 5, 3}, Sizes{1, 1, 1, 1, 2}, Sizes{1, 66, 66, 66, 2}, Sizes{1, 3, 9, 3, 2},
        Sizes{1, 5, 70, 70, 2}, Sizes{1, 68, 140, 131, 3}, Sizes{1, 1, 140, 131, 3}, Sizes{1, 131, 131, 131, 2}})
    check_gradient(fmt::format("{} heads, {} queries, {} keys, {} matrices, width {}", s.heads, s.queries, s.keys,
                               s.matrices, s.width),
                   [&](const Tensors& x) {
                     return tanh(householder_products(x[0], x[1], {x[2], x[3]}));
                   },
                   {input({1, s.heads, s.queries, s.width}, 1, {-1, 1}),
                    input({1, s.heads, s.keys, s.width}, 2, {-1, 1}),
                    input({1, s.heads, s.matrices, s.width}, 3, {-0.6, 0.6}),
                    input({1, s.heads, s.matrices, 1}, 4, {0, 2})});
}

TEST_CASE("products with Householder matrices have the right gradient if the operands share memory",
          "[gradient][householder]") {
  check_gradient("one projection",
                 [](const Tensors& x) {
                   const auto part = [&](std::int64_t n, std::int64_t width) { return slice(x[0], 3, n, width); };
                   return householder_products(part(0, 2), part(2, 2), {part(4, 2), part(6, 1)});
                 },
                 {input({1, 1, 67, 7}, 1, {-0.6, 0.6})});
  check_gradient("one tensor",
                 [](const Tensors& x) {
                   return householder_products(x[0], x[0], {x[0], x[1]});
                 },
                 {input({1, 2, 6, 2}, 1, {-0.6, 0.6}), input({1, 2, 6, 1}, 2, {0, 2})});
}
