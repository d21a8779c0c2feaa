#include "experiments/report/latex.hpp"

#include "experiments/config/values.hpp"
#include "experiments/system/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>

namespace heed {

namespace {

const std::map<std::uint32_t, std::string_view>& commands() {
  // clang-format off
  static const std::map<std::uint32_t, std::string_view> table{
      {'\\', "\\textbackslash{}"}, {'{', "\\{"}, {'}', "\\}"}, {'$', "\\$"}, {'&', "\\&"}, {'#', "\\#"}, {'_', "\\_"},
      {'%', "\\%"}, {'^', "\\textasciicircum{}"}, {'~', "\\textasciitilde{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"}, {'|', "\\textbar{}"}, {'\n', " "}, {'\t', " "},
      {'[', "{[}"}, {']', "{]}"}, {'*', "{*}"}, {'`', "\\textasciigrave{}"},
      {0xA0, "~"}, {0xB0, "$^\\circ$"}, {0xB1, "$\\pm$"}, {0xB2, "$^2$"}, {0xB3, "$^3$"}, {0xB5, "$\\mu$"},
      {0xB7, "$\\cdot$"}, {0xD7, "$\\times$"}, {0xF7, "$\\div$"}, {0x3B1, "$\\alpha$"}, {0x3B2, "$\\beta$"},
      {0x3B3, "$\\gamma$"}, {0x3B4, "$\\delta$"}, {0x3B5, "$\\varepsilon$"}, {0x3B7, "$\\eta$"}, {0x3B8, "$\\theta$"},
      {0x3BB, "$\\lambda$"}, {0x3BC, "$\\mu$"}, {0x3C0, "$\\pi$"}, {0x3C1, "$\\rho$"}, {0x3C3, "$\\sigma$"},
      {0x3C4, "$\\tau$"}, {0x3C6, "$\\varphi$"}, {0x2013, "--"}, {0x2014, "---"}, {0x2018, "`"}, {0x2019, "'"},
      {0x201C, "``"}, {0x201D, "''"}, {0x2026, "\\ldots{}"}, {0x2192, "$\\rightarrow$"}, {0x2212, "$-$"},
      {0x221A, "$\\surd$"}, {0x221E, "$\\infty$"}, {0x2260, "$\\neq$"}, {0x2264, "$\\leq$"}, {0x2265, "$\\geq$"}};
  // clang-format on
  return table;
}

/// Whether a hyphen between this character and a digit is a minus sign, not part of a date, a range or 1e-05.
bool is_before_sign(char c) { return std::string_view(" ([,=").find(c) != std::string_view::npos; }

/// Whether a quotation mark opens a quotation: at the beginning, and after a blank or an opening bracket.
bool opens(std::string_view text, const char* mark) {
  return mark == text.data() || std::string_view(" ([{\n\t").find(mark[-1]) != std::string_view::npos;
}

/// Accented letters that fonts with the encoding T1 contain.
bool is_accented(char32_t c) {
  return c >= 0xC0 && c <= 0x17E && c != 0x126 && c != 0x127 && c != 0x138 && c != 0x13F && c != 0x140 && c != 0x149 &&
         c != 0x166 && c != 0x167;
}

} // namespace

const std::string_view latex_letters = R"tex(\newif\ifheedunicode
\ifdefined\XeTeXversion\heedunicodetrue\fi
\ifdefined\directlua\heedunicodetrue\fi
\ifheedunicode\usepackage{fontspec}\else\usepackage[T1]{fontenc}\usepackage{textcomp}%
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}\fi
\newcommand*{\heednumber}[1]{{[}U+#1{]}}
\DeclareRobustCommand*{\heedletter}[1]{\ifheedunicode\iffontchar\font"#1 \symbol{"#1}\else\heednumber{#1}\fi%
  \else\heednumber{#1}\fi}
)tex";

std::string latex_text(std::string_view text) {
  std::string out;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char *p = text.data(), *end = p + text.size(); p != end;) {
    char32_t point = 0;
    const std::size_t size = decode_utf8(p, end, point);
    const auto command = commands().find(static_cast<std::uint32_t>(point));
    if (size == 0) out += "\\heedletter{FFFD}";
    else if (point == U'"') out += opens(text, p) ? "``" : "''";
    else if ((point == U'<' || point == U'>') && p + 1 != end && p[1] == '=') {
      out += point == U'<' ? "$\\leq$" : "$\\geq$";
      ++p; // the equals sign
    } else if (point == U' ' && !out.empty() && is_digit(out.back()) && p + 1 != end && p[1] == '%') out += "\\,";
    else if (command != commands().end()) out += command->second;
    else if (point == U'-' && p + 1 != end && is_digit(p[1]) && (p == text.data() || is_before_sign(p[-1])))
      out += "$-$";                                             // of a negative number
    else if (point == U'-' && out.ends_with('-')) out += "{}-"; // two hyphens would become a dash
    else if (point == U',' && out.ends_with(',')) out += "{},"; // two commas would become a quotation mark
    else if ((point >= 0x20 && point < 0x7F) || is_accented(point)) out.append(p, size);
    else if (is_command(point)) out += fmt::format("{{[}}U+{:04X}{{]}}", static_cast<std::uint32_t>(point));
    else out += fmt::format("\\heedletter{{{:04X}}}", static_cast<std::uint32_t>(point));
    p += std::max<std::size_t>(size, 1);
  }
  return out;
}

std::string latex_title(std::string_view text) {
  constexpr std::size_t long_word = 24, part = 12;
  std::string out;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, size);
    while (word.size() > long_word) {
      std::size_t cut = std::min(word.find_last_of("_-/.,:=+", long_word - 2) + 1, word.size()); // npos + 1 is 0
      if (cut < part / 2) cut = part;
      while (cut < word.size() && (static_cast<unsigned char>(word[cut]) & 0xC0) == 0x80) ++cut; // within a letter
      out += latex_text(word.substr(0, cut)) + "\\allowbreak{}";
      word.remove_prefix(cut);
    }
    out += latex_text(word);
    text.remove_prefix(size);
    if (!text.empty()) {
      out += ' ';
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string with_capitals(std::string text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool abbreviated = at > 3 && text[at - 4] == '.' && is_small(text[at - 3]); // "e.g. "
    const bool begins = at == 0 || (at > 1 && text.compare(at - 2, 2, ". ") == 0 && !abbreviated);
    if (!begins || !is_small(text[at])) continue;
    std::size_t end = at;
    while (end < text.size() && (is_small(text[end]) || text[end] == '-')) ++end;
    const bool is_word = end - at > 1 && (end == text.size() || std::string_view(" ,:;.").find(text[end]) != text.npos);
    const bool is_option = end + 1 < text.size() && text[end] == '.' && text[end + 1] != ' ';
    if (is_word && !is_option) text[at] = static_cast<char>(text[at] - 'a' + 'A');
  }
  return text;
}

} // namespace heed
