"""What Heed is to reach beside its training steps, and `./heed bench --goals`, which measures it and says what is met.

A goal is an entry of GOALS. Its figure comes from what goal_measurements.py gives, by the names there.
"""

import collections.abc
import dataclasses

import goal_measurements
import tables
from goal_measurements import NORMALIZERS, POSITIONS
from shared import Tools, best, progress, ratio, say


class Missing(Exception):
    """A figure that there is none of here; the message says why."""


@dataclasses.dataclass(frozen=True)
class Unit:
    show: collections.abc.Callable[[float], str]
    of_cpu: bool = False  # time, and so another on another CPU


TIMES, PERCENT = Unit(tables.times), Unit(tables.percent)
SECONDS = Unit(lambda value: f"{value:.2f} s", of_cpu=True)
MEGABYTES = Unit(lambda value: f"{value:.0f} MB")
KILOBYTES = Unit(lambda value: f"{value:.1f} kB")
COUNT = Unit(lambda value: f"{value:.0f}")


@dataclasses.dataclass(frozen=True)
class Goal:
    what: str
    before: str  # the figure that it had when the goal was set
    goal: float
    figure: collections.abc.Callable[[dict], float]  # of all measurements; throws Missing
    unit: Unit = TIMES
    larger: bool = False  # is better; else smaller

    def row(self, measurements: dict) -> dict:
        """What the table and the JSON have of it: `measured` and `met` are None where `why` says what is missing."""
        row = {"what": self.what, "before": self.before, "goal": self.goal, "larger_is_better": self.larger,
               "measured": None, "met": None, "why": None}
        try:
            row["measured"] = self.figure(measurements)
        except Missing as missing:
            row["why"] = str(missing)
        else:
            row["met"] = row["measured"] >= self.goal if self.larger else row["measured"] <= self.goal
        return row

    def cells(self, row: dict, missing: str) -> list[str]:
        """A line of the table; `missing` stands for a figure that there is none of."""
        bar = f"{'from' if self.larger else 'up to'} {self.unit.show(self.goal)}{' *' if self.unit.of_cpu else ''}"
        return [self.what, self.before, bar, missing if row["why"] else self.unit.show(row["measured"]),
                {True: "yes", False: "no", None: "-"}[row["met"]]]


# ---- figures of measurements ----------------------------------------------------------------------------------------


def records(measurements: dict, name: str) -> list | dict:
    """What a measurement gave."""
    found = measurements.get(name, {"missing": "it was not measured"})
    if "missing" in found:
        raise Missing(found["missing"])
    return found


def one(measurements: dict, name: str, **keys) -> dict:
    """The record of a measurement that has these values."""
    for record in records(measurements, name):
        if all(record.get(key) == value for key, value in keys.items()):
            return record
    raise Missing("it was not measured")


def speed_to_peer(record: dict, key: str = "heed") -> float:
    """How many times as fast as PyTorch, eager or compiled."""
    peer = best(record.get("eager"), record.get("compiled"))
    if not peer:
        raise Missing("PyTorch's side is missing")
    return ratio(peer, record[key])


def own_attention(attention: str, length: int):
    return lambda m: one(m, "decoders", attention=attention, width=64, length=length)["own"]


def decoder_to_peer(attention: str, width: int, length: int):
    return lambda m: speed_to_peer(one(m, "decoders", attention=attention, width=width, length=length))


def slowest_to_peer(cell: str, name: str):
    """How many times as fast as PyTorch's layer, at the size where it is the least."""
    return lambda m: min(speed_to_peer(r, "once") for r in records(m, name) if r["cell"] == cell)


def generation_to_peer(size: str, prompt: int):
    return lambda m: speed_to_peer(one(m, "generation", size=size, prompt=prompt))


def start(command_name: str):
    return lambda m: one(m, "starts", command=command_name)["share"]


def evaluation_memory(m: dict) -> float:
    return records(m, "evaluation's memory")["peak"] / 1e6


def evaluation_to_peer(m: dict) -> float:
    return speed_to_peer(one(m, "evaluation", size="block 1024", threads=1))


def command(what: str):
    return lambda m: one({"sweeps": records(m, "sweeps")["commands"]}, "sweeps", what=what)["cpu"]


def of_run(key: str, unit: float = 1):
    def figure(m: dict) -> float:
        value = records(m, "sweeps")["run"][key]
        if value is None:
            raise Missing("there is no strace")
        return value / unit
    return figure


def count_of_run(key: str):
    """To the nearest: what their sweep has of its own is a small part of each run's."""
    return lambda m: round(of_run(key)(m))


def furthest_memory(m: dict) -> float:
    return max(abs(r["planned"] / r["measured"] - 1) for r in records(m, "planned memory"))


def large(name: str, place: int, key: str, unit: float = 1):
    """Of the commands on large data: two runs, these with their data kept, all done, the report."""
    return lambda m: records(m, name)[place][key] / unit


def text_memory(m: dict) -> float:
    """Whether the data is new or kept, whichever takes more."""
    return max(figure["memory"] for figure in records(m, "large text")[:2]) / 1e6


def to_reference(variant: str):
    return lambda m: max(r["to_reference"] for r in one_variant(m, variant))


def one_variant(measurements: dict, variant: str) -> list[dict]:
    found = [r for r in records(measurements, "variants") if r["variant"] == variant]
    if not found:
        raise Missing("it was not measured")
    return found


def elsewhere(why: str):
    """What no measurement gives."""
    def figure(_: dict) -> float:
        raise Missing(why)
    return figure


# ---- the goals ------------------------------------------------------------------------------------------------------

