// Fuzz target: the reader of a run's manifest.json.
#include "experiments/runs/run_records.hpp"
#include "tests/fuzz/json_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return heed::fuzz::json_record(heed::fuzz::text(data, size), heed::manifest_from_json,
                                 [](const heed::Manifest& record) { return heed::to_json(record); });
}
