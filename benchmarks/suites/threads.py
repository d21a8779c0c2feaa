"""A training step on more and more threads, as it comes: with the default number of shards."""

import os

import tables
from shared import SIZES, Tools, cell, in_turns, on_threads, progress, ratio, say, say_table
from suites.steps import beside_peak


def measure(tools: Tools) -> list[dict]:
    counts = thread_counts(len(os.sched_getaffinity(0)))
    say("A training step on more and more threads, with the default number of shards. `scales` is how many times faster")
    say("it is than on one thread, and `peak scales` the same for the peak; PyTorch is eager, with as many threads.")
    records, rows = [], []
    for name, size in SIZES.items():
        first: dict = {}
        for threads in counts:
            progress(on_threads(name, threads))
            words = ["steps", threads, *size.config_words(tools)]
            about, results = in_turns(tools, name, {"peak": ["peak", threads], "heed": words},
                                      {"eager": ["steps", threads, "eager", tools.text, *size.words()]})
            record = beside_peak(name, size, threads, about, results)
            first = first or record
            record |= {"scales": ratio(first["heed"], record["heed"]),
                       "peak_scales": record["peak_gflops"] / first["peak_gflops"]}
            records.append(record)
            rows.append([on_threads(name, threads), cell(record["heed"]),
                         f"{record['gflops']:.0f}", tables.percent(record["of_peak"]), tables.times(record["scales"]),
                         tables.times(record["peak_scales"]), cell(record.get("eager")),
                         tables.times(ratio(record.get("eager"), record["heed"]))])
    say_table(["step", "Heed ms", "GFLOP/s", "of peak", "scales", "peak scales", "eager ms", "to eager"], rows)
    say(f"The peak is {records[0]['peak']['what']}.")
    return records


def thread_counts(cores: int) -> list[int]:
    """1, 2, 4, ... and all cores, at most 16: a run uses no more by itself."""
    most = min(cores, 16)
    return sorted({1 << power for power in range(most.bit_length())} | {most})
