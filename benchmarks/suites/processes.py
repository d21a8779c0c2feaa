"""Training steps in whole runs: on threads of a process, and by processes."""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import tempfile

from shared import SIZES, Size, Tools, progress, say, say_table, taken, write_recipe

# Steps that take some seconds on a slow machine; the first half is not counted.
STEPS_OF_RUN = {"S": 1000, "M": 400, "L": 40}


def measure(tools: Tools) -> list[dict] | None:
    if not shutil.which("mpirun") or not (tools.build / "libheed_mpi.so").exists():
        say("Processes are left out: they need mpirun, and Heed built with Boost.MPI (Debian: libboost-mpi-dev,")
        say("openmpi-bin).")
        return None
    say("Training steps on two threads of a process, and by two processes of a thread each (mpirun -np 2), in turns.")
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    return steps_by_way(tools, {"two threads": ([tools.heed], ["--threads", "2"]),
                                "two processes": (["mpirun", *root, "-np", "2", tools.heed], ["--threads", "1"])})


def steps_by_way(tools: Tools, ways: dict[str, tuple[list[str], list[str]]]) -> list[dict]:
    """Milliseconds of a training step in runs that are started in several ways: words before `run` and at its end."""
    results = []
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as place:
        for name, size in SIZES.items():
            config = config_of_steps(place, name, size, tools.text)
            seconds: dict[str, list[float]] = {way: [] for way in ways}
            for turn in range(tools.rounds):
                for number, (way, (before, after)) in enumerate(ways.items()):
                    progress(f"{name}: turn {turn + 1} of {tools.rounds}")
                    out = pathlib.Path(place) / f"{name}-{number}-{turn}"
                    taken([*before, "run", config, "--out", out, *after])
                    seconds[way].append(step_seconds(out))
            milliseconds = {way: 1e3 * statistics.median(values) for way, values in seconds.items()}
            results.append({"size": name, **dataclasses.asdict(size), "milliseconds": milliseconds, "seconds": seconds})
    first, *others = ways
    say_table(["step", *(f"{way}, ms" for way in ways), *(f"{way}: ratio" for way in others)],
              [[result["size"], *(f"{result['milliseconds'][way]:.2f}" for way in ways),
                *(f"{result['milliseconds'][way] / result['milliseconds'][first]:.2f}" for way in others)]
               for result in results])
    return results


def config_of_steps(place: str, name: str, size: Size, text: pathlib.Path) -> pathlib.Path:
    steps = STEPS_OF_RUN[name]
    values = {"data.path": str(text), **size.overrides(), "train.steps": steps, "train.log_every": steps // 2,
              "train.evaluate_every": 0, "train.evaluate_batches": 1, "train.checkpoint_every": 0}
    return write_recipe(pathlib.Path(place) / f"{name}.toml", "steps", values)


def step_seconds(out: pathlib.Path) -> float:
    """Of a step in the second half of the run."""
    lines = [json.loads(line) for line in next(out.glob("*/metrics.jsonl")).read_text().splitlines()]
    half, whole = [line for line in lines if "train_loss" in line][-2:]
    return (whole["step_seconds"] - half["step_seconds"]) / (whole["step"] - half["step"])
