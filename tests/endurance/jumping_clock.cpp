// A library for LD_PRELOAD that makes the wall clock jump by up to ten years, forwards or backwards, each time it is
// read. The monotonic clock, which measures durations, is unchanged.
#include <cstdint>
#include <ctime>
#include <dlfcn.h>
#include <sys/time.h>

namespace {

std::time_t jump() {
  constexpr std::uint64_t ten_years = 315'360'000;
  static thread_local std::uint64_t state = 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::time_t>(state % (2 * ten_years)) - static_cast<std::time_t>(ten_years);
}

int read_clock(clockid_t clock, timespec* now) {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  return real(clock, now);
}

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int status = read_clock(clock, now);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
  return status;
}

std::time_t time(std::time_t* out) noexcept {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise = {};
  const int status = clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return status;
}
}
