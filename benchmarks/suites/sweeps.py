"""What a sweep costs beside its training: a sweep that is done, its report, a check of many arms, and what a run takes
of itself.

Folders of finished runs are written, not trained (scale.py says how). Seconds are those of the processors, the user's
and the system's together, since other programs change them little, and beside them those by the clock.
"""

import dataclasses
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import tables
from rounds import Failure
from shared import SIZES, Tools, progress, say, taken, write_recipe
from suites import scale

FOLDERS = (2000, 20_000)  # finished runs of a sweep
STEPS = 20                # of each; half as many evaluations
TINY = 100                # runs of two steps, one after the other
TURNS = 3                 # of what is over in a second
SYNCHRONISING = ("fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync")

# A hundred arms of nanoGPT's recipe: of one model, and of as many models.
RATES = 'grid."train.learning_rate" = [{}]'
MODELS = """grid."attention.score" = ["dot", "scaled_dot", "cosine", "additive"]
grid."attention.normalizer" = ["softmax", "sigmoid", "sparsemax", "entmax15", "sum"]
grid."block.activation" = ["relu", "gelu", "gelu_tanh", "silu", "swiglu"]
"""


@dataclasses.dataclass
class Figure:
    """What a command took; of several turns, the medians."""

    what: str
    cpu: float
    wall: float

    def row(self) -> list[str]:
        return [self.what, f"{self.cpu:.2f}", f"{self.wall:.2f}"]


@dataclasses.dataclass
class RunCost:
    """What a run takes of itself, in a sweep of runs that train for two steps."""

    milliseconds: float
    cpu_milliseconds: float
    synchronised: float | None  # calls that wait for the disk; none where there is no strace
    inodes: float               # its folder and what is in it
    bytes: float                # of its files

    def row(self) -> list[str]:
        calls = "-" if self.synchronised is None else f"{self.synchronised:.1f}"
        return [f"a run of {TINY}", tables.milliseconds(self.milliseconds), tables.milliseconds(self.cpu_milliseconds),
                calls, f"{self.inodes:.1f}", f"{self.bytes / 1e3:.1f}"]


def figure(what: str, command: list, turns: int, log) -> Figure:
    log(what)
    each = [taken(command) for _ in range(turns)]
    return Figure(what, statistics.median(t.cpu for t in each), statistics.median(t.wall for t in each))


def done_sweep(heed: str, place: pathlib.Path, runs: int, log) -> list[Figure]:
    """A sweep all of whose runs are there. What is measured has been started once before, as if yesterday."""
    config, out = place / f"done-{runs}.toml", place / f"done-{runs}"
    log(f"{runs} run folders")
    scale.write_config(config, "done", scale.FEW_ARMS, runs // scale.FEW_ARMS, STEPS)
    scale.make_runs(heed, place, out, scale.planned_runs(heed, config, out), STEPS, log)
    run, report = [heed, "run", config, "--out", out], [heed, "report", out]
    taken(run)
    turns = TURNS if runs <= FOLDERS[0] else 1
    figures = [figure(f"heed run, nothing to do, {runs:,} runs", run, turns, log),
               figure(f"heed report, {runs:,} runs", report, turns, log)]
    shutil.rmtree(out)
    return figures


def checks(heed: str, place: pathlib.Path, log) -> list[Figure]:
    """Each arm's cost is found, from its shapes; nothing is trained."""
    text, config = place / "text.txt", place / "checked.toml"
    draw = random.Random(1)
    text.write_text("".join(draw.choices("abcdefghijklmnopqrstuvwxyz .\n", k=500_000)))
    rates = ", ".join(f"{1e-5 * (i + 2):.6g}" for i in range(99))
    cases = {"heed check, 100 arms of one model": ({}, RATES.format(rates)),
             "heed check, 100 arms, each a model": ({}, MODELS),
             "heed check, 100 arms of L, each a model": (SIZES["L"].overrides(), MODELS),
             "heed check, one arm, block of 32,768": ({"task.text.block": 32768}, "")}
    figures = []
    for what, (options, block) in cases.items():
        write_recipe(config, "checked", {"data.path": str(text), "sweep.seeds": 6, **options})
        if block:
            config.write_text(f"{config.read_text()}[[sweep.block]]\n{block}")
        figures.append(figure(what, [heed, "check", config], TURNS, log))
    return figures


def synchronised(summary: str) -> int:
    """Calls that wait for the disk, of `strace -c`: its fourth column is their number, its last their name."""
    calls = 0
    for line in summary.splitlines():
        words = line.split()
        if words and words[-1] in SYNCHRONISING and re.fullmatch(r"\d+", words[3]):
            calls += int(words[3])
    return calls


def run_cost(heed: str, place: pathlib.Path, log) -> RunCost:
    """One run after the other, each on one thread, beside the same sweep under strace."""
    config = place / "tiny.toml"
    scale.write_config(config, "tiny", 1, TINY, 2)
    log("a run's own cost")
    words = [heed, "run", config, "--jobs", "1", "--threads", "1", "--out"]
    took = []
    for turn in range(TURNS):
        out = place / f"tiny-{turn}"
        took.append(taken([*words, out]))
    folders = [folder for folder in out.iterdir() if (folder / "config.toml").exists()]
    files = [file for folder in folders for file in folder.iterdir()]
    calls = None
    if strace := shutil.which("strace"):
        summary = place / "calls"
        done = subprocess.run(list(map(str, [strace, "-f", "-c", "-o", summary, "-e",
                                             f"trace={','.join(SYNCHRONISING)}", *words, place / "traced"])),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            calls = synchronised(summary.read_text()) / TINY
        else:
            log(f"strace ended with {done.returncode}")
    if len(folders) != TINY:
        raise Failure(f"{len(folders)} runs were made, not {TINY}")
    return RunCost(1e3 * statistics.median(t.wall for t in took) / TINY,
                   1e3 * statistics.median(t.cpu for t in took) / TINY, calls,
                   (len(folders) + len(files)) / TINY, sum(file.stat().st_size for file in files) / TINY)


def figures_of(heed: str, log=lambda text: None, folders: tuple[int, ...] = FOLDERS) -> tuple[list[Figure], RunCost]:
    """What it makes goes again; in the folder for temporary files there must be room for it (20,000 runs: 1 GB)."""
    with tempfile.TemporaryDirectory(prefix="heed-sweeps-") as name:
        place = pathlib.Path(name)
        figures = checks(heed, place, log)
        cost = run_cost(heed, place, log)
        for runs in folders:
            figures += done_sweep(heed, place, runs, log)
        return figures, cost


def table(figures: list[Figure], cost: RunCost) -> str:
    return (tables.table(["a sweep's commands", "CPU s", "by the clock"], [each.row() for each in figures]) + "\n\n" +
            tables.table(["two steps, a process each", "ms", "CPU ms", "synchronised", "inodes", "kB"], [cost.row()]))


def measure(tools: Tools) -> dict:
    say("What a sweep costs beside its training. Run folders are written, not trained.")
    figures, cost = figures_of(tools.heed, progress)
    say()
    say(table(figures, cost))
    return {"commands": [dataclasses.asdict(figure) for figure in figures], "run": dataclasses.asdict(cost)}


if __name__ == "__main__":
    print(table(*figures_of(sys.argv[1], lambda text: print(text, file=sys.stderr, flush=True),
                         tuple(map(int, sys.argv[2:])) or FOLDERS)))
