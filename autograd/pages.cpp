#include "autograd/pages.hpp"

#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace heed {

namespace {

constexpr std::size_t line = 64;

thread_local bool unwritten = false;                                // does an UnwrittenPages object exist?
thread_local double room = std::numeric_limits<double>::infinity(); // bytes left in the innermost PageLimit

#if defined(__linux__)

constexpr std::size_t large_page = std::size_t{1} << 21;
bool on_large_pages(std::size_t bytes) { return bytes >= large_page / 2; }

// Maps small pages. The system provides each page when it is first written to.
void* map_small_pages(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

// Maps memory separately from the heap, so that the system gets it back as soon as it is released.
void* map_pages(std::size_t bytes) {
  if (unwritten) return map_small_pages(bytes);
  void* whole = mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(whole);
  const std::size_t before = (large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page) % large_page;
  const auto small_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t used = (before + bytes + small_page - 1) / small_page * small_page;
  if (before > 0) munmap(begin, before);
  if (used < bytes + large_page) munmap(begin + used, bytes + large_page - used);
  madvise(begin + before, bytes, MADV_HUGEPAGE); // may be refused, which only costs speed
  return begin + before;
}

#endif

void* take_some_pages(std::size_t bytes, bool cleared) {
  if (static_cast<double>(bytes) > room) throw std::bad_alloc();
  room -= static_cast<double>(bytes);
#if defined(__linux__)
  if (on_large_pages(bytes)) return map_pages(bytes); // mapped pages are zero
#endif
  void* memory = ::operator new(bytes, std::align_val_t(line));
  if (cleared) std::memset(memory, 0, bytes);
  return memory;
}

} // namespace

PageLimit::PageLimit(double bytes) : before_(std::exchange(room, bytes)) {}
PageLimit::~PageLimit() { room = before_; }

UnwrittenPages::UnwrittenPages() : before_(std::exchange(unwritten, true)) {}
UnwrittenPages::~UnwrittenPages() { unwritten = before_; }
bool UnwrittenPages::any() { return unwritten; }

void* take_pages(std::size_t bytes) { return take_some_pages(bytes, unwritten); }
void* take_cleared_pages(std::size_t bytes) { return take_some_pages(bytes, true); }

void give_back_pages(void* memory, std::size_t bytes) {
  room += static_cast<double>(bytes);
#if defined(__linux__)
  if (on_large_pages(bytes)) {
    munmap(memory, bytes);
    return;
  }
#endif
  ::operator delete(memory, std::align_val_t(line));
}

std::int64_t resident_bytes() {
#if defined(__linux__)
  std::int64_t all = 0, resident = 0, of_files = 0;
  if (std::ifstream("/proc/self/statm") >> all >> resident >> of_files)
    return (resident - of_files) * sysconf(_SC_PAGESIZE);
#endif
  return 0;
}

} // namespace heed
