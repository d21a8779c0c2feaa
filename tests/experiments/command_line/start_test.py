#!/usr/bin/env python3
"""`train.start`: runs from the weights of finished runs, by the commands. Prints TAP. Usage: start_test.py HEED"""

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
CONFIG = """name = "start"
[task]
kind = "copy"
validation = 32
[task.copy]
length = 6
symbols = 5
[model]
layers = 1
width = 16
heads = 2
[position]
kind = "learned"
[train]
steps = 20
batch = 8
shards = 2
evaluate_every = 10
"""
LATER = CONFIG.replace('name = "start"', 'name = "later"')
SWEEP = """
[sweep]
seeds = [3, 4]
[[sweep.block]]
kind = "list"
arms.warm = {{ "train.start" = "{0}" }}
arms.bare = {{ "train.start" = "{0}", "train.start_weights" = "matching", "position.kind" = "none" }}
"""


def heed(*words: str) -> subprocess.CompletedProcess:
    return attempt([HEED, *words])


class Start(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.out = self.place / "runs"
        self.start = self.made(CONFIG)

    def file(self, text: str) -> str:
        path = self.place / "config.toml"
        path.write_text(text)
        return str(path)

    def execute(self, text: str, *overrides: str) -> subprocess.CompletedProcess:
        return heed("run", self.file(text), *overrides, "--out", str(self.out), "--threads", "1")

    def made(self, text: str, *overrides: str) -> pathlib.Path:
        """The folder of the one run that a config adds."""
        before = set(self.out.glob("*/manifest.json"))
        done = self.execute(text, *overrides)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (manifest,) = set(self.out.glob("*/manifest.json")) - before
        return manifest.parent

    def from_start(self, *overrides: str) -> pathlib.Path:
        return self.made(LATER, f"train.start={self.start.name[:7]}", *overrides)

    def loss(self, run: pathlib.Path) -> float:
        lines = [json.loads(line) for line in run.joinpath("metrics.jsonl").read_text().splitlines()]
        return [line["val_loss"] for line in lines if "val_loss" in line][-1]

    def test_no_steps_give_the_results_of_the_start(self) -> None:
        run = self.from_start("train.steps=0")
        self.assertEqual(self.loss(run), self.loss(self.start))
        self.assertIn(f'start = "{self.start.name}"\n', run.joinpath("config.toml").read_text())
        self.assertIn(f"starts from run {self.start.name} (step 20): ", run.joinpath("log.txt").read_text())
        manifest = json.loads(run.joinpath("manifest.json").read_text())
        self.assertEqual(manifest["start"]["run"], self.start.name)
        self.assertIn(f'start_checksum = "{manifest["start"]["checksum"]}"\n', run.joinpath("config.toml").read_text())
        shown = heed("show", run.name, "--out", str(self.out))
        self.assertIn(f"# starts from run {self.start.name} (step 20): ", shown.stdout)
        found = heed("runs", "--out", str(self.out), "--where", f"train.start = '{self.start.name}'", "--columns", "id")
        self.assertIn(run.name, found.stdout)
        self.assertIn("train.start", heed("diff", run.name, self.start.name, "--out", str(self.out)).stdout)

    def test_another_precision_is_converted(self) -> None:
        run = self.from_start("train.steps=0", "precision=float64")
        self.assertAlmostEqual(self.loss(run), self.loss(self.start), places=5)
        self.assertIn("converted from float32 to float64 (exactly)", run.joinpath("log.txt").read_text())

    def test_a_rerun_reads_the_start_and_compares_its_checksum(self) -> None:
        run = self.from_start("train.steps=6")
        again = heed("rerun", run.name, "--out", str(self.out), "--threads", "2")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertTrue(again.stdout.startswith("the same bits: "), again.stdout)
        other = self.made(CONFIG, "seed=8")
        name = "checkpoint-000020.safetensors"
        shutil.copy(other / name, self.start / name)
        again = heed("rerun", run.name, "--out", str(self.out))
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("its weights are not those that were planned", again.stderr)
        # The same command now makes another run: one content under one ID.
        self.assertNotEqual(self.from_start("train.steps=6").name, run.name)
        shutil.rmtree(self.start)
        again = heed("rerun", run.name, "--out", str(self.out))
        self.assertIn("there is no such run", again.stderr)

    def test_a_sweep_of_starts_and_its_report(self) -> None:
        done = self.execute(LATER + SWEEP.format(self.start.name[:6]), "train.steps=5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all 2 seeds of an arm start from the same run", " ".join(done.stderr.split()))
        text = " ".join(done.stdout.split())
        self.assertIn(f"starts: the runs of warm, bare start from the weights of run {self.start.name}.", text)
        self.assertIn(
            'In the runs of bare, the same weights compute something else than in their start: position.kind "learned" '
            '-> "none".',
            text,
        )
        self.assertIn("All seeds share this start", text)
        self.assertEqual(heed("report", str(self.out), "--format", "markdown").returncode, 0)
        report = next(self.out.glob("sweeps/later-*/report.md")).read_text()
        self.assertIn("All seeds share this start", " ".join(report.split()))

    def test_what_cannot_be_is_refused_before_any_run(self) -> None:
        config = self.file(LATER)
        for command in ("check", "plan"):
            for override, reason in (
                ("train.start=zz", "command line: train.start"),
                (f"train.start={self.start.name}", None),
            ):
                done = heed(command, config, override, "--out", str(self.out))
                self.assertEqual(done.returncode, 2 if reason else 0, done.stdout + done.stderr)
                self.assertIn(reason or "", done.stderr)
            done = heed(command, config, f"train.start={self.start.name}", "attention.window=3", "--out", str(self.out))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            said = " ".join((done.stdout + done.stderr).split())
            self.assertIn("the same weights compute something else here: attention.window 0 -> 3", said)
            done = heed(command, config, f"train.start={self.start.name}", "model.heads=4", "--out", str(self.out))
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("it has 2 heads and this model 4", " ".join(done.stderr.split()))
        refused = heed("check", config, f"train.start={self.start.name}", "model.width=32", "--out", str(self.out))
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("have other shapes", refused.stderr)
        refused = heed("inspect", config, f"train.start={self.start.name}", "--out", str(self.out))
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("starts from run", refused.stderr)


if __name__ == "__main__":
    run_case(Start)
