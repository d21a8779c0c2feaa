// Runs every stored input of every fuzz target without a fuzzer, so that any compiler can build it. Prints one TAP
// point per target. Usage: test_fuzz CORPUS [TARGET ...]
//
// The name of each input is printed and flushed before the input runs. If an input crashes the program, the last line
// names the input.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define HEED_DECLARE(name) extern "C" int fuzz_##name(const std::uint8_t*, std::size_t);
HEED_FUZZ_TARGETS(HEED_DECLARE)

namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};

#define HEED_ENTRY(name) {#name, fuzz_##name},
constexpr Target targets[] = {HEED_FUZZ_TARGETS(HEED_ENTRY)};

std::vector<fs::path> inputs_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

std::vector<std::uint8_t> content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The problem of the first input that has one; empty if no input has a problem.
std::string problem_of(const Target& target, const std::vector<fs::path>& inputs) {
  for (const fs::path& input : inputs) {
    std::printf("# %s %s\n", target.name, input.filename().c_str());
    std::fflush(stdout);
    const std::vector<std::uint8_t> bytes = content(input);
    try {
      target.run(bytes.data(), bytes.size());
    } catch (const std::exception& problem) {
      return input.string() + ": " + problem.what();
    }
  }
  return inputs.empty() ? "there is no input" : "";
}

} // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::vector<std::string> named(words + 2, words + count);
  int points = 0, failed = 0;
  for (const Target& target : targets) {
    if (!named.empty() && std::ranges::find(named, target.name) == named.end()) continue;
    std::string problem;
    std::size_t inputs = 0;
    try {
      const auto files = inputs_in(fs::path(words[1]) / target.name);
      inputs = files.size();
      problem = problem_of(target, files);
    } catch (const fs::filesystem_error& error) {
      problem = error.what();
    }
    failed += !problem.empty();
    std::printf("%s %d - %s: %zu inputs\n", problem.empty() ? "ok" : "not ok", ++points, target.name, inputs);
    for (std::size_t at = 0, end = 0; at < problem.size(); at = end + 1) {
      end = std::min(problem.find('\n', at), problem.size());
      std::printf("# %s\n", problem.substr(at, end - at).c_str());
    }
  }
  std::printf("1..%d\n", points);
  return failed == 0 ? 0 : 1;
}
