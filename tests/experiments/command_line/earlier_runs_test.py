#!/usr/bin/env python3
"""Runs that an earlier version made, before some options were there, are shown, reported, gone on with and rerun.
Prints TAP. Usage: earlier_runs_test.py HEED FIXTURES"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run_case  # noqa: E402

HEED = sys.argv[1]
EARLIER = pathlib.Path(sys.argv[2]) / "earlier_runs"


def read_manifest(folder: pathlib.Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


class EarlierRuns(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.out = pathlib.Path(place.name) / "runs"
        shutil.copytree(EARLIER / "runs", self.out)
        found = {read_manifest(m.parent)["outcome"]: m.parent for m in self.out.glob("*/manifest.json")}
        self.finished, self.interrupted = found["finished"], found["interrupted"]

    def heed(self, *words: str) -> subprocess.CompletedProcess:
        done = attempt([HEED, *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_they_lack_an_option_that_came_later(self) -> None:
        for folder in (self.finished, self.interrupted):
            self.assertNotIn("prefix", (folder / "config.toml").read_text())
        (plan,) = self.out.glob("sweeps/*/plan.json")
        self.assertNotIn("prefix", plan.read_text())

    def test_they_are_listed_and_shown_with_the_option(self) -> None:
        listed = self.heed("runs", str(self.out))
        self.assertIn(self.finished.name[:6], listed.stdout)
        self.assertIn(self.interrupted.name[:6], listed.stdout)
        self.assertIn("interrupted", listed.stdout)
        self.assertNotIn("another version", listed.stdout + listed.stderr)
        shown = self.heed("show", self.finished.name, "--out", str(self.out))
        self.assertIn(f"run {self.finished.name}: finished", shown.stdout)
        self.assertIn("prefix = 0", shown.stdout)
        condition = "attention.prefix = 0 and state = 'finished'"
        found = self.heed("runs", str(self.out), "--where", condition)
        self.assertIn(self.finished.name[:6], found.stdout)

    def test_they_are_reported(self) -> None:
        self.heed("report", str(self.out), "--format", "json")
        (written,) = self.out.glob("sweeps/*/report.json")
        progress = json.loads(written.read_text())["progress"]
        self.assertEqual((progress["finished"], progress["left_out"]), (1, 0), progress)

    def test_they_are_gone_on_with(self) -> None:
        untouched = {file.name: file.read_bytes() for file in self.finished.iterdir()}
        step = read_manifest(self.interrupted)["step"]
        before = [line for line in (self.interrupted / "metrics.jsonl").read_text().splitlines()
                  if json.loads(line)["step"] <= step]
        sweeps = {path.name for path in (self.out / "sweeps").iterdir()}
        self.heed("run", str(EARLIER / "earlier.toml"), "--threads", "1", "--out", str(self.out))
        self.assertEqual({path.name for path in (self.out / "sweeps").iterdir()}, sweeps)
        self.assertEqual(len(list(self.out.glob("*/manifest.json"))), 2)
        self.assertEqual({name: (self.finished / name).read_bytes() for name in untouched}, untouched)
        manifest = read_manifest(self.interrupted)
        self.assertEqual((manifest["outcome"], manifest["starts"], manifest["step"]), ("finished", 2, 4000))
        after = (self.interrupted / "metrics.jsonl").read_text().splitlines()
        self.assertEqual(after[: len(before)], before)
        self.assertGreater(len(after), len(before))

    def test_a_finished_one_can_be_run_again(self) -> None:
        # On another kind of CPU, the bits may differ; that it can be said is the point.
        again = attempt([HEED, "rerun", self.finished.name, "--out", str(self.out), "--threads", "1"])
        self.assertIn(again.returncode, (0, 1), again.stdout + again.stderr)
        self.assertTrue(again.stdout.startswith(("the same bits: ", "different:")), again.stdout + again.stderr)


if __name__ == "__main__":
    run_case(EarlierRuns)