GOALS = [
    # What attention to a whole source adds to the same decoder over a source of one state, in times of the streaming
    # kernel of the same pairs.
    *(Goal(f"{name}, width 64, length {length}: attention, to its kernel", "-", 1.5,
           own_attention(name.lower(), length))
      for name, length in (("Bahdanau", 64), ("Luong without feeding", 64), ("Luong without feeding", 256))),
    *(Goal(f"{name}, width {width}, length {length}: speed to PyTorch's loop", before, goal,
           decoder_to_peer(name.lower(), width, length), larger=True)
      for name, width, length, before, goal in (
          ("Bahdanau", 64, 256, "2.3x", 5), ("Luong", 64, 256, "3.8x", 6),
          ("Bahdanau", 256, 64, "1.5x to 1.7x", 2.5), ("Bahdanau", 256, 256, "1.5x to 1.7x", 2.5),
          ("Luong", 256, 64, "1.5x to 1.7x", 2.5), ("Luong", 256, 256, "1.5x to 1.7x", 2.5))),

    # Recurrent layers, at the slowest of three sizes.
    *(Goal(f"{cell.upper()}{where}, slowest of three sizes: speed to PyTorch's", "-", 1,
           slowest_to_peer(cell, f"layers{where}"), larger=True)
      for where in ("", " on AVX2") for cell in ("gru", "lstm")),

    # Trained models.
    *(Goal(f"{what}, {size}: speed to PyTorch with a cache", before, goal, generation_to_peer(size, prompt),
           larger=True)
      for what, prompt, size, before, goal in (
          ("512 tokens", 1, "4 x 128", "2.5x", 6), ("512 tokens", 1, "6 x 384", "0.8x", 1.6),
          ("a prompt of 1,000", 1000, "4 x 128", "0.1x", 1), ("a prompt of 1,000", 1000, "6 x 384", "-", 1))),
    *(Goal(f"heed {name}, 6 x 384: what it reads, of the checkpoint", "100 % (132 MB)", 0.34, start(name), PERCENT)
      for name in ("generate", "evaluate", "attend")),
    Goal("heed evaluate, 4 x 128, block 1024: memory", "1.0 GB", 100, evaluation_memory, MEGABYTES),
    Goal("evaluation, 4 x 128, block 1024: speed to PyTorch's", "0.8x", 1.2, evaluation_to_peer, larger=True),

    # What sweeps cost beside their training.
    *(Goal(f"heed check, {what}", before, 0.3, command(f"heed check, {what}"), SECONDS) for what, before in (
        ("100 arms of one model", "-"), ("100 arms, each a model", "-"),
        ("100 arms of L, each a model", "15 s, five arms"), ("one arm, block of 32,768", "172 s"))),
    Goal("operations counted to those that run, all configs", "-", 0,
         elsewhere("tests hold it: ./heed test training"), PERCENT),
    Goal("memory, planned to a worker's: furthest of 20 configs", "6.4 times as much", 0.1, furthest_memory, PERCENT),
    Goal("a run's folder and files", "8", 5, count_of_run("inodes"), COUNT),
    Goal("a run's calls that wait for the disk", "7", 7, count_of_run("synchronised"), COUNT),
    Goal("a run's folder: what is in it", "29 kB", 29, of_run("bytes", 1e3), KILOBYTES),
    *(Goal(what, before, goal, command(what), SECONDS) for what, before, goal in (
        ("heed run, nothing to do, 2,000 runs", "7.7 s", 1), ("heed report, 2,000 runs", "4.6 s", 1.5),
        ("heed run, nothing to do, 20,000 runs", "-", 5), ("heed report, 20,000 runs", "62.8 s", 12))),

    # Large data, by all processes together.
    Goal("a text of 1 GB, two runs at once: CPU time", "40 s", 8, large("large text", 0, "cpu"), SECONDS),
    Goal("a text of 1 GB, two runs at once: memory", "7.7 GB", 1500, text_memory, MEGABYTES),
    # That these don't read the data.
    *(Goal(f"a text of 1 GB, {what}: memory", "-", 50, large("large text", place, "memory", 1e6), MEGABYTES)
      for place, what in ((2, "a run with nothing to do"), (3, "the report"))),
    Goal("a million pairs, kept: a worker", "24 s", 0.5, large("many pairs", 1, "cpu", 2), SECONDS),

    # Attention by the kernel, one thread, causal or full, whichever is slower.
    *(Goal(f"{name}, length 2048: time, to softmax's", "1.4x to 2.2x", 1.25 if name == "entmax15" else 1.3,
           to_reference(name)) for name in NORMALIZERS + POSITIONS),
    Goal("l1, length 2048: time, to a dot product's", "45x", 4, to_reference("l1")),
]


def rows(measurements: dict) -> list[dict]:
    return [goal.row(measurements) for goal in GOALS]


def table(found: list[dict], goals: list[Goal] = GOALS) -> str:
    """The goals' rows, and below them why figures are missing."""
    whys = list(dict.fromkeys(row["why"] for row in found if row["why"]))
    lines = [goal.cells(row, f"({whys.index(row['why']) + 1})" if row["why"] else "")
             for goal, row in zip(goals, found)]
    notes = []
    if any(goal.unit.of_cpu for goal in goals):
        notes.append("* Said of a core of a Zen 3; on another CPU the same share of the time before counts.")
    notes += [f"({number}) {why}" for number, why in enumerate(whys, 1)]
    return "\n".join([tables.table(["what", "before", "goal", "here", "met"], lines), *notes])


def measure(tools: Tools) -> dict:
    measurements = goal_measurements.measured(tools)
    found = rows(measurements)
    say(table(found))
    met = [row["met"] for row in found]
    say(f"{met.count(True)} are met, {met.count(False)} are not, {met.count(None)} could not be measured.")
    progress()
    return {"rows": found, "measurements": measurements}
