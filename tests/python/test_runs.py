"""Runs from Python have what their files and the command line have."""

import concurrent.futures
import csv
import gc
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import heed
import numpy
import pandas
import pytest
import run_folders
from run_folders import flat_metrics, ids_of, read_safetensors


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("läufe und runs")
    run_folders.make_runs(folder)
    return folder


@pytest.fixture
def out(place):
    return place / "runs"


@pytest.fixture
def copied(out, tmp_path):
    """A folder with the run of one ID, to be damaged."""
    id = ids_of(out, "copies")[0]
    shutil.copytree(out / id, tmp_path / "runs" / id)
    return tmp_path / "runs" / id


def command(place, *words, **more):
    return run_folders.heed(*words, "--out", "runs", cwd=place, **more)


def same(a, b):
    if b is None:
        return a is None or a is pandas.NA or a is pandas.NaT or (isinstance(a, float) and math.isnan(a))
    return a == b


def test_runs_equal_the_command_lines(place, out):
    frame = heed.runs(out)
    listed = json.loads(command(place, "runs", "--json"))
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
                                "id,val_loss.best,val_loss.best_step", "--sort", "val_loss", "--reverse", "--limit", "1"))
    assert [{"id": id, **row} for id, row in zip(chosen.index, chosen.to_dict("records"))] == listed["runs"]
    assert list(heed.runs(out, where="seed = 1").index) == list(heed.runs(out).query("seed == 1").index)
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


def test_arrays_are_read_only_views_that_stay_valid(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    weights = run.weights
    name = "embedding.weight"
    first, again = weights[name], weights[name]
    assert numpy.shares_memory(first, again) and not first.flags.owndata
    with pytest.raises(ValueError):
        first[0] = 1
    with pytest.raises(ValueError):
        first.flags.writeable = True
    before = first.copy()
    del run, weights, again
    gc.collect()
    junk = [numpy.random.default_rng(0).random(first.size) for _ in range(64)]
    assert numpy.array_equal(first, before) and len(junk) == 64


def test_vocabulary(out):
    text = heed.load_run(out, ids_of(out, "Texte, größer")[0])
    letters = sorted(set((out.parent / "тексты 文.txt").read_text(encoding="utf-8")))
    assert set(letters) <= set(text.vocabulary) and text.output_vocabulary == text.vocabulary and text.classes is None
    copies = heed.load_run(out, ids_of(out, "copies")[0])
    assert copies.vocabulary == [*"01234567", "|"]
    classes = heed.load_run(out, ids_of(out, "classes")[0])
    assert classes.classes == list("0123456789") and classes.output_vocabulary is None
    assert "[MAX" in classes.vocabulary


def printed_metrics(text):
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()[1:]}


@pytest.mark.parametrize("name, words, options", [
    ("copies", ["--split", "test"], {"split": "test"}),
    ("copies", ["--average", "3", "--lengths", "3,4"], {"average": 3, "lengths": [3, 4]}),
    ("pairs", ["--beam", "2", "--length-penalty", "0.5"], {"beam": 2, "length_penalty": 0.5}),
    ("Texte, größer", [], {}),
    ("classes", ["--split", "train"], {"split": "train"}),
])
def test_evaluate_equals_the_command_lines(place, out, name, words, options, monkeypatch):
    monkeypatch.chdir(place)  # the path of the data is relative
    id = ids_of(out, name)[0]
    values = heed.load_run(out, id).evaluate(**options)
    told = printed_metrics(command(place, "evaluate", id, *words))
    assert list(values) == list(told) and len(values) >= 2
    assert all(f"{value:.4f}" == f"{told[metric]:.4f}" for metric, value in values.items())


def test_evaluate_equals_the_metrics_of_training(out):
    for id in ids_of(out, "copies"):
        run = heed.load_run(out, id)
        last = run.metrics.dropna(subset="val_loss").iloc[-1]
        assert run.evaluate()["val_loss"] == last["val_loss"]


@pytest.mark.parametrize("name, words, options", [
    ("copies", [], {}), ("pairs", ["--beam", "3"], {"beam": 3}), ("classes", [], {})])
