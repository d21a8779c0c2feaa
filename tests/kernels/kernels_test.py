#!/usr/bin/env python3
"""A portable build's kernels: the fastest of this CPU, those that a config or a plan names, and what the manifests say of
them. What a CPU doesn't have must be refused, so that this holds on each. Prints TAP. Usage: kernels_test.py HEED"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plan_checksum import with_checksum  # noqa: E402
from small_config import SMALL  # noqa: E402
from tap import Points, attempt, run, until  # noqa: E402

heed = pathlib.Path(sys.argv[1]).resolve()
points = Points()
flags = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
NEEDS = {"avx512": {"avx2", "fma", "avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl"}, "avx2": {"avx2", "fma"},
         "baseline": set()}
HERE = [kernels for kernels, needs in NEEDS.items() if needs <= flags]  # the fastest first
PRODUCTS = {"avx512": "16 numbers a vector", "avx2": "8 numbers a vector", "baseline": "OpenBLAS"}
CONFIG = SMALL.format(steps=60) + "checkpoint_every = 20\n"
SWEEP = CONFIG + '[sweep]\nseeds = [0, 1]\n[[sweep.block]]\ngrid = { "attention.score" = ["additive"] }\n'


def written(folder, text):
    file = folder / "small.toml"
    file.write_text(text)
    return str(file)


def manifests(out):
    return [json.loads(file.read_text()) for file in sorted(out.glob("*/manifest.json"))]


def require_made_by(out, kernels):
    """Every run, as its manifest has it."""
    assert manifests(out), "there are no runs"
    for manifest in manifests(out):
        assert manifest["kernels"] == kernels and PRODUCTS[kernels] in manifest["blas"], manifest


def bits(out):
    """The metrics of every run, by its attention and seed, without times."""
    found = {}
    for file in out.glob("*/metrics.jsonl"):
        config = (file.parent / "config.toml").read_text()
        name = tuple(re.search(rf"^{key} = (.*)$", config, re.M)[1] for key in ("score", "seed"))
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        found[name] = [{key: value for key, value in line.items() if "seconds" not in key} for line in lines]
    return found


def pin(out, kernels):
    """What another machine's start would have left in the plan."""
    plan, = out.glob("sweeps/*/plan.json")
    text, count = re.subn(r'"kernels": "\w*"', f'"kernels": "{kernels}"', plan.read_text())
    assert count == 1, text
    plan.write_text(with_checksum(text))


def without_runs(out, copy):
    """A sweep whose plan is there, and none of its runs."""
    (copy / "sweeps").parent.mkdir(parents=True)
    shutil.copytree(out / "sweeps", copy / "sweeps")
    for file in [*copy.glob("sweeps/*/report*"), *copy.glob("sweeps/*/runs.csv")]:
        file.unlink()
    return copy


