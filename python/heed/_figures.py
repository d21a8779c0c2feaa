"""Figures of a report with matplotlib, in the style of the report's page."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
          "equal": ("D", "#00735a"), "undecided": ("o", "#6d7078"), "underpowered": ("o", "#6d7078")}
_STYLE = {"font.family": "serif", "font.size": 9, "axes.edgecolor": _LINE, "axes.labelcolor": _SOFT,
          "text.color": _INK, "xtick.color": _SOFT, "ytick.color": _INK, "axes.spines.top": False,
          "axes.spines.right": False, "legend.frameon": False, "svg.fonttype": "none", "pdf.fonttype": 42}


@contextmanager
def _plot(what: str, width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    matplotlib = need("matplotlib", what)
    base: type[Figure] = need("matplotlib.figure", what).Figure

    class Picture(base):  # type: ignore[misc, valid-type]
        """A figure that a notebook shows, also without pyplot."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=160)
            return file.getvalue()

    with matplotlib.rc_context(_STYLE):
        figure = Picture(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def _metric_label(metric: dict[str, Any]) -> str:
    name = metric["report_label"] or metric["name"]
    return f"{name} ({metric['unit']})" if metric["unit"] else str(name)


def _name(arm: dict[str, Any]) -> str:
    return str(arm["report_label"] or arm["label"])


def forest(document: dict[str, Any]) -> Figure:
    """Differences from the reference with their intervals, an arm a row, and the band of the margin."""
    arms = [arm for arm in document["arms"] if arm["comparison"]]
    if not arms:
        raise _heed.Refused("there is nothing to compare: no arm has a run with the seed of a run of its reference")
    with _plot("Sweep.forest", 6.4, 0.9 + 0.32 * len(arms)) as (figure, axes):
        axes.axvline(0, color=_SOFT, linewidth=1)
        if document["margin"]:
            axes.axvspan(-document["margin"], document["margin"], color="#00735a", alpha=0.12, linewidth=0)
        for row, arm in enumerate(arms):
            comparison = arm["comparison"]
            mark, colour = _MARKS[comparison["answer"]]
            if comparison["interval"]:
                low, high = comparison["interval"]
                axes.plot([low, high], [row, row], color=colour, linewidth=1.2, solid_capstyle="butt")
                axes.plot([low, high], [row, row], color=colour, linestyle="none", marker="|", markersize=6)
            axes.plot([comparison["difference"]], [row], color=colour, marker=mark, markersize=6, linestyle="none",
                      markerfacecolor="white" if mark == "o" else colour)
            axes.annotate(" ".join(arm["difference_texts"]).strip(), (1.02, row), xycoords=("axes fraction", "data"),
                          va="center", color=_SOFT, fontsize=8)
        axes.set_yticks(range(len(arms)), [_wrapped(_name(arm)) for arm in arms])
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axes.set_ylim(len(arms) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=_HAIR, linewidth=0.8)
        axes.set_axisbelow(True)
        intervals = any(arm["comparison"]["interval"] for arm in arms)
        axes.set_xlabel(f"difference in {_metric_label(document['metric'])} from the reference" +
                        (f", with {document['confidence_text']} intervals" if intervals else ""))
    return figure


def curves(document: dict[str, Any], metric: str | None = None, log: bool = False) -> Figure:
    """Learning curves: the mean of an arm's runs over the steps, with a band from the lowest to the highest run."""
    of, label = _curve(document, metric)
    arms = [arm for arm in document["arms"] if of(arm) and len(of(arm)["step"]) > 1]
    if not arms:
        raise _heed.Refused(f"there are no curves of {label}: no arm was measured at two steps or more "
                            "(train.evaluate_every sets how often)")
    with _plot("Sweep.curves", 6.4, 3.6) as (figure, axes):
        _bands(axes, arms, lambda arm: (of(arm), of(arm)["step"]))
        axes.set_xlabel("step")
        axes.set_ylabel(label)
        if log:
            axes.set_yscale("log")
    return figure


def _curve(document: dict[str, Any], metric: str | None) -> tuple[Callable[[dict[str, Any]], Any], str]:
    own = document["curve_metric"]
    known: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
        own["name"]: (lambda arm: arm["curve"], _metric_label(own)),
        "val_loss": (lambda arm: arm["validation_curve"], "val_loss (nats)"),
        "train_loss": (lambda arm: arm["training_curve"], "train_loss of the training batches (nats)")}
    if own["name"] == "val_loss":
        known["val_loss"] = (lambda arm: arm["curve"], _metric_label(own))
    if metric is not None and metric not in known:
        raise _heed.Refused(f"curves are known of {', '.join(known)}, not of {metric!r}")
    return known[metric or own["name"]]