def test_predict_equals_the_command_lines(place, out, tmp_path, name, words, options):
    id = ids_of(out, name)[0]
    table = heed.load_run(out, id).predict("test", **options)
    command(place, "evaluate", id, "--split", "test", *words, "--write", tmp_path / "outputs.tsv")
    lines = (tmp_path / "outputs.tsv").read_text(encoding="utf-8").splitlines()
    assert list(table.columns) == lines[0].split("\t")
    assert len(table) == len(lines) - 1 > 10
    for row, line in zip(table.itertuples(index=False), lines[1:]):
        cells = line.split("\t")
        assert list(row)[:3] == cells[:3]
        assert len(cells) == 3 or row[3] == float(cells[3])
    some = heed.load_run(out, id).predict("test", 3, **options)
    assert some.equals(table.head(3))


def test_generate_equals_the_command_lines(place, out, monkeypatch):
    monkeypatch.chdir(place)
    text = ids_of(out, "Texte, größer")[0]
    words = ["--prompt", "Öl 文", "--tokens", "30", "--temperature", "0.8", "--top-k", "9", "--seed", "5"]
    generated = heed.load_run(out, text).generate("Öl 文", tokens=30, temperature=0.8, top_k=9, seed=5)
    assert generated + "\n" == command(place, "generate", text, *words)
    assert generated.startswith("Öl 文") and len(generated) == 34
    pairs = heed.load_run(out, ids_of(out, "pairs")[0])
    told = [command(place, "generate", pairs.id, "--input", line, "--beam", "2").rstrip("\n") for line in ("3 1", "4 4 4")]
    assert pairs.generate(input=["3 1", "4 4 4"], beam=2) == told
    assert pairs.generate(input="4 4 4", beam=2) == told[1]
    classes = heed.load_run(out, ids_of(out, "classes")[0])
    line = classes.predict("validation", 1)["input"][0]
    assert classes.generate(input=line, top_k=3) + "\n" == command(place, "generate", classes.id, "--input", line,
                                                                  "--top-k", "3")


@pytest.mark.parametrize("name, options, words", [
    ("copies", {}, ["prompt is empty"]),
    ("copies", {"prompt": "3 1 |", "beam": 2}, ["beam does nothing", "temperature, top_k and seed"]),
    ("copies", {"prompt": "3 1 |", "tokens": 0}, ["tokens = 0", "1 to"]),
    ("copies", {"prompt": "3 1 |", "temperature": math.nan}, ["temperature"]),
    ("copies", {"prompt": "x"}, ["x"]),
    ("pairs", {}, ["input"]),
    ("pairs", {"input": "3 1", "length_penalty": 1.0}, ["length_penalty does nothing if beam is 1"]),
    ("pairs", {"input": "3 1", "beam": 2, "length_penalty_kind": "none"}, ["length_penalty_kind", "gnmt", "fairseq"]),
    ("pairs", {"input": "3 1", "top_k": 2}, ["top_k does nothing", "length_penalty_kind"]),
    ("classes", {"prompt": "3"}, ["prompt does nothing", "top_k"]),
    ("copies", {"prompt": "3 1 |", "average": 9}, ["3 intact checkpoints", "needs 9"]),
])
def test_wrong_questions_are_refused(out, name, options, words):
    run = heed.load_run(out, ids_of(out, name)[0])
    with pytest.raises(heed.Refused) as refused:
        run.generate(**options)
    assert all(word in str(refused.value) for word in words)


