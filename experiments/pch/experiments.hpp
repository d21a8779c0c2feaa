// Precompiled header of the experiments: the external headers that most of their sources include (see
// autograd/pch/engine.hpp). Boost.JSON, toml++ and CLI11 are not included, because they compile slowly and few sources
// need them.
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
