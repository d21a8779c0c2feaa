"""Under limits of the system, functions fail with an error that says so, or work; the process never crashes.

Less address space is not tried: there, the C library ends the process where it has no memory for a thread's data."""

import os
import subprocess
import sys

import heed
import pytest
from run_folders import ids_of

SCRIPT = """
import os, resource, sys
import heed, numpy, pandas
folder, kind, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
config, out = CONFIG, sys.argv[4]
rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
used = heed.load_run(folder)
used.evaluate(), used.weights, used.vocabulary, heed.compare(rows, metric="accuracy").to("html")
calls = {
    "load": lambda: heed.load_run(folder).weights.step,
    "evaluate": lambda: heed.load_run(folder).evaluate(),
    "evaluate again": lambda: used.evaluate(),
    "predict": lambda: used.predict(),
    "generate": lambda: used.generate("3 1 |", tokens=8),
    "attend": lambda: used.attend("3 1 | 3"),
    "inspect": lambda: used.inspect(),
    "runs": lambda: heed.runs(os.path.dirname(folder)),
    "compare": lambda: heed.compare(rows, metric="accuracy").to("html"),
    "check": lambda: heed.check(config, out=out),
    "run": lambda: heed.run(config, out=out, progress=False),
}
if kind == "RLIMIT_AS":
    most += int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
if kind == "RLIMIT_NOFILE":
    most += max(map(int, os.listdir("/proc/self/fd")))
limit = getattr(resource, kind)
resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))
for name, call in calls.items():
    try:
        call()
        told = "ok"
    except (heed.Refused, heed.Failed, OSError, MemoryError) as error:
        told = type(error).__name__ + " " + str(error).replace("\\n", " ")
    os.write(1, (name + ": " + told + "\\n").encode())
resource.setrlimit(limit, (resource.getrlimit(limit)[1],) * 2)
print("afterwards", used.evaluate() == heed.load_run(folder).evaluate())
"""
CONFIG = {"name": "small", "task.kind": "copy", "task.validation": 16, "model": {"width": 8, "heads": 2, "layers": 1},
          "train": {"steps": 6, "batch": 4}, "sweep": {"seeds": [1, 2]}}
CALLS = 11


@pytest.mark.skipif("HEED_INSTRUMENTED" in os.environ, reason="a sanitizer ends the process where it lacks memory")
@pytest.mark.parametrize("kind, most", [*(("RLIMIT_NOFILE", most) for most in (0, 1, 2, 4, 8)),
                                        *(("RLIMIT_FSIZE", most) for most in (0, 100, 5000)),
                                        *(("RLIMIT_AS", most << 20) for most in (64, 256))])
def test_functions_work_or_fail_and_nothing_is_lost(out, tmp_path, kind, most):
    run = out / ids_of(out, "copies")[0]
    script = SCRIPT.replace("CONFIG", repr(CONFIG))
    done = subprocess.run([sys.executable, "-c", script, str(run), kind, str(most), str(tmp_path)], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == CALLS + 1 and lines[-1] == "afterwards True", done.stdout + done.stderr
    for line in lines[:-1]:
        words = line.split(": ", 1)[1]
        assert words == "ok" or words.startswith("MemoryError") or len(words.split()) > 3, line
    assert len(heed.run(CONFIG, out=tmp_path, progress=False).runs) == 2
