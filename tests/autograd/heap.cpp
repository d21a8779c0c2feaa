#include "tests/autograd/heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> calls{0};

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  ++calls;
  void* p = nullptr;
  return posix_memalign(&p, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) == 0 ? p : nullptr;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* p = take(bytes, alignment)) return p;
  throw std::bad_alloc();
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

} // namespace

std::int64_t heed::heap_calls() { return calls; }

// All forms for single objects. The forms for arrays call these, or are replaced by a sanitizer.
void* operator new(std::size_t bytes) { return take_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
