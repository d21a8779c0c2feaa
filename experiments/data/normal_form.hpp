// Unicode normalisation, and warnings about texts that look alike but have different code points, such as "é" as one
// character and as "e" with a combining accent.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// NFC, Unicode's composed form (Unicode Standard Annex 15). Empty if the text is not UTF-8.
std::string composed(std::string_view text);

/// A warning about texts that have the same NFC but different code points: "3 tokens are there in several forms of
/// Unicode that look alike, such as ...". Empty if there are none.
/// @param texts  calls its argument with each text once
/// @param what   "token", "label"
std::string look_alike_warning(const std::function<void(const std::function<void(std::string_view)>&)>& texts,
                               std::string_view what);

} // namespace heed
