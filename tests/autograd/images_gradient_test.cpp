// Gradients of the operations on images, compared with finite differences in double.
#include "autograd/images.hpp"
#include "tests/autograd/gradients.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

TEST_CASE("convolution has the right gradient with every kernel, stride and padding", "[gradient]") {
  const Shape x{2, 2, 5, 4};
  for (const auto& [height, width] : {std::pair{1, 1}, {3, 3}, {2, 4}})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t padding : {0, 2}) {
        const Shape w{3, 2, height, width};
        check_gradient(fmt::format("kernel {} x {}, stride {}, padding {}", height, width, stride, padding),
                       [&](const Tensors& t) {
                         return conv2d(t[0], t[1], &t[2], {stride, padding});
                       },
                       {input(x, 1), input(w, 2), input({3}, 3)});
        check_gradient("without a bias",
                       [&](const Tensors& t) {
                         return conv2d(t[0], t[1], nullptr, {stride, padding});
                       },
                       {input(x, 1), input(w, 2)});
      }
  for (const View& view : views())
    check_gradient("x " + view.name,
                   [&](const Tensors& t) {
                     return conv2d(view.take(t[0], x), t[1], nullptr, {1, 1});
                   },
                   {input(view.of(x), 1), input({2, 2, 3, 3}, 2)});
  check_gradient("with one tensor as x and w",
                 [](const Tensors& t) {
                   return conv2d(t[0], t[0], nullptr, {1, 1});
                 },
                 {input({2, 2, 3, 3}, 1)});
}

TEST_CASE("group norm has the right gradient", "[gradient]") {
  for (const Shape& shape : {Shape{2, 4}, Shape{2, 6, 3}, Shape{1, 4, 3, 5}, Shape{2, 2, 2, 9}})
    for (std::int64_t groups : {1, 2})
      for (const View& view : views())
        if (view.fits(shape))
          check_gradient(fmt::format("{} groups of {}, {}", groups, shape.text(), view.name),
                         [&](const Tensors& t) {
                           return group_norm(view.take(t[0], shape), groups, t[1], t[2], Real(0.1));
                         },
                         {input(view.of(shape), 1), input({shape[1]}, 2), input({shape[1]}, 3)});
}
