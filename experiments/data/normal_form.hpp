// Texts that look alike and are other code points: "é" as one character, and as "e" with an accent after it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// NFC, Unicode's composed form (Unicode Standard Annex 15). Empty for what is not UTF-8.
std::string composed(std::string_view text);

/// A warning about texts that differ in their code points only, and not in NFC: "3 tokens are there in several forms of
/// Unicode that look alike, such as ...". Empty where there are none.
/// @param texts  calls its argument with each text once
/// @param what   "token", "label"
std::string look_alike_warning(const std::function<void(const std::function<void(std::string_view)>&)>& texts,
                               std::string_view what);

} // namespace heed
