// Text as the metrics of translations count it.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// UTF-8 as code points; each byte that is not UTF-8 becomes U+FFFD, since what a model puts out may be anything.
std::u32string code_points(std::string_view text);

/// Unicode's white space, as Python's str.split() takes it: with U+001C to U+001F, U+0085, U+00A0 and U+3000.
bool is_white_space(char32_t character);

/// Unicode's general categories P, S and N, as the Python that built the program knows them.
bool is_punctuation(char32_t character);
bool is_symbol(char32_t character);
bool is_number(char32_t character);

} // namespace heed
