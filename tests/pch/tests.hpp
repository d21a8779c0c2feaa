// Precompiled header of the tests: the external headers that most tests include, compiled once per program (see
// autograd/pch/external.hpp). Catch2's header does not change with the project's own headers.
#include <algorithm>
#include <cmath>
#include <cstdint>
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
