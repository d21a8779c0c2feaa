#!/usr/bin/env python3
"""Each change of the disk in a sweep made to fail once, and each reading of a file of it: the reason is told, nothing is
lost, and the next start brings everything to the same bits. Prints TAP. Usage: faults_test.py HEED LIBRARY

With HEED_LONG set, every one; else some of them."""

import errno
import os
import pathlib
import random
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import Points, attempt  # noqa: E402

heed, library = sys.argv[1], sys.argv[2]
points = Points()
SEED = int(os.environ.get("HEED_SEED", "1"))


def with_fault(folder, out, at, command, **more):
    """The command with its `at`th change failing, or reading, and how many there were."""
    counter = folder / "counter"
    counter.write_bytes(bytes(8))
    around = {"LD_PRELOAD": library, "HEED_FAIL_COUNTER": str(counter), "HEED_FAIL_BELOW": str(out),
              "HEED_FAIL_AT": str(at), **more}
    done = attempt(command, env={**os.environ, **around})
    return done, int.from_bytes(counter.read_bytes(), "little")


def whichever_change_fails_the_next_start_mends(folder):
    config = sweep.written(folder, steps=21, seeds=1)
    whole = sweep.expected(heed, config, folder, runs=6)
    out = folder / "out"
    command = [heed, "run", config, "--out", str(out), "--jobs", "1"]
    done, changes = with_fault(folder, out, 0, command)
    assert done.returncode == 0 and changes > 200, (done, changes)
    tried = range(1, changes + 1)
    if not sweep.LONG:
        tried = sorted(random.Random(SEED).sample(tried, 12))
    statuses = {0: 0, 1: 0, 2: 0}
    for at in tried:
        shutil.rmtree(out)
        done, _ = with_fault(folder, out, at, command)
        statuses[done.returncode] += 1
        # What is no part of the record (a live line, a leftover's removal, a log) may fail without a word.
        assert done.returncode == 0 or "no space left" in done.stderr.lower(), (at, done)
        again = attempt(command)
        assert again.returncode == 0, (at, again)
        assert sweep.result(out) == whole, f"change {at}: other bits"
        sweep.require_clean(out)
    print(f"# {len(tried)} of {changes} changes of the disk made to fail: status 0 / 1 / 2 in "
          f"{statuses[0]} / {statuses[1]} / {statuses[2]}; the next start came to the same bits each time")


def reports_and_indexes_survive(folder):
    config, out = sweep.written(folder, steps=21, seeds=1), folder / "out"
    attempt([heed, "run", config, "--out", str(out)])
    whole = sweep.result(out)
    for command in (["report", str(out)], ["runs", str(out)], ["export", "--out", str(out), "--to", "csv"]):
        _, changes = with_fault(folder, out, 0, [heed, *command])
        for at in range(1, changes + 1, 1 if sweep.LONG else 5):
            (out / "index.sqlite").unlink(missing_ok=True)
            done, _ = with_fault(folder, out, at, [heed, *command])
            assert done.returncode in (0, 1, 2), (command, at, done)
            assert sweep.result(out) == whole, (command, at)
    assert attempt([heed, "report", str(out)]).returncode == 0


def whichever_reading_fails_nothing_is_lost(folder):
    config = sweep.written(folder, steps=21, seeds=1)
    whole = sweep.expected(heed, config, folder, runs=6)
    out, half = folder / "out", folder / "half"
    command = [heed, "run", config, "--out", str(out), "--jobs", "1"]
    # Half a sweep: of the runs that are compared, one is missing, and one has its checkpoints and no manifest.
    shutil.copytree(folder / "undisturbed", half)
    missing, begun = sweep.replicates(half)
    shutil.rmtree(missing)
    (begun / "manifest.json").unlink()
    checkpoints = {file: file.read_bytes() for file in begun.glob("checkpoint-*")}
    shutil.copytree(half, out)
    _, readings = with_fault(folder, out, 0, command, HEED_FAIL_READ="5")
    assert readings > 50, readings
    tried = range(1, readings + 1)
    if not sweep.LONG:
        tried = sorted(random.Random(SEED).sample(tried, 12))
    errors = [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE]
    statuses = {0: 0, 1: 0, 2: 0}
    for at in tried:
        shutil.rmtree(out)
        shutil.copytree(half, out)
        error = errors[at % len(errors)]
        done, _ = with_fault(folder, out, at, command, HEED_FAIL_READ=str(error))
        statuses[done.returncode] += 1
        kept = sorted((out / begun.name).glob("checkpoint-*.safetensors"))
        assert [file.name for file in kept] == sorted(file.name for file in checkpoints), (at, kept, done)
        again = attempt(command)
        assert again.returncode == 0, (at, again)
        assert sweep.result(out) == whole, f"reading {at}: other bits"
        sweep.require_clean(out)
        assert not list(out.rglob("*.damaged*")), (at, done)
    print(f"# {len(tried)} of {readings} readings made to fail: status 0 / 1 / 2 in {statuses[0]} / {statuses[1]} / "
          f"{statuses[2]}; no checkpoint went, and the next start came to the same bits each time")


for test in (reports_and_indexes_survive, whichever_change_fails_the_next_start_mends,
             whichever_reading_fails_nothing_is_lost):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
