"""Figures show the numbers of the report's document."""

import heed
import pytest

matplotlib = pytest.importorskip("matplotlib")

CONFIG = {
    "name": "figures",
    "task.kind": "copy",
    "task.validation": 16,
    "model": {"width": 8, "heads": 2, "layers": 2},
    "train": {"steps": 6, "batch": 4, "evaluate_every": 2, "evaluate_lengths": [2, 4, 16]},
    "report": {"attend": ["3 1 4 | 4"], "margin": 0.01},
    "sweep": {"seeds": [1, 2, 3, 4, 5, 6], "block": [{"grid": {"attention.score": ["scaled_dot", "additive"]}}]},
}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return heed.run(CONFIG, out=tmp_path_factory.mktemp("runs"), progress=False)


def test_forest_has_each_difference_and_interval(sweep):
    axes = sweep.forest().axes[0]
    arms = [arm for arm in sweep.arms if arm["comparison"]]
    assert [label.get_text() for label in axes.get_yticklabels()] == [arm["label"] for arm in arms]
    points = {(x, y) for line in axes.lines for x, y in zip(*map(list, line.get_data()))}
    for row, arm in enumerate(arms):
        assert (arm["comparison"]["difference"], row) in points
        for end in arm["comparison"]["interval"]:
            assert (end, row) in points
    assert "val_loss" in axes.get_xlabel() and "95 %" in axes.get_xlabel()
    assert axes.patches  # the band of the margin


def test_pictures_are_those_of_the_command(sweep, tmp_path):
    import xml.etree.ElementTree

    picture = sweep.picture()
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    assert picture._repr_svg_() == picture
    arm = next(arm for arm in sweep.arms if arm["comparison"])
    assert arm["label"] in picture
    assert sweep.picture("differences", dark=True) != picture
    for figure in sweep.report.document["figures"]:
        assert sweep.report.picture(figure["name"]).startswith("<svg")
    with pytest.raises(heed.Refused, match="differences"):
        sweep.picture("forest")


def test_curves_have_the_means(sweep):
    axes = sweep.curves().axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    for arm in sweep.arms:
        assert list(lines[arm["label"]].get_xdata()) == arm["curve"]["step"] == [2, 4, 6]
        assert list(lines[arm["label"]].get_ydata()) == arm["curve"]["mean"]
    with pytest.raises(heed.Refused, match="val_loss"):
        sweep.curves("accuracy of something")


def test_lengths_have_the_means(sweep):
    axes = sweep.lengths().axes[0]
    for arm, line in zip(sweep.arms, axes.lines):
        shown, = (at for at in arm["at_lengths"] if at["metric"] == sweep.report.document["metric_at_lengths"])
        assert list(line.get_xdata()) == shown["length"]
        assert list(line.get_ydata()) == shown["mean"]


def test_attention_has_the_weights(sweep):
    figure = sweep.attention(1, 0)
    shown = next(run["attention"][0] for run in sweep.arms[0]["runs"] if run["attention"])
    one = next(head for head in shown["heads"] if head["module"] == "blocks.1.attention" and head["head"] == 0)
    assert figure.axes[0].images[0].get_array().tolist() == one["weights"]
    for wrong in ({"layer": 7, "head": 0}, {"layer": 0, "head": 9}, {"layer": 0, "head": 0, "example": 5},
                  {"layer": 0, "head": 0, "arm": "nobody"}):
        with pytest.raises(heed.Refused):
            sweep.attention(**wrong)


def test_figures_can_be_saved_and_shown(sweep, tmp_path):
    for figure in (sweep.forest(), sweep.curves(log=True), sweep.lengths(), sweep.attention(0, 1)):
        assert figure._repr_png_().startswith(b"\x89PNG")
        for ending in ("pdf", "svg"):
            figure.savefig(tmp_path / f"figure.{ending}")


def test_what_is_missing_is_said():
    report = heed.compare({"arm": ["a", "a", "b", "b"], "seed": [1, 2, 1, 2], "accuracy": [0.1, 0.2, 0.3, 0.4]},
                          metric="accuracy", reference="a")
    assert report.forest().axes
    for figure in (report.curves, report.lengths):
        with pytest.raises(heed.Refused):
            figure()
    with pytest.raises(heed.Refused, match="attend"):
        report.attention(0, 0)


def test_a_bound_has_one_end_and_the_margin_is_a_line():
    values = {"a": [0.80, 0.82, 0.79, 0.81, 0.83], "b": [0.81, 0.82, 0.80, 0.81, 0.84]}
    rows = [{"arm": arm, "seed": seed, "accuracy": value} for arm, of in values.items() for seed, value in enumerate(of)]
    report = heed.compare(rows, metric="accuracy", reference="a", margin=0.05, answer="not worse")
    assert report.answers == {"a": None, "b": "not worse"}
    shown = report.document["figures"][0]
    assert shown["margin_line"] == -0.05 and shown["series"][0]["high"] == [None]
    assert [-0.05, -0.05] in [list(line.get_xdata()) for line in report.forest().axes[0].lines]


def test_figures_are_drawn_where_the_caller_wants_them(sweep):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    left, right = figure.subplots(1, 2)
    assert sweep.forest(ax=left) is figure and sweep.curves(ax=right) is figure
    assert left.lines and right.lines and len(figure.axes) == 2
    assert [line.get_label() for line in right.lines] == [line.get_label() for line in sweep.curves().axes[0].lines]


def test_bars_have_the_sources_of_variance(tmp_path):
    varied = heed.run({**CONFIG, "name": "varied", "model": {**CONFIG["model"], "dropout": 0.2},
                       "sweep": {"seeds": [1, 2], "vary": ["init", "dropout"], "vary_values": 3, "vary_fixings": 2}},
                      out=tmp_path, progress=False)
    table = varied.variance.set_index("source")
    assert list(table.index) == ["init", "dropout", "whole", "seeds"]
    assert table.loc["init", "degrees_of_freedom"] == 4
    assert table.loc["init", "share"] + table.loc["dropout", "share"] == pytest.approx(1)
    assert len(varied.variance_sentences) == 2
    axes = varied.variance_bars().axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(list(table["standard_deviation"]))
    assert "bar" in varied.picture("variance")


def test_sources_of_variance_are_refused_without_vary(sweep):
    with pytest.raises(heed.Refused, match="vary"):
        sweep.variance_bars()
