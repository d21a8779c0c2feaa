"""heed.compare gives what `heed compare` gives, for every form of a table."""

import csv
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time

import heed
import pytest

HEED = os.environ["HEED_COMMAND"]


def random_rows(seed):
    """Runs of some arms and seeds: some missing, some without a result, sometimes in groups."""
    draw = random.Random(seed)
    arms = ["baseline", *(f"variant {n}" for n in range(draw.randint(1, 3)))]
    groups = draw.choice([[None], ["a", "b"]])
    rows = []
    for group in groups:
        for number, arm in enumerate(arms):
            for run in range(draw.randint(3, 9)):
                if draw.random() < 0.1:
                    continue
                row = {"model": arm, "seed": run}
                if group:
                    row["dataset"] = group
                row["accuracy"] = None if draw.random() < 0.05 else round(draw.gauss(0.7 + 0.02 * number, 0.02), 6)
                row["loss"] = draw.gauss(1.0, 0.1)
                rows.append(row)
    return rows, bool(groups[0])


def as_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if value is None else repr(value) if isinstance(value, float) else value
                             for name, value in row.items()})


def without_places(value):
    """A document without the names of runs and tables: a run is a line of a file there, and an entry of a list here."""
    if isinstance(value, dict):
        return {name: without_places(item) for name, item in value.items() if name not in ("id", "problem")}
    return [without_places(item) for item in value] if isinstance(value, list) else value


def test_one_answer_over_groups():
    rows = [{"dataset": dataset, "model": arm, "seed": seed, "accuracy": level + 0.001 * (seed * 5 % 7) + gain * (0.02 + 0.0003 * (seed % 3))}
            for dataset, level in (("a", 0.5), ("b", 0.6), ("c", 0.7)) for arm, gain in (("baseline", 0), ("gated", 1))
            for seed in range(8)]
    report = heed.compare(rows, metric="accuracy", group="dataset", over="these tasks")
    over = report.document["over"]
    assert over["names"] == ["dataset = a", "dataset = b", "dataset = c"] and over["common_seeds"]
    assert [arm["answer"] for arm in over["arms"]] == [None, "better"]
    assert over["arms"][1]["sentence"].startswith("Over these 3 tasks, gated is better: 0.02")
    assert over["arms"][1]["improvement"]["value"] > 0.5
    scaled = heed.compare(rows, metric="accuracy", group="dataset", over="these tasks", scale=[0.5, 0.4, 0.3]).document["over"]
    assert scaled["scale"] == "0.5, 0.4, 0.3"
    assert scaled["arms"][1]["comparison"]["difference"] > over["arms"][1]["comparison"]["difference"]
    with pytest.raises(heed.Refused, match="`over`: an answer for tasks like these"):
        heed.compare(rows, metric="accuracy", group="dataset", over="tasks like these")


@pytest.mark.parametrize("seed", range(100))
def test_statistics_equal_the_command_lines(tmp_path, seed):
    rows, grouped = random_rows(seed)
    as_csv(tmp_path / "results.csv", rows)
    words = ["--metric", "accuracy", "--metric", "loss", "--reference", "baseline", "--margin", "0.01", "--name", "x"]
    asked = {"metric": ["accuracy", "loss"], "reference": "baseline", "margin": 0.01, "name": "x"}
    if grouped:
        words += ["--group", "dataset"]
        asked["group"] = "dataset"
    if seed % 3 == 0:
        words += ["--test", "unpaired"]
        asked["test"] = "unpaired"
    told = subprocess.run([HEED, "compare", "results.csv", *words, "--format", "json", "--output", "-"], cwd=tmp_path,
                          capture_output=True, text=True)
    if told.returncode != 0:
        with pytest.raises(heed.Refused):
            heed.compare(rows, **asked)
        return
    document = json.loads(told.stdout)["result"]
    report = heed.compare(rows, **asked).document
    assert without_places(report["arms"]) == without_places(document["arms"])
    assert report["notes"][1:] == document["notes"][1:]  # the first names the table


def test_forms_of_a_table():
    import numpy
    import pandas

    rows = [{"arm": arm, "seed": seed, "accuracy": value + seed / 100}
            for arm, value in (("baseline", 0.5), ("wide", 0.6)) for seed in range(6)]
    frame = pandas.DataFrame(rows)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    numbers = [{**row, "seed": numpy.int64(row["seed"]), "accuracy": numpy.float64(row["accuracy"])} for row in rows]
    reports = [heed.compare(form, metric="accuracy") for form in (rows, frame, columns, numbers)]
    assert len({json.dumps(without_places(report.document["arms"])) for report in reports}) == 1
    table = reports[0].table
    assert list(table["arm"]) == ["baseline", "wide"]
    assert math.isclose(table["difference"][1], 0.1)
    assert reports[0].answers["baseline"] is None
    assert reports[0].answers["wide"] == "better"
    assert "wide is better" in reports[0].sentences["wide"]


