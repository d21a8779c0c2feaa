// What most tests include from outside, read once for each program (see autograd/pch/engine.hpp). Catch2's header is
// not one of the project's that change.
#include <algorithm>
#include <cmath>
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
#include <vector>

#include <fmt/format.h>

#include "tests/catch.hpp"
