// Fuzz target: the index of runs, damaged, and a damaged copy of the index in the output folder. The program must
// rebuild what is damaged and must not trust any damaged content. Input: the number of bytes that remain of a complete
// index (two bytes; 0: all), then any number of patches: an offset (two bytes), a length (one byte) and the bytes to
// write at the offset.
#include "experiments/index/run_index.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/three_runs.hpp"

#include <algorithm>

using namespace heed;
using fuzz::require;

namespace {

std::string whole_index(const std::filesystem::path& out) {
  { RunIndex made(out); }
  return content(test::index_file(out));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ThreeRuns runs;
  static const std::string whole = whole_index(runs.path);
  if (size < 2) return 0;
  std::string bytes = whole;
  const std::size_t left = std::size_t{data[0]} * 256 + data[1];
  if (left > 0) bytes.resize(std::min(bytes.size(), left));
  for (std::size_t i = 2; i + 3 < size && !bytes.empty();) {
    const std::size_t at = (std::size_t{data[i]} * 256 + data[i + 1]) % bytes.size();
    const std::size_t length = std::min({std::size_t{data[i + 2]}, size - i - 3, bytes.size() - at});
    bytes.replace(at, length, fuzz::text(data + i + 3, length));
    i += 3 + data[i + 2];
  }
  put(test::index_file(runs.path), bytes);
  put(runs / "index.sqlite", bytes);
  try {
    RunIndex index(runs.path);
    index.left_out();
    index.select(index.fields_present({}));
    index.options_that_differ({});
    require(index.size() <= 3, "runs that are not there");
  } catch (const DatabaseError& error) {
    throw fuzz::Finding(std::string("a damaged index stops who asks: ") + error.what());
  }
  std::filesystem::remove(test::index_file(runs.path));
  return 0;
}
