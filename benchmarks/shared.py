"""What suites share: what is measured with, sizes of models, programs that take turns, and what whole commands take."""

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import tables
from rounds import Failure, Subject, take_turns

HERE = pathlib.Path(__file__).resolve().parent
RECIPE = HERE.parent / "configs" / "papers" / "nanogpt-char.toml"
SERVE, TRAIN = HERE / "peers" / "serve.py", HERE / "peers" / "train.py"
# By which libraries keep to AVX2 on a CPU that has more.
AVX2_ALONE = {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
              "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


@dataclasses.dataclass
class Tools:
    """What is measured with: the build folder, a Python with PyTorch (or none), how long to take, of how many run
    folders the suite scale is, and of what size the data of the suite data; whether all keep to AVX2."""

    build: pathlib.Path
    torch_python: str | None
    threads: list[int]
    rounds: int
    text: pathlib.Path
    memory: float
    folders: int
    megabytes: int
    pairs: int
    avx2: bool = False

    @property
    def heed(self) -> str:
        return str(self.build / "heed")

    @property
    def engine(self) -> str:
        return str(self.build / "benchmarks" / ("bench_engine_avx2" if self.avx2 else "bench_engine"))

    @property
    def environment(self) -> dict[str, str]:
        return AVX2_ALONE if self.avx2 else {}

    def measure(self, *words) -> Subject:
        return Subject([self.engine, *map(str, words)], self.environment)

    def peer(self, what: str, threads: int, *words) -> Subject:
        return Subject([self.torch_python, str(SERVE), what, str(threads), *map(str, words)],
                       {**self.environment, "OMP_NUM_THREADS": str(threads)})


@dataclasses.dataclass
class Size:
    """A model of nanoGPT's recipe."""

    layers: int
    width: int
    heads: int
    block: int
    batch: int

    def overrides(self) -> dict:
        return {"model.layers": self.layers, "model.width": self.width, "model.heads": self.heads,
                "task.text.block": self.block, "train.batch": self.batch}

    def words(self) -> list[int]:
        return [self.layers, self.width, self.heads, self.block, self.batch]

    def config_words(self, tools: Tools) -> list[str]:
        """The recipe with this size, as programs take it."""
        return [str(RECIPE), f"data.path={tools.text}", *(f"{key}={value}" for key, value in self.overrides().items())]


ODD = Size(4, 96, 3, 77, 12)
SIZES = {"S": Size(2, 64, 2, 32, 32), "M": Size(4, 128, 4, 64, 12), "L": Size(8, 256, 4, 128, 16)}


def write_recipe(path: pathlib.Path, name: str, values: dict) -> pathlib.Path:
    """A file with the recipe, and these options in place of its own."""
    # Dotted keys, so that one list of values serves here as on a command line; strings are written as TOML's are.
    path.write_text("\n".join([f"extends = [{json.dumps(str(RECIPE))}]", f"name = {json.dumps(name)}",
                               *(f"{key} = {json.dumps(value)}" for key, value in values.items())]) + "\n")
    return path


# ---- what is said ---------------------------------------------------------------------------------------------------


def say(text: str = ""):
    progress()
    print(text, flush=True)


def say_table(header: list[str], rows: list[list[str]]):
    say("\n" + tables.table(header, rows))


def progress(text: str = ""):
    """A line that is drawn again, where there is a terminal; with no text it goes."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def ratio(peer: dict | None, heed: dict) -> float | None:
    """How many times faster Heed is."""
    if not peer or "milliseconds" not in peer or "milliseconds" not in heed:
        return None
    return peer["milliseconds"] / heed["milliseconds"]


def best(*peers: dict | None) -> dict | None:
    return min((p for p in peers if p and "milliseconds" in p), key=lambda p: p["milliseconds"], default=None)


def cell(result: dict | None, kind=tables.milliseconds, key: str = "milliseconds") -> str:
    return "failed" if result and "error" in result else kind(result.get(key) if result else None)


def with_memory(result: dict | None) -> list[str]:
    """The cells of its time and its memory."""
    return [cell(result), cell(result, tables.megabytes, "peak_bytes")]


def on_threads(name: str, threads: int) -> str:
    return f"{name}, {threads} thread{'s' * (threads > 1)}"


# ---- programs that take turns ---------------------------------------------------------------------------------------


def in_turns(tools: Tools, name: str, ours: dict[str, list], peers: dict[str, list] | None = None,
             begun: dict[str, Subject] | None = None, needed: tuple[str, ...] | None = None, seconds: float = 0.5,
             rounds: int | None = None, enough: float = 60.0) -> tuple[dict[str, dict], dict[str, dict]]:
    """Programs in turns: what they say of themselves, and their results, by name.

    `ours` are words of bench_engine; `peers` those of PyTorch's side, which is left out where there is none; `begun`
    wait already, and are not ended. What fails is left out and said, unless it is `needed`, as all of `ours` are if
    nothing else is named.
    """
    with contextlib.ExitStack() as stack:
        def started(subject: Subject) -> Subject:
            stack.callback(subject.close)
            return subject

        subjects = {key: started(tools.measure(*words)) for key, words in ours.items()}
        for key, words in (peers or {}).items() if tools.torch_python else ():
            try:
                subjects[key] = started(tools.peer(*words))
            except Failure as failure:
                say(f"  left out: PyTorch {key}, {name}: {failure}")
        about = {key: subject.about for key, subject in subjects.items()}
        results = take_turns(subjects | (begun or {}), rounds or tools.rounds, seconds, enough)
    for key in ours if needed is None else needed:
        if "error" in results[key]:
            raise Failure(f"{name}: {results[key]['error']}")
    for key, result in results.items():
        if "error" in result:
            say(f"  left out: {key}, {name}: {result['error']}")
    return about, results


def beside_both(tools: Tools, what: str, name: str, size: Size, threads: int, others: dict[str, list] | None = None) \
        -> tuple[dict[str, dict], dict[str, dict]]:
    """Others, Heed, and PyTorch eager and compiled at one size, in turns."""
    progress(on_threads(name, threads) + (": PyTorch compiles" if tools.torch_python else ""))
    peers = {mode: [what, threads, mode, tools.text, *size.words()] for mode in ("eager", "compiled")}
    return in_turns(tools, name, (others or {}) | {"heed": [what, threads, *size.config_words(tools)]}, peers)


def alone(tools: Tools, name: str, words: list, **turns) -> tuple[dict, dict]:
    """Heed by itself: what the program says of itself, and its result."""
    about, results = in_turns(tools, name, {"heed": words}, **turns)
    return about["heed"], results["heed"]


# ---- whole commands -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Taken:
    """What a command took: seconds of the processors, its own and those of all that it started, and by the clock; the
    most bytes that one of its processes had; the most that all had together, and those of them that are no file's."""

    cpu: float
    wall: float
    peak: int
    memory: int = 0
    own: int = 0


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
    """The most memory that a command has, looked at many times a second, as the kernel shares it out (Pss): what
    several processes map of one file counts once."""

    def __init__(self, process: int):
        self.most = (0, 0)
        self.process = process
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        begin = time.monotonic()
        while not self.ended.wait(0.002 if time.monotonic() - begin < 0.1 else 0.02):  # some commands take no longer
            found = memory_of(processes_of(self.process))
            self.most = tuple(map(max, self.most, found))

    def end(self):
        self.ended.set()
        self.thread.join()


def taken(command: list, environment: dict | None = None, watched: bool = False) -> Taken:
    """Runs a command to its end, and says what it took: `memory` and `own` only where it is `watched`, which takes time
    of its own. Its output goes nowhere."""
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors, env=os.environ | (environment or {}))
        watch = Watch(process.pid) if watched else None
        try:
            _, status, used = os.wait4(process.pid, 0)  # with the time of those that it waited for
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            if watch:
                watch.end()
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise Failure(f"{' '.join(map(str, command[:3]))} ended with {process.returncode}: "
                          f"{errors.read().decode(errors='replace').strip()[-500:]}")
    return Taken(used.ru_utime + used.ru_stime, wall, 1024 * used.ru_maxrss, *(watch.most if watch else ()))