def test_missing_values_of_pandas_are_runs_without_a_result():
    import pandas

    rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
    rows[-1]["accuracy"] = None
    frame = pandas.DataFrame(rows)
    told = [heed.compare(form, metric="accuracy").document["progress"]
            for form in (rows, frame, frame.convert_dtypes())]
    assert told[0] == told[1] == told[2]
    assert "1 failed" in json.dumps(told[0])


@pytest.mark.parametrize("change, words", [
    (lambda rows: rows[3].update(accuracy="high"), ["entry 4", "high"]),
    (lambda rows: rows.append(dict(rows[0])), ["entry 13"]),
    (lambda rows: [row.update(arm="baseline") or row.update(seed=i) for i, row in enumerate(rows)], ["arm"]),
    (lambda rows: [row.update(score=row.pop("accuracy")) for row in rows], ["accuracy", "score"]),
])
def test_mistakes_are_refused_with_their_place(change, words):
    rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
    change(rows)
    with pytest.raises(heed.Refused) as refused:
        heed.compare(rows, metric="accuracy")
    assert all(word in str(refused.value) for word in words)
    assert "--" not in str(refused.value)  # options of the command line are not those of Python


def test_unknown_types_and_uneven_columns():
    with pytest.raises(TypeError, match="data frame|DataFrame"):
        heed.compare(7, metric="accuracy")
    with pytest.raises(heed.Refused, match="different numbers"):
        heed.compare({"arm": ["a", "b"], "accuracy": [1]}, metric="accuracy")


def test_files_with_names_of_any_language(tmp_path):
    rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "größer") for seed in range(6)]
    path = tmp_path / "результаты 結果.csv"
    as_csv(path, rows)
    report = heed.compare(path, metric="accuracy")
    assert "größer" in report.answers
    page = report.save(tmp_path / "отчёт.html")
    assert "größer" in page.read_text(encoding="utf-8")
    before = page.read_bytes()
    assert report.save(page) == page  # it is a report of Heed
    assert page.read_bytes() == before
    with pytest.raises(heed.Refused, match="ending"):
        report.save(tmp_path / "report.docx")
    for format in ("html", "markdown", "latex", "csv", "json", "text"):
        assert report.to(format)


def test_missing_file():
    with pytest.raises(OSError):
        heed.compare("no such file.csv", metric="accuracy")


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path, words in ((tmp_path / "pipe.csv", "it is a pipe"), ("/dev/zero", "it is a device"), (tmp_path, "a folder")):
        with pytest.raises(heed.Refused, match=words):
            heed.compare(path, metric="accuracy")


def test_a_table_in_a_folder_whose_name_is_not_unicode(tmp_path):
    folder = os.fsdecode(bytes(tmp_path) + b"/\xff\xfe")
    os.mkdir(folder)
    path = os.path.join(folder, os.fsdecode(b"\xfd.csv"))
    with open(path, "w") as file:
        file.write("arm,seed,accuracy\n" + "".join(f"{arm},{seed},0.{seed + 1}\n" for arm in ("baseline", "wide")
                                                    for seed in range(6)))
    report = heed.compare(path, metric="accuracy")
    for format in ("html", "markdown", "latex", "csv", "json", "text"):
        assert report.to(format).encode()
    assert report.save(os.path.join(folder, "report.html")).read_text(encoding="utf-8")
    with pytest.raises(heed.Refused) as refused:
        heed.compare(path, metric="loss")
    assert "xfd.csv" in str(refused.value) and (str(refused.value) + repr(report) + str(report)).encode()
    rows = [{"arm": "\udcff", "seed": 1, "\udcfe": 1.0}]
    with pytest.raises(heed.Refused):
        heed.compare(rows, metric="\udcfe")


def test_threads_compare_at_once():
    from concurrent.futures import ThreadPoolExecutor

    rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
    with ThreadPoolExecutor(8) as threads:
        documents = list(threads.map(lambda _: json.dumps(heed.compare(rows, metric="accuracy").document["arms"]),
                                     range(32)))
    assert len(set(documents)) == 1


