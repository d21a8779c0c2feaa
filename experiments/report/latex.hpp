// Texts within LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// A UTF-8 text as LaTeX source that prints it: \ { } $ & # _ % ^ ~ < > | " are escaped. Letters with accents stay,
/// since LaTeX reads UTF-8; some signs (±, ×, Greek letters and the like) become their commands; any other character is
/// written by its number, as in [U+4E2D], so that the source compiles with every engine.
std::string latex_text(std::string_view text);

} // namespace heed
