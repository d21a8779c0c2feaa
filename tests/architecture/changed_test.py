#!/usr/bin/env python3
"""Which tests `./heed test --changed` takes for which files. Prints TAP. Usage: changed_test.py BUILD"""

import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import changed  # noqa: E402
from sources import ROOT, included  # noqa: E402
from tap import run_case  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
TESTS = changed.tests_of(BUILD)
# They read all files, and take a second.
ALWAYS = {test.name for test in TESTS if test.suite == "architecture"}


def chosen(*names):
    """({names of tests}, words of variants, test files)"""
    why, words, files = changed.affected(TESTS, names, BUILD)
    return {test.name for test in why} - ALWAYS, words, files


class Changed(unittest.TestCase):
    def test_every_file_of_the_program_is_of_a_room_and_every_room_runs_its_suite(self):
        files = {}
        for top in changed.PROGRAM:
            for file in set((ROOT / top).rglob("*.?pp")) - set((ROOT / top).rglob("pch/*")):
                files[changed.room(file.relative_to(ROOT))] = str(file.relative_to(ROOT))
        self.assertGreater(len(files), 20)
        suites = {test.suite for test in TESTS}
        for room, file in files.items():
            why, _, _ = changed.affected(TESTS, [file, "heed"], BUILD)  # a second file: this is no edit of a variant
            suite = room.split("/")[-1]
            self.assertIn(suite if suite in suites else "command_line", {test.suite for test in why}, file)

    def test_what_a_source_includes_is_found_in_the_checkout_alone(self):
        found = {str(file.relative_to(ROOT)) for file in included(ROOT / "layers/attention/multi_head.cpp")}
        self.assertLessEqual({"layers/attention/attention.hpp", "layers/module.hpp", "autograd/tape.hpp"}, found)
        self.assertTrue(all(name.endswith(".hpp") for name in found))

    def test_rooms_below_do_not_run(self):
        names, _, _ = chosen("experiments/report/csv.cpp")
        self.assertLessEqual({"report", "results", "sweeps", "browser"}, names)
        self.assertFalse({"autograd", "layers", "models", "training", "statistics"} & names)

    def test_a_test_file_runs_its_cases(self):
        self.assertEqual(chosen("tests/experiments/report/csv_test.cpp"), ({"report"}, set(), {"csv_test"}))
        self.assertEqual(chosen("tests/experiments/report/awkward_report.hpp")[::2], ({"report"}, set()))

    def test_a_script_runs_with_what_it_imports(self):
        self.assertEqual(chosen("tests/endurance/kills_test.py")[0], {"kills"})
        self.assertLessEqual({"kills", "sweeps", "browser", "guide"}, chosen("tests/tap.py")[0])

    @unittest.skipUnless((BUILD / "heed").is_file(), "its variants and defaults are the program's")
    def test_a_variant_runs_what_names_it_or_tries_its_family(self):
        names, words, files = chosen("layers/attention/scores/l1.cpp")
        self.assertEqual(words, {"l1"})
        self.assertLessEqual({"layers", "layers_f32", "models", "training", "guide"}, names)
        self.assertFalse({"system", "results", "browser", "kills"} & names)
        self.assertLessEqual({"attention_contract_test", "laws_test", "option_effect_test", "pairs_test"}, files)
        names, words, files = chosen("layers/attention/scores/scaled_dot.cpp")  # a default
        self.assertEqual((words, files), (set(), set()))
        self.assertIn("kills", names)

    def test_pages_configurations_and_fixtures_run_what_reads_them(self):
        self.assertEqual(chosen("docs/tutorial.md")[0], {"guide", "install"})
        self.assertIn("guide", chosen("configs/quickstart.toml")[0])
        self.assertLessEqual({"layers", "layers_f32"}, chosen("tests/fixtures/multihead_attention.json")[0])

    def test_all_run_where_it_is_unsure(self):
        for name in ("meson.build", "layers/meson.build", "autograd/pch/external.hpp", "tests/new_kind_of_file.dat"):
            with self.assertRaises(changed.Unsure, msg=name):
                chosen(name)

    @unittest.skipUnless((ROOT / ".git").exists(), "what has changed is what git says")
    def test_a_commit_that_is_none_is_named(self):
        done = subprocess.run([sys.executable, "-B", changed.__file__, str(BUILD), "no-such-commit"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-commit", done.stderr)


run_case(Changed)
