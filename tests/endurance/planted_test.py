#!/usr/bin/env python3
"""Output folders that somebody else made: links, pipes, folders, devices and other people's databases in place of every
file that Heed reads or writes there. No command may change, make or remove anything outside of the folder, wait for
anybody, or crash; what can be mended is mended. Prints TAP. Usage: planted_test.py HEED

With HEED_LONG set, every kind in every place; else some of them."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402
from tap import Points, attempt  # noqa: E402

heed = sys.argv[1]
points = Points()
SEED = int(os.environ.get("HEED_SEED", "1"))


def state(folder):
    """What is in a folder of the user's: names, kinds, bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        found[str(path.relative_to(folder))] = (
            kind, hashlib.sha256(path.read_bytes()).hexdigest() if kind == "file" else "")
    return found


def plant(kind, path, home):
    """Puts something in the place of a file."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link to a file":
        path.symlink_to(home / ".bashrc")
    elif kind == "link to nothing":
        path.symlink_to(home / "new")
    elif kind == "link to a folder":
        path.symlink_to(home / "documents")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")


KINDS = ["link to a file", "link to nothing", "link to a folder", "pipe", "folder", "device"]


def places_of(out, begun):
    """Every file and folder that a command opens in an output folder, by its path there."""
    run = [f"{begun}/{name}" for name in (
        "config.toml", "manifest.json", "metrics.jsonl", "progress.json", "attention.json", "attention.claim", "log.txt",
        "claim", "claim.replacing", "queued.json")]
    run += [str(file.relative_to(out)) for file in (out / begun).glob("checkpoint-*")]
    folder = next((out / "sweeps").iterdir()).relative_to(out)
    files = ("plan.json", "tuned.json", "claim", "report.html", "report.tex", "report.csv")
    own = [f"{folder}/{name}" for name in files]
    return [*run, *own, begun, "sweeps", str(folder), "index.sqlite", "index.sqlite-journal", "index.sqlite-wal",
            "slurm", "slurm/claim", "exports", "exports/csv", ".heed-probe"]


def nothing_outside_is_touched(folder):
    config = sweep.written(folder, steps=8, seeds=1)
    whole = folder / "whole"
    assert attempt([heed, "run", config, "--out", str(whole), "--jobs", "1"]).returncode == 0
    begun = sweep.replicates(whole)[0].name
    home = folder / "home"
    (home / "documents").mkdir(parents=True)
    (home / ".bashrc").write_text("export PATH\n")
    (home / "documents" / "config.toml").write_text("[train]\nsteps = 1\n")
    (home / "documents" / "paper.tex").write_text("years of work\n")
    before = state(home)
    cases = [(place, kind) for place in places_of(whole, begun) for kind in KINDS]
    if not sweep.LONG:
        cases = random.Random(SEED).sample(cases, 14)
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(folder / "cache"),
                   "XDG_CONFIG_HOME": str(folder / "config")}
    ran = 0
    for number, (place, kind) in enumerate(cases):
        for half in (False, True) if sweep.LONG else (number % 2 == 0,):
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(whole, out)
            if half:  # a run that is to go on writes into what was received
                (out / begun / "manifest.json").unlink()
            plant(kind, out / place, home)
            for command in (["runs", str(out)], ["status", str(out)], ["report", str(out)],
                            ["report", str(out), "--format", "latex"], ["export", "--out", str(out), "--to", "csv"],
                            ["evaluate", begun, "--out", str(out)], ["attend", begun, "--out", str(out), "--input", "1 2"],
                            ["run", config, "--out", str(out), "--jobs", "1"]):
                done = attempt([heed, *command], env=environment)
                ran += 1
                assert done.returncode in (0, 1, 2), (place, kind, command, done)
                assert "\x1b" not in done.stdout + done.stderr, (place, kind, command, done)
                assert state(home) == before, f"{place} as a {kind}: {command} changed the user's files"
    print(f"# {len(cases)} special files planted, {ran} commands: status 0, 1 or 2, nothing outside was changed")


def every_run_but_the_planted_one_is_made(folder):
    """What was planted in one run's folder costs that run alone, and the sentence says what to do."""
    config = sweep.written(folder, steps=8, seeds=1)
    out = folder / "out"
    command = [heed, "run", config, "--out", str(out), "--jobs", "1"]
    assert attempt(command).returncode == 0
    runs = sweep.replicates(out)
    shutil.rmtree(runs[1])
    (runs[0] / "manifest.json").unlink()
    victim = folder / "victim"
    victim.write_text("mine\n")
    (runs[0] / "log.txt").unlink(missing_ok=True)
    (runs[0] / "log.txt").symlink_to(victim)
    done = attempt(command)
    assert done.returncode == 1, done
    assert "a link stands there" in done.stderr and "log.txt" in done.stderr, done
    assert victim.read_text() == "mine\n"
    assert (runs[1] / "manifest.json").exists(), "the other run was not made"
    (runs[0] / "log.txt").unlink()
    assert attempt(command).returncode == 0


def what_can_not_be_read_is_left_as_it_is(folder):
    """Permissions of another's files, as somebody who isn't root meets them."""
    config = sweep.written(folder, steps=8, seeds=1)
    out = folder / "out"
    assert attempt([heed, "run", config, "--out", str(out), "--jobs", "1"]).returncode == 0
    whole = sweep.result(out)
    as_another = []
    if os.geteuid() == 0:
        as_another = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, 65534, 65534)
    environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [*as_another, heed, "run", config, "--out", str(out), "--jobs", "1"]
    if attempt(command, env=environment).returncode != 0:
        print("# skipped: another user can't execute this program")
        return
    run = sweep.replicates(out)[0]
    begun = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**begun, "outcome": "interrupted"}))
    before = state(run)
    for file in [run / "manifest.json", run / "metrics.jsonl", run / "config.toml", *run.glob("checkpoint-*")]:
        file.chmod(0)
        done = attempt(command, env=environment)
        file.chmod(0o644)
        # What is older than the newest whole checkpoint is not needed.
        if file == min(run.glob("checkpoint-*")):
            continue
        assert done.returncode == 1 and "Permission denied" in done.stderr and file.name in done.stderr, (file, done)
        now = state(run)
        del now["log.txt"]  # which says it, too
        assert now == before, (file, done)
    assert attempt(command, env=environment).returncode == 0
    assert sweep.result(out) == whole
    assert not list(out.rglob("*.damaged*"))


for test in (nothing_outside_is_touched, every_run_but_the_planted_one_is_made, what_can_not_be_read_is_left_as_it_is):
    with points.point(test.__name__.replace("_", " ")), tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
points.plan()
