#include "experiments/system/this_boot.hpp"

#include "experiments/system/files.hpp"

#include <unistd.h>

namespace heed {

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
