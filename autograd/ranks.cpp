#include "autograd/ranks.hpp"

#include "autograd/error.hpp"

#include <algorithm>

namespace heed {

std::pair<int, int> aligned_share(int jobs, int rank, int ranks) {
  int length = 1;
  while (length * ranks < jobs) length *= 2;
  return {std::min(rank * length, jobs), std::min((rank + 1) * length, jobs)};
}

std::pair<int, int> even_share(int jobs, int rank, int ranks) {
  const auto begin = [&](int r) { return static_cast<int>(static_cast<std::int64_t>(jobs) * r / ranks); };
  return {begin(rank), begin(rank + 1)};
}

void Packed::add_bytes(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }

std::string_view Unpacked::take(std::size_t size) {
  if (size > rest_.size()) throw Failed("[ranks] another rank sent less than it should have");
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::vector<std::string> gather(Ranks& ranks, std::string own) {
  const auto count = static_cast<std::size_t>(ranks.count()), rank = static_cast<std::size_t>(ranks.rank());
  std::vector<std::string> all(count);
  all[rank] = std::move(own);
  // Recursive doubling: after the exchange at `distance`, each rank has the data of the 2 distance ranks in its group.
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const std::size_t mine = rank & ~(distance - 1), peers = mine ^ distance;
    Packed packed;
    for (std::size_t r = mine; r < mine + distance; ++r) packed.add_text(all[r]);
    const std::string out = packed.take();
    const auto peer = static_cast<int>(rank ^ distance);
    const std::uint64_t size = out.size();
    std::uint64_t expected = 0;
    ranks.exchange(peer, std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(&expected, 1)));
    std::string in(expected, '\0');
    ranks.exchange(peer, std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)));
    Unpacked unpacked(in);
    for (std::size_t r = peers; r < peers + distance; ++r) all[r] = unpacked.text();
  }
  return all;
}

} // namespace heed
