// Precompiled header of the engine, the layers and the models: the external headers that most of their sources include.
// It has no headers of the project, because a change to one would rebuild everything.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
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
#include <xsimd/xsimd.hpp>
