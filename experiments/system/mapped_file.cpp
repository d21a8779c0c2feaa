#include "experiments/system/mapped_file.hpp"

#include "autograd/fork_safe.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace heed {

/// A range of mapped memory. The signal handler below may walk through the list of regions at any moment, so regions
/// are never freed. An unused region has an empty range and is reused.
struct MappedRegion {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  std::atomic<bool> lost = false;
  bool in_use = false; // protected by the mutex; each change leaves the list usable, as a fork needs it
  MappedRegion* next = nullptr;
};

namespace {

std::atomic<MappedRegion*> first_region = nullptr;
ForkSafeMutex regions_mutex;
struct sigaction action_before = {};
std::uintptr_t page_bytes = 4096;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Passes on a bus error that no mapped file caused.
void hand_on_bus_error(int signal, siginfo_t* info, void* context) {
  if ((action_before.sa_flags & SA_SIGINFO) != 0) return action_before.sa_sigaction(signal, info, context);
  if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN)
    return action_before.sa_handler(signal);
  // The instruction is executed again and then ends the process. A signal from another process is raised again.
  ::sigaction(signal, &action_before, nullptr);
  if (info->si_code <= 0) ::raise(signal);
}

/// The kernel sends SIGBUS to a thread that reads a part of a mapped file that no longer exists. The handler maps zeros
/// from there to the end of the mapping. It makes only system calls.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error_before = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  MappedRegion* region = info->si_code > 0 ? first_region.load() : nullptr;
  while (region && (at < region->begin || at >= region->end)) region = region->next;
  if (region) {
    region->lost = true; // set before any thread can read the zeros
    std::byte* const page = static_cast<std::byte*>(info->si_addr) - at % page_bytes;
    void* const zeros = ::mmap(page, region->end - (at - at % page_bytes), PROT_READ,
                               MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED) region = nullptr;
  }
  if (!region) hand_on_bus_error(signal, info, context);
  errno = error_before;
}

void handle_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &action_before);
  });
}

MappedRegion* add_region(void* begin, std::size_t size) {
  const std::scoped_lock lock(regions_mutex);
  MappedRegion* region = first_region;
  while (region && region->in_use) region = region->next;
  if (!region) {
    region = new MappedRegion;
    region->next = first_region;
    first_region = region;
  }
  region->in_use = true;
  region->lost = false;
  region->begin = reinterpret_cast<std::uintptr_t>(begin);
  region->end = reinterpret_cast<std::uintptr_t>(begin) + size;
  return region;
}

void remove_region(MappedRegion* region) {
  const std::scoped_lock lock(regions_mutex);
  region->end = 0;
  region->begin = 0;
  region->in_use = false;
}

} // namespace

struct MappedFile::Mapping {
  Descriptor file;
  std::span<const std::byte> bytes;
  MappedRegion* region = nullptr; // null: the file is empty

  ~Mapping() {
    if (!region) return;
    remove_region(region);
    ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
  }
};

MappedFile::MappedFile(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
MappedFile::MappedFile(MappedFile&& other) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept = default;
MappedFile::~MappedFile() = default;

Parsed<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  using Result = Parsed<MappedFile>;
  const auto wrong = [&](const char* why) {
    return Result::wrong(fmt::format("cannot read '{}': {}", path.string(), why));
  };
  auto mapping = std::make_unique<Mapping>();
  mapping->file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about = {};
  if (mapping->file.get() < 0 || ::fstat(mapping->file.get(), &about) != 0) return wrong(std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return wrong("it is not a regular file");
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > 0) {
    handle_bus_errors();
    void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, mapping->file.get(), 0);
    if (begin == MAP_FAILED) return wrong(std::strerror(errno));
    mapping->bytes = {static_cast<const std::byte*>(begin), size};
    mapping->region = add_region(begin, size);
  }
  return Result::ok(MappedFile(std::move(mapping)));
}

std::span<const std::byte> MappedFile::bytes() const { return mapping_->bytes; }

MappedFile::State MappedFile::state() const {
  struct stat about = {};
  if (::fstat(mapping_->file.get(), &about) != 0) return {};
  return {static_cast<std::uint64_t>(about.st_size),
          std::int64_t{about.st_ctim.tv_sec} * 1'000'000'000 + about.st_ctim.tv_nsec};
}

bool MappedFile::lost() const { return mapping_->region && mapping_->region->lost; }

} // namespace heed
