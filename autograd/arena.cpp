#include "autograd/arena.hpp"

#include "autograd/pages.hpp"

#include <algorithm>

namespace heed {

namespace {
std::size_t padded(std::size_t bytes) { return (bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment; }
} // namespace

void Arena::Free::operator()(std::byte* p) const { give_back_pages(p, size); }

void Arena::add_block(std::size_t bytes) {
  blocks_.push_back({std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(take_pages(bytes)), Free{bytes}), bytes});
  capacity_ += bytes;
  offset_ = 0;
}

void* Arena::take_together(std::size_t bytes) {
  constexpr std::size_t block = std::size_t{1} << 16;
  if (together_.empty() || together_offset_ + bytes > block) {
    together_.push_back({std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(take_pages(block)), Free{block}),
                         block});
    together_offset_ = 0;
  }
  void* p = together_.back().memory.get() + together_offset_;
  together_offset_ += bytes;
  return p;
}

void* Arena::take(std::size_t bytes) {
  constexpr std::size_t most_together = 1024;
  const std::size_t n = padded(std::max<std::size_t>(bytes, 1));
  used_ += n;
  peak_ = std::max(peak_, used_);
  if (n <= most_together && UnwrittenPages::any()) return take_together(n);
  if (blocks_.empty() || offset_ + n > blocks_.back().size) {
    const std::size_t least = std::size_t{1} << (UnwrittenPages::any() ? 24 : 18); // mapped pages, or heap memory
    const std::size_t grow = std::clamp<std::size_t>(capacity_, least, std::size_t{1} << 28);
    add_block(std::max(n, grow));
  }
  void* p = blocks_.back().memory.get() + offset_;
  offset_ += n;
  return p;
}

void Arena::rewind() {
  if (blocks_.size() > 1 || peak_ > capacity_) {
    const std::size_t bytes = peak_;
    blocks_.clear();
    capacity_ = 0;
    add_block(bytes);
  }
  offset_ = 0;
  used_ = 0;
  together_.clear();
}

void Arena::release(const Mark& mark) {
  while (blocks_.size() > std::max<std::size_t>(mark.blocks, 1)) {
    capacity_ -= blocks_.back().size;
    blocks_.pop_back();
  }
  offset_ = mark.offset;
  used_ = mark.used;
}

void Arena::reserve(std::size_t bytes) {
  if (bytes <= capacity_ && blocks_.size() <= 1) return;
  blocks_.clear();
  capacity_ = 0;
  add_block(padded(bytes));
  used_ = 0;
}

} // namespace heed
