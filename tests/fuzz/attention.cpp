// Fuzz target: the reader of a run's attention.json.
#include "experiments/report/attention_maps.hpp"
#include "tests/fuzz/json_record.hpp"

#include <boost/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return heed::fuzz::json_record(
      heed::fuzz::text(data, size), heed::attention_from_json, [](const std::vector<heed::AttentionExample>& examples) {
        return boost::json::serialize(boost::json::object{{"examples", heed::attention_array(examples)}});
      });
}
