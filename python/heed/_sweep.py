"""Sweeps: a configuration is checked, planned and run; its results are a Sweep."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _arguments, _heed
from ._messages import shown, tell
from ._progress import Checked, progress_here
from ._report import Picture, Report
from ._toml import config_text, value_text

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Overrides = Union[Mapping[str, Any], Sequence[str], None]


class Plan:
    """What a configuration asks for: arms, seeds and runs. Nothing is trained yet, and no file is written."""

    def __init__(self, prepared: _heed.PreparedSweep) -> None:
        self._prepared = prepared

    @cached_property
    def document(self) -> dict[str, Any]:
        """The plan, as plan.json in a sweep's folder has it."""
        document: dict[str, Any] = json.loads(self._prepared.plan)
        return document

    @property
    def name(self) -> str:
        """The sweep's name."""
        return str(self.document["name"])

    @property
    def arms(self) -> list[dict[str, Any]]:
        """The arms, the reference first: label, changes, runs, cost."""
        return list(self.document["arms"])

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The runs: id, arm (an index into `arms`), seed, config (TOML)."""
        return list(self.document["runs"])

    @property
    def metric(self) -> str:
        """The metric that decides."""
        return self._prepared.metric

    @property
    def notes(self) -> list[str]:
        """Settings that are valid and have no effect, as sentences."""
        return list(self._prepared.notes)

    def __repr__(self) -> str:
        return shown(f"<heed.Plan {self.name!r}: {self._prepared.size}, compared by {self.metric}>")


class Sweep:
    """A sweep in an output folder, finished or not.

    `report` and all that comes from it are read once; `refresh()` reads them again. A later os.chdir changes nothing.
    """

    def __init__(self, out: Path, folder: Path) -> None:
        self.out = out
        """The output folder with the runs."""
        self.folder = folder
        """The sweep's own folder, with its plan and its reports."""
        self._working_folder = _arguments.working_folder()  # in which relative paths of data start

    @cached_property
    def report(self) -> Report:
        """The report. Missing attention weights of the inputs of [report] attend are computed first."""
        return Report(_heed.report_of_sweep(self.out, self.folder, self._working_folder))

    def refresh(self) -> None:
        """Forgets what was read, so that runs that finished since are seen."""
        self.__dict__.pop("report", None)

    @property
    def name(self) -> str:
        """The sweep's name."""
        return str(self.report.document["name"])

    @property
    def table(self) -> pandas.DataFrame:
        """An arm a row, every statistic a column: see Report.table."""
        return self.report.table

    @property
    def runs(self) -> pandas.DataFrame:
        """A run a row: see Report.runs."""
        return self.report.runs

    @property
    def variance(self) -> pandas.DataFrame:
        """A source of variance a row: see Report.variance."""
        return self.report.variance

    @property
    def variance_sentences(self) -> list[str]:
        """What each source contributes to the variance: see Report.variance_sentences."""
        return self.report.variance_sentences

    @property
    def answers(self) -> dict[str, str | None]:
        """For each arm its answer in a word: see Report.answers."""
        return self.report.answers

    @property
    def sentences(self) -> dict[str, str | None]:
        """For each arm its answer as a sentence: see Report.sentences."""
        return self.report.sentences

    @property
    def arms(self) -> list[dict[str, Any]]:
        """The arms of the report's document: label, changes, statistics, curve, runs."""
        return list(self.report.document["arms"])

    def forest(self, *, ax: Axes | None = None) -> Figure:
        """Differences from the reference with their intervals: see Report.forest."""
        return self.report.forest(ax=ax)

    def curves(self, metric: str | None = None, *, log: bool = False, ax: Axes | None = None) -> Figure:
        """Learning curves: see Report.curves."""
        return self.report.curves(metric, log=log, ax=ax)

    def lengths(self, *, ax: Axes | None = None) -> Figure:
        """The metric on sequences of each length: see Report.lengths."""
        return self.report.lengths(ax=ax)

    def variance_bars(self, *, ax: Axes | None = None) -> Figure:
        """The standard deviation that each source of chance gives: see Report.variance_bars."""
        return self.report.variance_bars(ax=ax)

    def attention(self, layer: int | str, head: int, *, arm: str | None = None, example: int = 0,
                  ax: Axes | None = None) -> Figure:
        """A head's attention weights: see Report.attention."""
        return self.report.attention(layer, head, arm=arm, example=example, ax=ax)

    def picture(self, figure: str = "differences", *, dark: bool = False) -> Picture:
        """A figure as SVG, without matplotlib: see Report.picture."""
        return self.report.picture(figure, dark=dark)

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        return shown(f"<heed.Sweep {self.name!r} in {str(self.folder)!r}: "
                     f"{self.report.document['progress']['sentence']}>")

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def check(config: Config, overrides: Overrides = None, *, out: str | os.PathLike[str] = "runs") -> list[str]:
    """Checks a configuration, its data and the model of each arm. Trains nothing. The same as `heed check`.

    Args:
        config: A file, or a dict: {"attention.score": "additive"} and {"attention": {"score": "additive"}} are the same.
        overrides: Values that replace those of the config: a dict by full name, or texts such as "train.steps=200".
        out: The output folder with the runs of [train] start.
    Returns:
        Notes on settings without effect.
    Raises:
        heed.Refused: All mistakes: where, what was found, what is allowed, and the nearest name.
    """
    return plan(config, overrides, out=out).notes


