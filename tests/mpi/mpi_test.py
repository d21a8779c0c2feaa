#!/usr/bin/env python3
"""Runs that several processes train together, by mpirun: the bits of one process, whatever happens to them. Prints TAP.
Usage: mpi_test.py HEED"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "endurance"))
from small_config import SMALL  # noqa: E402
from sweep import processes, require_clean, result  # noqa: E402
from tap import HANG, Points, until  # noqa: E402

heed = pathlib.Path(sys.argv[1]).resolve()
points = Points()
if not shutil.which("mpirun"):
    print("1..0 # SKIP mpirun is not installed (Debian: openmpi-bin)")
    sys.exit(0)
if not (heed.parent / "libheed_mpi.so").exists():
    print("1..0 # SKIP Heed was built without MPI (Debian: libboost-mpi-dev, openmpi-bin)")
    sys.exit(0)

MORE = """shards = 4
checkpoint_every = 20
evaluate_every = 20
clip = 0.5
"""
CONFIGS = {
    "transformer": SMALL + MORE + "inspect = \"all\"\ninspect_every = 30\n[attention]\ndropout = 0.1\n",
    "float64": "precision = \"float64\"\n" + SMALL + MORE + "[attention]\nscore = \"additive\"\n",
    "recurrent": """name = "recurrent"
[task]
kind = "scan"
[model]
kind = "recurrent"
width = 16
[train]
steps = {steps}
batch = 16
evaluate_beam = 2
evaluate_batches = 3
""" + MORE,
}
SWEEP = SMALL + MORE + "[sweep]\nseeds = [0, 1]\n[[sweep.block]]\ngrid = {{ \"attention.score\" = [\"additive\"] }}\n"
plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "SLURM"))}


def together(count, *words):
    return ["mpirun", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "--oversubscribe", "-np", str(count),
            *map(str, words)]


def bits(out):
    """What the runs came to. A plan's estimate of memory is measured, and may differ by a page."""
    return {key: value for key, value in result(out).items() if key != "plan.json"}


