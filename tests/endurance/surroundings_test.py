#!/usr/bin/env python3
"""A clock that jumps, and folders that are deleted under a sweep: nothing wrong is reported, and the next start brings
everything to the same bits. Prints TAP. Usage: surroundings_test.py HEED LIBRARY

With HEED_LONG set, many times; else a few."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import HANG, Points, attempt, until  # noqa: E402

heed, library = sys.argv[1], sys.argv[2]
points = Points()
TIMES = 20 if sweep.LONG else 2
RANDOM = random.Random(int(os.environ.get("HEED_SEED", "1")))


def start(config, out, **options):
    return subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", "2"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def steps(out):
    seen = {}
    for file in out.glob("*/progress.json"):
        with contextlib.suppress(FileNotFoundError):  # gone with its run's end
            seen[file] = file.read_bytes()
    return seen


def table(said):
    """The first lines of a sweep's results and their table, without the times."""
    return re.sub(r"\S+ m?s$", "", "\n\n".join(said.split("\n\n")[:2]), flags=re.MULTILINE).split()


def holds(needed, found):
    """Whether all of `needed` was found, bit for bit."""
    return all(found.get(key) == value for key, value in needed.items())


def jumping_clock(folder):
    config = sweep.written(folder, steps=60, seeds=2)
    whole = sweep.expected(heed, config, folder, runs=8)
    for turn in range(TIMES):
        out, stops = folder / f"jumping-{turn}", 0
        while True:
            process = start(config, out, env={**os.environ, "LD_PRELOAD": library})
            before = steps(out) if out.exists() else {}
            until(lambda: process.poll() is not None or (out.exists() and steps(out) != before), "a step")
            process.send_signal(signal.SIGINT)
            said, complained = process.communicate(timeout=HANG)
            if process.returncode == 0:
                break
            assert process.returncode == 130 and "Resume with" in complained, (said, complained)
            stops += 1
            for path in out.rglob("*"):  # as if the disk had been another machine's
                when = time.time() + RANDOM.uniform(-3e8, 3e8)
                os.utime(path, (when, when))
        assert stops > 0, "it was never stopped"
        assert sweep.result(out) == whole, "other bits"
        sweep.require_clean(out)
        for command in (["report", str(out)], ["runs", str(out)], ["status", str(out)]):
            done = attempt([heed, *command], env={**os.environ, "LD_PRELOAD": library})
            assert done.returncode == 0, done


def folders_deleted_under_a_sweep(folder):
    config = sweep.written(folder, steps=200, seeds=2)
    whole, told = sweep.expected(heed, config, folder, runs=8), 0
    undisturbed = table(attempt([heed, "run", config, "--out", str(folder / "undisturbed")]).stdout)
    trials = [run["id"] for run in json.loads(whole["plan.json"])["tuning"]["runs"]]
    for turn in range(3 * TIMES):
        out = folder / f"deleted-{turn}"
        process = start(config, out)
        seen = RANDOM.randrange(1, 6)
        until(lambda: process.poll() is not None or len(list(out.glob("*/metrics.jsonl"))) >= seen, "runs")
        time.sleep(RANDOM.uniform(0, 0.2))
        runs = [path for path in out.glob("*") if len(path.name) == 16]
        victim = RANDOM.choice([out, out / "sweeps", *runs])
        shutil.rmtree(victim, ignore_errors=True)  # what is written meanwhile may stay, as with any `rm -r`
        said, complained = process.communicate(timeout=HANG)
        assert process.returncode in (0, 1, 2), (victim, said, complained)
        # Nobody needs a trial once the arms have chosen.
        needed = {key: value for key, value in whole.items() if victim.name not in trials or key[0] != victim.name}
        # It says so, or it had read everything before.
        assert process.returncode != 0 or table(said) == undisturbed, (
            f"{victim.name} was deleted, and nobody said so", said, complained)
        told += process.returncode != 0
        assert not sweep.processes(out), f"still there: {sweep.processes(out)}"
        again = attempt([heed, "run", config, "--out", str(out)])
        if again.returncode != 0:  # what is left of a folder is nobody's: it says which to remove
            for path in out.glob("*"):
                if path.is_dir() and path.name in again.stdout + again.stderr:
                    shutil.rmtree(path)
            again = attempt([heed, "run", config, "--out", str(out)])
        assert again.returncode == 0, (victim, again)
        found = sweep.result(out)
        assert holds(needed, found), (f"{victim.name} was deleted: other bits, or none",
                                      sorted(key for key in needed if found.get(key) != needed[key]), again)
        sweep.require_clean(out)
    print(f"# a folder deleted in {3 * TIMES} sweeps: {told} said so and ended with another status than 0, the others "
          "were whole")


for test in (jumping_clock, folders_deleted_under_a_sweep):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