with tempfile.TemporaryDirectory(prefix="heed-kernels-") as place:
    place = pathlib.Path(place)
    sweep = written(place, SWEEP)

    with points.point("the version names what can be had here, the fastest first"):
        said = run([heed, "--version"])
        assert f"kernels {', '.join(HERE)}" in said, said

    with points.point("a sweep has the fastest, and its plan and manifests say so"):
        run([heed, "run", sweep, "--out", place / "auto"])
        require_made_by(place / "auto", HERE[0])
        plan, = (place / "auto").glob("sweeps/*/plan.json")
        assert json.loads(plan.read_text())["frozen"]["kernels"] == (HERE[0] if len(HERE) > 1 else "")

    for kernels in NEEDS:
        out = place / kernels
        if kernels in HERE:
            with points.point(f"engine.kernels = \"{kernels}\" is what the runs have, which are others than without"):
                run([heed, "run", sweep, "--out", out, f"engine.kernels={kernels}"])
                require_made_by(out, kernels)
                assert not {file.name for file in out.glob("*/") if (file / "config.toml").exists()} & {
                    file.name for file in (place / "auto").glob("*/") if (file / "config.toml").exists()}
        else:
            with points.point(f"engine.kernels = \"{kernels}\", which this CPU doesn't have, is refused"):
                done = attempt([heed, "run", sweep, "--out", out, f"engine.kernels={kernels}"])
                assert done.returncode == 2 and "does not have these instructions" in done.stderr, done.stderr
                assert not manifests(out)

    with points.point("the fastest makes the same bits by its name"):
        assert bits(place / HERE[0]) == bits(place / "auto")

    with points.point("those that differ are not the same code under two names"):
        assert len({json.dumps(sorted(map(str, bits(place / kernels).items()))) for kernels in HERE}) == len(HERE)

    for kernels in [kernels for kernels in HERE if kernels != "baseline"]:
        with points.point(f"{kernels} makes the same bits where BLAS and the C library see a lesser CPU"):
            lesser = {**os.environ, "OPENBLAS_CORETYPE": "Haswell", "GLIBC_TUNABLES":
                      "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-ERMS,-AVX_Fast_Unaligned_Load"}
            out = place / f"{kernels}-lesser"
            run([heed, "run", sweep, "--out", out, f"engine.kernels={kernels}"], env=lesser)
            require_made_by(out, kernels)
            assert bits(out) == bits(place / kernels)

    with points.point("a sweep keeps the kernels of its first start, wherever it goes on"):
        for kernels in HERE:
            out = without_runs(place / "auto", place / f"pinned-{kernels}")
            pin(out, kernels)
            run([heed, "run", sweep, "--out", out])
            require_made_by(out, kernels)
            assert bits(out) == bits(place / kernels)

    with points.point("where a machine lacks them, the command and the log say so, and the report names both"):
        out = without_runs(place / "auto", place / "elsewhere")
        pin(out, "slate")
        said = attempt([heed, "run", sweep, "--out", out])
        assert said.returncode == 0 and "the sweep was started with slate, which this machine does not have" in said.stderr
        require_made_by(out, HERE[0])
        log = next(out.glob("*/log.txt")).read_text()
        assert "warning: the sweep has kernels slate" in log and f"this process uses {HERE[0]}" in log, log
        file = next(out.glob("*/manifest.json"))
        file.write_text(json.dumps(json.loads(file.read_text()) | {"kernels": "slate"}))
        run([heed, "report", out, "--format", "markdown"])
        page, = out.glob("sweeps/*/report.md")
        assert "kernels slate" in page.read_text() and f"kernels {HERE[0]}" in page.read_text()

    with points.point("a run that was stopped goes on with the kernels that it had"):
        out = place / "stopped"
        long = written(place, SMALL.format(steps=200000) + "checkpoint_every = 50\nlog_every = 50\n")
        with subprocess.Popen([heed, "run", long, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) \
                as process:
            until(lambda: list(out.glob("*/checkpoint-*.safetensors")), "a checkpoint")
            process.send_signal(signal.SIGINT)
            process.wait()
        manifest, = manifests(out)
        assert manifest["outcome"] == "interrupted" and manifest["kernels"] == HERE[0], manifest
        file = next(out.glob("*/manifest.json"))
        file.write_text(json.dumps(manifest | {"kernels": "baseline", "cpu": "an abacus"}))
        with subprocess.Popen([heed, "run", long, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) \
                as process:
            until(lambda: manifests(out)[0]["starts"] > manifest["starts"] and
                  manifests(out)[0]["step"] > manifest["step"], "a later checkpoint")
            process.send_signal(signal.SIGINT)
            process.wait()
        manifest, = manifests(out)
        assert manifest["kernels"] == "baseline", manifest

    with points.point("heed rerun comes to the same bits, with the run's kernels"):
        for kernels in HERE:
            id = next(file.parent.name for file in (place / kernels).glob("*/manifest.json"))
            done = attempt([heed, "rerun", id, "--out", place / kernels])
            assert done.returncode == 0 and "warning" not in done.stderr, done.stdout + done.stderr

    with points.point("an engine's file that is missing is named, and the next is taken where none was asked for"):
        alone = place / "alone"
        alone.mkdir()
        shutil.copy(heed, alone)
        for kernels in HERE:
            if kernels == "baseline":
                continue
            done = attempt([alone / "heed", "check", sweep, f"engine.kernels={kernels}"])
            assert done.returncode == 2 and f"libheed_float32_{kernels}.so is missing" in done.stderr and (
                "meson install" in done.stderr), done.stderr
        run([alone / "heed", "run", sweep, "--out", place / "left"])
        require_made_by(place / "left", "baseline")
points.plan()