def test_wrong_splits_and_lengths(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    for call in (lambda: run.evaluate("tests"), lambda: run.predict("all"), lambda: run.inspect("test"),
                 lambda: run.evaluate(lengths=0), lambda: run.evaluate(average=0), lambda: run.predict(count=-1),
                 lambda: run.inspect(rows=-1), lambda: run.attend(), lambda: run.attend("3 |", row=0),
                 lambda: run.attend(row=64), lambda: run.attend(row=-1), lambda: run.attend("3 |", output="3"),
                 lambda: run.evaluate(bleu_tokenization="14a"), lambda: run.evaluate(bleu_tokenization="13a"),
                 lambda: heed.load_run(out, ids_of(out, "Texte, größer")[0]).predict()):
        with pytest.raises(heed.Refused):
            call()


def test_attend_equals_the_command_lines(place, out, tmp_path):
    folder = tmp_path / "a"
    shutil.copytree(place, folder)
    for name, given, words in (("copies", {"input": "3 1 4 | 3"}, ["--input", "3 1 4 | 3"]),
                               ("copies", {"row": 2}, ["--row", "2"]),
                               ("pairs", {"input": "3 1 4", "output": "4 1"}, ["--input", "3 1 4", "--output", "4 1"]),
                               ("pairs", {"input": "3 1 4"}, ["--input", "3 1 4"])):
        id = ids_of(out, name)[0]
        attention = heed.load_run(out, id).attend(**given)
        told = json.loads(command(folder, "attend", id, *words, "--json"))
        example = told["examples"][0]
        assert attention.step == told["step"] and attention.input == example["input"]
        assert attention.output == example.get("output") and attention.forced == example.get("forced", False)
        heads = iter(example["heads"])
        for module in attention.modules.values():
            assert not module.weights.flags.writeable
            for number, weights in enumerate(module.weights):
                head = next(heads)
                assert (head["module"], head["head"]) == (module.name, number)
                assert head["queries"] == module.queries and head["keys"] == module.keys
                assert head["weights"] == weights.tolist()
                assert same(module.entropy[number], head.get("entropy"))
                assert same(module.distance[number], head.get("distance"))
        assert next(heads, None) is None
        if name == "copies":
            assert attention.weights.shape[:2] == (2, 2)
            numpy.testing.assert_allclose(attention.weights.sum(-1), 1, atol=1e-5)
            assert len(attention.queries) == len(attention.keys) == attention.weights.shape[2]
        else:
            assert attention.stacks["decoder.blocks.cross_attention"].shape[:2] == (1, 2)
            with pytest.raises(heed.Refused, match="3 stacks"):
                attention.weights
    run = heed.load_run(folder / "runs", ids_of(out, "copies")[1])
    run.attend("3 1 | 3")
    assert not (run.folder / "attention.json").exists()
    run.attend("3 1 | 3", save=True)
    assert "3 1 | 3" in (run.folder / "attention.json").read_text()


def test_inspect_equals_the_command_lines(place, out):
    for name in ("copies", "classes"):
        id = ids_of(out, name)[0]
        found = heed.load_run(out, id).inspect("train", rows=8, average=1)
        told = json.loads(command(place, "inspect", id, "--split", "train", "--rows", "8", "--json"))
        assert (found.step, found.rows) == (told["step"], told["rows"])
        for frame, rows in ((found.heads, told["heads"]), (found.layers, told["layers"]),
                            (found.modules, told["modules"])):
            assert len(frame) == len(rows) > 0 and list(frame.columns) == list(rows[0])
            for row, expected in zip(frame.to_dict("records"), rows):
                assert all(same(row[field], expected[field]) for field in expected)
        assert "rows at step" in repr(found) and "<table" in found._repr_html_()


def test_damaged_checkpoints(copied):
    newest = copied / "checkpoint-000030.safetensors"
    whole = newest.read_bytes()

    def refused_then_older():
        run = heed.load_run(copied)
        with pytest.warns(UserWarning, match="checkpoint-000030"):
            assert run.weights.step == 20
        with pytest.raises(heed.Refused, match="checkpoint-000030"):
            run.weights_at(30)
        with pytest.warns(UserWarning, match="checkpoint-000030"):
            heed.load_run(copied).evaluate()

    newest.write_bytes(whole[:len(whole) // 2])
    refused_then_older()
    newest.write_bytes((1 << 62).to_bytes(8, "little") + whole[8:])
    refused_then_older()
    newest.write_bytes((10 ** 8 + 10 ** 6).to_bytes(8, "little") + whole[8:])
    refused_then_older()
    changed = bytearray(whole)
    changed[-1000] ^= 1
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:8 + length])
    at = 8 + length + header["embedding.weight"]["data_offsets"][0]
    changed = bytearray(whole)
    changed[at] ^= 1
    newest.write_bytes(changed)
    refused_then_older()
    newest.unlink()
    newest.symlink_to(copied / "checkpoint-000020.safetensors")
    refused_then_older()
    newest.unlink()
    os.mkfifo(newest)
    refused_then_older()
    for step in (10, 20):
        (copied / f"checkpoint-{step:06}.safetensors").write_bytes(b"")
    with pytest.raises(heed.Refused, match="no checkpoint yet"):
        heed.load_run(copied).weights


def test_damaged_metrics(copied):
    file = copied / "metrics.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines) + lines[0][:20])  # a process was killed while it wrote
    assert len(heed.load_run(copied).metrics) == len(lines)
    file.write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    with pytest.raises(heed.Refused, match="line 2"):
        heed.load_run(copied).metrics
    file.write_text("".join(json.dumps({"step": n, "seconds": 0, "tokens": 0, "value": None}) + "\n" for n in range(5)))
    assert heed.load_run(copied).metrics["value"].isna().all()
    file.unlink()
    assert len(heed.load_run(copied).metrics) == 0
    file.symlink_to("/etc/passwd")
    with pytest.raises(heed.Refused, match="metrics.jsonl"):
        heed.load_run(copied).metrics


def test_metrics_that_ask_for_a_huge_table(copied):
    with (copied / "metrics.jsonl").open("w") as file:
        names = json.dumps({f"m{i}": 0 for i in range(100_000)})[1:]
        file.write('{"step": 0, "seconds": 0, "tokens": 0, ' + names + "\n")
        file.writelines('{"step": %d, "seconds": 0, "tokens": 0, "m0": 0}\n' % n for n in range(3000))
    with pytest.raises(heed.Refused, match="too large for a table"):
        heed.load_run(copied).metrics


def test_damaged_configs(copied):
    file = copied / "config.toml"
    text = file.read_text()
    file.write_text(text.replace('kind = "copy"', 'kind = "cpy"'))
    with pytest.raises(heed.Refused, match="copy"):
        heed.load_run(copied)
    file.write_text(text + "\n[train\n")
    with pytest.raises(heed.Refused, match="config.toml"):
        heed.load_run(copied)
    elsewhere = copied.parent / "elsewhere.toml"
    elsewhere.write_text(text)
    file.unlink()
    file.symlink_to(elsewhere)
    with pytest.raises(heed.Refused, match="config.toml"):
        heed.load_run(copied)
    file.unlink()
    with pytest.raises(heed.Refused):
        heed.load_run(copied)
    with pytest.raises(heed.Refused, match="not the folder of a run|no config.toml"):
        heed.load_run(copied.parent, copied.name)


def test_damaged_vocabularies(out, tmp_path):
    id = ids_of(out, "Texte, größer")[0]
    shutil.copytree(out / id, tmp_path / id)
    file = tmp_path / id / "vocabulary.json"
    for text in ("{", "[" * 100_000, '{"tokens": "abc"}', '{"tokens": [1]}', "[]"):
        file.write_text(text)
        with pytest.raises(heed.Refused, match="vocabulary.json"):
            heed.load_run(tmp_path / id).vocabulary
    file.write_bytes(b'{"tokens": ["\xff"]}')
    with pytest.raises(heed.Refused, match="vocabulary.json"):
        heed.load_run(tmp_path / id).vocabulary
    file.unlink()
    file.symlink_to(out / id / "vocabulary.json")
    with pytest.raises(heed.Refused, match="vocabulary.json"):
        heed.load_run(tmp_path / id).vocabulary


def test_a_run_without_its_data_has_its_records_but_no_evaluation(out, tmp_path):
    id = ids_of(out, "Texte, größer")[0]
    shutil.copytree(out / id, tmp_path / id)
    file = tmp_path / id / "config.toml"
    path = tomllib.loads(file.read_text(encoding="utf-8"))["data"]["path"]
    (tmp_path / "other.txt").write_text("another text\n" * 500)
    run = heed.load_run(tmp_path / id)
    assert len(run.weights) > 5 and len(run.metrics) > 3 and "Ö" in run.vocabulary
    file.write_text(file.read_text(encoding="utf-8").replace(path, str(tmp_path / "other.txt")), encoding="utf-8")
    with pytest.raises(heed.Refused, match="data of run .* has changed"):
        heed.load_run(tmp_path / id).evaluate()


def test_damaged_runs_are_left_out_with_a_warning(out, tmp_path):
    shutil.copytree(out, tmp_path / "runs")
    wrong = ids_of(out, "copies")
    (tmp_path / "runs" / wrong[0] / "manifest.json").write_text("{")
    config = tmp_path / "runs" / wrong[1] / "config.toml"
    config.write_text(config.read_text().replace("width = 16", "width = 18"))
    with pytest.warns(UserWarning, match="2 runs excluded"):
        frame = heed.runs(tmp_path / "runs")
    assert set(frame.attrs["left_out"]) == set(wrong[:2]) and len(frame) == 5
    assert not set(wrong[:2]) & set(frame.index)


def test_texts_of_other_people_do_not_command_the_terminal(copied):
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["host"] = "\x1b]0;title\x07 host"
    (copied / "manifest.json").write_text(json.dumps(manifest))
    assert heed.runs(copied.parent)["host"].iloc[0] == "\\x1b]0;title\\x07 host"
    config = (copied / "config.toml").read_text()
    (copied / "config.toml").write_text(config + '\n["\\u001b[31mred"]\nx = 1\n')
    with pytest.raises(heed.Refused, match="red") as refused:
        heed.load_run(copied)
    assert "\x1b" not in str(refused.value)
    (copied / "config.toml").write_bytes(b"\xff\xfe\x1b[31m")
    with pytest.raises(heed.Refused, match="config.toml"):
        heed.load_run(copied)


def test_paths_that_are_not_unicode(out, tmp_path):
    id = ids_of(out, "copies")[0]
    folder = os.fsdecode(bytes(tmp_path) + b"/\xff\xfe")
    shutil.copytree(out, folder)
    assert heed.load_run(folder, id).id == id and len(heed.runs(folder)) == 7
    with pytest.raises(heed.Refused, match="xff"):
        heed.load_run(folder, "zz")


def test_blank_and_unicode_paths(out, tmp_path):
    id = ids_of(out, "copies")[0]
    folder = tmp_path / "  läufe 実行 'x' " / "a\nb"
    shutil.copytree(out / id, folder / id)
    frame = heed.runs(folder)
    assert list(frame.index) == [id]
    run = heed.load_run(folder, id[:8])
    assert run.folder == folder / id and run.evaluate() == heed.load_run(out, id).evaluate()
    link = tmp_path / "link"
    link.symlink_to(folder)  # the user's own path may have links
    assert heed.load_run(link, id).id == id


def test_threads_use_a_run_at_once(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    alone = heed.load_run(out, run.id)
    expected = (alone.evaluate(), alone.generate("3 1 |", tokens=8), alone.attend("3 1 | 3").weights.tolist(),
                alone.weights["embedding.weight"].tolist(), len(alone.metrics), len(heed.runs(out)))

    def all_of_it(_):
        return (run.evaluate(), run.generate("3 1 |", tokens=8), run.attend("3 1 | 3").weights.tolist(),
                run.weights["embedding.weight"].tolist(), len(run.metrics), len(heed.runs(out)))

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(all_of_it, range(24)))


def test_after_a_fork(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    before = run.evaluate()
    child = os.fork()
    if child == 0:
        fine = run.evaluate() == before and heed.load_run(out, run.id).evaluate() == before and len(heed.runs(out)) == 7
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture(scope="session")
def long_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.toml").write_text(run_folders.LONG)
    run_folders.heed("run", "long.toml", "--out", "runs", cwd=folder)
    return folder / "runs" / ids_of(folder / "runs", "long")[0]


WORK = """
import sys, threading, time, heed
run = heed.load_run(sys.argv[1])
run.vocabulary, run.weights
ticks = 0
def tick():
    global ticks
    while True:
        time.sleep(0.001)
        ticks += 1
threading.Thread(target=tick, daemon=True).start()
print("ready", flush=True)
try:
    getattr(run, sys.argv[2])()
except KeyboardInterrupt:
    print(ticks, len(run.weights), flush=True)
    raise
"""


@pytest.mark.parametrize("call", ["evaluate", "predict", "inspect"])
def test_interrupt_stops_a_long_call_while_other_threads_run(long_run, call):
    child = subprocess.Popen([sys.executable, "-c", WORK, str(long_run), call], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        told, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert time.monotonic() - sent < 30
    ticks, weights = map(int, told.split())
    assert ticks > 50 and weights > 5
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert "Refused" not in errors and "nanobind" not in errors


def test_interrupt_stops_a_long_generation(out):
    script = ("import sys, heed\nrun = heed.load_run(sys.argv[1]); run.weights\nprint('ready', flush=True)\n"
              "run.generate('3 1 |', tokens=10**9)")
    child = subprocess.Popen([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=60)[1]
    finally:
        child.kill()
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_without_pandas_the_rest_works(out):
    script = ("import sys; sys.modules['pandas'] = None\nimport heed\nrun = heed.load_run(sys.argv[1])\n"
              "assert run.evaluate() and len(run.weights) and run.attend('3 1 | 3').weights.size\n"
              "try:\n    run.metrics\nexcept ImportError as error:\n    assert 'pip install' in str(error)\n"
              "else:\n    sys.exit(1)")
    subprocess.run([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])], check=True)
