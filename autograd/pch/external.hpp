// Precompiled header of the rooms above the layers: the external headers that most of their sources include. It has no
// headers of the project, because a change to one would rebuild everything. Boost.JSON, toml++ and CLI11 are not
// included, because they compile slowly and few sources need them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
