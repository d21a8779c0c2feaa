"""`./heed bench`: Heed against this machine's peak and, where there is one, against PyTorch.

Only the standard library is needed. PyTorch is that of HEED_PYTHON, or of python3; without it that side is left out.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import shutil
import string
import subprocess
import sys
import tempfile
import time

import goals
from rounds import Failure
from shared import HERE, Tools
from suites import SUITES, scale


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="heed bench", description="Measures Heed against this machine's peak and against PyTorch.",
        epilog="HEED_PYTHON names a Python that has PyTorch (benchmarks/peers/requirements.txt); without one, "
               "PyTorch's side is left out. All of it takes about 40 minutes on 2 cores, most of them PyTorch's "
               "compiler; nothing else should run meanwhile.")
    parser.add_argument("--json", metavar="FILE", help="write all results there, too")
    parser.add_argument("--only", metavar="SUITE", action="append", choices=list(SUITES),
                        help=f"one of {', '.join(SUITES)}; may be given several times [all]")
    parser.add_argument("--goals", action="store_true",
                        help="no suites, but what the project's goals need of them: one table of what they are, and "
                             "what is met here; about 12 minutes")
    parser.add_argument("--folders", metavar="N", type=int, default=None,
                        help="run folders of the suite scale [100000 where --only names it, else 2000]")
    parser.add_argument("--megabytes", metavar="N", type=int, default=200, help="of the suite data's text [200]")
    parser.add_argument("--pairs", metavar="N", type=int, default=200_000,
                        help="lines with translations of the suite data [200000]")
    parser.add_argument("--rounds", metavar="N", type=int, default=7, help="turns that each program takes [7]")
    parser.add_argument("--build", help=argparse.SUPPRESS, default=str(HERE.parent / "build"))
    options = parser.parse_args()
    if options.goals and options.only:
        parser.error("--goals measures no suites: leave out --only")
    if options.folders is None:
        options.folders = 100_000 if "scale" in (options.only or []) else 2000
    if options.folders < scale.FEWEST:
        parser.error(f"--folders must be at least {scale.FEWEST}")
    if options.megabytes < 5 or options.pairs < 50_000:
        parser.error("--megabytes must be at least 5, and --pairs 50000")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.json and not os.access(pathlib.Path(options.json).resolve().parent, os.W_OK):
        parser.error(f"--json: the folder of {options.json} can't be written")
    return options


def find_torch() -> tuple[str | None, str]:
    """A Python that imports PyTorch with the version it has, or None with the reason."""
    named = os.environ.get("HEED_PYTHON")
    python = shutil.which(named or "python3")
    if not python:
        return None, f"there is no program {named or 'python3'}"
    done = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"{python} has no PyTorch; HEED_PYTHON may name another Python"
    return python, done.stdout.strip()


def make_text(path: pathlib.Path):
    """A text of 65 different characters, as many as tiny Shakespeare has, drawn at random."""
    draw = random.Random(1)
    path.write_text("".join(draw.choices((string.ascii_letters + string.digits + " .\n")[:65], k=200_000)))


def describe(engine: str, torch_version: str | None) -> dict:
    done = subprocess.run([engine, "machine"], capture_output=True, text=True, check=True)
    return {**json.loads(done.stdout), "system": platform.platform(), "torch": torch_version,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load": os.getloadavg()[0]}


def write_json(path: str, results: dict):
    target = pathlib.Path(path).resolve()
    aside = target.with_name(target.name + ".part")
    aside.write_text(json.dumps(results, indent=1) + "\n")
    aside.replace(target)


def main() -> int:
    options = arguments()
    build = pathlib.Path(options.build).resolve()
    torch_python, torch_about = find_torch()
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as place:
        text = pathlib.Path(place) / "text.txt"
        make_text(text)
        threads = [n for n in (1, 2) if n <= len(os.sched_getaffinity(0))]
        tools = Tools(build, torch_python, threads, options.rounds, text, 0, options.folders,
                             options.megabytes, options.pairs)
        machine = describe(tools.engine, torch_about if torch_python else None)
        tools.memory = machine["memory"]
        print(f"{machine['cpu']}, {machine['cores']} cores; {machine['compiler']} {machine['flags']}; "
              f"{machine['blas']}; {'PyTorch ' + torch_about if torch_python else 'no PyTorch'}", flush=True)
        if not torch_python:
            print(f"PyTorch's side is left out: {torch_about}", flush=True)
        if machine["load"] > 0.5:
            print(f"Other programs are running (load {machine['load']:.1f}): these times are worth little.", flush=True)
        results = {"machine": machine}
        measures = {"goals": goals.measure} if options.goals else {
            name: SUITES[name] for name in options.only or SUITES}
        for name, measure in measures.items():
            print(f"\n== {name} ==", flush=True)
            results[name] = measure(tools)
            if options.json:
                write_json(options.json, results)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (Failure, OSError, subprocess.CalledProcessError) as error:
        print(f"heed bench: {error}", file=sys.stderr)
        sys.exit(1)
