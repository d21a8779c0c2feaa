"""Figures of a report with matplotlib, in the style of the report's page."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from . import _heed
from ._packages import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _SOFT, _FAINT, _LINE, _HAIR = "#1d1f23", "#5c6068", "#8d9097", "#dcd9d2", "#eceae4"
# Okabe and Ito's colours (2008), which people with any kind of colour vision tell apart; lines also differ in dashes.
_ARMS = ["#1d1f23", "#0072b2", "#d55e00", "#009e73", "#b3588f", "#c98500", "#3a9bd5"]
_DASHES: list[Any] = ["solid", (0, (7, 2)), (0, (2, 2)), (0, (7, 2, 2, 2)), (0, (4, 1)), (0, (1, 1)), (0, (9, 3))]
# What differs from the reference is told by the shape of a mark as well as by its colour.
_MARKS = {"better": ("^", "#0067a8"), "worse": ("s", "#bf4a00"), "differs": ("^", "#0067a8"), "same": ("D", "#00735a"),
          "not worse": ("D", "#00735a"),
          "equal": ("D", "#00735a"), "undecided": ("o", "#6d7078"), "underpowered": ("o", "#6d7078")}
_STYLE = {"font.family": "serif", "font.size": 9, "axes.edgecolor": _LINE, "axes.labelcolor": _SOFT,
          "text.color": _INK, "xtick.color": _SOFT, "ytick.color": _INK, "axes.spines.top": False,
          "axes.spines.right": False, "legend.frameon": False, "svg.fonttype": "none", "pdf.fonttype": 42}


@contextmanager
def _plot(what: str, width: float, height: float, ax: Axes | None) -> Iterator[tuple[Figure, Axes]]:
    """A figure of its own with one plot; or the caller's plot, and its figure."""
    matplotlib = need("matplotlib", what)
    base: type[Figure] = need("matplotlib.figure", what).Figure

    class Picture(base):  # type: ignore[misc, valid-type]
        """A figure that a notebook shows, also without pyplot."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=160)
            return file.getvalue()

    with matplotlib.rc_context(_STYLE):
        if ax is not None:
            yield cast("Figure", ax.get_figure()), ax
            return
        figure = Picture(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def _figures(document: dict[str, Any], kind: str, across: str = "") -> list[dict[str, Any]]:
    """The figures of a kind, of lines those over steps or lengths."""
    return [figure for figure in document["figures"] if figure["kind"] == kind and figure["x"]["label"].startswith(across)]


def _name_rows(axes: Axes, shown: dict[str, Any]) -> None:
    """A row for each series of a figure: its name on the left, its text on the right, and the figure's range."""
    rows = shown["series"]
    for place, row in enumerate(rows):
        axes.annotate(row["text"], (1.02, place), xycoords=("axes fraction", "data"), va="center", color=_SOFT,
                      fontsize=8)
    axes.set_yticks(range(len(rows)), [_wrapped(_name(row)) for row in rows])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.set_xlim(shown["x"]["low"], shown["x"]["high"])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_HAIR, linewidth=0.8)
    axes.set_axisbelow(True)


