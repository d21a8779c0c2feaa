"""Training steps in whole runs, by kernels of each name."""

import os
import subprocess

from shared import HERE, RECIPE, Tools, say
from suites.processes import steps_by_way


def measure(tools: Tools) -> list[dict]:
    ways, refused = {"the build's": ([tools.heed], ["--threads", "2"])}, []
    for kernels in ("avx512", "avx2", "baseline"):
        words = [f"engine.kernels={kernels}", "--threads", "2"]
        check = subprocess.run([tools.heed, "check", str(RECIPE), f"data.path={tools.text}", words[0]],
                               capture_output=True, text=True,
                               env={**os.environ, "HEED_LAUNCHER": str(HERE.parent / "heed")})
        if check.returncode == 0:
            ways[kernels] = ([tools.heed], words)
        else:
            refused.append(check.stderr.strip().splitlines()[0])
    say("Training steps on two threads with the build's own instructions, and with those of a name (engine.kernels), in")
    say("turns.")
    for why in refused:
        say(f"Left out: {why}")
    return steps_by_way(tools, ways)
