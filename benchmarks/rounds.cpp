#include "benchmarks/rounds.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace heed::bench {

namespace {

// A value of /proc/self/status in bytes; 0 if the system does not provide it.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::strtod(line.c_str() + name.size() + 1, nullptr) * 1024;
  return 0;
}

} // namespace

void serve_rounds(boost::json::object about, int warm_up, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const double resident = status_bytes("VmRSS");
  for (int i = 0; i < warm_up; ++i) work();
  about["ready"] = true;
  std::cout << boost::json::serialize(about) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const double seconds = std::strtod(line.c_str(), nullptr);
    boost::json::array times;
    const auto begin = Clock::now();
    for (auto last = begin; std::chrono::duration<double>(last - begin).count() < seconds || times.empty();) {
      work();
      const auto now = Clock::now();
      times.push_back(std::chrono::duration<double, std::milli>(now - last).count());
      last = now;
    }
    const boost::json::object answer{{"milliseconds", times}, {"peak_bytes", status_bytes("VmHWM") - resident}};
    std::cout << boost::json::serialize(answer) << std::endl;
  }
}

} // namespace heed::bench
