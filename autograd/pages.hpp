// Memory for the large arrays of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace heed {

/// Uninitialised memory that begins on a 64-byte boundary. From a mebibyte on it asks the system for large pages (2 MiB
/// instead of 4 KiB): a step walks through tens of megabytes, more than the processor can find the small pages of
/// without looking them up again. Where the system has none to give, it is ordinary memory.
void* take_pages(std::size_t bytes);
void give_back_pages(void* memory, std::size_t bytes);

/// The same, all zeros.
void* take_cleared_pages(std::size_t bytes);

/// While one lives, this thread's `take_pages` gives zeros, from a mebibyte on on small pages, of which those that nobody
/// writes to take no memory, nor time: for what takes much and writes to little of it.
class UnwrittenPages {
public:
  UnwrittenPages();
  ~UnwrittenPages();
  UnwrittenPages(const UnwrittenPages&) = delete;
  UnwrittenPages& operator=(const UnwrittenPages&) = delete;

  /// Whether this thread has them.
  static bool any();

private:
  bool before_;
};

/// While it lives, this thread's `take_pages` throws std::bad_alloc where it would hold more than `bytes` at once of
/// what it took since: what does not fit is told before the system runs out.
class PageLimit {
public:
  explicit PageLimit(double bytes);
  ~PageLimit();
  PageLimit(const PageLimit&) = delete;
  PageLimit& operator=(const PageLimit&) = delete;

private:
  double before_;
};

/// Memory that this process alone uses now, without what it has mapped of files; 0 where the system does not tell.
std::int64_t resident_bytes();

/// What a container makes without a value is zero. As it comes: nothing is written.
template <class T> struct PageAllocator {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;
  PageAllocator() = default;
  template <class U> PageAllocator(const PageAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_cleared_pages(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { give_back_pages(p, n * sizeof(T)); }
  template <class U>
  void construct(U*) noexcept {} // the memory is new, since no container here shrinks and grows again
  bool operator==(const PageAllocator&) const = default;
};

template <class T> using PagedVector = std::vector<T, PageAllocator<T>>;

} // namespace heed
