#!/usr/bin/env python3
"""Every fuzz target by libFuzzer for a stated number of inputs, from those that are kept: no crash, no leak, no undefined
behaviour, no input that takes longer than 10 s, no memory beyond the bounds below. Prints TAP.

Usage: fuzz_test.py FUZZERS [TARGET ...]     FUZZERS: the folder with the programs fuzz_TARGET

Does so where HEED_LONG is set (./heed test fuzz --long). HEED_FUZZ_SCALE=0.01 tries a hundredth of the inputs, 10 ten
times as many; HEED_SEED=N other ones. An input that finds something is kept in FUZZERS/found/TARGET/.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import Points  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TOGETHER = 2  # programs at a time
SECONDS = 10  # for one input
PEAK = 512  # MiB of the whole process, of which AddressSanitizer's own are a part
PIECE = 256  # MiB asked for at once

# Inputs to try, in thousands, and the longest in bytes. 11 million in all: many of those that take microseconds, few of
# those that resolve configurations or ask a database.
TARGETS = {
    "attention": (1000, 65536), "checkpoint": (1000, 65536), "config": (60, 16384), "csv": (1000, 65536),
    "formula": (200, 4096), "images": (1500, 16384), "index": (1, 512), "manifest": (1200, 65536),
    "metrics": (1200, 65536), "operator": (40, 4096), "override": (30, 4096), "parameters": (400, 65536),
    "plan": (400, 65536), "progress": (1000, 65536), "results": (60, 4096), "sentencepiece": (200, 16384),
    "sweep": (25, 16384), "task": (40, 16384), "text": (150, 65536), "tsv": (800, 65536), "tuned": (200, 16384),
    "utf8": (800, 65536), "vocabulary": (250, 16384), "where": (20, 16384),
}
BINARY = ("checkpoint", "images", "index", "parameters", "sentencepiece", "utf8")


def dictionary(name, folder):
    """The words of the kept inputs, and of the examples of configurations, as libFuzzer reads them."""
    files = list((HERE / "corpus" / name).iterdir())
    if name in ("config", "operator", "override", "sweep"):
        files += (HERE.parents[1] / "configs").rglob("*.toml")
    words = set()
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        words |= {w for w in re.findall(r'"?[A-Za-z_][A-Za-z0-9_.\[\]]*"?|[<>=!]=|\[\[|\]\]', text) if len(w) < 40}
    path = folder / f"{name}.dict"
    path.write_text("".join('"' + w.replace('"', '\\"') + '"\n' for w in sorted(words)), encoding="ascii")
    return path


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzzed(fuzzers, name, place):
    """What libFuzzer said of one target, its exit status, the line that sums it up, and how many inputs it tried."""
    thousands, longest = TARGETS[name]
    runs = max(1, round(1000 * thousands * float(os.environ.get("HEED_FUZZ_SCALE", "1"))))
    found = fuzzers / "found" / name
    shutil.rmtree(found, ignore_errors=True)
    grown = place / name
    for folder in (found, grown):
        folder.mkdir(parents=True)
    command = [fuzzers / f"fuzz_{name}", f"-runs={runs}", f"-max_len={longest}", f"-timeout={SECONDS}",
               f"-rss_limit_mb={PEAK}", f"-malloc_limit_mb={PIECE}", f"-seed={os.environ.get('HEED_SEED', '1')}",
               "-print_final_stats=1", f"-artifact_prefix={found}/"]
    if name not in BINARY:
        command.append(f"-dict={dictionary(name, place)}")
    # Freed memory that AddressSanitizer holds back would count as used.
    env = {**os.environ, "TMPDIR": str(place), "ASAN_OPTIONS": "quarantine_size_mb=32:detect_leaks=1",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    begin = time.monotonic()
    done = subprocess.run([*command, grown, HERE / "corpus" / name], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, preexec_fn=lambda: os.nice(10))
    text = done.stdout.decode(errors="replace")
    executed = number(r"number_of_executed_units: +(\d+)", text)
    line = "{}: {} executions, {} a second, {} edges, {} features, {} MiB at most".format(
        name, executed, round(executed / (time.monotonic() - begin)),
        *(number(what, text) for what in (r" cov: (\d+)", r" ft: (\d+)", r"peak_rss_mb: +(\d+)")))
    return text, done.returncode, line, executed


def main(fuzzers, named):
    if not os.environ.get("HEED_LONG"):
        print("1..0 # SKIP takes half an hour: ./heed test fuzz --long")
        return
    points = Points()
    with points.point("every target has its share"):
        built = {p.name.removeprefix("fuzz_") for p in fuzzers.glob("fuzz_*") if p.is_file()}
        assert named or built == set(TARGETS), built ^ set(TARGETS)
    executed = 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as place, \
            concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        tasks = {pool.submit(fuzzed, fuzzers, name, pathlib.Path(place)): name for name in named or TARGETS}
        for task in concurrent.futures.as_completed(tasks):
            text, status, line, runs = task.result()
            executed += runs
            with points.point(line):
                kept = sorted((fuzzers / "found" / tasks[task]).iterdir())
                assert status == 0, (f"status {status}; to repeat it:\n" +
                                     "".join(f"{fuzzers}/fuzz_{tasks[task]} {file}\n" for file in kept) +
                                     text[-6000:])
        print(f"# {executed} executions in all")
    points.plan()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:])
