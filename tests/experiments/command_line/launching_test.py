#!/usr/bin/env python3
"""Runs whose worker, program, data or submission somebody damages or replaces. Prints TAP.
Usage: launching_test.py HEED"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "endurance"))
from small_config import SMALL  # noqa: E402
from sweep import result  # noqa: E402
from tap import HANG, Points, attempt, run, until  # noqa: E402

heed = str(pathlib.Path(sys.argv[1]).resolve())
points = Points()


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return str(file)


def bits(out):
    """What the runs came to. A plan's estimate of memory is measured, and may differ by a page."""
    return {key: value for key, value in result(out).items() if key != "plan.json"}


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def a_task_believes_no_path_of_its_submission(folder):
    out = folder / "runs"
    run([heed, "run", write(folder, "one.toml", SMALL.format(steps=2)), "--out", out])
    plan = json.loads(next(out.glob("sweeps/*/plan.json")).read_text())
    (planned,) = plan["runs"]
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text(planned["config"])
    before = contents(elsewhere)
    file = out / "slurm" / "heed-a-1" / "submission.json"
    file.parent.mkdir(parents=True)
    right = {"name": "heed-a-1", "job": "7", "threads": 1, "kernels": "", "seconds": 0, "command": "",
             "tasks": [[planned["id"]]]}

    def task(at=file, **changes):
        at.write_text(json.dumps({**right, **changes}))
        done = attempt([heed, "slurm-task", at])
        assert done.returncode in (0, 2), done
        return done.stdout + done.stderr if done.returncode == 2 else ""

    assert not task() and attempt([heed, "slurm-task", os.path.relpath(file, folder)], cwd=folder).returncode == 0
    for word in (str(elsewhere), "../elsewhere", "../" + out.name + "/" + planned["id"], ""):
        said = task(tasks=[[planned["id"]], [word]])
        assert "submission.json' is damaged" in said and "is not the ID of a run" in said, said
    assert "is not the name of a submission" in task(name="../../elsewhere")
    assert "is not the number of a job" in task(job="--help")
    assert "is not the name of kernels" in task(kernels="--tell")
    # One that lies elsewhere would have its runs there.
    said = task(elsewhere / "submission.json")
    assert "is not the path of a submission" in said and "OUT/slurm/heed-a-1/submission.json" in said, said
    (elsewhere / "submission.json").unlink()
    assert contents(elsewhere) == before


TEXT = """name = "text"
[task]
kind = "text"
[task.text]
block = 16
[data]
path = {path}
train = 0.5
[model]
width = 16
heads = 2
layers = 1
[train]
steps = {steps}
batch = 4
checkpoint_every = 50
evaluate_every = 1000
evaluate_batches = 2
[sweep]
seeds = [0, 1]
"""


def step_of(out):
    """How far the runs are that are under way."""
    steps = [0]
    for file in out.glob("*/progress.json"):
        try:
            steps.append(json.loads(file.read_text())["step"])
        except (OSError, ValueError):
            pass
    return steps


def kept_data_that_is_shortened_fails_its_runs_and_ends_nobody(folder):
    text = folder / "text.txt"
    numbers = random.Random(1)
    text.write_text(" ".join("".join(numbers.choices("abcdefgh", k=6)) for _ in range(800_000)))
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    config = write(folder, "text.toml", TEXT.format(path=json.dumps(str(text)), steps=3000))
    run([heed, "run", config, "--out", folder / "undisturbed"], env=environment)
    (kept,) = (folder / "cache" / "heed" / "data").glob("*.kept")
    for left in (0, kept.stat().st_size // 5):
        out = folder / f"shortened-to-{left}"
        sweep = subprocess.Popen([heed, "run", config, "--out", out, "--jobs", "2"], env=environment, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        until(lambda: sweep.poll() is not None or sum(step >= 100 for step in step_of(out)) == 2, "both runs train")
        (kept,) = (folder / "cache" / "heed" / "data").glob("*.kept")
        os.truncate(kept, left)
        said, _ = sweep.communicate(timeout=HANG)
        assert sweep.returncode == 1 and "2 of 2 runs failed" in said, said
        failures = [json.loads(file.read_text())["failure"] for file in out.glob("*/manifest.json")]
        assert len(failures) == 2 and all(f"'{kept}' was shortened or changed" in failure for failure in failures), failures
        assert "signal" not in said, said
        run([heed, "run", config, "--out", out], env=environment)
        assert bits(out) == bits(folder / "undisturbed"), "other bits"


def a_program_that_is_replaced_meanwhile_is_the_sweeps_until_it_ends(folder):
    build = pathlib.Path(heed).parent
    place = folder / "program"
    place.mkdir()
    program = place / "heed"
    parts = [place / file.name for file in build.glob("libheed_float*.so")]

    def install():
        for file in (program, *parts):
            shutil.copy(build / file.name, file)

    text = ('precision = "float64"\n' + SMALL + "checkpoint_every = 10\nthreads = 1\n[sweep]\nseeds = [0, 1, 2, 3]\n")
    config = write(folder, "doubles.toml", text.format(steps=400))
    run([heed, "run", config, "--out", folder / "undisturbed"])
    ways = ("broken", "removed", "another part")
    for way in ways:
        install()
        out = folder / way.replace(" ", "-")
        sweep = subprocess.Popen([program, "run", config, "--out", out, "--jobs", "1"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until(lambda: sweep.poll() is not None or max(step_of(out)) >= 10, "a run trains")
        for file in parts if way == "another part" else [program, *parts]:
            file.unlink()  # as a linker does
            if way != "removed":
                file.write_bytes((build / file.name).read_bytes()[:4096])
                file.chmod(0o755)
        said, _ = sweep.communicate(timeout=HANG)
        assert sweep.returncode == 0, said
        assert all(json.loads(file.read_text())["starts"] == 1 for file in out.glob("*/manifest.json"))
        assert bits(out) == bits(folder / "undisturbed"), "other bits"
    # One that was started before, and needs its part only now, says what is wrong with it.
    install()
    held = os.open(program, os.O_RDONLY)
    program.unlink()
    shutil.copy(build / "heed", program)
    said = attempt([f"/proc/self/fd/{held}", "run", config, "--out", folder / "late"], pass_fds=[held])
    assert said.returncode == 2 and "was built or installed anew since this Heed was started" in said.stderr, said
    os.close(held)


def what_a_killed_sweep_left_of_a_finished_run_goes(folder):
    out, config = folder / "runs", write(folder, "one.toml", SMALL.format(steps=2))
    run([heed, "run", config, "--out", out])
    (done,) = [file.parent for file in out.glob("*/manifest.json")]
    before = contents(done)
    (done / "progress.json").write_text('{"step": 2, "steps": 2, "loss": 1, "steps_per_second": 1}')
    (done / "log.txt").write_text("")
    run([heed, "run", config, "--out", out])
    assert contents(done) == before


for test in (a_task_believes_no_path_of_its_submission,
             a_program_that_is_replaced_meanwhile_is_the_sweeps_until_it_ends,
             what_a_killed_sweep_left_of_a_finished_run_goes,
             kept_data_that_is_shortened_fails_its_runs_and_ends_nobody):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
