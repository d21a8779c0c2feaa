// Memory of one step: handed out by moving a pointer, given back all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heed {

/// Every piece starts on a 64-byte boundary and is padded to whole 64 bytes. After a rewind that followed growth, the
/// arena is one block as large as all before together, so that a repeated step allocates nothing from the heap.
class Arena {
public:
  static constexpr std::size_t alignment = 64;

  /// Uninitialised memory, valid until the next rewind.
  void* take(std::size_t bytes);

  template <class T> T* take_array(std::int64_t n) {
    return static_cast<T*>(take(static_cast<std::size_t>(n) * sizeof(T)));
  }

  /// Forgets everything that was taken.
  void rewind();

  /// A place in the order in which memory was taken.
  struct Mark {
    std::size_t blocks = 0, offset = 0, used = 0;
  };
  Mark mark() const { return {blocks_.size(), offset_, used_}; }
  /// Forgets what was taken since the mark; nothing from before it has been forgotten meanwhile.
  void release(const Mark& mark);

  /// Makes room for at least this many bytes in one block. Only right after a rewind.
  void reserve(std::size_t bytes);

  std::size_t used() const { return used_; }
  std::size_t capacity() const { return capacity_; }
  /// The most that was ever used between two rewinds.
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

  std::vector<Block> blocks_;
  std::size_t offset_ = 0; // within the last block
  std::size_t used_ = 0, capacity_ = 0, peak_ = 0;
};

} // namespace heed