def forest(document: dict[str, Any], ax: Axes | None) -> Figure:
    """Differences from the reference with their intervals, an arm a row, and the band of the margin; or its line, where
    arms are asked to be not worse. An interval that is open on a side goes to the plot's edge."""
    found = _figures(document, "differences")
    if not found:
        raise _heed.Refused("there is nothing to compare: no arm has a run with the seed of a run of its reference")
    shown, = found
    rows = shown["series"]
    with _plot("Sweep.forest", 6.4, 0.9 + 0.32 * len(rows), ax) as (figure, axes):
        axes.axvline(0, color=_SOFT, linewidth=1)
        if shown["margin"]:
            axes.axvspan(-shown["margin"], shown["margin"], color="#00735a", alpha=0.12, linewidth=0)
        if shown.get("margin_line") is not None:
            axes.axvline(shown["margin_line"], color="#bf4a00", linewidth=1, linestyle=(0, (5, 3)))
        for place, row in enumerate(rows):
            mark, colour = _MARKS[row["mark"]]
            low, value, high = row["low"][0], row["value"][0], row["high"][0]
            if row["outside"]:
                axes.plot([1 if value > 0 else 0], [place], color=colour, marker=">" if value > 0 else "<", markersize=6,
                          linestyle="none", transform=axes.get_yaxis_transform(), clip_on=False)
            else:
                if row["has_range"]:
                    ends = [shown["x"]["low"] if low is None else low, shown["x"]["high"] if high is None else high]
                    axes.plot(ends, [place, place], color=colour, linewidth=1.2, solid_capstyle="butt")
                    for end, given, arrow in ((ends[0], low, "<"), (ends[1], high, ">")):
                        axes.plot([end], [place], color=colour, linestyle="none", marker="|" if given is not None else arrow,
                                  markersize=6 if given is not None else 4, clip_on=given is not None)
                axes.plot([value], [place], color=colour, marker=mark, markersize=6, linestyle="none",
                          markerfacecolor="white" if mark == "o" else colour)
        _name_rows(axes, shown)
        axes.spines["left"].set_visible(False)
        intervals = any(row["has_range"] for row in rows)
        axes.set_xlabel(shown["x"]["label"] +
                        (f", with {document['confidence_text']} intervals" if intervals else ""))
    return figure


def bars(document: dict[str, Any], ax: Axes | None) -> Figure:
    """Standard deviations with their intervals, a source of variance a row."""
    found = _figures(document, "bars")
    if not found:
        raise _heed.Refused("nothing is known of the sources of variance yet: no fixing has two finished runs")
    shown, = found
    rows = shown["series"]
    with _plot("Sweep.variance_bars", 6.4, 0.9 + 0.32 * len(rows), ax) as (figure, axes):
        for place, row in enumerate(rows):
            low, value, high = row["low"][0], row["value"][0], row["high"][0]
            axes.barh([place], [value], height=0.5, color="#0072b2", alpha=0.55 if row["look"] else 0.25)
            if row["has_range"]:
                axes.plot([low, high], [place, place], color=_INK, linewidth=1.2, marker="|", markersize=6,
                          solid_capstyle="butt")
        _name_rows(axes, shown)
        axes.set_xlabel(shown["x"]["label"] + ", with 95 % intervals")
    return figure


def curves(document: dict[str, Any], metric: str | None, log: bool, ax: Axes | None) -> Figure:
    """Learning curves: the mean of an arm's runs over the steps, with a band from the lowest to the highest run."""
    known: dict[str, list[dict[str, Any]]] = {}
    for one in _figures(document, "lines", "step"):
        known.setdefault(one["metric"], []).append(one)
    of = metric or document["curve_metric"]["name"]
    if metric is not None and metric not in (*known, document["curve_metric"]["name"]):
        raise _heed.Refused(f"curves are known of {', '.join(known)}, not of {metric!r}")
    if of not in known:
        raise _heed.Refused(f"there are no curves of {of}: no arm was measured at two steps or more "
                            "(train.evaluate_every sets how often)")
    return _lines("Sweep.curves", known[of], log, ax)


def lengths(document: dict[str, Any], ax: Axes | None) -> Figure:
    """The metric on sequences of each length: the mean of an arm's runs, with a band from lowest to highest run."""
    found = _figures(document, "lines", "length")
    if not found:
        raise _heed.Refused("nothing was measured by length (train.evaluate_by_length or train.evaluate_lengths)")
    made = [figure for figure in found if figure["x"]["ticks"]] or found
    return _lines("Sweep.lengths", [figure for figure in made if figure["metric"] == made[0]["metric"]], False, ax)


