#!/usr/bin/env python3
"""`heed compare`: the answers of a real sweep's runs.csv are those of `heed report`; files, formats, statuses; hostile
and large tables. Prints TAP. Usage: compare_test.py HEED"""

import contextlib
import csv
import io
import json
import os
import pathlib
import random
import re
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from small_config import SMALL  # noqa: E402
from tap import attempt, run, run_case  # noqa: E402

HEED = str(pathlib.Path(sys.argv[1]).resolve())
STATISTICS = ("label", "n", "mean", "standard_deviation", "interquartile_mean", "comparison", "answer", "sentence", "learned",
              "p_failed_worst", "smallest_effect", "missing_answer", "seconds")
# An arm diverges in some seeds or all.
SWEEP = """shards = 1
[report]
metric = "val_loss"
also = ["val_accuracy"]
margin = 0.05
test = "{test}"
[sweep]
seeds = [3, 4, 5, 6, 7, 8]
[[sweep.block]]
grid = {{ "attention.score" = ["additive", "cosine"] }}
[[sweep.block]]
arms = [{{ "train.learning_rate" = 1e6, "train.adamw.weight_decay" = 1.0 }}]
"""


class Compare(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)

    def heed(self, *words: str, **options) -> subprocess.CompletedProcess:
        return attempt([HEED, *words], cwd=self.place, **options)

    def write(self, name: str, text: str) -> None:
        (self.place / name).write_text(text, encoding="utf-8")

    def results(self, name: str = "results.csv") -> None:
        noise = random.Random(1)
        rows = [f"{arm},{seed},{0.5 + better + noise.gauss(0, 0.01):.4f}" for arm, better in (("base", 0), ("new", 0.1))
                for seed in range(7)]
        self.write(name, "\n".join(["model,seed,acc", *rows]) + "\n")

    def refused(self, *words: str, **options) -> str:
        done = self.heed("compare", *words, **options)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def assert_as_the_sweep(self, test: str) -> None:
        model = SMALL.format(steps=300).replace("length = 4", "length = 3\nsymbols = 7")  # which it learns
        self.write("sweep.toml", model + "learning_rate = 0.01\n" + SWEEP.format(test=test))
        # The exit status is 1 if runs fail.
        self.heed("run", "sweep.toml")
        for form in ("csv", "json"):
            run([HEED, "report", "runs", "--format", form], cwd=self.place)
        [folder] = (self.place / "runs/sweeps").glob("sweep-*")
        self.heed("compare", str(folder / "runs.csv"), "--metric", "val_loss", "--metric", "val_accuracy", "--margin",
                  "0.05", "--test", test, "--precision", "float32", "--format", "json", "--output", "compared.json")
        wanted = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        found = json.loads((self.place / "compared.json").read_text(encoding="utf-8"))
        self.assertEqual(len(wanted["arms"]), 4)
        self.assertGreater(wanted["progress"]["failed"], 0)
        for side in (lambda report: report["arms"], lambda report: report["also"][0]["arms"]):
            for arm, other in zip(side(wanted), side(found), strict=True):
                for key in STATISTICS:
                    self.assertEqual(arm.get(key), other.get(key), f"{arm['label']}: {key}")
        for report in (wanted, found):
            report["problems"] = [(p["arm"], p["seeds"], p["state"], p["reason"]) for p in report["problems"]]
        self.assertEqual(wanted["problems"], found["problems"])
        self.assertTrue(any(arm["comparison"] and arm["comparison"]["p"] is not None for arm in found["arms"]))

    def test_answers_are_those_of_the_sweep(self) -> None:
        self.assert_as_the_sweep("paired")

    def test_answers_are_those_of_an_unpaired_sweep(self) -> None:
        self.assert_as_the_sweep("unpaired")

    def test_an_answer_is_one_word_in_every_format(self) -> None:
        base = [0.5, 0.52, 0.55, 0.51, 0.53, 0.54, 0.56, 0.57]
        values = {"base": base, "twin": base, "up": [x + 0.1 for x in base], "down": [x - 0.1 for x in base],
                  "near": [x + 0.001 * (-1) ** i for i, x in enumerate(base)],
                  "wide": [x + 0.3 * (-1) ** i for i, x in enumerate(base)]}
        words = {"twin": "equal", "up": "better", "down": "worse", "near": "same", "wide": "undecided"}
        self.write("results.csv", "arm,seed,acc\n" + "".join(f"{arm},{seed},{value}\n" for arm, some in values.items()
                                                            for seed, value in enumerate(some)))
        command = ["compare", "results.csv", "--metric", "acc", "--reference", "base", "--margin", "0.02"]
        text = {form: self.heed(*command, *(["--format", form, "--output", "-"] if form else [])).stdout
                for form in ("", "markdown", "latex", "csv", "json", "html")}
        for row in csv.DictReader(io.StringIO(text["csv"])):
            self.assertEqual(row["answer"], words.get(row["arm"], ""))
            self.assertEqual(row["arm"] in words, row["arm"] in row["sentence"])
        page = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text["html"], re.S)
        for document in (json.loads(text["json"])["result"], json.loads(page[1])):
            for arm in document["arms"]:
                word = words.get(arm["label"])
                self.assertEqual(arm["answer"], word)
                self.assertEqual(arm["comparison"] and arm["comparison"]["answer"], word)
                self.assertEqual(arm["comparison"] and arm["comparison"]["is_equivalent"],
                                 word and word in ("equal", "same"))
        for arm, word in words.items():
            self.assertRegex(text[""], rf"(?m)^ *{arm} .* {word}\b")
            self.assertRegex(text["markdown"], rf"(?m)^\| {arm} \|.*\| {word} \|")
            self.assertRegex(text["latex"], rf"(?m)^ *{arm} &.*& {word}\b")

    def test_files_and_formats(self) -> None:
        self.results()
        words = ["compare", "results.csv", "--metric", "acc", "--reference", "base"]
        printed = self.heed(*words)
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        self.assertRegex(printed.stdout, r"Made elsewhere: .*results\.csv")
        self.assertIn("new is better: acc is 0.", printed.stdout)
        for form, ending in (("html", "html"), ("markdown", "md"), ("latex", "tex"), ("csv", "csv"), ("json", "json"),
                             ("text", "txt")):
            done = self.heed(*words, "--format", form)
            self.assertEqual((done.returncode, done.stdout), (0, f"results-report.{ending}\n"), done.stderr)
            whole = (self.place / f"results-report.{ending}").read_text(encoding="utf-8")
            self.assertIn("elsewhere", whole)
            other = self.heed(*words, "--format", form, "--output", "-")
            if form == "json":  # on standard output, in the envelope
                self.assertEqual(json.loads(other.stdout)["result"], json.loads(whole))
            else:
                self.assertEqual(other.stdout.replace("\r\n", "\n"), whole.replace("\r\n", "\n"))
        text = (self.place / "results-report.txt").read_text(encoding="utf-8")
        self.assertEqual(text, self.heed(*words, "--notes", "all").stdout)
        self.assertIn("does nothing with the format terminal", self.refused(*words[1:], "--output", "x.txt"))
        self.assertIn("is the table itself", self.refused(*words[1:], "--format", "csv", "--output", "./results.csv"))
        failed = self.heed(*words, "--format", "csv", "--output", "no/such/folder.csv")
        self.assertEqual((failed.returncode, failed.stdout), (2, ""))
        self.assertIn("its folder does not exist", failed.stderr)
        table = (self.place / "results.csv").read_text(encoding="utf-8")
        piped = self.heed("compare", "-", *words[2:], input=table)
        self.assertEqual(piped.stdout.replace("standard input", "results.csv"), printed.stdout)

    def test_an_output_replaces_nothing_but_reports_of_heed(self) -> None:
        self.results()
        words = ["results.csv", "--metric", "acc", "--reference", "base", "--format", "html", "--output"]
        notes = self.place / "notes.html"
        notes.write_text("a user's notes", encoding="utf-8")
        self.assertIn("notes.html' exists and was not written by Heed: choose another name, or say --force",
                      self.refused(*words, "notes.html"))
        (self.place / "results-report.md").write_text("# mine\n", encoding="utf-8")
        self.assertIn("was not written by Heed", self.refused(*words[:-2], "markdown"))
        self.assertEqual((self.place / "results-report.md").read_text(encoding="utf-8"), "# mine\n")
        self.assertIn("--force does nothing here", self.refused(*words, "-", "--force"))
        self.assertIn("--force does nothing here", self.refused(*words[:-3], "--force"))
        self.assertEqual(notes.read_text(encoding="utf-8"), "a user's notes")
        notes.chmod(0o640)
        done = self.heed("compare", *words, "notes.html", "--force")
        self.assertEqual((done.returncode, done.stdout), (0, "notes.html\n"), done.stderr)
        self.assertEqual(notes.stat().st_mode & 0o777, 0o640)
        # A report of Heed is replaced by another, of any format.
        words[words.index("html")] = "markdown"
        self.assertEqual(self.heed("compare", *words, "notes.html").returncode, 0)
        self.assertIn("# results\n", notes.read_text(encoding="utf-8"))
        (self.place / "link.md").symlink_to("notes.html")
        self.assertEqual(self.heed("compare", *words, "link.md").returncode, 0)
        self.assertTrue((self.place / "link.md").is_symlink())
        (self.place / "nowhere.md").symlink_to("none/x.md")
        self.assertIn("is a link to 'none/x.md', which does not exist", self.refused(*words, "nowhere.md"))
        self.assertIn("is a folder", self.refused(*words, ".", "--force"))

    def test_an_output_that_is_no_file_is_written_through(self) -> None:
        self.results()
        words = ["compare", "results.csv", "--metric", "acc", "--reference", "base", "--format", "csv", "--output"]
        wanted = self.heed(*words, "-").stdout
        self.assertIn("standard_deviation", wanted)
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(self.heed(*words, name).stdout, wanted)
        with (self.place / "log").open("w+", encoding="utf-8", newline="") as log:  # standard output is a file
            log.write("before\n")
            log.flush()
            subprocess.run([HEED, *words, "/dev/stdout"], cwd=self.place, stdout=log, check=True)
            log.write("after\n")
            log.seek(0)
            self.assertEqual(log.read().replace("\r\n", "\n"), f"before\n{wanted}after\n".replace("\r\n", "\n"))
        shell = subprocess.run(["bash", "-c", '"$@" >(cat > through.csv) && wait $!', "bash", HEED, *words], cwd=self.place,
                               capture_output=True, text=True, check=True)
        self.assertEqual(shell.stdout, "")
        self.assertEqual((self.place / "through.csv").read_text(encoding="utf-8"), wanted)
        os.mkfifo(self.place / "pipe")
        self.assertIn("is a pipe that nobody reads", self.refused(*words[1:], "pipe"))
        reader = os.open(self.place / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assertEqual(self.heed(*words, "pipe").returncode, 0)
        self.assertTrue(os.read(reader, 1 << 16).decode().startswith("arm,changes,"))
        self.assertTrue(stat.S_ISFIFO((self.place / "pipe").stat().st_mode))
        self.assertEqual(self.heed(*words, "/dev/null").returncode, 0)
        with contextlib.suppress(PermissionError):  # root alone makes devices
            os.mknod(self.place / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
            done = self.heed(*words, "null")
            self.assertTrue(stat.S_ISCHR((self.place / "null").stat().st_mode))
            # Some file systems open no devices.
            self.assertIn((done.returncode, "ermission" in done.stderr), ((0, False), (2, True)))
        leader, follower = os.openpty()  # a terminal gets no commands
        self.addCleanup(os.close, leader)
        self.write("hostile.csv", "model,seed,acc\n" + "".join(f"\x9b2J{a},{s},0.{s + 1}\n" for a in "ab" for s in range(6)))
        with subprocess.Popen([HEED, "compare", "hostile.csv", "--metric", "acc", "--reference", "\\x9b2Ja", "--format",
                               "json", "--output", "/dev/fd/2"], cwd=self.place, stderr=follower) as process:
            os.close(follower)
            seen = b""
            with contextlib.suppress(OSError):  # how the end of a terminal is told
                while part := os.read(leader, 1 << 16):
                    seen += part
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"heed report", seen)
        self.assertNotIn("\x9b".encode(), seen)

    def test_command_lines_that_are_refused(self) -> None:
        self.results()
        self.write("empty.csv", "")
        (self.place / "wide.csv").write_bytes("model,seed,acc\n".encode("utf-16"))
        for words, said in (
                (["none.csv", "--metric", "acc"], "none.csv"),
                ([".", "--metric", "acc"], "FILE is a table of results"),
                (["empty.csv", "--metric", "acc"], "empty.csv is empty"),
                (["wide.csv", "--metric", "acc"], "iconv -f UTF-16 -t UTF-8"),
                (["results.csv"], "name its column with --metric COLUMN"),
                (["results.csv", "--metric", "ac", "--reference", "base"], "did you mean 'acc'?"),
                (["results.csv", "--metric", "acc", "--reference", "bass"], "did you mean 'base'?"),
                (["results.csv", "--metric", "acc"], "name the arm that the others are compared with"),
                (["results.csv", "--metric", "acc", "--format", "pdf"], "pdf"),
                (["results.csv", "--metric", "acc", "--margin", "x"], "margin"),
                (["results.csv", "--metric", "acc", "--pair", "seed,acc", "--reference", "base"], "used as a metric")):
            self.assertIn(said, self.refused(*words))
        self.assertIn('"acc" is "x"', self.refused("-", "--metric", "acc", "--reference", "a",
                                                   input="model,seed,acc\na,0,x\nb,0,1\n"))

    def test_pipes_and_devices_are_no_files_and_input_without_end_is_refused(self):
        os.mkfifo(self.place / "pipe.csv")
        self.assertIn("it is a pipe", self.refused("pipe.csv", "--metric", "acc"))
        self.assertIn("it is a device", self.refused("/dev/zero", "--metric", "acc"))
        with open("/dev/zero", "rb") as zeros:
            self.assertIn("standard input has more than 256 MiB", self.refused("-", "--metric", "acc", stdin=zeros))

    def test_hostile_texts(self) -> None:
        rows = "".join(f'"\x1b[2J<script>alert(1)</script>",{s},0.5{s}\nbase,{s},0.4{s}\n' for s in range(6))
        self.write("results.csv", "model,seed,acc\n" + rows)
        words = ["compare", "results.csv", "--metric", "acc", "--reference", "base"]
        printed = self.heed(*words)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertNotIn("\x1b", printed.stdout)
        self.write("named.csv", '"mo\x1b[2Jdel",seed,"ac\x1b[2Jc","da\x1b[2Jta"\n' +
                   "".join(f"{a},{s},0.{s + 1},x\n" for a in ("base", "new") for s in range(6)))
        named = self.heed("compare", "named.csv", "--metric", "ac\x1b[2Jc", "--arm", "mo\x1b[2Jdel", "--group",
                          "da\x1b[2Jta", "--direction", "higher", "--reference", "base", "--format", "text", "--output", "-")
        self.assertEqual(named.returncode, 0, named.stderr)
        self.assertNotIn("\x1b", named.stdout)
        self.assertIn(r"da\x1b[2Jta = x: base", named.stdout)
        self.heed(*words, "--format", "html")
        self.assertNotIn("<script>alert", (self.place / "results-report.html").read_text(encoding="utf-8"))
        self.write("results.csv", "model,seed,acc\n" + "x" * 3_000_000 + ",0,1\n")
        self.assertLess(len(self.refused("results.csv", "--metric", "acc")), 1000)
        self.write("results.csv", "a" * 1_000_000 + "\n1\n")
        self.assertLess(len(self.refused("results.csv", "--metric", "acc")), 1000)
        self.write("results.jsonl", '{"a":' * 5000 + "1" + "}" * 5000)
        self.assertIn("results.jsonl:1: ", self.refused("results.jsonl", "--metric", "acc"))
        many = {f"m{i}": i for i in range(20_000)}
        self.write("results.jsonl", json.dumps(many) + "\n")
        self.assertIn("more than 10000 columns", self.refused("results.jsonl", "--metric", "acc"))

    def test_a_million_rows(self) -> None:
        noise = random.Random(2)
        steps = 2_000 if "HEED_INSTRUMENTED" in os.environ else 50_000
        with (self.place / "log.csv").open("w", encoding="utf-8") as log:
            log.write("model,seed,step,acc\n")
            for arm in ("base", "new"):
                for seed in range(10):
                    log.writelines(f"{arm},{seed},{step},{noise.random():.6f}\n" for step in range(steps))
        started = time.monotonic()
        done = self.heed("compare", "log.csv", "--metric", "acc", "--reference", "base")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("20 of 20 runs finished", done.stdout)
        self.assertLess(time.monotonic() - started, 60)  # an idle machine takes some seconds
        self.write("runs.csv", "model,seed,acc\n" + "".join(f"{a},{s},0.{s}\n" for a in "ab" for s in range(20_000)))
        self.assertIn("has 20000 runs; at most 10000 are compared",
                      self.refused("runs.csv", "--metric", "acc", "--reference", "a"))


run_case(Compare)
