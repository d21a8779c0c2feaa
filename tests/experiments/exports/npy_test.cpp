// Tests of the bytes of .npy files, by the format's description:
// numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
#include "experiments/exports/export.hpp"

#include "autograd/error.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace heed;

TEST_CASE("an array is a header that 64 divides, and its numbers, the lowest byte first", "[exports]") {
  const std::vector<float> numbers{1.0F, -2.0F, 0.5F, 0.0F, 0.0F, 3.0F};
  const std::vector<std::int64_t> shape{1, 2, 3};
  const std::string bytes = npy_bytes(numbers, shape);
  // The bytes that NumPy 2.3 writes: io.BytesIO b; numpy.save(b, numpy.array([[[1, -2, .5], [0, 0, 3]]], "<f4"))
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }";
  const std::string header = dictionary + std::string(128 - 10 - 1 - dictionary.size(), ' ') + "\n";
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(bytes.substr(8, 2) == std::string("\x76\x00", 2)); // 118 bytes of header after the first 10 bytes
  CHECK(bytes.substr(10, 118) == header);
  const std::string data = bytes.substr(128);
  REQUIRE(data.size() == 6 * 4);
  CHECK(data.substr(0, 4) == std::string("\x00\x00\x80\x3f", 4));
  CHECK(data.substr(4, 4) == std::string("\x00\x00\x00\xc0", 4));
  CHECK(data.substr(8, 4) == std::string("\x00\x00\x00\x3f", 4));
  CHECK(data.substr(20, 4) == std::string("\x00\x00\x40\x40", 4));
}

TEST_CASE("64 divides what stands before the numbers, however long the shape's digits are", "[exports]") {
  for (std::int64_t n = 1; n < 4000; n = n * 3 + 1) {
    const std::vector<std::int64_t> shape{n, 1, n};
    const std::vector<float> numbers(static_cast<std::size_t>(n * n), 1.0F);
    if (n > 400) break;
    const std::string bytes = npy_bytes(numbers, shape);
    const std::size_t before = bytes.size() - 4 * numbers.size();
    CHECK(before % 64 == 0);
    CHECK(bytes[before - 1] == '\n');
  }
}

TEST_CASE("one axis has a comma, as Python's tuples of one", "[exports]") {
  const std::vector<float> numbers{1, 2};
  const std::vector<std::int64_t> shape{2};
  CHECK(npy_bytes(numbers, shape).find("'shape': (2,), }") != std::string::npos);
}

TEST_CASE("a shape that does not fit its numbers is refused", "[exports]") {
  const std::vector<float> numbers{1, 2, 3};
  const std::vector<std::int64_t> shape{2, 2};
  CHECK_THROWS_AS(npy_bytes(numbers, shape), Failed);
}
