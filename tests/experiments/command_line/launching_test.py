#!/usr/bin/env python3
"""Runs whose worker, program, data or submission somebody damages or replaces. Prints TAP.
Usage: launching_test.py HEED"""

import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from small_config import SMALL  # noqa: E402
from tap import Points, attempt, run  # noqa: E402

heed = str(pathlib.Path(sys.argv[1]).resolve())
points = Points()


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return str(file)


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
        done = attempt([heed, "task", at])
        assert done.returncode in (0, 2), done
        return done.stdout + done.stderr if done.returncode == 2 else ""

    assert not task() and attempt([heed, "task", os.path.relpath(file, folder)], cwd=folder).returncode == 0
    for word in (str(elsewhere), "../elsewhere", "../" + out.name + "/" + planned["id"], ""):
        said = task(tasks=[[planned["id"]], [word]])
        assert "submission.json' is damaged" in said and "is not the ID of a run" in said, said
    assert "is not the name of a submission" in task(name="../../elsewhere")
    assert "is not the number of a job" in task(job="--help")
    assert "is not the name of kernels" in task(kernels="--tell")
    # One that lies elsewhere would have its runs there.
    said = task(elsewhere / "submission.json")
    assert "is not where its runs are looked for" in said and "OUT/slurm/heed-a-1/submission.json" in said, said
    (elsewhere / "submission.json").unlink()
    assert contents(elsewhere) == before


for test in (a_task_believes_no_path_of_its_submission,):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
