// Catch2's main function, compiled once for all test programs.
#include <cstdlib>
#include <sstream>
#include <string>
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

// The cases of some files, of those that the first word chooses: its tags leave cases out.
static std::string cases_of(const char* files, const std::string& chosen) {
  std::istringstream in(files);
  std::string out;
  for (std::string file; in >> file;) out += (out.empty() ? "[#" : ",[#") + file + "]" + chosen;
  return out;
}

int main(int count, char** words) {
  draw_the_same();
  std::vector<const char*> all(words, words + count);
  std::string chosen;
  if (const char* files = std::getenv("HEED_TEST_FILES")) {
    const bool leaves_out = count > 1 && words[1][0] == '~';
    chosen = cases_of(files, leaves_out ? words[1] : "");
    if (leaves_out) all.erase(all.begin() + 1);
    all.insert(all.end(), {"--filenames-as-tags", chosen.c_str()});
  }
  if (std::getenv("HEED_PROFILE") != nullptr) all.insert(all.end(), {"--durations", "yes"});
  return Catch::Session().run(static_cast<int>(all.size()), all.data());
}
