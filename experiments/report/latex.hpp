// Texts within LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// A UTF-8 text as LaTeX source that prints it: \ { } $ & # _ % ^ ~ < > | " [ ] * ` are escaped. Letters with accents
/// stay, since LaTeX reads UTF-8; some signs (±, ×, Greek letters and the like) become their commands. Any other character
/// is written as \heedletter{4E2D}, by its number: latex_letters defines that.
std::string latex_text(std::string_view text);

/// For a document's preamble: fonts, and \heedletter. xelatex and lualatex print a letter where the font has it; elsewhere
/// stands [U+4E2D], so that the source compiles with every engine.
extern const std::string_view latex_letters;

} // namespace heed
