#!/usr/bin/env python3
"""Files in an output folder that claim any size: sparse files, which need no disk. Every command names them soon, with
little memory. Prints TAP. Usage: sizes_test.py HEED"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run_case  # noqa: E402

HEED = sys.argv[1]
GIB, TIB = 1 << 30, 1 << 40
CONFIG = """name = "sizes"
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
evaluate_every = 10
[sweep]
seeds = [0, 1]
"""


def measured(*words: str) -> tuple[int, str, float, float]:
    """The status, the output, the seconds and the peak memory in bytes of a command."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen([HEED, *words], stdout=output, stderr=output)
        _, status, usage = os.wait4(child.pid, 0)
        output.seek(0)
        text = output.read().decode()
    return os.waitstatus_to_exitcode(status), text, time.monotonic() - begin, usage.ru_maxrss * 1024.0


class Sizes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        place = pathlib.Path(folder.name)
        self.config = place / "sizes.toml"
        self.config.write_text(CONFIG)
        self.out = str(place / "runs")
        done = attempt([HEED, "run", str(self.config), "--out", self.out, "--jobs", "1"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.folder = next(path.parent for path in sorted(pathlib.Path(self.out).glob("*/manifest.json")))
        self.run_id = self.folder.name

    def commands(self) -> list[list[str]]:
        other = next(path.parent.name for path in pathlib.Path(self.out).glob("*/manifest.json")
                     if path.parent.name != self.run_id)
        of = ["--out", self.out]
        return [["runs", self.out], ["status", self.out], ["report", self.out], ["show", self.run_id, *of],
                ["diff", self.run_id, other, *of], ["export", *of, "--to", "csv"], ["inspect", self.run_id, *of],
                ["evaluate", self.run_id, *of]]

    def check_commands(self, file: str, size: int, words: str) -> None:
        _, _, _, base = measured("runs", self.out)
        os.truncate(self.folder / file, size)
        named = 0
        for command in self.commands():
            status, text, seconds, memory = measured(*command)
            self.assertIn(status, (0, 1, 2), (command, text))
            self.assertLess(memory, base + 100e6, command)
            self.assertLess(seconds, 30, command)  # reading what is claimed would take minutes, and forever
            named += words in text
        print(f"# {file} of {size} bytes: {named} of {len(self.commands())} commands name it")
        self.assertGreaterEqual(named, 4)

    def check_mended(self) -> None:
        status, text, _, _ = measured("run", str(self.config), "--out", self.out, "--jobs", "1")
        self.assertEqual(status, 0, text)
        status, text, _, _ = measured("runs", self.out)
        self.assertEqual((status, "excluded" in text), (0, False), text)
        self.assertEqual(list(self.folder.glob("*.damaged*")), [])

    def test_metrics_of_a_gibibyte(self) -> None:
        whole = (self.folder / "metrics.jsonl").read_text()
        self.check_commands("metrics.jsonl", GIB, "its last line is damaged")
        self.check_mended()
        self.assertEqual(len((self.folder / "metrics.jsonl").read_text().splitlines()), len(whole.splitlines()))

    def test_metrics_of_a_tebibyte(self) -> None:
        self.check_commands("metrics.jsonl", TIB, "and a run's metrics have at most 17179869184")
        self.check_mended()

    def test_a_manifest_of_a_gibibyte(self) -> None:
        self.check_commands("manifest.json", GIB, "and at most 67108864 make sense there")
        self.check_mended()

    def test_a_configuration_of_a_gibibyte(self) -> None:
        self.check_commands("config.toml", GIB, "1073741824 bytes, and at most 1048576 make sense there")

    def test_a_plan_of_half_a_gibibyte(self) -> None:
        plan = next(pathlib.Path(self.out).glob("sweeps/*/plan.json"))
        os.truncate(plan, GIB // 2)
        for command in (["status", self.out], ["report", self.out]):
            _, text, seconds, memory = measured(*command)
            self.assertIn("is zero, and a text has no such byte", text)
            self.assertLess(memory, 200e6, command)
            self.assertLess(seconds, 30, command)


if __name__ == "__main__":
    # A sparse file of any size is below the limit for files that some systems set.
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        print("1..0 # SKIP the size of files is limited (ulimit -f)")
        sys.exit(0)
    run_case(Sizes)
