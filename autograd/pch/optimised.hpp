// Precompiled header of what is optimised: the engine, the layers, models and data (see external.hpp). It includes only
// what many of them need, because compiled it takes 100 MB.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
#include <xsimd/xsimd.hpp>