def plan(config: Config, overrides: Overrides = None, *, out: str | os.PathLike[str] = "runs") -> Plan:
    """The plan of a configuration. Arguments and errors are those of `check`."""
    return Plan(_prepare(config, overrides, _arguments.folder("out", out)))


def run(config: Config, overrides: Overrides = None, *, out: str | os.PathLike[str] = "runs", jobs: int = 0,
        threads: int = 0, progress: bool | Any = True) -> Sweep:
    """Runs what is missing of a configuration's sweep, and returns the sweep. The same as `heed run`.

    Runs are processes of their own; other Python threads run meanwhile. Ctrl-C: running jobs save a checkpoint and stop,
    and KeyboardInterrupt is raised; the same call resumes them.

    Args:
        config, overrides: As in `check`.
        out: The output folder. A relative path starts at the working directory at the time of the call.
        jobs: Runs at once; 0: as the machine allows.
        threads: Threads of each run; 0: as the machine allows. Results do not depend on jobs and threads.
        progress: True: shown as in a terminal, or as a bar in a notebook. False: not shown. Or an object with the methods
            begin(text), draw(lines, line, done, total) and say(text), and perhaps `width`, the lines' columns (100).
    Raises:
        heed.Refused: As in `check`; nothing was trained.
        heed.Failed: Some runs failed, or their folders were damaged. The error's attribute `sweep` is the sweep with the
            others.
    """
    for name, value in (("jobs", jobs), ("threads", threads)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 4096:
            raise _heed.Refused(f"{name} is {value!r}; it must be a whole number from 1 to 4096, or 0: as the machine "
                                "allows")
    display: Any = progress_here() if progress is True else None if progress is False else Checked(progress)
    folder = _arguments.folder("out", out)
    prepared = _prepare(config, overrides, folder)
    for note in prepared.notes:
        if display is not None:
            tell(f"heed: note: {note}")
    try:
        end = prepared.execute(jobs, threads, display)
    finally:
        if hasattr(display, "clear"):
            display.clear()
    sweep = Sweep(folder, end.folder)
    if end.shortfall:
        reasons = [f"{problem['arm']}, seed {', '.join(map(str, problem['seeds']))}: {problem['reason']}"
                   for problem in sweep.report.document["problems"]]
        failed = _heed.Failed("\n".join([*reasons, f"{end.shortfall} the same call"]))
        failed.sweep = sweep  # type: ignore[attr-defined]
        raise failed
    return sweep


def load(out: str | os.PathLike[str] = "runs", sweep: str | None = None) -> Sweep:
    """A sweep of an output folder.

    Args:
        out: The output folder.
        sweep: The sweep's name, the beginning of its folder's name, or a path; None: the latest.
    Raises:
        heed.Refused: There is no such sweep, or its plan is damaged.
    """
    if sweep is not None and not isinstance(sweep, (str, os.PathLike)):
        raise TypeError(f"sweep is of type {type(sweep).__name__}; it must be a name")
    folder = _arguments.folder("out", out)
    return Sweep(folder, _heed.find_sweep(folder, None if sweep is None else Path(sweep)))


def _prepare(config: Config, overrides: Overrides, out: Path) -> _heed.PreparedSweep:
    """Where the config is a dict, mistakes are named without a line."""
    if overrides is None:
        words: list[str] = []
    elif isinstance(overrides, Mapping):
        words = _arguments.texts("overrides", [f"{name}={value_text(value, name)}" for name, value in overrides.items()])
    else:
        words = _arguments.texts("overrides", overrides)
    if not isinstance(config, Mapping):
        return _heed.prepare_sweep(Path(config), "", "", words, out)
    try:
        return _heed.prepare_sweep(None, config_text(config), "config", words, out)
    except _heed.Refused as error:  # a dict has no lines
        refused = _heed.Refused(_PLACE_IN_DICT.sub("config: ", str(error)))
        refused.problems = [_PLACE_IN_DICT.sub("config: ", problem) for problem in getattr(error, "problems", [])]
    raise refused


_PLACE_IN_DICT = re.compile(r"\bconfig:\d+:\d+: ")
