"""Runs in threads, after a fork, and with Ctrl-C."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time

import heed
import pytest
from run_folders import ids_of


def test_threads_use_a_run_at_once(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    alone = heed.load_run(out, run.id)
    expected = (alone.evaluate(), alone.generate("3 1 |", tokens=8), alone.attend("3 1 | 3").weights.tolist(),
                alone.weights["embedding.weight"].tolist(), len(alone.metrics), len(heed.runs(out)))

    def all_of_it(_):
        return (run.evaluate(), run.generate("3 1 |", tokens=8), run.attend("3 1 | 3").weights.tolist(),
                run.weights["embedding.weight"].tolist(), len(run.metrics), len(heed.runs(out)))

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(all_of_it, range(24)))


def test_after_a_fork(out):
    run = heed.load_run(out, ids_of(out, "copies")[0])
    before = run.evaluate()
    child = os.fork()
    if child == 0:
        fine = run.evaluate() == before and heed.load_run(out, run.id).evaluate() == before and len(heed.runs(out)) == 7
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif("HEED_INSTRUMENTED" in os.environ,
                    reason="AddressSanitizer's allocator keeps the locks of other threads in a child")
def test_forks_while_other_threads_work(out):
    """Whatever the other threads do at that moment, the child can use the run."""
    run = heed.load_run(out, ids_of(out, "copies")[0])
    before, done = run.evaluate(), threading.Event()

    def work():
        while not done.is_set():
            run.evaluate(), heed.load_run(run.folder).evaluate(lengths=[3]), run.weights["embedding.weight"]

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    statuses = []
    for _ in range(10 * int(os.environ.get("HEED_REPEAT", "1"))):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)  # a child that waits for a thread of its parent
            os._exit(0 if run.evaluate() == before and heed.load_run(run.folder).evaluate() == before else 1)
        statuses.append(os.waitpid(child, 0)[1])
    done.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {0}


WORK = """
import sys, threading, time, heed
run = heed.load_run(sys.argv[1])
run.vocabulary, run.weights
ticks = 0
def tick():
    global ticks
    while True:
        time.sleep(0.001)
        ticks += 1
threading.Thread(target=tick, daemon=True).start()
print("ready", flush=True)
try:
    getattr(run, sys.argv[2])()
except KeyboardInterrupt:
    print(ticks, len(run.weights), flush=True)
    raise
"""


@pytest.mark.parametrize("call", ["evaluate", "predict", "inspect"])
def test_interrupt_stops_a_long_call_while_other_threads_run(long_run, call):
    child = subprocess.Popen([sys.executable, "-c", WORK, str(long_run), call], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        told, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert time.monotonic() - sent < 30
    ticks, weights = map(int, told.split())
    assert ticks > 50 and weights > 5
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert "Refused" not in errors and "nanobind" not in errors


def test_interrupt_stops_a_long_generation(out):
    script = ("import sys, heed\nrun = heed.load_run(sys.argv[1]); run.weights\nprint('ready', flush=True)\n"
              "run.generate('3 1 |', tokens=10**9)")
    child = subprocess.Popen([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=60)[1]
    finally:
        child.kill()
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_interrupt_stops_a_wait_for_another_process_that_says_for_what(out):
    folder = out / ids_of(out, "copies")[0]
    claim = folder / "attention.claim"
    claim.touch()
    os.utime(claim, (4e9, 4e9))
    script = "import sys, heed\nheed.load_run(sys.argv[1]).attend('3 1 | 3', save=True)"
    child = subprocess.Popen([sys.executable, "-c", script, str(folder)], stderr=subprocess.PIPE, text=True)
    try:
        told = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=60)[1]
    finally:
        child.kill()
        claim.unlink()
    assert told.startswith(f"heed: waiting for '{claim}', which names no process: at most 1"), told
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_without_pandas_the_rest_works(out):
    script = ("import sys; sys.modules['pandas'] = None\nimport heed\nrun = heed.load_run(sys.argv[1])\n"
              "assert run.evaluate() and len(run.weights) and run.attend('3 1 | 3').weights.size\n"
              "try:\n    run.metrics\nexcept ImportError as error:\n    assert 'pip install' in str(error)\n"
              "else:\n    sys.exit(1)")
    subprocess.run([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])], check=True)


def test_a_run_can_be_pickled(out):
    import pickle

    run = heed.load_run(out, ids_of(out, "copies")[0])
    copy = pickle.loads(pickle.dumps(run))
    assert copy.id == run.id and copy.folder == run.folder and copy.config == run.config
