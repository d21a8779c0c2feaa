#!/usr/bin/env python3
"""A decoder with three blocks of gated linear attention to one of attention, through the commands. Prints TAP.

Usage: hybrid_test.py HEED
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run_case  # noqa: E402

HEED = sys.argv[1]
CONFIG = """name = "hybrid"
[task]
kind = "text"
[data]
path = "{text}"
[model]
layers = 4
width = 16
heads = 2
[mixer]
kind = "gla"
[[block.override]]
every = 4
mixer.kind = "attention"
[train]
steps = {steps}
batch = 4
evaluate_every = 6
checkpoint_every = 6
"""


class Hybrid(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        text = self.place / "text.txt"
        text.write_text("to be or not to be, that is the question. " * 60)
        self.config = self.place / "config.toml"
        self.config.write_text(CONFIG.format(text=text, steps=12))

    def heed(self, *words: str) -> str:
        done = attempt([HEED, *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def trained(self, out: str, *overrides: str) -> pathlib.Path:
        self.heed("run", str(self.config), *overrides, "--out", str(self.place / out))
        (manifest,) = self.place.joinpath(out).glob("*/manifest.json")
        return manifest.parent

    def test_all_commands_serve_a_hybrid(self) -> None:
        run = self.trained("runs")
        out = ["--out", str(run.parent)]
        text = self.heed("generate", run.name, "--prompt", "to be ", "--tokens", "40", *out)
        self.assertTrue(text.startswith("to be "), text)
        self.assertEqual(text, self.heed("generate", run.name, "--prompt", "to be ", "--tokens", "40", *out))
        inspected = json.loads(self.heed("inspect", run.name, "--json", *out))["result"]
        self.assertEqual([head["attention"] for head in inspected["heads"]],
                         [name for name in (*(f"blocks.{i}.mixer" for i in range(3)), "blocks.3.attention")
                          for _ in range(2)])
        for head in inspected["heads"]:
            self.assertEqual(head["score_variance"] is None, "mixer" in head["attention"], head)
            for measured in ("half_life", "state_norm", "state_rank"):
                self.assertEqual(head[measured] is None, "mixer" not in head["attention"], head)
            self.assertGreater(head["entropy"], 0)
            self.assertIsNotNone(head["importance"])
        seen = json.loads(self.heed("attend", run.name, "--input", "to be or", "--json", *out))["result"]
        for head in seen["examples"][0]["heads"]:
            for query, row in enumerate(head["weights"]):
                self.assertEqual(set(row[query + 1 :]) | {0}, {0})  # no later token
        names = " ".join(module["module"] for module in inspected["modules"])
        self.assertIn("blocks.2.mixer.decay.gate", names)
        self.assertNotIn("blocks.3.mixer", names)
        self.assertIn("val_loss", self.heed("evaluate", run.name, *out))
        self.assertIn('layers = [3]\nmixer.kind = "attention"', self.heed("show", run.name, *out))

    def test_an_interrupted_hybrid_goes_on_with_the_same_bits(self) -> None:
        out = self.place / "runs"
        longer = "train.steps=120"
        process = subprocess.Popen([HEED, "run", str(self.config), longer, "--out", str(out)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not list(out.glob("*/checkpoint-000006*")):
            pass
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL)
        run = self.trained("runs", longer)
        again = self.heed("rerun", run.name, "--out", str(out))  # from the first step
        self.assertTrue(again.startswith("the same bits: "), again)

    def test_options_of_single_blocks_from_the_command_line_and_in_arms(self) -> None:
        text, out = self.config.read_text(), ["--out", str(self.place / "runs")]
        self.config.write_text(text.replace("every = 4", "layers = [1, 3]"))
        written = self.trained("runs")
        self.config.write_text(text)
        self.heed("run", str(self.config), "block[1].mixer.kind=attention", *out)  # the same run: nothing is trained
        self.assertEqual([manifest.parent for manifest in written.parent.glob("*/manifest.json")], [written])
        self.config.write_text(text + """[[sweep.block]]
arms.half = { "block.override" = [{ every = 2, "mixer.kind" = "attention" }] }
[[sweep.block]]
grid = { "block[0].mixer.kind" = ["attention", "hgrn2"] }
""")
        plan = json.loads(self.heed("plan", str(self.config), "--no-probe", "--json", *out))["result"]
        self.assertEqual([arm["label"] for arm in plan["arms"]],
                         ["reference", "half", "block 0: mixer = attention", "block 0: mixer = hgrn2"])
        self.assertEqual([arm["changes"] for arm in plan["arms"][1:]],
                         [[{"key": "block.override", "value": "every 2nd: mixer = attention"}],
                          *([{"key": "block[0].mixer.kind", "value": kind}] for kind in ("attention", "hgrn2"))])
        self.assertEqual(plan["runs"][1]["id"], written.name)
        report = self.heed("run", str(self.config), *out)
        for label in ("half", "block 0: mixer = attention", "block 0: mixer = hgrn2"):
            self.assertRegex(report, rf"\n  {label}  ")
        found = json.loads(self.heed("runs", "--where", "block[0].mixer.kind = 'hgrn2'", "--columns",
                                     "id,block[0].mixer.kind", "--json", *out))["result"]["runs"]
        self.assertEqual(len(found), 1, found)
        self.assertIn("block[0].mixer.kind", self.heed("diff", plan["runs"][0]["id"], plan["runs"][3]["id"], *out))
        refused = attempt([HEED, "check", str(self.config), "block[4].mixer.kind=gla"])
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("command line: block[4].mixer.kind names block 4, but model.layers is 4", refused.stderr)


run_case(Hybrid)
