"""Statistics for results from anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _heed
from ._report import Report

if TYPE_CHECKING:
    import pandas

    Results = Union[str, os.PathLike[str], pandas.DataFrame, Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]]

Words = Union[str, Sequence[str]]


def compare(results: Results, *, metric: Words = (), arm: Words = (), reference: str = "", seed: str = "",
            pair: Words = (), group: Words = (), step: str = "", state: str = "", time: str = "", parameters: str = "",
            run_name: str = "", direction: str | Mapping[str, str] = "",
            bounds: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
            unit: str | Mapping[str, str] = "", margin: float | None = None, learned: float | None = None,
            test: str = "paired", precision: str = "float32", name: str = "", question: str = "") -> Report:
    """Compares runs that were made elsewhere, with the statistics of a sweep. The same as `heed compare FILE`.

    Args:
        results: A row for each run, or for each evaluation with a step (then the last value counts): a file (CSV, TSV,
            JSON lines, a JSON list), a pandas.DataFrame, a dict of columns, or a list of dicts. None, NaN and an empty
            text are a run without a result.
        metric: The column that is compared, or several: the first decides.
        arm: The columns that name what is compared. Recognised if not given: arm, model, method, ...
        reference: The arm that the others are compared with. Recognised if not given: reference, baseline.
        seed: The column with the seed: runs with the same seed are a pair.
        pair: In place of `seed`: columns that together make a pair.
        group: Columns; arms are compared within each group.
        step: The column with the step of an evaluation; "none": there are no steps.
        state: The column that says whether a run finished; "none": all did.
        time: The column with seconds of training; "none".
        parameters: The column with the number of parameters.
        run_name: How runs are called in exports of charts: "{arm}-seed{seed}".
        direction: "higher", "lower" or "none" is better, or one for each metric. Without it, the metric's name says it.
        bounds: The metric's lowest and highest possible value, or a pair for each metric.
        unit: The metric's unit, for readers, or one for each metric.
        margin: Differences up to this count as the same, in the unit of the first metric.
        learned: A run that reaches this value has learned.
        test: "paired" or "unpaired".
        precision: "float32" or "float64": the rounding of the values.
        name: The report's title.
        question: The question, for readers.
    Returns:
        The report.
    Raises:
        heed.Refused: A missing column, a repeated run, a text where a number should be, one arm only, an unknown
            direction: with the row (rows are counted from 1) or the line of the file, and what to do.
    """
    asked = _heed.ResultQuestion()
    asked.metrics, asked.arm, asked.pair, asked.group = map(_words, (metric, arm, pair, group))
    asked.reference, asked.seed, asked.step, asked.state = reference, seed, step, state
    asked.time, asked.parameters, asked.run_name = time, parameters, run_name
    asked.direction = _by_metric(direction, str)
    asked.bounds = [] if bounds is None else _by_metric(bounds, lambda pair: f"{pair[0]!r},{pair[1]!r}")
    asked.unit = _by_metric(unit, str)
    asked.margin, asked.learned, asked.test, asked.precision = margin, learned, test, precision
    asked.name, asked.question = name, question
    return Report(_heed.compare_results(_table(results), asked))


def _words(words: Words) -> list[str]:
    return [words] if isinstance(words, str) else list(words)


def _by_metric(value: Any, text: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{metric}={text(one)}" for metric, one in value.items()]
    return [text(value)] if value != "" else []


def _table(results: Any) -> _heed.ResultTable:
    if isinstance(results, (str, os.PathLike)):
        path = Path(results)
        return _heed.read_results(path.read_bytes(), str(path))
    if hasattr(results, "to_dict") and hasattr(results, "columns"):  # a data frame, without an import of pandas
        columns = [str(column) for column in results.columns]
        rows = results.itertuples(index=False, name=None)
        return _heed.table_of_columns("the data frame", "row", columns, [[_cell(value) for value in row] for row in rows])
    if isinstance(results, Mapping):
        lengths = {len(values) for values in results.values()}
        if len(lengths) > 1:
            counts = ", ".join(f"{name!r} has {len(values)}" for name, values in results.items())
            raise _heed.Refused(f"the columns have different numbers of values: {counts}")
        rows = zip(*results.values())
        return _heed.table_of_columns("the table", "row", [str(name) for name in results],
                                      [[_cell(value) for value in row] for row in rows])
    if isinstance(results, Sequence) and all(isinstance(row, Mapping) for row in results):
        columns = list(dict.fromkeys(str(name) for row in results for name in row))
        return _heed.table_of_columns("the list", "entry", columns,
                                      [[_cell(row.get(name)) for name in columns] for row in results])
    raise TypeError(f"results is of type {type(results).__name__}; it can be a path, a pandas.DataFrame, a dict of "
                    "columns or a list of dicts")


def _cell(value: Any) -> str:
    """A value as a cell of a table: numbers with all their digits."""
    if value is None or value is _missing():
        return ""
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    item = getattr(value, "item", None)  # a number of NumPy or PyTorch
    return _cell(item()) if callable(item) and type(item()) is not type(value) else str(value)


def _missing() -> Any:
    """pandas.NA, if pandas is in use."""
    import sys

    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas else _missing
