#!/usr/bin/env python3
"""CITATION.cff, meson.build and CHANGELOG.md state the same version, date and license. Usage: version_test.py CHECKOUT"""

import datetime
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1])
FILES = ("CITATION.cff", "meson.build", "CHANGELOG.md", "LICENSE", "docs/how-to/write-it-up.md")


def only(pattern: str, text: str) -> str:
    """The group of the pattern's first match at the beginning of a line; empty if there is none."""
    found = re.search(pattern, text, re.M)
    return found[1] if found else ""


def stated(texts: dict) -> dict:
    """{what: {file: its statement}} of the version, the date and the license."""
    citation, changes = texts["CITATION.cff"], texts["CHANGELOG.md"]
    release = r"^## (\d+\.\d+\.\d+) — \d{4}-\d\d-\d\d$", r"^## \d+\.\d+\.\d+ — (\d{4}-\d\d-\d\d)$"
    return {
        "version": {"CITATION.cff": only(r"^version: (\S+)$", citation),
                    "meson.build": only(r"^  version : '([^']+)',$", texts["meson.build"]),
                    "CHANGELOG.md": only(release[0], changes),
                    "docs/how-to/write-it-up.md": only(r"^  version = \{([^}]+)\},$", texts["docs/how-to/write-it-up.md"])},
        "date": {"CITATION.cff": only(r"^date-released: (\S+)$", citation), "CHANGELOG.md": only(release[1], changes)},
        "license": {"CITATION.cff": only(r"^license: (\S+)$", citation),
                    "meson.build": only(r"^  license : '([^']+)',$", texts["meson.build"]),
                    "LICENSE": only(r"\A(\S+) License$", texts["LICENSE"])},
    }


def complaints(texts: dict) -> list:
    found = []
    for what, statements in stated(texts).items():
        missing = [file for file, value in statements.items() if not value]
        found += [f"{file} states no {what}" for file in missing]
        if not missing and len(set(statements.values())) != 1:
            found.append(f"different {what}s: " + ", ".join(f"{value} in {file}" for file, value in statements.items()))
    return found


def read() -> dict:
    return {name: (CHECKOUT / name).read_text(encoding="utf-8") for name in FILES}


class Version(unittest.TestCase):
    def test_the_files_agree(self) -> None:
        self.assertEqual(complaints(read()), [])

    def test_releases_are_dated_from_the_newest_to_the_oldest(self) -> None:
        dates = [datetime.date.fromisoformat(date)
                 for date in re.findall(r"^##+ .*?(\d{4}-\d\d-\d\d)$", read()["CHANGELOG.md"], re.M)]
        self.assertGreater(len(dates), 1)
        self.assertEqual(dates, sorted(dates, reverse=True))

    def test_the_citation_has_its_fields(self) -> None:
        citation = read()["CITATION.cff"]
        for line in ("cff-version: 1.2.0", "type: software", 'title: "Heed"', '  - name: "The Heed developers"'):
            self.assertIn(line, citation.splitlines())

    def test_each_disagreement_is_found(self) -> None:
        for file, before, after, said in (
                ("CITATION.cff", "\nversion: ", "\nversion: 9", "different versions"),
                ("meson.build", "\n  version : '", "\n  version : '9", "different versions"),
                ("CHANGELOG.md", "\n## ", "\n## 9", "different versions"),
                ("CITATION.cff", "date-released: 2", "date-released: 3", "different dates"),
                ("CITATION.cff", "\nlicense: ", "\nlicense: L", "different licenses"),
                ("meson.build", "\n  license : '", "\n  license : 'L", "different licenses"),
                ("LICENSE", "MIT License", "L License", "different licenses"),
                ("CITATION.cff", "\nversion: ", "\nversions: ", "CITATION.cff states no version"),
                ("CHANGELOG.md", " — ", " - ", "CHANGELOG.md states no version")):
            texts = read()
            self.assertIn(before, texts[file], file)
            texts[file] = texts[file].replace(before, after)
            self.assertTrue(any(said in complaint for complaint in complaints(texts)), (file, complaints(texts)))


if __name__ == "__main__":
    run_case(Version)
