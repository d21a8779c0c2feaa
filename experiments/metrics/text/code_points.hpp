// Unicode code points of a text, and their categories, for the translation metrics.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Decodes UTF-8 to code points. Each byte that is not valid UTF-8 becomes U+FFFD, because a model may output any
/// bytes.
std::u32string code_points(std::string_view text);

/// Is it Unicode white space, as in Python's str.split()? This includes U+001C to U+001F, U+0085, U+00A0 and U+3000.
bool is_white_space(char32_t character);

/// Is it in Unicode's general category P, S or N? The Unicode version is that of the Python that built the program.
bool is_punctuation(char32_t character);
bool is_symbol(char32_t character);
bool is_number(char32_t character);

} // namespace heed
