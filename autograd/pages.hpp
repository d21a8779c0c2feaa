// Allocation of memory pages for the large arrays of a step: large pages, untouched pages that cost nothing, and a
// memory limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace heed {

/// Uninitialised memory that begins on a 64-byte boundary. For 1 MiB or more, it asks the operating system for large
/// pages (2 MiB instead of 4 KiB). A step reads tens of megabytes, which in small pages exceed the processor's cache of
/// page addresses (TLB). If the system has no large pages, the memory has ordinary pages.
void* take_pages(std::size_t bytes);
void give_back_pages(void* memory, std::size_t bytes);

/// The same, filled with zeros.
void* take_cleared_pages(std::size_t bytes);

/// While an object exists, `take_pages` on this thread gives zeros. Allocations of 1 MiB or more use small pages;
/// untouched pages cost neither memory nor time. It is for code that allocates much memory and writes to little of it.
class UnwrittenPages {
public:
  UnwrittenPages();
  ~UnwrittenPages();
  UnwrittenPages(const UnwrittenPages&) = delete;
  UnwrittenPages& operator=(const UnwrittenPages&) = delete;

  /// Does this thread have such an object?
  static bool any();

private:
  bool before_;
};

/// While an object exists, `take_pages` on this thread throws std::bad_alloc if more than `bytes` bytes, allocated
/// since its construction, would be in use at once. A model that is too large is thus reported before the system runs
/// out of memory.
class PageLimit {
public:
  explicit PageLimit(double bytes);
  ~PageLimit();
  PageLimit(const PageLimit&) = delete;
  PageLimit& operator=(const PageLimit&) = delete;

private:
  double before_;
};

/// The memory that only this process uses now, without mapped files; 0 if the system does not report it.
std::int64_t resident_bytes();

/// An allocator of zeroed pages. Elements that a container creates without a value are zero, because the memory is;
/// nothing is written to them.
template <class T> struct PageAllocator {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;
  PageAllocator() = default;
  template <class U> PageAllocator(const PageAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_cleared_pages(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { give_back_pages(p, n * sizeof(T)); }
  template <class U>
  void construct(U*) noexcept {} // the memory is new, because no container here shrinks and grows again
  bool operator==(const PageAllocator&) const = default;
};

template <class T> using PagedVector = std::vector<T, PageAllocator<T>>;

} // namespace heed
