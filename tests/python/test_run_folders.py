"""Damaged folders, folders of other people, and unusual paths."""

import json
import os
import shutil
import tomllib

import heed
import pytest
from heed._runs import _left_out_in_words
from run_folders import ids_of


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
    for question in (lambda run: run.weights, lambda run: run.evaluate(), lambda run: run.generate("3 1 |"),
                     lambda run: run.predict(), lambda run: run.attend("3 1 | 3"), lambda run: run.inspect()):
        with pytest.raises(heed.Refused, match="no intact checkpoint.*checkpoint-000030.*a pipe.*2 older.*remove the folder"):
            question(heed.load_run(copied))
    for step in (10, 20, 30):
        (copied / f"checkpoint-{step:06}.safetensors").unlink()
    with pytest.raises(heed.Refused, match="no checkpoint yet"):
        heed.load_run(copied).weights


def test_the_average_names_what_is_damaged(copied):
    (copied / "checkpoint-000020.safetensors").write_bytes(b"")
    with pytest.raises(heed.Refused, match="2 intact checkpoints, but the average needs 3.*checkpoint-000020.*damaged"):
        heed.load_run(copied).average(3)


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


def test_a_sparse_file_of_metrics_is_named_soon(copied):
    os.truncate(copied / "metrics.jsonl", 1 << 40)
    with pytest.warns(UserWarning, match="1099511627776 bytes, and a run's metrics have at most 17179869184"):
        heed.runs(copied.parent)
    with pytest.raises(heed.Refused, match="17179869184"):
        heed.load_run(copied).metrics
    os.truncate(copied / "metrics.jsonl", 1 << 30)
    with pytest.raises(heed.Refused, match="more than 16777216 bytes"):
        heed.load_run(copied).metrics


def test_of_many_reasons_some_are_named():
    words = _left_out_in_words([(f"{i:016}", f"reason {i}") for i in range(30_000)])
    assert len(words.splitlines()) == 22 and "and 29980 more reasons" in words


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
    run = heed.load_run(folder, id)
    texts = [repr(run), repr(run.weights), repr(run.inspect()), repr(run.attend("3 1 | 3"))]
    (run.folder / "vocabulary.json").write_text("{")
    with pytest.raises(heed.Refused) as refused:
        run.vocabulary
    assert "".join([*texts, str(refused.value)]).encode()


def test_texts_that_are_not_unicode_are_refused(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    for question in (lambda: run.generate("\udcff"), lambda: run.attend("\udcff"), lambda: heed.runs(out, "\udcff"),
                     lambda: heed.runs(out, columns=["\udcff"])):
        with pytest.raises(heed.Refused, match="not UTF-8"):
            question()


def test_a_removed_working_directory(out, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    id = ids_of(out, "copies")[0]
    assert heed.load_run(out, id).evaluate() and len(heed.runs(out)) == 7
    for question in (lambda: heed.runs(), lambda: heed.load("runs"), lambda: heed.load_run("runs", id)):
        with pytest.raises(heed.Refused, match="working directory was removed"):
            question()


def test_a_run_does_not_change_with_the_working_directory(place, tmp_path, monkeypatch):
    monkeypatch.chdir(place)  # the path of the data is relative
    runs = [heed.load_run("runs", ids_of("runs", name)[0]) for name in ("copies", "Texte, größer")]
    before = [heed.load_run(run.folder).evaluate() for run in runs]
    monkeypatch.chdir(tmp_path)
    assert [run.evaluate() for run in runs] == before
    assert all(len(run.metrics) and run.state == "finished" for run in runs)


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
