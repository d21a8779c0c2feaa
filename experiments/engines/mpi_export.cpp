// The exported entry function of libheed_mpi.so, and the implementation of MpiRanks.
#include "experiments/engines/mpi.hpp"

#include <algorithm>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <memory>

namespace {

namespace mpi = boost::mpi;

class BoostRanks : public heed::MpiRanks {
public:
  // A different thread than the one that loads this library does the training.
  BoostRanks() : environment_(std::make_unique<mpi::environment>(mpi::threading::serialized, false)) {}

  int rank() const override { return world_.rank(); }
  int count() const override { return world_.size(); }

  void exchange(int peer, std::span<const std::byte> out, std::span<std::byte> in) override {
    // MPI stores the length of a message as an int.
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t at = 0; at < std::max(out.size(), in.size()); at += most) {
      const auto to = part(out, at, most);
      const auto from = part(in, at, most);
      constexpr int tag = 0;
      mpi::request received = world_.irecv(peer, tag, reinterpret_cast<char*>(from.data()), size_of(from));
      mpi::request sent = world_.isend(peer, tag, reinterpret_cast<const char*>(to.data()), size_of(to));
      received.wait();
      sent.wait();
    }
  }

  void abort(int status) override { environment_->abort(status); }
  void finish() override { environment_.reset(); }

private:
  template <class T> static std::span<T> part(std::span<T> all, std::size_t at, std::size_t most) {
    return at < all.size() ? all.subspan(at, std::min(most, all.size() - at)) : std::span<T>();
  }
  template <class T> static int size_of(std::span<T> part) { return static_cast<int>(part.size()); }

  std::unique_ptr<mpi::environment> environment_;
  mpi::communicator world_;
};

} // namespace

extern "C" heed::MpiRanks* heed_mpi_ranks() {
  static BoostRanks ranks;
  return &ranks;
}
