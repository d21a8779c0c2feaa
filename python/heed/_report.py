"""Reports: the document, data frames, and the formats of `heed report`."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _figures, _heed
from ._messages import shown
from ._packages import need

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TEXTS = ("source", "arm", "changes", "group", "reference", "metric", "answer", "sentence", "id", "run", "state", "problem", "made")
_FORMATS = {"html": ".html", "markdown": ".md", "latex": ".tex", "csv": ".csv", "json": ".json", "text": ".txt"}


class Picture(str):
    """A picture as an SVG document. A notebook shows it."""

    def _repr_svg_(self) -> str:
        return str(self)


class Report:
    """The report of a sweep or of a table of results. It is made once, and does not change when its files change.

    `print(report)` gives the report of the terminal. A notebook shows the page.
    """

    def __init__(self, data: _heed.ReportOfData) -> None:
        self._data = data

    @cached_property
    def document(self) -> dict[str, Any]:
        """All numbers of the report, as `heed report --format json` has them. Numbers are not rounded; unknown values
        and values that are not finite are None."""
        document: dict[str, Any] = json.loads(self._data.json())
        return document

    @cached_property
    def table(self) -> pandas.DataFrame:
        """An arm a row, the reference first, with every statistic as a column: a pandas.DataFrame.

        The columns are those of `heed report --format csv`; their units are the metric's, seconds and counts. Further
        metrics have rows of their own, with their name in the column `metric`.
        """
        return _frame(self._data.csv(), "Report.table")

    @cached_property
    def runs(self) -> pandas.DataFrame:
        """A run a row, with its arm, seed, state and values: a pandas.DataFrame."""
        return _frame(self._data.runs_csv(), "Report.runs")

    @cached_property
    def variance(self) -> pandas.DataFrame:
        """A source of variance a row, with its standard deviation, its share and their intervals: a pandas.DataFrame.

        The rows "whole" and "seeds" are all sources together, and the seeds of the sweep. Further metrics have rows of
        their own, with their name in the column `metric`.

        Raises:
            heed.Refused: The sweep has no `vary`.
        """
        self._need_variance()
        return _frame(self._data.variance_csv(), "Report.variance")

    @property
    def variance_sentences(self) -> list[str]:
        """What each source contributes to the variance of the report's metric, in sentences."""
        return list(self._need_variance()["metrics"][0]["sentences"])

    def _need_variance(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self.document["variance"]
        if found is None:
            raise _heed.Refused('the sweep measures no sources of variance: name them in [sweep], such as vary = ["init", '
                                '"order"]')
        return found

    @property
    def answers(self) -> dict[str, str | None]:
        """For each arm the answer in a word: better, worse, differs, same, not worse, equal, undecided, underpowered,
        or none where nothing can be compared; None for the reference."""
        return {arm["label"]: arm["answer"] for arm in self.document["arms"]}

    @property
    def sentences(self) -> dict[str, str | None]:
        """For each arm the answer as a sentence, with its numbers; None for the reference."""
        return {arm["label"]: arm["sentence"] for arm in self.document["arms"]}

    def forest(self, *, ax: Axes | None = None) -> Figure:
        """A matplotlib figure: the differences from the reference with their intervals, an arm a row.

        Args:
            ax: Where to draw, such as one of plt.subplots(2); None: in a figure of its own. So also below.
        """
        return _figures.forest(self.document, ax)

    def curves(self, metric: str | None = None, *, log: bool = False, ax: Axes | None = None) -> Figure:
        """A matplotlib figure of the learning curves: the mean over seeds, and a band from the lowest to the highest.

        Args:
            metric: The curves' metric if None; or "val_loss", "train_loss".
            log: A logarithmic axis of values.
        """
        return _figures.curves(self.document, metric, log, ax)

    def lengths(self, *, ax: Axes | None = None) -> Figure:
        """A matplotlib figure of the metric on sequences of each length: train.evaluate_by_length, evaluate_lengths."""
        return _figures.lengths(self.document, ax)

    def variance_bars(self, *, ax: Axes | None = None) -> Figure:
        """A matplotlib figure: the standard deviation that each source of chance gives, with its interval ([sweep] vary)."""
        self._need_variance()
        return _figures.bars(self.document, ax)

    def attention(self, layer: int | str, head: int, *, arm: str | None = None, example: int = 0,
                  ax: Axes | None = None) -> Figure:
        """A matplotlib figure of a head's attention weights for an input of [report] attend.

        Args:
            layer: The block's number, counted from 0, or the name of a module such as "encoder.blocks.0.attention".
            head: The head's number, counted from 0.
            arm: The arm's label; None: the first arm with weights, which is the reference.
            example: The number of the input, counted from 0.
        """
        return _figures.attention(self.document, layer, head, arm, example, ax)

    def picture(self, figure: str = "differences", *, dark: bool = False) -> Picture:
        """A figure of the report as SVG, the same as on the page and by `heed report --figure`. It needs no matplotlib.

        Args:
            figure: "differences", "variance", "curves.val_loss", ...: the names in document["figures"].
            dark: For a dark background.
        Raises:
            heed.Refused: There is no such figure; the message names all.
        """
        return Picture(self._data.svg(figure, dark))

    def to(self, format: str) -> str:
        """The report as a text: html (one page without links to elsewhere), markdown, latex, csv, json or text."""
        makers: dict[str, Callable[[], str]] = {"html": self._data.html, "markdown": self._data.markdown, "latex": self._data.latex,
                  "csv": self._data.csv, "json": lambda: json.dumps(self.document, indent=2, ensure_ascii=False) + "\n",
                  "text": lambda: self._data.text(0, True)}
        if format not in makers:
            raise _heed.Refused(f"there is no format {format!r}; formats: {', '.join(makers)}")
        return makers[format]()

    def save(self, path: str | os.PathLike[str], format: str | None = None, *, force: bool = False) -> Path:
        """Writes the report to a file and returns its path. The same as `heed compare --output`.

        Args:
            path: The file. Its ending gives the format (.html, .md, .tex, .csv, .json, .txt). A report that Heed wrote
                there before is replaced. Pipes and devices are written through.
            format: The format, for another ending.
            force: Also replaces a file that is no report of Heed's.
        Raises:
            heed.Refused: The ending names no format, a folder has this name, or a file that Heed did not write. Its
                content is not touched.
            heed.Failed: The file could not be written; it is as it was.
        """
        path = Path(path)
        if format is None:
            format = next((name for name, ending in _FORMATS.items() if ending == path.suffix), None)
            if format is None:
                raise _heed.Refused(f"{path}: the ending {path.suffix!r} names no format; endings: "
                                    f"{', '.join(_FORMATS.values())}")
        _heed.write_report(os.fsencode(path), self.to(format), bool(force))
        return path

    def __str__(self) -> str:
        return shown(self._data.text(shutil.get_terminal_size().columns, False))

    def __repr__(self) -> str:
        arms = self.document["arms"]
        return shown(f"<heed.Report {self.document['name']!r}: {len(arms)} arms, {self.document['metric']['name']}>")

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self._data.html(), quote=True)
        return (f'<iframe srcdoc="{page}" title="report" sandbox="allow-scripts allow-downloads" '
                'style="width: 100%; height: 42em; border: 1px solid #8888"></iframe>')


def _frame(csv: str, what: str) -> pandas.DataFrame:
    # Names stay texts, also where they look like numbers.
    frame: pandas.DataFrame = need("pandas", what).read_csv(io.StringIO(csv), keep_default_na=False, na_values=[""],
                                                            dtype=dict.fromkeys(_TEXTS, "object"))
    return frame
