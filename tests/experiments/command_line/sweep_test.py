"""Sweeps from the outside: tuned, stopped, two at once, of edited files. Prints TAP.

Usage: sweep_test.py HEED [instrumented]     instrumented: a build that takes address space of its own
"""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from small_config import SMALL  # noqa: E402
import terminal  # noqa: E402
from plan_checksum import with_checksum  # noqa: E402
from tap import HANG, Points, attempt, run, until  # noqa: E402

heed = sys.argv[1]
instrumented = sys.argv[2:] == ["instrumented"]
points = Points()

BASE = SMALL + "shards = 1\n"
TUNED = BASE + """[sweep]
seeds = [0, 1]
[sweep.tune]
seeds = [100, 101]
grid = {{ "train.learning_rate" = [1e-3, 1e-2] }}
[[sweep.block]]
grid = {{ "attention.score" = ["additive"] }}
"""
DECAY = "[train.adamw]\nweight_decay = 1.0\n[sweep]"  # (1 - 1e6 * 1.0)^n soon is not finite
GRID = BASE + """[sweep]
seeds = [0, 1, 2]
[[sweep.block]]
grid = {{ "attention.score" = [{scores}] }}
"""


def measured(out):
    """All runs' metrics by run, without times."""
    found = {}
    for file in sorted(out.glob("*/metrics.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        times = ("seconds", "step_seconds")
        found[file.parent.name] = [{k: v for k, v in line.items() if k not in times} for line in lines]
    return found


def steps_seen(out):
    """How far the runs that are under way are, in whatever words."""
    seen = {}
    for file in out.glob("*/progress.json"):
        with contextlib.suppress(FileNotFoundError):  # gone with its run's end
            seen[file.parent.name] = file.read_text()
    return seen


def ended(out):
    """How many runs are finished."""
    return sum('"outcome": "finished"' in file.read_text() for file in out.glob("*/manifest.json"))


def starts(out):
    return [json.loads(file.read_text())["starts"] for file in out.glob("*/manifest.json")]


def refused(command):
    done = attempt(command)
    assert done.returncode == 2, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stderr


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return str(file)


def stopped_sweep_goes_on_to_the_same_bits(folder):
    config = write(folder, "tuned.toml", TUNED.format(steps=600))
    whole, parts = folder / "whole", folder / "parts"
    printed = run([heed, "run", config, "--out", str(whole), "--jobs", "2"])
    assert "chose 0.0" in printed and "tried train.learning_rate = 0.001" in printed, printed
    plan = json.loads(next(whole.glob("sweeps/*/plan.json")).read_text())
    assert len(plan["tuning"]["runs"]) == 8 and plan["runs"] == [], "what is chosen later can't be planned"
    stops = done = 0
    while True:
        process = subprocess.Popen([heed, "run", config, "--out", str(parts), "--jobs", "2"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Each time it gets further: to the middle of a run, and every other time to the end of one.
        before = steps_seen(parts)
        until(lambda: process.poll() is not None or (steps_seen(parts) != before if stops % 2 == 0 else
                                                     ended(parts) > done), "a step of the sweep")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=HANG)
        done = ended(parts)
        if process.returncode == 0:
            break
        assert process.returncode == 130 and "Resume with" in said, said
        stops += 1
    assert stops > 0, "it was never stopped"
    assert measured(parts) == measured(whole)
    assert next(parts.glob("sweeps/*/tuned.json")).read_bytes() == next(whole.glob("sweeps/*/tuned.json")).read_bytes()
    chosen = json.loads(next(whole.glob("sweeps/*/tuned.json")).read_text())
    assert [arm["label"] for arm in chosen["arms"]] == ["reference", "score = additive"]
    assert len(measured(whole)) == 8 + 4, "the replicates of what was not chosen must not run"
    again = attempt([heed, "run", config, "--out", str(whole)])
    assert again.returncode == 0 and "all had been trained by an earlier command" in again.stderr, again.stderr


def two_at_once_share_the_work(folder):
    config = write(folder, "both.toml", GRID.format(steps=200, scores='"dot", "additive", "cosine"'))
    out = folder / "both"
    both = [subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", "1"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    for process in both:
        said, _ = process.communicate(timeout=HANG)
        assert process.returncode == 0, said
        assert "12 of 12 runs finished" in said, said
    assert starts(out) == [1] * 12, f"runs were started {starts(out)} times"
    for lines in measured(out).values():
        steps = [line["step"] for line in lines if "train_loss" in line]
        assert steps == sorted(set(steps)), f"steps were written twice: {steps}"


def two_at_once_tune_to_one_choice(folder):
    # The greatest rate spoils every model: its trials fail in both processes, and are tried once more by both.
    config = write(folder, "tune.toml", TUNED.format(steps=150).replace("1e-2]", "1e-2, 1e6]")
                   .replace("[sweep]", DECAY, 1))
    out = folder / "tune"
    both = [subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", "1"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    for process in both:
        said, _ = process.communicate(timeout=HANG)
        assert process.returncode == 0, said
        assert "4 of 4 runs finished" in said and "chose 0.0" in said, said
    plan = json.loads(next(out.glob("sweeps/*/plan.json")).read_text())
    choice = json.loads(next(out.glob("sweeps/*/tuned.json")).read_text())
    assert all("failed" in arm["trials"][2]["problem"] for arm in choice["arms"]), choice
    chosen = [plan["tuning"]["trials"][a][arm["chosen"]]["replicates"] for a, arm in enumerate(choice["arms"])]
    wanted = {run["id"] for runs in chosen for run in runs} | {run["id"] for run in plan["tuning"]["runs"]}
    assert {file.parent.name for file in out.glob("*/config.toml")} == wanted, "others than the chosen ones ran"


def what_is_out_is_done(folder):
    # Stopped when the tuning is over and the replicates are not, which a machine may be too fast for.
    for steps in (200, 1000, 5000, 25000):
        config = write(folder, "left.toml", TUNED.format(steps=steps).replace("1e-2]", "1e-2, 1e6]")
                       .replace("[sweep]", DECAY, 1))
        out = folder / f"left-{steps}"
        process = subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        until(lambda: any(out.glob("sweeps/*/tuned.json")) or process.poll() is not None, "the tuning's end")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=HANG)
        if process.returncode != 0:
            break
    assert process.returncode == 130, said
    # 12 runs of tuning, four of which failed, and at most some of the four replicates
    done = int(said.split("stopped with ")[1].split(" of 16 runs done")[0])
    assert done == 4 + ended(out) and 12 <= done < 16, said


def what_trials_need(folder):
    text = TUNED.format(steps=30)
    config = write(folder, "tuned.toml", text)
    for value in ("0.5", "@default"):
        said = refused([heed, "plan", config, f"train.learning_rate={value}", "--no-probe"])
        assert "[sweep.tune] tries values of train.learning_rate (" in said and "tuned.toml:19:" in said, said
    tried = '"train.learning_rate" = [1e-3, 1e-2]'
    other = write(folder, "other.toml", text.replace(tried, '"task.validation" = [32, 16]'))
    said = refused([heed, "plan", other, "--no-probe"])
    assert "can't be compared" in said, said
    assert '(in [sweep.tune], the arm "reference" with validation = 16)' in said, said
    sizes = write(folder, "sizes.toml", text.replace(tried, '"train.batch" = [8, 4096], "train.steps" = [30, 60]'))
    rows = list(csv.DictReader(io.StringIO(run([heed, "plan", sizes, "--csv", "--no-probe"]))))
    assert [row["steps"] for row in rows[:4]] == ["30", "60"] * 2, rows[:4]
    assert float(rows[2]["flops_per_step"]) > 100 * float(rows[0]["flops_per_step"]), rows[:4]
    # Beyond what a process takes by itself, which is much with sanitizers.
    assert float(rows[2]["memory_bytes"]) > float(rows[0]["memory_bytes"]) + 5e7, rows[:4]
    plan = json.loads(run([heed, "plan", sizes, "--json", "--no-probe", "--jobs", "1"]))["result"]
    assert plan["memory_bytes"] == max(float(row["memory_bytes"]) for row in rows) or plan["threads"] != 1, plan


def edited_file_is_a_new_sweep(folder):
    out = folder / "edited"
    file = write(folder, "edited.toml", GRID.format(steps=20, scores='"dot", "additive"'))
    run([heed, "run", file, "--out", str(out)])
    write(folder, "edited.toml", GRID.format(steps=20, scores='"dot", "cosine"'))
    done = attempt([heed, "run", file, "--out", str(out)])
    assert done.returncode == 0
    assert "a new sweep: the configuration differs from the one of" in done.stderr and "with 9 runs finished" in done.stderr, done.stderr
    assert "6 of its 9 runs are in this one, too, 6 of them finished" in done.stderr, done.stderr
    assert "; 6 done before" in done.stderr, done.stderr
    assert starts(out) == [1] * 12
    again = attempt([heed, "run", file, "--out", str(out)])
    assert "a new sweep" not in again.stderr, again.stderr


def plan_for_programs(folder):
    config = write(folder, "plan.toml", TUNED.format(steps=30))
    rows = list(csv.DictReader(io.StringIO(run([heed, "plan", config, "--csv", "--out", str(folder / "none")]))))
    assert len(rows) == 8 + 4
    assert [row["stage"] for row in rows] == ["tuning"] * 8 + ["replicate"] * 4
    assert rows[3]["changes"] == "attention.score = additive, train.learning_rate = 0.01", rows[3]
    assert all(row["run"] == "" for row in rows[8:]) and all(float(row["seconds"]) > 0 for row in rows)
    plan = json.loads(run([heed, "plan", config, "--json", "--no-probe", "--out", str(folder / "none")]))["result"]
    assert plan["to_do"] == 12 and plan["tuning_seeds"] == [100, 101] and plan["seconds"] is None
    assert plan["arms"][1]["changes"] == [{"key": "attention.score", "value": "additive"}]
    assert plan["runs"][1]["tries"] == [{"key": "train.learning_rate", "value": "0.01"}]
    effects = {row["effect"]: row for row in plan["effects"]}
    assert list(effects) == [0.5, 1, 1.5, 2] and effects[1]["seeds"] == 10 and effects[1]["power_paired"] == 0
    one = json.loads(run([heed, "plan", config, "--json", "--no-probe", "--effect", "3", "sweep.seeds=6"]))["result"]["effects"]
    assert [row["effect"] for row in one] == [3] and one[0]["power_paired"] > 0.97, one  # Phi(3)^6 = 0.992
    assert not (folder / "none").exists(), "a plan keeps nothing"
    assert "csv" in refused([heed, "plan", config, "--csv", "--json"])


def arms_of_equal_size(folder):
    scores = '"additive", "multiplicative"'
    text = GRID.format(steps=10, scores=scores).replace("seeds = [0, 1, 2]", 'seeds = [0]\nmatch = "parameters"')
    plan = json.loads(run([heed, "plan", write(folder, "even.toml", text), "--json", "--no-probe"]))["result"]
    wanted = plan["arms"][0]["parameters"]
    for arm in plan["arms"][1:]:
        assert abs(arm["parameters"] / wanted - 1) < 0.01, arm
        assert arm["changes"][1]["key"] == "block.ffn_width" and "ffn width" in arm["label"], arm
    flops = text.replace('"parameters"', '"flops"')
    plan = json.loads(run([heed, "plan", write(folder, "flops.toml", flops), "--json", "--no-probe"]))["result"]
    for arm in plan["arms"][1:]:
        assert abs(arm["flops_per_step"] / plan["arms"][0]["flops_per_step"] - 1) < 0.01, arm


def arms_of_equal_state(folder):
    text = GRID.format(steps=10, scores='"dot"').replace('"attention.score" = ["dot"]', '"mixer.kind" = ["gla"]')
    text = text.replace("seeds = [0, 1, 2]", 'seeds = [0]\nmatch = "state"')
    config = write(folder, "state.toml", text)
    plan = json.loads(run([heed, "plan", config, "--json", "--no-probe"]))["result"]
    reference, arm = plan["arms"]
    # 8 tokens' keys and values, and 2 heads of 8 x 16.
    assert reference["state_size"] == arm["state_size"] == 8 * 2 * 16 == 2 * 8 * 16, plan["arms"]
    assert arm["changes"][1] == {"key": "model.width", "value": "32"} and ", width 32" in arm["label"], arm
    rows = list(csv.DictReader(io.StringIO(run([heed, "plan", config, "--csv", "--no-probe"]))))
    assert [int(row["state_size"]) for row in rows] == [reference["state_size"], arm["state_size"]], rows
    differ = write(folder, "differ.toml", text.replace('match = "state"', ""))
    assert re.search(r"time/run +state$", run([heed, "plan", differ, "--no-probe"]), re.M)
    scores = write(folder, "scores.toml", GRID.format(steps=10, scores='"dot"'))
    for equal in (config, scores):
        assert not re.search(r"state$", run([heed, "plan", equal, "--no-probe"]), re.M), "no column if it says nothing"
    classes = write(folder, "classes.toml", '[task]\nkind = "parity"\n[model]\nkind = "encoder"\n')
    assert json.loads(run([heed, "plan", classes, "--json", "--no-probe"]))["result"]["arms"][0]["state_size"] is None


def what_cannot_be_compared(folder):
    other = GRID.format(steps=10, scores='"dot"') + '[[sweep.block]]\narms.other = { "task.kind" = "reverse" }\n'
    said = refused([heed, "plan", write(folder, "other.toml", other), "--no-probe"])
    assert "can't be compared" in said and 'task.kind is "reverse"' in said and '(in the arm "other")' in said, said
    block = '[[sweep.block]]\narms.unlike = { "model.kind" = "encoder_decoder" }\n'
    unlike = GRID.format(steps=10, scores='"dot"') + block
    said = refused([heed, "run", write(folder, "unlike.toml", unlike), "--out", str(folder / "unlike")])
    assert "can't be compared" in said and not (folder / "unlike").exists(), said


def status_shows_what_runs(folder):
    config = write(folder, "status.toml", GRID.format(steps=100000, scores='"additive"'))  # longer than it is looked at
    out = folder / "status"
    process = subprocess.Popen([heed, "run", config, "--out", str(out), "--jobs", "1"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

    def whole_line():
        said = run([heed, "status", str(out)]) if (out / "sweeps").is_dir() else ""
        return said if "steps/s" in said and " left" in said else ""

    try:
        said = until(whole_line, "a run's speed in heed status")
        assert "of 6 runs" in said and "─" in said, said
        assert "reference (score = scaled_dot), seed 0" in said and "step " in said and "loss " in said, said
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=HANG)
    assert process.returncode == 130
    assert "interrupted" in run([heed, "status", str(out)])


def removed_and_edited_runs_are_named(folder):
    config = write(folder, "lost.toml", GRID.format(steps=3, scores='"additive"'))
    out = folder / "lost"
    run([heed, "run", config, "--out", str(out)])
    said = run([heed, "status", str(out)])
    assert "left out" not in said and "gone" not in said, said
    finished = (out / "sweeps").glob("*/finished.txt")
    ids = next(finished).read_text().split()
    assert sorted(ids) == ids == sorted(file.parent.name for file in out.glob("*/manifest.json")), ids
    shutil.rmtree(out / ids[0])
    edited = out / ids[1] / "config.toml"
    edited.write_text(re.sub(r"learning_rate = \S+", "learning_rate = 0.5", edited.read_text()))
    said = run([heed, "status", str(out)])
    assert re.search(r"left out\n +\S+ +6 +4 +0 +0 +0 +0 +1 +1\n", said), said
    assert re.search(rf"seed \d \({ids[0]}\): it was finished, but its folder is missing", said), said
    assert re.search(rf"seed \d \({ids[1]}\): its config.toml no longer hashes to its ID", said), said
    for form in ("terminal", "markdown", "json"):
        said = run([heed, "report", str(out), "--format", form])
        if form != "terminal":
            said = pathlib.Path(said.strip().splitlines()[-1].split()[-1]).read_text()
        assert "4 of 6 runs finished, 1 left out, 1 finished before and gone" in said, said
        assert "isn't finished" not in said and "it was finished, and its folder is gone" in said, said
    shutil.rmtree(out / ids[1])
    run([heed, "run", config, "--out", str(out)])
    assert "6 of 6 runs finished\n" in run([heed, "report", str(out), "--format", "terminal"])


def float64_is_a_file_beside_the_program(folder):
    config = write(folder, "precise.toml", BASE.format(steps=3) +
                   """[sweep]\n[[sweep.block]]\ngrid = { precision = ["float64"] }\n""")
    run([heed, "run", config, "--out", str(folder / "precise")])
    single, double = (next(value for file in (folder / "precise").glob("*/metrics.jsonl")
                           if f'precision = "{precision}"' in (file.parent / "config.toml").read_text()
                           for value in [json.loads(file.read_text().splitlines()[-1])["val_loss"]])
                      for precision in ("float32", "float64"))
    assert single != double and abs(single - double) < 1e-3, (single, double)

    alone = folder / "heed"
    shutil.copy(heed, alone)
    said = refused([str(alone), "check", config])
    assert "libheed_float64.so is missing" in said and "meson install" in said, said
    assert attempt([str(alone), "check", config, "precision=float32"]).returncode == 2  # an arm still asks for it
    (folder / "libheed_float64.so").write_text("not a library")
    said = refused([str(alone), "check", config])
    assert "libheed_float64.so can't be loaded" in said, said
    # A library from other sources, and one from before there was a fingerprint.
    library = (pathlib.Path(heed).resolve().parent / "libheed_float64.so").read_bytes()
    (folder / "libheed_float64.so").write_bytes(library)
    assert attempt([str(alone), "check", config]).returncode == 0
    fingerprint = re.search(rb"HEED_ENGINE_INTERFACE \"(\w{32})\"",
                            (pathlib.Path(heed).resolve().parent / "experiments/engines/engine_interface.hpp").read_bytes())[1]
    for old, new in ((fingerprint, fingerprint[::-1]), (b"heed_engine_interface", b"heed_engine_intorface")):
        assert old in library
        (folder / "libheed_float64.so").unlink()
        (folder / "libheed_float64.so").write_bytes(library.replace(old, new))
        said = refused([str(alone), "check", config])
        assert "libheed_float64.so was built from other sources than the program" in said, said
        assert "meson install" in said, said


def on_a_terminal(command, columns):
    """What a command writes on a terminal of so many columns, without its colours."""
    written = terminal.on_a_terminal(command, columns).decode()
    return re.sub(r"\x1b\[[0-9;]*m", "", written).replace("\r\n", "\n")


def results_are_as_wide_as_the_terminal(folder):
    config = write(folder, "grid.toml", GRID.format(steps=2, scores='"additive", "cosine"'))
    out = str(folder / "runs")
    run([heed, "run", config, "--out", out])
    command = [heed, "report", out, "--format", "terminal"]
    piped = run(command)
    assert max(map(len, piped.splitlines())) > 120, "a pipe has no width"
    for columns in (60, 100):
        text = on_a_terminal(command, columns)
        assert max(map(len, text.splitlines())) <= columns, text
        assert sorted(set(text.split())) == sorted(set(piped.split())), text
    assert on_a_terminal(command, 400).split() == piped.split()


def one_of_several_sweeps_is_named(folder):
    out = str(folder / "runs")
    first = write(folder, "grid.toml", GRID.format(steps=2, scores='"additive"'))
    run([heed, "run", first, "--out", out])
    alone = attempt([heed, "report", out, "--format", "terminal"])
    assert alone.stderr == "", alone.stderr
    time.sleep(0.05)
    run([heed, "run", first, "train.steps=3", "--out", out])
    named = [write(folder, "named.toml", GRID.format(steps=2, scores='"cosine"')), "name=Pre or post", "--out", out]
    run([heed, "run", *named])
    for name in ("Pre or post", "Pre-or-post", "Pre-or"):
        chosen = attempt([heed, "report", out, "--format", "markdown", "--sweep", name])
        assert "/Pre-or-post-" in chosen.stdout and chosen.stderr == "", chosen.stderr
    run([heed, "run", *named, "train.steps=3"])
    chosen = attempt([heed, "report", out, "--format", "markdown", "--sweep", "Pre or post"])
    assert 'is the latest of 2 sweeps named "Pre or post" in' in chosen.stderr, chosen.stderr
    for made in (folder / "runs" / "sweeps").glob("Pre-or-post-*"):
        shutil.rmtree(made)
    old, new = sorted((folder / "runs" / "sweeps").iterdir(), key=lambda path: (path / "plan.json").stat().st_mtime)
    for choice, words in (([], "2 sweeps in"), (["--sweep", "sweep"], '2 sweeps named "sweep" in')):
        told = attempt([heed, "report", out, "--format", "markdown", *choice])
        assert told.stdout.strip() == str(new / "report.md"), told.stdout
        assert told.stderr.startswith(f"heed: {new.name} is the latest of {words} '{out}'"), told.stderr
        assert f"--sweep takes another: {old.name}" in told.stderr, told.stderr
    chosen = attempt([heed, "report", out, "--format", "markdown", "--sweep", old.name])
    assert chosen.stdout.strip() == str(old / "report.md") and chosen.stderr == "", chosen.stderr


def groups_come_by_value(folder):
    text = GRID.format(steps=2, scores='"dot", "additive"').replace(' }', ', "task.copy.length" = [100, 4, 12] }')
    config = write(folder, "groups.toml", text.replace("seeds", 'within = "task.copy.length"\nseeds', 1))
    out = str(folder / "runs")
    run([heed, "run", config, "attention.score=dot", "--out", out])
    rows = list(csv.DictReader(io.StringIO(
        pathlib.Path(run([heed, "report", out, "--format", "csv"]).splitlines()[0]).read_text())))
    assert [row["arm"] for row in rows] == [f"length = {length}: {name}" for length in (4, 12, 100)
                                            for name in ("reference (score = dot)", "score = additive")], rows
    printed = run([heed, "report", out, "--format", "terminal"])
    assert printed.index("length = 12: reference") < printed.index("length = 100: reference"), printed
    data = json.loads(pathlib.Path(run([heed, "report", out, "--format", "json"]).strip()).read_text())
    for i, arm in enumerate(data["arms"]):
        reference = data["arms"][arm["against"]]
        assert arm["against"] == i - i % 2 and arm["group"] == reference["group"], arm["label"]


def reports_show_what_the_plan_says_of_costs(folder):
    out = folder / "runs"
    run([heed, "run", write(folder, "grid.toml", GRID.format(steps=2, scores='"additive"')), "--out", out])
    run([heed, "run", write(folder, "tuned.toml", TUNED.format(steps=2)), "--out", out])
    for plan_file in sorted(out.glob("sweeps/*/plan.json")):
        text = plan_file.read_text()
        plan = json.loads(text)
        trials = plan.get("tuning", {}).get("trials")
        costs = [trial["cost"] for arm in trials for trial in arm] if trials else [a["cost"] for a in plan["arms"]]
        assert len(costs) == (4 if trials else 2) and all(cost["flops_per_step"] > 0 for cost in costs), costs
        # Nobody computes anew what stands there.
        parameters = costs[0]["parameters"]
        edited = text.replace(f'"parameters": {parameters},', '"parameters": 123456789,')
        plan_file.write_text(with_checksum(edited))
        sweep = plan_file.parent
        assert "123,456,789" in run([heed, "report", out, "--sweep", sweep, "--format", "terminal"])
        plan_file.write_text(with_checksum(re.sub(r', "cost": \{[^}]*\}', "", text)))
        written = pathlib.Path(run([heed, "report", out, "--sweep", sweep, "--format", "csv"]).splitlines()[0])
        rows = list(csv.DictReader(io.StringIO(written.read_text())))
        assert [row["parameters"] for row in rows] == ["", ""] and rows[0]["mean"], rows
        plan_file.write_text(edited)
        refused = attempt([heed, "report", out, "--sweep", sweep])
        assert refused.returncode == 2 and "its checksum is" in refused.stderr, refused.stderr


def show_has_the_sweep(folder):
    text = TUNED.format(steps=2).replace("[sweep]\n", '[sweep]\nmatch = "parameters"\n').replace(
        '["additive"]', '["additive", "cosine"]') + '[[sweep.block]]\nkind = "leave_one_out"\n' \
        'off.residual = { "block.residual" = "none" }\n'
    printed = run([heed, "show", write(folder, "tuned.toml", text)])
    sweep = printed[printed.index("# [sweep]"):]
    assert all(line.startswith("#") for line in sweep.splitlines()), sweep
    for part in ("seeds: 0, 1", "all arms have equal parameters", "train.learning_rate = 0.001, 0.01", "100, 101",
                 "reference  ", "attention.score = additive, block.ffn_width = ", "attention.score = cosine",
                 "without residual", "block.residual = none"):
        assert part in sweep, (part, sweep)
    # What stands above it is the reference's configuration, as ever.
    assert run([heed, "show", write(folder, "again.toml", printed)]) == printed[:printed.index("\n# [sweep]")]


def advised_commands_make_an_average(folder):
    config = write(folder, "one.toml", BASE.format(steps=30))
    out = str(folder / "some runs")
    run([heed, "run", config, "--out", out])
    done = next(path for path in (folder / "some runs").iterdir() if (path / "metrics.jsonl").exists())
    told = refused([heed, "evaluate", done.name, "--average", "4", "--out", out])
    assert "has 1 intact checkpoint, but the average needs 4" in told, told
    advised = [shlex.split(line) for line in told.splitlines() if line.startswith("      ")]
    assert [words[1] for words in advised] == ["run", "evaluate"], told
    run(advised[0])
    assert "the average of 4 checkpoints" in run(advised[1]), told
    assert "saves at most one checkpoint per step" in refused([heed, "evaluate", done.name, "--average", "31", "--out", out])


def lost_metrics_are_made_again(folder):
    config, out = write(folder, "lost.toml", GRID.format(steps=60, scores='"additive"')), folder / "lost"
    table = run([heed, "run", config, "--out", str(out)])
    before = measured(out)
    lost = next(out.glob("*/metrics.jsonl"))
    lines = lost.read_text().splitlines(keepends=True)
    lost.write_text("".join(lines[:-1]) + lines[-1][:9])
    told = attempt([heed, "runs", str(out)]).stderr
    assert "its metrics.jsonl" in told and lost.parent.name in told, told
    told = run([heed, "report", str(out), "--format", "json"])
    assert json.loads(pathlib.Path(told.strip()).read_text())["progress"]["left_out"] == 1, told
    again = attempt([heed, "run", config, "--out", str(out)])
    assert again.returncode == 0 and measured(out) == before, again
    assert [line.split()[:4] for line in again.stdout.splitlines() if "additive" in line][0] == \
        [line.split()[:4] for line in table.splitlines() if "additive" in line][0], again.stdout


def what_is_left_out_is_no_success(folder):
    config, out = write(folder, "edited.toml", GRID.format(steps=20, scores='"additive"')), folder / "edited"
    run([heed, "run", config, "--out", str(out)])
    edited = next(out.glob("*/config.toml"))
    edited.write_text(edited.read_text().replace("learning_rate = ", "learning_rate = 1"))
    done = attempt([heed, "run", config, "--out", str(out)])
    assert done.returncode == 1 and "1 of 6 runs are unusable" in done.stderr and "Remove" in done.stderr, done
    shutil.rmtree(edited.parent)
    assert attempt([heed, "run", config, "--out", str(out)]).returncode == 0


def limited(command, **limits):
    """Runs a command under limits of the system (RLIMIT_...)."""
    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
    return attempt(command, preexec_fn=limit)


def a_file_that_may_not_grow_gives_the_reason(folder):
    config = write(folder, "small.toml", BASE.format(steps=20))
    done = limited([heed, "run", config, "--out", str(folder / "small")], RLIMIT_FSIZE=12_000)
    assert done.returncode == 1, done
    assert "1 of 1 runs failed" in done.stderr and "checkpoint-000020" in done.stderr + done.stdout, done
    assert "file too large" in done.stderr and "ulimit -f" in done.stderr, done


def little_address_space_ends_it(folder):
    config = write(folder, "space.toml", BASE.format(steps=20))
    for megabytes in (100, 200, 400, 800, 1600):
        done = limited([heed, "run", config, "--out", str(folder / str(megabytes))], RLIMIT_AS=megabytes << 20)
        assert done.returncode in (0, 1, 2, 127), (megabytes, done)  # 127: not even the libraries found room
        assert done.returncode == 0 or done.stderr, megabytes


def a_model_too_large_is_refused_with_what_would_fit(folder):
    config = write(folder, "large.toml", BASE.format(steps=20))
    for command in ("check", "plan", "run"):
        words = [heed, command, config, "model.width=2048", "model.layers=8"]
        done = limited(words + ["--out", str(folder / "large")] * (command != "check"), RLIMIT_AS=1 << 30)
        assert done.returncode == 2 and "[model] a run needs at least" in done.stderr, (command, done)
        assert "model.width = " in done.stderr, (command, done)
    assert not list((folder / "large").glob("*"))


def few_threads_end_it_with_a_sentence(folder):
    config = write(folder, "threads.toml", BASE.format(steps=20))
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        return
    # A thread's stack is as large as the limit of the first one's: no further thread can start.
    done = limited([heed, "run", config, "train.shards=4", "--threads", "4", "--out", str(folder / "threads")],
                   RLIMIT_STACK=1 << 46)
    assert done.returncode == 1 and "the system started 1 of 4 threads, then no more" in done.stderr, done
    assert "fewer --threads or --jobs" in done.stderr and "terminate" not in done.stderr, done


def names_that_are_no_paths_are_told(folder):
    name = "x" * 300
    for words in (["status", name], ["runs", name], ["report", name], ["evaluate", name], ["show", name],
                  ["check", name + ".toml"], ["run", name + ".toml"]):
        done = attempt([heed, *words])
        assert done.returncode == 2 and name in done.stderr and "filesystem" not in done.stderr, (words, done)
    done = attempt([heed, "status", str(folder / "none")])
    assert done.returncode == 2 and "there is no such folder" in done.stderr, done


def pipes_hang_nothing(folder):
    config, out = write(folder, "pipes.toml", BASE.format(steps=20)), folder / "pipes"
    run([heed, "run", config, "--out", str(out)])
    for name in ("metrics.jsonl", "manifest.json", "config.toml", "checkpoint-000020.safetensors"):
        file = next(out.glob("*/" + name))
        kept = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        for command in (["report", str(out)], ["runs", str(out)], ["status", str(out)],
                        ["run", config, "--out", str(out)]):
            done = attempt([heed, *command])
            assert done.returncode in (0, 1, 2), (name, command, done)
        file.unlink(missing_ok=True)
        file.write_bytes(kept)
    assert "it is a device" in refused([heed, "check", "/dev/zero"])


def the_way_on_is_the_same_command(folder):
    config, out = write(folder, "way.toml", BASE.format(steps=1_000_000)), str(folder / "way")
    process = subprocess.Popen([heed, "run", config, "--out", out, "--jobs", "1", "--threads", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until(lambda: steps_seen(folder / "way"), "a step")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=HANG)
    assert said.rstrip().endswith(f"run {config} --out {out} --jobs 1 --threads 2"), said


def ctrl_c_says_what_was_saved_and_how_to_resume(folder):
    config = write(folder, "stopped.toml", GRID.format(steps=1_000_000, scores='"additive"'))
    for columns in (100, 50):
        out = folder / f"stopped-{columns}"
        seen = terminal.on_a_terminal([heed, "run", config, "--out", str(out), "--jobs", "2"], columns, errors=True,
                                      interrupt=lambda: until(lambda: steps_seen(out), "a step")).decode()
        # What the progress display draws and erases is no message.
        said = re.sub(r"\x1b\[[0-9;]*m", "", seen[seen.rindex("\x1b[J") + 3:]).replace("\r\n", "\n")
        assert "arm  " not in said and "next" not in said, said
        message, command = said.rstrip("\n").rsplit("\n", 1)
        runs = int(re.search(r"stopped with 0 of (\d+) runs done", " ".join(message.split()))[1])
        assert re.search(r"; (1 unfinished run|2 unfinished runs) saved a checkpoint\. Resume with$",
                         " ".join(message.split())), said
        assert command == f"      {heed} run {config} --out {out} --jobs 2" and runs > 2, said
        assert all(len(line) <= columns for line in message.splitlines()), said
        assert len(list(out.glob("*/checkpoint-*"))) in (1, 2)


def examples_are_evaluated_again_for_finished_runs(folder):
    config = write(folder, "a.toml", GRID.format(steps=20, scores='"additive"'))
    out = str(folder / "runs")
    run([heed, "run", config, "--out", out])
    before = measured(folder / "runs")
    again = run([heed, "run", config, "report.examples=true", "--out", out])
    assert measured(folder / "runs") == before and "Over other examples, too:" in again, again
    assert "one fixed validation set of 32 examples" in " ".join(again.split()), again
    for place in sorted(before):
        scores = json.loads((folder / "runs" / place / "examples.json").read_text())
        last = [line for line in before[place] if "val_loss" in line][-1]
        assert scores["step"] == 20 and len(scores["loss"]) == 32, scores
        mean = sum(scores["loss"]) / sum(scores["loss_targets"])
        assert abs(mean - last["val_loss"]) < 1e-6, (mean, last)
        assert abs(sum(scores["right"]) / sum(scores["targets"]) - last["val_accuracy"]) < 1e-12, last
    # A run without a checkpoint is named, and the others are still compared.
    first = sorted(before)[0]
    (folder / "runs" / first / "examples.json").unlink()
    for checkpoint in (folder / "runs" / first).glob("checkpoint-*"):
        checkpoint.unlink()
    printed = " ".join(run([heed, "report", out, "--format", "terminal"]).split())
    assert f"run {first} is in no interval over other examples: " in printed and "no checkpoint" in printed, printed
    for options, why in ((["report.metric=val_perplexity"], "needs a metric that is a mean over validation examples"),
                         (["task.validation=20"], "needs 30 validation examples or more, and there are 20"),
                         (["train.evaluate_batches=2"], "train.evaluate_batches x train.batch is 16")):
        done = subprocess.run([heed, "check", config, "report.examples=true", *options], capture_output=True, text=True)
        assert done.returncode == 2 and why in " ".join(done.stderr.split()), done.stderr


def no_start_loads_blas(_):
    """It takes long to load, and makes threads; who multiplies by it loads it."""
    loaded = subprocess.run([heed], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True,
                            check=True).stdout
    assert "libfmt" in loaded and "blas" not in loaded, loaded


limits_of_space = [a_model_too_large_is_refused_with_what_would_fit, little_address_space_ends_it,
                   few_threads_end_it_with_a_sentence]
for test in (lost_metrics_are_made_again, what_is_left_out_is_no_success, a_file_that_may_not_grow_gives_the_reason,
             *([] if instrumented else limits_of_space),
             no_start_loads_blas, names_that_are_no_paths_are_told, pipes_hang_nothing, the_way_on_is_the_same_command,
             ctrl_c_says_what_was_saved_and_how_to_resume,
             results_are_as_wide_as_the_terminal, one_of_several_sweeps_is_named, groups_come_by_value,
             reports_show_what_the_plan_says_of_costs, examples_are_evaluated_again_for_finished_runs,
             show_has_the_sweep, advised_commands_make_an_average, plan_for_programs,
             float64_is_a_file_beside_the_program, arms_of_equal_size, arms_of_equal_state, what_cannot_be_compared,
             edited_file_is_a_new_sweep,
             what_trials_need, two_at_once_share_the_work, two_at_once_tune_to_one_choice, what_is_out_is_done,
             stopped_sweep_goes_on_to_the_same_bits, status_shows_what_runs, removed_and_edited_runs_are_named):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
