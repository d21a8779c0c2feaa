// Fuzz target: the reader of a sweep's plan.json. Wrong checksums are corrected, so that the code after the check is
// reached.
#include "experiments/config/config.hpp"
#include "experiments/sweep/plan.hpp"
#include "tests/fuzz/right_checksum.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bytes = std::string(fuzz::text(data, size));
  auto plan = plan_from_json(bytes);
  // The first correction is for the checksum of the plan, the second for the checksum of the runs' configurations.
  for (int i = 0; i < 2 && !plan && fuzz::put_right(bytes, plan.error); ++i) plan = plan_from_json(bytes);
  if (!plan) {
    require(!plan.error.empty(), "refused without a reason");
    return 0;
  }
  const std::string written = to_json(*plan);
  const auto again = plan_from_json(written);
  require(again.value.has_value(), "what was written is refused: " + again.error + "\n" + written);
  require(to_json(*again) == written, "what was written reads as something else:\n" + written + to_json(*again));
  require(!plan->folder_name().empty() && plan->folder_name().find('/') == std::string::npos, "no name for a folder");
  for (std::size_t a = 0; a < plan->arms.size(); ++a) planned_cost(*plan, a);
  refusal([&] { config_of(plan->runs.front()); });
  return 0;
}
