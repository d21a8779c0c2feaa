"""Programs that measure in rounds, and turns between them.

A subject is a process that says {"ready": true, ...} and then answers each line SECONDS with {"milliseconds": [...]}.
Subjects take short turns, A B C A B C ..., so that whatever else the machine does meets all of them alike.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time


class Failure(Exception):
    """A subject that does not do its work; the message says why."""


class Subject:
    """`environment` is added to this process's own."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        # A file for standard error, since nobody reads it unless the process ends.
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env={**os.environ, **(environment or {})})
        try:
            self.about = self._answer()
        except Failure:
            self.close()
            raise

    def ask(self, line: str) -> dict:
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self._answer()

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines()
            raise Failure(said[-1] if said else f"it ended with {status}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(timeout=20)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


def take_turns(subjects: dict[str, Subject], rounds: int, seconds: float, enough: float = 60.0) -> dict[str, dict]:
    """Rounds of all subjects in turn; after two rounds it stops where it has taken longer than `enough` seconds.

    For each subject the median of all repetitions in milliseconds, how far the rounds' medians spread, and the most
    memory. A subject that fails has {"error": ...} instead.
    """
    times = {name: [] for name in subjects}
    peak = dict.fromkeys(subjects, 0)
    failed = {}
    begin = time.monotonic()
    for done in range(rounds):
        if done >= 2 and time.monotonic() - begin > enough:
            break
        for name, subject in subjects.items():
            if name in failed:
                continue
            try:
                answer = subject.ask(str(seconds))
            except Failure as failure:
                failed[name] = {"error": str(failure)}
                continue
            times[name].append(answer["milliseconds"])
            peak[name] = max(peak[name], answer["peak_bytes"])
    return {name: failed.get(name) or summary(times[name], peak[name]) for name in subjects}


def summary(rounds: list[list[float]], peak_bytes: float) -> dict:
    medians = [statistics.median(times) for times in rounds]
    return {
        "milliseconds": statistics.median(time for times in rounds for time in times),
        "lowest_round": min(medians),
        "highest_round": max(medians),
        "repetitions": sum(map(len, rounds)),
        "peak_bytes": peak_bytes,
    }
