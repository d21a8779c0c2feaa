"""Whole training steps, against this machine's peak and PyTorch."""

import dataclasses
import pathlib
import random
import tempfile

import tables
from shared import (ODD, RECIPE, SIZES, Size, Tools, alone, beside_both, best, cell, in_turns, on_threads, progress,
                    ratio, say, say_table)


# An encoder-decoder of nanoGPT's recipe: so many blocks in either stack, and so many pairs of sentences in a batch, each
# of so many words of so many that either language has. 4096 tokens in a batch.
TRANSLATION = {"layers": 4, "width": 128, "heads": 4, "length": 32, "batch": 64}
WORDS = 10_000


def measure(tools: Tools) -> list[dict]:
    say("Whole training steps: batch, forward, backward, clipping, AdamW. The peak is the faster of OpenBLAS's sgemm and")
    say("fused multiply-adds in registers, on as many threads, measured in turns with the steps. `translation` has "
        f"{TRANSLATION['layers']}")
    say(f"+ {TRANSLATION['layers']} blocks of width {TRANSLATION['width']}, {WORDS:,} words, and "
        f"{2 * TRANSLATION['length'] * TRANSLATION['batch']} tokens.")
    records = []
    for name, size in SIZES.items():
        for threads in tools.threads:
            about, results = beside_both(tools, "steps", name, size, threads, {"peak": ["peak", threads]})
            records.append(beside_peak(name, size, threads, about, results))
    records += translation(tools)
    rows = []
    for record in records:
        eager, compiled, heed = (record.get(key) for key in ("eager", "compiled", "heed"))
        rows.append([on_threads(record["size"], record["threads"]), cell(heed),
                     f"{record['gflops']:.0f}", f"{record['peak_gflops']:.0f}", tables.percent(record["of_peak"]),
                     cell(eager), cell(compiled), tables.times(ratio(eager, heed)),
                     tables.times(ratio(best(eager, compiled), heed))])
    say_table(["step", "Heed ms", "GFLOP/s", "peak", "of peak", "eager ms", "compiled ms", "to eager",
               "to best"], rows)
    say(f"The peak is {records[0]['peak']['what']}.")
    records += odd_sizes(tools, records)
    for name in (*SIZES, "translation"):
        mine = {r["threads"]: r["heed"]["milliseconds"] for r in records if r["size"] == name}
        if {1, 2} <= mine.keys():
            say(f"{name}: two threads are {mine[1] / mine[2]:.2f} times as fast as one")
    return records


def record_of(name: str, size: dict, threads: int, about: dict, heed: dict) -> dict:
    return {"size": name, "threads": threads, **size, "flops": about["flops"],
            "gflops": about["flops"] / heed["milliseconds"] / 1e6, "heed": heed}


def beside_peak(name: str, size: Size | dict, threads: int, about: dict[str, dict], results: dict[str, dict]) -> dict:
    extents = size if isinstance(size, dict) else dataclasses.asdict(size)
    record = record_of(name, extents, threads, about["heed"], results["heed"])
    peak = about["peak"]["flops"] / results["peak"]["milliseconds"] / 1e6
    return {**record, "parameters": about["heed"]["parameters"], "peak_gflops": peak,
            "of_peak": record["gflops"] / peak, **results,
            "peak": results["peak"] | {"what": about["peak"].get("peak", "sgemm")}}


def translation(tools: Tools) -> list[dict]:
    with tempfile.TemporaryDirectory(prefix="heed-steps-") as name:
        pairs = pathlib.Path(name) / "pairs.tsv"
        write_pairs(pairs, TRANSLATION["length"])
        values = {"data.path": pairs, "model.kind": "encoder_decoder", "task.kind": "translation",
                  "task.translation.shared_vocabulary": "false", "train.batch": TRANSLATION["batch"],
                  **{f"model.{key}": TRANSLATION[key] for key in ("layers", "width", "heads")}}
        words = [str(RECIPE), *(f"{key}={value}" for key, value in values.items())]
        records = []
        for threads in tools.threads:
            progress(on_threads("translation", threads))
            peers = {mode: ["translate", threads, mode, WORDS, *TRANSLATION.values()] for mode in ("eager", "compiled")}
            about, results = in_turns(tools, "translation",
                                      {"peak": ["peak", threads], "heed": ["steps", threads, *words]}, peers)
            records.append(beside_peak("translation", TRANSLATION, threads, about, results))
        return records


def write_pairs(path: pathlib.Path, length: int):
    """Pairs of sentences of random words, all of one length, with each word of either language as often."""
    draw = random.Random(1)

    def sentences(letter: str) -> list[str]:
        words = [word for _ in range(8) for word in draw.sample([f"{letter}{i}" for i in range(WORDS)], WORDS)]
        return [" ".join(words[i:i + length]) for i in range(0, len(words), length)]

    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(sentences("a"), sentences("b"))))


def odd_sizes(tools: Tools, neighbours: list[dict]) -> list[dict]:
    """A model whose extents are no multiples of vectors or blocks, per operation against the sizes around it."""
    threads = min(tools.threads)
    record = record_of("odd", dataclasses.asdict(ODD), threads, *alone(tools, "odd", ["steps", threads, *ODD.config_words(tools)]))
    around = {r["size"]: r["gflops"] / record["gflops"] for r in neighbours
              if r["threads"] == threads and r["size"] in ("S", "M")}
    say(f"Width {ODD.width}, {ODD.heads} heads, block {ODD.block}: {record['gflops']:.0f} GFLOP/s on {threads} "
        f"thread{'s' * (threads > 1)}; " + ", ".join(f"{name} is {value:.2f} times as fast for each operation"
                                                     for name, value in around.items()))
    return [record]
