// Tests of the folder in which relative paths of data start.
#include "experiments/system/working_folder.hpp"
#include "tests/catch.hpp"

#include <thread>

using namespace heed;

TEST_CASE("relative paths of a thread start in the folder of the innermost scope", "[system]") {
  const std::filesystem::path here = std::filesystem::current_path();
  CHECK(WorkingFolder::now() == here);
  CHECK(WorkingFolder::place_of("data.txt") == "data.txt");
  {
    const WorkingFolder outer("/outer");
    const WorkingFolder inner("/inner");
    CHECK(WorkingFolder::now() == "/inner");
    CHECK(WorkingFolder::place_of("data.txt") == "/inner/data.txt");
    CHECK(WorkingFolder::place_of("/data.txt") == "/data.txt");
    std::filesystem::path in_other_thread;
    std::thread([&] { in_other_thread = WorkingFolder::place_of("data.txt"); }).join();
    CHECK(in_other_thread == "data.txt");
  }
  const WorkingFolder removed("");
  CHECK(WorkingFolder::now() == here);
  CHECK(WorkingFolder::place_of("data.txt") == "data.txt");
}
