"""What a program may do to its process: other standard streams, another working directory, odd displays."""

import io
import os
import subprocess
import sys
import threading

import heed
import pytest

CONFIG = {"name": "small", "task.kind": "copy", "task.validation": 16, "model": {"width": 8, "heads": 2, "layers": 1},
          "train": {"steps": 6, "batch": 4}, "sweep": {"seeds": [1, 2]}}


class Bare:
    """A stream with one method."""

    def write(self, text):
        pass


class Broken(io.StringIO):
    def write(self, text):
        raise OSError("it broke")


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = {"None": lambda: None, "bare": Bare, "closed": closed, "broken": Broken, "object": object, "StringIO": io.StringIO,
           "ascii": lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii"),
           "binary": io.BytesIO}


@pytest.mark.parametrize("name", STREAMS)
def test_a_sweep_runs_whatever_the_standard_streams_are(tmp_path, monkeypatch, name):
    monkeypatch.setattr(sys, "stderr", STREAMS[name]())
    monkeypatch.setattr(sys, "stdout", STREAMS[name]())
    sweep = heed.run(CONFIG, {"name": "größer ━", "train.steps": 400}, out=tmp_path)
    assert str(sweep) and len(sweep.runs) == 2
    if name == "StringIO":
        assert "größer ━" in sys.stderr.getvalue()
    if name == "ascii":
        assert b"gr??er ?" in sys.stderr.buffer.getvalue() or b"gr?" in sys.stderr.buffer.getvalue()


def test_a_terminal_that_is_lost(tmp_path, monkeypatch):
    class Terminal(Broken):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert len(heed.run(CONFIG, out=tmp_path).runs) == 2


def test_standard_streams_that_are_closed_in_the_system(tmp_path):
    script = f"import heed\nheed.run({CONFIG!r}, out={str(tmp_path)!r})\nopen({str(tmp_path / 'done')!r}, 'w')"
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", script], timeout=200)
    assert done.returncode == 0 and (tmp_path / "done").exists()


class Shown:
    def begin(self, text):
        pass

    def draw(self, lines, line, done, total):
        pass

    say = begin


@pytest.mark.parametrize("width, error", [("x", TypeError), (1.5, TypeError), (float("nan"), TypeError), (None, TypeError),
                                          (True, TypeError), (-1, ValueError), (0, ValueError), (2**70, ValueError)])
def test_a_wrong_width_of_the_display_is_refused(tmp_path, width, error):
    shown = Shown()
    shown.width = width
    with pytest.raises(error, match="progress.width is "):
        heed.run(CONFIG, out=tmp_path / "runs", progress=shown)
    assert not (tmp_path / "runs").exists()


def test_a_width_that_becomes_wrong_stops_the_sweep_with_checkpoints(tmp_path):
    class Narrows(Shown):
        width = 1

        def draw(self, lines, line, done, total):
            if list(tmp_path.glob("*/progress*")):
                self.width = "x"

    with pytest.raises(TypeError, match="progress.width is 'x'"):
        heed.run(CONFIG, {"train.steps": 3000000}, out=tmp_path, progress=Narrows())
    assert list(tmp_path.glob("*/checkpoint-*.safetensors"))


@pytest.mark.parametrize("width", [1, 2, 5, 2**62])
def test_any_positive_width_will_do(tmp_path, width):
    class Wide(Shown):
        pass

    Wide.width = width
    assert len(heed.run(CONFIG, {"train.steps": 2000}, out=tmp_path, progress=Wide()).runs) == 2


@pytest.mark.parametrize("display", [object(), 3, "bar", None, type("Half", (), {"draw": print})()])
def test_a_display_without_the_methods_is_refused(tmp_path, display):
    with pytest.raises(TypeError, match="progress is .* without a method"):
        heed.run(CONFIG, out=tmp_path / "runs", progress=display)
    assert not (tmp_path / "runs").exists()


TEXT = {"name": "texts", "task.kind": "text", "task.text.block": 16, "data.path": "own text.txt",
        "model": {"width": 8, "heads": 2, "layers": 1}, "train": {"steps": 4, "batch": 4},
        "report": {"attend": ["some"]}, "sweep": {"seeds": [1, 2]}}


def write_text(folder):
    folder.mkdir()
    (folder / "own text.txt").write_text("some words, and some more.\n" * 200)


