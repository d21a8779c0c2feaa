// An arena for the memory of one training step. An allocation only moves a pointer, and a rewind frees everything at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heed {

/// Every allocation starts on a 64-byte boundary and is padded to a multiple of 64 bytes. If the arena grew, the next
/// rewind replaces its blocks by one block of the peak size. A repeated step therefore allocates nothing from the heap.
class Arena {
public:
  static constexpr std::size_t alignment = 64;

  /// Uninitialised memory, valid until the next rewind.
  void* take(std::size_t bytes);

  template <class T> T* take_array(std::int64_t n) {
    return static_cast<T*>(take(static_cast<std::size_t>(n) * sizeof(T)));
  }

  /// Frees everything that was taken.
  void rewind();

  /// A position in the sequence of allocations.
  struct Mark {
    std::size_t blocks = 0, offset = 0, used = 0;
  };
  Mark mark() const { return {blocks_.size(), offset_, used_}; }
  /// Frees everything that was taken since the mark. Memory from before the mark must not have been freed in between.
  /// While there are UnwrittenPages, small allocations are freed by the next rewind only.
  void release(const Mark& mark);

  /// Allocates one block of at least this many bytes. Call it only directly after a rewind.
  void reserve(std::size_t bytes);

  std::size_t used() const { return used_; }
  std::size_t capacity() const { return capacity_; }
  /// The largest number of bytes ever in use between two rewinds.
  std::size_t peak() const { return peak_; }

private:
  struct Free {
    std::size_t size = 0;
    void operator()(std::byte* p) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0;
  };
  void add_block(std::size_t bytes);
  void* take_together(std::size_t bytes);

  std::vector<Block> blocks_;
  std::vector<Block> together_; // small allocations while there are UnwrittenPages: so they write to few pages
  std::size_t together_offset_ = 0;
  std::size_t offset_ = 0; // within the last block
  std::size_t used_ = 0, capacity_ = 0, peak_ = 0;
};

} // namespace heed
