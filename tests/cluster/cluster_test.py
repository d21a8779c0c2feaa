#!/usr/bin/env python3
"""Sweeps in a real Slurm of two nodes: the same bits as here, whatever happens to nodes, the controller, jobs and those
who follow them. Prints TAP. Usage: cluster_test.py HEED"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "endurance"))
import private_slurm  # noqa: E402
from small_config import SMALL  # noqa: E402
from sweep import processes, result, require_clean  # noqa: E402
from tap import Points  # noqa: E402

PATIENCE = 180  # seconds for what must come about

SWEEP = SMALL + """shards = 2
checkpoint_every = {keep}
evaluate_every = {keep}
[sweep]
seeds = {seeds}
[[sweep.block]]
grid = {{ "attention.score" = ["additive", "cosine"] }}
"""


undisturbed = {}  # results of sweeps, by their configs


class Cluster:
    """What the points below share: the program, Slurm, and a folder."""

    def __init__(self, heed, slurm, folder):
        self.heed, self.slurm, self.folder = heed, slurm, folder
        self.environment = dict(slurm.environment(), XDG_CONFIG_HOME=str(folder / "config"), COLUMNS="120")

    def config(self, name, steps, seeds=2, keep=20):
        """A sweep of three arms with so many seeds."""
        file = self.folder / f"{name}.toml"
        file.write_text(SWEEP.format(steps=steps, keep=keep, seeds=list(range(seeds)))
                        .replace('name = "sweep"', f'name = "{name}"'))
        return str(file)

    def words(self, config, out, *more, on="slurm"):
        return [self.heed, "run", config, "--out", str(out), *(["--on", on] if on else []), *more]

    def run(self, config, out, *more, on="slurm", environment=None):
        """Runs to the end; the status and what it printed."""
        done = subprocess.run(self.words(config, out, *more, on=on), env=environment or self.environment,
                              capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder)
        return done.returncode, done.stdout + done.stderr

    def finish(self, config, out, *more):
        status, text = self.run(config, out, *more)
        assert status == 0, f"status {status}\n{text}\n{self.status(out)}\n{self.slurm.logs()}"
        return text

    def follow(self, config, out, *more):
        """A follower under way, in a group of its own."""
        log = open(self.folder / f"{out.name}-follower.txt", "ab")
        return subprocess.Popen(self.words(config, out, *more), env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True, cwd=self.folder)

    def wait(self, follower, out):
        """Its status, when it has ended."""
        try:
            return follower.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end\n{self.said(out)}\n{self.status(out)}\n{self.slurm.jobs()}\n"
                                 f"{self.slurm.logs()}") from None

    def said(self, out):
        return (self.folder / f"{out.name}-follower.txt").read_text()

    def status(self, out, environment=None):
        done = subprocess.run([self.heed, "status", str(out)], env=environment or self.environment,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def until(self, holds, what):
        return private_slurm.until(holds, PATIENCE, what)

    def until_said(self, out, *words):
        """Until `heed status` says all of these; returns its text."""
        last = ""

        def said():
            nonlocal last
            last = self.status(out)
            return last if all(word in last for word in words) else ""

        try:
            return self.until(said, f"status says {words}")
        except TimeoutError as problem:
            raise AssertionError(f"{problem}\n{last}\n{self.slurm.jobs()}") from None

    def alone(self, config):
        """What the sweep comes to where nothing disturbs it."""
        sweep = pathlib.Path(config).read_text()
        if sweep not in undisturbed:
            out = self.folder / f"{pathlib.Path(config).stem}-alone"
            status, text = self.run(config, out, on=None)
            assert status == 0, text
            undisturbed[sweep] = result(out)
        return undisturbed[sweep]

    def manifests(self, out):
        return [json.loads(file.read_text()) for file in sorted(out.glob("*/manifest.json"))]

    def jobs_of(self, out):
        """Numbers of the arrays that were submitted for the folder."""
        return [json.loads(file.read_text())["job"] for file in sorted(out.glob("slurm/*/submission.json"))]

    def under_way(self, out, step=1):
        """Until a run has made some steps; its folder."""
        def far():
            for file in out.glob("*/progress.json"):
                try:
                    if json.loads(file.read_text())["step"] >= step:
                        return file.parent
                except (OSError, ValueError, KeyError):
                    pass
            return None
        return self.until(far, f"a run makes {step} steps\n{self.slurm.jobs()}\n{self.slurm.logs()}")


def halt(out, how):
    """Halts the workers of a folder's runs (SIGSTOP), or has them continue (SIGCONT)."""
    for pid, words in processes(out).items():
        if " worker " in words:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)


