"""Writes files into a C++ source, so that the program carries them.

Usage: embed.py OUTPUT NAME=FILE ...

Each NAME becomes a std::string_view in heed::page_files with its files one after the other, as they are given.
"""

import sys

PIECE = 8000  # characters of a literal: compilers promise to take 65,536 bytes


def literals(text):
    delimiter = "page"
    assert f"){delimiter}\"" not in text
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    return "\n".join(f'R"{delimiter}({piece}){delimiter}"' for piece in pieces)


def main(output, texts):
    out = '#include "experiments/report/page_files.hpp"\n\nnamespace heed::page_files {\n'
    contents = {}
    for text in texts:
        name, file = text.split("=", 1)
        with open(file, encoding="utf-8") as source:
            contents[name] = contents.get(name, "") + source.read()
    for name, content in contents.items():
        out += f"\nconst std::string_view {name} =\n{literals(content)};\n"
    with open(output, "w", encoding="utf-8") as target:
        target.write(out + "\n} // namespace heed::page_files\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
