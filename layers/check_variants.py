"""Checks that each word of a family in meson.build has its file with its record, and each file its word. Prints a
sentence for each mistake. Usage: check_variants.py FOLDER TYPE NAME LIST WORD..."""

import pathlib
import re
import sys

folder, record_type, name, words_list, *words = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parent
place = root / folder
mistakes = []
for word in words:
    file = place / f"{word}.cpp"
    shown = file.relative_to(root.parent)
    if not file.is_file():
        mistakes.append(f"layers/meson.build lists '{word}' in {words_list}, but there is no file {shown}")
        continue
    record = f"{name}_{word}"
    found = re.findall(rf"\bextern\s+const\s+{record_type}\s+(\w+)", file.read_text(encoding="utf-8"))
    if record not in found:
        there = f"; it defines {', '.join(found)}" if found else ""
        mistakes.append(f"{shown} must define the record 'extern const {record_type} {record}{{...}}', named after its "
                        f"word in {words_list} (layers/meson.build){there}")
for file in sorted(place.glob("*.cpp")):
    if file.stem not in words:
        mistakes.append(f"{file.relative_to(root.parent)} has no word: add '{file.stem}' to {words_list} in "
                        "layers/meson.build, or remove the file")
print("\n".join(mistakes))
sys.exit(1 if mistakes else 0)
