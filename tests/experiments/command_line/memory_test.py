#!/usr/bin/env python3
"""The memory that `heed plan` foretells, against what the run then takes. Prints TAP. Usage: memory_test.py HEED"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import run, run_case  # noqa: E402

HEED = sys.argv[1]
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
CONFIG = """name = "memory"
[task]
kind = "copy"
validation = 64
[task.copy]
length = {length}
symbols = 20
[model]
width = {width}
layers = 4
heads = 4
[attention]
score = "{score}"
normalizer = "{normalizer}"
[position]
kind = "{position}"
[train]
steps = 2
batch = 16
optimizer = "{optimizer}"
"""


def peak(command: list[str]) -> float:
    """Bytes that the largest process of the command had in memory at once."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise AssertionError(f"{command} ended with {status}")
    return usage.ru_maxrss * 1024.0


class Memory(unittest.TestCase):
    def check(self, threads: int, length: int = 60, normalizer: str = "softmax", position: str = "sinusoidal",
              more: str = "", **config):
        config |= {"length": length, "normalizer": normalizer, "position": position}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "memory.toml"
            file.write_text(CONFIG.format(**config) + more)
            words = [str(file), "--threads", str(threads)]
            plan = run([HEED, "plan", *words, "--no-probe", "--out", folder])
            amount, unit = re.search(r"reference .* ([0-9.]+) (B|kB|MB|GB) ", plan).groups()
            foretold = float(amount) * UNITS[unit]
            taken = peak([HEED, "run", *words, "--out", folder])
            self.assertLess(abs(foretold - taken), 0.1 * taken, f"plan says {foretold:.4g} B, the run took {taken:.4g}")

    def test_one_thread(self):
        self.check(1, width=256, score="scaled_dot", optimizer="adamw")

    def test_two_threads(self):
        self.check(2, width=256, score="scaled_dot", optimizer="adamw")

    def test_another_score_and_optimizer(self):
        self.check(1, width=192, score="additive", optimizer="sgd")

    def test_attention_in_blocks(self):
        self.check(1, length=160, normalizer="sparsemax", position="shaw", width=128, score="scaled_dot",
                   optimizer="adamw")

    def test_recurrences(self):
        more = '[[block.override]]\nlayers = [0, 1, 2]\nmixer.kind = "mamba2"\n'
        self.check(1, length=160, width=128, score="scaled_dot", optimizer="adamw", more=more)


if __name__ == "__main__":
    run_case(Memory)