LONG = """
import sys, threading, time
import heed
ticks = 0
def tick():
    global ticks
    while True:
        time.sleep(0.001)
        ticks += 1
threading.Thread(target=tick, daemon=True).start()
if sys.argv[1] == "flips":
    rows = [{"arm": f"m{arm}", "seed": seed, "accuracy": (7 * arm + 13 * seed) % 97 / 100} for arm in range(900)
            for seed in range(20)]
    work = lambda: heed.compare(rows, metric="accuracy", reference="m0")
else:
    rows = [{"arm": arm, "seed": 0, "task": task, "accuracy": (7 * task + ord(arm)) % 97 / 100}
            for task in range(30000) for arm in "ab"]
    report = heed.compare(rows, metric="accuracy", reference="a", group="task")
    work = lambda: report.to(sys.argv[1])
print("ready", flush=True)
before = ticks
try:
    while True:
        work()
except KeyboardInterrupt:
    print(ticks - before, flush=True)
    raise
"""


@pytest.mark.parametrize("what", ["flips", "html", "markdown", "latex", "csv"])
def test_interrupt_stops_it_while_other_threads_run(what):
    child = subprocess.Popen([sys.executable, "-c", LONG, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.7)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        told = child.stdout.readline()
        took = time.monotonic() - sent
        errors = child.communicate(timeout=60)[1]
    finally:
        child.kill()
    assert took < 5, took
    assert int(told) > 50
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert "Refused" not in errors and "nanobind" not in errors


def test_rows_with_columns_of_their_own_take_what_they_have():
    rows = [{"arm": ("baseline", "wide")[row % 2], "seed": row // 2, "accuracy": row % 7 / 10, f"x{row}": row}
            for row in range(9990)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = heed.compare(rows, metric="accuracy")
    assert report.document["arms"][1]["n"] == 4995
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_too_many_columns_are_refused():
    with pytest.raises(heed.Refused, match="more than 10000 columns"):
        heed.compare([{f"x{column}": 1 for column in range(10001)}], metric="x1")


def test_after_a_fork():
    rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
    before = heed.compare(rows, metric="accuracy").to("csv")
    child = os.fork()
    if child == 0:
        os._exit(0 if heed.compare(rows, metric="accuracy").to("csv") == before else 1)
    assert os.waitpid(child, 0)[1] == 0


def rows_of(**changes):
    return [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100, **changes} for arm in ("baseline", "wide")
            for seed in range(6)]


def test_missing_names_of_arms_are_refused():
    import pandas

    for missing in (None, float("nan")):
        rows = rows_of()
        rows[-1]["arm"] = missing
        for form in (rows, pandas.DataFrame(rows)):
            with pytest.raises(heed.Refused, match="arm"):
                heed.compare(form, metric="accuracy")


def test_columns_of_one_name_are_refused():
    import pandas

    frame = pandas.DataFrame(rows_of())
    with pytest.raises(heed.Refused, match="two columns of one name: 'accuracy'"):
        heed.compare(pandas.concat([frame, frame[["accuracy"]] / 2], axis=1), metric="accuracy")


def test_names_that_look_like_numbers_stay_texts():
    rows = [{**row, "arm": {"baseline": "001", "wide": "1e5"}[row["arm"]]} for row in rows_of()]
    report = heed.compare(rows, metric="accuracy", reference="001")
    assert list(report.table["arm"]) == list(report.answers) == ["001", "1e5"]
    assert set(report.runs["arm"]) == {"001", "1e5"}


def test_arms_of_other_types():
    import numpy

    for reference, other in ((0, 1), (False, True), (numpy.float32(0.001), numpy.float32(0.1))):
        rows = [{**row, "arm": {"baseline": reference, "wide": other}[row["arm"]]} for row in rows_of()]
        assert list(heed.compare(rows, metric="accuracy", reference=reference).answers) == [str(reference), str(other)]


def test_other_columns_may_hold_anything():
    import numpy

    rows = [{**row, "image": numpy.zeros((2, 2)), "time": object()} for row in rows_of()]
    assert heed.compare(rows, metric="accuracy", time=None).answers["wide"]


def test_index_levels_and_nested_dicts_are_columns():
    import pandas

    frame = pandas.DataFrame(rows_of()).set_index(["arm", "seed"])
    nested = [{"config": {"arm": row["arm"]}, "seed": row["seed"], "accuracy": row["accuracy"]} for row in rows_of()]
    expected = heed.compare(rows_of(), metric="accuracy").answers
    assert heed.compare(frame, metric="accuracy").answers == expected
    assert heed.compare(nested, metric="accuracy", arm="config.arm").answers == expected


@pytest.mark.parametrize("wrong, words", [
    ({"margin": True}, "margin is True"), ({"margin": "0.01"}, "margin is '0.01'"), ({"bounds": (0, 0.9, 1)}, "bounds is"),
    ({"bounds": 0.5}, "bounds is 0.5"), ({"reference": ["baseline"]}, "reference is"), ({"metric": 5}, "5"),
    ({"seed": ["seed"]}, "seed is"), ({"test": "both"}, "both"),
])
def test_wrong_arguments_are_named(wrong, words):
    with pytest.raises(heed.Refused) as refused:
        heed.compare(rows_of(), **{"metric": "accuracy", **wrong})
    assert words in str(refused.value)


def test_empty_tables_are_refused():
    for empty in ({}, [], {"arm": [], "accuracy": []}):
        with pytest.raises(heed.Refused, match="no (rows|columns)"):
            heed.compare(empty, metric="accuracy")


def small_report():
    return heed.compare([{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "new")
                         for seed in range(6)], metric="accuracy")


def test_a_saved_report_replaces_nothing_but_reports(tmp_path):
    report = small_report()
    for ending in ("html", "md", "tex", "csv", "json", "txt"):
        file = tmp_path / f"report.{ending}"
        file.write_text("a user's notes")
        with pytest.raises(heed.Refused, match="exists and was not written by Heed: choose another name, or say force=True"):
            report.save(file)
        assert file.read_text() == "a user's notes"
        report.save(file, force=True)
        saved = file.read_bytes()
        report.save(file)
        assert file.read_bytes() == saved
    (tmp_path / "link.md").symlink_to(tmp_path / "report.md")
    report.save(tmp_path / "link.md")
    assert (tmp_path / "link.md").is_symlink()
    with pytest.raises(heed.Refused, match="is a folder"):
        report.save(tmp_path, "html")
    with pytest.raises(heed.Refused, match="its folder does not exist"):
        report.save(tmp_path / "none" / "report.html")


def test_a_pipe_is_written_through(tmp_path):
    report = small_report()
    pipe = tmp_path / "report.csv"
    os.mkfifo(pipe)
    with pytest.raises(heed.Refused, match="a pipe that nobody reads"):
        report.save(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    report.save(pipe)
    assert os.read(reader, 1 << 16).decode().startswith("arm,changes,")
    os.close(reader)
    assert pipe.is_fifo()
    report.save("/dev/null", "text")


def test_texts_have_no_commands_for_terminals(tmp_path, capsys):
    command = "\x1b[2J\x9b1A\u202e"
    rows = [{f"arm{command}": f"{arm}{command}", "seed": seed, f"accuracy{command}": 0.5 + seed / 100,
             f"set{command}": command + "x"} for arm in ("baseline", "new") for seed in range(6)]
    report = heed.compare(rows, metric=f"accuracy{command}", arm=f"arm{command}", group=f"set{command}",
                          reference="baseline", direction="higher", name="x" + command, question=command)
    print(report)
    for text in (str(report), repr(report), report.to("text"), capsys.readouterr().out):
        assert "\\x1b[2J" in text
        assert not any(c in text for c in command if c not in "[2J1A")
    with pytest.raises(heed.Refused) as refused:
        report.save(tmp_path / f"report.{command}")
    assert "\x1b" not in str(refused.value)
    with pytest.raises(heed.Refused) as refused:
        heed.compare(rows, metric="none" + command)
    assert "\x1b" not in str(refused.value)
    broken = tmp_path / os.fsdecode(b"bro\xffken.html")
    report.save(broken)
    assert broken.exists()
    with pytest.raises(heed.Refused) as refused:
        report.save(broken / "x.html")
    assert "bro\\xffken" in str(refused.value)


def test_rows_of_examples_give_an_interval_over_examples():
    draw = random.Random(5)
    items = [draw.gauss(0, 1) for _ in range(40)]
    rows = [{"model": model, "seed": seed, "item": f"q{e}", "score": items[e] + draw.gauss(0.5 * (model == "b"), 0.3)}
            for model in ("a", "b") for seed in range(6) for e in range(40)]
    report = heed.compare(rows, metric="score", reference="a", direction="higher", examples="item")
    arm = report.document["arms"][1]
    means = {}
    for row in rows:
        means.setdefault((row["model"], row["seed"]), []).append(row["score"])
    difference = sum(sum(means["b", s]) - sum(means["a", s]) for s in range(6)) / 240
    over = arm["over_examples"]
    assert over["examples"] == 40 and math.isclose(over["difference"], difference, rel_tol=1e-9)
    low, high = over["interval"]
    assert low < difference < high and "Over other examples, too" in report.sentences["b"]
    with pytest.raises(heed.Refused, match="`examples` needs 30 examples or more, and there are 2"):
        heed.compare([row for row in rows if row["item"] in ("q0", "q1")], metric="score", reference="a",
                     direction="higher", examples="item")
