#!/usr/bin/env python3
"""`heed compare` of large and hostile tables: memory for what is in them, and Ctrl-C at random moments. Prints TAP.
Usage: tables_test.py HEED

With HEED_LONG set, larger tables and 100 interrupts; else a few."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import Points  # noqa: E402

heed = sys.argv[1]
points = Points()
TIMES = 100 if sweep.LONG else 4
PART = 1 if sweep.LONG else 4  # of a table's size
RANDOM = random.Random(int(os.environ.get("HEED_SEED", "1")))
ROOM = 300  # MB that a comparison may take for tables of a few megabytes


def value():
    return round(RANDOM.gauss(0.5, 0.05), 4)


def csv(head, rows):
    return "".join(",".join(map(str, row)) + "\n" for row in [head, *rows])


RUNS = ["model", "seed", "accuracy"]
BY_TASK = ["--group", "task"]


def tables():
    """A name, the file's name and text, and options."""
    arms = 1000 // PART
    yield "arms with ten seeds of their own", "own.csv", csv(
        RUNS, [("a" if arm == 0 else f"m{arm}", 10 * arm + seed, value()) for arm in range(arms) for seed in range(10)]), []
    seeds = 10 * arms
    yield "arms with ten seeds of their own, all in the reference", "reference.csv", csv(
        RUNS, [("a", seed, value()) for seed in range(seeds // 10)]
        + [(f"m{arm}", 10 * arm + seed, value()) for arm in range(arms // 10) for seed in range(10)]), []
    yield "JSON objects with members of their own", "members.jsonl", "".join(
        json.dumps({"model": "ab"[row % 2], "seed": row // 2, "accuracy": value(), f"x{row}": 1}) + "\n"
        for row in range(9990 // PART)), []
    yield "an export with columns of single values", "wide.jsonl", "".join(
        json.dumps({"step": 1, f"{'ab'[row % 2]}-seed{row // 2} - accuracy": value()}) + "\n"
        for row in range(9990 // PART)), ["--run-name", "{arm}-seed{seed}"]
    yield "groups", "groups.csv", csv(
        ["task", *RUNS], [(f"t{task}", arm, seed, value()) for task in range(20000 // PART) for arm in "ab"
                          for seed in range(3)]), BY_TASK
    yield "empty columns", "columns.csv", csv(
        RUNS + [f"c{column}" for column in range(9990)],
        [("ab"[row % 2], row // 2, value(), *[""] * 9990) for row in range(2000 // PART)]), []
    yield "steps", "steps.csv", csv(
        ["step", *RUNS], [(step, arm, seed, value()) for arm in "ab" for seed in range(3)
                          for step in range(100000 // PART)]), []
    yield "one run of many steps among runs of two", "uneven.csv", csv(
        ["step", *RUNS], [(step, "a", 0, value()) for step in range(50000 // PART)]
        + [(step, arm, seed, value()) for arm in "ab" for seed in range(1, 5000 // PART) for step in range(2)]), []


def measured(folder, name, text, options):
    """Compares a table, and returns the processor's seconds and the largest memory in MB."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen([heed, "compare", str(file), "--metric", "accuracy", "--reference", "a", "--format",
                                  "html", "--output", "-", *options], stdout=said, stderr=subprocess.PIPE)
        complained = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, complained
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def interrupts(folder):
    """Ctrl-C at random moments ends the program at once, and leaves a whole report or none."""
    file = folder / "long.csv"
    file.write_text(csv(RUNS, [(arm, seed, value()) for arm in ["a", *(f"m{n}" for n in range(40))]
                               for seed in range(30)]), encoding="utf-8")
    command = [heed, "compare", str(file), "--metric", "accuracy", "--reference", "a", "--format", "html"]
    begin = time.monotonic()
    subprocess.run([*command, "--output", str(folder / "whole.html")], check=True, capture_output=True)
    whole, takes = (folder / "whole.html").read_bytes(), time.monotonic() - begin
    longest = 0.0
    out = folder / "out"
    out.mkdir()
    for turn in range(TIMES):
        report = out / f"{turn}.html"
        child = subprocess.Popen([*command, "--output", str(report)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(RANDOM.uniform(0, 1.05 * takes))
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        status = child.wait(timeout=60)
        longest = max(longest, time.monotonic() - sent)
        assert status in (0, -signal.SIGINT), status
        assert not report.exists() or report.read_bytes() == whole, "a part of a report"
        assert status != 0 or report.exists(), "no report"
        report.unlink(missing_ok=True)
        assert not list(out.iterdir()), list(out.iterdir())
    assert longest < 5, longest
    print(f"# {TIMES} interrupts, the slowest after {longest:.3f} s; undisturbed, the comparison takes {takes:.1f} s")


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
with tempfile.TemporaryDirectory() as place:
    for what, name, text, options in tables():
        with points.point(f"memory of {what}"):
            seconds, megabytes = measured(pathlib.Path(place), name, text, options)
            print(f"# {what}: {len(text) / 1e6:.2f} MB, {text.count(chr(10))} lines: {seconds:.1f} s, {megabytes:.0f} MB")
            assert megabytes < ROOM + 30 * len(text) / 1e6, megabytes
    with points.point("Ctrl-C at random moments"):
        interrupts(pathlib.Path(place))
points.plan()
