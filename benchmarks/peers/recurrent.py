"""GRU and LSTM in PyTorch, forward and backward on one thread: the counterpart of bench_kernels' gru and lstm.

    recurrent.py [ROWS STEPS WIDTH [SECONDS]]

Prints the median time of each in milliseconds: over whole sequences by nn.GRU and nn.LSTM, and step by step by cells.
"""

import statistics
import sys
import time

import torch


def sequence(kind, rows, steps, width):
    module = getattr(torch.nn, kind)(width, width)
    x = torch.randn(steps, rows, width, requires_grad=True)
    upstream = torch.randn(steps, rows, width)

    def run():
        module.zero_grad(set_to_none=True)
        x.grad = None
        module(x)[0].backward(upstream)

    return run


def stepwise(kind, rows, steps, width):
    """Cells, whose input projection is part of the step: nothing else in PyTorch takes a fused step on the CPU."""
    cell = getattr(torch.nn, kind + "Cell")(width, width)
    x = torch.randn(steps, rows, width, requires_grad=True)
    upstream = torch.randn(rows, width)

    def run():
        cell.zero_grad(set_to_none=True)
        x.grad = None
        state = None
        for now in x.unbind(0):
            state = cell(now, state)
        (state[0] if kind == "LSTM" else state).backward(upstream)

    return run


def milliseconds(run, seconds):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or not times:
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def main(words):
    torch.set_num_threads(1)
    rows, steps, width = map(int, words[:3]) if words else (32, 64, 128)
    seconds = float(words[3]) if len(words) > 3 else 2.0
    for kind in ("GRU", "LSTM"):
        print(f"{kind.lower()} {milliseconds(sequence(kind, rows, steps, width), seconds):.3f} ms", flush=True)
        print(f"{kind.lower()}_steps {milliseconds(stepwise(kind, rows, steps, width), seconds):.3f} ms", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
