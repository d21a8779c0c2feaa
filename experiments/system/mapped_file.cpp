#include "experiments/system/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace heed {

Parsed<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  using Result = Parsed<MappedFile>;
  const auto wrong = [&](const char* why) {
    return Result::wrong(fmt::format("cannot read '{}': {}", path.string(), why));
  };
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about = {};
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) return wrong(std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return wrong("it is not a regular file");
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0) return Result::ok(MappedFile(std::span<const std::byte>()));
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (begin == MAP_FAILED) return wrong(std::strerror(errno));
  return Result::ok(MappedFile({static_cast<const std::byte*>(begin), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace heed
