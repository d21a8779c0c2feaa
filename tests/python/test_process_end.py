"""Python's main thread ends while other threads work: the process has the main thread's status, and nothing crashes."""

import os
import random
import subprocess
import sys
import time

import heed
import pytest
from run_folders import ids_of

# HEED_REPEAT=20 has tests with random moments try so many times more.
REPEATS = int(os.environ.get("HEED_REPEAT", "1"))

# The main thread ends with status 3 once `work` has said that it is about to work, and `until` is true.
SCRIPT = """
import os, sys, threading, time
import heed
def until():
    return True
{work}
def in_thread():
    work()
    print("it returned", flush=True)
threading.Thread(target=in_thread, daemon=True).start()
deadline = time.monotonic() + 120
while not (begun.is_set() and until()) and time.monotonic() < deadline:
    time.sleep(0.02)
time.sleep({seconds})
{end}
"""

SWEEP = """
import pathlib
begun = threading.Event()
out = pathlib.Path(sys.argv[1])
config = {"name": "end", "task.kind": "copy", "task.validation": 16, "model": {"width": 8, "heads": 2, "layers": 1},
          "train": {"steps": 3000000, "batch": 4}, "sweep": {"seeds": [1, 2]}}
class Shown:
    def begin(self, text): pass
    def draw(self, lines, line, done, total): pass
    say = begin
def until():
    return len(list(out.glob("*/progress*"))) >= 2
def work():
    begun.set()
    heed.run(config, out=out, jobs=2, progress=Shown())
"""


def ended(work, *words, seconds=0.5, end="sys.exit(3)", status=3, most=30):
    """What the script wrote to standard output, and the seconds from the main thread's end to the process's end."""
    script = SCRIPT.format(work=work, seconds=seconds, end="print(time.monotonic(), flush=True)\n" + end)
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, timeout=200)
    at = time.monotonic()
    assert done.returncode == status, done.stderr
    assert "terminate" not in done.stderr and "FATAL" not in done.stderr and "Fatal" not in done.stderr, done.stderr
    assert "it returned" not in done.stdout
    took = at - float(done.stdout.split()[0])
    assert took < most
    return done, took


@pytest.mark.parametrize("end, status", [("sys.exit(3)", 3), ("pass", 0), ("raise ValueError('of main')", 1)])
def test_a_sweep_in_a_daemon_thread_keeps_its_checkpoints(tmp_path, end, status):
    done, _ = ended(SWEEP, tmp_path, end=end, status=status)
    assert ("of main" in done.stderr) == (status == 1) and "Failed" not in done.stderr
    ids = ids_of(tmp_path, "end")
    assert len(ids) == 2
    for id in ids:  # at once: the process waited for its workers
        assert heed.load_run(tmp_path, id).state == "interrupted"
        assert list((tmp_path / id).glob("checkpoint-*.safetensors"))


def test_a_display_that_waits_forever_does_not_hold_the_process(tmp_path):
    work = SWEEP.replace("def draw(self, lines, line, done, total): pass",
                         "def draw(self, lines, line, done, total): until() and threading.Event().wait()")
    ended(work, tmp_path)


def test_a_display_that_works_when_the_process_ends(tmp_path):
    work = SWEEP.replace("def draw(self, lines, line, done, total): pass",
                         "def draw(self, lines, line, done, total): until() and time.sleep(13)")
    ended(work, tmp_path)


@pytest.mark.parametrize("call", ["evaluate()", "predict()", "inspect()"])
def test_a_long_question_in_a_daemon_thread_stops(long_run, call):
    ended(f"begun = threading.Event()\ndef work():\n    run = heed.load_run(sys.argv[1])\n    run.weights, run.vocabulary\n"
          f"    begun.set()\n    run.{call}", long_run)


SHORT = """
begun = threading.Event()
rows = [{"arm": arm, "seed": seed, "accuracy": 0.5 + seed / 100} for arm in ("baseline", "wide") for seed in range(6)]
def work():
    run = heed.load_run(sys.argv[1])
    run.evaluate()
    begun.set()
    while True:
        CALLS
"""


@pytest.mark.parametrize("calls", ["run.evaluate()", "run.attend('3 1 | 3')", "run.generate('3 1 |', tokens=9)",
                                   "run.metrics, run.state", "heed.runs(run.folder.parent)",
                                   "heed.compare(rows, metric='accuracy').to('html')",
                                   "heed.plan({'task.kind': 'copy'})"])
