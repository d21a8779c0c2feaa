"""A whole sweep, from the first process to the last checkpoint, against PyTorch's scripts."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import tables
from rounds import Failure
from shared import SIZES, TRAIN, Size, Tools, progress, say, say_table, taken, write_recipe

RUNS, STEPS = 20, 200


def measure(tools: Tools) -> dict:
    size = SIZES["S"]
    say(f"A sweep: {RUNS} runs of S, {STEPS} steps each, two processes at a time, start-up, evaluation and checkpoints")
    say("included.")
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as place:
        folder = pathlib.Path(place)
        config = write_recipe(folder / "sweep.toml", "bench", {
            "data.path": str(tools.text), **size.overrides(), "train.steps": STEPS, "sweep.seeds": list(range(RUNS))})
        seconds: dict[str, list[float]] = {
            "heed": [], "a process for each run": [], "two processes, ten runs each": []}
        for turn in range(2):
            out = folder / f"runs-{turn}"
            progress(f"turn {turn + 1} of 2")
            seconds["heed"].append(taken([tools.heed, "run", config, "--jobs", 2, "--threads", 1, "--out", out]).wall)
            if not tools.torch_python:
                continue
            try:
                seconds["a process for each run"].append(timed(lambda: peers(tools, folder, size, 1)))
                seconds["two processes, ten runs each"].append(timed(lambda: peers(tools, folder, size, RUNS // 2)))
            except Failure as failure:
                say(f"  left out: {failure}")
    starts = [taken([tools.heed, "--version"]).wall for _ in range(30)]
    medians = {name: statistics.median(values) for name, values in seconds.items() if values}
    rows = [["Heed" if name == "heed" else f"PyTorch, {name}", f"{value:.1f}",
             "" if name == "heed" else tables.times(value / medians["heed"])] for name, value in medians.items()]
    say_table(["sweep", "seconds", "to Heed"], rows)
    say(f"heed --version takes {1e3 * statistics.median(starts):.1f} ms")
    return {"runs": RUNS, "steps": STEPS, **dataclasses.asdict(size), "seconds": seconds,
            "start_milliseconds": 1e3 * statistics.median(starts)}


def timed(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def peers(tools: Tools, folder: pathlib.Path, size: Size, each: int):
    """The sweep's runs in PyTorch, `each` to a process, two processes at a time."""
    waiting = [range(first, first + each) for first in range(0, RUNS, each)]
    running: list[subprocess.Popen] = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                words = [tools.torch_python, TRAIN, tools.text, folder, *size.words(), STEPS, *waiting.pop(0)]
                running.append(subprocess.Popen(list(map(str, words)), env=environment, stdin=subprocess.DEVNULL,
                                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            ended = [process for process in running if process.poll() is not None]
            if any(process.returncode for process in ended):
                raise Failure(f"PyTorch's sweep: a run ended with {max(abs(p.returncode) for p in ended)}")
            running = [process for process in running if process not in ended]
            time.sleep(0.005)
    finally:
        for process in running:
            process.kill()
            process.wait()
