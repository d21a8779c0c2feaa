"""Configurations, plans and sweeps from Python do what the command line does."""

import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import heed
import pytest

HEED = os.environ["HEED_COMMAND"]
CONFIG = {
    "name": "small",
    "task.kind": "copy",
    "task.validation": 16,
    "model": {"width": 8, "heads": 2, "layers": 1},
    "train": {"steps": 6, "batch": 4},
    "sweep": {"seeds": [1, 2, 3], "block": [{"grid": {"attention.score": ["scaled_dot", "additive"]}}]},
}
TOML = """
name = "small"
[task]
kind = "copy"
validation = 16
[model]
width = 8
heads = 2
layers = 1
[train]
steps = 6
batch = 4
[sweep]
seeds = [1, 2, 3]
[[sweep.block]]
grid = { "attention.score" = ["scaled_dot", "additive"] }
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("runs with spaces и буквы")


@pytest.fixture(scope="module")
def sweep(out):
    return heed.run(CONFIG, out=out, progress=False)


def command(*words, **options):
    return subprocess.run([HEED, *map(str, words)], capture_output=True, text=True, check=True, **options)


def test_a_dict_and_a_file_have_the_same_plan(tmp_path):
    (tmp_path / "small.toml").write_text(TOML)
    of_file, of_dict = heed.plan(tmp_path / "small.toml", out=tmp_path), heed.plan(CONFIG, out=tmp_path)
    assert [run["id"] for run in of_file.runs] == [run["id"] for run in of_dict.runs]
    assert len(of_dict.runs) == 6 or len(of_dict.runs) == 9
    assert of_dict.name == "small" and of_dict.metric == "val_loss"
    assert "3 seeds" in repr(of_dict)
    told = json.loads(command("plan", tmp_path / "small.toml", "--out", tmp_path, "--json").stdout)["result"]
    assert len(told["arms"]) == len(of_file.arms)
    # Keys and values, each of 8 numbers, of 16 tokens: 8 symbols, a separator, and the 7 copies that are read.
    assert [arm["state_size"] for arm in told["arms"]] == [arm["cost"]["state_size"] for arm in of_file.arms] == [256, 256]


def test_values_of_all_types_reach_the_config(tmp_path):
    import numpy

    plan = heed.plan(CONFIG, {"train.steps": numpy.int64(7), "train.learning_rate": numpy.float32(0.5), "sweep.seeds": [5],
                              "report.question": 'does "it" work? äöü\n'}, out=tmp_path)
    config = plan.runs[0]["config"]
    assert "steps = 7" in config and "learning_rate = 0.5" in config
    assert {run["seed"] for run in plan.runs} == {5}


def test_results_equal_the_command_lines(sweep, out, tmp_path):
    (tmp_path / "small.toml").write_text(TOML)
    command("run", tmp_path / "small.toml", "--out", tmp_path / "runs")
    command("report", tmp_path / "runs", "--format", "json")
    document = json.loads(next((tmp_path / "runs").glob("sweeps/*/report.json")).read_text())
    statistics = [{name: arm[name] for name in ("label", "n", "mean", "standard_deviation", "comparison", "answer")}
                  for arm in document["arms"]]
    assert [{name: arm[name] for name in statistics[0]} for arm in sweep.arms] == statistics
    assert list(sweep.table["arm"]) == [arm["label"] for arm in document["arms"]]
    assert sweep.table["mean"].tolist() == pytest.approx([arm["mean"] for arm in document["arms"]], rel=1e-15)
    assert sweep.table["state_size"].tolist() == [arm["cost"]["state_size"] for arm in document["arms"]] == [256, 256]
    assert len(sweep.runs) == sum(len(arm["runs"]) for arm in document["arms"])


def test_a_finished_sweep_is_not_run_again(sweep, out):
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/metrics.jsonl")}
    again = heed.run(CONFIG, out=out, progress=False)
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/metrics.jsonl")} == before
    assert again.folder == sweep.folder
    assert heed.load(out).folder == heed.load(str(out), "small").folder == sweep.folder


def test_a_sweep_shows_itself(sweep):
    assert "small" in str(sweep) and "runs finished" in repr(sweep)
    page = sweep._repr_html_()
    assert page.startswith("<iframe") and "<script" not in page  # the page is an attribute's text


def test_mistakes_have_their_place(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text('[attention]\nscor = "dot"\nscore = "scald_dot"\n[model]\nwidth = "x"\n')
    with pytest.raises(heed.Refused) as refused:
        heed.check(file)
    places = [(m.line, m.column, m.nearest) for m in refused.value.mistakes]
    assert places == [(2, 1, "score"), (3, 9, "scaled_dot"), (5, 9, None)]
    assert all(m.file == str(file) for m in refused.value.mistakes)
    assert "must be one of" in refused.value.mistakes[1].allowed
    assert refused.value.mistakes[2].found == "model.width is the text 'x'"
    assert [str(m).splitlines() for m in refused.value.mistakes] == [[line] for line in str(refused.value).splitlines()]


def test_all_mistakes_are_listed():
    with pytest.raises(heed.Refused) as refused:
        heed.check({f"model.wrong{n}": 1 for n in range(25)})
    assert len(refused.value.mistakes) == 25
    assert "15 more" in str(refused.value)


@pytest.mark.parametrize("config, overrides, words", [
    ({"model.width": object()}, None, "model.width is of type object"),
    (CONFIG, {"train.stepz": 3}, "overrides: [train] has no option 'stepz'; did you mean 'steps'"),
    (CONFIG, ["train.steps"], "not an assignment"),
    ("no such file.toml", None, "no such file"),
    ({1: 2}, None, "names of options are texts"),
    ({"model": {"width": "x"}}, None, "config: model.width is the text 'x'"),
    ({"trian": {}}, None, "there is no table [trian]; did you mean [train]"),
    ({"attention": {"softpik": {}}}, None, "there is no table [attention.softpik]"),
])
def test_wrong_arguments(config, overrides, words):
    with pytest.raises((heed.Refused, TypeError)) as error:
        heed.check(config, overrides)
    assert words in str(error.value)


def test_wrong_numbers_of_jobs_and_threads():
    for wrong in ({"jobs": -1}, {"threads": -2}, {"jobs": 1.0}, {"jobs": "2"}, {"jobs": 10**12}):
        with pytest.raises(heed.Refused, match="a whole number from 1"):
            heed.run(CONFIG, **wrong)


def test_an_option_that_is_given_twice_is_refused():
    for twice in ({"train": {"steps": 20}, "train.steps": 5}, {"train.steps": 5, "train": {"steps": 20}}):
        with pytest.raises(heed.Refused, match="train.steps is given twice"):
            heed.check(twice)


def test_tables_by_name_and_within_others_are_joined_and_stay_what_they_were():
    config = {"train": {}, "train.steps": 3, "model": {"width": 8}, "model.heads": 2, "sweep": {"seeds": [1, 2]},
              "sweep.block": [{"grid": {"attention.score": ["dot", "cosine"]}}]}
    before = copy.deepcopy(config)
    assert {run["seed"] for run in heed.plan(config).runs} == {1, 2}
    assert config == before


def test_an_empty_text_is_no_output_folder():
    for call in (lambda: heed.run(CONFIG, out=""), lambda: heed.check(CONFIG, out=""), lambda: heed.load(""),
                 lambda: heed.runs("")):
        with pytest.raises(heed.Refused, match="out is an empty text"):
            call()
    with pytest.raises(TypeError, match="out is 3"):
        heed.run(CONFIG, out=3)


def test_arrays_and_paths_in_a_config(tmp_path):
    import numpy

    plan = heed.plan(CONFIG, {"sweep.seeds": numpy.arange(2)}, out=tmp_path)
    assert {run["seed"] for run in plan.runs} == {0, 1}
    with pytest.raises(heed.Refused, match="text.txt"):
        heed.check({"task.kind": "text", "data.path": tmp_path / "text.txt"})


def test_missing_sweeps_are_refused(tmp_path, out, sweep):
    with pytest.raises(heed.Refused):
        heed.load(tmp_path / "nowhere")
    with pytest.raises(heed.Refused, match="smal"):
        heed.load(out, "smallish")


def test_a_damaged_plan_is_refused(tmp_path):
    sweep = heed.run(CONFIG, {"sweep.seeds": [1]}, out=tmp_path, progress=False)
    plan = sweep.folder / "plan.json"
    plan.write_bytes(plan.read_bytes()[:100])
    with pytest.raises(heed.Refused, match="plan.json"):
        heed.load(tmp_path, sweep.folder.name).report


def test_a_run_that_fails_leaves_the_sweep(tmp_path):
    with pytest.raises(heed.Failed) as failed:
        heed.run(CONFIG, {"train.optimizer": "sgd", "train.learning_rate": 1e6, "train.steps": 200, "sweep.seeds": [1]}, out=tmp_path, progress=False)
    assert "2 of 2 runs failed" in str(failed.value) and "not finite" in str(failed.value)
    assert "failed" in repr(failed.value.sweep)
    assert str(failed.value).endswith("change it, then start the same call")


def test_a_run_that_cannot_be_used_leaves_the_sweep(tmp_path):
    heed.run(CONFIG, {"sweep.seeds": [1]}, out=tmp_path, progress=False)
    edited = sorted(tmp_path.glob("*/config.toml"))[0]
    edited.write_text(edited.read_text().replace("learning_rate = ", "learning_rate = 1"))
    with pytest.raises(heed.Failed, match="1 of 2 runs are unusable .* Remove their folders, and repeat them with the same "
                                          "call") as failed:
        heed.run(CONFIG, {"sweep.seeds": [1]}, out=tmp_path, progress=False)
    assert "no longer hashes to its ID" in str(failed.value)
    assert failed.value.sweep.report.document["progress"]["left_out"] == 1


def test_progress_is_told(tmp_path):
    told = []

    class Shown:
        def begin(self, text):
            told.append(text)

        def draw(self, lines, line, done, total):
            told.append((lines, line, done, total))

        def say(self, text):
            told.append(text)

    heed.run(CONFIG, {"train.steps": 400}, out=tmp_path, jobs=1, progress=Shown())
    assert told[0].startswith("small")
    drawn = [item for item in told if isinstance(item, tuple)]
    assert drawn and drawn[-1][3] == len(heed.plan(CONFIG, out=tmp_path).runs)
    assert "runs" in drawn[0][1]


def test_an_exception_of_the_display_stops_the_sweep(tmp_path):
    class Shown:
        def begin(self, text):
            raise ZeroDivisionError("the display")

        def draw(self, lines, line, done, total):
            pass

        say = begin

    with pytest.raises(ZeroDivisionError, match="the display"):
        heed.run(CONFIG, {"train.steps": 100000}, out=tmp_path, progress=Shown())


def test_other_threads_run_meanwhile(tmp_path):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    heed.run(CONFIG, {"train.steps": 2000}, out=tmp_path, progress=False)
    seconds = time.monotonic() - begin
    done.set()
    thread.join()
    assert counted > 50 * seconds


def test_sweeps_run_in_threads(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        sweeps = list(pool.map(lambda n: heed.run(CONFIG, {"sweep.seeds": [n]}, out=tmp_path, progress=False), range(3)))
    assert len({sweep.folder for sweep in sweeps}) == 3


def test_interrupt_keeps_checkpoints_and_resumes(tmp_path):
    script = textwrap.dedent(f"""
        import heed
        config = {CONFIG!r}
        try:
            heed.run(config, {{"train.steps": 300000, "sweep.seeds": [1]}}, out={str(tmp_path)!r})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("*/progress*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    stdout, stderr = child.communicate(timeout=300)
    assert stdout.strip() == "interrupted", stderr
    assert list(tmp_path.glob("*/checkpoint-*.safetensors"))


def test_mypy_finds_nothing():
    pytest.importorskip("mypy")
    package = pathlib.Path(os.environ["HEED_CHECKOUT"], "python", "heed")
    told = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(package)],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert told.returncode == 0, told.stdout


def test_a_report_fits_its_schema(sweep):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(subprocess.run([HEED, "report", "--schema"], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(sweep.report.document, schema)
