// Tests that exceptions of the standard library become readable sentences.
#include "experiments/system/failure.hpp"
#include "autograd/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fstream>
#include <new>
#include <stdexcept>
#include <vector>

using namespace heed;
using Catch::Contains;

namespace {

template <class Act> std::string words_of(const Act& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return failure_in_words(error);
  }
  return "";
}

} // namespace

TEST_CASE("failures of the system are sentences", "[failure]") {
  CHECK(words_of([] { throw Refused("as it is"); }) == "as it is");
  CHECK(words_of([] { throw Failed("as it is"); }) == "as it is");
  CHECK(words_of([] { throw std::bad_alloc(); }) == "out of memory");
  CHECK(words_of([] { (void)std::filesystem::file_size("/no/such/file"); }) ==
        "'/no/such/file' can't be used: No such file or directory");
  const std::string long_name(300, 'x');
  CHECK(words_of([&] { (void)std::filesystem::is_directory(long_name); }) ==
        "'" + long_name + "' can't be used: File name too long; give a shorter name");
  CHECK_THAT(words_of([] { throw std::system_error(EAGAIN, std::generic_category()); }),
             Contains("starts no more threads") && Contains("ulimit -u") && Contains("--threads"));
  CHECK_THAT(words_of([] { throw std::system_error(EMFILE, std::generic_category(), "x"); }), Contains("ulimit -n"));
  for (const std::string& words :
       {words_of([] { (void)std::stoi("x"); }), words_of([] { (void)std::vector<int>().at(1); }),
        words_of([] { (void)std::string(std::string().max_size() + 1, 'x'); })})
    CHECK_THAT(words, Contains("a fault of Heed itself (") && Contains("please report it"));
}

TEST_CASE("a folder of runs is refused with the reason why it is none", "[failure]") {
  const Scratch scratch;
  const auto why = [](const std::filesystem::path& out) { return words_of([&] { require_folder_of_runs(out); }); };
  CHECK(why(scratch.path).empty());
  CHECK_THAT(why(scratch.path / "none"), Contains("there is no such folder; heed run CONFIG --out"));
  std::ofstream(scratch.path / "file") << "x";
  CHECK_THAT(why(scratch.path / "file"), Contains("it is no folder"));
  CHECK_THAT(why(std::string(300, 'x')), Contains("can't be looked at: File name too long"));
  std::filesystem::create_symlink("loop", scratch.path / "loop");
  CHECK_THAT(why(scratch.path / "loop"), Contains("a link leads back to itself"));
}
