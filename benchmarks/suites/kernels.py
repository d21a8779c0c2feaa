"""The operations by themselves, by Google Benchmark."""

import json
import subprocess

from rounds import Failure
from shared import Tools, progress, say, say_table


def measure(tools: Tools) -> dict | None:
    program = tools.build / "benchmarks" / "bench_kernels"
    if not program.exists():
        say("Kernels are left out: they need Google Benchmark (Debian: libbenchmark-dev) when Heed is built.")
        return None
    say("Kernels, on one thread, in CPU time; all but gemm and adamw forward and backward.")
    progress("about a minute")
    done = subprocess.run([str(program), "--benchmark_format=json", "--benchmark_min_time=0.2"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"bench_kernels ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    result = json.loads(done.stdout)
    rows = []
    for b in result["benchmarks"]:
        gflops, bandwidth = b.get("FLOPS"), b.get("bytes_per_second")
        rate = f"{gflops / 1e9:.1f} GFLOP/s" if gflops else f"{bandwidth / 1e9:.1f} GB/s" if bandwidth else \
            f"{1e9 / b['elements']:.2f} ns an element" if b.get("elements") else ""
        rows.append([b["name"], f"{b['cpu_time'] / 1e3:.1f}", rate])
    say_table(["kernel", "microseconds", "rate"], rows)
    return result