def attempt(words):
    """Its status, and what it printed."""
    done = subprocess.run(list(map(str, words)), env=plain, capture_output=True, text=True, timeout=HANG,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def finish(words):
    status, text = attempt(words)
    assert status == 0, f"status {status}\n{text}"
    return text


with tempfile.TemporaryDirectory(prefix="heed-mpi-") as place:
    place = pathlib.Path(place)

    def written(name, text, steps):
        file = place / f"{name}.toml"
        file.write_text(text.format(steps=steps))
        return str(file)

    for name, text in CONFIGS.items():
        config = written(name, text, 50)
        finish([heed, "run", config, "--out", place / name, "--threads", "1"])
        expected = bits(place / name)
        for count in (2, 4):
            with points.point(f"{name}: {count} processes have the bits of one"):
                out = place / f"{name}-{count}"
                text_of_run = finish(together(count, heed, "run", config, "--out", out))
                assert bits(out) == expected, "other bits"
                require_clean(out)
                assert text_of_run.count("finished seed 0") == 1, text_of_run
                assert "\x1b" not in text_of_run

    with points.point("a sweep's runs are done one after the other, and none again"):
        config = written("sweep", SWEEP, 30)
        finish([heed, "run", config, "--out", place / "sweep", "--jobs", "1"])
        for _ in range(2):
            finish(together(2, heed, "run", config, "--out", place / "sweep-2", "--threads", "2"))
        assert bits(place / "sweep-2") == bits(place / "sweep")
        manifests = [json.loads(file.read_text()) for file in (place / "sweep-2").glob("*/manifest.json")]
        assert len(manifests) == 4 and all(m["starts"] == 1 and m["threads"] == 2 for m in manifests)

    long = written("long", CONFIGS["transformer"], 4000)
    finish([heed, "run", long, "--out", place / "long", "--threads", "1"])

    def under_way(out):
        def far():
            for file in out.glob("*/progress.json"):
                try:
                    if json.loads(file.read_text())["step"] >= 100:
                        return file.parent
                except (OSError, ValueError, KeyError):
                    pass
            return None
        return until(far, "a run makes 100 steps")

    def processes_of(out):
        """Those of Heed that train there, without mpirun."""
        return [pid for pid, words in processes(out).items() if not words.startswith("mpirun")]

    with points.point("a process that is killed ends the run, whose checkpoint is gone on with, by another number"):
        out = place / "killed"
        group = subprocess.Popen(together(2, heed, "run", long, "--out", out), env=plain, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        folder = under_way(out)
        owner = dict(line.split(" ", 1) for line in (folder / "claim").read_text().splitlines() if " " in line)
        other = [pid for pid in processes_of(out) if pid != int(owner["process"])]
        assert len(other) == 1, processes(out)
        os.kill(other[0], signal.SIGKILL)
        said = group.communicate(timeout=HANG)[0]
        assert group.returncode != 0 and "signal 9" in said, said
        until(lambda: not processes_of(out), "all processes end")
        step = json.loads((folder / "manifest.json").read_text())["step"]
        assert step >= 20, step
        finish(together(4, heed, "run", long, "--out", out))
        assert bits(out) == bits(place / "long")
        assert json.loads((folder / "manifest.json").read_text())["starts"] == 2

    with points.point("the first process is killed, and one alone goes on"):
        out = place / "first-killed"
        group = subprocess.Popen(together(2, heed, "run", long, "--out", out), env=plain, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        folder = under_way(out)
        owner = dict(line.split(" ", 1) for line in (folder / "claim").read_text().splitlines() if " " in line)
        os.kill(int(owner["process"]), signal.SIGKILL)
        assert group.wait(HANG) != 0
        until(lambda: not processes_of(out), "all processes end")
        finish([heed, "run", long, "--out", out, "--threads", "2"])
        assert bits(out) == bits(place / "long")

    with points.point("the first process is asked to stop, and all do, with a checkpoint"):
        out = place / "stopped"
        group = subprocess.Popen(together(2, heed, "run", long, "--out", out), env=plain, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        folder = under_way(out)
        owner = dict(line.split(" ", 1) for line in (folder / "claim").read_text().splitlines() if " " in line)
        os.kill(int(owner["process"]), signal.SIGTERM)
        said = group.communicate(timeout=HANG)[0]
        assert group.returncode == 128 + signal.SIGTERM and "stopped with 0 of 1 runs done" in said, said
        assert json.loads((folder / "manifest.json").read_text())["outcome"] == "interrupted"
        finish(together(2, heed, "run", long, "--out", out))
        assert bits(out) == bits(place / "long")

    with points.point("a run that fails is told once, and ends all"):
        bad = written("bad", CONFIGS["transformer"].replace("clip = 0.5", "optimizer = \"sgd\"\nlearning_rate = 1e6"), 50)
        status, said = attempt(together(2, heed, "run", bad, "--out", place / "bad"))
        assert status == 1 and "not finite" in said, said
        manifest = json.loads(next((place / "bad").glob("*/manifest.json")).read_text())
        assert manifest["outcome"] == "failed" and "not finite" in manifest["failure"], manifest

    with points.point("numbers of processes that can't be, and what does nothing, are refused once"):
        config = written("refused", CONFIGS["transformer"], 50)
        for words, what in ((together(3, heed, "run", config), "1, 2, 4, 8"),
                            (together(2, heed, "run", config, "--jobs", "2"), "--jobs does nothing"),
                            (together(2, heed, "run", config, "train.stepz=2"), "did you mean 'steps'"),
                            (together(2, heed, "status", place / "long"), "heed status can't use")):
            status, said = attempt([*words, *(["--out", place / "refused"] if "run" in words else [])])
            assert status == 2 and said.count(what) == 1, said
            assert not list((place / "refused").glob("*")), "something was begun"
        # Of arms, one may have less.
        more = written("refused-sweep", CONFIGS["transformer"] + "[sweep]\nseeds = [0]\n[[sweep.block]]\n"
                       "grid = {{ \"train.shards\" = [2] }}\n", 50)
        for count, file, shards in ((8, config, 4), (4, more, 2)):
            status, said = attempt(together(count, heed, "run", file, "--out", place / "refused"))
            assert status == 2 and f"{count} processes" in said and f"Start {shards} at most" in said, said
            assert said.count(f"cut into {shards} shards") == 1, said
            assert not list((place / "refused").glob("*")), "something was begun"

    with points.point("processes of which one has another command line all end, and it is said once"):
        def apart(*words):
            return [word for one in words for word in (":", "-np", "1", heed, *one)][1:]
        good, start = ["run", config, "--out", place / "apart"], together(1)[:-2]
        nonsense, other = [*good, "--nonsense"], ["status", place / "long"]
        for words, status, what in (((good, nonsense), 2, "process 1 of 2"), ((nonsense, good), 2, "heed: run: there is"),
                                    ((good, other), 2, "heed status can't use"),
                                    ((good, []), 2, "have the option for help"),
                                    ((good, [*good, "slurm.time=3"]), 2, "without --on slurm"),
                                    ((good, ["run", "--help"]), 2, "have the option for help"),
                                    ((["--version"], ["--version"]), 0, "kernels")):
            ended, said = attempt([*start, *apart(*words)])
            assert ended == status and said.count(what) == (1 if status else 2), (words, ended, said)
            assert not (place / "apart").exists(), "something was begun"

    with points.point("a pipe in place of a run's log is not waited for"):
        config = written("piped", CONFIGS["transformer"], 20)
        out = place / "piped"
        finish(together(2, heed, "run", config, "--out", out))
        (folder,) = [file.parent for file in out.glob("*/manifest.json")]
        for file in folder.iterdir():
            if file.name != "config.toml":
                file.unlink()
        os.mkfifo(folder / "log.txt")
        status, said = attempt(together(2, heed, "run", config, "--out", out))
        assert status == 1 and "log.txt'" in said and "a pipe stands where the file should be" in said, said
        (folder / "log.txt").unlink()
        finish(together(2, heed, "run", config, "--out", out))

    with points.point("a Heed that was built without MPI says so"):
        alone = place / "alone"
        alone.mkdir()
        shutil.copy(heed, alone)
        status, said = attempt(together(2, alone / "heed", "run", config, "--out", place / "refused"))
        assert status == 2 and said.count("built without MPI") == 1 and "libboost-mpi1." in said, said
points.plan()
