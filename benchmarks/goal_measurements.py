"""What `./heed bench --goals` measures: no more of each suite than the goals (goals.py) need, and what no suite has.

Each gives what goes into the JSON; one that can't measure here throws a Failure that says why.
"""

import collections.abc
import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from rounds import Failure
from shared import HERE, Size, Tools, in_turns, progress, taken, write_recipe
from suites import data, evaluate, generate, recurrent, sweeps

LAYERS = [(32, 64, 128), (16, 32, 64), (32, 32, 256)]  # rows, steps, width
# What is held against softmax, with heads of width 32 at length 2048.
NORMALIZERS = ("softmax_one", "sparsemax", "entmax15", "top_k", "sum", "hard")
POSITIONS = ("shaw", "t5", "alibi")
VARIANTS = {name: f"attention.normalizer={name}" for name in NORMALIZERS} | {
    name: f"position.kind={name}" for name in POSITIONS}
LARGE_TEXT, MANY_PAIRS = 1000, 1_000_000  # MB; lines
STARTED = Size(6, 384, 6, 1024, 2)  # 11 million parameters
EVALUATED_TEXT = 1_115_394          # characters, as many as tiny Shakespeare has
MEMORY_TEST = HERE.parent / "tests" / "endurance" / "memory_test.py"


def avx2(tools: Tools) -> Tools:
    """The same by kernels for AVX2; PyTorch and the peak keep to AVX2, too."""
    out = dataclasses.replace(tools, avx2=True)
    if not pathlib.Path(out.engine).exists():
        raise Failure("bench_engine_avx2 isn't built, which takes an x86-64 compiler")
    return out


def layers(tools: Tools) -> list[dict]:
    """GRUs and LSTMs over whole sequences, beside the same step by step and PyTorch's."""
    records = []
    for cell in ("gru", "lstm"):
        for size in LAYERS:
            progress(f"{cell}, {size}")
            ours = {way: ["recurrent", cell, way, *size] for way in ("once", "steps", "together")}
            _, results = in_turns(tools, cell, ours, {"eager": ["recurrent", 1, cell, "once", *size]}, seconds=0.25)
            records.append({"cell": cell, "size": " x ".join(map(str, size)), **results})
    return records


def variants(tools: Tools) -> list[dict]:
    """Normalisers and positions against softmax, and distances against dot products, by the kernel, one thread."""
    records = []
    for mask in ("causal", "full"):
        progress(f"normalisers, positions and distances, {mask}")

        def words(score: str, *options: str) -> list:
            return ["attention", score, 1, 4, 2048, 32, mask, 1, 0, *options]

        ours = {"softmax": words("scaled_dot")} | {name: words("scaled_dot", option)
                                                   for name, option in VARIANTS.items()}
        ours |= {"dot": words("dot"), "l1": words("l1")}
        _, results = in_turns(tools, mask, ours, seconds=0.15)
        for name in (*VARIANTS, "l1"):
            reference = results["dot" if name == "l1" else "softmax"]
            records.append({"variant": name, "mask": mask, "heed": results[name],
                            "to_reference": results[name]["milliseconds"] / reference["milliseconds"]})
    return records


def write_characters(path: pathlib.Path, count: int):
    path.write_text("".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz .,\n", k=count)))


def trained(tools: Tools, place: pathlib.Path, size: Size, characters: int) -> pathlib.Path:
    """The folder of a run of one step."""
    text = place / "text.txt"
    write_characters(text, characters)
    config = write_recipe(place / "run.toml", "begun", {
        "data.path": str(text), **size.overrides(), "train.steps": 1, "train.evaluate_every": 0,
        "train.evaluate_batches": 1, "sweep.seeds": [0]})
    taken([tools.heed, "run", config, "--out", place / "runs", "--jobs", 1])
    (found,) = (place / "runs").glob("*/manifest.json")
    return found.parent


def bytes_read(command: list) -> int:
    """All that a process asked files for. Pages that it maps are not among it."""
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and the kernel still knows of it
    try:
        lines = pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines()
    except OSError as error:
        raise Failure(f"what a process read can't be had: {error}") from None
    finally:
        status = process.wait()
    if status:
        raise Failure(f"{' '.join(map(str, command[:2]))} ended with {status}")
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))


