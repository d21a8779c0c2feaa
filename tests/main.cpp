// Catch2's main function, compiled once for all test programs.
#include <cstdlib>
#include <vector>

// What RapidCheck draws is the same each time, so that a test that fails does so for everybody; others each time with
// HEED_LONG.
static void draw_the_same() {
  if (std::getenv("HEED_LONG") == nullptr) setenv("RC_PARAMS", "seed=20170612", 0);
}

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int count, char** words) {
  draw_the_same();
  std::vector<const char*> all(words, words + count);
  if (std::getenv("HEED_PROFILE") != nullptr) all.insert(all.end(), {"--durations", "yes"});
  return Catch::Session().run(static_cast<int>(all.size()), all.data());
}
