"""The suites of `./heed bench`, a file each. `measure` prints a suite's tables, and returns what goes into the JSON.

Those that only start commands also measure another `heed`, from the folder above this one:

    python3 -m suites.data HEED MEGABYTES PAIRS
    python3 -m suites.sweeps HEED [RUNS ...]
    python3 -m suites.scale HEED FOLDERS
"""

from suites import (attention, data, evaluate, generate, instructions, kernels, mixers, operator, processes, recurrent,
                    scale, steps, streaming, sweep, sweeps, threads)

SUITES = {"kernels": kernels.measure, "steps": steps.measure, "threads": threads.measure, "evaluate": evaluate.measure,
          "generate": generate.measure, "recurrent": recurrent.measure, "attention": attention.measure,
          "streaming": streaming.measure, "mixers": mixers.measure, "operator": operator.measure,
          "sweep": sweep.measure, "processes": processes.measure,
          "instructions": instructions.measure, "scale": scale.measure, "sweeps": sweeps.measure, "data": data.measure}
