// Escapes text for LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// A UTF-8 text as LaTeX source that prints it. \ { } $ & # _ % ^ ~ < > | [ ] * ` are escaped, quotation marks become
/// typographic, and <= and >= one sign. Accented letters are unchanged, because LaTeX reads UTF-8. Some symbols (±, ×,
/// Greek letters and similar) become their commands, a blank between a number and % becomes narrow, and a hyphen before
/// a number becomes a minus sign, but not in 2026-11-27 and 1e-05. Any other character is written with its code point
/// as \heedletter{4E2D}, which latex_letters defines.
std::string latex_text(std::string_view text);

/// `latex_text` for a heading. Words of more than 24 bytes can be broken, after a sign such as _ if possible.
std::string latex_title(std::string_view text);

/// The text with a capital letter at the start of each sentence: "Position = none gains". Reports name arms by their
/// labels, which begin with small letters. The names of options and metrics (val_loss, train.steps) stay.
std::string with_capitals(std::string text);

/// For a document's preamble: fonts, and \heedletter. xelatex and lualatex print the letter if the font has it.
/// Otherwise [U+4E2D] is printed, so the source compiles with every engine.
extern const std::string_view latex_letters;

} // namespace heed
