"""Large data files: a text, and lines with their translations. How long a sweep of two runs takes with its data not yet
made into tokens, and again with that kept, and what a run that is done and its report then take.

Seconds of the processors are those of the command and all processes that it starts. Memory is the most that all of them
have at a time, as the kernel shares it out (Pss): what several map of one file counts once. Of it, `own` is what is no
file's, and so is not given up where others want memory.
"""

import dataclasses
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import tables
from rounds import Failure

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


def processes_of(parent: int) -> list[int]:
    """A process and all that it started."""
    out = [parent]
    try:
        for task in os.listdir(f"/proc/{parent}/task"):
            for child in pathlib.Path(f"/proc/{parent}/task/{task}/children").read_text().split():
                out += processes_of(int(child))
    except OSError:  # it has ended
        pass
    return out


def memory_of(processes: list[int]) -> tuple[int, int]:
    """Bytes that processes have together, and those of them that are no file's."""
    sums = {"Pss:": 0, "Pss_Anon:": 0}
    for process in processes:
        try:
            for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                words = line.split()
                if words[0] in sums:
                    sums[words[0]] += 1024 * int(words[1])
        except OSError:
            pass
    return sums["Pss:"], sums["Pss_Anon:"]


class Watch:
    """The most memory that a command has, looked at many times a second."""

    def __init__(self, process: int):
        self.most = (0, 0)
        self.process = process
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.ended.wait(0.02):
            found = memory_of(processes_of(self.process))
            self.most = tuple(map(max, self.most, found))

    def end(self):
        self.ended.set()
        self.thread.join()


def taken(what: str, command: list, environment: dict, log) -> Figure:
    """Runs a command to its end, and says what it and what it started took. Its output goes nowhere."""
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | environment)
        watch = Watch(process.pid)
        try:
            _, status, used = os.wait4(process.pid, 0)  # with the time of those that it waited for
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            watch.end()
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise Failure(f"{' '.join(map(str, command[:2]))} ended with {process.returncode}: "
                          f"{errors.read().decode(errors='replace').strip()[-500:]}")
    out = Figure(what, wall, used.ru_utime + used.ru_stime, *watch.most)
    log(f"{what}: {out.cpu:.2f} s")
    return out


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

    return [taken(f"{what}: two runs at once", run("first"), environment, log),
            taken("  two runs at once, data kept before", run("second"), environment, log),
            taken("  heed run, all done before", run("second"), environment, log),
            taken("  heed report", [heed, "report", place / "second"], environment, log)]


def measure(heed: str, megabytes: int, pairs: int, log=lambda text: None) -> list[Figure]:
    """All figures, of a text of so many MB and of so many pairs. What is made goes again; in the folder for temporary
    files there must be room for twice of it."""
    with tempfile.TemporaryDirectory(prefix="heed-data-") as name:
        place = pathlib.Path(name)
        text = place / "text.txt"
        log(f"a text of {megabytes} MB is made")
        write_text(text, 1_000_000 * megabytes)
        figures = sweep(heed, place, f"text of {megabytes} MB",
                        CONFIG.format(kind="text", path=text, data="", model="decoder"), text, log)
    with tempfile.TemporaryDirectory(prefix="heed-data-") as name:
        place = pathlib.Path(name)
        table = place / "pairs.tsv"
        log(f"{pairs} pairs are made")
        write_pairs(table, pairs)
        limits = "max_vocabulary = 4000\nmax_length = 60\ntoo_long = \"cut\""
        return figures + sweep(heed, place, f"translation, {pairs} pairs",
                               CONFIG.format(kind="translation", path=table, data=limits, model="encoder_decoder"),
                               table, log)


def table(figures: list[Figure]) -> str:
    return tables.table(["large data", "by the clock", "CPU time", "MB", "own MB"], [each.row() for each in figures])


if __name__ == "__main__":
    print(table(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]),
                        lambda text: print(text, file=sys.stderr, flush=True))))
