// Ranks: processes that train one model together (as in MPI), the split of jobs among them, and the messages they
// exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed {

/// The processes of a group, numbered as in MPI. All execute the same steps in the same order, each on another part of
/// the work. They therefore meet in the same exchanges.
class Ranks {
public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;  ///< 0 .. count() - 1
  virtual int count() const = 0; ///< a power of two

  /// Sends `out` to the peer, and fills `in` with the bytes that the peer sends in the same exchange. `in` must have
  /// the size of the peer's `out`. Called from one thread at a time.
  virtual void exchange(int peer, std::span<const std::byte> out, std::span<std::byte> in) = 0;
};

/// The jobs of a rank, out of `jobs` jobs: [first, second). Their number is a power of two, and `first` is a multiple
/// of it. The last ranks may have fewer jobs, or none. The lower levels of a binary tree over all jobs therefore lie
/// within the ranks.
std::pair<int, int> aligned_share(int jobs, int rank, int ranks);
/// As even as possible, for work that is not combined in a tree.
std::pair<int, int> even_share(int jobs, int rank, int ranks);

/// Collects the text of every rank, in the order of the ranks. Every rank receives all of them (all-gather).
std::vector<std::string> gather(Ranks& ranks, std::string own);

/// Serialises values one after the other as bytes, for messages between ranks on machines of one kind.
class Packed {
public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Packed& add(const T& value) {
    add_bytes(&value, sizeof value);
    return *this;
  }
  Packed& add_text(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    add_bytes(text.data(), text.size());
    return *this;
  }
  std::string take() { return std::move(bytes_); }

private:
  void add_bytes(const void* from, std::size_t size);

  std::string bytes_;
};

class Unpacked {
public:
  explicit Unpacked(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::uint64_t>())); }

private:
  /// Throws heed::Failed if too few bytes are left: the ranks run different programs.
  std::string_view take(std::size_t size);

  std::string_view rest_;
};

} // namespace heed