def test_a_report_does_not_change_with_the_working_directory(tmp_path, monkeypatch):
    write_text(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    expected = heed.run(TEXT, out="runs", progress=False).report.document
    loaded, again, plan = heed.load("runs"), heed.run(TEXT, out="runs", progress=False), heed.plan(TEXT, out="runs")
    monkeypatch.chdir(tmp_path)
    assert loaded.out == again.out == tmp_path / "here" / "runs" and loaded.folder.is_absolute()
    for sweep in (loaded, again):
        document = sweep.report.document
        assert {name: document[name] for name in document if name != "made"} == \
               {name: expected[name] for name in expected if name != "made"}
    assert len(plan.runs) == 2 and "texts" in repr(loaded)
    assert not (tmp_path / "runs").exists()


def test_the_working_directory_changes_during_a_sweep(tmp_path, monkeypatch):
    """Workers that start later find the data, and the folders."""
    write_text(tmp_path / "here")
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    class Moves(Shown):
        def begin(self, text):
            os.chdir(tmp_path / "there")

    sweep = heed.run(TEXT, out="runs", jobs=1, progress=Moves())
    assert len(sweep.runs) == 2 and set(sweep.runs["state"]) == {"finished"}
    assert sweep.out == tmp_path / "here" / "runs" and not list((tmp_path / "there").iterdir())


def test_a_removed_working_directory_is_named(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for call in (lambda: heed.run(CONFIG), lambda: heed.check(CONFIG)):
        with pytest.raises(heed.Refused, match="out is 'runs', a relative path, and the working directory was removed"):
            call()
    assert len(heed.run(CONFIG, out=tmp_path / "runs", progress=False).runs) == 2


def test_a_sweep_in_a_folder_whose_name_is_not_unicode(tmp_path):
    folder = os.fsdecode(bytes(tmp_path) + b"/r\xfcns")
    config = os.path.join(folder, os.fsdecode(b"gr\xf6\xdfer.toml"))
    os.mkdir(folder)
    with open(config, "w") as file:
        file.write("[task]\nkind = 'copy'\nvalidation = 16\n[model]\nwidth = 8\nheads = 2\nlayers = 1\n[train]\nsteps = 6\n"
                   "batch = 4\n[sweep]\nseeds = [1, 2]\n")
    told = []

    class Tells(Shown):
        def begin(self, text):
            told.append(text)

        def draw(self, lines, line, done, total):
            told.extend([*lines, line])

    out = os.path.join(folder, "runs")
    sweep = heed.run(config, out=out, progress=Tells())
    loaded = heed.load(out)
    assert loaded.folder == sweep.folder and heed.load(out, sweep.folder).folder == sweep.folder
    plan = heed.plan(config, out=out)
    texts = [*told, repr(loaded), str(loaded), plan.name, repr(plan), *(loaded.report.to(format) for format in
             ("html", "markdown", "latex", "csv", "json", "text"))]
    assert "".join(texts).encode()
    with pytest.raises(heed.Refused) as refused:
        heed.load(out, "no such")
    with pytest.raises(heed.Refused) as wrong:
        heed.check(config, {"train.step": 3})
    with open(config, "a") as file:
        file.write("nothing = 1\n")
    with pytest.raises(heed.Refused) as mistaken:
        heed.check(config)
    assert (str(refused.value) + str(wrong.value) + str(mistaken.value) + mistaken.value.mistakes[0].file).encode()


def test_config_texts_that_are_not_unicode_are_named():
    for config, overrides in (({"data.path": "\udcff.txt"}, None), ({"a\udcff": 1}, None), (CONFIG, ["name=\udcff"]),
                              (CONFIG, {"name": "\udcff"})):
        with pytest.raises(heed.Refused, match="not UTF-8"):
            heed.check(config, overrides)


def test_an_interrupt_that_a_thread_asks_for_stops_a_sweep(tmp_path):
    """_thread.interrupt_main is Ctrl-C without a signal."""
    import _thread

    def interrupt():
        while not list(tmp_path.glob("*/progress*")):
            pass
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        heed.run(CONFIG, {"train.steps": 3000000}, out=tmp_path, progress=False)
    thread.join()
    assert list(tmp_path.glob("*/checkpoint-*.safetensors"))
