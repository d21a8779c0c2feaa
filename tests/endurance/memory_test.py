#!/usr/bin/env python3
"""Memory as `heed plan` says it against what a worker's kernel measures, and steps that add nothing to it. Prints TAP.
Usage: memory_test.py HEED LIBRARY [POINT]     one of its points alone: "memory is as planned"

With HEED_LONG set, 20 configurations and 10,000 steps; else a few."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import Points, run, until  # noqa: E402

heed, library = sys.argv[1], sys.argv[2]
points = Points()
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
COPY, SHAPES = str(CONFIGS / "base/copy.toml"), str(CONFIGS / "vision/shapes.toml")
MIDDLE = ["model.width=128", "model.layers=4", "task.copy.length=64", "task.validation=64"]
TEXT = ["task.kind=text", "task.text.block=128", "model.width=64", "train.batch=8", "train.evaluate_batches=4"]

# A name, the file, overrides, threads of the worker. TEXT_FILE is a text of so many megabytes.
CASES = [
    ("the copy task", COPY, [], 1),
    ("4 layers of 128", COPY, MIDDLE, 1),
    ("one shard", COPY, [*MIDDLE, "train.shards=1"], 1),
    ("two threads", COPY, MIDDLE, 2),
    ("a text of 10 MB", COPY, [*TEXT, "data.path={text:10}"], 1),
    ("6 layers of 384", COPY, ["model.width=384", "model.layers=6", "task.copy.length=64"], 1),
    ("6 layers of 384, two threads", COPY, ["model.width=384", "model.layers=6", "task.copy.length=64"], 2),
    ("1,000 tokens", COPY, ["model.width=128", "model.layers=4", "task.copy.length=500", "train.batch=8"], 1),
    ("additive scores", COPY, [*MIDDLE, "attention.score=additive"], 1),
    ("sparsemax", COPY, [*MIDDLE, "attention.normalizer=sparsemax"], 1),
    ("cosine scores in float64", COPY, [*MIDDLE, "attention.score=cosine", "precision=float64"], 1),
    ("shaw's positions", COPY, [*MIDDLE, "position.kind=shaw"], 1),
    ("8 shards of 256", COPY, ["model.width=256", "model.layers=4", "train.shards=8"], 1),
    ("SGD of 512", COPY, ["model.width=512", "model.layers=6", "train.optimizer=sgd"], 1),
    ("a look at attention", COPY, [*MIDDLE, "task.copy.length=256", "train.inspect=attention"], 1),
    ("20,000 validation sequences", COPY, ["task.validation=20000", "task.copy.length=64"], 1),
    ("an encoder", SHAPES, ["model.width=128", "train.batch=128"], 1),
    ("an encoder and decoder", COPY, [*MIDDLE, "model.kind=encoder_decoder"], 1),
    ("a recurrent model", COPY, ["model.kind=recurrent", "model.width=128", "task.copy.length=32"], 1),
    ("images", SHAPES, [], 1),
]
MARGIN = 0.10


def with_files(overrides, folder):
    """The overrides with the files that they name."""
    out = []
    for override in overrides:
        if "{text:" in override:
            megabytes = int(override.split("{text:")[1].split("}")[0])
            file = folder / f"text-{megabytes}.txt"
            file.write_text("it was the best of times, it was the worst of times.\n" * (megabytes * 10**6 // 53))
            override = override.split("{text:")[0] + str(file)
        out.append(override)
    return out


def planned_run(config, overrides, folder):
    """The folder of a run that has not begun."""
    out = folder / "out"
    run([heed, "run", config, *overrides, "--out", str(out), "--jobs", "1"])
    made = next(file.parent for file in out.glob("*/manifest.json"))
    for file in made.iterdir():
        if file.name != "config.toml":
            file.unlink()
    return made


def worker_peak(made, threads):
    """The most memory that the run's worker had at once, in bytes, without what it mapped of data that is kept."""
    file = made.parent / "peak"
    run([heed, "worker", str(made), "--threads", str(threads)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": library, "HEED_PEAK": str(file)})
    kept = sum(file.stat().st_size for file in pathlib.Path(os.environ["XDG_CACHE_HOME"]).rglob("*.kept"))
    return int(file.read_text()) - kept


def memory_is_as_planned(folder):
    # Meson's way to find uninitialised memory writes to all that is allocated, and so makes the system give it: to the
    # worker, and to `heed plan`, which weighs the data that it makes.
    os.environ.pop("MALLOC_PERTURB_", None)
    wrong = []
    for name, config, overrides, threads in CASES if sweep.LONG else CASES[:5]:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            place = pathlib.Path(place)
            os.environ["XDG_CACHE_HOME"] = str(place / "cache") # where it is kept
            short = [*with_files(overrides, place), "train.steps=4", "train.evaluate_every=0"]
            plan = json.loads(run([heed, "plan", config, *short, "--json", "--no-probe", "--threads", str(threads),
                                   "--out", str(place / "out")]))["result"]
            measured = worker_peak(planned_run(config, short, place), threads)
        ratio = plan["memory_bytes"] / measured
        print(f"# {name}: {plan['memory_bytes'] / 1e6:.1f} MB planned, {measured / 1e6:.1f} MB measured, {ratio:.2f}")
        if abs(ratio - 1) > MARGIN:
            wrong.append(name)
    assert not wrong, f"more than {MARGIN:.0%} apart: {', '.join(wrong)}"


def peak(process):
    """The most bytes that a process had in memory so far; nothing once it has ended."""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), None)


def steps_add_nothing(folder):
    steps, out = 10_000 if sweep.LONG else 4_000, folder / "out"
    process = subprocess.Popen([heed, "run", COPY, f"train.steps={steps}", "train.checkpoint_every=100",
                                "train.evaluate_every=100", "model.width=16", "--out", str(out), "--jobs", "1"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    worker = until(lambda: [p for p, command in sweep.processes(out).items() if " worker " in command], "a worker")[0]
    seen = []  # steps and the peak then
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):  # gone with the run's end
            progress = [json.loads(file.read_text()) for file in out.glob("*/progress.json")]
            if progress and (bytes_now := peak(worker)):
                seen.append((progress[0]["step"], bytes_now))
        time.sleep(0.05)
    assert process.returncode == 0
    # Evaluations and checkpoints came several times by then.
    first_step, first = next((step, at) for step, at in seen if step >= steps // 4)
    last_step, last = seen[-1]
    assert last_step > steps // 2, f"last seen at step {last_step}"
    print(f"# {last - first} bytes more at step {last_step} than at step {first_step}, of {last / 1e6:.1f} MB")
    # The smallest piece that malloc gives has 32 bytes: one that stays at each step would show.
    assert last - first < 24 * (last_step - first_step)


for test in (memory_is_as_planned, steps_add_nothing):
    name = test.__name__.replace("_", " ")
    if name not in (sys.argv[3:] or [name]):
        continue
    with points.point(name), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