@contextlib.contextmanager
def halted(out):
    """Runs that are under way are so at the end of the body, too, and take no processor meanwhile."""
    halt(out, signal.SIGSTOP)
    try:
        yield
    finally:
        halt(out, signal.SIGCONT)


@contextlib.contextmanager
def slowed(out):
    """Runs of the folder train for a tenth of the time, since the body waits for a clock and not for them."""
    done = threading.Event()

    def alternate():
        while not done.wait(0.1):
            with halted(out):
                done.wait(0.9)

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def as_here(cluster):
    config, out = cluster.config("as-here", 40), cluster.folder / "as-here"
    expected = cluster.alone(config)
    text = cluster.finish(config, out, "slurm.task_minutes=0.000001")
    assert "score = additive" in text, text
    assert result(out) == expected, "other bits than here"
    require_clean(out)
    submissions = [json.loads(file.read_text()) for file in out.glob("slurm/*/submission.json")]
    assert len(submissions) == 1 and len(submissions[0]["tasks"]) == 6, submissions
    assert all(m["starts"] == 1 for m in cluster.manifests(out))
    assert not list(out.glob("*/queued.json")), "marks are left"
    # Nothing is to do any more, and nothing is submitted.
    cluster.finish(config, out)
    assert len(cluster.jobs_of(out)) == 1


def packed(cluster):
    config, out = cluster.config("packed", 30), cluster.folder / "packed"
    cluster.finish(config, out)
    submission = json.loads(next(out.glob("slurm/*/submission.json")).read_text())
    assert [len(task) for task in submission["tasks"]] == [6], submission
    assert "--time=" in submission["command"] and "--mem=" in submission["command"], submission["command"]


LONG = 16000  # steps that take some seconds on a fast machine, so that there is time to disturb them


