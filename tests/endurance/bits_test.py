#!/usr/bin/env python3
"""The same bits, whatever the threads and the jobs. Prints TAP. Usage: bits_test.py HEED

HEED_OTHER names the program of a second build, by the same compiler with the same flags, to be compared with, too."""

import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import Points, run  # noqa: E402

heed = sys.argv[1]
points = Points()
SHARES = [(1, 2), (1, 3), (1, 8), (4, 1), (3, 2)]  # jobs, threads


def result(program, folder, jobs, threads):
    config = sweep.written(folder, steps=40, seeds=2)
    out = folder / f"{jobs}-{threads}"
    run([program, "run", config, "train.shards=8", "--out", str(out), "--jobs", str(jobs), "--threads", str(threads)])
    return sweep.result(out)


with tempfile.TemporaryDirectory() as place:
    alone = result(heed, pathlib.Path(place), 1, 1)
for jobs, threads in SHARES:
    with points.point(f"{jobs} at once with {threads} threads"), tempfile.TemporaryDirectory() as place:
        assert result(heed, pathlib.Path(place), jobs, threads) == alone
if other := os.environ.get("HEED_OTHER"):
    with points.point("another build"), tempfile.TemporaryDirectory() as place:
        assert result(other, pathlib.Path(place), 2, 1) == alone
points.plan()
