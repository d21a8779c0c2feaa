// An owned file descriptor, which its destructor closes.
#pragma once

#include <unistd.h>
#include <utility>

namespace heed {

class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  /// Negative if there is none.
  int get() const { return fd_; }
  /// Gives up ownership: the caller closes the descriptor.
  int release() { return std::exchange(fd_, -1); }
  /// Closes the descriptor and returns the result of close(2). Some file systems report a failed write only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

private:
  int fd_;
};

} // namespace heed
