"""Runs from Python have what their files and the command line have."""

import csv
import gc
import json
import os
import pathlib
import tomllib

import heed
import numpy
import pandas
import pytest
from run_folders import command, flat_metrics, ids_of, read_safetensors, same


def test_runs_equal_the_command_lines(place, out):
    frame = heed.runs(out)
    listed = json.loads(command(place, "runs", "--json"))["result"]
    assert list(frame.index) == [run["id"] for run in listed["runs"]]
    assert frame.index.name == "id"
    assert len(frame) == 7 and set(frame["state"]) == {"finished"}
    assert sorted(frame[frame["name"] == "copies"]["arm"]) == ["reference"] * 2 + ["score = additive"] * 2
    checked = 0
    for run in listed["runs"]:
        row = frame.loc[run["id"]]
        for name in frame.columns:
            expected = run.get(name)
            if name in ("created", "ended"):
                expected = pandas.Timestamp(expected)
            assert same(row[name], expected), (run["id"], name, row[name], expected)
            checked += 1
    assert checked > 500
    assert ["id", *frame.columns] == next(csv.reader([command(place, "runs", "--csv").splitlines()[0]]))
    assert frame["seed"].dtype == "int64" and frame["val_loss"].dtype == "float64"
    assert frame["train.evaluate_by_length"].dtype == bool and str(frame["model.shared_layers"].dtype) == "boolean"
    assert frame["created"].dt.tz is not None


def test_filters_columns_and_order(place, out):
    words = "name = 'copies' and not attention.score = 'additive'"
    chosen = heed.runs(out, where=words, columns=["val_loss.best", "val_loss.best_step"], sort="val_loss", reverse=True,
                       limit=1)
    listed = json.loads(command(place, "runs", "--json", "--where", words, "--columns",
                                "id,val_loss.best,val_loss.best_step", "--sort", "val_loss", "--reverse", "--limit", "1"))["result"]
    assert [{"id": id, **row} for id, row in zip(chosen.index, chosen.to_dict("records"))] == listed["runs"]
    assert list(heed.runs(out, where="seed = 1").index) == list(heed.runs(out).query("seed == 1").index)
    none = heed.runs(out, where="val_loss < 0")
    assert none.empty and list(none.columns) == list(heed.runs(out).columns)
    assert heed.runs(out, columns="arm").columns.tolist() == ["arm"]
    # By the files only.
    by_hand = {id: flat_metrics(out / id / "metrics.jsonl") for id in ids_of(out, "copies")}
    losses = {id: [line["val_loss"] for line in lines if "val_loss" in line] for id, lines in by_hand.items()}
    limit = sorted(values[-1] for values in losses.values())[1]
    found = heed.runs(str(out), where=f"name = 'copies' and val_loss <= {limit!r}")
    assert set(found.index) == {id for id, values in losses.items() if values[-1] <= limit} and len(found) >= 2


@pytest.mark.parametrize("where, words", [
    ("val_los < 1.9", ["where: column 1", "val_loss"]),
    ("val_loss < 'high'", ["where: column 12", "a number"]),
    ("seed = 1 and", ["column 13", "the end"]),
    ("attention.score = 'additiv'", ["column 19", "did you mean", "additive"]),
    ("", ["empty"]),
])
def test_wrong_filters_say_where(out, where, words):
    with pytest.raises(heed.Refused) as refused:
        heed.runs(out, where=where)
    assert all(word in str(refused.value) for word in words)
    assert "--" not in str(refused.value)


def test_wrong_columns_and_orders(out):
    with pytest.raises(heed.Refused, match="columns: there is no field 'val_los'.*val_loss"):
        heed.runs(out, columns=["val_los"])
    with pytest.raises(heed.Refused, match="sort: there is no field"):
        heed.runs(out, sort="nothing")
    with pytest.raises(heed.Refused, match="limit"):
        heed.runs(out, limit=-1)


def test_empty_and_missing_folders(tmp_path):
    (tmp_path / "empty").mkdir()
    frame = heed.runs(tmp_path / "empty")
    assert len(frame) == 0 and {"name", "state", "seed"} <= set(frame.columns)
    with pytest.raises(heed.Refused, match="missing here"):
        heed.runs(tmp_path / "missing here")
    with pytest.raises(heed.Refused, match="there is no folder"):
        heed.load_run(tmp_path / "missing", "ab")
    with pytest.raises(heed.Refused, match="there are no runs"):
        heed.load_run(tmp_path / "empty", "ab")


def test_names_of_runs(out, monkeypatch):
    id = ids_of(out, "pairs")[0]
    runs = [heed.load_run(out, id), heed.load_run(out, id[:10]), heed.load_run(out / id), heed.load_run(f"{out}/{id}/")]
    monkeypatch.chdir(out.parent)
    runs += [heed.load_run(id[:10]), heed.load_run(pathlib.Path("runs") / id)]
    monkeypatch.chdir("/")
    for run in runs:
        assert run.id == id and run.folder == out / id and run.state == "finished"
        assert run.config["name"] == "pairs" and len(run.metrics) > 0
    assert "pairs" in repr(runs[0]) and id in repr(runs[0])
    with pytest.raises(heed.Refused, match="7 runs .* begin like this") as refused:
        heed.load_run(out, "")
    assert sum(name in str(refused.value) for name in os.listdir(out)) >= 6
    wrong = id[:-1] + ("0" if id[-1] != "0" else "1")
    with pytest.raises(heed.Refused, match=f"did you mean {id}"):
        heed.load_run(out, wrong)