def disturbed(cluster, name, disturb):
    """A long sweep that `disturb` gets at while it runs, and what it comes to in the end."""
    config, out = cluster.config("disturbed", LONG, seeds=1, keep=LONG // 20), cluster.folder / name
    expected = cluster.alone(config)
    follower = cluster.follow(config, out, "slurm.task_minutes=0.000001")
    try:
        cluster.under_way(out, 250)
        disturb(config, out, follower)
    finally:
        if follower.poll() is None:
            os.killpg(follower.pid, signal.SIGKILL)
        follower.wait()
    cluster.finish(config, out)
    assert result(out) == expected, "other bits than undisturbed"
    require_clean(out)


def cancelled(cluster):
    def disturb(config, out, follower):
        cluster.slurm.command("scancel", *cluster.jobs_of(out), check=True)
        assert cluster.wait(follower, out) == 130
        assert "cancelled" in cluster.said(out), cluster.said(out)
        cluster.until_said(out, "cancelled", "interrupted")
        assert any(m["outcome"] == "interrupted" and m["step"] > 0 for m in cluster.manifests(out))
    disturbed(cluster, "cancelled", disturb)


def requeued(cluster):
    def disturb(config, out, follower):
        folder = cluster.under_way(out, 250)
        owner = dict(line.split(" ", 1) for line in (folder / "claim").read_text().splitlines() if " " in line)
        cluster.slurm.command("scontrol", "requeue", owner["job"], check=True)
        cluster.until_said(out, "requeued")
        assert cluster.wait(follower, out) == 0, cluster.said(out)
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["starts"] == 2 and manifest["outcome"] == "finished", manifest
    disturbed(cluster, "requeued", disturb)


def preempted(cluster):
    def disturb(config, out, follower):
        job = cluster.slurm.command("sbatch", "-p", "urgent", "-N", "2", "--exclusive", "-o", "/dev/null", "--wrap",
                                    "sleep 5", check=True)
        cluster.until_said(out, "requeued")
        assert cluster.wait(follower, out) == 0, cluster.said(out) + job.stdout
        assert any(m["starts"] == 2 for m in cluster.manifests(out))
    disturbed(cluster, "preempted", disturb)


def node_failed(cluster):
    def disturb(config, out, follower):
        folder = cluster.under_way(out, 250)
        claim = dict(line.split(" ", 1) for line in (folder / "claim").read_text().splitlines() if " " in line)
        node = next(node for job, state, node, _ in cluster.slurm.jobs() if job == claim["job"])
        cluster.slurm.kill_node(node)
        cluster.until_said(out, "requeued")
        cluster.slurm.start_node(node)
        assert cluster.wait(follower, out) == 0, cluster.said(out)
        assert json.loads((folder / "manifest.json").read_text())["starts"] == 2
        private_slurm.until(lambda: cluster.slurm.idle_nodes() == 2, 60, "the node is back")
    disturbed(cluster, "node-failed", disturb)


def controller_restarts(cluster):
    def disturb(config, out, follower):
        with halted(out):  # it takes seconds
            cluster.slurm.save()
            cluster.slurm.kill_controller()
            assert follower.poll() is None, cluster.said(out)
            assert "does not answer" in cluster.status(out), cluster.status(out)
            cluster.slurm.start_controller()
        assert cluster.wait(follower, out) == 0, cluster.said(out)
        assert all(m["starts"] == 1 for m in cluster.manifests(out)), cluster.slurm.logs()
        private_slurm.until(lambda: cluster.slurm.idle_nodes() == 2, 60, "the new controller has both nodes")
    disturbed(cluster, "controller-restarts", disturb)


def out_of_time(cluster):
    # A run that can't end within a minute on any machine; its end is not awaited.
    config, out = cluster.config("out-of-time", 100_000_000, seeds=1, keep=200), cluster.folder / "out-of-time"
    follower = cluster.follow(config, out, "slurm.time=00:01:00", "slurm.task_minutes=0.000001")
    try:
        cluster.under_way(out)
        with slowed(out):
            text = cluster.until_said(out, "out of time")
        assert "slurm.time" in text, text
        first = {m["run"]: m["step"] for m in cluster.manifests(out)}
        assert any(step > 0 for step in first.values()), first
    finally:
        if follower.poll() is None:
            os.killpg(follower.pid, signal.SIGINT)
        follower.wait()
    # It goes on from its checkpoint.
    again = cluster.follow(config, out, "slurm.time=00:10:00", "slurm.task_minutes=0.000001")
    try:
        def further():
            return any(m["starts"] == 2 and m["outcome"] == "running" and m["step"] >= first[m["run"]] > 0
                       for m in cluster.manifests(out))
        cluster.until(further, "a run goes on")
    finally:
        os.killpg(again.pid, signal.SIGINT)
        again.wait()
        cluster.slurm.command("scancel", *cluster.jobs_of(out))


def detached(cluster):
    def disturb(config, out, follower):
        os.kill(follower.pid, signal.SIGINT)
        assert cluster.wait(follower, out) == 130
        said = cluster.said(out)
        for words in ("continue without this command", "see their progress:  ", "wait for them again: ", "scancel "):
            assert words in said, said
        assert "\n  plan  " not in said and "\n  next  " not in said, said  # no table of results
        assert len(cluster.jobs_of(out)) == 1
        # Followed again, and nothing is submitted.
        again = cluster.follow(config, out, "slurm.task_minutes=0.000001")
        time.sleep(2)
        os.kill(again.pid, signal.SIGKILL)
        again.wait()
        cluster.finish(config, out)
        assert len(cluster.jobs_of(out)) == 1, cluster.jobs_of(out)
        assert all(m["starts"] == 1 for m in cluster.manifests(out))
    disturbed(cluster, "detached", disturb)


def nobody_follows(cluster):
    config, out = cluster.config("nobody", 300), cluster.folder / "nobody"
    expected = cluster.alone(config)
    follower = cluster.follow(config, out, "slurm.task_minutes=0.000001")
    cluster.until(lambda: cluster.jobs_of(out) and cluster.jobs_of(out)[0], "it is submitted")
    os.killpg(follower.pid, signal.SIGKILL)
    follower.wait()
    cluster.until(lambda: sum(m["outcome"] == "finished" for m in cluster.manifests(out)) == 6, "all finish")
    assert result(out) == expected


def two_followers(cluster):
    config, out = cluster.config("two", 300), cluster.folder / "two"
    followers = [cluster.follow(config, out, "slurm.task_minutes=0.000001") for _ in range(2)]
    for follower in followers:
        assert cluster.wait(follower, out) == 0, cluster.said(out)
    assert len(cluster.jobs_of(out)) == 1, cluster.jobs_of(out)
    assert all(m["starts"] == 1 for m in cluster.manifests(out))
    assert result(out) == cluster.alone(config)


def settings(cluster):
    config, out = cluster.config("settings", 20), cluster.folder / "settings"
    status, text = cluster.run(config, out, "slurm.partition=mian")
    assert status == 2 and "invalid partition" in text.lower() and "did you mean 'main'" in text, text
    status, text = cluster.run(config, out, "slurm.partiton=main")
    assert status == 2 and "slurm.partiton" in text and "partition" in text, text
    status, text = cluster.run(config, out, "slurm.time=soon")
    assert status == 2 and "slurm.time" in text, text
    status, text = cluster.run(config, out, "slurm.partition=main", on=None)
    assert status == 2 and "--on slurm" in text, text
    status, text = cluster.run(config, out, "slurm.partition=short", "slurm.time=01:00:00")
    assert status == 2 and "slurm.time" in text, text
    assert not list(out.glob("*/queued.json")), "refused, and marked as queued"
    # From a file, the user's own, or one that is named; the command line wins.
    usual = cluster.folder / "config" / "heed" / "slurm.toml"
    usual.parent.mkdir(parents=True)
    usual.write_text('[slurm]\npartition = "short"\ntime = "00:02:00"\noptions = ["--comment=of the file"]\n')
    try:
        cluster.finish(config, out)
    finally:
        usual.unlink()
    command = json.loads(next(out.glob("slurm/*/submission.json")).read_text())["command"]
    for word in ("--partition=short", "--time=00:02:00", "--comment=of the file"):
        assert word in command, command
    named = cluster.folder / "named.toml"
    named.write_text('[slurm]\npartition = "none"\n')
    status, text = cluster.run(cluster.config("settings", 21), out, "--slurm", str(named))
    assert status == 2 and "did you mean" not in text and "main" in text, text
    cluster.finish(cluster.config("settings", 21), out, "--slurm", str(named), "slurm.partition=main")
    named.write_text('[slurm]\ntmie = 3\n')
    status, text = cluster.run(config, out, "--slurm", str(named))
    assert status == 2 and "named.toml:2:1" in text and "time" in text, text


def awkward_folders(cluster):
    config = cluster.config("awkward", 20, seeds=1)
    expected = cluster.alone(config)
    for name in ("100%a %% 'b'", "b\\%a c"):
        out = cluster.folder / name
        cluster.finish(config, out, "slurm.task_minutes=0.000001")
        assert result(out) == expected, "other bits"
        (place,) = out.glob("slurm/heed-*")
        for task in range(3):
            assert "heed slurm-task: begins" in (place / f"{task}.txt").read_text(), list(place.iterdir())


def a_users_variables(cluster):
    config, out = cluster.config("variables", 20, seeds=1), cluster.folder / "variables"
    own = dict(SQUEUE_FORMAT="%i", SQUEUE_USERS="nobody", SQUEUE_STATES="PENDING", SQUEUE_PARTITION="none",
               SCONTROL_ALL="1", SINFO_FORMAT="%n", SACCT_FORMAT="jobid", SBATCH_ARRAY_INX="5-9", SBATCH_OUTPUT="/none/x",
               SBATCH_ERROR="/none/x", SBATCH_JOB_NAME="mine", SBATCH_WAIT="1", SBATCH_OPEN_MODE="truncate",
               SBATCH_NO_REQUEUE="1", SBATCH_SIGNAL="B:KILL@3600", SBATCH_EXPORT="NONE", SBATCH_INPUT="/none/x",
               SLURM_TIME_FORMAT="relative", SLURM_BITSTR_LEN="1", SLURM_EXIT_ERROR="0", SBATCH_TIMELIMIT="1",
               SBATCH_PARTITION="short", SBATCH_MEM_PER_CPU="1")
    status, text = cluster.run(config, out, "slurm.time=4", environment=dict(cluster.environment, **own))
    assert status == 0, f"{text}\n{cluster.slurm.logs()}"
    assert all(m["starts"] == 1 for m in cluster.manifests(out))
    (place,) = out.glob("slurm/heed-*")
    assert "heed slurm-task: begins" in (place / "0.txt").read_text()
    # It says where the jobs go, as it does for sbatch.
    status, text = cluster.run(cluster.config("variables", 21, seeds=1), out,
                               environment=dict(cluster.environment, SBATCH_PARTITION="nowhere"))
    assert status == 2 and "invalid partition" in text.lower(), text


def without_slurm(cluster):
    """A PATH without Slurm's programs, and a controller that is gone."""
    config, out = cluster.config("without", 20), cluster.folder / "without"
    place = cluster.folder / "programs"
    place.mkdir()
    for name in ("sh", "env", "cat"):
        (place / name).symlink_to(shutil.which(name))
    status, text = cluster.run(config, out, environment=dict(cluster.environment, PATH=str(place)))
    assert status == 2 and "Slurm is not installed" in text and "sbatch" in text and "--on slurm" in text, text
    if not pathlib.Path("/etc/slurm/slurm.conf").exists():
        nothing = {name: value for name, value in cluster.environment.items() if name != "SLURM_CONF"}
        status, text = cluster.run(config, out, environment=nothing)
        assert status == 2 and "knows of no cluster" in text, text
    assert not out.exists() or not list(out.glob("*/queued.json"))


points = Points()
gone = private_slurm.missing()
if gone:
    print(f"1..0 # SKIP Slurm is not installed ({', '.join(gone)}); ./heed test --cluster installs it")
    sys.exit(0)
CASES = {
    "the same bits as here, each run begun once": as_here,
    "short runs are packed into one task": packed,
    "a job that is cancelled": cancelled,
    "one that is requeued": requeued,
    "one that is preempted": preempted,
    "a node that dies": node_failed,
    "a controller that is killed and comes back": controller_restarts,
    "out of time": out_of_time,
    "Ctrl-C leaves the runs there, and they are found again": detached,
    "a follower that is killed at once": nobody_follows,
    "two followers at once": two_followers,
    "the cluster's settings": settings,
    "folders with signs that mean something to sbatch or to a shell": awkward_folders,
    "variables with which a user sets Slurm's programs for himself": a_users_variables,
    "no Slurm": without_slurm,
}
wanted = sys.argv[2:]
with tempfile.TemporaryDirectory(prefix="heed-cluster-") as place:
    slurm = None
    try:
        for title, case in CASES.items():
            if wanted and case.__name__ not in wanted:
                continue
            if slurm is None:
                slurm = private_slurm.PrivateSlurm().start()
            cluster = Cluster(str(pathlib.Path(sys.argv[1]).resolve()), slurm, pathlib.Path(place))
            begin, failed = time.monotonic(), points.failed
            with points.point(title):
                case(cluster)
            print(f"# {time.monotonic() - begin:.0f} s", flush=True)
            if points.failed > failed:  # it may have left nodes down, or jobs
                slurm.stop()
                slurm = None
    finally:
        if slurm:
            slurm.stop()
points.plan()
