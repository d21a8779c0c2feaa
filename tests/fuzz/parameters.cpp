// Fuzz target: counting a run's parameters from the beginning of its checkpoint.
#include "experiments/index/run_entry.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static heed::fuzz::MemoryFile file;
  file.hold(heed::fuzz::text(data, size));
  const auto parts = heed::FileParts::open(file.path());
  const auto count = parts ? heed::parameters_in(*parts) : std::nullopt;
  heed::fuzz::require(!count || *count >= 0, "fewer than no parameters");
  return 0;
}
