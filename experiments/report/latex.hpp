// The parts of a LaTeX report (tables, figures) and their common functions.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

#include <cstddef>
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

/// The table of a metric: with the notes on its columns, or with a reference to the table that has them.
std::string latex_table(const ReportData& report, bool with_notes);
/// Of a report with one arm: all that its runs measured.
std::string latex_single(const ReportData& report);
std::string latex_figure(const ReportData& report, const document::Figure& figure);

/// Numbers in math mode, so that a minus sign is typeset correctly and 1.2e-07 becomes a power of ten.
std::string latex_maths(const std::string& text);

/// A name for \\label, unique in the document: "tab:quickstart-val-loss". `kind` is "tab" or "fig".
std::string latex_label(const ReportData& report, const std::string& kind, const std::string& what);
/// The number of characters of the longest name of an arm.
std::size_t longest_name(const ReportData& report);
/// Names up to this number of characters stand beside a table's numbers or a plot without being broken into lines.
inline constexpr std::size_t short_name = 24;

} // namespace heed