def test_config_is_the_files(out):
    for id in os.listdir(out):
        if id != "sweeps" and (out / id / "config.toml").exists():
            expected = tomllib.loads((out / id / "config.toml").read_text(encoding="utf-8"))
            assert heed.load_run(out, id).config == expected


def test_metrics_are_the_files(out):
    for id in ids_of(out, "copies") + ids_of(out, "Texte, größer"):
        frame, lines = heed.load_run(out, id).metrics, flat_metrics(out / id / "metrics.jsonl")
        assert len(frame) == len(lines) > 3
        assert set(frame.columns) == {name for line in lines for name in line}
        for (_, row), line in zip(frame.iterrows(), lines):
            assert all(same(row[name], line.get(name)) for name in frame.columns)
        assert frame["step"].dtype == frame["tokens"].dtype == "int64"
        assert set(frame.dtypes[4:].astype(str)) == {"float64"}


def test_weights_are_the_files(out):
    for id in ids_of(out, "copies") + ids_of(out, "Texte, größer"):
        run = heed.load_run(out, id)
        for step in run.checkpoint_steps:
            stored = read_safetensors(out / id / f"checkpoint-{step:06}.safetensors")
            weights = run.weights_at(step)
            assert set(weights) == {name for name in stored if not name.startswith("optimizer.")} and len(weights) > 5
            for name, array in weights.items():
                kind, shape, data = stored[name]
                assert array.dtype == {"F32": numpy.float32, "F64": numpy.float64}[kind]
                assert array.shape == shape and array.tobytes() == data
        assert run.weights.step == run.checkpoint_steps[-1] == weights.step
        assert all(numpy.array_equal(run.weights[name], weights[name]) for name in weights)
    run = heed.load_run(out, ids_of(out, "copies")[0])
    assert run.checkpoint_steps == [10, 20, 30]
    mean = run.average(3)
    for name in mean:
        expected = sum(run.weights_at(step)[name].astype("float64") for step in (10, 20, 30)) / 3
        numpy.testing.assert_allclose(mean[name], expected, rtol=1e-6)
    with pytest.raises(heed.Refused, match="no checkpoint of step 7; it has those of 10, 20, 30"):
        run.weights_at(7)
    with pytest.raises(heed.Refused, match="3 intact checkpoints, but the average needs 4"):
        run.average(4)
    with pytest.raises(KeyError, match="blocks.0.attention.qkv.weight"):
        run.weights["blocks.0.attention.qkv.weights"]


def test_arrays_are_read_only_copies_that_stay_valid(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    weights = run.weights
    name = "embedding.weight"
    first, again = weights[name], weights[name]
    assert numpy.array_equal(first, again) and not numpy.shares_memory(first, again)
    with pytest.raises(ValueError):
        first[0] = 1
    with pytest.raises(ValueError):
        first.flags.writeable = True
    before = first.copy()
    del run, weights, again
    gc.collect()
    junk = [numpy.random.default_rng(0).random(first.size) for _ in range(64)]
    assert numpy.array_equal(first, before) and len(junk) == 64


def test_writing_into_an_array_changes_no_answer(out):
    """Read-only is a flag that torch.from_numpy and ctypes ignore."""
    import ctypes

    run = heed.load_run(out, ids_of(out, "copies")[0])
    before = run.evaluate(), run.generate("3 1 |", tokens=8), run.attend("3 1 | 3").weights.tolist()
    arrays = [*run.weights.values(), *run.average(1).values(), *run.weights_at(30).values(), run.attend("3 1 | 3").weights,
              *(run.metrics[name].to_numpy() for name in run.metrics)]
    for array in arrays:
        array = numpy.ascontiguousarray(array)
        ctypes.memset(array.ctypes.data, 0xff, array.nbytes)
    assert (run.evaluate(), run.generate("3 1 |", tokens=8), run.attend("3 1 | 3").weights.tolist()) == before
    assert run.weights["embedding.weight"].tobytes() == heed.load_run(run.folder).weights["embedding.weight"].tobytes()


def test_vocabulary(out):
    text = heed.load_run(out, ids_of(out, "Texte, größer")[0])
    letters = sorted(set((out.parent / "тексты 文.txt").read_text(encoding="utf-8")))
    assert set(letters) <= set(text.vocabulary) and text.output_vocabulary == text.vocabulary and text.classes is None
    copies = heed.load_run(out, ids_of(out, "copies")[0])
    assert copies.vocabulary == [*"01234567", "|"]
    classes = heed.load_run(out, ids_of(out, "classes")[0])
    assert classes.classes == list("0123456789") and classes.output_vocabulary is None
    assert "[MAX" in classes.vocabulary
