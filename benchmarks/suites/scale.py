"""A folder with very many finished runs: what planning, the index, `heed status` and `heed report` then take.

A few tiny runs are really run. All others get their plan's configuration and ID, and the files of one of these, so that
Heed takes them for finished. What is said is the user and system time of a command's processes, which is the same
where other programs share the machine; what runs on several threads counts for as much as they take together.
"""

import dataclasses
import json
import pathlib
import sys
import tempfile

import tables
from shared import Tools, progress, say, taken

FEW_ARMS, FEW_SEEDS = 10, 100      # arms of the sweep with many seeds; seeds of the sweep with many arms
REPORTED, EVALUATIONS = 2000, 200  # runs of the sweep that is reported, and evaluations of each
MODELS = 4                         # runs of each sweep that are really run, and lend the others their files
NEW = 10                           # run folders that are new to an index
FEWEST = FEW_ARMS * FEW_SEEDS      # run folders of which there is something to say

CONFIG = """name = "{name}"
seed = 0
[task]
kind = "copy"
[task.copy]
length = 4
[model]
layers = 1
width = 8
heads = 1
[train]
steps = {steps}
batch = 4
evaluate_every = 2
[sweep]
seeds = {seeds}
"""

ARMS = """[[sweep.block]]
grid."train.learning_rate" = [{rates}]
"""


@dataclasses.dataclass
class Figure:
    """What was measured, beside what it may be."""

    what: str
    value: float
    bar: float | None
    unit: str = "s"
    wall: float | None = None

    def row(self) -> list[str]:
        held = "" if self.bar is None else "yes" if self.value < self.bar else "NO"
        return [self.what, f"{self.value:.2f} {self.unit}", "" if self.bar is None else f"{self.bar:g} {self.unit}",
                held, "" if self.wall is None else f"{self.wall:.2f} s"]


def figure(what: str, command: list, bar: float | None, log) -> Figure:
    cost = taken(command)
    out = Figure(what, cost.cpu, bar, "s", cost.wall)
    log(f"{what}: {cost.cpu:.2f} s")
    return out


def answer(what: str, command: list, bar: float, log) -> list[Figure]:
    """Of a command that somebody waits for, and that works in several threads: the bar is for the clock."""
    cost = figure(what, command, None, log)
    return [cost, Figure("the same, by the clock", cost.wall, bar)]


def write_config(path: pathlib.Path, name: str, arms: int, seeds: int, steps: int):
    rates = ",\n".join(f"{1e-5 * (i + 2):.6g}" for i in range(arms - 1))
    path.write_text(CONFIG.format(name=name, steps=steps, seeds=seeds) + (ARMS.format(rates=rates) if rates else ""))


@dataclasses.dataclass
class Model:
    """A finished run whose files others get."""

    id: str
    files: dict[str, bytes]

    @staticmethod
    def of(folder: pathlib.Path) -> "Model":
        files = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.name != "config.toml"}
        return Model(folder.name, files)

    def write(self, out: pathlib.Path, run: dict):
        folder = out / run["id"]
        folder.mkdir()
        for name, content in self.files.items():
            if name == "manifest.json":
                content = content.replace(self.id.encode(), run["id"].encode())
            (folder / name).write_bytes(content)
        (folder / "config.toml").write_text(run["config"])


def planned_runs(heed: str, config: pathlib.Path, out: pathlib.Path, *words) -> list[dict]:
    """The runs of a configuration's plan, each with its ID and its resolved configuration."""
    record = config.with_suffix(".plan.json")
    record.unlink(missing_ok=True)
    taken([heed, "plan", config, *words, "--out", out, "--register", record])
    plan = json.loads(record.read_text())
    record.unlink()
    for run in plan["runs"]:
        if "config" not in run:  # a plan of many runs has an arm's once, in two parts
            before, after = plan["arms"][run["arm"]]["config"]
            run["config"] = f"{before}{run['seed']}{after}"
    return plan["runs"]


def make_runs(heed: str, place: pathlib.Path, out: pathlib.Path, runs: list[dict], steps: int, log):
    """Folders of finished runs, with the files of a few that are really run."""
    with tempfile.TemporaryDirectory(dir=place) as models_place:
        config, made = pathlib.Path(models_place) / "models.toml", pathlib.Path(models_place) / "runs"
        write_config(config, "models", 1, MODELS, steps)
        taken([heed, "run", config, "--out", made, "--threads", "1"])
        models = [Model.of(folder) for folder in sorted(made.iterdir()) if folder.name != "sweeps"]
    out.mkdir(exist_ok=True)
    for i, run in enumerate(runs):
        models[(7 * run["arm"] + run["seed"]) % len(models)].write(out, run)
        if (i + 1) % 10000 == 0:
            log(f"{i + 1} folders of {len(runs)} made")


