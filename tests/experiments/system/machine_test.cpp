#include "experiments/system/machine.hpp"
#include "experiments/system/program.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("this program is a file, and this machine has cores and memory", "[system]") {
  CHECK(this_program().filename() == "test_system");
  CHECK(std::filesystem::is_regular_file(this_program()));
  const Machine machine = this_machine();
  CHECK(machine.cores >= 1);
  CHECK(machine.cores == usable_cores());
  CHECK(machine.memory > 1e6);
}