def test_short_calls_in_daemon_threads(out, calls):
    """The threads are at any place when Python ends."""
    work = SHORT.replace("CALLS", calls) + "for _ in range(3):\n    threading.Thread(target=work, daemon=True).start()\n"
    for _ in range(3 * REPEATS):
        ended(work, out / ids_of(out, "copies")[0], seconds=random.uniform(0, 0.1))


def test_other_threads_are_waited_for(out):
    """Python waits for threads that are no daemons."""
    script = ("import sys, threading, heed\nrun = heed.load_run(sys.argv[1])\n"
              "threading.Thread(target=lambda: print(len(run.evaluate()), flush=True)).start()\nsys.exit(3)")
    done = subprocess.run([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])], capture_output=True,
                          text=True, timeout=200)
    assert done.returncode == 3 and int(done.stdout) > 1, done.stderr


def test_objects_live_until_the_end_and_work_in_exit_functions(out):
    script = ("import atexit, sys\ndef last():\n    print(run.evaluate() == before, flush=True)\natexit.register(last)\n"
              "import heed\natexit.register(last)\nrun = heed.load_run(sys.argv[1])\nbefore = run.evaluate()\n"
              "weights = run.weights['embedding.weight']\nkept = heed.compare([{'arm': a, 'seed': s, 'x': s} for a in 'ab' "
              "for s in range(4)], metric='x', reference='a', direction='higher')\n")
    done = subprocess.run([sys.executable, "-c", script, str(out / ids_of(out, "copies")[0])], capture_output=True,
                          text=True, timeout=200)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\nTrue\n", "")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_use_a_run(out, tmp_path, method):
    (tmp_path / "script.py").write_text(
        "import multiprocessing, sys, heed\nrun = heed.load_run(sys.argv[1])\n"
        "def of(run):\n    return run.evaluate()\n"
        "if __name__ == '__main__':\n    before = run.evaluate()\n"
        "    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:\n"
        "        print(all(found == before for found in pool.map(of, [run] * 4)))\n")
    done = subprocess.run([sys.executable, tmp_path / "script.py", out / ids_of(out, "copies")[0], method],
                          capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_fork_beside_a_sweep_ends_like_any_process(tmp_path):
    """The child has none of the threads that work in its parent, and does not wait for them."""
    end = ("child = os.fork()\nif child == 0:\n    begin = time.monotonic()\n    sys.exit(5)\n"
           "begin = time.monotonic()\nstatus = os.waitpid(child, 0)[1]\n"
           "print(os.waitstatus_to_exitcode(status), time.monotonic() - begin < 5, flush=True)\nsys.exit(3)")
    done, _ = ended(SWEEP, tmp_path, end=end)
    assert done.stdout.splitlines()[1] == "5 True"


def test_a_killed_process_leaves_checkpoints(tmp_path):
    """The workers notice that the process is gone."""
    ended(SWEEP, tmp_path, end="os.kill(os.getpid(), 9)", status=-9)
    deadline = time.monotonic() + 60
    states = []
    while time.monotonic() < deadline and states != ["interrupted"] * 2:
        states = [heed.load_run(tmp_path, id).state for id in ids_of(tmp_path, "end")]
        time.sleep(0.1)
    assert states == ["interrupted"] * 2
    assert len(list(tmp_path.glob("*/checkpoint-*.safetensors"))) >= 2


def test_kills_at_random_moments_change_no_result(tmp_path):
    config = {"name": "kills", "task.kind": "copy", "task.validation": 16, "model": {"width": 8, "heads": 2, "layers": 1},
              "train": {"steps": 3000, "batch": 4, "checkpoint_every": 200}, "sweep": {"seeds": [1, 2, 3]}}
    script = f"import sys, heed\nprint('ready', flush=True)\nheed.run({config!r}, out=sys.argv[1], jobs=2, progress=False)"

    def results(out):
        sweep = heed.run(config, out=out, progress=False)
        return {run.name: (heed.load_run(run).metrics[["step", "train_loss", "val_loss"]].to_csv(),
                           [array.tobytes() for array in heed.load_run(run).weights.values()])
                for run in sorted(sweep.out.iterdir()) if (run / "config.toml").exists()}

    expected = results(tmp_path / "undisturbed")
    for number in range(REPEATS):
        killed = 0
        while killed < 3:
            child = subprocess.Popen([sys.executable, "-c", script, tmp_path / str(number)], stdout=subprocess.PIPE)
            assert child.stdout.readline() == b"ready\n"
            time.sleep(random.uniform(0, 1))
            if child.poll() is not None:
                break
            child.kill()
            child.wait()
            child.stdout.close()
            killed += 1
        assert results(tmp_path / str(number)) == expected and len(expected) == 3