def plans(heed: str, place: pathlib.Path, folders: int, log) -> list[Figure]:
    """Plans of as many runs as there are to be folders: with many seeds, in two spellings, and with many arms."""
    seeds, arms, nowhere = folders // FEW_ARMS, folders // FEW_SEEDS, place / "none"
    few, listed, many = place / "few.toml", place / "listed.toml", place / "many.toml"
    write_config(few, "scale", FEW_ARMS, seeds, 20)
    spelled = ",\n".join(map(str, range(seeds)))
    listed.write_text(few.read_text().replace(f"seeds = {seeds}", f"seeds = [{spelled}]"))
    write_config(many, "arms", arms, FEW_SEEDS, 20)
    return [figure(what, [heed, "plan", config, "--no-probe", "--out", nowhere], 10, log)
            for config, what in ((few, f"heed plan, {FEW_ARMS} arms x {seeds} seeds"),
                                 (listed, "the same, its seeds in a list"),
                                 (many, f"heed plan, {arms} arms x {FEW_SEEDS} seeds"))]


def folder_of_runs(heed: str, place: pathlib.Path, folders: int, log) -> list[Figure]:
    """A folder with so many runs: the index from nothing, asked again, and with new folders; status, and a sweep that
    is done."""
    config, out, away = place / "few.toml", place / "runs", place / "away"
    runs = planned_runs(heed, config, out)
    make_runs(heed, place, out, runs, 20, log)
    done = figure("heed run, all runs done before", [heed, "run", config, "--out", out], None, log)
    away.mkdir()
    new = [run["id"] for run in runs[::max(1, len(runs) // NEW)]][:NEW]
    for name in new:
        (out / name).rename(away / name)
    ask = [heed, "runs", out, "--where", "train.learning_rate > 3e-5 and seed = 3", "--columns", "id,seed,val_loss"]
    figures = [figure(f"heed runs, index of {folders} runs from nothing", ask, 75, log),
               *answer("heed runs --where, index up to date", ask, 0.5, log)]
    for name in new:
        (away / name).rename(out / name)
    return [*figures,
            figure(f"heed runs, {NEW} run folders new", ask, 2, log),
            figure("heed runs (all of them, as a table)", [heed, "runs", out], None, log),
            *answer("heed status", [heed, "status", out], 3, log), done]


def reports(heed: str, place: pathlib.Path, runs: int, log) -> list[Figure]:
    config, out = place / "reported.toml", place / "reported"
    write_config(config, "reported", FEW_ARMS, runs // FEW_ARMS, 2 * EVALUATIONS)
    make_runs(heed, place, out, planned_runs(heed, config, out), 2 * EVALUATIONS, log)
    taken([heed, "run", config, "--out", out])
    figures = [figure(f"heed report, {runs} runs, {EVALUATIONS} evaluations each", [heed, "report", out], 5, log)]
    (page,) = out.glob("sweeps/*/report.html")
    return [*figures, Figure("report.html of it", page.stat().st_size / 1e6, 10, "MB")]


def figures_of(heed: str, folders: int, log=lambda text: None) -> list[Figure]:
    """All figures of a folder with so many runs. What it makes goes again; in the folder for temporary files there must
    be room for it (100,000 runs: 4.5 GB, 700,000 files)."""
    with tempfile.TemporaryDirectory(prefix="heed-scale-") as name:
        place = pathlib.Path(name)
        return [*plans(heed, place, folders, log), *folder_of_runs(heed, place, folders, log),
                *reports(heed, place, min(REPORTED, folders), log)]


def table(figures: list[Figure]) -> str:
    return tables.table(["CPU time", "taken", "bar", "held", "by the clock"], [each.row() for each in figures])


def measure(tools: Tools) -> list[dict]:
    say(f"A folder with {tools.folders} finished runs; CPU time, user's and system's.")
    figures = figures_of(tools.heed, tools.folders, progress)
    say()
    say(table(figures))
    return [dataclasses.asdict(figure) for figure in figures]


if __name__ == "__main__":
    print(table(figures_of(sys.argv[1], int(sys.argv[2]), lambda text: print(text, file=sys.stderr, flush=True))))
