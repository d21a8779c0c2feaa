"""Large data files: a text, and lines with their translations. How long a sweep of two runs takes with its data not yet
made into tokens, and again with that kept, and what a run that is done and its report then take.

Seconds of the processors are those of the command and all processes that it starts. Memory is the most that all of them
have at a time, as the kernel shares it out (Pss): what several map of one file counts once. Of it, `own` is what is no
file's, and so is not given up where others want memory.
"""

import dataclasses
import itertools
import pathlib
import random
import sys
import tempfile
import time

import tables
from shared import Tools, progress, say, taken

CONFIG = """name = "{kind}"
[data]
path = "{path}"
{data}
[task]
kind = "{kind}"
[model]
kind = "{model}"
layers = 1
width = 16
heads = 1
[train]
steps = 3
batch = 4
evaluate_every = 0
evaluate_batches = 1
[sweep]
seeds = 2
"""


@dataclasses.dataclass
class Figure:
    """What a command took."""

    what: str
    wall: float
    cpu: float
    memory: float  # bytes
    own: float

    def row(self) -> list[str]:
        return [self.what, f"{self.wall:.2f} s", f"{self.cpu:.2f} s", tables.megabytes(self.memory),
                tables.megabytes(self.own)]


def figure(what: str, command: list, environment: dict, log) -> Figure:
    took = taken(command, environment, watched=True)
    log(f"{what}: {took.cpu:.2f} s")
    return Figure(what, took.wall, took.cpu, took.memory, took.own)


def words_of(draw: random.Random) -> tuple[list[str], list[float]]:
    """Words, and their frequencies summed up, as Zipf's law has them."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(draw.choices(letters, range(len(letters), 0, -1), k=draw.randint(2, 11))) for _ in range(60_000)]
    return words, list(itertools.accumulate(1 / (i + 1) for i in range(len(words))))


def write_text(path: pathlib.Path, size: int):
    """A text of about so many bytes: 20,000 lines in a random order."""
    draw = random.Random(1)
    words, frequencies = words_of(draw)
    lines = [" ".join(draw.choices(words, cum_weights=frequencies, k=draw.randint(6, 16))) + draw.choice(".!,é") + "\n"
             for _ in range(20_000)]
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            file.write("".join(draw.choices(lines, k=len(lines))))


def write_pairs(path: pathlib.Path, count: int):
    """So many lines of about 22 words, a tab and 22 others: made of phrases, which are quickly drawn."""
    draw = random.Random(1)
    words, frequencies = words_of(draw)

    def phrases() -> list[str]:
        return [" ".join(draw.choices(words, cum_weights=frequencies, k=draw.randint(3, 8))) for _ in range(60_000)]

    inputs, outputs = phrases(), [phrase.upper() for phrase in phrases()]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            parts = draw.randint(2, 6)
            file.write(" ".join(draw.choices(inputs, k=parts)) + "\t" + " ".join(draw.choices(outputs, k=parts)) + "\n")


def sweep(heed: str, place: pathlib.Path, what: str, config: str, path: pathlib.Path, log) -> list[Figure]:
    """Two runs at once, their data new to Heed and known to it; done before; and their report."""
    file, environment = place / "sweep.toml", {"XDG_CACHE_HOME": str(place / "cache")}
    file.write_text(config)
    time.sleep(max(0.0, path.stat().st_mtime + 4 - time.time()))  # what was written just now is not trusted

    def run(out: str) -> list:
        return [heed, "run", file, "--out", place / out, "--jobs", 2, "--threads", 1]

    return [figure(f"{what}: two runs at once", run("first"), environment, log),
            figure("  two runs at once, data kept before", run("second"), environment, log),
            figure("  heed run, all done before", run("second"), environment, log),
            figure("  heed report", [heed, "report", place / "second"], environment, log)]


def text_figures(heed: str, megabytes: int, log=lambda text: None) -> list[Figure]:
    """Of a text of so many MB. What is made goes again; in the folder for temporary files there must be room for twice
    of it, here and below."""
    with tempfile.TemporaryDirectory(prefix="heed-data-") as name:
        place = pathlib.Path(name)
        text = place / "text.txt"
        log(f"a text of {megabytes} MB is made")
        write_text(text, 1_000_000 * megabytes)
        return sweep(heed, place, f"text of {megabytes} MB",
                     CONFIG.format(kind="text", path=text, data="", model="decoder"), text, log)


def pairs_figures(heed: str, pairs: int, log=lambda text: None) -> list[Figure]:
    """Of so many pairs."""
    with tempfile.TemporaryDirectory(prefix="heed-data-") as name:
        place = pathlib.Path(name)
        table = place / "pairs.tsv"
        log(f"{pairs} pairs are made")
        write_pairs(table, pairs)
        limits = "max_vocabulary = 4000\nmax_length = 60\ntoo_long = \"cut\""
        return sweep(heed, place, f"translation, {pairs} pairs",
                     CONFIG.format(kind="translation", path=table, data=limits, model="encoder_decoder"), table, log)


def figures_of(heed: str, megabytes: int, pairs: int, log=lambda text: None) -> list[Figure]:
    return text_figures(heed, megabytes, log) + pairs_figures(heed, pairs, log)


def table(figures: list[Figure]) -> str:
    return tables.table(["large data", "by the clock", "CPU time", "MB", "own MB"], [each.row() for each in figures])


def measure(tools: Tools) -> list[dict]:
    say(f"Data made for it: a text of {tools.megabytes} MB, and {tools.pairs} lines with their translations.")
    figures = figures_of(tools.heed, tools.megabytes, tools.pairs, progress)
    say()
    say(table(figures))
    return [dataclasses.asdict(figure) for figure in figures]


if __name__ == "__main__":
    print(table(figures_of(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]),
                        lambda text: print(text, file=sys.stderr, flush=True))))
