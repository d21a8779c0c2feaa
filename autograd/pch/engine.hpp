// What most sources of the engine, of layers and of models include from outside, read once for each library. Headers of
// the project don't belong here: a change of one would build everything anew.
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
