// Tests of shapes: extents, strides, text, and broadcasting.
#include "autograd/error.hpp"
#include "autograd/shape.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("a shape counts its elements and axes", "[shape]") {
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{2, 3, 4}.size() == 24);
  CHECK(Shape{2, 0, 4}.size() == 0);
  CHECK(Shape{2, 3, 4}[-1] == 4);
  CHECK(Shape{2, 3, 4}[0] == 2);
  CHECK(Shape{2, 3, 4}.row_major() == Shape{12, 4, 1});
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2} == Shape{2, 1});
}

TEST_CASE("a shape says itself", "[shape]") {
  CHECK(Shape{}.text() == "[]");
  CHECK(Shape{2, 4, 16}.text() == "[2, 4, 16]");
}

TEST_CASE("a shape has up to six extents, none of them negative", "[shape]") {
  CHECK(Shape{1, 2, 3, 4, 5, 6}.rank == 6);
  CHECK_THROWS_WITH((Shape{1, 2, 3, 4, 5, 6, 7}), "[shape] a tensor has at most 6 axes");
  CHECK_THROWS_WITH((Shape{2, -1}), "[shape] an extent can't be negative: -1");
}

TEST_CASE("shapes broadcast from the last axis on", "[shape]") {
  const auto together = [](const Shape& a, const Shape& b) {
    Shape r, back;
    const bool fits = broadcast(a, b, r);
    CHECK(broadcast(b, a, back) == fits);
    if (fits) CHECK(r == back);
    return fits ? r.text() : "none";
  };
  CHECK(together({}, {}) == "[]");
  CHECK(together({3}, {}) == "[3]");
  CHECK(together({2, 1}, {1, 3}) == "[2, 3]");
  CHECK(together({4, 1, 3}, {2, 1}) == "[4, 2, 3]");
  CHECK(together({2, 0}, {2, 1}) == "[2, 0]");
  CHECK(together({2}, {3}) == "none");
  CHECK(together({2, 3}, {2}) == "none");
  CHECK(together({0}, {2}) == "none");
}
