#include "experiments/system/program.hpp"

#include "autograd/error.hpp"
#include "autograd/fork_safe.hpp"
#include "experiments/system/descriptor.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

// The parts that were opened; they stay open until the process ends.
ForkSafe<std::vector<OpenPart>>& opened_parts() {
  static ForkSafe<std::vector<OpenPart>> all;
  return all;
}

// Child processes use lower descriptors for their outputs and similar.
constexpr int first_descriptor = 10;

int open_file(const fs::path& file) {
  const Descriptor found(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return found.get() < 0 ? -1 : ::fcntl(found.get(), F_DUPFD_CLOEXEC, first_descriptor);
}

fs::path path_of_descriptor(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

std::atomic<int> program_descriptor = -1; // open until the process ends

bool is_running_program(const fs::path& path) {
  struct stat running = {}, there = {};
  return ::stat(running_program().c_str(), &running) == 0 && ::stat(path.c_str(), &there) == 0 &&
         running.st_dev == there.st_dev && running.st_ino == there.st_ino;
}

std::optional<OpenPart> found_part(const std::vector<OpenPart>& parts, const std::string& file) {
  const auto found = std::ranges::find(parts, file, &OpenPart::file);
  return found == parts.end() ? std::nullopt : std::optional(*found);
}

} // namespace

void set_program(const fs::path& file) {
  const int descriptor = open_file(file);
  if (descriptor < 0)
    throw Failed(fmt::format("{} can't be opened ({}); install Heed anew", file.string(), std::strerror(errno)));
  if (const int before = program_descriptor.exchange(descriptor); before >= 0) ::close(before);
}

fs::path running_program() {
  const int descriptor = program_descriptor;
  return descriptor < 0 ? fs::path("/proc/self/exe") : path_of_descriptor(descriptor);
}

fs::path this_program() {
  const fs::path path = fs::read_symlink(running_program());
  // The kernel appends this text if the file was removed or replaced.
  constexpr std::string_view gone = " (deleted)";
  const std::string text = path.string();
  return text.ends_with(gone) && !is_running_program(path) ? fs::path(text.substr(0, text.size() - gone.size())) : path;
}

bool is_program_in_place() { return fs::read_symlink(running_program()) == this_program(); }

fs::path part_of_program(std::string_view file) {
  const fs::path folder = this_program().parent_path();
  std::error_code ignored;
  const fs::path installed = folder.parent_path() / "lib" / "heed" / file;
  return !fs::exists(folder / file, ignored) && fs::exists(installed, ignored) ? installed : folder / file;
}

fs::path OpenPart::path() const { return path_of_descriptor(descriptor); }

std::optional<OpenPart> open_part(const std::string& file) {
  const auto parts = opened_parts().lock();
  if (auto part = found_part(*parts, file)) return part;
  const int descriptor = open_file(part_of_program(file));
  if (descriptor < 0) return std::nullopt;
  return parts->emplace_back(OpenPart{file, descriptor});
}

void take_part(const OpenPart& part) {
  if (::fcntl(part.descriptor, F_SETFD, FD_CLOEXEC) < 0) return; // the descriptor is not open
  const auto parts = opened_parts().lock();
  if (!found_part(*parts, part.file)) parts->push_back(part);
}

std::vector<OpenPart> open_parts() { return *opened_parts().lock(); }

bool is_open_part(const std::string& file) { return found_part(open_parts(), file).has_value(); }

} // namespace heed
