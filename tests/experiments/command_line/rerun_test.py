#!/usr/bin/env python3
"""`heed rerun`: the same bits on another number of threads, and what it says of a run that was tampered with. Prints
TAP. Usage: rerun_test.py HEED"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run_case  # noqa: E402

HEED = sys.argv[1]
CONFIG = """name = "again"
[task]
kind = "copy"
validation = 32
[task.copy]
length = 6
symbols = 5
[model]
width = 16
heads = 2
[train]
steps = 20
batch = 8
shards = 2
evaluate_every = 10
"""


def heed(*words: str) -> subprocess.CompletedProcess:
    return attempt([HEED, *words])


class Rerun(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "again.toml").write_text(CONFIG)
        self.out = str(self.place / "runs")
        done = heed("run", str(self.place / "again.toml"), "--out", self.out, "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_folder = next(path.parent for path in pathlib.Path(self.out).glob("*/manifest.json"))

    def rerun(self, *words: str) -> subprocess.CompletedProcess:
        return heed("rerun", self.run_folder.name[:6], "--out", self.out, *words)

    def test_the_bits_are_the_same_on_two_threads(self) -> None:
        into = self.place / "again"
        again = self.rerun("--threads", "2", "--into", str(into))
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertTrue(again.stdout.startswith("the same bits: "), again.stdout)
        self.assertTrue((into / self.run_folder.name / "metrics.jsonl").exists())
        self.assertNotIn("warning", again.stderr)

    def test_a_metric_that_was_changed_is_named_and_the_status_is_1(self) -> None:
        lines = self.run_folder.joinpath("metrics.jsonl").read_text().splitlines()
        changed = [json.loads(line) for line in lines]
        at = next(i for i, line in enumerate(changed) if line["step"] == 20 and "val_loss" in line)
        changed[at]["val_loss"] += 1e-9
        lines[at] = json.dumps(changed[at])
        self.run_folder.joinpath("metrics.jsonl").write_text("\n".join(lines) + "\n")
        again = self.rerun()
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("different:", again.stdout)
        self.assertIn("metrics differ first at step 20: val_loss", again.stdout)
        self.assertEqual([path.name for path in pathlib.Path(self.out).iterdir() if path.name.startswith("heed-")], [])

    def test_another_cpu_in_the_manifest_is_a_warning(self) -> None:
        manifest = self.run_folder / "manifest.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"cpu": "an abacus", "kernels": "beads"}))
        again = self.rerun()
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn('warning: cpu was "an abacus"', again.stderr)
        self.assertIn('warning: kernels was "beads"', again.stderr)

    def test_a_folder_that_holds_the_run_already_is_refused(self) -> None:
        into = self.place / "again"
        self.assertEqual(self.rerun("--into", str(into)).returncode, 0)
        again = self.rerun("--into", str(into))
        self.assertEqual(again.returncode, 2, again.stdout + again.stderr)
        self.assertIn("again' holds this run already (finished); name an empty folder with --into", again.stderr)
        self.assertNotIn("the same bits", again.stdout)
        (into / self.run_folder.name / "manifest.json").unlink()  # a checkpoint, and who knows whose
        self.assertIn("holds this run already", self.rerun("--into", str(into)).stderr)

    def test_the_run_itself_is_not_touched(self) -> None:
        before = {path.name: path.read_bytes() for path in self.run_folder.iterdir()}
        self.assertEqual(self.rerun().returncode, 0)
        self.assertEqual({path.name: path.read_bytes() for path in self.run_folder.iterdir()}, before)
        refused = self.rerun("--into", self.out)
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("the folder of the run itself", refused.stderr)


if __name__ == "__main__":
    run_case(Rerun)
