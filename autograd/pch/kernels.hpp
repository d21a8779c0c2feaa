// Precompiled header of the engine and the layers (see external.hpp). What they do not need is not included: each header
// takes some of the 100 MB that this one takes when it is compiled.
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
