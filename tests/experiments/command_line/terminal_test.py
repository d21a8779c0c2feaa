#!/usr/bin/env python3
"""Texts of files that hold commands to terminals: none reaches a terminal, a log or a pipe of text. Prints TAP.
Usage: terminal_test.py HEED"""

import csv
import json
import os
import pathlib
import re
import sqlite3
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import attempt, run, run_case  # noqa: E402
from terminal import on_a_terminal  # noqa: E402

HEED = sys.argv[1]
# Heed's own colour, a title, an erased screen, carriage return, C1 in UTF-8, a changed direction.
COMMANDS = "\x1b[31mred\x1b]0;title\x07\x1b[2J\rback\u009b1A\u202eturned\x7f\b"
SHOWN = r"\x1b[31mred"
OWN = re.compile(rb"\x1b\[(0|1|2|31|32)m")
# Characters of the vocabulary, many of them commands.
DATA = ("ab\x1b[31m\r\n\u009b2J\x07\u202e\n" * 60).encode()
CONFIG = """name = "planted"
[task]
kind = "text"
[data]
path = "{data}"
[task.text]
block = 8
[model]
width = 16
heads = 2
layers = 1
[train]
steps = {steps}
batch = 4
checkpoint_every = 2
"""


def commands_in(text: bytes) -> list:
    """What in these bytes a terminal would obey, or could not read."""
    found = [f"byte {byte:#x}" for byte in sorted(set(text)) if (byte < 0x20 and byte not in b"\t\n") or byte == 0x7f]
    decoded = text.decode(errors="surrogateescape")
    return found + [f"U+{ord(c):04X}" for c in sorted(set(decoded))
                    if 0x80 <= ord(c) < 0xa0 or 0x202a <= ord(c) <= 0x202e or 0xdc80 <= ord(c) <= 0xdcff]


