// A variable of the environment as a test wants it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace heed::test {

/// Sets or removes the variable while it lives.
class Environment {
public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

private:
  void set(const std::optional<std::string>& value) {
    if (value) ::setenv(name_, value->c_str(), 1);
    else ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

} // namespace heed::test
