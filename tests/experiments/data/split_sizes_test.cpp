// Tests of how the examples of one file are divided into splits: by fractions, by numbers of examples, and when splits
// have files of their own.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/training_order.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace heed;
using Catch::Contains;

namespace {

using Sizes = std::array<std::uint64_t, 3>;

DataOptions data(double train, double test, std::int64_t validation_rows = 0, std::int64_t test_rows = 0) {
  DataOptions out;
  out.path = "pairs.tsv";
  out.train = train;
  out.test = test;
  out.validation_rows = validation_rows;
  out.test_rows = test_rows;
  return out;
}

std::string refusal(const DataOptions& options, std::uint64_t n) {
  try {
    split_sizes(options, n);
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "(not refused)";
}

} // namespace

TEST_CASE("fractions give the first floor(train n) examples, the last floor(test n) and what is between",
          "[data][splits]") {
  CHECK(split_sizes(data(0.6, 0.2), 20) == Sizes{12, 4, 4});
  CHECK(split_sizes(data(0.9, 0), 15) == Sizes{13, 2, 0});
  CHECK(split_sizes(data(0.5, 0.25), 7) == Sizes{3, 3, 1});
  CHECK(split_sizes(data(0.8, 0.1), 20, false) == Sizes{16, 4, 0}); // the test split is another file
}

TEST_CASE("numbers of examples are met exactly", "[data][splits]") {
  // Multi30k's sizes. No fractions with four digits give them.
  CHECK(split_sizes(data(0.9, 0, 1014, 1000), 31014) == Sizes{29000, 1014, 1000});
  CHECK(split_sizes(data(0.9, 0.1, 3), 31) == Sizes{25, 3, 3});  // the test split is still a fraction
  CHECK(split_sizes(data(0.5, 0, 0, 4), 20) == Sizes{10, 6, 4}); // the training split is still a fraction
  CHECK(split_sizes(data(0.9, 0, 9, 10), 20) == Sizes{1, 9, 10});
  CHECK(split_sizes(data(0.9, 0, 5000), 60000, false) == Sizes{55000, 5000, 0});
}

TEST_CASE("a split with a file of its own takes nothing of the other", "[data][splits]") {
  DataOptions options = data(0.9, 0.2);
  options.validation_path = "validation.tsv";
  CHECK(split_sizes(options, 20) == Sizes{16, 0, 4});
  options.test_path = "test.tsv";
  CHECK(split_sizes(options, 20) == Sizes{20, 0, 0});
  options.validation_path = "";
  CHECK(split_sizes(options, 20) == Sizes{18, 2, 0});
  options.validation_rows = 5;
  CHECK(split_sizes(options, 20) == Sizes{15, 5, 0});
}

TEST_CASE("what leaves no example to the rest is refused with the numbers", "[data][splits]") {
  CHECK(refusal(data(0.9, 0, 10, 10), 20) == "[data] validation_rows = 10 and test_rows = 10 leave none of the 20 "
                                             "examples of path = \"pairs.tsv\" for training; "
                                             "take fewer");
  CHECK_THAT(refusal(data(0.9, 0, 20), 20), Contains("validation_rows = 20 leaves none of the 20 examples"));
  CHECK_THAT(refusal(data(0.9, 0, 0, 2), 20),
             Contains("train = 0.9 and test_rows = 2 leave none of the 20 examples of ") &&
                 Contains("for training or validation"));
  CHECK_THAT(refusal(data(0.1, 0, 0, 99), 20), Contains("test_rows = 99"));
}