class PlantedCommands(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.out = self.place / "runs"
        (self.place / "data.txt").write_bytes(DATA)
        run([HEED, "run", self.config(4), "--out", str(self.out)])
        (self.run,) = (path.parent for path in self.out.glob("*/manifest.json"))

    def config(self, steps: int) -> str:
        file = self.place / f"{steps}.toml"
        file.write_text(CONFIG.format(data=self.place / "data.txt", steps=steps))
        return str(file)

    def says(self, *words: str, data: bool = False, shown: bool = True) -> str:
        """What a command says, on a terminal and in pipes; no byte of it is a command. `data`: but its standard output
        is a format of its own, which a pipe gets as it is."""
        seen = on_a_terminal([HEED, *words], errors=True).replace(b"\r\n", b"\n")
        self.assertEqual(commands_in(OWN.sub(b"", seen)), [], seen)
        self.assertNotIn(b"\x1b[31mred", seen)
        piped = attempt([HEED, *words])
        self.assertEqual(commands_in(piped.stderr.encode(errors="surrogateescape")), [], piped.stderr)
        if not data:
            self.assertEqual(commands_in(piped.stdout.encode(errors="surrogateescape")), [], piped.stdout)
        if shown:
            self.assertIn(SHOWN, seen.decode())
        return piped.stdout

    def damage_tensors(self) -> None:
        """Tensors get commands for names, and places that don't fit, so that a message names one."""
        for file in self.run.rglob("*.safetensors"):
            whole = file.read_bytes()
            (size,) = struct.unpack("<Q", whole[:8])
            header = {}
            for name, value in json.loads(whole[8:8 + size]).items():
                if name != "__metadata__":
                    name += COMMANDS
                    value["data_offsets"][0] += 4
                header[name] = value
            text = json.dumps(header).encode()
            text += b" " * (-len(text) % 8)
            file.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + size:])

    def plant_in_manifest(self, **texts: str) -> None:
        file = self.run / "manifest.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **texts}))

    def test_tensor_names(self) -> None:
        self.damage_tensors()
        for words in (["evaluate"], ["inspect"], ["generate"], ["attend", "--input", "ab"]):
            self.says(words[0], str(self.run), *words[1:], "--out", str(self.out))

    def test_tensor_names_in_the_log(self) -> None:
        self.damage_tensors()
        self.plant_in_manifest(outcome="interrupted")
        attempt([HEED, "run", self.config(4), "--out", str(self.out)])
        log = (self.run / "log.txt").read_bytes()
        self.assertIn(SHOWN.encode(), log)
        self.assertEqual(commands_in(log), [], log)

    def test_tokens_and_examples(self) -> None:
        config = self.config(4)
        self.says("data", config, "--examples", "5", shown=False)
        for words in (["--all", "--split", "validation"], ["--batches", "2"]):
            written = self.says("data", config, *words, data=True, shown=False)
            self.assertIn("\x1b", written, "a file of data has the bytes")
        self.assertIn("\\x1b", self.says("attend", str(self.run), "--row", "0", "--out", str(self.out), shown=False))
        self.says("attend", str(self.run), "--row", "0", "--json", "--out", str(self.out), data=True, shown=False)
        text = self.says("generate", str(self.run), "--out", str(self.out), "--tokens", "200", "--prompt", "a\x1b",
                         data=True, shown=False)
        self.assertIn("\x1b", text, "a file of generated text has the bytes")

    def test_records(self) -> None:
        self.plant_in_manifest(outcome="failed", failure=COMMANDS + "\nname = 'forged'", host=COMMANDS, cpu=COMMANDS)
        metrics = self.run / "metrics.jsonl"
        lines = [{**json.loads(line), "planted" + COMMANDS: 1} for line in metrics.read_text().splitlines()]
        metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = ["--out", str(self.out)]
        shown = self.says("show", str(self.run), *out)
        self.assertNotIn("\nname = 'forged'", shown, "a comment ends with its line")
        self.says("status", str(self.out))
        self.says("runs", str(self.out), "--columns", "id,failure")
        for form in ("--json", "--csv"):
            self.says("runs", str(self.out), "--columns", "id,failure", form, data=True)
        self.says("diff", str(self.run), str(self.run), shown=False)
        for form in ("terminal", "markdown", "html", "json", "latex", "csv"):
            self.says("report", str(self.out), "--format", form, shown=form == "terminal")
        for written in self.out.glob("sweeps/*/report.*"):
            if written.suffix != ".html":
                self.assertEqual(commands_in(written.read_bytes().replace(b"\r\n", b"\n")), [], written)

    def test_cells_of_the_index(self) -> None:
        """The copy for other tools is not read; a failure of the run gets into the index, and is shown."""
        run([HEED, "runs", str(self.out)])
        index = self.out / "index.sqlite"
        before = index.stat()
        with sqlite3.connect(index) as database:
            self.assertEqual(database.execute("UPDATE runs SET name = ?", (COMMANDS,)).rowcount, 1)
        database.close()
        os.utime(index, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.says("runs", str(self.out), shown=False)
        self.plant_in_manifest(failure=COMMANDS, host=COMMANDS)
        self.says("runs", str(self.out), "--columns", "id,host,failure")
        self.says("runs", str(self.out), "--json", data=True, shown=False)

    def test_thousands_of_metrics(self) -> None:
        metrics = self.run.joinpath("metrics.jsonl")
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        lines[-1].update({f"m{n}": n for n in range(5000)})
        metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.plant_in_manifest(metrics=[])
        (row,) = json.loads(run([HEED, "runs", str(self.out), "--json"]))["result"]["runs"]
        self.assertEqual((row["m0"], row["m4999"], row["id"]), (0, 4999, self.run.name))
        head, row = csv.reader(run([HEED, "runs", str(self.out), "--csv"]).splitlines())
        self.assertEqual(dict(zip(head, row, strict=True))["m4999"], "4999")

    def test_words_of_the_command_line(self) -> None:
        self.says("run", COMMANDS + ".toml")
        self.says("runs", str(self.place / ("no" + COMMANDS.replace("\x7f", ""))))
        self.says(COMMANDS)


if __name__ == "__main__":
    run_case(PlantedCommands)
