// What most sources of experiments include from outside, read once for each library (see autograd/pch/engine.hpp).
// Boost.JSON, toml++ and CLI11 aren't here: they take long to read, and few sources need them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
