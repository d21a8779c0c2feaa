// Processes that train one model together, and what they tell each other.
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

/// Processes of a team, as MPI numbers them. All do the same work in the same order, each on another part of it, so
/// that they meet in the same exchanges.
class Ranks {
public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;  ///< 0 .. count() - 1
  virtual int count() const = 0; ///< a power of two

  /// Sends `out` to the peer, and fills `in` with what the peer sends in the same exchange: as many bytes as it expects.
  /// Called from one thread at a time.
  virtual void exchange(int peer, std::span<const std::byte> out, std::span<std::byte> in) = 0;
};

/// Of `jobs` jobs those that a rank does, from first to second: a run of them whose length is a power of two and whose
/// begin is a multiple of it (the last ranks may have fewer, or none), so that the lower levels of a tree over all jobs
/// lie within the ranks.
std::pair<int, int> aligned_share(int jobs, int rank, int ranks);
/// As even as can be, where no tree has to be kept.
std::pair<int, int> even_share(int jobs, int rank, int ranks);

/// What each rank gives, in the order of the ranks, on all of them.
std::vector<std::string> gather(Ranks& ranks, std::string own);

/// Values behind each other, as bytes: what ranks on machines of one kind tell each other.
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
  /// Throws heed::Failed where there is less: ranks of unlike programs.
  std::string_view take(std::size_t size);

  std::string_view rest_;
};

} // namespace heed