def _lines(what: str, shown: list[dict[str, Any]], log: bool, ax: Axes | None) -> Figure:
    """The lines of figures of one metric, one for each group, in one figure."""
    lines = [(one["group"], line) for one in shown for line in one["series"]]
    with _plot(what, 6.4, 3.6, ax) as (figure, axes):
        for number, (group, line) in enumerate(lines):
            colour, dash = _ARMS[number % len(_ARMS)], _DASHES[(number + number // len(_ARMS)) % len(_DASHES)]
            axes.fill_between(line["at"], _numbers(line["low"]), _numbers(line["high"]), color=colour, alpha=0.13,
                              linewidth=0)
            axes.plot(line["at"], _numbers(line["value"]), color=colour, linestyle=dash, linewidth=1.6,
                      label=_wrapped(f"{group}: {line['name']}" if group else line["name"]))
        if shown[0]["mark"] is not None:
            axes.axvline(shown[0]["mark"], color=_SOFT, linewidth=1, linestyle=(0, (2, 2)))
        label = shown[0]["x"]["label"]
        axes.set_xlabel("length of the sequence (tokens)" if label == "length" else label)
        axes.set_ylabel(shown[0]["y"]["label"])
        if log:
            axes.set_yscale("log")
        axes.grid(axis="y", color=_HAIR, linewidth=0.8)
        axes.set_axisbelow(True)
        if len(lines) > 1:
            axes.legend(fontsize=8 if len(lines) <= 14 else 5, loc="upper left", bbox_to_anchor=(1, 1),
                        ncols=1 + len(lines) // 25)
    return figure


def attention(document: dict[str, Any], layer: int | str, head: int, arm: str | None, example: int,
              ax: Axes | None) -> Figure:
    """The attention weights of a head for an input of [report] attend: a row for each query, which sums to 1."""
    maps = [(one["label"], run, shown) for one in document["arms"] for run in one["runs"] for shown in run["attention"]
            if arm is None or arm in (one["label"], one["name"], one["report_label"])]
    if not maps:
        problems = {run["attention_problem"] for one in document["arms"] for run in one["runs"]} - {""}
        raise _heed.Refused("no attention weights are known" + (f" of the arm {arm!r}" if arm else "") + ": " +
                            ("; ".join(sorted(problems)) or "report.attend names no input"))
    if not 0 <= example < (count := len([shown for label, _, shown in maps if label == maps[0][0]])):
        raise _heed.Refused(f"example is {example}; the arm has {count}, counted from 0")
    shown = maps[example][2]
    module = f"blocks.{layer}.attention" if isinstance(layer, int) else layer
    found = [one for one in shown["heads"] if one["module"] == module and one["head"] == head]
    if not found:
        there = ", ".join(sorted({f"{one['module']}, head {one['head']}" for one in shown["heads"]}))
        raise _heed.Refused(f"there is no head {head} of {module}; there are: {there}")
    one = found[0]
    weights = [_numbers(row) for row in one["weights"]]
    size = 0.24 * max(len(one["keys"]), len(one["queries"]), 8)
    with _plot("Sweep.attention", min(1.6 + size, 9), min(1.2 + size, 9), ax) as (figure, axes):
        image = axes.imshow(weights, cmap="Blues", vmin=0, interpolation="nearest", aspect="equal")
        axes.set_xticks(range(len(one["keys"])), one["keys"], fontsize=7, rotation=90 if _long(one["keys"]) else 0)
        axes.set_yticks(range(len(one["queries"])), one["queries"], fontsize=7)
        axes.tick_params(length=0)
        axes.set_xlabel("key")
        axes.set_ylabel("query")
        axes.set_title(f"{_wrapped(maps[example][0])}\n{module}, head {head}", fontsize=8, color=_INK)
        figure.colorbar(image, ax=axes, shrink=0.7).outline.set_visible(False)
    return figure


def _name(row: dict[str, Any]) -> str:
    return f"{row['group']}: {row['name']}" if row["group"] else str(row["name"])


def _wrapped(name: str) -> str:
    """A name in lines of 30 letters, at most three of them."""
    lines = textwrap.wrap(name, 30)
    return "\n".join([*lines[:2], lines[2] + (" ..." if len(lines) > 3 else "")] if len(lines) > 2 else lines) or name


def _numbers(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _long(tokens: list[str]) -> bool:
    return max(map(len, tokens), default=0) > 2
