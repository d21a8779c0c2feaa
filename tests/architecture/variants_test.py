#!/usr/bin/env python3
"""What the build says of a variant that is not complete: a file without its word, a word without its file, a record of
another name, a record without a function. Usage: variants_test.py CHECKOUT"""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tap import attempt, run_case  # noqa: E402

CHECKOUT = pathlib.Path(sys.argv[1]).resolve()
MESON = (CHECKOUT / "layers" / "meson.build").read_text(encoding="utf-8")
FAMILIES = re.findall(r"\{'list' : '(\w+)', 'words' : \1,\s*'folder' : '([^']+)',\s*'header' : '[^']+',\s*"
                      r"'type' : '(\w+)',\s*'name' : '(\w+)'", MESON)
ARRAYS = re.compile(r"^(\w+) \+?= \[([^\]]*)\]$", re.M)


def words_of(family):
    """The words that meson.build lists for a family."""
    return [word for name, listed in ARRAYS.findall(MESON) if name == family for word in re.findall(r"'(\w+)'", listed)]


def check(checkout, family, words):
    name, folder, record_type, record = family
    return attempt(["python3", str(checkout / "layers" / "check_variants.py"), folder, record_type, record, name, *words])


class Variants(unittest.TestCase):
    def test_every_file_of_a_family_has_its_word_and_its_record(self):
        self.assertEqual(len(FAMILIES), 12, FAMILIES)
        for family in FAMILIES:
            self.assertTrue(words_of(family[0]), family)
            self.assertEqual(check(CHECKOUT, family, words_of(family[0])).stdout.strip(), "", family)

    def spoiled(self, change, words=()):
        """What is said of the scores after a change to a copy of their folder."""
        scores = next(family for family in FAMILIES if family[0] == "scores")
        with tempfile.TemporaryDirectory() as name:
            copy = pathlib.Path(name)
            shutil.copytree(CHECKOUT / "layers", copy / "layers")
            change(copy / "layers" / scores[1])
            result = check(copy, scores, [*words_of("scores"), *words])
        self.assertEqual(result.returncode, 1, result)
        return result.stdout.strip()

    def test_a_file_without_its_word(self):
        said = self.spoiled(lambda folder: (folder / "mine.cpp").write_text(""))
        self.assertEqual(said, "layers/attention/scores/mine.cpp has no word: add 'mine' to scores in layers/meson.build, "
                               "or remove the file")

    def test_a_word_without_its_file(self):
        said = self.spoiled(lambda folder: None, ["mine"])
        self.assertEqual(said, "layers/meson.build lists 'mine' in scores, but there is no file "
                               "layers/attention/scores/mine.cpp")

    def test_a_record_of_another_name(self):
        said = self.spoiled(lambda folder: (folder / "mine.cpp").write_text("extern const ScoreInfo score_other{};"),
                            ["mine"])
        self.assertIn("must define the record 'extern const ScoreInfo score_mine{...}'", said)
        self.assertIn("it defines score_other", said)

    def test_a_record_without_a_function_does_not_compile(self):
        program = """#include "layers/required_function.hpp"
int twice(int x) { return 2 * x; }
struct Record { int width; heed::RequiredFunction<int(int)> pair; };
const Record complete{.width = 1, .pair = twice};
const Record with_lambda{.width = 1, .pair = [](int x) { return x; }};
"""
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "record.cpp")
            compile_it = ["c++", "-std=c++20", "-fsyntax-only", f"-I{CHECKOUT}", str(file)]
            file.write_text(program)
            self.assertEqual(attempt(compile_it).returncode, 0)
            for wrong in ("const Record without{.width = 1};", "const Record null{.width = 1, .pair = nullptr};"):
                file.write_text(program + wrong)
                result = attempt(compile_it)
                self.assertNotEqual(result.returncode, 0, wrong)
                self.assertIn("deleted", result.stderr)
                if "nullptr" not in wrong:
                    self.assertIn("the record lacks this function", result.stderr)


run_case(Variants)
