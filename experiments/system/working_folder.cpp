#include "experiments/system/working_folder.hpp"

#include <fcntl.h>
#include <system_error>
#include <utility>

namespace heed {

namespace fs = std::filesystem;

namespace {
thread_local const fs::path* start = nullptr;
} // namespace

WorkingFolder::WorkingFolder(fs::path folder) : folder_(std::move(folder)), before_(std::exchange(start, &folder_)) {}

WorkingFolder::~WorkingFolder() { start = before_; }

fs::path WorkingFolder::now() {
  if (start && !start->empty()) return *start;
  std::error_code error;
  fs::path here = fs::current_path(error);
  return error ? fs::path() : here;
}

Descriptor WorkingFolder::open() { return Descriptor(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

fs::path WorkingFolder::place_of(const fs::path& path) { return start ? *start / path : path; }

} // namespace heed