def starts(tools: Tools) -> list[dict]:
    """What commands that use a trained model read, against the whole checkpoint. Their text is short."""
    with tempfile.TemporaryDirectory(prefix="heed-goals-") as name:
        progress("the start of commands")
        run = trained(tools, pathlib.Path(name), STARTED, 22_000)
        (checkpoint,) = run.glob("*.safetensors")
        whole = checkpoint.stat().st_size
        commands = {"generate": ["--prompt", "a", "--tokens", 1], "evaluate": [], "attend": ["--input", "abc"]}
        return [{"command": command, "checkpoint_bytes": whole,
                 "share": bytes_read([tools.heed, command, run, *words]) / whole}
                for command, words in commands.items()]


def evaluation_memory(tools: Tools) -> dict:
    """The most memory of `heed evaluate`, the whole process, on one thread."""
    with tempfile.TemporaryDirectory(prefix="heed-goals-") as name:
        progress("evaluation's memory")
        run = trained(tools, pathlib.Path(name), evaluate.EVALUATED["block 1024"], EVALUATED_TEXT)
        took = taken(["taskset", "--cpu-list", min(os.sched_getaffinity(0)), tools.heed, "evaluate", run])
        return dataclasses.asdict(took)


def of_sweeps(tools: Tools) -> dict:
    figures, cost = sweeps.figures_of(tools.heed, progress)
    return {"commands": [dataclasses.asdict(figure) for figure in figures], "run": dataclasses.asdict(cost)}


def planned_memory(tools: Tools) -> list[dict]:
    """Twenty configurations' memory as planned against that of their workers, by the test of it."""
    library = tools.build / "tests" / "endurance" / "peak_memory.so"
    if not library.exists():
        raise Failure(f"{library.name} isn't built, which takes a build with tests")
    progress("memory as planned")
    done = subprocess.run([sys.executable, str(MEMORY_TEST), tools.heed, str(library), "memory is as planned"],
                          env={**os.environ, "HEED_LONG": "1"}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    found = re.findall(r"^# (.+): ([\d.]+) MB planned, ([\d.]+) MB measured", done.stdout, re.M)
    if not found:
        raise Failure(f"{MEMORY_TEST.name} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return [{"config": name, "planned": float(planned), "measured": float(measured)}
            for name, planned, measured in found]


def need_room(gigabytes: float):
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free / 1e9
    if free < gigabytes:
        raise Failure(f"{place} has {free:.1f} GB, and {gigabytes:g} are needed; TMPDIR may name another folder")


def large_text(tools: Tools) -> list[dict]:
    need_room(2.5 * LARGE_TEXT / 1000)
    return [dataclasses.asdict(figure) for figure in data.text_figures(tools.heed, LARGE_TEXT, progress)]


def many_pairs(tools: Tools) -> list[dict]:
    need_room(2)
    return [dataclasses.asdict(figure) for figure in data.pairs_figures(tools.heed, MANY_PAIRS, progress)]


MEASUREMENTS: dict[str, collections.abc.Callable[[Tools], list | dict]] = {
    "decoders": recurrent.records,
    "layers": layers,
    "layers on AVX2": lambda tools: layers(avx2(tools)),
    "generation": generate.records,
    "starts": starts,
    "evaluation": lambda tools: [evaluate.one(tools, "block 1024", 1)],
    "evaluation's memory": evaluation_memory,
    "sweeps": of_sweeps,
    "planned memory": planned_memory,
    "large text": large_text,
    "many pairs": many_pairs,
    "variants": variants,
}


def measured(tools: Tools) -> dict:
    """All of them by name, each with the seconds that it took; what can't be measured has {"missing": why}."""
    results: dict = {"seconds": {}}
    for name, measure in MEASUREMENTS.items():
        begin = time.monotonic()
        try:
            results[name] = measure(tools)
        except (Failure, OSError) as failure:
            results[name] = {"missing": str(failure)}
        results["seconds"][name] = time.monotonic() - begin
    return results
