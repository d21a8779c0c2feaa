"""PyTorch's side of the measurements: the counterpart of bench_engine.

    serve.py steps THREADS eager|compiled TEXT LAYERS WIDTH HEADS BLOCK BATCH
    serve.py evaluate THREADS eager|compiled TEXT LAYERS WIDTH HEADS BLOCK BATCH
    serve.py translate THREADS eager|compiled VOCABULARY LAYERS WIDTH HEADS LENGTH BATCH
    serve.py generate THREADS PROMPT TOKENS VOCABULARY LAYERS WIDTH HEADS BLOCK
    serve.py decoder THREADS none|bahdanau|luong|luong_without_feeding WIDTH BATCH LENGTH
    serve.py recurrent THREADS gru|lstm once|steps ROWS STEPS WIDTH
    serve.py mixer THREADS BATCH LENGTH WIDTH HEADS
    serve.py attention THREADS                    (then a line of JSON for each case)

The first line it prints is {"ready": true, ...}. A line "SECONDS" on standard input asks for a round of about that
long, and is answered by {"milliseconds": [...], "peak_bytes": ...}. A line {"score": ..., ...} prepares another case of
attention, and is answered by {"ready": true}. What fails is answered by {"error": "..."}.
"""

import ctypes
import gc
import json
import sys
import time

import torch

import attention
import decoder
import mixer
import nanogpt
import recurrent
import translation


def status_bytes(name: str) -> int:
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith(name + ":")), 0)


def forget_peak() -> int:
    """Gives free memory back, and counts the peak of resident memory from here; returns what is resident."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except (OSError, AttributeError):
        pass
    return status_bytes("VmRSS")


def say(**answer):
    print(json.dumps(answer), flush=True)


def measure(work, seconds: float) -> list[float]:
    times, begin = [], time.perf_counter()
    last = begin
    while last - begin < seconds or not times:
        work()
        now = time.perf_counter()
        times.append((now - last) * 1e3)
        last = now
    return times


def prepare_case(line: str):
    """Runs a case often enough that nothing is done for the first time any more."""
    options = json.loads(line)
    compiled = options["compiled"]
    case = attention.Case(**options)
    resident = forget_peak()
    begin = time.perf_counter()
    case.run()
    # A second pass, unless the first took long by itself, and not because it was compiled.
    if compiled or time.perf_counter() - begin < 2:
        case.run()
    return case.run, resident


def main(words: list[str]):
    torch.manual_seed(1)
    torch.set_num_threads(int(words[1]))
    work, resident = None, status_bytes("VmRSS")
    if words[0] in ("steps", "evaluate"):
        layers, width, heads, block, batch = map(int, words[4:9])
        text = nanogpt.Text(words[3], block)
        trainer = nanogpt.TextTrainer(text, layers, width, heads, batch, 2000, words[2] == "compiled")
        work, times = (trainer.step, 5) if words[0] == "steps" else (trainer.validation_loss, 1)
    if words[0] == "translate":
        trainer = translation.trainer(*map(int, words[3:9]), words[2] == "compiled")
        work, times = trainer.step, 5
    if words[0] in ("steps", "evaluate", "translate"):
        try:
            for _ in range(times):
                work()
        except Exception as error:  # whatever a compiler may throw
            say(error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
            return
    if words[0] == "generate":
        prompt, tokens, *extents = map(int, words[2:9])
        generator = nanogpt.Generator(nanogpt.Decoder(*extents))
        work = lambda: generator.generate(prompt, tokens)
        work()
    if words[0] == "decoder":
        work = decoder.Decoder(words[2], *map(int, words[3:6])).step
        work()
    if words[0] == "mixer":
        work = mixer.Mixer(*map(int, words[2:6])).step
        work()
    if words[0] == "recurrent":
        way = recurrent.sequence if words[3] == "once" else recurrent.stepwise
        work = way(words[2].upper(), *map(int, words[4:7]))
        for _ in range(3):
            work()
    say(ready=True, torch=torch.__version__)
    for line in sys.stdin:
        try:
            if line.startswith("{"):
                work = None
                work, resident = prepare_case(line)
                say(ready=True)
            else:
                times = measure(work, float(line))
                say(milliseconds=times, peak_bytes=status_bytes("VmHWM") - resident)
        except Exception as error:
            work = None
            say(error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


if __name__ == "__main__":
    main(sys.argv[1:])
