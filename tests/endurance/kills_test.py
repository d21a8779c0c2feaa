#!/usr/bin/env python3
"""Kills, and starts at once: nothing is lost, the bits stay the same. Prints TAP. Usage: kills_test.py HEED

With HEED_LONG set, 200 kills and 50 times four starts; else a few of each."""

import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import HANG, Points, until  # noqa: E402

heed = sys.argv[1]
points = Points()
KILLS, STARTS = (200, 50) if sweep.LONG else (8, 3)
SEED = int(os.environ.get("HEED_SEED", "1"))


def start(config, out, jobs="2"):
    return subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", jobs], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def killed_at_random(folder):
    config, random_numbers = sweep.written(folder, steps=60, seeds=2), random.Random(SEED)
    whole = sweep.expected(heed, config, folder, runs=8)
    kills, sweeps, longest = collections.Counter(), 0, 2.0
    while sum(kills.values()) < KILLS:
        out = folder / f"killed-{sweeps}"
        sweeps += 1
        while True:
            begin = time.monotonic()
            process = start(config, out)
            # Half of them early, where folders and plans are being written.
            wait = random_numbers.uniform(0, 0.2 if random_numbers.random() < 0.5 else longest)
            who = random_numbers.choice(["the parent", "a worker", "all"])
            enough = sum(kills.values()) >= KILLS
            while process.poll() is None and (enough or time.monotonic() - begin < wait):
                time.sleep(0.002)
            if process.poll() is not None:
                said, _ = process.communicate()
                if process.returncode == 0:
                    longest = max(0.5, time.monotonic() - begin)
                    break
                assert process.returncode == 1 and "failed" in said, said  # of a worker that was killed
                continue
            workers = [pid for pid, words in sweep.processes(out).items() if " worker " in words]
            victims = {"the parent": [process.pid], "a worker": workers[:1], "all": [process.pid, *workers]}[who]
            if any([kill(pid) for pid in victims]):
                kills[who] += 1
            if who != "a worker":
                process.wait(timeout=HANG)
                process.stdout.close()
                continue
            said, _ = process.communicate(timeout=HANG)
            assert process.returncode in (0, 1), said
            if process.returncode == 0:
                break
        until(lambda: not sweep.processes(out), "the end of the workers")
        assert sweep.result(out) == whole, f"seed {SEED}, sweep {sweeps}: other bits"
        sweep.require_clean(out)
    print(f"# {sum(kills.values())} kills in {sweeps} sweeps of 8 runs: {dict(kills)}; the same bits, "
          "nothing left behind")


def four_starts_at_once(folder):
    config = sweep.written(folder, steps=21, seeds=1)
    whole = sweep.expected(heed, config, folder, runs=6)
    for i in range(STARTS):
        out = folder / f"at-once-{i}"
        four = [start(config, out, "1") for _ in range(4)]
        for process in four:
            said, _ = process.communicate(timeout=HANG)
            assert process.returncode == 0, said
        assert sweep.result(out) == whole
        sweep.require_clean(out)
    print(f"# {4 * STARTS} starts, four at once: each ended with status 0; the same bits, nothing left behind")


for test in (four_starts_at_once, killed_at_random):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
