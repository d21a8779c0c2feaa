"""Statistics for results from anywhere."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _heed
from ._report import Report

if TYPE_CHECKING:
    import pandas

    Results = Union[str, os.PathLike[str], pandas.DataFrame, Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]]

Words = Union[str, Sequence[str]]


def compare(results: Results, *, metric: Words = (), arm: Words = (), reference: Any = "", seed: str = "",
            pair: Words = (), group: Words = (), first: Any = "", step: str = "", examples: str = "", state: str = "", time: str = "", parameters: str = "",
            run_name: str = "", direction: str | Mapping[str, str] = "",
            bounds: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
            unit: str | Mapping[str, str] = "", margin: float | None = None, answer: str = "same",
            learned: float | None = None, test: str = "paired", over: str = "none", scale: str | Sequence[float] = "metric", precision: str = "float64", name: str = "", question: str = "") -> Report:
    """Compares runs that were made elsewhere, with the statistics of a sweep. The same as `heed compare FILE`.

    Args:
        results: A row for each run, or for each evaluation with a step (then the last value counts): a file (CSV, TSV,
            JSON lines, a JSON list), a pandas.DataFrame, a dict of columns, or a list of dicts. None, NaN and an empty
            text are a run without a result. In tables with steps, an empty text, None and a NaN of a data frame are no
            evaluation. Named levels of a data frame's index are columns; columns of dicts and of several levels have
            names with dots ("config.seed").
        metric: The column that is compared, or several: the first decides.
        arm: The columns that name what is compared. Recognised if not given: arm, model, method, ...
        reference: The name of the arm that the others are compared with. Recognised if not given: reference, baseline.
        seed: The column with the seed: runs with the same seed are a pair.
        pair: In place of `seed`: columns that together make a pair.
        group: Columns; arms are compared within each group.
        first: The group that interactions compare the others with. Without it, the first by name.
        step: The column with the step of an evaluation; "none": there are no steps.
        examples: The column with the example of a row, if each run has a row for each example: differences then also
            have an interval over other examples.
        state: The column that says whether a run finished; "none": all did.
        time: The column with seconds of training; "none".
        parameters: The column with the number of parameters.
        run_name: How runs are called in exports of charts: "{arm}-seed{seed}".
        direction: "higher", "lower" or "none" is better, or one for each metric. Without it, the metric's name says it.
        bounds: The metric's lowest and highest possible value, or a pair for each metric.
        unit: The metric's unit, for readers, or one for each metric.
        margin: Differences up to this count as the same, in the unit of the first metric.
        answer: What is asked with the margin: "same", or "not worse" (by more than the margin).
        learned: A run that reaches this value has learned.
        test: "paired" or "unpaired".
        over: One answer over all groups: "these tasks", or "tasks like these" (six groups or more).
        scale: With `over`, a number for each group, by which its values are divided: [0.2, 1.5]. "metric": as they are.
        precision: "float32" or "float64": values that differ by its rounding are equal.
        name: The report's title.
        question: The question, for readers.
    Returns:
        The report.
    Raises:
        heed.Refused: A missing column, a repeated run, a text where a number should be, one arm only, an unknown
            direction: with the row (rows are counted from 1) or the line of the file, and what to do.
    """
    asked = _heed.ResultRequest()
    asked.metrics, asked.arm, asked.pair, asked.group = map(_words, (metric, arm, pair, group))
    for name_of, value in (("reference", reference), ("first", first), ("seed", seed), ("step", step), ("examples", examples),
                           ("state", state), ("time", time), ("parameters", parameters), ("run_name", run_name),
                           ("answer", answer), ("test", test), ("over", over), ("scale", _scale(scale)), ("precision", precision),
                           ("name", name), ("question", question)):
        if isinstance(value, (list, tuple, dict, set)):
            raise _heed.Refused(f"{name_of} is {value!r}; it must be one text")
        setattr(asked, name_of, "" if value is None else _cell(value).strip())
    asked.direction = _by_metric("direction", direction, str)
    asked.bounds = _by_metric("bounds", bounds, _bounds)
    asked.unit = _by_metric("unit", unit, str)
    asked.margin, asked.learned = _number("margin", margin), _number("learned", learned)
    return Report(_heed.compare_results(_table(results, set(asked.metrics)), asked))


def _words(words: Any) -> list[str]:
    if words is None:
        return []
    return [_utf8(str(word)) for word in (words if isinstance(words, (list, tuple)) else [words])]


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise _heed.Refused(f"{name} is {value!r}; it must be a number")
    return float(value)


def _scale(scale: Any) -> Any:
    if isinstance(scale, (list, tuple)):
        return ", ".join(repr(_number("scale", value)) for value in scale)
    return scale


def _bounds(pair: Any) -> str:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise _heed.Refused(f"bounds is {pair!r}; it must be the lowest and the highest value: (0, 1)")
    return ",".join(repr(_number("bounds", value)) for value in pair)


def _by_metric(name: str, value: Any, text: Callable[[Any], str]) -> list[str]:
    if value is None or (isinstance(value, str) and value == ""):
        return []
    if isinstance(value, Mapping):
        return [_utf8(f"{metric}={text(one)}") for metric, one in value.items()]
    return [_utf8(text(value))]


def _table(results: Any, metrics: set[str]) -> _heed.ResultTable:
    if isinstance(results, (str, os.PathLike)):
        os.stat(results)  # raises an OSError, as Python's own functions do, where there is no such file
        return _heed.read_results(Path(results))
    if hasattr(results, "itertuples") and hasattr(results, "columns"):  # a data frame, without an import of pandas
        named = [level for level in results.index.names if level is not None and level not in results.columns]
        frame = results.reset_index(level=named) if named else results
        columns = [".".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
        # As pandas does in a file: a missing value is an empty cell.
        return _texts("the data frame", "row", columns, map(enumerate, frame.itertuples(index=False, name=None)), set())
    if isinstance(results, Mapping):
        series = {str(name): list(values) for name, values in results.items()}
        if len({len(values) for values in series.values()}) > 1:
            counts = ", ".join(f"{name!r} has {len(values)}" for name, values in series.items())
            raise _heed.Refused(f"the columns have different numbers of values: {counts}")
        return _texts("the table", "row", list(series), map(enumerate, zip(*series.values())), metrics)
    if isinstance(results, Sequence) and all(isinstance(row, Mapping) for row in results):
        rows = [_flat(row) for row in results]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        places = {name: place for place, name in enumerate(columns)}
        return _texts("the list", "entry", columns,
                      ([(places[name], value) for name, value in row.items()] for row in rows), metrics)
    raise TypeError(f"results is of type {type(results).__name__}; it can be a path, a pandas.DataFrame, a dict of "
                    "columns or a list of dicts")


def _texts(name: str, counted: str, columns: list[str], rows: Iterable[Iterable[tuple[int, Any]]],
           metrics: set[str]) -> _heed.ResultTable:
    """The table as texts, of rows of columns' places and values. In the columns `metrics`, NaN is a number; elsewhere it
    is a missing value."""
    columns = [_utf8(column) for column in columns]
    twice = sorted(column for column, count in Counter(columns).items() if count > 1)
    if twice:
        raise _heed.Refused(f"{name} has two columns of one name: {', '.join(map(repr, twice))}; rename one")
    maker = _heed.TableMaker(name, counted)
    maker.add_columns(columns)
    is_metric = [column in metrics for column in columns]
    added = False
    for row in rows:
        cells = ((place, _cell(value, is_metric[place])) for place, value in row)
        maker.add_row([(place, text) for place, text in cells if text])
        added = True
    if not columns or not added:
        raise _heed.Refused(f"{name} has no {'columns' if not columns else 'rows'}")
    return maker.made()


def _flat(row: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Dicts within a row become columns such as "config.seed", as in a file of JSON."""
    out: dict[str, Any] = {}
    for name, value in row.items():
        out.update(_flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return out


def _cell(value: Any, is_metric: bool = False) -> str:
    """A value as a cell of a table: of metrics with all their digits, of other numbers as they are written."""
    if value is None or value is _missing():
        return ""
    if isinstance(value, str):
        return _utf8(value)
    try:
        if value != value:  # NaN, NaT
            return "nan" if is_metric else ""
        if is_metric and not isinstance(value, bool) and hasattr(value, "__float__") and not hasattr(value, "__index__"):
            return repr(float(value))
        text = str(value.item() if hasattr(value, "item") and type(value).__module__ == "torch" else value)
    except (TypeError, ValueError, RuntimeError):  # an array: it is in a column that is not used
        text = type(value).__name__
    return _utf8(text)


def _utf8(text: str) -> str:
    """The text, with ? for parts of characters (surrogates), which have no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _missing() -> Any:
    """pandas.NA, if pandas is in use."""
    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas else _missing