def lengths(document: dict[str, Any]) -> Figure:
    """The metric on rows of each length: the mean of an arm's runs, with a band from the lowest to the highest run."""

    def of(arm: dict[str, Any]) -> Any:
        return arm["at_lengths"][0] if arm["at_lengths"] else arm["by_length"]

    arms = [arm for arm in document["arms"] if of(arm)]
    if not arms:
        raise _heed.Refused("nothing was measured by length (train.evaluate_by_length or train.evaluate_lengths)")
    with _plot("Sweep.lengths", 6.4, 3.6) as (figure, axes):
        _bands(axes, arms, lambda arm: (of(arm), of(arm)["length"]))
        trained = {arm["training_length"] for arm in arms if arm["training_length"]}
        if arms[0]["at_lengths"] and len(trained) == 1:
            axes.axvline(trained.pop(), color=_SOFT, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_xlabel("length of the row (tokens)")
        axes.set_ylabel(str(of(arms[0])["metric"]))
    return figure


def _bands(axes: Axes, arms: list[dict[str, Any]], of: Callable[[dict[str, Any]], tuple[Any, Any]]) -> None:
    for number, arm in enumerate(arms):
        band, at = of(arm)
        colour, dash = _ARMS[number % len(_ARMS)], _DASHES[(number + number // len(_ARMS)) % len(_DASHES)]
        axes.fill_between(at, _numbers(band["low"]), _numbers(band["high"]), color=colour, alpha=0.13, linewidth=0)
        axes.plot(at, _numbers(band["mean"]), color=colour, linestyle=dash, linewidth=1.6, label=_wrapped(_name(arm)))
    axes.grid(axis="y", color=_HAIR, linewidth=0.8)
    axes.set_axisbelow(True)
    if len(arms) > 1:
        axes.legend(fontsize=8 if len(arms) <= 14 else 5, loc="upper left", bbox_to_anchor=(1, 1),
                    ncols=1 + len(arms) // 25)


def attention(document: dict[str, Any], layer: int | str, head: int, arm: str | None, example: int) -> Figure:
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
    with _plot("Sweep.attention", min(1.6 + size, 9), min(1.2 + size, 9)) as (figure, axes):
        image = axes.imshow(weights, cmap="Blues", vmin=0, interpolation="nearest", aspect="equal")
        axes.set_xticks(range(len(one["keys"])), one["keys"], fontsize=7, rotation=90 if _long(one["keys"]) else 0)
        axes.set_yticks(range(len(one["queries"])), one["queries"], fontsize=7)
        axes.tick_params(length=0)
        axes.set_xlabel("key")
        axes.set_ylabel("query")
        axes.set_title(f"{_wrapped(maps[example][0])}\n{module}, head {head}", fontsize=8, color=_INK)
        figure.colorbar(image, ax=axes, shrink=0.7).outline.set_visible(False)
    return figure


def _wrapped(name: str) -> str:
    """A name in lines of 30 letters, at most three of them."""
    lines = textwrap.wrap(name, 30)
    return "\n".join([*lines[:2], lines[2] + (" ..." if len(lines) > 3 else "")] if len(lines) > 2 else lines) or name


def _numbers(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _long(tokens: list[str]) -> bool:
    return max(map(len, tokens), default=0) > 2
