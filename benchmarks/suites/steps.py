"""Whole training steps, against this machine's peak and PyTorch."""

import dataclasses

import tables
from shared import ODD, SIZES, Size, Tools, alone, beside_both, best, cell, in_turns, on_threads, ratio, say


def measure(tools: Tools) -> list[dict]:
    say("Whole training steps: batch, forward, backward, clipping, AdamW. The peak is the faster of OpenBLAS's sgemm and")
    say("fused multiply-adds in registers, on as many threads, measured in turns with the steps.")
    records, rows = [], []
    for name, size in SIZES.items():
        for threads in tools.threads:
            about, results = beside_both(tools, "steps", name, size, threads, {"peak": ["peak", threads]})
            record = beside_peak(name, size, threads, about, results)
            records.append(record)
            eager, compiled, heed = (record.get(key) for key in ("eager", "compiled", "heed"))
            rows.append([on_threads(name, threads), cell(heed),
                         f"{record['gflops']:.0f}", f"{record['peak_gflops']:.0f}", tables.percent(record["of_peak"]),
                         cell(eager), cell(compiled), tables.times(ratio(eager, heed)),
                         tables.times(ratio(best(eager, compiled), heed))])
    say()
    say(tables.table(["step", "Heed ms", "GFLOP/s", "peak", "of peak", "eager ms", "compiled ms", "to eager",
                      "to best"], rows))
    say(f"The peak is {records[0]['peak']['what']}.")
    records += odd_sizes(tools, records)
    for name in SIZES:
        mine = {r["threads"]: r["heed"]["milliseconds"] for r in records if r["size"] == name}
        if {1, 2} <= mine.keys():
            say(f"{name}: two threads are {mine[1] / mine[2]:.2f} times as fast as one")
    return records


def record_of(name: str, size: Size, threads: int, about: dict, heed: dict) -> dict:
    return {"size": name, "threads": threads, **dataclasses.asdict(size), "flops": about["flops"],
            "gflops": about["flops"] / heed["milliseconds"] / 1e6, "heed": heed}


def beside_peak(name: str, size: Size, threads: int, about: dict[str, dict], results: dict[str, dict]) -> dict:
    record = record_of(name, size, threads, about["heed"], results["heed"])
    peak = about["peak"]["flops"] / results["peak"]["milliseconds"] / 1e6
    return {**record, "parameters": about["heed"]["parameters"], "peak_gflops": peak,
            "of_peak": record["gflops"] / peak, **results,
            "peak": results["peak"] | {"what": about["peak"].get("peak", "sgemm")}}


def of_peak(tools: Tools, name: str, threads: int) -> dict:
    """Steps of one size beside the peak alone."""
    size = SIZES[name]
    about, results = in_turns(tools, name, {"peak": ["peak", threads],
                                            "heed": ["steps", threads, *size.config_words(tools)]})
    return beside_peak(name, size, threads, about, results)


def odd_sizes(tools: Tools, neighbours: list[dict]) -> list[dict]:
    """A model whose extents are no multiples of vectors or blocks, per operation against the sizes around it."""
    threads = min(tools.threads)
    record = record_of("odd", ODD, threads, *alone(tools, "odd", ["steps", threads, *ODD.config_words(tools)]))
    around = {r["size"]: r["gflops"] / record["gflops"] for r in neighbours
              if r["threads"] == threads and r["size"] != "L"}
    say(f"Width {ODD.width}, {ODD.heads} heads, block {ODD.block}: {record['gflops']:.0f} GFLOP/s on {threads} "
        f"thread{'s' * (threads > 1)}; " + ", ".join(f"{name} is {value:.2f} times as fast for each operation"
                                                     for name, value in around.items()))
    return [record]
