#include "experiments/system/machine.hpp"

#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <charconv>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace heed {
namespace {

/// The text after `NAME :` in a file with such lines; empty if there is none.
std::string entry(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto from = line.find_first_not_of(" \t", colon + 1);
    return from == std::string::npos ? "" : line.substr(from);
  }
  return {};
}

/// The number at the beginning of the text; 0 if there is none ("max").
double leading_number(const std::string& text) {
  unsigned long long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<double>(value);
}

double number_in(const char* file) {
  const auto text = read_file(file);
  return text ? leading_number(*text) : 0.0;
}

} // namespace

double usable_memory() {
  const auto info = read_file("/proc/meminfo");
  double bytes = info ? leading_number(entry(*info, "MemAvailable")) * 1024 : 0.0;
  const double limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit > 0) {
    // The file pages of a container can be reclaimed at once, so only its anonymous memory ("anon") counts as used.
    const auto used = read_file("/sys/fs/cgroup/memory.stat");
    const double anonymous = used && used->starts_with("anon ") ? leading_number(used->substr(5)) : 0.0;
    const double left = std::max(0.0, limit - anonymous);
    bytes = bytes > 0 ? std::min(bytes, left) : left;
  }
  ::rlimit space = {};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const double pages = number_in("/proc/self/statm"), page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    const double left = std::max(0.0, static_cast<double>(space.rlim_cur) - pages * page);
    bytes = bytes > 0 ? std::min(bytes, left) : left;
  }
  return bytes;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                          : static_cast<int>(std::thread::hardware_concurrency());
  // The container's quota: "QUOTA PERIOD" in microseconds, or "max PERIOD".
  if (const auto quota = read_file("/sys/fs/cgroup/cpu.max")) {
    const double allowed = leading_number(*quota);
    const auto space = quota->find(' ');
    const double period = space == std::string::npos ? 0.0 : leading_number(quota->substr(space + 1));
    if (allowed > 0 && period > 0) cores = std::min(cores, std::max(1, static_cast<int>(allowed / period)));
  }
  return std::max(1, cores);
}

Machine this_machine() {
  Machine machine;
  machine.host = this_host();
  if (const auto info = read_file("/proc/cpuinfo")) {
    machine.cpu = entry(*info, "model name");
    if (machine.cpu.empty()) machine.cpu = entry(*info, "Model");
  }
  machine.cores = usable_cores();
  machine.memory = usable_memory();
  return machine;
}

const std::string& this_host() {
  static const std::string name = [] {
    char host[256] = {};
    return ::gethostname(host, sizeof host - 1) == 0 ? std::string(host) : std::string();
  }();
  return name;
}

const std::string& this_boot() {
  static const std::string boot = [] {
    const auto text = read_file("/proc/sys/kernel/random/boot_id");
    return text ? text->substr(0, text->find('\n')) : std::string();
  }();
  return boot;
}

} // namespace heed
