// Catch2, whose headers and names differ between its versions 2 and 3: tests include this file, and use version 2's
// names.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::StartsWith;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
} // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
