#include "autograd/pages.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace heed {

namespace {
constexpr std::size_t line = 64, large_page = std::size_t{1} << 21;

std::align_val_t alignment_of(std::size_t bytes) { return std::align_val_t(bytes >= large_page / 2 ? large_page : line); }
} // namespace

void* take_pages(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes));
#if defined(__linux__)
  // Only what the array covers: a page that reaches beyond it stays small. A refusal changes nothing but the speed.
  if (bytes >= large_page / 2) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void give_back_pages(void* memory, std::size_t bytes) { ::operator delete(memory, alignment_of(bytes)); }

} // namespace heed
