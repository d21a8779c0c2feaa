"""Runs of an output folder: `runs` lists them, `load_run` opens one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _arguments, _heed
from ._messages import warn
from ._packages import need
from ._run import Run

if TYPE_CHECKING:
    import pandas

Path = Union[str, "os.PathLike[str]"]

_TIMES = ("created", "ended")
_ALWAYS = ("name", "state", "seed")


def runs(out: Path = "runs", where: str | None = None, *, columns: Sequence[str] = (), sort: str = "",
         reverse: bool = False, limit: int | None = None) -> pandas.DataFrame:
    """The runs of an output folder, of all sweeps, a run a row: a pandas.DataFrame. The same as `heed runs --csv`.

        >>> heed.runs("runs", where="attention.score = 'additive' and val_loss < 1.9")[["model.heads", "val_loss"]]

    Args:
        out: The output folder.
        where: A filter; only runs that match it. It compares fields with = != < <= > >=, like 'pattern' (% any
            characters, _ one) and in (...), joined by and, or, not and parentheses. Texts are in single quotes. A
            condition never matches a run that lacks its field, also after not.
        columns: The fields that become columns. Without them: every field with a value in one of these runs; if no run
            matches, in one of the folder's.
        sort: The field by which rows are sorted, the smallest value first. Without it: by the start of the run.
        reverse: Sorts in reverse.
        limit: The most rows.
    Returns:
        The index has the runs' IDs. Columns are attributes of a run (name, state, seed, created, seconds, parameters,
        ...), `arm` (the label of its arm in the most recent sweep that has the run), options by full name
        ("attention.score"), and metrics: "val_loss" is the last value; "val_loss.best" and "val_loss.best_step" exist
        as fields for `columns`, `where` and `sort`. Times are in UTC, durations in seconds. A run without a value has a
        missing value. Folders that can't be relied on (damaged, edited) are left out with a warning, and
        `frame.attrs["left_out"]` has their IDs with the reasons.
    Raises:
        heed.Refused: The folder does not exist, or the filter, a column or the field of `sort` is wrong. The message
            says where in the filter, and names the nearest field.
        ImportError: pandas is not installed.
    """
    pd = need("pandas", "heed.runs")
    columns = _arguments.texts("columns", columns)
    where, sort = _arguments.text_or_none("where", where), _arguments.text("sort", sort)
    limit = _arguments.whole_or_none("limit", limit)
    wanted = [] if not columns else ["id", *(name for name in columns if name != "id")]
    folder = _arguments.folder("out", out)
    found, left_out, notes = _heed.select_runs(folder, where, sort, bool(reverse), wanted, limit)
    if not columns and not found[0][2]:  # no run matches: the columns of all runs, so that they can be named
        found = _heed.select_runs(folder, None, "", False, [], 0)[0]
    warn(notes, stacklevel=2)
    if left_out:
        warn([_left_out_in_words(left_out)], stacklevel=2)
    series = {name: _typed(pd, name, kind, values) for name, kind, values in found}
    index = pd.Index(series.pop("id"), name="id", dtype=object)
    frame: pandas.DataFrame = pd.DataFrame({name: column.set_axis(index) for name, column in series.items()},
                                               index=index)
    if not columns:
        for place, name in enumerate(_ALWAYS):
            if name not in frame:
                frame.insert(min(place, len(frame.columns)), name, pd.Series([None] * len(index), index, dtype=object))
    frame.attrs["left_out"] = dict(left_out)
    return frame


def load_run(out: Path, id: str | None = None) -> Run:
    """Opens a run.

        >>> run = heed.load_run("runs", "3f2a")
        >>> run = heed.load_run("runs/3f2a8c11d0b7e644")

    Args:
        out: The output folder; without `id`, the path of the run's folder, or a unique beginning of an ID in the folder
            "runs".
        id: The run: a unique beginning of its ID, or its path.
    Raises:
        heed.Refused: There is no such run, several IDs begin like this (the message names them), or its config.toml is
            damaged.
    """
    folder, name = ("runs", out) if id is None else (out, id)
    return Run(_heed.open_run(_arguments.folder("out", folder), os.fspath(name)))


def _typed(pd: Any, name: str, kind: str, values: list[Any]) -> Any:
    """A column with the narrowest type that has all its values."""
    missing = any(value is None for value in values)
    if name in _TIMES:
        return pd.to_datetime(pd.Series(values, dtype=object), utc=True, errors="coerce")
    if kind == "flag":
        return pd.Series(values, dtype="boolean" if missing else bool)
    if kind == "number" and all(isinstance(value, int) for value in values if value is not None):
        return pd.Series(values, dtype="Int64" if missing else "int64")
    if kind == "number":
        return pd.Series([float("nan") if value is None else float(value) for value in values], dtype="float64")
    return pd.Series(values, dtype=object)


def _left_out_in_words(left_out: list[tuple[str, str]]) -> str:
    most, most_reasons = 4, 20
    by_reason: dict[str, list[str]] = {}
    for id, reason in left_out:
        by_reason.setdefault(reason, []).append(id)
    lines = []
    for reason, ids in by_reason.items():
        more = f" and {len(ids) - most} more (attrs['left_out'] of the frame names all)" if len(ids) > most else ""
        lines.append(f"{', '.join(ids[:most])}{more}: {reason}")
    if len(lines) > most_reasons:
        lines[most_reasons:] = [f"and {len(lines) - most_reasons} more reasons (attrs['left_out'] of the frame)"]
    return f"{len(left_out)} run{'' if len(left_out) == 1 else 's'} excluded\n  " + "\n  ".join(lines)
