#include "experiments/report/latex.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <map>

namespace heed {

namespace {

/// The code point that begins at `at`, which moves past it; bytes that are not UTF-8 are U+FFFD, one by one.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  const int more = first < 0x80 ? 0 : first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : -1;
  if (more < 0 || at + static_cast<std::size_t>(more) > text.size()) return 0xFFFD;
  std::uint32_t point = more == 0 ? first : first & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
    if ((byte & 0xC0U) != 0x80U) return 0xFFFD;
    point = point << 6U | (byte & 0x3FU);
  }
  at += static_cast<std::size_t>(more);
  return point;
}

const std::map<std::uint32_t, std::string_view>& commands() {
  // clang-format off
  static const std::map<std::uint32_t, std::string_view> table{
      {'\\', "\\textbackslash{}"}, {'{', "\\{"}, {'}', "\\}"}, {'$', "\\$"}, {'&', "\\&"}, {'#', "\\#"}, {'_', "\\_"},
      {'%', "\\%"}, {'^', "\\textasciicircum{}"}, {'~', "\\textasciitilde{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"}, {'|', "\\textbar{}"}, {'"', "\\textquotedbl{}"}, {'\n', " "}, {'\t', " "},
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

} // namespace

std::string latex_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const std::uint32_t point = next_code_point(text, at);
    const auto command = commands().find(point);
    if (command != commands().end()) out += command->second;
    else if ((point >= 0x20 && point < 0x7F) || (point >= 0xC0 && point <= 0x17F))
      out += text.substr(begin, at - begin);
    else out += fmt::format("[U+{:04X}]", point);
  }
  return out;
}

} // namespace heed
