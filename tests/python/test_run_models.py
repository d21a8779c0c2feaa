"""What the model of a run gives in Python is what the command line gives."""

import json
import math
import shutil

import heed
import numpy
import pytest
from run_folders import command, ids_of, same


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


def test_arguments_of_other_types_are_named(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    for name, call in (("beam", lambda: run.evaluate(beam="x")), ("beam", lambda: run.predict(beam=1.5)),
                       ("length_penalty", lambda: run.evaluate(length_penalty="x")),
                       ("lengths", lambda: run.evaluate(lengths=["x"])), ("lengths", lambda: run.evaluate(lengths=[2.5])),
                       ("count", lambda: run.predict(count="x")), ("rows", lambda: run.inspect(rows="x")),
                       ("average", lambda: run.evaluate(average=True)), ("tokens", lambda: run.generate("3 |", tokens="x")),
                       ("row", lambda: run.attend(row=1.0)), ("step", lambda: run.weights_at("x")),
                       ("where", lambda: heed.runs(out, 3)), ("limit", lambda: heed.runs(out, limit="x")),
                       ("sort", lambda: heed.runs(out, sort=3)), ("columns", lambda: heed.runs(out, columns=[3]))):
        with pytest.raises(TypeError, match=f"^{name} is "):
            call()
    assert run.evaluate(lengths=numpy.int64(3)) == run.evaluate(lengths=[numpy.int32(3)]) == run.evaluate(lengths=3)


def test_attend_equals_the_command_lines(place, out, tmp_path):
    folder = tmp_path / "a"
    shutil.copytree(place, folder)
    for name, given, words in (("copies", {"input": "3 1 4 | 3"}, ["--input", "3 1 4 | 3"]),
                               ("copies", {"row": 2}, ["--row", "2"]),
                               ("pairs", {"input": "3 1 4", "output": "4 1"}, ["--input", "3 1 4", "--target", "4 1"]),
                               ("pairs", {"input": "3 1 4"}, ["--input", "3 1 4"])):
        id = ids_of(out, name)[0]
        attention = heed.load_run(out, id).attend(**given)
        told = json.loads(command(folder, "attend", id, *words, "--json"))["result"]
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
        told = json.loads(command(place, "inspect", id, "--split", "train", "--rows", "8", "--json"))["result"]
        assert (found.step, found.rows) == (told["step"], told["rows"])
        for frame, rows in ((found.heads, told["heads"]), (found.layers, told["layers"]),
                            (found.modules, told["modules"])):
            assert len(frame) == len(rows) > 0 and list(frame.columns) == list(rows[0])
            for row, expected in zip(frame.to_dict("records"), rows):
                assert all(same(row[field], expected[field]) for field in expected)
        assert "examples at step" in repr(found) and "<table" in found._repr_html_()


@pytest.mark.parametrize("call, words", [
    (lambda run: run.attend(3), "input is 3"), (lambda run: run.attend(row="0"), "row is '0'"),
    (lambda run: run.weights_at("20"), "step is '20'"), (lambda run: run.evaluate(average=1.5), "average is 1.5"),
    (lambda run: run.generate(5), "prompt is 5"), (lambda run: run.generate("1", seed=0.5), "seed is 0.5"),
    (lambda run: run.generate("1", temperature="hot"), "temperature is 'hot'"),
])
def test_arguments_of_wrong_types_are_named(out, call, words):
    with pytest.raises(TypeError) as error:
        call(heed.load_run(out, ids_of(out, "copies")[0]))
    assert words in str(error.value)


@pytest.mark.parametrize("call, words", [
    (lambda run, n: run.evaluate(beam=n), "beam"), (lambda run, n: run.evaluate(lengths=n), "lengths"),
    (lambda run, n: run.evaluate(average=n), "average"), (lambda run, n: run.predict(count=n), "count"),
    (lambda run, n: run.attend(row=n), "row"), (lambda run, n: run.inspect(rows=n), "rows"),
    (lambda run, n: run.generate("1", tokens=n), "tokens"), (lambda run, n: run.generate("1", top_k=n), "top_k"),
])
def test_integers_beyond_32_bits_are_refused(out, call, words):
    for number in (2**31, 2**32 + 1, 2**63, 2**70, numpy.int64(2**40)):
        with pytest.raises(heed.Refused, match=f"{words} is {number}; .*below 2.31"):
            call(heed.load_run(out, ids_of(out, "copies")[0]), number)


def test_steps_and_seeds_have_63_bits(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    with pytest.raises(heed.Refused, match="step is .*below 2.63"):
        run.weights_at(2**63)
    with pytest.raises(heed.Refused, match="seed is .*below 2.63"):
        run.generate("1", seed=2**63)
    with pytest.raises(heed.Refused, match="step"):  # there is no such step
        run.weights_at(2**62)
