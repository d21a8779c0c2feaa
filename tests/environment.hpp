// A test helper that sets or removes an environment variable for the lifetime of an object.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace heed::test {

/// Sets the variable, or removes it, until the object is destroyed.
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
