"""Writes a C++ source that tells Unicode's punctuation, symbols and numbers: unicode_categories.py OUTPUT

The categories are those of Python's unicodedata.
"""
import sys
import unicodedata

FUNCTIONS = {"is_punctuation": "P", "is_symbol": "S", "is_number": "N"}


def ranges(category):
    """First and last code points of each run of a general category."""
    found = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != category:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def main():
    lines = [f"// Unicode {unicodedata.unidata_version}, made by unicode_categories.py.",
             '#include "experiments/metrics/text/translation_scores.hpp"', "", "#include <algorithm>",
             "#include <iterator>", "",
             "namespace heed {", "", "namespace {", "", "struct Range {", "  char32_t first, last;", "};", "",
             "bool among(const Range* begin, const Range* end, char32_t c) {",
             "  const Range* after = std::upper_bound(begin, end, c, [](char32_t x, const Range& r) {",
             "    return x < r.first;", "  });", "  return after != begin && c <= std::prev(after)->last;", "}", ""]
    for function, category in FUNCTIONS.items():
        numbers = ", ".join(f"{{{first:#x}, {last:#x}}}" for first, last in ranges(category))
        lines += [f"constexpr Range {function}_ranges[] = {{{numbers}}};"]
    lines += ["", "} // namespace", ""]
    for function in FUNCTIONS:
        lines += [f"bool {function}(char32_t c) {{",
                  f"  return among(std::begin({function}_ranges), std::end({function}_ranges), c);", "}"]
    lines += ["", "} // namespace heed", ""]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


main()
