// Fuzz target: the reader of a run's progress.json.
#include "experiments/runs/run_records.hpp"
#include "tests/fuzz/json_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return heed::fuzz::json_record(heed::fuzz::text(data, size), heed::progress_from_json,
                                 [](const heed::Progress& record) { return heed::to_json(record); });
}
