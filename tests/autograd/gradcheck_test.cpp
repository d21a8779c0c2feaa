// Tests of the gradient check itself: it accepts correct gradients, and rejects wrong ones with their location.
#include "tests/autograd/gradients.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

enum class Fault { none, wrong_factor, forgets_first, always_stores };

// factor x, whose backward closure has the given fault.
Tensor faulty(const Tensor& x, Fault fault) {
  const Op op("faulty", {&x});
  const Tensor y = op.output(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) y.data[i] = 3 * x.data[i];
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    const Real* dy = x.tape->grad(y);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const Real slope = fault == Fault::wrong_factor && i == 2 ? Real(3.001) : Real(3);
      const bool store = fault == Fault::always_stores || (d.overwrite && fault != Fault::forgets_first);
      d.p[i] = (store ? 0 : d.p[i]) + slope * dy[i];
    }
  });
  return y;
}

GradcheckResult check(Fault fault, std::size_t every = 1) {
  return gradcheck([=](Tape&, const Tensors& x) { return add(faulty(x[1], fault), x[0]); },
                   {{{}, {1}, "shift"}, {{2, 2}, {1, 2, 3, 4}, "key"}}, {.every = every});
}

} // namespace

TEST_CASE("gradcheck passes a right gradient, and says how far off it was", "[gradcheck]") {
  const GradcheckResult result = check(Fault::none);
  CHECK(result.passed);
  CHECK(result.worst < 1e-9);
}

TEST_CASE("gradcheck finds one wrong element and names it", "[gradcheck]") {
  const GradcheckResult result = check(Fault::wrong_factor);
  CHECK_FALSE(result.passed);
  CHECK(result.worst > 1e-4);
  CHECK_THAT(result.message,
             Catch::Contains("input 1 (key) [2, 2] element 2: analytic") && Catch::Contains(", numeric "));
}

TEST_CASE("gradcheck looks at each so many elements", "[gradcheck]") {
  CHECK_FALSE(check(Fault::wrong_factor, 2).passed); // the third element is wrong
  CHECK(check(Fault::wrong_factor, 3).passed);
  CHECK_THROWS_WITH(check(Fault::none, 0), Catch::Contains("1 checks all"));
}

TEST_CASE("gradcheck finds a closure that adds to what the memory held", "[gradcheck]") {
  const GradcheckResult result = check(Fault::forgets_first);
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.message, Catch::Contains("its memory held a NaN"));
}

TEST_CASE("gradcheck finds a closure that overwrites what others added", "[gradcheck]") {
  const GradcheckResult result = check(Fault::always_stores);
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.message, Catch::Contains("the input is used afterwards as well"));
}

TEST_CASE("gradcheck holds an input that the function ignores to a gradient of zero", "[gradcheck]") {
  CHECK(gradcheck([](Tape&, const Tensors& x) { return exp(x[0]); }, {input({2}, 1), input({3}, 2)}).passed);
}

TEST_CASE("gradcheck fails where there is a NaN", "[gradcheck]") {
  const GradcheckResult result = gradcheck([](Tape&, const Tensors& x) { return log(x[0]); }, {{{2}, {-1, -2}, ""}});
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.message, Catch::Contains("input 0 [2] element 0")); // the first of two equally wrong elements
}

TEST_CASE("gradcheck needs as many numbers as the shape says", "[gradcheck]") {
  CHECK_THROWS_WITH(gradcheck([](Tape&, const Tensors& x) { return x[0]; }, {{{3}, {1, 2}, ""}}),
                    "[gradcheck] input 0 is [3], but has 2 numbers");
}
