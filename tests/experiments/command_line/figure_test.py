#!/usr/bin/env python3
"""`heed report --figure`: a figure as a picture, in the format that its name ends in. Prints TAP. Usage: figure_test.py
HEED"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run_case  # noqa: E402

HEED = sys.argv[1]
CONFIG = """name = "figures"
[task]
kind = "copy"
validation = 16
[task.copy]
length = 5
symbols = 4
[model]
width = 8
heads = 1
layers = 1
[train]
steps = 4
batch = 4
evaluate_every = 2
[sweep]
seeds = [0, 1]
[[sweep.block]]
grid = { "attention.score" = ["additive", "dot"] }
"""
# In place of librsvg's program: it says how it was called, and repeats what it got.
CONVERTER = """#!/bin/sh
echo "$@"
cat
"""


@functools.cache
def trained() -> tempfile.TemporaryDirectory:
    """A folder with a sweep in runs/, and a converter in programs/."""
    folder = tempfile.TemporaryDirectory()
    place = pathlib.Path(folder.name)
    (place / "figures.toml").write_text(CONFIG)
    done = attempt([HEED, "run", str(place / "figures.toml"), "--out", str(place / "runs")])
    assert done.returncode == 0, done.stderr
    (place / "programs").mkdir()
    (place / "programs" / "rsvg-convert").write_text(CONVERTER)
    (place / "programs" / "rsvg-convert").chmod(0o755)
    return folder


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        self.place = pathlib.Path(trained().name)
        self.out = str(self.place / "runs")
        self.with_converter = {**os.environ, "PATH": f"{self.place}/programs:{os.environ['PATH']}"}

    def report(self, *words: str, converter: bool = True) -> subprocess.CompletedProcess:
        environment = self.with_converter if converter else {**os.environ, "PATH": "/nowhere"}
        return attempt([HEED, "report", self.out, *words], env=environment)

    def test_a_figure_is_written_beside_the_plan(self) -> None:
        for name in ("differences", "val-loss-by-step"):
            done = self.report("--figure", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            file = pathlib.Path(done.stdout.strip())
            self.assertEqual(file.name, f"{name}.svg")
            self.assertEqual(file.parent.parent.name, "sweeps")
            texts = "".join(xml.etree.ElementTree.fromstring(file.read_text()).itertext())
            self.assertIn("score = additive", texts)
            self.assertIn("loss", texts)

    def test_the_name_of_the_file_decides_on_the_format(self) -> None:
        for ending, words in (("pdf", "--format pdf"), ("png", "--format png --zoom 2")):
            file = self.place / f"figure.{ending}"
            done = self.report("--figure", "differences", "--output", str(file))
            self.assertEqual(done.returncode, 0, done.stderr)
            first, rest = file.read_text().split("\n", 1)
            self.assertEqual(first, words)
            self.assertTrue(rest.startswith("<svg "))
        done = self.report("--figure", "differences", "--output", str(self.place / "figure.jpg"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(".svg, .pdf or .png", done.stderr)

    def test_without_the_converter_it_says_what_to_install(self) -> None:
        done = self.report("--figure", "differences", "--output", str(self.place / "other.pdf"), converter=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("librsvg2-bin", done.stderr)
        self.assertFalse((self.place / "other.pdf").exists())
        self.assertEqual(self.report("--figure", "differences", "--output", "-", converter=False).stdout[:5], "<svg ")

    def test_dark_paper_has_other_colours_only(self) -> None:
        light, dark = (self.report("--figure", "differences", "--output", "-", *words).stdout for words in ((), ("--dark",)))
        self.assertNotEqual(light, dark)
        self.assertEqual(light.count("<path"), dark.count("<path"))

    def test_what_does_not_fit_is_refused(self) -> None:
        for words, part in ((("--figure", "diferences"), "figures: differences, val-loss-by-step"),
                            (("--figure", "differences", "--format", "latex"), "leave out --format"),
                            (("--figure", "differences", "--json"), "leave out --format"),
                            (("--dark",), "--dark does nothing without --figure")):
            done = self.report(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)

    def test_a_picture_of_somebody_else_is_not_replaced(self) -> None:
        file = self.place / "mine.svg"
        file.write_text("<svg>mine</svg>")
        self.assertEqual(self.report("--figure", "differences", "--output", str(file)).returncode, 2)
        self.assertEqual(file.read_text(), "<svg>mine</svg>")
        self.assertEqual(self.report("--figure", "differences", "--output", str(file), "--force").returncode, 0)
        self.assertEqual(self.report("--figure", "differences", "--output", str(file)).returncode, 0)


if __name__ == "__main__":
    run_case(Figures)
